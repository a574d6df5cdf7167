"""A fourth corpus, written from the statements alone, before anything was mended: chapter 5."""

import numpy as np

from . import wrong
from .parts import softmax


def split(a, h):
    b, n, _ = a.shape
    return a.reshape(b, n, h, -1).swapaxes(1, 2)


def heads_backward(d_out, x, wq, wk, wv, wo, heads, scale=True, d_wo="merged", mean=True, parts=(1, 1, 1)):
    b, n, m = x.shape
    q, k, v = (split(x @ w, heads) for w in (wq, wk, wv))
    c = 1 / np.sqrt(q.shape[-1])
    p = softmax(c * q @ k.mT)
    merged = (p @ v).swapaxes(1, 2).reshape(b, n, -1)
    d_merged = d_out @ wo.T
    do = split(d_merged, heads)
    dv = p.mT @ do
    dp = do @ v.mT
    ds = p * (dp - (p * dp).sum(-1, keepdims=True)) if mean else p * dp
    if scale:
        ds = c * ds
    merge = lambda a: a.swapaxes(1, 2).reshape(b, n, -1)
    dq, dk, dv = merge(ds @ k), merge(ds.mT @ q), merge(dv)
    flat = lambda a: a.reshape(b * n, -1)
    dx = parts[0] * dq @ wq.T + parts[1] * dk @ wk.T + parts[2] * dv @ wv.T
    return (dx, flat(x).T @ flat(dq), flat(x).T @ flat(dk), flat(x).T @ flat(dv), flat(merged).T @ flat(d_out))


def first_head(letters, places, own, step, bias=lambda p: -np.arange(p)):
    d = letters + 1
    wq = np.zeros((letters + places, d))
    wk = np.zeros((letters + places, d))
    wq[:letters, :letters] = own * np.sqrt(d) * np.eye(letters)
    wq[:letters, letters] = step * np.sqrt(d)
    wk[:letters, :letters] = np.eye(letters)
    wk[letters:, letters] = bias(places)
    return wq, wk


# --- mha -------------------------------------------------------------------------------------------


@wrong("mha", "scale by the whole width h d", named=("scale_all_heads",))
def _(x, query_weight, key_weight, value_weight, out_weight, heads):
    b, n, m = x.shape
    q, k, v = (split(x @ w, heads) for w in (query_weight, key_weight, value_weight))
    p = softmax(q @ k.mT / np.sqrt(query_weight.shape[1]))
    return (p @ v).swapaxes(1, 2).reshape(b, n, -1) @ out_weight


@wrong("mha", "scale by the features m of a token", named=("scale_model",))
def _(x, query_weight, key_weight, value_weight, out_weight, heads):
    b, n, m = x.shape
    q, k, v = (split(x @ w, heads) for w in (query_weight, key_weight, value_weight))
    p = softmax(q @ k.mT / np.sqrt(m))
    return (p @ v).swapaxes(1, 2).reshape(b, n, -1) @ out_weight


@wrong("mha", "causal although no mask was asked for", named=("causal",))
def _(x, query_weight, key_weight, value_weight, out_weight, heads):
    b, n, m = x.shape
    q, k, v = (split(x @ w, heads) for w in (query_weight, key_weight, value_weight))
    s = q @ k.mT / np.sqrt(q.shape[-1])
    p = softmax(np.where(np.tri(n, dtype=bool), s, -np.inf))
    return (p @ v).swapaxes(1, 2).reshape(b, n, -1) @ out_weight


@wrong("mha", "heads in reversed order when merged", named=("heads_reversed",))
def _(x, query_weight, key_weight, value_weight, out_weight, heads):
    b, n, m = x.shape
    q, k, v = (split(x @ w, heads) for w in (query_weight, key_weight, value_weight))
    o = softmax(q @ k.mT / np.sqrt(q.shape[-1])) @ v
    return np.concatenate([o[:, h] for h in reversed(range(heads))], axis=-1) @ out_weight


@wrong("mha", "values are not split: every head mixes its slice from head 0's weights")
def _(x, query_weight, key_weight, value_weight, out_weight, heads):
    b, n, m = x.shape
    q, k = (split(x @ w, heads) for w in (query_weight, key_weight))
    p = softmax(q @ k.mT / np.sqrt(q.shape[-1]))
    return p[:, 0] @ (x @ value_weight) @ out_weight


@wrong("mha", "adds x (a residual)", named=("residual",))
def _(x, query_weight, key_weight, value_weight, out_weight, heads):
    b, n, m = x.shape
    q, k, v = (split(x @ w, heads) for w in (query_weight, key_weight, value_weight))
    p = softmax(q @ k.mT / np.sqrt(q.shape[-1]))
    return x + (p @ v).swapaxes(1, 2).reshape(b, n, -1) @ out_weight


@wrong("mha", "divides the output by the number of heads")
def _(x, query_weight, key_weight, value_weight, out_weight, heads):
    b, n, m = x.shape
    q, k, v = (split(x @ w, heads) for w in (query_weight, key_weight, value_weight))
    p = softmax(q @ k.mT / np.sqrt(q.shape[-1]))
    return (p @ v).swapaxes(1, 2).reshape(b, n, -1) @ out_weight / heads


# --- mha_backward ----------------------------------------------------------------------------------


@wrong("mha_backward", "d_x through the values only", named=("dx_overwritten",))
def _(d_out, x, query_weight, key_weight, value_weight, out_weight, heads):
    return heads_backward(d_out, x, query_weight, key_weight, value_weight, out_weight, heads, parts=(0, 0, 1))


@wrong("mha_backward", "d_x without the keys", named=("dx_no_k",))
def _(d_out, x, query_weight, key_weight, value_weight, out_weight, heads):
    return heads_backward(d_out, x, query_weight, key_weight, value_weight, out_weight, heads, parts=(1, 0, 1))


@wrong("mha_backward", "no scale", named=("no_scale",))
def _(d_out, x, query_weight, key_weight, value_weight, out_weight, heads):
    return heads_backward(d_out, x, query_weight, key_weight, value_weight, out_weight, heads, scale=False)


@wrong("mha_backward", "no row mean, again", named=("ds_no_rowsum",))
def _(d_out, x, query_weight, key_weight, value_weight, out_weight, heads):
    return heads_backward(d_out, x, query_weight, key_weight, value_weight, out_weight, heads, mean=False)


@wrong("mha_backward", "weight gradients of the first sequence only", named=("dW_first",))
def _(d_out, x, query_weight, key_weight, value_weight, out_weight, heads):
    dx, *_ = heads_backward(d_out, x, query_weight, key_weight, value_weight, out_weight, heads)
    _, *rest = heads_backward(d_out[:1], x[:1], query_weight, key_weight, value_weight, out_weight, heads)
    return (dx, *rest)


@wrong("mha_backward", "the gradient of out_weight is taken with x in place of the merged heads")
def _(d_out, x, query_weight, key_weight, value_weight, out_weight, heads):
    g = heads_backward(d_out, x, query_weight, key_weight, value_weight, out_weight, heads)
    d_wo = np.einsum("bnm,bnk->mk", x @ value_weight, d_out)
    return (*g[:4], d_wo)


@wrong("mha_backward", "gradients of the weights averaged over the batch", named=("dW_mean",))
def _(d_out, x, query_weight, key_weight, value_weight, out_weight, heads):
    g = heads_backward(d_out, x, query_weight, key_weight, value_weight, out_weight, heads)
    return (g[0], *(a / len(x) for a in g[1:]))


# --- gqa -------------------------------------------------------------------------------------------


@wrong("gqa", "values in turn, keys right", named=("v_tile",))
def _(query, key, value):
    share = query.shape[1] // key.shape[1]
    key, value = np.repeat(key, share, 1), np.tile(value, (1, share, 1, 1))
    return softmax(query @ key.mT / np.sqrt(query.shape[-1])) @ value


@wrong("gqa", "all query heads use key head 0", named=("first_kv",))
def _(query, key, value):
    return softmax(query @ key[:, :1].mT / np.sqrt(query.shape[-1])) @ value[:, :1]


@wrong("gqa", "mean over the heads of keys and values", named=("mean_kv",))
def _(query, key, value):
    key, value = key.mean(1, keepdims=True), value.mean(1, keepdims=True)
    return softmax(query @ key.mT / np.sqrt(query.shape[-1])) @ value


@wrong("gqa", "scaled by the root of d times the share", named=("scale_share",))
def _(query, key, value):
    share = query.shape[1] // key.shape[1]
    key, value = np.repeat(key, share, 1), np.repeat(value, share, 1)
    return softmax(query @ key.mT / np.sqrt(query.shape[-1] * share)) @ value


@wrong("gqa", "query head modulo share picks the key head")
def _(query, key, value):
    h, G = query.shape[1], key.shape[1]
    own = [min(i // G, G - 1) for i in range(h)]
    return softmax(query @ key[:, own].mT / np.sqrt(query.shape[-1])) @ value[:, own]


# --- previous_token_head ---------------------------------------------------------------------------


@wrong("previous_token_head", "the lead lacks the root of d", named=("no_root",))
def _(letters, places):
    wq = np.zeros((letters + places, places))
    wk = np.zeros((letters + places, places))
    lead = np.log(9 * places)
    wq[letters:] = lead * np.eye(places, k=-1)
    wk[letters:] = np.eye(places)
    return wq, wk


@wrong("previous_token_head", "looks one ahead", named=("ahead",))
def _(letters, places):
    wq = np.zeros((letters + places, places))
    wk = np.zeros((letters + places, places))
    wq[letters:] = np.sqrt(places) * np.log(10 * places) * np.eye(places, k=1)
    wk[letters:] = np.eye(places)
    return wq, wk


@wrong("previous_token_head", "looks at itself", named=("itself",))
def _(letters, places):
    wq = np.zeros((letters + places, places))
    wk = np.zeros((letters + places, places))
    wq[letters:] = np.sqrt(places) * np.log(10 * places) * np.eye(places)
    wk[letters:] = np.eye(places)
    return wq, wk


@wrong("previous_token_head", "lead large in both, but for one other key only: log 9", named=("no_logarithm",))
def _(letters, places):
    wq = np.zeros((letters + places, places))
    wk = np.zeros((letters + places, places))
    wq[letters:] = np.sqrt(places) * (np.log(9) + 0.01) * np.eye(places, k=-1)
    wk[letters:] = np.eye(places)
    return wq, wk


@wrong("previous_token_head", "a factor of 40 for every length", named=("fixed",))
def _(letters, places):
    wq = np.zeros((letters + places, places))
    wk = np.zeros((letters + places, places))
    wq[letters:] = 40 * np.eye(places, k=-1)
    wk[letters:] = np.eye(places)
    return wq, wk


# --- gqa_backward ----------------------------------------------------------------------------------


@wrong("gqa_backward", "mean of the copies", named=("mean",))
def _(d_repeated, kv_heads):
    b, h, n, d = d_repeated.shape
    return d_repeated.reshape(b, kv_heads, h // kv_heads, n, d).mean(2)


@wrong("gqa_backward", "groups and copies exchanged in the reshape", named=("tile_order",))
def _(d_repeated, kv_heads):
    b, h, n, d = d_repeated.shape
    return d_repeated.reshape(b, h // kv_heads, kv_heads, n, d).sum(1)


@wrong("gqa_backward", "takes one of the copies", named=("last",))
def _(d_repeated, kv_heads):
    share = d_repeated.shape[1] // kv_heads
    return d_repeated[:, share - 1 :: share]


@wrong("gqa_backward", "the sum of all heads for every group", named=("all_heads",))
def _(d_repeated, kv_heads):
    return np.repeat(d_repeated.sum(1, keepdims=True), kv_heads, axis=1)


@wrong("gqa_backward", "running sums that are not differenced")
def _(d_repeated, kv_heads):
    share = d_repeated.shape[1] // kv_heads
    return np.cumsum(d_repeated, axis=1)[:, share - 1 :: share]


# --- mha_parameters --------------------------------------------------------------------------------

wrong("mha_parameters", "one bias for each head", named=("bias_for_a_head",))(4 * 768 * 768 + 4 * 12)

# --- score_mebibytes -------------------------------------------------------------------------------

wrong("score_mebibytes", "key heads instead of query heads", named=("kv_heads",))(8 * 2048**2 * 2 / 2**20)
wrong("score_mebibytes", "float32", named=("float32",))(32 * 2048**2 * 4 / 2**20)
wrong("score_mebibytes", "megabytes of a million", named=("megabytes",))(32 * 2048**2 * 2 / 1e6)

# --- first_of_its_kind_head ------------------------------------------------------------------------


@wrong("first_of_its_kind_head", "step log 9: leaves a little less than 0.9 to the first")
def _(letters, places):
    t = np.log(9)
    return first_head(letters, places, t * (places + 2), t)


@wrong("first_of_its_kind_head", "finds the last of its kind: places rise", named=("last",))
def _(letters, places):
    t = np.log(11)
    return first_head(letters, places, t * (places + 2), t, np.arange)


@wrong("first_of_its_kind_head", "the letter is worth one step only")
def _(letters, places):
    t = np.log(12)
    return first_head(letters, places, t, t)


@wrong("first_of_its_kind_head", "no root of d")
def _(letters, places):
    t = np.log(11)
    wq, wk = first_head(letters, places, t * (places + 2), t)
    return wq / np.sqrt(letters + 1), wk


@wrong("first_of_its_kind_head", "letters only: an even share over equal letters", named=("whole_kind",))
def _(letters, places):
    return first_head(letters, places, 10 * places, 0)


# --- spot_multihead --------------------------------------------------------------------------------

wrong("spot_multihead", "confuses the two halves", named=("split_interleaved",))("interleaved")
wrong("spot_multihead", "sees equal numbers in rows", named=("heads_mean",))("mean")
