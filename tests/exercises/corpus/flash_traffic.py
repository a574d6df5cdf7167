"""Wrong answers to `flash_traffic`, as readers may write them: what stays, how often the keys pass, what is stored."""

import math

import numpy as np

from . import wrong


def moved(n, d, block_q, passes=None, stores=None):
    passes = math.ceil(n / block_q) if passes is None else passes
    return n * d + passes * 2 * n * d + (n * d + n if stores is None else stores)


def queries(d, capacity):
    return (capacity - 2 * d) // (2 * d + 3)


@wrong("flash_traffic", "no room for the score", named=("no_scores",))
def no_room_for_scores(n, d, capacity):
    return moved(n, d, (capacity - 2 * d) // (2 * d + 2))


@wrong("flash_traffic", "no room for maximum and total", named=("no_state",))
def no_room_for_the_state(n, d, capacity):
    return moved(n, d, int((capacity - 2 * d) / (2 * d + 1)))


@wrong("flash_traffic", "one number of state in place of two", named=("no_scores",))
def one_number_of_state(n, d, capacity):
    return moved(n, d, max(1, (capacity - d - d) // (d + d + 1 + 1)), stores=n * (d + 1))


@wrong("flash_traffic", "no room for state and score", named=("no_scores", "no_state"))
def no_state_no_score(n, d, capacity):
    return moved(n, d, (capacity - 2 * d) // (2 * d))


@wrong("flash_traffic", "queries, outputs, keys and values share alike: M // 4 d", named=("quarter",))
def a_quarter(n, d, capacity):
    return moved(n, d, max(1, capacity // (4 * d)))


@wrong("flash_traffic", "a third for the queries", named=("third",))
def a_third(n, d, capacity):
    return moved(n, d, capacity // (3 * d))


@wrong("flash_traffic", "keys in blocks as large as those of queries: M // (4 d + 3)", named=("equal_blocks",))
def equal_blocks(n, d, capacity):
    return moved(n, d, capacity // (4 * d + 3))


@wrong("flash_traffic", "all room for queries", named=("all_for_queries",))
def all_room(n, d, capacity):
    block_q = capacity // d
    loads = n * d
    for _ in range(0, n, block_q):
        loads += 2 * n * d
    return loads + n * d + n


@wrong("flash_traffic", "a key but no value in the fast memory", named=("no_value",))
def key_without_value(n, d, capacity):
    return moved(n, d, (capacity - d) // (2 * d + 3))


@wrong("flash_traffic", "no key and no value in the fast memory", named=("no_key",))
def no_key(n, d, capacity):
    return moved(n, d, np.floor_divide(capacity, 2 * d + 3))


@wrong("flash_traffic", "a key and its value take d + d + 2", named=("key_state",))
def key_with_two_more(n, d, capacity):
    return moved(n, d, max(1, (capacity - 2 * d - 2) // (2 * d + 3)))


@wrong("flash_traffic", "the number of queries rounded up", named=("rounded_up",))
def queries_rounded_up(n, d, capacity):
    return moved(n, d, math.ceil((capacity - 2 * d) / (2 * d + 3)))


@wrong("flash_traffic", "the number of queries is not rounded", named=("part_of_a_query",))
def queries_not_rounded(n, d, capacity):
    return moved(n, d, (capacity - 2 * d) / (2 * d + 3))


@wrong("flash_traffic", "the passes rounded down", named=("drop_tail",))
def passes_rounded_down(n, d, capacity):
    return moved(n, d, None, passes=n // queries(d, capacity))


@wrong("flash_traffic", "the passes rounded to the nearest", named=("passes_nearest",))
def passes_rounded(n, d, capacity):
    return moved(n, d, None, passes=round(n / queries(d, capacity)))


@wrong("flash_traffic", "the passes not rounded", named=("part_of_a_pass",))
def passes_not_rounded(n, d, capacity):
    return moved(n, d, None, passes=n / queries(d, capacity))


@wrong("flash_traffic", "one pass more than needed: n // block + 1", named=("one_pass_more",))
def one_pass_more(n, d, capacity):
    return moved(n, d, None, passes=n // queries(d, capacity) + 1)


@wrong("flash_traffic", "neither is rounded", named=("part_of_a_query", "part_of_a_pass"))
def nothing_rounded(n, d, capacity):
    return n * d + n / ((capacity - 2 * d) / (2 * d + 3)) * 2 * n * d + n * d + n


@wrong("flash_traffic", "keys and values once", named=("once",))
def keys_once(n, d, capacity):
    return 3 * n * d + n * d + n


@wrong("flash_traffic", "keys and values for each query", named=("one_by_one",))
def keys_for_each_query(n, d, capacity):
    total = 0
    for _ in range(n):
        total += d + 2 * n * d + d + 1
    return total


@wrong("flash_traffic", "the keys alone stream", named=("keys_only",))
def keys_alone(n, d, capacity):
    return sum([n * d, math.ceil(n / queries(d, capacity)) * n * d, n * d, n])


@wrong("flash_traffic", "queries in each pass", named=("queries_again",))
def queries_in_each_pass(n, d, capacity):
    return sum(3 * n * d for _ in range(0, n, queries(d, capacity))) + n * d + n


@wrong("flash_traffic", "queries and outputs in each pass", named=("queries_again", "each_pass"))
def all_in_each_pass(n, d, capacity):
    passes = -(-n // queries(d, capacity))
    return passes * (n * d + 2 * n * d + n * d + n)


@wrong("flash_traffic", "each pass loads block_q queries, and a last tile is taken as full", named=())
def last_tile_full(n, d, capacity):
    block_q = queries(d, capacity)
    passes = math.ceil(n / block_q)
    return passes * (block_q * d + 2 * n * d + block_q * d + block_q)


@wrong("flash_traffic", "no queries", named=("no_queries",))
def no_queries(n, d, capacity):
    return math.ceil(n / queries(d, capacity)) * 2 * n * d + n * d + n


@wrong("flash_traffic", "no logsumexp", named=("no_logsumexp",))
def no_logsumexp(n, d, capacity):
    return moved(n, d, queries(d, capacity), stores=n * d)


@wrong("flash_traffic", "maximum and total are both stored", named=("both_stored",))
def maximum_and_total_stored(n, d, capacity):
    return moved(n, d, queries(d, capacity), stores=n * d + 2 * n)


@wrong("flash_traffic", "loads only", named=("no_stores",))
def loads_only(n, d, capacity):
    return moved(n, d, queries(d, capacity), stores=0)


@wrong("flash_traffic", "stores only", named=("no_loads",))
def stores_only(n, d, capacity):
    return n * d + n


@wrong("flash_traffic", "the scores are stored and loaded, as in plain attention", named=("scores_move",))
def scores_too(n, d, capacity):
    return moved(n, d, queries(d, capacity)) + 2 * n * n


@wrong("flash_traffic", "plain attention", named=("plain",))
def plain_attention(n, d, capacity):
    return 4 * n * d + 4 * n * n


@wrong("flash_traffic", "causal: half of the keys", named=("keys_only",))
def half_of_the_keys(n, d, capacity):
    return n * d + math.ceil(n / queries(d, capacity)) * n * d + n * d + n


@wrong("flash_traffic", "the limit for a large memory, 4 n² d² / M", named=("limit",))
def the_limit(n, d, capacity):
    return 4 * n**2 * d**2 / capacity


@wrong("flash_traffic", "in bytes: four for each number", says=r"4 times the right one")
def in_bytes(n, d, capacity):
    return 4 * moved(n, d, queries(d, capacity))


@wrong("flash_traffic", "loads and stores as two numbers", says=r"returns 2 things, but one is expected")
def two_numbers(n, d, capacity):
    stores = n * d + n
    return moved(n, d, queries(d, capacity)) - stores, stores


@wrong("flash_traffic", "keys outside, queries stream", named=("keys_outside",))
def keys_outside(n, d, capacity):
    blocks = math.ceil(n / queries(d, capacity))
    return 2 * n * d + blocks * (3 * n * d + 4 * n)


@wrong("flash_traffic", "one pass for each query of a tile: block_q passes", named=("tile_passes",))
def block_q_passes(n, d, capacity):
    return moved(n, d, None, passes=queries(d, capacity))


@wrong("flash_traffic", "d + 3 where the query and its output are one", named=("no_output",))
def query_and_output_one(n, d, capacity):
    return moved(n, d, (capacity - 2 * d) // (d + 3))
