"""Right answers in other styles, written from the statements alone: prerequisites to chapter 5."""

import numpy as np

from . import right
from .parts import softmax


def first_head(letters, places, own, step, bias=lambda p: -np.arange(p)):
    d = letters + 1
    wq = np.zeros((letters + places, d))
    wk = np.zeros((letters + places, d))
    wq[:letters, :letters] = own * np.sqrt(d) * np.eye(letters)
    wq[:letters, letters] = step * np.sqrt(d)
    wk[:letters, :letters] = np.eye(letters)
    wk[letters:, letters] = bias(places)
    return wq, wk


# --- matrix_shapes ---------------------------------------------------------------------------------

right("matrix_shapes", "a list of strings is odd; a shape object from NumPy")(np.zeros((2, 3, 4)).shape)
right("matrix_shapes", "a NumPy array")(np.array([2, 3, 4]))

# --- product_transpose -----------------------------------------------------------------------------


@right("product_transpose", "one einsum with the letters of the statement")
def _(a_t, b, c_t):
    return np.einsum("...mn,...mk,...dk->...dn", a_t, b, c_t, optimize=True)


# --- delta_sum -------------------------------------------------------------------------------------

right("delta_sum", "a Python float from a sum")(float(np.sum(np.diag([1, 5, 10]) @ [1, 10, 100])))

# --- linear_backward -------------------------------------------------------------------------------


@right("linear_backward", "outer products added up in a loop, rows by np.dot")
def _(d_out, x, weight):
    d_weight = np.zeros_like(weight, dtype=float)
    d_x = []
    for row, g in zip(x, d_out):
        d_weight += row[:, None] * g
        d_x.append(weight.dot(g))
    return np.array(d_x), d_weight


# --- used_twice ------------------------------------------------------------------------------------


@right("used_twice", "product rule twice through two copies")
def _(d_out, x, a):
    left, right_ = x, x
    through_left = d_out @ (a @ right_.T).T
    through_right = (d_out.T @ left) @ a
    return np.add(through_left, through_right)


# --- softmax ---------------------------------------------------------------------------------------


@right("softmax", "the recursion of logaddexp")
def _(x):
    x = np.asarray(x, dtype=np.float64)
    return np.exp(x - np.logaddexp.reduce(x, axis=-1)[..., np.newaxis])


@right("softmax", "one over the sum of the exponentials of all differences")
def _(x):
    x = np.array(x, dtype=float)
    with np.errstate(over="ignore"):
        return 1.0 / np.exp(x[..., None, :] - x[..., :, None]).sum(axis=-1)


@right("softmax", "apply_along_axis with Python's math")
def _(x):
    import math

    def row(r):
        top = max(r)
        powers = [math.exp(v - top) for v in r]
        s = math.fsum(powers)
        return [p / s for p in powers]

    return np.apply_along_axis(row, -1, np.asarray(x, float))


# --- softmax_backward ------------------------------------------------------------------------------


@right("softmax_backward", "matmul of rows and columns for the shared number")
def _(d_weights, weights):
    shared = d_weights[..., None, :] @ weights[..., :, None]
    return (d_weights - shared[..., 0]) * weights


# --- score_table_step ------------------------------------------------------------------------------


@right("score_table_step", "counts of pairs, then weights by the counts of rows")
def _(scores, now, following, rate):
    k = len(scores)
    counts = np.bincount(np.asarray(now) * k + following, minlength=k * k).reshape(k, k)
    expected = counts.sum(axis=1, keepdims=True) * softmax(scores)
    return scores + rate / len(now) * (counts - expected)


# --- temperature_gradient --------------------------------------------------------------------------


@right("temperature_gradient", "minus a covariance under the weights")
def _(d_weights, scores, temperature):
    p = softmax(scores / temperature)
    mean_x = (p * scores).sum(-1, keepdims=True)
    return -float(np.sum(p * d_weights * (scores - mean_x))) / temperature**2


# --- attention_shape -------------------------------------------------------------------------------

right("attention_shape", "a list")([4, 128, 48])

# --- sdpa ------------------------------------------------------------------------------------------


@right("sdpa", "logs of the weights, exp of a difference, tensordot-free")
def _(query, key, value):
    s = np.einsum("...id,...jd->...ij", query, key) * query.shape[-1] ** -0.5
    lse = np.logaddexp.reduce(s, axis=-1, keepdims=True)
    return np.sum(np.exp(s - lse)[..., None] * value[..., None, :, :], axis=-2)


@right("sdpa", "key by key with a running maximum")
def _(query, key, value):
    d = query.shape[-1]
    top = np.full(np.broadcast_shapes(query.shape[:-1], key.shape[:-2] + (1,)), -np.inf)
    total, acc = 0.0, 0.0
    for j in range(key.shape[-2]):
        s = (query * key[..., j : j + 1, :]).sum(-1) / np.sqrt(d)
        new = np.maximum(top, s)
        old = np.exp(top - new)
        w = np.exp(s - new)
        total = total * old + w
        acc = acc * old[..., None] + w[..., None] * value[..., j : j + 1, :]
        top = new
    return acc / total[..., None]


# --- distance_attention ----------------------------------------------------------------------------


@right("distance_attention", "twice the feature, half of it on the other side")
def _(query, key, value):
    query_feature = np.full((len(query), 1), -2.0)
    key_feature = np.square(key).sum(1)[:, None] / 4
    longer_query = np.concatenate([query, query_feature], axis=1)
    longer_key = np.concatenate([key, key_feature], axis=1)
    return softmax(longer_query @ longer_key.mT) @ value


# --- sdpa_backward ---------------------------------------------------------------------------------


@right("sdpa_backward", "D from the output, einsum throughout, c inside the arrays")
def _(d_out, query, key, value):
    root = np.sqrt(query.shape[-1])
    p = softmax(np.einsum("...qd,...kd->...qk", query / root, key))
    o = np.einsum("...qk,...kv->...qv", p, value)
    delta = np.einsum("...qv,...qv->...q", d_out, o)
    ds = p * np.einsum("...qv,...kv->...qk", d_out, value) - p * delta[..., None]
    return (np.einsum("...qk,...kd->...qd", ds, key) / root,
            np.einsum("...qk,...qd->...kd", ds, query) / root,
            np.einsum("...qk,...qv->...kv", p, d_out))


# --- additive_backward -----------------------------------------------------------------------------


@right("additive_backward", "1/cosh squared, tensordot over flattened pairs")
def _(d_out, query, key, value, w):
    z = query[..., :, None, :] + key[..., None, :, :]
    match = np.tanh(z)
    p = softmax(match @ w)
    dp = np.einsum("...qv,...kv->...qk", d_out, value)
    ds = p * (dp - np.einsum("...qk,...qk->...q", p, dp)[..., None])
    d_w = np.tensordot(ds.ravel(), match.reshape(-1, match.shape[-1]), 1)
    d_z = ds[..., None] * w / np.cosh(z) ** 2
    return d_z.sum(axis=-2), d_z.sum(axis=-3), np.einsum("...qk,...qv->...kv", p, d_out), d_w


# --- causal_mask -----------------------------------------------------------------------------------


@right("causal_mask", "nested lists of comparisons")
def _(q, k):
    return np.array([[q - i <= k - j for j in range(k)] for i in range(q)], dtype=bool).reshape(q, k)


@right("causal_mask", "the last q rows of a large triangle, with rows of False on top")
def _(q, k):
    n = max(q, k)
    return np.tril(np.ones((n, n), bool))[n - q :, n - k :]


# --- masked_softmax --------------------------------------------------------------------------------


@right("masked_softmax", "row by row on the visible scores alone")
def _(scores, keep):
    out = np.zeros(scores.shape)
    for where in np.ndindex(*scores.shape[:-1]):
        seen = scores[where][keep[where]]
        if seen.size:
            e = np.exp(seen - seen.max())
            out[where][keep[where]] = e / e.sum()
    return out


@right("masked_softmax", "softmax with the keyword where and initial")
def _(scores, keep):
    top = np.max(scores, axis=-1, keepdims=True, where=keep, initial=-np.inf)
    top = np.where(np.isneginf(top), 0, top)
    e = np.exp(np.where(keep, scores - top, -np.inf))
    return e / np.maximum(e.sum(-1, keepdims=True), np.finfo(float).tiny)


# --- padded_causal_attention -----------------------------------------------------------------------


@right("padded_causal_attention", "loops over sentences and queries with the visible keys picked out")
def _(query, key, value, real):
    b, n, d = query.shape
    out = np.zeros((b, n, value.shape[-1]))
    for s in range(b):
        for i in range(n):
            seen = np.flatnonzero(real[s, : i + 1])
            if len(seen):
                out[s, i] = softmax(key[s, seen] @ query[s, i] / d**0.5) @ value[s, seen]
    return out


# --- paper_mask ------------------------------------------------------------------------------------


@right("paper_mask", "squares of distances")
def _(i, j, window, has_global):
    g = np.asarray(has_global)
    near = 4 * (i - j) ** 2 <= window**2
    return np.logical_or.reduce(np.broadcast_arrays(near, g[i], g[j]))


# --- distance_bias_backward ------------------------------------------------------------------------


@right("distance_bias_backward", "bincount of the distances")
def _(d_out, value, weights):
    dp = d_out @ value.mT
    ds = weights * (dp - (weights * dp).sum(-1, keepdims=True))
    n = ds.shape[-1]
    i, j = np.tril_indices(n)
    total = ds.reshape(-1, n, n).sum(0)
    return np.bincount(i - j, weights=total[i, j], minlength=n)


# --- mha -------------------------------------------------------------------------------------------


@right("mha", "a loop over heads with sliced weights, out weights added up")
def _(x, query_weight, key_weight, value_weight, out_weight, heads):
    d, v = query_weight.shape[1] // heads, value_weight.shape[1] // heads
    out = 0
    for h in range(heads):
        a, c = slice(h * d, h * d + d), slice(h * v, h * v + v)
        q, k = x @ query_weight[:, a], x @ key_weight[:, a]
        p = softmax(np.einsum("bid,bjd->bij", q, k) / d**0.5)
        out = out + p @ (x @ (value_weight[:, c] @ out_weight[c]))
    return out


# --- mha_backward ----------------------------------------------------------------------------------


@right("mha_backward", "einsum with heads as an axis of the weights")
def _(d_out, x, query_weight, key_weight, value_weight, out_weight, heads):
    m = x.shape[-1]
    wq, wk, wv = (w.reshape(m, heads, -1) for w in (query_weight, key_weight, value_weight))
    wo = out_weight.reshape(heads, -1, m)
    q, k, v = (np.einsum("bnm,mhd->bhnd", x, w) for w in (wq, wk, wv))
    root = np.sqrt(q.shape[-1])
    p = softmax(np.einsum("bhid,bhjd->bhij", q, k) / root)
    o = p @ v
    do = np.einsum("bnm,hvm->bhnv", d_out, wo)
    dv = np.einsum("bhij,bhiv->bhjv", p, do)
    dp = np.einsum("bhiv,bhjv->bhij", do, v)
    ds = p * (dp - (do * o).sum(-1, keepdims=True)) / root
    dq = np.einsum("bhij,bhjd->bhid", ds, k)
    dk = np.einsum("bhij,bhid->bhjd", ds, q)
    dx = (np.einsum("bhnd,mhd->bnm", dq, wq) + np.einsum("bhnd,mhd->bnm", dk, wk)
          + np.einsum("bhnd,mhd->bnm", dv, wv))
    return (dx, np.einsum("bnm,bhnd->mhd", x, dq).reshape(query_weight.shape),
            np.einsum("bnm,bhnd->mhd", x, dk).reshape(key_weight.shape),
            np.einsum("bnm,bhnd->mhd", x, dv).reshape(value_weight.shape),
            np.einsum("bhnv,bnm->hvm", o, d_out).reshape(out_weight.shape))


# --- gqa -------------------------------------------------------------------------------------------


@right("gqa", "an axis for the group, broadcast")
def _(query, key, value):
    b, h, q, d = query.shape
    G = key.shape[1]
    grouped = query.reshape(b, G, h // G, q, d)
    s = np.einsum("bgsqd,bgkd->bgsqk", grouped, key) * d**-0.5
    return np.einsum("bgsqk,bgkv->bgsqv", softmax(s), value).reshape(b, h, q, -1)


# --- previous_token_head ---------------------------------------------------------------------------


@right("previous_token_head", "both sides carry the root, keys rolled")
def _(letters, places):
    wq = np.zeros((letters + places, places))
    wk = np.zeros((letters + places, places))
    s = np.sqrt(np.sqrt(places) * (np.log(places) + 3))
    wq[letters:] = s * np.eye(places)
    wk[letters:] = s * np.eye(places, k=1)
    return wq, wk


# --- gqa_backward ----------------------------------------------------------------------------------


@right("gqa_backward", "add.reduceat on the heads")
def _(d_repeated, kv_heads):
    share = d_repeated.shape[1] // kv_heads
    return np.add.reduceat(d_repeated, np.arange(0, d_repeated.shape[1], share), axis=1)


# --- mha_parameters --------------------------------------------------------------------------------

right("mha_parameters", "a float without fraction")(4 * 769 * 768.0)

# --- score_mebibytes -------------------------------------------------------------------------------

right("score_mebibytes", "NumPy number")(np.float64(32 * 2048**2 * 2 / 2**20))

# --- first_of_its_kind_head ------------------------------------------------------------------------


@right("first_of_its_kind_head", "a steep step, places counted from the end")
def _(letters, places):
    t = 4.0
    return first_head(letters, places, t * places + 5, t, lambda p: np.arange(p, 0, -1))
