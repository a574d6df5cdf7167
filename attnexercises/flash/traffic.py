"""The exercise on the traffic of Flash attention: how many queries fit into the fast memory, and what that costs."""

import math

import numpy as np

from attnexercises.engine.model import Exercise, Mistake, Probe


def flash_traffic(n, d, capacity):
    block_q = (capacity - 2 * d) // (2 * d + 3)
    passes = int(np.ceil(n / block_q))
    loads = n * d + passes * n * 2 * d
    stores = n * d + n
    return loads + stores


def _oracle(n, d, capacity):
    """Fill the memory query by query, then walk through the loops and count."""
    stays, scores, block_q = 0, 0, 0
    one_key_and_its_value = d + d
    while True:
        stays, scores = stays + d + d + 1 + 1, scores + 1  # query, output, maximum, total; a score with the one key
        if stays + scores + one_key_and_its_value > capacity:
            break
        block_q += 1
    moved = 0
    for first in range(0, n, block_q):
        for _ in range(first, min(first + block_q, n)):
            moved += d + d + 1  # the query in; its output and logsumexp out
        for _ in range(n):
            moved += d + d
    return moved


def _family(bugs):
    def flash_traffic(n, d, capacity):
        of_query = 2 * d + 3
        for bug, numbers in (("no_scores", 1), ("no_state", 2), ("no_output", d)):
            of_query -= numbers if bug in bugs else 0
        room = capacity - (0 if "no_key" in bugs else d if "no_value" in bugs else 2 * d)
        if "quarter" in bugs:
            room, of_query = capacity // 4, d
        if "all_for_queries" in bugs:
            room, of_query = capacity, d
        block_q = room / of_query if "part_of_a_query" in bugs else room // of_query
        if "rounded_up" in bugs:
            block_q = math.ceil(room / of_query)
        if "equal_blocks" in bugs:
            block_q = capacity // (4 * d + 3)
        block_q = max(block_q, 1)
        passes = n / block_q
        if "part_of_a_pass" not in bugs:
            passes = n // block_q if "drop_tail" in bugs else math.ceil(passes)
            passes = n // block_q + 1 if "one_pass_more" in bugs else passes
        if "one_by_one" in bugs:
            passes = n
        if "once" in bugs:
            passes = 1
        if "keys_outside" in bugs:
            return 2 * n * d + passes * n * (3 * d + 4)
        loads = (0 if "no_queries" in bugs else n * d) + passes * n * (d if "keys_only" in bugs else 2 * d)
        if "queries_again" in bugs:
            loads += (passes - 1) * n * d
        stores = n * d + (0 if "no_logsumexp" in bugs else 2 * n if "both_stored" in bugs else n)
        if "each_pass" in bugs:
            stores *= passes
        if "scores_move" in bugs:
            stores += 2 * n * n
        return loads if "no_stores" in bugs else stores if "no_loads" in bugs else loads + stores

    return flash_traffic


def _by_the_tile(n, d, capacity):
    block_q = (capacity - 2 * d) // (2 * d + 3)
    starts = range(0, n, block_q)
    return sum(2 * n * d for _ in starts) + n * d + n * (d + 1)


FLASH_TRAFFIC = Exercise(
    id="flash_traffic",
    title="What has to move",
    chapter="flash",
    level="medium",
    minutes=15,
    blanks=4,
    oracle=_oracle,
    solution=flash_traffic,
    family=_family,
    probes=(
        Probe("d 4, M 99, many queries", lambda rng: (1000, 4, 99)),
        Probe("d 8, M 87", lambda rng: (400, 8, 87), why="A width at which 2 d is far from 2 + d."),
        Probe("d 5, M 153: the last number of it is used", lambda rng: (97, 5, 153), why="13 × 11 + 10 is 153."),
        Probe("all queries fit", lambda rng: (20, 8, 1000), "edge", why="One pass: nothing can be loaded less often."),
        Probe("one query at a time", lambda rng: (7, 3, 15), "edge", why="The smallest memory that works at all."),
        Probe(
            "two numbers short of one query more", lambda rng: (90, 6, 148),
            why="15 × 9 + 13 is 148: with room for two more numbers a tenth query would fit.",
        ),
    ),
    mistakes=(
        Mistake(
            "no_scores", "(M - 2 d) // (2 d + 2)",
            "One number of each query has no room in the fast memory: its score, its maximum or its total.", 2,
        ),
        Mistake(
            "no_state", "(M - 2 d) // (2 d + 1)",
            "Each query also keeps its running maximum and its total in the fast memory.", 2,
        ),
        Mistake(
            "no_output", "(M - 2 d) // (d + 3)",
            "The unfinished output of each query lies in the fast memory until it is done.", 2,
        ),
        Mistake(
            "no_key", "M // (2 d + 3)",
            "The key and the value that stream past need room, too.", 2,
            sets="room",
        ),
        Mistake(
            "no_value", "(M - d) // (2 d + 3)",
            "Beside the key there is its value in the fast memory.", 2,
            sets="room",
        ),
        Mistake(
            "all_for_queries", "M // d",
            "You gave all room to the queries themselves: what else lies there while they wait for their outputs?", 2,
            sets="room",
        ),
        Mistake(
            "quarter", "M // 4 // d",
            "A quarter of the room for the queries is the paper's rule; here they get all that is left.", 2,
            sets="room",
        ),
        Mistake(
            "part_of_a_query", "(M - 2 d) / (2 d + 3)",
            "The tile holds a part of a query: round down, the last one does not fit.", 2,
        ),
        Mistake(
            "drop_tail", "n // block_q passes",
            "The last tile of queries, which may be shorter, needs a pass of its own.", 3,
            sets="passes",
        ),
        Mistake(
            "part_of_a_pass", "n / block_q passes",
            "A part of a pass: the keys and values stream past the last tile of queries in full.", 3,
            sets="passes",
        ),
        Mistake(
            "one_by_one", "n passes",
            "The keys and values are loaded once for each query: one pass serves all queries of a tile.", 3,
            sets="passes",
        ),
        Mistake(
            "once", "1 pass",
            "The keys and values are loaded once in all: they pass again for each tile of queries.", 3,
            sets="passes",
        ),
        Mistake(
            "keys_outside", "N (3 n d + 4 n) + 2 n d",
            "You counted as in the worked case, with the loops the other way round: here the keys stream, the queries "
            "stay.", 1,
        ),
        Mistake(
            "keys_only", "passes n d",
            "You counted one stream: each key comes with its value.", 3,
        ),
        Mistake(
            "queries_again", "passes (n d + 2 n d)",
            "The queries are loaded in every pass: each of them stays until it is finished, so it is loaded once.", 1,
        ),
        Mistake(
            "no_queries", "passes 2 n d",
            "The queries have to be loaded as well, each once.", 1,
        ),
        Mistake(
            "no_logsumexp", "stores n d",
            "The logsumexp goes out with the output, one number for each query.", 3,
        ),
        Mistake(
            "no_stores", "loads alone",
            "The stores are missing: the outputs and the logsumexps go out.", 3,
        ),
        Mistake(
            "each_pass", "passes n (d + 1) stores",
            "The outputs are stored in every pass: with the queries outside each is stored once, when finished.", 1,
        ),
        Mistake(
            "rounded_up", "(M - 2 d) / (2 d + 3), rounded up",
            "The number of queries in a tile is rounded up, so the last of them has no room: round down.", 2,
            sets="rounding",
        ),
        Mistake(
            "equal_blocks", "M // (4 d + 3)",
            "As many keys as queries have room in your memory; here one key at a time streams past, with its "
            "value.", 2,
            sets="room",
        ),
        Mistake(
            "one_pass_more", "n // block_q + 1 passes",
            "There is a pass too many where the queries fill their last tile: round the number of tiles up.", 3,
            sets="passes",
        ),
        Mistake(
            "both_stored", "stores n d + 2 n",
            "Two numbers are stored with each output, maximum and total perhaps; the logsumexp is one.", 3,
            sets="stores",
        ),
        Mistake(
            "scores_move", "2 n n more",
            "The scores move as well, as in plain attention; here they never leave the fast memory.", 3,
        ),
        Mistake(
            "no_loads", "stores alone",
            "Only the stores are there: queries, keys and values have to be loaded.", 3,
            sets="stores",
        ),
    ),
    hints=(
        "A tile of queries stays until its outputs are finished; one key and its value after the other streams past "
        "it. Which numbers are loaded once, which once for each tile?",
        "Room: 2 d for the key and its value. A query needs d for itself, d for its output, its maximum, its total, "
        "and one score. How many whole queries fit into what is left?",
        "Passes: n over the queries in a tile, rounded up. Loads: the queries once, n (d + d) in each pass. Stores: "
        "for each query its output and one number.",
    ),
    why="The tile that stays decides how often the rest streams past it, so one key is enough and all other room goes "
    "to queries.",
    insight="For a large M that is about 4 n² d² / M: you have derived the traffic of Flash, with its constant.",
    accepts={"loops": _by_the_tile},
    outputs=("moved",),
)  # fmt: skip

EXERCISES = (FLASH_TRAFFIC,)
