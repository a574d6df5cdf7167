"""attnexercises.failing_case.as_text: is what is said of the wrong entries true?"""

import numpy as np
import pytest

from attnexercises.failing_case.as_text import drawn, fits, wrong_entries

GRID = np.zeros((3, 4), dtype=bool)


def marked(*places, shape=(3, 4)):
    wrong = np.zeros(shape, dtype=bool)
    for place in places:
        wrong[place] = True
    return wrong


CASES = {
    "all": (~GRID, "all 12 entries are wrong"),
    "one number": (np.array(True), "the only entry is wrong"),
    "one of a row": (marked(2, shape=(4,)), "1 of 4 entries is wrong: place 2"),
    "some of a row": (marked(slice(1, None), shape=(4,)), "3 of 4 entries are wrong: places 1 to 3"),
    "two rows": (marked(0, 2), "8 of 12 entries are wrong: rows 0 and 2"),
    "a column": (marked((..., 1)), "3 of 12 entries are wrong: column 1"),
    "scattered": (marked((0, 1), (1, 3)), "2 of 12 entries are wrong, in rows 0 and 1"),
    "a column in each matrix": (marked((..., 1), shape=(2, 3, 4)), "6 of 24 entries are wrong: column 1"),
    "rows of matrices": (marked((0, 1), (1, 2), shape=(2, 3, 4)), "8 of 24 entries are wrong, in whole rows"),
    "an element": (
        marked((1, 0, 0), (1, 2, 1), shape=(2, 3, 4)),
        "2 of 24 entries are wrong, in element 1 of the first axis",
    ),
    "everywhere": (marked((0, 0, 0), (1, 2, 1), shape=(2, 3, 4)), "2 of 24 entries are wrong"),
    "above": (np.triu(np.ones((3, 3), dtype=bool), 1), "3 of 9 entries are wrong: those above the diagonal"),
    "on and above": (np.triu(np.ones((3, 3), dtype=bool)), "6 of 9 entries are wrong: those on and above the diagonal"),
    "below": (np.tril(np.ones((3, 3), dtype=bool), -1), "3 of 9 entries are wrong: those below the diagonal"),
    "on and below": (np.tril(np.ones((3, 3), dtype=bool)), "6 of 9 entries are wrong: those on and below the diagonal"),
    "many rows": (
        marked(*[(row, 0) for row in range(0, 18, 2)], (1, 1), shape=(18, 2)),
        "10 of 36 entries are wrong, in 10 rows",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_the_places_in_words(case):
    wrong, words = CASES[case]
    assert wrong_entries(wrong) == words


def test_a_grid_for_each_matrix_with_its_place():
    assert drawn(marked((1, 0, 1), shape=(2, 1, 2))) == "[0]\n· ·\n[1]\n· ×"
    assert drawn(marked(1, shape=(3,))) == "· × ·"


def test_what_is_too_large_is_not_drawn():
    assert not fits(np.zeros((41, 2), dtype=bool)) and not fits(np.zeros((5, 2, 2), dtype=bool)) and fits(GRID)
    assert drawn(np.zeros(41, dtype=bool)) == ""
