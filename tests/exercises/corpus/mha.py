"""Wrong answers to `mha`, as readers may write them."""

import numpy as np

from . import wrong


def softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


def attend(q, k, v):
    return softmax(q @ k.swapaxes(-1, -2) / np.sqrt(q.shape[-1])) @ v


def split(y, heads):
    b, n, width = y.shape
    return y.reshape(b, n, heads, width // heads).swapaxes(1, 2)


def merge(y):
    b, h, n, v = y.shape
    return y.swapaxes(1, 2).reshape(b, n, h * v)


@wrong("mha", "view(b, h, n, d) as PyTorch would allow", named=("split_no_transpose",))
def view_without_transpose(x, query_weight, key_weight, value_weight, out_weight, heads):
    b, n, _ = x.shape
    q, k, v = [(x @ w).reshape(b, heads, n, -1) for w in (query_weight, key_weight, value_weight)]
    return merge(attend(q, k, v)) @ out_weight


@wrong("mha", "reshape alone, there and back", named=("split_no_transpose", "merge_no_transpose"))
def reshape_there_and_back(x, query_weight, key_weight, value_weight, out_weight, heads):
    b, n, m = x.shape
    q, k, v = [(x @ w).reshape(b, heads, n, -1) for w in (query_weight, key_weight, value_weight)]
    return attend(q, k, v).reshape(b, n, -1) @ out_weight


@wrong("mha", "transposed on the way there only", named=("merge_no_transpose",))
def only_there(x, query_weight, key_weight, value_weight, out_weight, heads):
    b, n, m = x.shape
    q = (x @ query_weight).reshape(b, n, heads, -1).transpose(0, 2, 1, 3)
    k = (x @ key_weight).reshape(b, n, heads, -1).transpose(0, 2, 1, 3)
    v = (x @ value_weight).reshape(b, n, heads, -1).transpose(0, 2, 1, 3)
    return np.dot(attend(q, k, v).reshape((b, n, -1)), out_weight)


@wrong("mha", "heads after features", named=("split_interleaved",))
def heads_after_features(x, query_weight, key_weight, value_weight, out_weight, heads):
    def cut(w):
        y = x @ w
        return np.moveaxis(y.reshape(*y.shape[:2], -1, heads), -1, 1)

    return merge(attend(cut(query_weight), cut(key_weight), cut(value_weight))) @ out_weight


@wrong("mha", "every h-th feature: slices with a step", named=("split_interleaved", "merge_interleaved"))
def slices_with_a_step(x, query_weight, key_weight, value_weight, out_weight, heads):
    out = np.zeros(x.shape[:2] + (len(out_weight),))
    q, k, v = x @ query_weight, x @ key_weight, x @ value_weight
    for h in range(heads):
        out[..., h::heads] = attend(q[..., h::heads], k[..., h::heads], v[..., h::heads])
    return out @ out_weight


@wrong("mha", "every h-th feature in, side by side out", named=("split_interleaved",))
def step_in_side_by_side_out(x, query_weight, key_weight, value_weight, out_weight, heads):
    outs = []
    for h in range(heads):
        outs.append(attend(*((x @ w)[..., h::heads] for w in (query_weight, key_weight, value_weight))))
    return np.concatenate(outs, axis=-1) @ out_weight


@wrong("mha", "heads stacked last, then flattened", named=("merge_interleaved",))
def stacked_last(x, query_weight, key_weight, value_weight, out_weight, heads):
    outs = []
    for q, k, v in zip(*(np.split(x @ w, heads, axis=-1) for w in (query_weight, key_weight, value_weight))):
        outs.append(attend(q, k, v))
    return np.stack(outs, axis=-1).reshape(*x.shape[:2], -1) @ out_weight


@wrong("mha", "heads concatenated in the reverse order", named=("heads_reversed",))
def reverse_order(x, query_weight, key_weight, value_weight, out_weight, heads):
    outs = []
    for q, k, v in zip(*(np.split(x @ w, heads, axis=-1) for w in (query_weight, key_weight, value_weight))):
        outs.insert(0, attend(q, k, v))
    return np.concatenate(outs, axis=-1) @ out_weight


@wrong("mha", "out is overwritten in the loop over heads: the last head is left", named=("last_head",))
def overwritten(x, query_weight, key_weight, value_weight, out_weight, heads):
    d, v = query_weight.shape[1] // heads, value_weight.shape[1] // heads
    for h in range(heads):
        columns, rows = slice(h * d, h * d + d), slice(h * v, h * v + v)
        out = attend(x @ query_weight[:, columns], x @ key_weight[:, columns], x @ value_weight[:, rows]) @ out_weight[rows]
    return out


@wrong("mha", "a loop that ends one head early", named=("one_head_early",))
def one_head_early(x, query_weight, key_weight, value_weight, out_weight, heads):
    v = value_weight.shape[1] // heads
    q, k, y = split(x @ query_weight, heads), split(x @ key_weight, heads), split(x @ value_weight, heads)
    out = np.zeros(x.shape[:2] + out_weight.shape[1:])
    for h in range(heads - 1):
        out += attend(q[:, h], k[:, h], y[:, h]) @ out_weight[h * v : (h + 1) * v]
    return out


@wrong("mha", "every head gets the first rows of the out weight", named=("first_rows",))
def first_rows_of_out(x, query_weight, key_weight, value_weight, out_weight, heads):
    v = value_weight.shape[1] // heads
    q, k, y = split(x @ query_weight, heads), split(x @ key_weight, heads), split(x @ value_weight, heads)
    return sum(attend(q[:, h], k[:, h], y[:, h]) @ out_weight[:v] for h in range(heads))


@wrong("mha", "the slices of d are used for the values, too", says=r"mismatch in its core dimension 0")
def slices_of_d_for_values(x, query_weight, key_weight, value_weight, out_weight, heads):
    d = query_weight.shape[1] // heads
    outs = []
    for h in range(heads):
        s = slice(h * d, (h + 1) * d)
        outs.append(attend(x @ query_weight[:, s], x @ key_weight[:, s], x @ value_weight[:, s]))
    return np.concatenate(outs, axis=-1) @ out_weight


@wrong("mha", "the head size is m // heads", says=r"cannot reshape array of size 120 into shape \(2,5,3,6\)")
def width_of_a_token_split(x, query_weight, key_weight, value_weight, out_weight, heads):
    b, n, m = x.shape
    d = m // heads
    q, k, v = [(x @ w).reshape(b, n, heads, d).transpose(0, 2, 1, 3) for w in (query_weight, key_weight, value_weight)]
    return attend(q, k, v).transpose(0, 2, 1, 3).reshape(b, n, m) @ out_weight


@wrong("mha", "the tokens themselves are split among the heads")
def tokens_split(x, query_weight, key_weight, value_weight, out_weight, heads):
    parts = np.array_split(x, heads, axis=-1)
    ws = [np.array_split(w, heads, axis=0) for w in (query_weight, key_weight, value_weight)]
    outs = [attend(*(part @ w[h] for w in ws)) for h, part in enumerate(parts)]
    return sum(outs) @ out_weight


@wrong("mha", "the heads are averaged", named=("heads_mean",))
def averaged(x, query_weight, key_weight, value_weight, out_weight, heads):
    q, k, v = (split(x @ w, heads) for w in (query_weight, key_weight, value_weight))
    return np.concatenate([attend(q, k, v).mean(axis=1)] * heads, axis=-1) @ out_weight


@wrong("mha", "the heads are added", named=("heads_added",))
def added(x, query_weight, key_weight, value_weight, out_weight, heads):
    q, k, v = (split(x @ w, heads) for w in (query_weight, key_weight, value_weight))
    return np.tile(attend(q, k, v).sum(axis=1), heads) @ out_weight


@wrong("mha", "the results of the heads are averaged after the out weight", says=r"by a factor of heads")
def averaged_after_out(x, query_weight, key_weight, value_weight, out_weight, heads):
    v = value_weight.shape[1] // heads
    q, k, y = split(x @ query_weight, heads), split(x @ key_weight, heads), split(x @ value_weight, heads)
    return np.mean([attend(q[:, h], k[:, h], y[:, h]) @ out_weight[h * v : (h + 1) * v] for h in range(heads)], axis=0)


@wrong("mha", "the root of the width of a token", named=("scale_model",))
def root_of_m(x, query_weight, key_weight, value_weight, out_weight, heads):
    q, k, v = (split(x @ w, heads) for w in (query_weight, key_weight, value_weight))
    scores = np.einsum("bhqd,bhkd->bhqk", q, k) * x.shape[-1] ** -0.5
    return np.einsum("bhqk,bhkv->bqhv", softmax(scores), v).reshape(*x.shape[:2], -1) @ out_weight


@wrong("mha", "the root of the width of all heads", named=("scale_all_heads",))
def root_of_all_heads(x, query_weight, key_weight, value_weight, out_weight, heads):
    q, k, v = x @ query_weight, x @ key_weight, x @ value_weight
    q = q / np.sqrt(q.shape[-1])
    q, k, v = (split(y, heads) for y in (q, k, v))
    return merge(softmax(q @ k.mT) @ v) @ out_weight


@wrong("mha", "the root of the number of heads", named=("scale_heads",))
def root_of_heads(x, query_weight, key_weight, value_weight, out_weight, heads):
    q, k, v = (split(x @ w, heads) for w in (query_weight, key_weight, value_weight))
    return merge(softmax(q @ k.mT / np.sqrt(heads)) @ v) @ out_weight


@wrong("mha", "divided by d, not by its root", named=("scale_d",))
def divided_by_d(x, query_weight, key_weight, value_weight, out_weight, heads):
    q, k, v = (split(x @ w, heads) for w in (query_weight, key_weight, value_weight))
    return merge(softmax(q @ k.mT / q.shape[-1]) @ v) @ out_weight


@wrong("mha", "the root of v", named=("scale_v",))
def root_of_v(x, query_weight, key_weight, value_weight, out_weight, heads):
    q, k, v = (split(x @ w, heads) for w in (query_weight, key_weight, value_weight))
    return merge(softmax(q @ k.mT / np.sqrt(v.shape[-1])) @ v) @ out_weight


@wrong("mha", "scaled twice: the query and the scores", named=("scale_d",))
def scaled_twice(x, query_weight, key_weight, value_weight, out_weight, heads):
    q, k, v = (split(x @ w, heads) for w in (query_weight, key_weight, value_weight))
    q = q / np.sqrt(q.shape[-1])
    return merge(attend(q, k, v)) @ out_weight


@wrong("mha", "scaled after the softmax", named=("scale_after",))
def scaled_after(x, query_weight, key_weight, value_weight, out_weight, heads):
    q, k, v = (split(x @ w, heads) for w in (query_weight, key_weight, value_weight))
    return merge(softmax(q @ k.mT) / np.sqrt(q.shape[-1]) @ v) @ out_weight


@wrong("mha", "no scale", named=("no_scale",))
def no_scale(x, query_weight, key_weight, value_weight, out_weight, heads):
    outs = []
    for q, k, v in zip(*(np.split(x @ w, heads, axis=2) for w in (query_weight, key_weight, value_weight))):
        outs.append(softmax(q @ k.transpose(0, 2, 1)) @ v)
    return np.dstack(outs) @ out_weight if x.ndim == 2 else np.concatenate(outs, 2) @ out_weight


@wrong("mha", "no out weight", named=("no_Wo",))
def no_out_weight(x, query_weight, key_weight, value_weight, out_weight, heads):
    q, k, v = (split(x @ w, heads) for w in (query_weight, key_weight, value_weight))
    return merge(attend(q, k, v))


@wrong("mha", "the out weight transposed", says=r"mismatch in its core dimension 0")
def out_weight_transposed(x, query_weight, key_weight, value_weight, out_weight, heads):
    q, k, v = (split(x @ w, heads) for w in (query_weight, key_weight, value_weight))
    return merge(attend(q, k, v)) @ out_weight.T


@wrong("mha", "nn.Linear: x @ W.T", named=("W_T",))
def linear_of_pytorch(x, query_weight, key_weight, value_weight, out_weight, heads):
    def linear(y, weight):
        return np.einsum("bni,oi->bno", y, weight)

    q, k, v = (split(linear(x, w), heads) for w in (query_weight, key_weight, value_weight))
    return linear(merge(attend(q, k, v)), out_weight)


@wrong("mha", "one head of full width", named=("one_head",))
def one_head(x, query_weight, key_weight, value_weight, out_weight, heads):
    return attend(x @ query_weight, x @ key_weight, x @ value_weight) @ out_weight


@wrong("mha", "heads compare heads, in each token", named=("within_tokens",))
def heads_compare_heads(x, query_weight, key_weight, value_weight, out_weight, heads):
    b, n, _ = x.shape
    q, k, v = [(x @ w).reshape(b, n, heads, -1) for w in (query_weight, key_weight, value_weight)]
    return attend(q, k, v).reshape(b, n, -1) @ out_weight


@wrong("mha", "the softmax over the heads", named=("softmax_heads",))
def softmax_over_heads(x, query_weight, key_weight, value_weight, out_weight, heads):
    q, k, v = (split(x @ w, heads) for w in (query_weight, key_weight, value_weight))
    return merge(softmax(q @ k.mT / np.sqrt(q.shape[-1]), axis=1) @ v) @ out_weight


@wrong("mha", "the softmax over the queries", named=("softmax_queries",))
def softmax_over_queries(x, query_weight, key_weight, value_weight, out_weight, heads):
    q, k, v = (split(x @ w, heads) for w in (query_weight, key_weight, value_weight))
    p = softmax(q @ k.mT / np.sqrt(q.shape[-1]), axis=2)
    return merge(p @ v) @ out_weight


@wrong("mha", "the softmax over everything")
def softmax_over_everything(x, query_weight, key_weight, value_weight, out_weight, heads):
    q, k, v = (split(x @ w, heads) for w in (query_weight, key_weight, value_weight))
    e = np.exp(q @ k.mT / np.sqrt(q.shape[-1]))
    return merge(e / e.sum() @ v) @ out_weight


@wrong("mha", "exp without the maximum", named=("no_max",))
def no_maximum(x, query_weight, key_weight, value_weight, out_weight, heads):
    q, k, v = (split(x @ w, heads) for w in (query_weight, key_weight, value_weight))
    e = np.exp(q @ k.mT / np.sqrt(q.shape[-1]))
    return merge(e / e.sum(-1, keepdims=True) @ v) @ out_weight


@wrong("mha", "one maximum for everything", named=("max_global",))
def one_maximum(x, query_weight, key_weight, value_weight, out_weight, heads):
    q, k, v = (split(x @ w, heads) for w in (query_weight, key_weight, value_weight))
    s = q @ k.mT / np.sqrt(q.shape[-1])
    e = np.exp(s - s.max())
    return merge(e / e.sum(-1, keepdims=True) @ v) @ out_weight


@wrong("mha", "the first batch element only", says=r"\(5, 19\); \(2, 5, 19\)")
def first_batch_element(x, query_weight, key_weight, value_weight, out_weight, heads):
    x = x[0]
    outs = [
        attend(x @ q, x @ k, x @ v)
        for q, k, v in zip(*(np.hsplit(w, heads) for w in (query_weight, key_weight, value_weight)))
    ]
    return np.hstack(outs) @ out_weight


@wrong("mha", "the batch is flattened: all tokens see all", named=("across_batch",))
def batch_flattened(x, query_weight, key_weight, value_weight, out_weight, heads):
    flat = x.reshape(1, -1, x.shape[-1])
    q, k, v = (split(flat @ w, heads) for w in (query_weight, key_weight, value_weight))
    return (merge(attend(q, k, v)) @ out_weight).reshape(x.shape[0], x.shape[1], -1)


@wrong("mha", "query and key change places", named=("swap",))
def query_and_key_swapped(x, query_weight, key_weight, value_weight, out_weight, heads):
    q, k, v = (split(x @ w, heads) for w in (key_weight, query_weight, value_weight))
    return merge(attend(q, k, v)) @ out_weight


@wrong("mha", "the weights turned round", named=("weights_T",))
def weights_turned(x, query_weight, key_weight, value_weight, out_weight, heads):
    q, k, v = (split(x @ w, heads) for w in (query_weight, key_weight, value_weight))
    p = softmax(q @ k.mT / np.sqrt(q.shape[-1]))
    return merge(p.mT @ v) @ out_weight


@wrong("mha", "a residual connection", named=("residual",))
def residual(x, query_weight, key_weight, value_weight, out_weight, heads):
    q, k, v = (split(x @ w, heads) for w in (query_weight, key_weight, value_weight))
    return x + merge(attend(q, k, v)) @ out_weight


@wrong("mha", "values from the tokens, not projected", says=r"cannot reshape array of size 190")
def values_not_projected(x, query_weight, key_weight, value_weight, out_weight, heads):
    q, k, v = split(x @ query_weight, heads), split(x @ key_weight, heads), split(x, heads)
    return merge(attend(q, k, v)) @ out_weight


@wrong("mha", "causal, as in a language model", named=("causal",))
def causal(x, query_weight, key_weight, value_weight, out_weight, heads):
    q, k, v = (split(x @ w, heads) for w in (query_weight, key_weight, value_weight))
    s = q @ k.mT / np.sqrt(q.shape[-1])
    s[..., ~np.tri(x.shape[1], dtype=bool)] = -np.inf
    return merge(softmax(s) @ v) @ out_weight
