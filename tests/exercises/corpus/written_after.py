"""A second corpus: wrong answers that were written when the causes were finished, to exercises up to chapter 7."""

import math

import numpy as np

from . import wrong
from .parts import softmax

# --- product_transpose ----------------------------------------------------------------------------

wrong("product_transpose", "c is transposed in front")(lambda a_t, b, c_t: c_t.mT @ b.mT @ a_t)
wrong("product_transpose", "a batch is summed over")(lambda a_t, b, c_t: np.einsum("...ij,...kj,...kl->il", c_t, b, a_t))
wrong("product_transpose", "first the transpose of the product of two, in the old order", named=("not_transposed",))(lambda a_t, b, c_t: (a_t.mT @ b) @ c_t.mT)
wrong("product_transpose", "twice the product")(lambda a_t, b, c_t: 2 * (c_t @ b.mT @ a_t))


# --- score_table_step -----------------------------------------------------------------------------


def table_slopes(scores, now, following):
    p = softmax(scores)[now]
    p[np.arange(len(now)), following] -= 1
    return p


@wrong("score_table_step", "the rate is squared")
def _(scores, now, following, rate):
    out = scores.copy()
    np.subtract.at(out, now, rate**2 * table_slopes(scores, now, following) / len(now))
    return out


@wrong("score_table_step", "two steps")
def _(scores, now, following, rate):
    for _ in range(2):
        d = np.zeros_like(scores)
        np.add.at(d, now, table_slopes(scores, now, following) / len(now))
        scores = scores - rate * d
    return scores


@wrong("score_table_step", "only the first pair is used", named=("first_pair",))
def _(scores, now, following, rate):
    out = scores.copy()
    out[now[0]] -= rate * table_slopes(scores, now[:1], following[:1])[0]
    return out


@wrong("score_table_step", "the softmax runs down the columns", named=("columns",))
def _(scores, now, following, rate):
    p = softmax(scores, axis=0)[now] - np.eye(len(scores))[following]
    d = np.zeros_like(scores)
    np.add.at(d, now, p / len(now))
    return scores - rate * d


# --- score_gradient, attention_shape, matrix_shapes -----------------------------------------------

wrong("score_gradient", "the slope of the sum of all scores")(0.0)
wrong("score_gradient", "twice the upstream")(-5.0 * 2)
wrong("attention_shape", "three heads of values in front")((4, 3, 128, 48))
wrong("attention_shape", "queries by keys, without a batch")((128, 200))
wrong("matrix_shapes", "rows of the first, columns of the second")((2, 3, 5, 7))
wrong("matrix_shapes", "all sizes added")((2, 3, 9))

# --- masks ----------------------------------------------------------------------------------------


@wrong("causal_mask", "the last token sees itself alone")
def _(q, k):
    m = np.tri(q, k, k - q, dtype=bool)
    m[-1] = False
    m[-1, -1] = True
    return m


@wrong("causal_mask", "the number of keys in the place of that of queries", named=("all_visible",))
def _(q, k):
    return np.tri(q, k, k, dtype=bool) & (np.arange(k) <= k - 1)


@wrong("causal_mask", "the first key is always visible", named=("first_visible",))
def _(q, k):
    m = np.tri(q, k, k - q, dtype=bool)
    m[:, 0] = True
    return m


@wrong("paper_mask", "only tokens of the past are global", named=("global_past",))
def _(i, j, window, has_global):
    return (abs(i - j) <= window // 2) | has_global[i] | (has_global[j] & (j <= i))


@wrong("paper_mask", "the window is counted from the start", named=("cut_in_blocks",))
def _(i, j, window, has_global):
    return (i // window == j // window) | has_global[i] | has_global[j]


@wrong("distance_bias_backward", "the weights multiply twice", named=("weight_squared",))
def _(d_out, value, weights):
    dp = d_out @ value.mT
    ds = weights**2 * (dp - (weights * dp).sum(-1, keepdims=True))
    n = ds.shape[-1]
    i, j = np.indices((n, n))
    return np.array([ds[..., i - j == r].sum() for r in range(n)])


@wrong("distance_bias_backward", "one row mean for a sequence", named=("row_mean_all",))
def _(d_out, value, weights):
    dp = d_out @ value.mT
    ds = weights * (dp - (weights * dp).sum((-1, -2), keepdims=True))
    n = ds.shape[-1]
    i, j = np.indices((n, n))
    return np.array([ds[..., i - j == r].sum() for r in range(n)])


@wrong("padded_causal_attention", "the queries are masked out, not the keys", named=("query_axis",))
def _(query, key, value, real):
    n = query.shape[1]
    s = query @ key.mT / math.sqrt(query.shape[-1])
    p = softmax(np.where(np.tri(n, dtype=bool), s, -np.inf))
    return p @ value * real[..., None]


@wrong("padded_causal_attention", "the padding is moved out by its value")
def _(query, key, value, real):
    n = query.shape[1]
    s = query @ key.mT / math.sqrt(query.shape[-1])
    s = np.where(np.tri(n, dtype=bool), s, -np.inf) - 5.0 * ~real[:, None]
    return softmax(s) @ value


@wrong("padded_causal_attention", "each sentence begins with its own first real token, as index")
def _(query, key, value, real):
    out = np.zeros((*query.shape[:2], value.shape[-1]))
    for b in range(len(query)):
        first = int(np.argmax(real[b]))
        for i in range(first, query.shape[1]):
            s = key[b, first : i + 1] @ query[b, i] / math.sqrt(query.shape[-1])
            out[b, i] = softmax(s) @ value[b, first : i + 1]
    return out


# --- heads in numbers -----------------------------------------------------------------------------

wrong("mha_parameters", "six matrices")(6 * (768 * 768 + 768))
wrong("mha_parameters", "one head is narrower by its share, counted once", named=("one_head",))(4 * (768 * 64 + 64))
wrong("mha_parameters", "heads are forgotten in the biases", named=("small_bias",))(4 * 768 * 768 + 3 * 64 + 768)
wrong("score_mebibytes", "the triangle alone", named=("no_bytes",))(32 * 2048 * 2049 / 2 * 2 / 2**20)
wrong("scores_bytes", "row and column with the corner twice, in one head")(2 * 8193 * 2)
wrong("attention_flops", "a third product")(2 * 300 * 700 * (64 + 96 + 64))
wrong("attention_flops", "queries and values", named=("v_twice",))(2 * 300 * 700 * 96 * 2)
wrong("attention_flops", "half, as for a causal mask", named=("no_two",))(33_600_000)
wrong("taken_out", "a word that is not there", says=r"not one of the words")("none")


@wrong("gqa_backward", "the gradients of other groups as well, with a sign")
def _(d_repeated, kv_heads):
    b, h, n, d = d_repeated.shape
    own = d_repeated.reshape(b, kv_heads, -1, n, d).sum(2)
    return own - own.mean(1, keepdims=True) if kv_heads > 1 else own


@wrong("gqa_backward", "the sum of each pair of neighbours")
def _(d_repeated, kv_heads):
    g = d_repeated.shape[1] // kv_heads
    return np.stack([d_repeated[:, i * g] + d_repeated[:, i * g + g - 1] for i in range(kv_heads)], axis=1)


# --- recompute ------------------------------------------------------------------------------------


def merged(out_a, lse_a, out_b, lse_b, w=None, lse=None):
    m = np.maximum(lse_a, lse_b)
    f = np.where(np.isinf(m), 0, m)
    a, b = np.exp(lse_a - f), np.exp(lse_b - f)
    s = np.where(a + b == 0, 1, a + b)
    a, b = (a / s, b / s) if w is None else w(a, b, s)
    return a[:, None] * out_a + b[:, None] * out_b, m + np.log(s) if lse is None else lse(m, s)


@wrong("merge_partials", "shares squared", named=("shares_squared",))
def _(out_a, logsumexp_a, out_b, logsumexp_b):
    return merged(out_a, logsumexp_a, out_b, logsumexp_b, w=lambda a, b, s: ((a / s) ** 2, (b / s) ** 2))


@wrong("merge_partials", "the logarithm of two added", named=("lse_log_2",))
def _(out_a, logsumexp_a, out_b, logsumexp_b):
    return merged(out_a, logsumexp_a, out_b, logsumexp_b, lse=lambda m, s: m + np.log(2))


@wrong("merge_partials", "logarithm to base ten", named=("log_10",))
def _(out_a, logsumexp_a, out_b, logsumexp_b):
    return merged(out_a, logsumexp_a, out_b, logsumexp_b, lse=lambda m, s: m + np.log10(s))


@wrong("merge_partials", "a minus for a plus in the logsumexp", named=("log_subtracted",))
def _(out_a, logsumexp_a, out_b, logsumexp_b):
    return merged(out_a, logsumexp_a, out_b, logsumexp_b, lse=lambda m, s: m - np.log(s))


def with_logsumexp(d_out, d_logsumexp, query, key, value, d_scores):
    c = query.shape[1] ** -0.5
    p = softmax(c * query @ key.T)
    ds = d_scores(p, d_out @ value.T, d_logsumexp[:, None])
    return c * ds @ key, c * ds.T @ query, p.T @ d_out


@wrong("backward_with_logsumexp", "the new term twice", named=("doubled",))
def _(d_out, d_logsumexp, query, key, value):
    return with_logsumexp(d_out, d_logsumexp, query, key, value, lambda p, dp, g: p * (dp - (p * dp).sum(1, keepdims=True) + 2 * g))


@wrong("backward_with_logsumexp", "the new term divided by the number of keys", named=("spread",))
def _(d_out, d_logsumexp, query, key, value):
    return with_logsumexp(
        d_out, d_logsumexp, query, key, value, lambda p, dp, g: p * (dp - (p * dp).sum(1, keepdims=True)) + g / p.shape[1]
    )


@wrong("backward_with_logsumexp", "times p (1 - p)", named=("centred",))
def _(d_out, d_logsumexp, query, key, value):
    return with_logsumexp(
        d_out, d_logsumexp, query, key, value, lambda p, dp, g: p * (dp - (p * dp).sum(1, keepdims=True)) + g * p * (1 - p)
    )
