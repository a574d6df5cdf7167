"""A fourth corpus, written from the statements alone, before anything was mended: chapters 7 and 8."""

import numpy as np

from . import wrong
from .parts import softmax


def fb(d_out, query, key, value, out, logsumexp, bq, bk, causal, *, offset=None, row=None, assign=False, c_last=True,
       masked=True):
    d_query, d_key, d_value = np.zeros(query.shape), np.zeros(key.shape), np.zeros(value.shape)
    q, k = len(query), len(key)
    c = 1 / np.sqrt(query.shape[1])
    delta = (d_out * out).sum(1, keepdims=True) if row is None else row
    offset = k - q if offset is None else offset
    for t in range(0, q, bq):
        r = slice(t, t + bq)
        for s in range(0, k, bk):
            j = slice(s, s + bk)
            x = c * query[r] @ key[j].T
            if causal and masked:
                i, jj = np.arange(q)[r, None], np.arange(k)[j]
                x = np.where(jj <= i + offset, x, -np.inf)
            p = np.exp(x - logsumexp[r, None])
            dv = p.T @ d_out[r]
            ds = p * (d_out[r] @ value[j].T - delta[r])
            if c_last:
                ds = c * ds
            if assign:
                d_value[j], d_query[r], d_key[j] = dv, ds @ key[j], ds.T @ query[r]
            else:
                d_value[j] += dv
                d_query[r] += ds @ key[j]
                d_key[j] += ds.T @ query[r]
    return d_query, d_key, d_value


def bl(d_out, d_lse, query, key, value, term, factor=1.0):
    c = 1 / np.sqrt(query.shape[1])
    p = softmax(c * query @ key.T)
    dp = d_out @ value.T
    d = (d_out * (p @ value)).sum(1, keepdims=True)
    ds = p * term(dp, d, d_lse[:, None])
    return factor * c * ds @ key, c * ds.T @ query, p.T @ d_out


# --- flash_backward --------------------------------------------------------------------------------


@wrong("flash_backward", "= where += belongs", named=("dq_overwrite", "dk_overwrite"))
def _(d_out, query, key, value, out, logsumexp, block_q, block_k, causal):
    return fb(d_out, query, key, value, out, logsumexp, block_q, block_k, causal, assign=True)


@wrong("flash_backward", "row mean from the values instead of the output: the mean of d_out", named=("D_mean",))
def _(d_out, query, key, value, out, logsumexp, block_q, block_k, causal):
    return fb(d_out, query, key, value, out, logsumexp, block_q, block_k, causal,
              row=(d_out * out).mean(1, keepdims=True))


@wrong("flash_backward", "aligned at the first key", named=("no_offset",))
def _(d_out, query, key, value, out, logsumexp, block_q, block_k, causal):
    return fb(d_out, query, key, value, out, logsumexp, block_q, block_k, causal, offset=0)


@wrong("flash_backward", "no mask although causal", named=("no_mask",))
def _(d_out, query, key, value, out, logsumexp, block_q, block_k, causal):
    return fb(d_out, query, key, value, out, logsumexp, block_q, block_k, causal, masked=False)


@wrong("flash_backward", "c lacks in the gradients", named=("no_scale",))
def _(d_out, query, key, value, out, logsumexp, block_q, block_k, causal):
    return fb(d_out, query, key, value, out, logsumexp, block_q, block_k, causal, c_last=False)


@wrong("flash_backward", "D with a plus", named=("D_plus",))
def _(d_out, query, key, value, out, logsumexp, block_q, block_k, causal):
    return fb(d_out, query, key, value, out, logsumexp, block_q, block_k, causal,
              row=-(d_out * out).sum(1, keepdims=True))


@wrong("flash_backward", "D summed over the queries", named=("D_total",))
def _(d_out, query, key, value, out, logsumexp, block_q, block_k, causal):
    return fb(d_out, query, key, value, out, logsumexp, block_q, block_k, causal,
              row=np.full((len(query), 1), (d_out * out).sum()))


# --- merge_partials --------------------------------------------------------------------------------


@wrong("merge_partials", "weights by the logsumexps themselves", named=("no_exponential",))
def _(out_a, logsumexp_a, out_b, logsumexp_b):
    with np.errstate(all="ignore"):
        a, b = logsumexp_a[:, None], logsumexp_b[:, None]
        return (out_a * a + out_b * b) / (a + b), np.logaddexp(logsumexp_a, logsumexp_b)


@wrong("merge_partials", "adds the outputs without dividing", named=("not_divided",))
def _(out_a, logsumexp_a, out_b, logsumexp_b):
    m = np.maximum(logsumexp_a, logsumexp_b)
    s = np.where(m > -np.inf, m, 0)
    a, b = np.exp(logsumexp_a - s), np.exp(logsumexp_b - s)
    with np.errstate(all="ignore"):
        return a[:, None] * out_a + b[:, None] * out_b, m + np.log(a + b)


@wrong("merge_partials", "adds the logsumexps", named=("lse_added",))
def _(out_a, logsumexp_a, out_b, logsumexp_b):
    l = np.logaddexp(logsumexp_a, logsumexp_b)
    s = np.where(l > -np.inf, l, 0)
    out = np.exp(logsumexp_a - s)[:, None] * out_a + np.exp(logsumexp_b - s)[:, None] * out_b
    return out, logsumexp_a + logsumexp_b


@wrong("merge_partials", "the maximum is returned as the logsumexp", named=("lse_larger",))
def _(out_a, logsumexp_a, out_b, logsumexp_b):
    l = np.logaddexp(logsumexp_a, logsumexp_b)
    s = np.where(l > -np.inf, l, 0)
    out = np.exp(logsumexp_a - s)[:, None] * out_a + np.exp(logsumexp_b - s)[:, None] * out_b
    return out, np.maximum(logsumexp_a, logsumexp_b)


@wrong("merge_partials", "a and b exchanged in the masses", named=("swapped",))
def _(out_a, logsumexp_a, out_b, logsumexp_b):
    l = np.logaddexp(logsumexp_a, logsumexp_b)
    s = np.where(l > -np.inf, l, 0)
    return np.exp(logsumexp_b - s)[:, None] * out_a + np.exp(logsumexp_a - s)[:, None] * out_b, l


@wrong("merge_partials", "one maximum for all queries, again", named=("one_for_all",))
def _(out_a, logsumexp_a, out_b, logsumexp_b):
    m = max(logsumexp_a.max(), logsumexp_b.max())
    a, b = np.exp(logsumexp_a - m), np.exp(logsumexp_b - m)
    with np.errstate(all="ignore"):
        out = (a[:, None] * out_a + b[:, None] * out_b) / (a + b)[:, None]
        return np.nan_to_num(out), m + np.log(a + b)


# --- backward_with_logsumexp -----------------------------------------------------------------------


@wrong("backward_with_logsumexp", "sign of d_logsumexp", named=("sign",))
def _(d_out, d_logsumexp, query, key, value):
    return bl(d_out, d_logsumexp, query, key, value, lambda dp, d, l: dp - d - l)


@wrong("backward_with_logsumexp", "d_logsumexp not used", named=("ignored",))
def _(d_out, d_logsumexp, query, key, value):
    return bl(d_out, d_logsumexp, query, key, value, lambda dp, d, l: dp - d)


@wrong("backward_with_logsumexp", "d_logsumexp takes D's whole place", named=("sign", "no_mean"))
def _(d_out, d_logsumexp, query, key, value):
    return bl(d_out, d_logsumexp, query, key, value, lambda dp, d, l: dp - l)


@wrong("backward_with_logsumexp", "d_logsumexp multiplies")
def _(d_out, d_logsumexp, query, key, value):
    return bl(d_out, d_logsumexp, query, key, value, lambda dp, d, l: (dp - d) * l)


@wrong("backward_with_logsumexp", "d_logsumexp is put into the values' gradient too", named=("value_too",))
def _(d_out, d_logsumexp, query, key, value):
    a, b, c = bl(d_out, d_logsumexp, query, key, value, lambda dp, d, l: dp - d + l)
    p = softmax(query @ key.T / np.sqrt(query.shape[1]))
    return a, b, c + p.T @ d_logsumexp[:, None]


@wrong("backward_with_logsumexp", "added without the weights", named=("unweighted",))
def _(d_out, d_logsumexp, query, key, value):
    c = 1 / np.sqrt(query.shape[1])
    p = softmax(c * query @ key.T)
    dp = d_out @ value.T
    ds = p * (dp - (p * dp).sum(1, keepdims=True)) + d_logsumexp[:, None]
    return c * ds @ key, c * ds.T @ query, p.T @ d_out


# --- ring_traffic ----------------------------------------------------------------------------------


@wrong("ring_traffic", "workers moves instead of workers - 1", named=("move_too_many", "back_all_rounds"))
def _(n, d, v, workers):
    one = n * (d + v)
    return workers * one, 2 * workers * one


@wrong("ring_traffic", "numbers of one worker only", named=("back_move_too_many", "one_worker"))
def _(n, d, v, workers):
    one = n // workers * (d + v)
    return (workers - 1) * one, (2 * workers - 1) * one


@wrong("ring_traffic", "backward as forward", named=("one_of_two",))
def _(n, d, v, workers):
    one = n * (d + v)
    return (workers - 1) * one, (workers - 1) * one


@wrong("ring_traffic", "keys only", named=("back_move_too_many", "no_values"))
def _(n, d, v, workers):
    one = n * d
    return (workers - 1) * one, (2 * workers - 1) * one


@wrong("ring_traffic", "gradients and copies go all the way round, also with one worker", named=("back_all_rounds",))
def _(n, d, v, workers):
    one = n * (d + v)
    return (workers - 1) * one, (workers + workers) * one


@wrong("ring_traffic", "backward three times", named=("back_three",))
def _(n, d, v, workers):
    one = n * (d + v)
    return (workers - 1) * one, 3 * (workers - 1) * one


# --- striped_pairs ---------------------------------------------------------------------------------


@wrong("striped_pairs", "blocks instead of stripes", named=("stretches",))
def _(n, workers):
    s = n // workers
    w, t = np.indices((workers, workers))
    owner = (w - t) % workers
    return np.where(owner == w, s * (s + 1) // 2, np.where(owner < w, s * s, 0))


@wrong("striped_pairs", "everything half of the square", named=("all_alike",))
def _(n, workers):
    s = n // workers
    return np.full((workers, workers), s * (s + 1) // 2)


@wrong("striped_pairs", "floats from a half too little")
def _(n, workers):
    s = n // workers
    w, t = np.indices((workers, workers))
    return np.where((w - t) % workers <= w, s * s / 2, s * s / 2 - s)
