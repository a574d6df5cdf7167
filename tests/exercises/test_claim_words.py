"""What a claim is called and what readers are told say the same: the tests of truth measure the kind, readers see the words."""

import pytest

from attnexercises.engine.claims import Claim, Size

SAID = [
    ("minus", {}, "exactly minus the right answer"),
    ("times", {"n": 2.0}, "every number is 2 times the right one"),
    ("parts", {"n": 2.0}, "every number is 2 times too small"),
    ("size", {"size": Size("key", 0), "power": 1, "n": 5.0}, "every number is too large by a factor of the size of axis 0 of key, here 5"),
    ("size", {"size": Size("x", -1, axes=1), "power": 1, "n": 5.0}, "too large by a factor of the length of x, here 5"),
    ("size", {"size": Size("x", -1), "power": 1, "n": 5.0}, "too large by a factor of the number of columns of x, here 5"),
    ("size", {"size": Size("x", -2, axes=4), "power": 1, "n": 5.0}, "too large by a factor of the number of rows of x, here 5"),
    ("size", {"size": Size("x", -3, axes=4), "power": 1, "n": 5.0}, "too large by a factor of the number of heads of x, here 5"),
    ("size", {"size": Size("x", -4, axes=4), "power": 1, "n": 5.0}, "too large by a factor of the batch size of x, here 5"),
    ("size", {"size": Size("x", -3, axes=3), "power": 1, "n": 5.0}, "too large by a factor of the batch size of x, here 5"),
    ("size", {"size": Size("x", -3), "power": 1, "n": 5.0}, "too large by a factor of the size of the last leading axis of x, here 5"),
    ("size", {"size": Size("x", -1, "heads"), "power": 1, "n": 5.0}, "the number of columns of x / heads, here 5"),
    ("size", {"size": Size("key", 1), "power": -0.5, "n": 2.0},
     "every number is too small by a factor of the square root of the size of axis 1 of key, here 2"),
    ("offset", {"n": 3.0}, "every number is off by the same amount, 3"),
    ("transposed", {}, "the last two axes are swapped (transposed)"),
    ("row offsets", {}, "right up to one constant added to each row (the last axis)"),
    ("permuted", {}, "the right numbers, in other places"),
    ("sums along 0", {}, "the numbers sum to 1 along axis 0, and not along each row"),
    ("sum of all", {}, "all numbers together sum to 1, and not each row"),
    ("largest one", {}, "the largest number of each row is 1, not the sum of the row"),
    ("zero", {"one": True}, "your number is 0"),
    ("whole numbers", {"dtype": "int64"}, "the result holds whole numbers only (its dtype is int64), so every decimal is cut off"),
    ("complement", {}, "every entry is the opposite of the right one"),
    ("sign", {}, "the sign is wrong"),
    ("side", {"much": "large", "told": True}, "your number is too large: the right number lies below it"),
    ("side", {"much": "small", "told": True}, "your number is too small: the right number lies above it"),
]  # fmt: skip


@pytest.mark.parametrize("kind, values, words", SAID, ids=[f"{kind}-{number}" for number, (kind, *_) in enumerate(SAID)])
def test_the_words_of_a_claim_are_those_of_its_kind(kind, values, words):
    assert words in str(Claim(kind, values))
