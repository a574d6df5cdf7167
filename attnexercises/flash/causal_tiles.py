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
        Mistake("all", lambda: 20, "Those are all tiles; some hold nothing but pairs in the future.", 1),
        Mistake("half", lambda: 10,
            "That is half of all tiles, or the triangle of a 4 by 4 grid; tiles that the diagonal cuts count in full, in 5 "
            "columns.", 2),
        Mistake("no_tail", lambda: 9,
            "That leaves out the tail, the last two queries and keys, or counts pairs by the dozen: tiles are whole.", 3),
        Mistake("full_only", "last_key // block_k + 1 -> (top + 1) // block_k",
            "Those are the tiles in which nothing is hidden; a tile that the diagonal cuts has to be computed as well.", 2),
        Mistake("first_query", "last_key = min(top + block_q, n) - 1 -> last_key = top",
            "You asked what the first query of each tile sees; the last one sees more.", 2),
        Mistake("fraction", lambda: 14 / 3 * (14 / 4 + 1) / 2,
            "Tiles are whole: one that sticks out at the end counts as one, and one that the diagonal cuts counts in full.", 3),
        Mistake("half_and_diagonal", lambda: (20 - 4) // 2 + 4,
            "Half of the grid plus a diagonal of 4 would fit a square; in this grid the diagonal cuts up to two tiles in a row.",
            3),
        Mistake("strict", "last_key // block_k + 1 -> (last_key - 1) // block_k + 1",
            "A tile with a single visible pair is computed, too, and so is a tail; blocks are 4 for queries, 3 for keys.", 2),
        Mistake("beyond", "min(top + block_q, n) -> top + block_q",
            "That is a 5 by 5 grid, or a last row of tiles with 4 queries; it ends with query 13, and no keys lie beyond.", 3),
        Mistake("pairs", lambda: 105,
            "Those are the visible pairs of a query and a key; the question is in how many tiles they lie.", 1),
        Mistake("skipped", lambda: 6,
            "So many tiles are skipped, and as many are cut by the diagonal; all that are not skipped count.", 1),
    ),
    hints=(
        "Draw the 14 by 14 matrix with its diagonal, and the grid of tiles: 4 rows of tiles, 5 columns.",
        "A tile is computed if its last query may look at its first key.",
        "The four rows of tiles end with queries 3, 7, 11 and 13. Each sees the keys up to there; count blocks of 3.",
    ),
    why="The last queries of the rows of tiles are 3, 7, 11 and 13, and these see keys in 2, 3, 4 and 5 blocks.",
    insight="For small tiles the share tends to one half; the larger the tiles, the more is wasted on the diagonal.",
)  # fmt: skip
