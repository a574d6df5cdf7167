"""Wrong answers to `additive_backward`."""

import numpy as np

from . import wrong
from .parts import softmax, softmax_grad

ID = "additive_backward"


def whole(
    d_out, query, key, value, w,
    through=softmax_grad, slope=lambda t, z: 1 - t**2, gather=None, for_w=None, forward=None, axis=-1,
):  # fmt: skip
    """The right answer with one step exchanged."""
    z = query[..., :, None, :] + key[..., None, :, :]
    t = np.tanh(z)
    P = softmax(t @ w if forward is None else forward(t, w, z), axis=axis)
    dS = through(d_out @ value.mT, P)
    dz = dS[..., None] * w * slope(t, z)
    dq, dk = (dz.sum(-2), dz.sum(-3)) if gather is None else gather(dz, query, key, dS)
    dw = np.tensordot(dS, t, axes=dS.ndim) if for_w is None else for_w(dS, t, z, P)
    return dq, dk, P.mT @ d_out, dw


def step(what, told=None, **exchanged):
    wrong(ID, what, **(told or {}))(lambda d_out, query, key, value, w: whole(d_out, query, key, value, w, **exchanged))


def named(*ids):
    return {"named": ids}


def says(text):
    return {"says": text}


# through the softmax
step("the row mean added", named("plus"), through=lambda dP, P: P * (dP + (P * dP).sum(-1, keepdims=True)))
step("the row mean outside", named("no_bracket"), through=lambda dP, P: P * dP - (P * dP).sum(-1, keepdims=True))
step("row mean minus gradient", named("sign"), through=lambda dP, P: -softmax_grad(dP, P))
step("a plain sum", named("D_plain"), through=lambda dP, P: P * (dP - dP.sum(-1, keepdims=True)))
step("a plain mean", named("mean_plain"), through=lambda dP, P: P * (dP - dP.mean(-1, keepdims=True)))
step("the weight forgotten", named("no_outer"), through=lambda dP, P: dP - (P * dP).sum(-1, keepdims=True))
step("the sum over the queries", named("D_axis"), through=lambda dP, P: P * (dP - (P * dP).sum(-2, keepdims=True)))
step("the sum without its axis", named("no_keepdims"), through=lambda dP, P: P * (dP - (P * dP).sum(-1)))
step("the arguments exchanged", named("swapped"), through=lambda dP, P: softmax_grad(P, dP))
step("the gradient of log-softmax", named=("log_softmax",), through=lambda dP, P: dP - P * dP.sum(-1, keepdims=True))

# the slope
step("the slope of the slope: tanh twice", named("tanh_twice"), slope=lambda t, z: 1 - np.tanh(t) ** 2)
step("1 + t squared", named("tanh_plus"), slope=lambda t, z: 1 + t**2)
step("t squared minus 1", says(r"d_query: .*exactly minus"), slope=lambda t, z: t**2 - 1)
step("1 / cosh, not squared", named("tanh_root"), slope=lambda t, z: 1 / np.cosh(z))
step("the slope of arctan", named("arctan_of_sum"), slope=lambda t, z: 1 / (1 + z**2))
step("the root of 1 - t^2", named("tanh_root"), slope=lambda t, z: np.sqrt(1 - t * t))
step("the tanh itself", named("tanh_itself"), slope=lambda t, z: t)
step("the slope of a logistic function at z", named("logistic_slope"), slope=lambda t, z: 1 / (1 + np.exp(-z)) * (1 - 1 / (1 + np.exp(-z))))
step("a sigmoid's rule with t", named("tanh_sigmoid"), slope=lambda t, z: t - t**2)
step("minus z squared", named("tanh_unbent"), slope=lambda t, z: (1 - z) * (1 + z))

# back to query and key
step("summed over the wrong axes", named("swap"), gather=lambda dz, q, k, dS: (dz.sum(-3), dz.sum(-2)))
step("means", named("mean"), gather=lambda dz, q, k, dS: (dz.sum(-2) / dz.shape[-2], dz.sum(-3) / dz.shape[-3]))
step("axes 1 and 2", says(r"d_query: .*the shape|out of bounds|stops with"),
    gather=lambda dz, q, k, dS: (dz.sum(2), dz.sum(1)))
step("axes kept", says(r"d_query: .*the shape"),
    gather=lambda dz, q, k, dS: (dz.sum(-2, keepdims=True), dz.sum(-3, keepdims=True)))
step("not summed", says(r"d_query: .*the shape"), gather=lambda dz, q, k, dS: (dz, dz))
step("the other one multiplied in", named("as_product"), gather=lambda dz, q, k, dS: (
    (dz * k[..., None, :, :]).sum(-2), (dz * q[..., :, None, :]).sum(-3)))  # fmt: skip
step("the same for both", gather=lambda dz, q, k, dS: (dz.sum(-2), np.resize(dz.sum(-2), k.shape)))
step("key's gradient minus query's", named("key_sign"), gather=lambda dz, q, k, dS: (dz.sum(-2), -dz.sum(-3)))
step("as in dot-product attention", named("dot_product"),
    gather=lambda dz, q, k, dS: (dS @ k, np.swapaxes(dS, -1, -2) @ q))
step("dot products with the root of d", named("dot_product_scaled"), gather=lambda dz, q, k, dS: (
    dS @ k / np.sqrt(k.shape[-1]), dS.mT @ q / np.sqrt(k.shape[-1])))  # fmt: skip
step("d_query right, d_key a maximum", gather=lambda dz, q, k, dS: (dz.sum(-2), dz.max(-3)))

# w
step("the mean over the batch", says(r"d_w: .*too small"),
    for_w=lambda dS, t, z, P: np.tensordot(dS, t, axes=dS.ndim) / (
    len(dS) if dS.ndim > 2 else 1))  # fmt: skip
step("one w for each query", says(r"d_w: .*the shape"), for_w=lambda dS, t, z, P: (dS[..., None] * t).sum(-2))
step("summed over everything", says(r"d_w: .*the shape"), for_w=lambda dS, t, z, P: (dS[..., None] * t).sum())
step("a column", says(r"d_w: .*the shape .*size 1"),
    for_w=lambda dS, t, z, P: np.tensordot(dS, t, axes=dS.ndim)[:, None])
step("w's gradient from the weights", named("dw_weights"), for_w=lambda dS, t, z, P: np.tensordot(P, t, axes=P.ndim))
step("w's gradient from the sums", named("dw_unbent"),
    for_w=lambda dS, t, z, P: (dS[..., None] * z).reshape(-1, z.shape[-1]).sum(0))
step("tanh's slope in d_w too", named("dw_slope"), for_w=lambda dS, t, z, P: np.tensordot(dS, 1 - t**2, axes=dS.ndim))
step("the batch kept, by einsum", named("dw_batch"), for_w=lambda dS, t, z, P: np.einsum("...qk,...qkd->...d", dS, t))
step("the last batch element", named=("dw_last",),
    for_w=lambda dS, t, z, P: np.einsum("qk,qkd->d", *(a.reshape(-1, *a.shape[n:])[-1] for a, n in (
    (dS, dS.ndim - 2), (t, t.ndim - 3)))))  # fmt: skip

# the whole
step("tanh outside the sum with w", named("tanh_outside"), forward=lambda t, w, z: np.tanh(z @ w))
step("no tanh in the forward pass", named("forward_unbent"), forward=lambda t, w, z: z @ w)
step("the root of d in the forward pass", named("forward_scaled"), forward=lambda t, w, z: t @ w * w.size**-0.5)
step("softmax over the queries", named("forward_axis_q"), axis=-2)
step("weights rounded", says(r"digits only"), through=lambda dP, P: softmax_grad(dP, P.round(4)))


@wrong(ID, "loops over queries and keys that overwrite")
def _(d_out, query, key, value, w):
    dq, dk, dv, dw = whole(d_out, query, key, value, w)
    z = query[..., :, None, :] + key[..., None, :, :]
    P = softmax(np.tanh(z) @ w)
    dS = softmax_grad(d_out @ value.mT, P)
    for j in range(key.shape[-2]):
        dq = dS[..., :, j, None] * w * (1 - np.tanh(z[..., :, j, :]) ** 2)
    return dq, dk, dv, dw


@wrong(ID, "broadcast without new axes", says=r"broadcast")
def _(d_out, query, key, value, w):
    t = np.tanh(query + key)
    P = softmax(t * w)
    dS = softmax_grad(d_out @ value.mT, P)
    return dS @ key, dS.mT @ query, P.mT @ d_out, (dS * t).sum(0)


wrong(ID, "the gradient of w forgotten", says=r"returns 3 things")(
    lambda d_out, query, key, value, w: whole(d_out, query, key, value, w)[:3]
)
wrong(ID, "w's gradient first", says=r"d_query: .*the shape|order of the outputs")(
    lambda d_out, query, key, value, w: whole(d_out, query, key, value, w)[::-1]
)
wrong(ID, "single precision", says=r"float32")(lambda *args: whole(*(np.asarray(a, dtype="f") for a in args)))
wrong(ID, "ones for the upstream gradient", named=("no_upstream",))(
    lambda d_out, query, key, value, w: whole(np.ones_like(d_out), query, key, value, w)
)
wrong(ID, "d_value not transposed", named=("dv_no_T",))(
    lambda d_out, query, key, value, w: (
        *whole(d_out, query, key, value, w)[:2],
        softmax(np.tanh(query[..., :, None, :] + key[..., None, :, :]) @ w) @ d_out,
        whole(d_out, query, key, value, w)[3],
    )
)


@wrong(ID, "a forward difference for w", says=r"d_w: .*right to about \d digits only")
def _(d_out, query, key, value, w):
    def loss(v):
        return (d_out * (softmax(np.tanh(query[..., :, None, :] + key[..., None, :, :]) @ v) @ value)).sum()

    eps = 1e-5
    dw = np.array([(loss(w + eps * e) - loss(w)) / eps for e in np.eye(len(w))])
    return *whole(d_out, query, key, value, w)[:3], dw
