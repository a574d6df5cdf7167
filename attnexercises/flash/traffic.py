"""The exercise on the traffic of Flash attention: how many queries fit into the fast memory, and what that costs."""

import math  # noqa: F401  edits of the solution use it

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
        Probe("d 5, M 550, many queries", lambda rng: (3000, 5, 550), why="With more room a number that is forgotten shows sooner."),
        Probe("d 4, M 830, many queries", lambda rng: (2500, 4, 830), why="The same with another remainder."),
        Probe("all queries fit", lambda rng: (20, 8, 1000), "edge", why="One pass: nothing can be loaded less often."),
        Probe("one query at a time", lambda rng: (7, 3, 15), "edge", why="The smallest memory that works at all."),
        Probe("two numbers short of one query more", lambda rng: (90, 6, 148),
            why="15 × 9 + 13 is 148: with room for two more numbers a tenth query would fit."),
    ),
    mistakes=(
        Mistake("no_scores", "// (2 * d -> // (2 * d - 1",
                "One number of each query has no room in your fast memory: its score, its maximum or its sum s.", 2),
        Mistake("no_state", "+ 3 -> + 1",
                "Each query also keeps two running numbers in the fast memory, its maximum and its sum s.", 2),
        Mistake("no_output", "// (2 * d -> // (d",
                "The unfinished output of each query stays in the fast memory until it is finished.", 2),
        Mistake("no_key", "(capacity - 2 * d) -> capacity",
                "The key and the value that stream past need room as well.", 2, sets="room"),
        Mistake("no_value", "capacity - 2 * d -> capacity - d",
                "The value of the key lies in the fast memory beside the key.", 2, sets="room"),
        Mistake("all_for_queries", ("(capacity - 2 * d) -> capacity", "(2 * d + 3) -> d"),
                "You gave all room to the queries themselves. What else lies in the fast memory while their outputs "
                "are computed?", 2, sets="room"),
        Mistake("only_matrices", ("(capacity - 2 * d) -> capacity", "(2 * d + 3) -> (2 * d)"),
                "You gave all room to the queries and their outputs. The maximum, the sum and the score of each query need room, "
                "too, and so does the key with its value.", 2, sets="room"),
        Mistake("quarter", ("(capacity - 2 * d) -> capacity // 4", "(2 * d + 3) -> d"),
                "A quarter of the room for the queries is the rule of the first paper. Here the queries get all the "
                "room that is left.", 2, sets="room"),
        Mistake("part_of_a_query", "// -> /",
                "Your tile holds a part of a query. Round down, because the last query does not fit.", 2),
        Mistake("drop_tail", "int(np.ceil(n / block_q)) -> n // block_q",
                "The last tile of queries may be shorter, and it needs a pass of its own.", 3, sets="passes"),
        Mistake("part_of_a_pass", "int(np.ceil(n / block_q)) -> n / block_q",
                "You counted a part of a pass. All keys and values stream past the last tile, even if it is shorter.", 3, sets="passes"),
        Mistake("one_by_one", "int(np.ceil(n / block_q)) -> n",
                "You loaded the keys and values once for each query. One pass serves all queries of a tile.", 3, sets="passes"),
        Mistake("once", "int(np.ceil(n / block_q)) -> 1",
                "You loaded the keys and values only once. They stream past every tile of queries.", 3, sets="passes"),
        Mistake("keys_outside", "loads + stores -> 2 * n * d + passes * n * (3 * d + 4)",
                "You counted with the loops the other way round. Here the queries stay and the keys stream.", 1),
        Mistake("keys_only", "n * 2 * d -> n * d", "You counted one stream. Each key comes with its value, so there are two.", 3),
        Mistake("queries_again", "n * d + passes -> passes * n * d + passes",
                "You loaded the queries in every pass. Each query stays until it is finished, so it is loaded once.", 1, sets="queries"),
        Mistake("no_queries", "n * d + passes -> passes", "The queries have to be loaded as well, each of them once.", 1, sets="queries"),
        Mistake("no_logsumexp", "n * d + n -> n * d",
                "The logsumexp is stored with the output, one number for each query.", 3),
        Mistake("no_stores", "loads + stores -> loads",
                "The stores are missing. Outputs and logsumexps have to be stored.", 3),
        Mistake("each_pass", "n * d + n -> passes * (n * d + n)",
                "You stored the outputs in every pass. An output is stored once, when it is finished.", 1),
        Mistake("rounded_up", "(capacity - 2 * d) // (2 * d + 3) -> math.ceil((capacity - 2 * d) / (2 * d + 3))",
                "You rounded the number of queries in a tile up, so the last of them has no room. Round down.", 2, sets="rounding"),
        Mistake("rounded_nearest", "(capacity - 2 * d) // (2 * d + 3) -> round((capacity - 2 * d) / (2 * d + 3))",
                "You rounded the number of queries in a tile to the nearest. Where that is up, the last of them has no room. Round "
                "down.", 2, sets="rounding"),
        Mistake("equal_blocks", ("(capacity - 2 * d) -> capacity", "(2 * d + 3) -> (4 * d + 3)"),
                "Your memory has room for as many keys as queries. Here one key at a time streams past, with its "
                "value.", 2, sets="room"),
        Mistake("third", "(capacity - 2 * d) // (2 * d + 3) -> capacity // 3 // d",
            "You gave the queries a third of the memory. They get all the room that the key and its value leave.", 2, sets="room"),
        Mistake("key_state", "(capacity - 2 * d) -> (capacity - 2 * d - 2)",
            "You kept two more numbers for the key and its value. They take d + d numbers, and nothing else.", 2, sets="room"),
        Mistake("passes_nearest", "int(np.ceil(n / block_q)) -> round(n / block_q)",
            "You rounded the number of passes to the nearest. A last, shorter tile needs a pass as well.", 3, sets="passes"),
        Mistake("plain", "loads + stores -> 4 * n * d + 4 * n * n",
            "That is the traffic of plain attention. Flash attention never moves the scores.", 3),
        Mistake("limit", "loads + stores -> 4 * n * n * d * d / capacity",
            "That is the rule for large n and M. Count the loads and stores one by one.", 3),
        Mistake("tile_passes", "int(np.ceil(n / block_q)) -> block_q",
            "You counted one pass for each query of a tile. One pass serves all queries of a tile, and there are n over block_q "
            "tiles.", 3, sets="passes"),
        Mistake("four_numbers", "// (2 * d -> // (2 * d + 1",
            "You kept one number too many for each query. They are its maximum, its sum and its score.", 2),
        Mistake("full_tiles", "loads = n * d + -> loads = passes * block_q * d +",
            "You loaded the last tile as if it were full. Each query is loaded once.", 1, sets="queries"),
        Mistake("one_pass_more", "int(np.ceil(n / block_q)) -> n // block_q + 1",
                "You count a pass too many where the queries fill their last tile. Round the number of tiles up "
                "instead of adding 1.", 3, sets="passes"),
        Mistake("both_stored", "n * d + n -> n * d + 2 * n",
                "You stored two numbers with each output, perhaps maximum and sum. The logsumexp is a single number.", 3, sets="stores"),
        Mistake("scores_move", "loads + stores -> loads + stores + 2 * n * n",
                "In your count the scores move, as in plain attention. Here they never leave the fast memory.", 3),
        Mistake("no_loads", "loads + stores -> stores",
                "You counted only the stores. Queries, keys and values have to be loaded.", 3, sets="stores"),
    ),
    hints=(
        "A tile of queries stays until its outputs are finished, and one key with its value after the other "
                "streams past. Which numbers are loaded once, and which are loaded once for each tile?",
        "The key and its value take 2 d numbers. A query takes d for itself, d for its output, and one each "
                "for its maximum, its sum and its score. How many whole queries fit into the room that is left?",
        "The number of passes is n over the queries in a tile, rounded up. The queries are loaded once, and "
                "n (d + d) numbers in each pass. For each query the output and one more number are stored.",
    ),
    why="The number of queries that stay decides how often keys and values stream past. So one key at a time "
                "is enough, and all other room goes to queries.",
    insight="For large n and M this is about 4 n² d² / M. You have derived the traffic of Flash attention, with "
                "its constant.",
    outputs=("moved",),
)  # fmt: skip
