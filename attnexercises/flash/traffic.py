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


FLASH_TRAFFIC = Exercise(
    title="What has to move", level="medium", minutes=15, blanks=4, oracle=_oracle, solution=flash_traffic,
    probes=(
        Probe("d 4, M 99, many queries", lambda rng: (1000, 4, 99)),
        Probe("d 8, M 87", lambda rng: (400, 8, 87), why="A width at which 2 d is far from 2 + d."),
        Probe("d 5, M 153: the last number of it is used", lambda rng: (97, 5, 153), why="13 × 11 + 10 is 153."),
        Probe("all queries fit", lambda rng: (20, 8, 1000), "edge", why="One pass: nothing can be loaded less often."),
        Probe("one query at a time", lambda rng: (7, 3, 15), "edge", why="The smallest memory that works at all."),
        Probe("two numbers short of one query more", lambda rng: (90, 6, 148),
            why="15 × 9 + 13 is 148: with room for two more numbers a tenth query would fit."),
    ),
    mistakes=(
        Mistake("no_scores", "// (2 * d -> // (2 * d - 1",
            "One number of each query has no room in the fast memory: its score, its maximum or its total.", 2),
        Mistake("no_state", "+ 3 -> + 1", "Each query also keeps its running maximum and its total in the fast memory.", 2),
        Mistake("no_output", "// (2 * d -> // (d",
            "The unfinished output of each query lies in the fast memory until it is done.", 2),
        Mistake("no_key", "(capacity - 2 * d) -> capacity",
            "The key and the value that stream past need room, too.", 2, sets="room"),
        Mistake("no_value", "capacity - 2 * d -> capacity - d",
            "Beside the key there is its value in the fast memory.", 2, sets="room"),
        Mistake("all_for_queries", ("(capacity - 2 * d) -> capacity", "(2 * d + 3) -> d"),
            "You gave all room to the queries themselves: what else lies there while they wait for their outputs?", 2, sets="room"),
        Mistake("quarter", ("(capacity - 2 * d) -> capacity // 4", "(2 * d + 3) -> d"),
            "A quarter of the room for the queries is the paper's rule; here they get all that is left.", 2, sets="room"),
        Mistake("part_of_a_query", "// -> /", "The tile holds a part of a query: round down, the last one does not fit.", 2),
        Mistake("drop_tail", "int(np.ceil(n / block_q)) -> n // block_q",
            "The last tile of queries, which may be shorter, needs a pass of its own.", 3, sets="passes"),
        Mistake("part_of_a_pass", "int(np.ceil(n / block_q)) -> n / block_q",
            "A part of a pass: the keys and values stream past the last tile of queries in full.", 3, sets="passes"),
        Mistake("one_by_one", "int(np.ceil(n / block_q)) -> n",
            "The keys and values are loaded once for each query: one pass serves all queries of a tile.", 3, sets="passes"),
        Mistake("once", "int(np.ceil(n / block_q)) -> 1",
            "The keys and values are loaded once in all: they pass again for each tile of queries.", 3, sets="passes"),
        Mistake("keys_outside", "loads + stores -> 2 * n * d + passes * n * (3 * d + 4)",
            "You counted as in the worked case, with the loops the other way round: here the keys stream, the queries stay.", 1),
        Mistake("keys_only", "n * 2 * d -> n * d", "You counted one stream: each key comes with its value.", 3),
        Mistake("queries_again", "n * d + passes -> passes * n * d + passes",
            "The queries are loaded in every pass: each of them stays until it is finished, so it is loaded once.", 1,
            sets="queries"),
        Mistake("no_queries", "n * d + passes -> passes", "The queries have to be loaded as well, each once.", 1, sets="queries"),
        Mistake("no_logsumexp", "n * d + n -> n * d", "The logsumexp goes out with the output, one number for each query.", 3),
        Mistake("no_stores", "loads + stores -> loads", "The stores are missing: the outputs and the logsumexps go out.", 3),
        Mistake("each_pass", "n * d + n -> passes * (n * d + n)",
            "The outputs are stored in every pass: with the queries outside each is stored once, when finished.", 1),
        Mistake("rounded_up", "(capacity - 2 * d) // (2 * d + 3) -> math.ceil((capacity - 2 * d) / (2 * d + 3))",
            "The number of queries in a tile is rounded up, so the last of them has no room: round down.", 2, sets="rounding"),
        Mistake("equal_blocks", ("(capacity - 2 * d) -> capacity", "(2 * d + 3) -> (4 * d + 3)"),
            "As many keys as queries have room in your memory; here one key at a time streams past, with its value.", 2,
            sets="room"),
        Mistake("one_pass_more", "int(np.ceil(n / block_q)) -> n // block_q + 1",
            "There is a pass too many where the queries fill their last tile: round the number of tiles up.", 3, sets="passes"),
        Mistake("both_stored", "n * d + n -> n * d + 2 * n",
            "Two numbers are stored with each output, maximum and total perhaps; the logsumexp is one.", 3, sets="stores"),
        Mistake("scores_move", "loads + stores -> loads + stores + 2 * n * n",
            "The scores move as well, as in plain attention; here they never leave the fast memory.", 3),
        Mistake("no_loads", "loads + stores -> stores",
            "Only the stores are there: queries, keys and values have to be loaded.", 3, sets="stores"),
    ),
    hints=(
        "A tile of queries stays until its outputs are finished; one key and its value after the other streams past it. Which "
        "numbers are loaded once, which once for each tile?",
        "Room: 2 d for the key and its value. A query needs d for itself, d for its output, its maximum, its total, and one score. "
        "How many whole queries fit into what is left?",
        "Passes: n over the queries in a tile, rounded up. Loads: the queries once, n (d + d) in each pass. Stores: for each query "
        "its output and one number.",
    ),
    why="The tile that stays decides how often the rest streams past it, so one key is enough and all other room goes to queries.",
    insight="For a large M that is about 4 n² d² / M: you have derived the traffic of Flash, with its constant.",
    outputs=("moved",),
)  # fmt: skip
