"""Wrong answers to `distance_bias_backward`, as readers may write them."""

import numpy as np

from . import wrong


def through_softmax(d_weights, weights):
    return weights * (d_weights - (weights * d_weights).sum(axis=-1, keepdims=True))


def right_scores(d_out, value, weights):
    return through_softmax(d_out @ value.swapaxes(-1, -2), weights)


def diagonals(d_scores):
    n = d_scores.shape[-1]
    flat = d_scores.reshape(-1, n, n)
    return np.array([sum(np.trace(one, -r) for one in flat) for r in range(n)])


@wrong("distance_bias_backward", "no softmax between, in a loop over pairs", named=("ds_is_dp",))
def loop_over_pairs_without_softmax(d_out, value, weights):
    n = weights.shape[-1]
    d_scores = (d_out @ value.mT).reshape(-1, n, n)
    d_bias = np.zeros(n)
    for i in range(n):
        for j in range(i + 1):
            d_bias[i - j] += d_scores[:, i, j].sum()
    return d_bias


@wrong("distance_bias_backward", "no softmax between, only visible pairs", named=("ds_is_dp",))
def no_softmax_visible_pairs(d_out, value, weights):
    d_scores = np.where(weights > 0, d_out @ value.mT, 0)
    return diagonals(d_scores)


@wrong("distance_bias_backward", "weights times d_weights", named=("no_row_mean",))
def no_row_mean(d_out, value, weights):
    d_scores = np.einsum("...qk,...qv,...kv->...qk", weights, d_out, value)
    return diagonals(d_scores)


@wrong("distance_bias_backward", "the sigmoid rule", named=("sigmoid",))
def sigmoid_rule(d_out, value, weights):
    d_weights = d_out @ value.mT
    return diagonals(d_weights * weights * (1 - weights))


@wrong("distance_bias_backward", "the plain mean of d_weights", named=("mean_plain",))
def plain_mean(d_out, value, weights):
    d_weights = d_out @ value.mT
    return diagonals(weights * (d_weights - d_weights.mean(axis=-1, keepdims=True)))


@wrong("distance_bias_backward", "the plain sum of d_weights", named=("sum_plain",))
def plain_sum(d_out, value, weights):
    d_weights = d_out @ value.mT
    return diagonals(weights * (d_weights - d_weights.sum(axis=-1, keepdims=True)))


@wrong("distance_bias_backward", "the mean subtracted outside of the bracket", named=("paren",))
def bracket(d_out, value, weights):
    d_weights = d_out @ value.mT
    return diagonals(weights * d_weights - (weights * d_weights).sum(axis=-1, keepdims=True))


@wrong("distance_bias_backward", "the mean added", named=("plus",))
def plus(d_out, value, weights):
    d_weights = d_out @ value.mT
    return diagonals(weights * (d_weights + (weights * d_weights).sum(axis=-1, keepdims=True)))


@wrong("distance_bias_backward", "the sign of the backward of the softmax", says=r"minus the right")
def minus(d_out, value, weights):
    return -diagonals(right_scores(d_out, value, weights))


@wrong("distance_bias_backward", "divided by the root of the width", says=r"square root of")
def divided_by_root(d_out, value, weights):
    return diagonals(right_scores(d_out, value, weights)) / np.sqrt(value.shape[-1])


@wrong("distance_bias_backward", "the row mean along the queries", named=("mean_queries",))
def mean_along_queries(d_out, value, weights):
    d_weights = d_out @ value.mT
    return diagonals(weights * (d_weights - (weights * d_weights).sum(axis=-2, keepdims=True)))


@wrong("distance_bias_backward", "keepdims forgotten in the row mean", says=r"\(2,5,5\) \(2,5\)")
def keepdims_forgotten(d_out, value, weights):
    d_weights = d_out @ value.mT
    return diagonals(weights * (d_weights - (weights * d_weights).sum(axis=-1)))


@wrong("distance_bias_backward", "means along the diagonals", named=("mean",))
def means_of_diagonals(d_out, value, weights):
    d_scores = right_scores(d_out, value, weights)
    n = weights.shape[-1]
    lead = d_scores.reshape(-1, n, n)
    return [lead.diagonal(-r, 1, 2).mean(axis=1).sum() for r in range(n)]


@wrong("distance_bias_backward", "means over everything that shares a bias", named=("mean", "mean_of_sequences"))
def means_over_everything(d_out, value, weights):
    d_scores = right_scores(d_out, value, weights)
    n = weights.shape[-1]
    return np.array([np.diagonal(d_scores, -r, -2, -1).mean() for r in range(n)])


@wrong("distance_bias_backward", "the gradient of one sequence, kept for each", named=("per_sequence",))
def one_for_each_sequence(d_out, value, weights):
    d_scores = right_scores(d_out, value, weights)
    return np.stack([np.trace(d_scores, -r, -2, -1) for r in range(weights.shape[-1])])


@wrong("distance_bias_backward", "the gradient of one sequence, kept for each, batch first", says=r"\(2, 5\); \(5,\)")
def one_for_each_sequence_first(d_out, value, weights):
    d_scores = right_scores(d_out, value, weights)
    return np.stack([np.trace(d_scores, -r, -2, -1) for r in range(weights.shape[-1])], axis=-1)


@wrong("distance_bias_backward", "only axis 0 is summed", says=r"\(4, 3\); \(4,\)")
def only_axis_zero(d_out, value, weights):
    d_scores = right_scores(d_out, value, weights)
    if d_scores.ndim > 2:
        d_scores = d_scores.sum(axis=0)
    n = weights.shape[-1]
    return np.array([np.trace(d_scores, -r, -2, -1) for r in range(n)])


@wrong("distance_bias_backward", "the batch is averaged", named=("mean_of_sequences",))
def batch_averaged(d_out, value, weights):
    n = weights.shape[-1]
    d_scores = right_scores(d_out, value, weights).reshape(-1, n, n).mean(axis=0)
    return np.array([np.trace(d_scores, offset=-r) for r in range(n)])


@wrong("distance_bias_backward", "the first sequence alone", named=("first_sequence",))
def first_sequence(d_out, value, weights):
    n = weights.shape[-1]
    d_scores = right_scores(d_out, value, weights).reshape(-1, n, n)[0]
    return np.array([d_scores.trace(-r) for r in range(n)])


@wrong("distance_bias_backward", "overwritten: one pair is left for each distance", named=("last_query",))
def overwritten(d_out, value, weights):
    n = weights.shape[-1]
    d_scores = right_scores(d_out, value, weights).reshape(-1, n, n).sum(axis=0)
    d_bias = np.zeros(n)
    for i in range(n):
        for j in range(i + 1):
            d_bias[i - j] = d_scores[i, j]
    return d_bias


@wrong("distance_bias_backward", "d_bias[index] += adds repeated indices once", named=("last_query",))
def fancy_index_plus(d_out, value, weights):
    n = weights.shape[-1]
    d_scores = right_scores(d_out, value, weights).reshape(-1, n, n).sum(axis=0)
    i, j = np.tril_indices(n)
    d_bias = np.zeros(n)
    d_bias[i - j] += d_scores[i, j]
    return d_bias


@wrong("distance_bias_backward", "np.trace without its axes", named=("first_axes",))
def trace_without_axes(d_out, value, weights):
    d_scores = right_scores(d_out, value, weights)
    return np.array([np.trace(d_scores, -r).sum() for r in range(weights.shape[-1])])


@wrong("distance_bias_backward", "the diagonals of the future", named=("future",))
def diagonals_of_the_future(d_out, value, weights):
    d_scores = right_scores(d_out, value, weights)
    return np.array([np.trace(d_scores, r, -2, -1).sum() for r in range(weights.shape[-1])])


@wrong("distance_bias_backward", "distance 1 first", named=("from_one",))
def from_distance_one(d_out, value, weights):
    d_scores = right_scores(d_out, value, weights)
    return np.array([np.trace(d_scores, -r - 1, -2, -1).sum() for r in range(weights.shape[-1])])


@wrong("distance_bias_backward", "the largest distance first", named=("reversed",))
def largest_distance_first(d_out, value, weights):
    n = weights.shape[-1]
    d_scores = right_scores(d_out, value, weights).reshape(-1, n, n).sum(axis=0)
    return [np.trace(d_scores, r) for r in range(1 - n, 1)]


@wrong("distance_bias_backward", "both sides of the diagonal: all 2 n - 1 distances", says=r"\(9,\); \(5,\)")
def both_sides(d_out, value, weights):
    n = weights.shape[-1]
    d_scores = right_scores(d_out, value, weights).reshape(-1, n, n).sum(axis=0)
    return np.array([np.trace(d_scores, -r) for r in range(1 - n, n)])


@wrong("distance_bias_backward", "one bias for each pair", says=r"\(5, 5\); \(5,\)")
def one_for_each_pair(d_out, value, weights):
    n = weights.shape[-1]
    return right_scores(d_out, value, weights).reshape(-1, n, n).sum(axis=0)


@wrong("distance_bias_backward", "one number for each key", named=("per_key",))
def summed_over_queries(d_out, value, weights):
    d_scores = right_scores(d_out, value, weights)
    return d_scores.sum(axis=tuple(range(d_scores.ndim - 1)))


@wrong("distance_bias_backward", "one number for each query", named=("per_query",))
def summed_over_keys(d_out, value, weights):
    d_scores = right_scores(d_out, value, weights)
    return d_scores.sum(axis=-1).sum(axis=tuple(range(d_scores.ndim - 2)))


@wrong("distance_bias_backward", "the last query's row, in the order of the keys", named=("last_query", "reversed"))
def last_row(d_out, value, weights):
    d_scores = right_scores(d_out, value, weights)
    return d_scores[..., -1, :].reshape(-1, d_scores.shape[-1]).sum(axis=0)


@wrong("distance_bias_backward", "sums of the weights", named=("weights",))
def sums_of_weights(d_out, value, weights):
    return diagonals(weights)


@wrong("distance_bias_backward", "d_out meets d_out")
def d_out_twice(d_out, value, weights):
    return diagonals(through_softmax(d_out @ d_out.mT, weights))


@wrong("distance_bias_backward", "the output in place of d_out")
def output_for_d_out(d_out, value, weights):
    out = weights @ value
    return diagonals(through_softmax(out @ value.mT, weights))


@wrong("distance_bias_backward", "one sequence only: value.T", says=r"`.T` turns all axes")
def for_one_sequence(d_out, value, weights):
    d_weights = d_out @ value.T
    return diagonals(through_softmax(d_weights, weights))


@wrong("distance_bias_backward", "D from out times out")
def out_times_out(d_out, value, weights):
    out = weights @ value
    d_scores = weights * (d_out @ value.mT - (out * out).sum(axis=-1, keepdims=True))
    return diagonals(d_scores)
