"""Wrong answers to `mha_backward`, as readers may write them."""

import numpy as np

from . import wrong


def softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


def split(y, heads):
    b, n, width = y.shape
    return y.reshape(b, n, heads, width // heads).swapaxes(1, 2)


def merge(y):
    b, h, n, v = y.shape
    return y.swapaxes(1, 2).reshape(b, n, h * v)


def row_mean(p, dp):
    return (p * dp).sum(axis=-1, keepdims=True)


def backward(
    d_out, x, wq, wk, wv, wo, heads, *, ds=lambda p, dp: p * (dp - row_mean(p, dp)), split_back=split, merge_back=merge,
    scale=lambda d: (d**-0.5, d**-0.5), parts=lambda q, k, v: q + k + v,
    weight=lambda x, dy: np.einsum("bni,bno->io", x, dy), out_weight=None, dq=None, dk=None, dv=None, forward=softmax,
    through=lambda g, w: g @ w.T,
):  # fmt: skip
    """A right backward; each piece can be replaced by a wrong one."""
    q, k, v = split(x @ wq, heads), split(x @ wk, heads), split(x @ wv, heads)
    forwards, backwards = scale(q.shape[-1])
    p = forward(forwards * (q @ k.mT))
    merged = merge(p @ v)
    d_heads = split_back(through(d_out, wo), heads)
    d_scores = backwards * ds(p, d_heads @ v.mT)
    d_q = merge_back(dq(d_scores, k) if dq else d_scores @ k)
    d_k = merge_back(dk(d_scores, q) if dk else d_scores.mT @ q)
    d_v = merge_back(dv(p, d_heads) if dv else p.mT @ d_heads)
    d_x = parts(d_q @ wq.T, d_k @ wk.T, d_v @ wv.T)
    d_wo = (out_weight or weight)(merged, d_out)
    return d_x, weight(x, d_q), weight(x, d_k), weight(x, d_v), d_wo


@wrong("mha_backward", "the sigmoid rule", named=("sigmoid",))
def sigmoid_rule(*args):
    return backward(*args, ds=lambda p, dp: p * (1 - p) * dp)


@wrong("mha_backward", "the row mean is added", named=("plus",))
def row_mean_added(*args):
    return backward(*args, ds=lambda p, dp: p * (dp + row_mean(p, dp)))


@wrong("mha_backward", "the softmax's gradient with a minus", named=("sign",))
def minus(*args):
    return backward(*args, ds=lambda p, dp: p * (row_mean(p, dp) - dp))


@wrong("mha_backward", "the row mean outside of the bracket", named=("paren",))
def outside_of_the_bracket(*args):
    return backward(*args, ds=lambda p, dp: p * dp - row_mean(p, dp))


@wrong("mha_backward", "no row mean", named=("ds_no_rowsum",))
def no_row_mean(*args):
    return backward(*args, ds=lambda p, dp: np.einsum("bhqk,bhqk->bhqk", p, dp))


@wrong("mha_backward", "nothing for the softmax", named=("ds_is_dp",))
def no_softmax(*args):
    return backward(*args, ds=lambda p, dp: dp)


@wrong("mha_backward", "the plain sum of dP", named=("sum_plain",))
def plain_sum(*args):
    return backward(*args, ds=lambda p, dp: p * (dp - dp.sum(axis=-1, keepdims=True)))


@wrong("mha_backward", "the plain mean of dP", named=("mean_plain",))
def plain_mean(*args):
    return backward(*args, ds=lambda p, dp: p * (dp - dp.mean(-1)[..., None]))


@wrong("mha_backward", "the row mean along the queries", named=("mean_queries",))
def mean_along_queries(*args):
    return backward(*args, ds=lambda p, dp: p * (dp - (p * dp).sum(axis=-2, keepdims=True)))


@wrong("mha_backward", "the row mean over everything", named=("row_mean_everything",))
def mean_over_everything(*args):
    return backward(*args, ds=lambda p, dp: p * (dp - (p * dp).sum()))


@wrong("mha_backward", "keepdims forgotten in the row mean", says=r"\(2,3,5,5\) \(2,3,5\)")
def keepdims_forgotten(*args):
    return backward(*args, ds=lambda p, dp: p * (dp - (p * dp).sum(axis=-1)))


@wrong("mha_backward", "the scale in the backward is missing", named=("no_scale",))
def scale_forward_only(*args):
    return backward(*args, scale=lambda d: (1 / np.sqrt(d), 1.0))


@wrong("mha_backward", "the scale twice: 1 / d", named=("scale_twice",))
def scale_twice(*args):
    return backward(*args, scale=lambda d: (1 / np.sqrt(d), 1 / d))


@wrong("mha_backward", "the scale is missing in the forward", named=("scores_no_scale",))
def scale_backward_only(*args):
    return backward(*args, scale=lambda d: (1.0, d**-0.5))


@wrong("mha_backward", "no scale anywhere", named=("scores_no_scale", "no_scale"))
def no_scale_anywhere(*args):
    return backward(*args, scale=lambda d: (1.0, 1.0))


@wrong("mha_backward", "the root of the width of a token", named=("scale_model",))
def root_of_m(d_out, x, wq, wk, wv, wo, heads):
    m = x.shape[-1]
    return backward(d_out, x, wq, wk, wv, wo, heads, scale=lambda d: (m**-0.5, m**-0.5))


@wrong("mha_backward", "the scale for the queries only", named=("no_scale_dk",))
def scale_for_queries_only(*args):
    return backward(*args, dk=lambda ds, q: ds.mT @ q * np.sqrt(q.shape[-1]))


@wrong("mha_backward", "d_key from d_scores, not turned round", named=("dk_no_T",))
def d_key_not_turned(*args):
    return backward(*args, dk=lambda ds, q: ds @ q)


@wrong("mha_backward", "d_value from the weights, not turned round", named=("dv_no_T",))
def d_value_not_turned(*args):
    return backward(*args, dv=lambda p, g: p @ g)


@wrong("mha_backward", "d_query from queries, d_key from keys", named=("own_arrays",))
def query_meets_query(d_out, x, wq, wk, wv, wo, heads):
    q, k = split(x @ wq, heads), split(x @ wk, heads)
    return backward(d_out, x, wq, wk, wv, wo, heads, dq=lambda ds, _: ds @ q, dk=lambda ds, _: ds.mT @ k)


@wrong("mha_backward", "the mean over the batch", named=("dW_mean",))
def mean_over_batch(*args):
    return backward(*args, weight=lambda x, dy: (x.mT @ dy).mean(axis=0))


@wrong("mha_backward", "the mean over batch and positions", named=("dW_mean_all",))
def mean_over_positions(*args):
    return backward(*args, weight=lambda x, dy: np.einsum("bni,bno->io", x, dy) / (x.shape[0] * x.shape[1]))


@wrong("mha_backward", "no sum over the batch", named=("dW_keep_batch",))
def kept_batch(*args):
    return backward(*args, weight=lambda x, dy: np.swapaxes(x, 1, 2) @ dy)


@wrong("mha_backward", "dW assigned in a loop over the batch", named=("dW_last",))
def assigned_in_a_loop(*args):
    def weight(x, dy):
        for b in range(len(x)):
            dw = x[b].T @ dy[b]
        return dw

    return backward(*args, weight=weight)


@wrong("mha_backward", "the first batch element", named=("dW_first",))
def first_batch_element(*args):
    return backward(*args, weight=lambda x, dy: x[0].T @ dy[0])


@wrong("mha_backward", "dy^T x", named=("dW_T",))
def transposed_weights(*args):
    return backward(*args, weight=lambda x, dy: np.tensordot(dy, x, axes=([0, 1], [0, 1])))


@wrong("mha_backward", "flattened in another order: x to (m, b n)", named=())
def flattened_wrongly(*args):
    return backward(*args, weight=lambda x, dy: x.reshape(x.shape[-1], -1) @ dy.reshape(-1, dy.shape[-1]))


@wrong("mha_backward", "split by a reshape alone", named=("split_no_transpose",))
def split_by_reshape(*args):
    return backward(*args, split_back=lambda y, heads: y.reshape(len(y), heads, y.shape[1], -1))


@wrong("mha_backward", "merged by a reshape alone", named=("merge_no_transpose",))
def merged_by_reshape(*args):
    return backward(*args, merge_back=lambda y: y.reshape(y.shape[0], y.shape[2], -1))


@wrong("mha_backward", "merged with the heads last", named=("merge_interleaved",))
def merged_heads_last(*args):
    return backward(*args, merge_back=lambda y: np.moveaxis(y, 1, -1).reshape(y.shape[0], y.shape[2], -1))


@wrong("mha_backward", "d_x of the queries alone", named=("dx_q_only",))
def d_x_of_queries(*args):
    return backward(*args, parts=lambda q, k, v: q)


@wrong("mha_backward", "d_x of queries and keys", named=("dx_no_v",))
def d_x_without_values(*args):
    return backward(*args, parts=lambda q, k, v: q + k)


@wrong("mha_backward", "d_x is the mean of the three parts", says=r"d_x: every number is 3 times too small")
def d_x_mean(*args):
    return backward(*args, parts=lambda q, k, v: (q + k + v) / 3)


@wrong("mha_backward", "d_x is overwritten by the part of the keys", named=("dx_k_only",))
def d_x_of_keys(*args):
    return backward(*args, parts=lambda q, k, v: k)


@wrong("mha_backward", "d_x with d_out added, as behind a residual connection", named=("residual",))
def d_x_with_residual(d_out, *rest):
    return backward(d_out, *rest, parts=lambda q, k, v: q + k + v + d_out)


@wrong("mha_backward", "the three parts side by side", says=r"the shape is \(3, 2, 5, 19\)")
def parts_side_by_side(*args):
    return backward(*args, parts=lambda q, k, v: np.stack([q, k, v]))


@wrong("mha_backward", "x meets d_out in the out weight", named=("dWo_uses_x",))
def x_meets_d_out(d_out, x, wq, wk, wv, wo, heads):
    return backward(d_out, x, wq, wk, wv, wo, heads, out_weight=lambda merged, g: np.einsum("bni,bno->io", x, g))


@wrong("mha_backward", "the gradient of the out weight turned round", says=r"d_out_weight: .*the shape is")
def d_out_weight_turned(*args):
    return backward(*args, out_weight=lambda merged, g: (g.mT @ merged).sum(axis=0))


@wrong("mha_backward", "the gradients in another order: d_x last", says=r"order of the outputs")
def d_x_last(*args):
    d_x, *d_weights = backward(*args)
    return *d_weights, d_x


@wrong("mha_backward", "d_out_weight before the others", says=r"order of the outputs")
def out_weight_first(*args):
    d_x, q, k, v, o = backward(*args)
    return d_x, o, q, k, v


@wrong("mha_backward", "queries and keys have each other's gradient", named=("swap",))
def swapped(*args):
    d_x, q, k, v, o = backward(*args)
    return d_x, k, q, v, o


@wrong("mha_backward", "queries and values have each other's gradient", says=r"order of the outputs")
def swapped_with_values(*args):
    d_x, q, k, v, o = backward(*args)
    return d_x, v, k, q, o


@wrong("mha_backward", "no maximum in the softmax", named=("no_max",))
def no_maximum(*args):
    return backward(*args, forward=lambda s: np.exp(s) / np.exp(s).sum(axis=-1, keepdims=True))


@wrong("mha_backward", "one maximum for everything", named=("no_max",))
def one_maximum(*args):
    def softmax_with_one(s):
        e = np.exp(s - s.max())
        return e / e.sum(axis=-1, keepdims=True)

    return backward(*args, forward=softmax_with_one)


@wrong("mha_backward", "the softmax over the heads", named=("softmax_heads",))
def softmax_over_heads(*args):
    return backward(*args, forward=lambda s: softmax(s, axis=1))


@wrong("mha_backward", "the out weight is not turned round", named=("no_WoT",))
def out_weight_not_turned(*args):
    return backward(*args, through=lambda g, w: g @ w)


@wrong("mha_backward", "the out weight is left out on the way back", says=r"cannot reshape array of size 190")
def out_weight_left_out(*args):
    return backward(*args, through=lambda g, w: g)


@wrong("mha_backward", "a loop over heads that assigns d_x", named=("dx_last_head",))
def loop_that_assigns(d_out, x, wq, wk, wv, wo, heads):
    d, dv = wq.shape[1] // heads, wv.shape[1] // heads
    gq, gk, gv, go = (np.zeros(w.shape) for w in (wq, wk, wv, wo))
    for h in range(heads):
        a, c = slice(h * d, (h + 1) * d), slice(h * dv, (h + 1) * dv)
        q, k, v = x @ wq[:, a], x @ wk[:, a], x @ wv[:, c]
        p = softmax(q @ k.mT / np.sqrt(d))
        g = d_out @ wo[c].T
        dp = g @ v.mT
        ds = p * (dp - row_mean(p, dp)) / np.sqrt(d)
        d_q, d_k, d_v = ds @ k, ds.mT @ q, p.mT @ g
        gq[:, a], gk[:, a], gv[:, c] = ((x.mT @ y).sum(0) for y in (d_q, d_k, d_v))
        go[c] = ((p @ v).mT @ d_out).sum(0)
        d_x = d_q @ wq[:, a].T + d_k @ wk[:, a].T + d_v @ wv[:, c].T
    return d_x, gq, gk, gv, go


@wrong("mha_backward", "the forward projections are missing: x in place of query, key and value")
def x_for_query_and_key(d_out, x, wq, wk, wv, wo, heads):
    p = softmax(x @ x.mT / np.sqrt(x.shape[-1]))
    d_merged = d_out @ wo.T
    d_p = d_merged @ (x @ wv).mT
    d_s = p * (d_p - row_mean(p, d_p)) / np.sqrt(x.shape[-1])
    d_q, d_k, d_v = d_s @ (x @ wk), d_s.mT @ (x @ wq), p.mT @ d_merged
    d_x = d_q @ wq.T + d_k @ wk.T + d_v @ wv.T
    return d_x, *((x.mT @ y).sum(0) for y in (d_q, d_k, d_v)), ((p @ (x @ wv)).mT @ d_out).sum(0)
