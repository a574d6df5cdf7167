"""Wrong answers to `masked_softmax`, as readers may write them."""

import numpy as np

from . import wrong


def softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


def softmax_or_zeros(x):
    """A softmax that returns zeros for a row of minus infinity."""
    top = np.max(x, axis=-1, keepdims=True)
    e = np.exp(x - np.where(np.isfinite(top), top, 0.0))
    total = e.sum(axis=-1, keepdims=True)
    return np.divide(e, total, out=np.zeros_like(e), where=total != 0)


@wrong("masked_softmax", "masked_fill with -1e9", named=("minus_1e9_fill",))
def masked_fill(scores, keep):
    return softmax(np.where(keep, scores, -1e9))


@wrong("masked_softmax", "BERT's (1 - mask) * -10000", named=("minus_1e9_add",))
def bert(scores, keep):
    extended = (1.0 - keep.astype(scores.dtype)) * -10000.0
    return softmax(scores + extended)


@wrong("masked_softmax", "the most negative float", named=("finfo_min",))
def most_negative(scores, keep):
    filled = scores.copy()
    filled[~keep] = np.finfo(scores.dtype).min
    return softmax(filled)


@wrong("masked_softmax", "minus infinity turned into a number", named=("finfo_min",))
def nan_to_num_first(scores, keep):
    masked = np.nan_to_num(np.where(keep, scores, -np.inf))
    return softmax(masked)


@wrong("masked_softmax", "-1e9, then zeros where hidden", says=r"scores near -2e9")
def minus_1e9_then_zero(scores, keep):
    weights = softmax(np.where(keep, scores, -1e9))
    return weights * keep


@wrong("masked_softmax", "hidden scores -50")
def minus_fifty(scores, keep):
    return softmax(np.where(keep, scores, -50.0))


@wrong("masked_softmax", "hidden scores -100, empty rows zero", says=r"scores near -2e9")
def minus_hundred(scores, keep):
    weights = softmax(np.where(keep, scores, -100.0))
    weights[~keep.any(axis=-1)] = 0.0
    return weights


@wrong("masked_softmax", "hidden scores 5 below the smallest")
def below_the_smallest(scores, keep):
    lowest = scores.min() - 5
    return np.where(keep.any(-1, keepdims=True), softmax(np.where(keep, scores, lowest)), 0)


@wrong("masked_softmax", "the logarithm of the mask, with an epsilon", says=r"epsilon")
def log_of_the_mask(scores, keep):
    return softmax(scores + np.log(keep + 1e-9))


@wrong("masked_softmax", "the logarithm of the mask", named=("nan_rows",))
def log_of_zero(scores, keep):
    return softmax(scores + np.log(keep.astype(float)))


@wrong("masked_softmax", "zeros after the softmax", named=("after_no_renorm", "nan_rows"))
def zeros_afterwards(scores, keep):
    p = softmax(scores)
    p[~keep] = 0
    return p


@wrong("masked_softmax", "zeros after the softmax, divided again", named=("after_renorm", "nan_rows"))
def renormalised(scores, keep):
    p = softmax(scores)
    p = np.where(keep, p, 0)
    return p / p.sum(axis=-1, keepdims=True)


@wrong("masked_softmax", "zeros after the softmax, divided again by sum + 1e-9", says=r"epsilon")
def renormalised_with_epsilon(scores, keep):
    p = softmax(scores) * keep
    return p / (p.sum(axis=-1, keepdims=True) + 1e-9)


@wrong("masked_softmax", "exponentials times the mask, the maximum of all keys", named=("after_renorm", "nan_rows"))
def exponentials_times_mask(scores, keep):
    e = np.exp(scores - scores.max(-1, keepdims=True)) * keep
    return e / e.sum(-1, keepdims=True)


@wrong(
    "masked_softmax", "exponentials times the mask, no maximum",
    named=("no_max", "nan_rows"), says=r"scores near 1000.*NaN",
)
def exponentials_without_maximum(scores, keep):
    e = np.exp(scores) * keep
    return e / e.sum(-1, keepdims=True)


@wrong("masked_softmax", "exponentials times the mask, a guard, no maximum", named=("no_max",))
def guarded_without_maximum(scores, keep):
    e = np.where(keep, np.exp(scores), 0.0)
    total = e.sum(-1, keepdims=True)
    total[total == 0] = 1.0
    return e / total


@wrong("masked_softmax", "the maximum of visible scores and 0", says=r"scores near -2e9.*sum")
def maximum_at_least_zero(scores, keep):
    top = np.max(scores, axis=-1, keepdims=True, where=keep, initial=0)
    e = np.where(keep, np.exp(scores - top), 0)
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total == 0, 1, total)


@wrong("masked_softmax", "an epsilon in the sum of each row", says=r"epsilon")
def epsilon_in_the_sum(scores, keep):
    top = np.where(keep, scores, -np.inf).max(axis=-1, keepdims=True)
    e = np.where(keep, np.exp(scores - np.where(np.isneginf(top), 0, top)), 0)
    return e / (e.sum(axis=-1, keepdims=True) + 1e-6)


@wrong("masked_softmax", "scores times mask in place", named=("times_zero", "inplace"))
def times_mask_in_place(scores, keep):
    scores *= keep
    return softmax(scores)


@wrong("masked_softmax", "scores times mask", named=("times_zero",))
def einsum_with_the_mask(scores, keep):
    return softmax(np.einsum("...k,...k->...k", scores, keep.astype(float)))


@wrong("masked_softmax", "-inf written into the scores, no care for empty rows", named=("inplace", "nan_rows"))
def written_in_place(scores, keep):
    scores[~keep] = -np.inf
    return softmax(scores)


@wrong("masked_softmax", "-1e9 written into the scores", named=("inplace", "minus_1e9_fill"))
def minus_1e9_in_place(scores, keep):
    np.putmask(scores, ~keep, -1e9)
    return softmax(scores)


@wrong("masked_softmax", "True hides, as in PyTorch", named=("inverted", "nan_rows"))
def true_hides(scores, keep):
    attn = np.copy(scores)
    attn[keep] = float("-inf")
    return softmax(attn)


@wrong("masked_softmax", "where with its two arguments swapped", named=("inverted",))
def where_swapped(scores, keep):
    return softmax_or_zeros(np.where(keep, -np.inf, scores))


@wrong("masked_softmax", "(1 - keep) times infinity", named=("inf_times",))
def minus_infinity_times(scores, keep):
    return softmax_or_zeros(scores - (1 - keep) * np.inf)


@wrong("masked_softmax", "a masked array of NumPy, returned as it is")
def masked_array(scores, keep):
    masked = np.ma.array(scores, mask=~keep)
    e = np.ma.exp(masked - masked.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


@wrong("masked_softmax", "only the visible weights of each row", says=r"unequal length")
def visible_weights_only(scores, keep):
    rows = []
    for row, may in zip(scores.reshape(-1, scores.shape[-1]), keep.reshape(-1, keep.shape[-1])):
        rows.append(softmax(row[may]) if may.any() else row[may])
    return rows


@wrong("masked_softmax", "a loop for matrices alone", says=r"right only|ambiguous")
def loop_for_matrices(scores, keep):
    out = np.zeros_like(scores)
    for i in range(scores.shape[0]):
        for j in range(scores.shape[1]):
            if keep[i, j]:
                out[i, j] = np.exp(scores[i, j] - scores[i][keep[i]].max())
        if out[i].sum() > 0:
            out[i] /= out[i].sum()
    return out


@wrong("masked_softmax", "the softmax along the queries", named=("softmax_queries",))
def along_the_queries(scores, keep):
    masked = np.where(keep, scores, -np.inf)
    return np.nan_to_num(softmax(masked, axis=-2))


@wrong("masked_softmax", "the softmax along axis 0")
def along_axis_zero(scores, keep):
    masked = np.where(keep, scores, -np.inf)
    return np.nan_to_num(softmax(masked, axis=0))


@wrong("masked_softmax", "keepdims forgotten in the sum", says=r"\(2,3,5\) \(2,3\)")
def keepdims_forgotten(scores, keep):
    masked = np.where(keep, scores, -np.inf)
    e = np.exp(masked - masked.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1)


@wrong("masked_softmax", "the logarithm of the weights", named=("log",))
def log_softmax(scores, keep):
    masked = np.where(keep, scores, -np.inf)
    return masked - np.logaddexp.reduce(masked, axis=-1, keepdims=True)


@wrong("masked_softmax", "empty rows share evenly", named=("finfo_min",))
def empty_rows_share(scores, keep):
    weights = softmax(np.where(keep, scores, -np.inf))
    return np.where(np.isnan(weights), 1 / scores.shape[-1], weights)


@wrong(
    "masked_softmax", "empty rows become zero, but as one flag for the whole array",
    says=r"a row that sees nothing.*NaN",
)
def any_without_axis(scores, keep):
    weights = softmax(np.where(keep, scores, -np.inf))
    return weights if keep.any() else np.zeros_like(scores)


@wrong("masked_softmax", "rows that hide anything become zero", named=("all_not_any",))
def all_for_any(scores, keep):
    alive = keep.all(axis=-1, keepdims=True)
    return np.where(alive, softmax_or_zeros(np.where(keep, scores, -np.inf)), 0)


@wrong("masked_softmax", "columns that nobody sees, in place of rows", says=r"a row that sees nothing.*NaN")
def columns_for_rows(scores, keep):
    alive = keep.any(axis=-2, keepdims=True) if keep.ndim > 1 else keep.any()
    weights = softmax(np.where(keep, scores, -np.inf))
    return np.where(alive, weights, 0)


@wrong("masked_softmax", "the mask turned round", says=r"\(5,3,2\) \(2,3,5\)")
def mask_turned(scores, keep):
    return softmax_or_zeros(np.where(keep.T, scores, -np.inf))


@wrong("masked_softmax", "an axis more in the mask", says=r"\(2, 2, 3, 5\); \(2, 3, 5\)")
def mask_with_an_axis_more(scores, keep):
    return softmax_or_zeros(np.where(keep[:, None], scores, -np.inf))


@wrong("masked_softmax", "divided by how many are visible", says=r"one factor for each row|sums? to")
def divided_by_the_count(scores, keep):
    top = scores.max(axis=-1, keepdims=True)
    e = np.exp(scores - top) * keep
    return e / np.maximum(keep.sum(axis=-1, keepdims=True), 1)


@wrong("masked_softmax", "the largest visible key takes all", named=("hardmax",))
def hard(scores, keep):
    masked = np.where(keep, scores, -np.inf)
    return (masked == masked.max(axis=-1, keepdims=True)) * keep.astype(float)


@wrong("masked_softmax", "one maximum for all rows", named=("max_global",))
def one_maximum(scores, keep):
    top = scores[keep].max() if keep.any() else 0.0
    e = np.exp(np.where(keep, scores, -np.inf) - top)
    total = e.sum(axis=-1, keepdims=True)
    return np.where(total > 0, e / np.where(total > 0, total, 1), 0)


@wrong("masked_softmax", "one maximum for all rows, and no care for empty rows", named=("max_global", "nan_rows"))
def one_maximum_careless(scores, keep):
    masked = np.where(keep, scores, -np.inf)
    e = np.exp(masked - masked.max())
    return e / e.sum(axis=-1, keepdims=True)


@wrong("masked_softmax", "float16 after the softmax", says=r"3 digits")
def half_precision(scores, keep):
    return softmax_or_zeros(np.where(keep, scores, -np.inf)).astype(np.float16)


class MaskedSoftmax:
    def __init__(self, fill):
        self.fill = fill

    def __call__(self, scores, keep):
        return softmax(np.where(keep, scores, self.fill))


wrong("masked_softmax", "a module with -1e4 as its fill", named=("minus_1e9_fill",))(MaskedSoftmax(-1e4))


@wrong("masked_softmax", "the first batch element's mask for all", named=("first_of_batch",))
def first_mask_for_all(scores, keep):
    if keep.ndim == 3:
        keep = keep[0]
    return softmax_or_zeros(np.where(keep, scores, -np.inf))


@wrong("masked_softmax", "rows of weights returned for the first batch element only", says=r"\(3, 5\); \(2, 3, 5\)")
def first_element_only(scores, keep):
    if scores.ndim > 2:
        scores, keep = scores[0], keep[0]
    return softmax_or_zeros(np.where(keep, scores, -np.inf))


@wrong("masked_softmax", "stops the loop at an empty row", says=r"a row that sees nothing")
def break_at_an_empty_row(scores, keep):
    out = np.zeros(scores.shape)
    for index in np.ndindex(scores.shape[:-1]):
        visible = np.flatnonzero(keep[index])
        if len(visible) == 0:
            break
        out[index][visible] = softmax(scores[index][visible])
    return out


@wrong(
    "masked_softmax", "an empty row keeps the weights of the row before",
    says=r"empty rows first, between and last",
)
def weights_of_the_row_before(scores, keep):
    out, weights = np.zeros(scores.shape), np.zeros(scores.shape[-1])
    for index in np.ndindex(scores.shape[:-1]):
        if keep[index].any():
            weights = softmax_or_zeros(np.where(keep[index], scores[index], -np.inf))
        out[index] = weights
    return out
