"""Wrong answers to `previous_token_head` and `first_of_its_kind_head`, as readers may write them."""

import numpy as np

from . import wrong


def stacked(letters, places, of_letters, of_places):
    return np.vstack([of_letters, of_places]).astype(float)


@wrong("previous_token_head", "an identity in both: the token itself", named=("itself",))
def identity_in_both(letters, places):
    w = np.zeros((letters + places, places))
    w[letters:] = np.eye(places)
    return 10 * np.sqrt(places) * w, w


@wrong("previous_token_head", "the shift in the wrong direction", named=("ahead",))
def shift_the_other_way(letters, places):
    wq, wk = np.zeros((letters + places, places)), np.zeros((letters + places, places))
    for i in range(places - 1):
        wq[letters + i, i + 1] = 100.0
    for j in range(places):
        wk[letters + j, j] = 1.0
    return wq, wk


@wrong("previous_token_head", "shifted in the queries and in the keys", named=("itself",))
def shifted_in_both(letters, places):
    shift = np.vstack([np.zeros((letters, places)), np.eye(places, k=-1)])
    return 50 * shift, 50 * shift


@wrong("previous_token_head", "queries one back, keys one ahead: two back", named=("two_back",))
def shifted_twice(letters, places):
    top = np.zeros((letters, places))
    return 99 * np.vstack([top, np.eye(places, k=-1)]), np.vstack([top, np.eye(places, k=1)])


@wrong("previous_token_head", "the whole square is shifted, letters and places alike")
def whole_square_shifted(letters, places):
    n = letters + places
    return 100 * np.eye(n, k=-1), np.eye(n)


@wrong("previous_token_head", "letters and places in the other order", says=r"no more weight than another")
def places_before_letters(letters, places):
    wq, wk = np.zeros((letters + places, places)), np.zeros((letters + places, places))
    wq[:places] = 100 * np.eye(places, k=-1)
    wk[:places] = np.eye(places)
    return wq, wk


@wrong("previous_token_head", "the size 1", named=("flat",))
def size_one(letters, places):
    zeros = np.zeros((letters, places))
    return np.concatenate([zeros, np.eye(places, k=-1)]), np.concatenate([zeros, np.eye(places)])


@wrong("previous_token_head", "the size log(9 p), without the root of d", named=("flat",))
def without_the_root(letters, places):
    zeros = np.zeros((letters, places))
    a = np.log(9 * (places - 1))
    return np.concatenate([zeros, a * np.eye(places, k=-1)]), np.concatenate([zeros, np.eye(places)])


@wrong("previous_token_head", "the size 10, good enough for six places", named=("fixed",))
def size_ten(letters, places):
    zeros = np.zeros((letters, places))
    return np.vstack([zeros, 10 * np.eye(places, k=-1)]), np.vstack([zeros, np.eye(places)])


@wrong("previous_token_head", "the lead of the score is 4, whatever the number of places", named=("no_logarithm",))
def lead_of_four(letters, places):
    zeros = np.zeros((letters, places))
    return np.vstack([zeros, 4 * np.sqrt(places) * np.eye(places, k=-1)]), np.vstack([zeros, np.eye(places)])


@wrong("previous_token_head", "keys all zero", named=("nothing",))
def zero_keys(letters, places):
    wq = np.zeros((letters + places, places))
    wk = np.zeros_like(wq)
    wq[letters:] = 30 * np.eye(places, k=-1)
    return wq, wk


@wrong("previous_token_head", "keys all alike", named=("nothing",))
def keys_alike(letters, places):
    wq = np.vstack([np.zeros((letters, places)), 30 * np.eye(places, k=-1)])
    return wq, np.ones((letters + places, places))


@wrong("previous_token_head", "a product with a minus", named=("sign",))
def with_a_minus(letters, places):
    zeros = np.zeros((letters, places))
    return np.vstack([zeros, 40 * np.eye(places, k=-1)]), np.vstack([zeros, -np.eye(places)])


@wrong("previous_token_head", "one column: the place itself as a number")
def place_as_a_number(letters, places):
    wq = np.zeros((letters + places, 1))
    wk = np.zeros((letters + places, 1))
    wq[letters:, 0] = np.arange(places) - 1
    wk[letters:, 0] = np.arange(places)
    return 10 * wq, wk


@wrong(
    "previous_token_head", "minus the distance to the place before, not squared",
    says=r"token 2 looks most at token 0, and should look at token 1",
)
def distance_not_squared(letters, places):
    wq = np.vstack([np.zeros((letters, 2)), np.stack([np.arange(places) - 1, np.ones(places)], 1)])
    wk = np.vstack([np.zeros((letters, 2)), np.stack([np.ones(places), -np.arange(places)], 1)])
    return 9 * wq, wk


@wrong(
    "previous_token_head", "all earlier places alike",
    says=r"token 2 gives token 1, where it should look, no more weight than another",
)
def all_earlier_alike(letters, places):
    zeros = np.zeros((letters, places))
    return np.vstack([zeros, 100 * np.tril(np.ones((places, places)), -1)]), np.vstack([zeros, np.eye(places)])


@wrong(
    "previous_token_head", "itself and the one before",
    says=r"token 1 gives token 0, where it should look, no more weight",
)
def two_diagonals(letters, places):
    zeros = np.zeros((letters, places))
    return np.vstack([zeros, 100 * (np.eye(places) + np.eye(places, k=-1))]), np.vstack([zeros, np.eye(places)])


@wrong("previous_token_head", "the letter before: a shift of the letters", named=())
def letters_shifted(letters, places):
    wq, wk = np.zeros((2, letters + places, letters))
    wq[:letters] = 100 * np.eye(letters, k=-1)
    wk[:letters] = np.eye(letters)
    return wq, wk


@wrong("previous_token_head", "places without the rows of the letters", says=r"\(6, 6\); a matrix with 9 rows")
def rows_of_letters_missing(letters, places):
    return 30 * np.eye(places, k=-1), np.eye(places)


@wrong("previous_token_head", "transposed: columns for the tokens' features", says=r"\(6, 9\); a matrix with 9 rows")
def transposed_matrices(letters, places):
    wq = np.hstack([np.zeros((places, letters)), 100 * np.eye(places, k=1)])
    wk = np.hstack([np.zeros((places, letters)), np.eye(places)])
    return wq, wk


@wrong("previous_token_head", "key first, then query", named=("ahead",))
def key_first(letters, places):
    zeros = np.zeros((letters, places))
    return np.vstack([zeros, np.eye(places)]), np.vstack([zeros, 77 * np.eye(places, k=-1)])


@wrong("previous_token_head", "minus infinity for all other places", says=r"no numbers")
def infinite_scores(letters, places):
    wq = np.vstack([np.zeros((letters, places)), np.where(np.eye(places, k=-1) == 1, 0, -np.inf)])
    return wq, np.vstack([np.zeros((letters, places)), np.eye(places)])


@wrong("previous_token_head", "made for six places", says=r"100 letters, token 6")
def for_six_places(letters, places):
    wq, wk = np.zeros((2, letters + places, 6))
    for i in range(1, 6):
        if i < places:
            wq[letters + i, i - 1] = 50
    for j in range(min(6, places)):
        wk[letters + j, j] = 1
    return wq, wk


# --- first_of_its_kind_head -----------------------------------------------------------------------


def features(letters, places):
    """Two matrices of zeros: a column for each letter, one for the place."""
    return np.zeros((2, letters + places, letters + 1))


@wrong("first_of_its_kind_head", "only the letters", named=("whole_kind",))
def only_the_letters(letters, places):
    w = np.vstack([np.eye(letters), np.zeros((places, letters))])
    return 50 * w, w


@wrong("first_of_its_kind_head", "only the places: early ones first", named=("any_letter",))
def only_the_places(letters, places):
    wq, wk = np.ones((letters + places, 1)), np.zeros((letters + places, 1))
    wk[letters:, 0] = -10 * np.arange(places)
    return wq, wk


@wrong("first_of_its_kind_head", "places count upwards", named=("last",))
def places_upwards(letters, places):
    wq, wk = features(letters, places)
    wq[:letters, :letters] = 100 * places * np.eye(letters)
    wk[:letters, :letters] = np.eye(letters)
    wq[:letters, -1] = 1
    for j in range(places):
        wk[letters + j, -1] = 10 * j
    return wq, wk


@wrong("first_of_its_kind_head", "a minus in both: places count upwards", named=("last",))
def minus_twice(letters, places):
    wq, wk = features(letters, places)
    wq[:letters, :letters], wk[:letters, :letters] = 100 * places * np.eye(letters), np.eye(letters)
    wq[:, -1] = -1
    wk[letters:, -1] = -10 * np.arange(places)
    return wq, wk


@wrong(
    "first_of_its_kind_head", "the bonus of the letter is fixed",
    named=("weak",), says=r"abcabc, token 2 gives token 2",
)
def fixed_bonus(letters, places):
    wq, wk = features(letters, places)
    wq[:letters, :letters] = 20 * np.eye(letters)
    wq[:letters, letters] = 1
    wk[:letters, :letters] = np.eye(letters)
    wk[letters:, letters] = -10 * np.arange(places)
    return wq, wk


@wrong(
    "first_of_its_kind_head", "the bonus of the letter is 100: enough for the short texts alone",
    named=("weak", "fixed"), says=r"60 letters, token 58 looks most at token 0",
)
def bonus_of_a_hundred(letters, places):
    wq, wk = features(letters, places)
    wq[:letters, :letters] = 100 * np.eye(letters)
    wq[:, letters] = 1
    wk[:letters, :letters] = np.eye(letters)
    wk[letters:, letters] = -10 * np.arange(places)
    return wq, wk


@wrong("first_of_its_kind_head", "a step of 1 without the root of d", named=("gentle",), says=r"with the weight 0.41")
def step_of_one(letters, places):
    wq, wk = features(letters, places)
    wq[:letters, :letters] = 50 * places * np.eye(letters)
    wq[:letters, letters] = 1
    wk[:letters, :letters] = np.eye(letters)
    wk[letters:, letters] = -np.arange(places)
    return wq, wk


@wrong("first_of_its_kind_head", "a share of the places: j / places", named=("gentle",), says=r"with the weight 0.57")
def share_of_places(letters, places):
    wq, wk = features(letters, places)
    wq[:letters, :letters] = 50 * np.eye(letters)
    wq[:letters, letters] = 10
    wk[:letters, :letters] = np.eye(letters)
    wk[letters:, letters] = 1 - np.arange(places) / places
    return wq, wk


@wrong("first_of_its_kind_head", "one over the place", says=r"as it should, but with the weight")
def one_over_the_place(letters, places):
    wq, wk = features(letters, places)
    wq[:letters, :letters] = 100 * np.eye(letters)
    wq[:letters, letters] = 40
    wk[:letters, :letters] = np.eye(letters)
    wk[letters:, letters] = 1 / (1 + np.arange(places))
    return wq, wk


@wrong("first_of_its_kind_head", "only place 0 is preferred", says=r"abcabc, token 1 gives token 1")
def place_zero_preferred(letters, places):
    wq, wk = features(letters, places)
    wq[:letters, :letters] = 100 * np.eye(letters)
    wq[:letters, letters] = 30
    wk[:letters, :letters] = np.eye(letters)
    wk[letters, letters] = 1
    return wq, wk


@wrong("first_of_its_kind_head", "the token itself", named=("itself",))
def the_token_itself(letters, places):
    w = np.vstack([np.zeros((letters, places)), np.eye(places)])
    return 40 * w, 40 * w


@wrong(
    "first_of_its_kind_head", "every feature meets itself",
    named=("itself",), says=r"token 1 looks most at token 1, and should look at token 0",
)
def identity(letters, places):
    return 50 * np.eye(letters + places), np.eye(letters + places)


@wrong("first_of_its_kind_head", "always the first token", named=("any_letter",))
def always_the_first(letters, places):
    wq, wk = np.ones((letters + places, places)), np.zeros((letters + places, places))
    wk[letters, 0] = 100
    return wq, wk


@wrong("first_of_its_kind_head", "the sign of the letters", named=("other_kind",))
def sign_of_the_letters(letters, places):
    wq, wk = features(letters, places)
    wq[:letters, :letters] = 50 * places * np.eye(letters)
    wk[:letters, :letters] = -np.eye(letters)
    wq[:letters, letters] = 1
    wk[letters:, letters] = -9 * np.arange(places)
    return wq, wk


@wrong(
    "first_of_its_kind_head", "the places ask with their own number",
    named=("own_place",), says=r"token 0 gives token 0",
)
def places_ask(letters, places):
    wq, wk = features(letters, places)
    wq[:letters, :letters] = 100 * places**2 * np.eye(letters)
    wk[:letters, :letters] = np.eye(letters)
    wq[letters:, letters] = np.arange(places)
    wk[letters:, letters] = -10 * np.arange(places)
    return wq, wk


@wrong("first_of_its_kind_head", "the 1 of the query stands in the letters and in the places, the letters in the places' rows")
def rows_mixed_up(letters, places):
    wq, wk = features(letters, places)
    wq[-letters:, :letters] = 100 * np.eye(letters)
    wk[-letters:, :letters] = np.eye(letters)
    wq[:, letters] = 1
    wk[:places, letters] = -10 * np.arange(places)
    return wq, wk


@wrong("first_of_its_kind_head", "the previous token", named=())
def the_previous_token(letters, places):
    wq, wk = np.zeros((2, letters + places, places))
    wq[letters:] = 99 * np.eye(places, k=-1)
    wk[letters:] = np.eye(places)
    return wq, wk


@wrong(
    "first_of_its_kind_head", "a falling feature for both letters and places, sizes of two matrices differ",
    says=r"queries have 3 features, keys 4",
)
def widths_differ(letters, places):
    wq = np.vstack([np.eye(letters), np.zeros((places, letters))])
    wk = np.zeros((letters + places, letters + 1))
    wk[:letters, :letters] = np.eye(letters)
    wk[letters:, letters] = -np.arange(places)
    return wq, wk


@wrong("first_of_its_kind_head", "a list of one matrix", says=r"returns one array")
def one_matrix(letters, places):
    wq, wk = features(letters, places)
    wq[:letters, :letters] = 30 * places * np.eye(letters)
    wk[:letters, :letters] = np.eye(letters)
    wq[:letters, letters], wk[letters:, letters] = 1, -9 * np.arange(places)
    return wq @ wk.T


@wrong("first_of_its_kind_head", "places fall, but the letters' rows of the keys are empty", named=("any_letter",))
def no_letters_in_the_keys(letters, places):
    wq, wk = features(letters, places)
    wq[:letters, :letters] = 100 * np.eye(letters)
    wq[:letters, letters] = 1
    wk[letters:, letters] = -9 * np.arange(places)
    return wq, wk


@wrong("first_of_its_kind_head", "places fall, but no query asks", named=("whole_kind",))
def nobody_asks(letters, places):
    wq, wk = features(letters, places)
    wq[:letters, :letters] = 100 * np.eye(letters)
    wk[:letters, :letters] = np.eye(letters)
    wk[letters:, letters] = -9 * np.arange(places)
    return wq, wk
