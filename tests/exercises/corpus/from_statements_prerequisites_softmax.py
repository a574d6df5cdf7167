"""A fourth corpus, written from the statements alone, before anything was mended: prerequisites and chapter 1."""

import numpy as np

from . import wrong
from .parts import softmax, softmax_grad as softmax_backward


# --- matrix_shapes ---------------------------------------------------------------------------------

wrong("matrix_shapes", "keeps the axis of length 7 that the first product sums over", named=("query_shape",))((2, 3, 7))
wrong("matrix_shapes", "the second product contracts nothing: both matrix axes side by side", named=("keys_kept",))((2, 3, 5, 4))
wrong("matrix_shapes", "believes that the batch axes multiply")((4, 3, 4))
wrong("matrix_shapes", "believes that the batch is summed over", named=("no_batch",))((3, 4))

# --- product_transpose -----------------------------------------------------------------------------


@wrong("product_transpose", "transposes the factor a again")
def _(a_t, b, c_t):
    return c_t @ b.mT @ a_t.mT


@wrong("product_transpose", ".T turns the batch axes as well", named=("batch_reversed",))
def _(a_t, b, c_t):
    return c_t @ b.T @ a_t


@wrong("product_transpose", "flattens the batch: sums over it by einsum")
def _(a_t, b, c_t):
    return np.einsum("adk,amk,amn->dn", *(x.reshape(-1, *x.shape[-2:]) for x in (c_t, b, a_t)))


# --- delta_sum -------------------------------------------------------------------------------------

wrong("delta_sum", "sums all of A times g", named=("delta_ignored",))(1*1 + 2*10 + 3*100 + 4*1 + 5*10 + 6*100 + 7 + 80 + 1000)
wrong("delta_sum", "leaves g out: the trace", named=("no_g",))(16)
wrong("delta_sum", "reads the delta as 1 off the diagonal", named=("off_diagonal",))(4 + 7 + 20 + 80 + 300 + 600)
wrong("delta_sum", "weights 1, 2, 3 instead of 1, 10, 100")(1 + 10 + 30)

# --- linear_backward -------------------------------------------------------------------------------


@wrong("linear_backward", "d_weight is averaged over the rows", named=("dw_mean",))
def _(d_out, x, weight):
    return d_out @ weight.T, x.T @ d_out / len(x)


@wrong("linear_backward", "the two are returned in the other order", named=("swapped",))
def _(d_out, x, weight):
    d_x = d_out @ weight.T
    d_weight = x.T @ d_out
    return d_weight, d_x


@wrong("linear_backward", "d_weight sums over the features of x too")
def _(d_out, x, weight):
    return np.einsum("nd,md->nm", d_out, weight), np.einsum("nm,nd->d", x, d_out) * np.ones(weight.shape)


# --- used_twice ------------------------------------------------------------------------------------


@wrong("used_twice", "only the place on the left", named=("first_only",))
def _(d_out, x, a):
    return d_out @ x @ a.T


@wrong("used_twice", "takes A for symmetric: twice the left term", named=("doubled",))
def _(d_out, x, a):
    return 2 * d_out @ x @ a.T


@wrong("used_twice", "takes d_out for symmetric in the second term", named=("upstream_as_it_is",))
def _(d_out, x, a):
    return d_out @ x @ a.T + d_out @ x @ a


@wrong("used_twice", "multiplies the paths instead of adding: half of the sum", named=("mean",))
def _(d_out, x, a):
    return (d_out @ x @ a.T + d_out.T @ x @ a) / 2


# --- vjp_cost --------------------------------------------------------------------------------------

wrong("vjp_cost", "the dearer order", named=("matrices_first",))(300 * 400 * 500 + 300 * 500)
wrong("vjp_cost", "counts a multiplication and an addition as two", named=("flops",))(2 * (300 * 400 + 400 * 500))
wrong("vjp_cost", "forgets the second product", named=("first_only",))(300 * 400)

# --- variance_of_sum -------------------------------------------------------------------------------

wrong("variance_of_sum", "adds the variances in each product", named=("variances_added",))(64 * 5)
wrong("variance_of_sum", "standard deviation of the sum", named=("standard_deviation",))(16)
wrong("variance_of_sum", "counts 128 products")(512)
wrong("variance_of_sum", "multiplies by the square of 4", named=("as_deviation",))(64 * 16)

# --- softmax ---------------------------------------------------------------------------------------


@wrong("softmax", "divides by the sum before the exponential, then normalises", named=("shares_first",))
def _(x):
    x = np.asarray(x, dtype=float)
    e = np.exp(x / x.sum(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


@wrong("softmax", "shifts by the maximum of absolute values")
def _(x):
    x = np.asarray(x, dtype=float)
    e = np.exp(x - np.abs(x).max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


@wrong("softmax", "clips the scores at 50")
def _(x):
    e = np.exp(np.minimum(np.asarray(x, dtype=float), 50.0))
    return e / e.sum(-1, keepdims=True)


@wrong("softmax", "shifts in place: the caller's array changes", named=("inplace",))
def _(x):
    x = np.asarray(x, dtype=float)
    x -= x.max(-1, keepdims=True)
    e = np.exp(x)
    return e / e.sum(-1, keepdims=True)


@wrong("softmax", "powers of two in place of e", named=("base_2",))
def _(x):
    x = np.asarray(x, dtype=float)
    e = 2 ** (x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


@wrong("softmax", "adds 1e-6 to the denominator")
def _(x):
    x = np.asarray(x, dtype=float)
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / (e.sum(-1, keepdims=True) + 1e-6)


@wrong("softmax", "integers: zeros_like of the integer input cuts the weights", named=("int_buffer",))
def _(x):
    x = np.asarray(x)
    out = np.zeros_like(x)
    rows, res = x.reshape(-1, x.shape[-1]), out.reshape(-1, x.shape[-1])
    for i, row in enumerate(rows):
        e = np.exp(row - row.max())
        res[i] = e / e.sum()
    return out


@wrong("softmax", "one maximum for each column", named=("max_axis_0",))
def _(x):
    x = np.asarray(x, dtype=float)
    e = np.exp(x - x.max(axis=0))
    return e / e.sum(-1, keepdims=True)


@wrong("softmax", "scales each row to length one")
def _(x):
    x = np.asarray(x, dtype=float)
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / np.linalg.norm(e, axis=-1, keepdims=True)


# --- softmax_backward ------------------------------------------------------------------------------


@wrong("softmax_backward", "the sum lacks the weights", named=("rowsum_dy",))
def _(d_weights, weights):
    return weights * (d_weights - d_weights.sum(-1, keepdims=True))


@wrong("softmax_backward", "subtracts the row's term without the weight in front", named=("no_bracket",))
def _(d_weights, weights):
    shared = (d_weights * weights).sum(-1, keepdims=True)
    return weights * d_weights - shared


@wrong("softmax_backward", "plus in place of minus", named=("plus",))
def _(d_weights, weights):
    return weights * (d_weights + (d_weights * weights).sum(-1, keepdims=True))


@wrong("softmax_backward", "one dot product of all rows by np.vdot", named=("axis_all",))
def _(d_weights, weights):
    return weights * (d_weights - np.vdot(d_weights, weights))


@wrong("softmax_backward", "subtracts one from the largest weight as if it was a loss", named=("ce_shortcut",))
def _(d_weights, weights):
    return weights - d_weights


# --- score_table_step ------------------------------------------------------------------------------


@wrong("score_table_step", "overwrites rows: the last pair of a letter counts alone", named=("overwritten",))
def _(scores, now, following, rate):
    weights = softmax(scores[now])
    d_rows = weights - np.eye(len(scores))[following]
    d = np.zeros_like(scores, dtype=float)
    d[now] = d_rows / len(now)
    return scores - rate * d


@wrong("score_table_step", "rows and columns exchanged: the gradient of the table of the other direction", named=("swapped",))
def _(scores, now, following, rate):
    weights = softmax(scores[following])
    d_rows = weights - np.eye(len(scores))[now]
    d = np.zeros(scores.shape)
    np.add.at(d, following, d_rows / len(now))
    return scores - rate * d


@wrong("score_table_step", "mean over the letters k, not over the pairs", named=("letters",))
def _(scores, now, following, rate):
    d = np.zeros(scores.shape)
    for a, b in zip(now, following):
        g = softmax(scores[a]).copy()
        g[b] -= 1
        d[a] += g
    return scores - rate * d / len(scores)


@wrong("score_table_step", "updates after each pair (the next pair sees the changed table)", named=("one_by_one",))
def _(scores, now, following, rate):
    table = np.array(scores, dtype=float)
    for a, b in zip(now, following):
        g = softmax(table[a])
        g[b] -= 1
        table[a] -= rate * g / len(now)
    return table


@wrong("score_table_step", "mean for each letter's own number of pairs", named=("each_letter",))
def _(scores, now, following, rate):
    d = np.zeros(scores.shape)
    for a, b in zip(now, following):
        g = softmax(scores[a]).copy()
        g[b] -= 1
        d[a] += g / np.sum(now == a)
    return scores - rate * d


@wrong("score_table_step", "lacks the weights: only pushes up what came")
def _(scores, now, following, rate):
    d = np.zeros(scores.shape)
    np.add.at(d, (now, following), -1 / len(now))
    return scores - rate * d


# --- temperature_gradient --------------------------------------------------------------------------


@wrong("temperature_gradient", "divides by T once instead of by its square", named=("no_square",))
def _(d_weights, scores, temperature):
    d = softmax_backward(d_weights, softmax(scores / temperature))
    return -(d * scores).sum() / temperature


@wrong("temperature_gradient", "multiplies with the scaled scores divided by T squared", named=("scaled_twice",))
def _(d_weights, scores, temperature):
    x = scores / temperature
    d = softmax_backward(d_weights, softmax(x))
    return -(d * x).sum() / temperature ** 2


@wrong("temperature_gradient", "weights without temperature", named=("at_one",))
def _(d_weights, scores, temperature):
    d = softmax_backward(d_weights, softmax(scores))
    return -(d * scores).sum() / temperature ** 2


@wrong("temperature_gradient", "a number for each row", named=("per_row",))
def _(d_weights, scores, temperature):
    d = softmax_backward(d_weights, softmax(scores / temperature))
    return -(d * scores).sum(axis=-1) / temperature ** 2


@wrong("temperature_gradient", "average over the rows", named=("mean_of_rows",))
def _(d_weights, scores, temperature):
    d = softmax_backward(d_weights, softmax(scores / temperature))
    return -(d * scores).sum(axis=-1).mean() / temperature ** 2


@wrong("temperature_gradient", "a forward difference with a step of 1e-6")
def _(d_weights, scores, temperature):
    h = 1e-6
    f = lambda t: (d_weights * softmax(scores / t)).sum()
    return (f(temperature + h) - f(temperature)) / h
