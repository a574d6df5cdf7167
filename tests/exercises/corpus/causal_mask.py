"""Wrong answers to `causal_mask`, as readers may write them."""

import numpy as np

from . import wrong


@wrong("causal_mask", "the lower triangle, as in every tutorial", says=r"True or False is expected")
def tril_of_ones(q, k):
    return np.tril(np.ones((q, k)))


@wrong("causal_mask", "the right triangle, but of ones and zeros", says=r"True or False is expected")
def zeros_and_ones(q, k):
    return np.tril(np.ones((q, k), dtype=int), k - q)


@wrong("causal_mask", "two loops, for q = k", named=("top_left",))
def two_loops(q, k):
    mask = [[False] * k for _ in range(q)]
    for i in range(q):
        for j in range(k):
            if j <= i:
                mask[i][j] = True
    return mask


@wrong("causal_mask", "what comes before, from the first corner", named=("top_left", "strict"))
def what_came_before(q, k):
    return np.array([[j < i for j in range(k)] for i in range(q)])


@wrong("causal_mask", "PyTorch's attn_mask: True is hidden", named=("top_left", "inverted"))
def true_is_hidden(q, k):
    return np.triu(np.ones((q, k)), k=1).astype(bool)


@wrong("causal_mask", "True is hidden, at the right place", named=("inverted",))
def future(q, k):
    queries = np.arange(k - q, k)
    return np.arange(k)[None, :] > queries[:, None]


@wrong("causal_mask", "the shift on the side of the keys", named=("wrong_way",))
def shifted_keys(q, k):
    rows, cols = np.meshgrid(np.arange(q), np.arange(k), indexing="ij")
    return rows >= cols + (k - q)


@wrong("causal_mask", "tril's argument with the sign of the other direction", named=("wrong_way",))
def tril_other_sign(q, k):
    return np.tril(np.ones((q, k), dtype=bool), k=q - k)


@wrong("causal_mask", "no negative shift", named=("never_left",), says=r"more queries than keys.*4 are True")
def shift_at_least_zero(q, k):
    past = max(0, k - q)
    return np.arange(k) <= np.arange(q)[:, None] + past


@wrong("causal_mask", "the shift without its sign", named=("no_sign",), says=r"more queries than keys.*5 are True")
def shift_without_sign(q, k):
    return np.tri(q, k, abs(k - q), dtype=bool)


@wrong("causal_mask", "one key too many: len(past) + 1", named=("one_ahead",))
def past_plus_one(q, k):
    past = k - q
    mask = np.zeros((q, k), dtype=bool)
    for i in range(q):
        for j in range(k):
            mask[i, j] = j <= i + past + 1
    return mask


@wrong("causal_mask", "np.tri with its arguments swapped, then transposed", named=("top_left", "triu"))
def tri_transposed(q, k):
    return np.tri(k, q, dtype=bool).T


@wrong("causal_mask", "the first rows of a square mask", named=("top_left",))
def first_rows_of_a_square(q, k):
    full = np.tril(np.ones((k, k), dtype=bool))
    return full[:q, :]


@wrong(
    "causal_mask", "the last rows of a square mask, which has only k of them",
    says=r"more queries than keys.*shape",
)
def last_rows_of_a_square(q, k):
    full = np.arange(k)[:, None] >= np.arange(k)
    return full[-q:]


@wrong("causal_mask", "a square mask of the queries", says=r"\(3, 3\); \(3, 5\)")
def square_of_queries(q, k):
    return np.tril(np.ones((q, q), dtype=bool))


@wrong("causal_mask", "keys down, queries across", says=r"\(5, 3\); \(3, 5\)")
def keys_down(q, k):
    return np.arange(k)[:, None] <= np.arange(q) + k - q


@wrong("causal_mask", "triangle mirrored left to right", named=("mirrored",))
def mirrored(q, k):
    return np.fliplr(np.tri(q, k, k - q, dtype=bool))


@wrong("causal_mask", "triangle upside down: the first query sees every key", named=("upside_down",))
def upside_down(q, k):
    return np.array([np.arange(k) < k - i for i in range(q)])


@wrong("causal_mask", "a decoder needs no mask", named=("all_visible",))
def no_mask_at_all(q, k):
    return np.ones((q, k), dtype=bool)


@wrong("causal_mask", "one query alone is treated, the rest as if q = k")
def special_case_for_one_query(q, k):
    if q == 1:
        return np.full((1, k), True)
    return np.tril(np.full((q, k), True))


@wrong("causal_mask", "only a square has a future", named=("twice",))
def special_case_for_squares(q, k):
    if q == k:
        return np.tril(np.ones((q, k), dtype=bool))
    return np.ones((q, k), dtype=bool)


@wrong("causal_mask", "the additive mask, from the first corner", named=("additive", "top_left"))
def additive_from_the_first_corner(q, k):
    return np.triu(np.full((q, k), -np.inf), 1)


@wrong("causal_mask", "the additive mask with a finite number", says=r"True or False is expected")
def additive_minus_1e9(q, k):
    keep = np.arange(k) <= np.arange(q)[:, None] + k - q
    return (1.0 - keep) * -1e9


@wrong("causal_mask", "the row of the first query alone", says=r"\(5,\); \(3, 5\)")
def one_row(q, k):
    return np.arange(k) <= k - q


@wrong("causal_mask", "slices that end one too early", named=("strict",))
def slices_one_short(q, k):
    mask = np.zeros((q, k), dtype=bool)
    for row in range(q):
        mask[row, : max(row + k - q, 0)] = True
    return mask


@wrong("causal_mask", "slices whose end may be negative", says=r"more queries than keys.*1 are True")
def slices_that_wrap(q, k):
    mask = np.zeros((q, k), dtype=bool)
    for row in range(q):
        mask[row, : row + 1 + (k - q)] = True
    return mask


@wrong("causal_mask", "a row is stretched: the share of the queries so far")
def stretched(q, k):
    i, j = np.indices((q, k))
    return j < (i + 1) * k // q


@wrong("causal_mask", "each query sees its own place only", named=("itself_only",))
def own_place_only(q, k):
    return np.eye(q, k, k - q, dtype=bool)


@wrong("causal_mask", "the own place and the one before: a window")
def window_of_two(q, k):
    distance = np.arange(k - q, k)[:, None] - np.arange(k)
    return (distance >= 0) & (distance < 2)


@wrong("causal_mask", "the past is k - q - 1 long", named=("strict",))
def past_minus_one(q, k):
    return np.fromfunction(lambda i, j: j <= i + (k - q - 1), (q, k))


@wrong("causal_mask", "triangle of the future, from the last corner", named=("triu",))
def the_upper_triangle(q, k):
    return ~np.tri(q, k, k - q - 1, dtype=bool)


@wrong("causal_mask", "all of the future", named=("inverted",))
def future_without_itself(q, k):
    offset = k - q
    return np.array([[j - i > offset for j in range(k)] for i in range(q)])
