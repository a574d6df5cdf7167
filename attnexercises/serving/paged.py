"""The exercise on a paged cache: find rows of a text in blocks that lie anywhere."""

import numpy as np

from attnexercises.engine.model import Exercise, Mistake, Probe


def paged_lookup(pages, table, positions):
    size = pages.shape[1]
    return pages[table[positions // size], positions % size]


def _oracle(pages, table, positions):
    """Walk through the text slot by slot, until each position has been passed."""
    rows = {}
    for page in table:
        for slot in range(pages.shape[1]):
            rows[len(rows)] = [float(number) for number in pages[page, slot]]
    return np.array([rows[int(position)] for position in positions])


def _cache(pages, size, d, table, n, asked=None):
    """A pool of pages, a table, and n of its positions, or those that are asked for."""

    def make(rng):
        positions = rng.permutation(len(table) * size)[:n] if asked is None else np.array(asked)
        return rng.standard_normal((pages, size, d)), np.array(table), positions

    return make


_PAGED = Exercise(
    title="Where does this token lie?", level="easy", minutes=10, blanks=3, oracle=_oracle, solution=paged_lookup,
    probes=(
        Probe("7 pages of 4 rows, a text in 3 of them", _cache(7, 4, 2, (5, 0, 3), 5)),
        Probe("4 pages of 4 rows, all in use", _cache(4, 4, 4, (2, 0, 3, 1), 9), "equal",
            "With all sizes alike, mixed-up axes run."),
        Probe("6 pages of 5 rows, a text in 4 of them", _cache(6, 5, 3, (5, 1, 4, 2), 0, asked=(10, 3, 0, 7, 9, 4, 8))),
        Probe("pages of one row", _cache(6, 1, 3, (4, 1, 5, 0), 2), "edge", "The table alone decides."),
        Probe("a page that stands twice in the table", _cache(5, 2, 3, (3, 1, 3, 0), 7), "edge", "Nothing forbids it."),
        Probe("one position", _cache(5, 3, 2, (4, 2), 1), "edge", "Axes of size 1 stay."),
    ),
    mistakes=(
        Mistake("no_table", "table[positions // size] -> positions // size",
            "Your code reads the pages in the order in which they lie in memory. The table says which page holds which block.", 1, sets="table"),
        Mistake("inverse", "table[ -> np.argsort(table)[",
            "The table is read backwards: it is indexed with a block of the text and returns the page of that block.", 1, sets="table"),
        Mistake("sorted", "table[ -> np.sort(table)[",
            "The table was sorted. Its order is the order of the text, so it must stay as it is.", 1, sets="table"),
        Mistake("swapped", "positions // size], positions % size -> positions % size], positions // size",
            "Block and slot are swapped: neighbouring positions usually share a block and differ in their slot.", 2, sets="place"),
        Mistake("dealt", ("positions // size -> positions % len(table)", "positions % size -> positions // len(table)"),
            "Your code deals the positions out to the blocks in turn. A block holds neighbouring positions.", 2, sets="place size"),
        Mistake("page_and_slot", "table[positions // size], positions % size -> positions % size, table[positions // size]",
            "Page and slot have changed places in the index. The first axis of pages counts the pages.", 3, sets="place"),
        Mistake("size_pages", "pages.shape[1] -> len(pages)",
            "You divided by the number of pages. Divide by the number of rows in a page.", 2, sets="size"),
        Mistake("size_table", "pages.shape[1] -> len(table)",
            "You divided by the length of the table. Divide by the number of rows in a page.", 2, sets="size"),
        Mistake("size_d", "pages.shape[1] -> pages.shape[2]",
            "You divided by the number of features. Divide by the number of rows in a page.", 2, sets="size"),
        Mistake("from_one", "positions): -> positions):\n    positions = positions - 1",
            "Your code counts the positions from 1, but the first position is 0.", 2),
        Mistake("next_slot", "positions % size -> (positions + 1) % size",
            "Your slots are one too high in each page. The first row of a page is slot 0.", 2, sets="place"),
        Mistake("next_block", "table[positions // size] -> table[(positions // size + 1) % len(table)]",
            "Your code reads the page of the next block. The first block of the text is block 0.", 2, sets="table"),
        Mistake("row_of_page",
            ("return pages -> return pages.reshape(-1, pages.shape[2])", "size], positions -> size] + positions"),
            "In a list of all rows, page 3 does not begin at row 3: three whole pages lie before it.", 3, sets="place"),
        Mistake("from_the_end", "positions % size -> size - 1 - positions % size",
            "Your code counts the slots from the end of a page, but a block begins with the first row.", 2, sets="place"),
        Mistake("block_as_slot", "positions % size -> positions // size",
            "You used the number of the block as the slot, too. The slot says how far into its block a position lies.", 2, sets="place"),
        Mistake("first_slot", "positions % size -> 0 * positions",
            "Your code returns the first row of each page and ignores the slot.", 2, sets="place"),
        Mistake("in_order",
            "pages[table[positions // size], positions % size] -> pages[table].reshape(-1, pages.shape[2])[: len(positions)]",
            "Your code returns the text from its start. `positions` says which rows to return, and in which order.", 3, sets="place"),
        Mistake("sorted_positions", ("positions // -> np.sort(positions) //", "positions % -> np.sort(positions) %"),
            "Your rows are in the order of the text. They should be in the order of `positions`.", 3, sets="place"),
    ),
    hints=(
        "Follow one position. In which block of the text is it? In which page does that block lie?",
        "With pages of 4 rows, position 9 is the second row of the third block, because 9 is 2 times 4 with 1 left over.",
        "`//` gives the block and `%` gives the slot. Both work on all positions at once, and an index may consist of two arrays.",
    ),
    why="The table turns the block into a page. Two index arrays of the same length then pick one row for each pair of page and slot.",
    insight="Operating systems find memory in the same way. Texts that begin alike can share pages, because two tables may name the same page.",
)  # fmt: skip
