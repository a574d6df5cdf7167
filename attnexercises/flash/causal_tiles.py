"""The number question of the chapter on Flash attention that asks how many tiles a causal mask leaves."""

import itertools

from attnexercises.engine.model import Mistake, value_exercise

# causal_tiles: q = k = 14, block_q = 4, block_k = 3


def _causal_tiles():
    n, block_q, block_k = 14, 4, 3
    count = 0
    for top in range(0, n, block_q):
        last_key = min(top + block_q, n) - 1  # the last query of the tile sees keys up to itself
        count += last_key // block_k + 1
    return count


def _tiles_of_visible_pairs():
    return len({(i // 4, j // 3) for i, j in itertools.product(range(14), range(14)) if j <= i})


_TILES = value_exercise(
    title="How many tiles?", level="medium", minutes=10, answer=_causal_tiles, oracle=_tiles_of_visible_pairs,
    mistakes=(
        Mistake("all", lambda: 20, "Those are all tiles. Some of them hold only hidden pairs and are not computed.", 1),
        Mistake("half", lambda: 10,
                "That is half of all tiles, or the triangle of a 4 by 4 grid. There are 5 columns, and tiles that "
                "the diagonal cuts count in full.", 2),
        Mistake("no_tail", lambda: 9,
                "That leaves out the last two queries and keys, or it divides pairs by 12. A tile counts as one, "
                "however many visible pairs it holds.", 3),
        Mistake("full_only", "last_key // block_k + 1 -> (top + 1) // block_k",
                "Those are the tiles in which nothing is hidden. A tile that the diagonal cuts has to be computed as "
                "well.", 2),
        Mistake("first_query", "last_key = min(top + block_q, n) - 1 -> last_key = top",
                "You asked what the first query of each tile sees. The last query sees more.", 2),
        Mistake("fraction", lambda: 14 / 3 * (14 / 4 + 1) / 2,
                "A number of tiles is a whole number. A shorter tile at the end counts as one, and so does a tile "
                "that the diagonal cuts.", 3),
        Mistake("half_and_diagonal", lambda: (20 - 4) // 2 + 4,
                "That is half of the grid and a diagonal of 4, or the tiles without the shorter ones. Here the diagonal cuts two tiles in "
                "some rows, and shorter tiles count.", 3),
        Mistake("strict", "last_key // block_k + 1 -> (last_key - 1) // block_k + 1",
                "A tile with a single visible pair is computed, and so is a shorter tile at the end. Blocks have 4 "
                "queries and 3 keys.", 2),
        Mistake("beyond", "min(top + block_q, n) -> top + block_q",
                "That is a 5 by 5 grid, or it gives the last row of tiles 4 queries. The last row ends with query "
                "13, and there are no keys beyond 13.", 3),
        Mistake("pairs", lambda: 105,
                "Those are the visible pairs of a query and a key. In how many tiles do they lie?", 1),
        Mistake("skipped", lambda: 6,
                "Six tiles are skipped, and as many are cut by the diagonal. Count all tiles that are not skipped.", 1),
    ),
    hints=(
        "Draw the 14 by 14 matrix with its diagonal, and the grid of tiles: 4 rows of tiles, 5 columns.",
        "A tile is computed if its last query may look at its first key. So you need one query and one key "
                "of each tile.",
        "The four rows of tiles end with queries 3, 7, 11 and 13. Each of these sees the keys up to its own "
                "place. How many blocks of 3 is that?",
    ),
    why="The rows of tiles end with the queries 3, 7, 11 and 13, which see keys in 2, 3, 4 and 5 blocks.",
    insight="For small tiles the share tends to one half. If one side divides the other, only the longer one counts. "
                "In long texts, 4 by 3 tiles waste as much as 6 by 6.",
)  # fmt: skip
