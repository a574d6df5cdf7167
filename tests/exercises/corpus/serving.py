"""Wrong answers to `paged_lookup`, `linear_step` and the number question on shared pages, as readers may write them."""

import numpy as np

from . import wrong


@wrong("paged_lookup", "the pages as they lie", named=("no_table",))
def as_they_lie(pages, table, positions):
    return pages.reshape(-1, pages.shape[-1])[positions]


@wrong("paged_lookup", "slot from //, block from %", named=("swapped",))
def slot_and_block(pages, table, positions):
    s = pages.shape[1]
    return np.array([pages[table[p % s], p // s] for p in positions])


@wrong("paged_lookup", "the position itself as an index of the table", says=r"IndexError|index")
def position_in_table(pages, table, positions):
    return pages[table[positions], positions % pages.shape[1]]


@wrong("paged_lookup", "whole pages are returned", says=r"\(5, 4, 2\); \(5, 2\)")
def whole_pages(pages, table, positions):
    return pages[table[positions // pages.shape[1]]]


@wrong("paged_lookup", "a grid: all slots for all blocks", says=r"\(5, 5, 2\); \(5, 2\)")
def grid(pages, table, positions):
    s = pages.shape[1]
    return pages[table[positions // s]][:, positions % s]


@wrong("paged_lookup", "the text from its start", named=("in_order",))
def from_start(pages, table, positions):
    return np.concatenate(pages[table])[: len(positions)]


@wrong("paged_lookup", "the whole text", says=r"\(12, 2\); \(5, 2\)")
def whole_text(pages, table, positions):
    return np.concatenate(pages[table])


@wrong("paged_lookup", "positions in order, not as asked", named=("sorted_positions",))
def positions_sorted(pages, table, positions):
    return np.concatenate(pages[table])[np.sort(positions)]


@wrong("paged_lookup", "page size from the wrong axis", named=("size_pages",))
def wrong_axis(pages, table, positions):
    size = len(pages)
    return pages[table[positions // size], positions % size]


@wrong("paged_lookup", "searches the block in the table", named=("inverse",))
def searched(pages, table, positions):
    size = pages.shape[1]
    return np.array([pages[list(table).index(p // size), p % size] for p in positions])


@wrong("paged_lookup", "page number plus slot as a row", named=("row_of_page",))
def page_plus_slot(pages, table, positions):
    size = pages.shape[1]
    return pages.reshape(-1, pages.shape[2])[table[positions // size] + positions % size]


@wrong("paged_lookup", "the table entry added to the position", says=r"cases right|differ|IndexError")
def entry_added(pages, table, positions):
    flat, size = pages.reshape(-1, pages.shape[2]), pages.shape[1]
    return flat[(table[positions // size] + positions) % len(flat)]


@wrong("linear_step", "reads before it adds", named=("past_only",))
def reads_first(state, total, query, key, value):
    with np.errstate(all="ignore"):
        out = query @ state / (query @ total)
    return state + np.outer(key, value), total + key, out


@wrong("linear_step", "without the divisor", named=("no_division",))
def no_divisor(state, total, query, key, value):
    state = state + key[:, None] * value
    return state, total + key, query @ state


@wrong("linear_step", "divided by the number of keys", says=r"total|out")
def by_count(state, total, query, key, value):
    state, total = state + np.outer(key, value), total + 1
    return state, total, query @ state / total[0]


@wrong("linear_step", "in place", says=r"chang|writ")
def in_place(state, total, query, key, value):
    state += np.outer(key, value)
    total += key
    return state, total, query @ state / (query @ total)


@wrong("linear_step", "value by key", named=("turned",))
def value_by_key(state, total, query, key, value):
    state = state + np.outer(value, key)
    return state, total + key, query @ state / (query @ (total + key))


@wrong("linear_step", "a softmax of the one score", says=r"total|out|state")
def one_score(state, total, query, key, value):
    weight = np.exp(query @ key)
    state = state + weight * np.outer(key, value)
    total = total + weight * key
    return state, total, query @ state / (query @ total)


@wrong("linear_step", "total is a number: the sum of weights", named=("weight_counted",), says=r"total")
def total_of_weights(state, total, query, key, value):
    state = state + np.outer(key, value)
    new = total + query @ key
    return state, new, query @ state / (query @ (total + key))


@wrong("linear_step", "the key reads", named=("key_asks",))
def key_reads(state, total, query, key, value):
    state, total = state + np.outer(key, value), total + key
    return state, total, key @ state / (key @ total)


@wrong("linear_step", "the query is stored", named=("query_stored",))
def query_stored(state, total, query, key, value):
    state = state + np.outer(query, value)
    return state, total + key, query @ state / (query @ (total + key))


@wrong("linear_step", "divided by the total's sum", named=("plain_sum",))
def total_summed(state, total, query, key, value):
    state, total = state + np.outer(key, value), total + key
    return state, total, query @ state / total.sum()


@wrong("linear_step", "the total stays as it was, in the divisor alone", named=("old_divisor",))
def old_divisor(state, total, query, key, value):
    state = state + np.outer(key, value)
    with np.errstate(all="ignore"):
        return state, total + key, query @ state / (query @ total)


@wrong("linear_step", "the mean of old and new", named=("averaged",), says=r"state|total")
def averaged(state, total, query, key, value):
    state, total = (state + np.outer(key, value)) / 2, (total + key) / 2
    return state, total, query @ state / (query @ total)


wrong("shared_blocks", "rounded up each", named=("nothing_shared",))(14)
wrong("shared_blocks", "the prompt's last block shared", named=("prompt_rounded_up",))(9)
wrong("shared_blocks", "110 / 16", named=("tokens_packed",))(110 / 16)
wrong("shared_blocks", "5 blocks for each", named=("padded",))(15)
wrong("shared_blocks", "own blocks", named=("own_only",))(5)
wrong("shared_blocks", "one for each full one and one more", named=())(7.5)
