"""Wrong answers to `softmax_backward`."""

import numpy as np

from . import wrong
from .parts import softmax, softmax_grad

ID = "softmax_backward"

wrong(ID, "einsum sums the row and drops its axis", named=("sum_no_keepdims",))(
    lambda d_weights, weights: weights * (d_weights - np.einsum("...i,...i->...", weights, d_weights))
)


@wrong(ID, "the Jacobian times d, entry by entry, summed over its rows",
    says=r"every number is 0|all numbers are 0|0 everywhere")
def _(d_weights, weights):
    out = np.zeros(weights.shape)
    for where in np.ndindex(weights.shape[:-1]):
        p, d = weights[where], d_weights[where]
        jacobian = np.diag(p) - np.outer(p, p)
        out[where] = (jacobian * d).sum(axis=0)
    return out


@wrong(ID, "a Jacobian with plus", named=("plus",))
def _(d_weights, weights):
    out = np.zeros(weights.shape)
    for where in np.ndindex(weights.shape[:-1]):
        p = weights[where]
        out[where] = (np.diag(p) + np.outer(p, p)) @ d_weights[where]
    return out


@wrong(ID, "a Jacobian without its diagonal", named=("no_diagonal",))
def _(d_weights, weights):
    outer = -weights[..., :, None] * weights[..., None, :]
    return np.squeeze(outer @ d_weights[..., None], -1)


wrong(ID, "the Jacobian of one row, for matrices", says=r"stops with ValueError")(
    lambda d_weights, weights: (np.diag(weights) - np.outer(weights, weights)) @ d_weights
)


@wrong(ID, "only what stands on the diagonal", named=("sigmoid",))
def _(d_weights, weights):
    i = np.arange(weights.shape[-1])
    jacobian = np.zeros((*weights.shape, weights.shape[-1]))
    jacobian[..., i, i] = weights - weights**2
    return (jacobian @ d_weights[..., None])[..., 0]


wrong(ID, "one minus the weight, the weight itself forgotten")(lambda d_weights, weights: (1 - weights) * d_weights)


@wrong(ID, "weight and gradient exchanged outside the bracket", named=("swapped",))
def _(d_weights, weights):
    row_sum = np.sum(weights * d_weights, -1)[..., np.newaxis]
    return d_weights * (weights - row_sum)


wrong(ID, "the weight multiplied into the mean only", named=("weight_on_mean",))(
    lambda d_weights, weights: d_weights - weights * (d_weights * weights).sum(-1, keepdims=True)
)

wrong(ID, "multiplied out, without the weight before the sum", named=("no_bracket",))(
    lambda d_weights, weights: weights * d_weights - np.vecdot(weights, d_weights)[..., None]
)

wrong(ID, "multiplied out, the sum not weighted", named=("rowsum_dy",))(
    lambda d_weights, weights: weights * d_weights - weights * d_weights.sum(axis=-1)[..., None]
)

wrong(ID, "the sum of the weights taken off", named=("sum_of_weights",))(
    lambda d_weights, weights: weights * (d_weights - weights.sum(axis=-1, keepdims=True))
)


@wrong(ID, "weights put through the softmax again", named=("softmax_again",))
def _(d_weights, weights):
    p = softmax(weights)
    return p * (d_weights - (d_weights * p).sum(-1, keepdims=True))


@wrong(ID, "arguments read in the other order", named=("swapped",))
def _(d_weights, weights):
    p, dp = d_weights, weights
    s = (p * dp).sum(axis=-1, keepdims=True)
    return p * dp - p * s


@wrong(ID, "axis 1, as for a matrix", named=("axis_1",))
def _(d_weights, weights):
    if weights.ndim == 1:
        return softmax_grad(d_weights, weights)
    return weights * (d_weights - (d_weights * weights).sum(axis=1, keepdims=True))


@wrong(ID, "a loop over axis 0, taken for the rows", named=("rows_of_axis_0",))
def _(d_weights, weights):
    if weights.ndim == 1:
        return weights * (d_weights - d_weights @ weights)
    return np.array([p * (d - (d * p).sum()) for d, p in zip(d_weights, weights)])


wrong(ID, "mean minus gradient", named=("sign",))(
    lambda d_weights, weights: weights * ((weights * d_weights).sum(-1, keepdims=True) - d_weights)
)

wrong(ID, "normalised again by the row", named=("renormalised",))(
    lambda d_weights, weights: weights * d_weights / (weights * d_weights).sum(-1, keepdims=True)
)


@wrong(ID, "the plain average of the products", named=("mean",))
def _(d_weights, weights):
    k = weights.shape[-1]
    product = d_weights * weights
    return weights * (d_weights - product.sum(-1, keepdims=True) / k)


wrong(ID, "the gradient of log-softmax", named=("log_softmax",))(
    lambda d_weights, weights: d_weights - weights * d_weights.sum(axis=-1, keepdims=True)
)

wrong(ID, "cross-entropy, averaged over the rows")(
    lambda d_weights, weights: (weights - d_weights) / max(1, weights[..., 0].size)
)

wrong(ID, "squeezed", says=r"an axis of size 1 is missing")(
    lambda d_weights, weights: softmax_grad(d_weights, weights).squeeze()
)

wrong(ID, "half precision on the way", says=r"digits only")(
    lambda d_weights, weights: softmax_grad(d_weights.astype("float16").astype(float), weights)
)

wrong(ID, "float32 arrays to save memory", says=r"float32")(
    lambda d_weights, weights: softmax_grad(np.float32(d_weights), np.float32(weights)).astype(float)
)


@wrong(ID, "minus-equals on the argument", says=r"changes its input d_weights|changed its input")
def _(d_weights, weights):
    d_weights -= (d_weights * weights).sum(axis=-1, keepdims=True)
    return weights * d_weights


@wrong(ID, "a Jacobian whose outer product repeats p_i", named=("outer_repeats",))
def _(d_weights, weights):
    column = weights[..., :, None]
    jacobian = column * (np.eye(weights.shape[-1]) - column)
    return np.einsum("...i,...ij->...j", d_weights, jacobian)


@wrong(ID, "recursion down to the rows, a plain sum there", named=("rowsum_dy",))
def _(d_weights, weights):
    def back(d, p):
        if p.ndim > 1:
            return np.array([back(a, b) for a, b in zip(d, p)])
        total = sum(d)
        return np.array([b * (a - total) for a, b in zip(d, p)])

    return back(d_weights, weights)


wrong(ID, "np.vdot, one number for all rows", named=("axis_all",))(
    lambda d_weights, weights: weights * (d_weights - np.vdot(weights, d_weights))
)

wrong(ID, "np.dot for the row sums")(lambda d_weights, weights: weights * (d_weights - np.dot(d_weights, weights.T)))

wrong(ID, "gradient and row sums", says=r"returns 2 things")(
    lambda d_weights, weights: (softmax_grad(d_weights, weights), (d_weights * weights).sum(-1))
)

wrong(ID, "a new axis in the place of a matrix's", says=r"broadcast")(
    lambda d_weights, weights: weights * (d_weights - (d_weights * weights).sum(-1)[:, None])
)

wrong(ID, "the largest in the place of the mean", named=("largest",))(
    lambda d_weights, weights: weights * (d_weights - d_weights.max(-1, keepdims=True))
)


@wrong(ID, "the product used again inside the bracket", named=("product_reused",))
def _(d_weights, weights):
    g = d_weights * weights
    g = weights * (g - g.sum(axis=-1, keepdims=True))
    return g


@wrong(ID, "cross terms added where they are subtracted, in loops", named=("plus",))
def _(d_weights, weights):
    flat_d, flat_p = d_weights.reshape(-1, d_weights.shape[-1]), weights.reshape(-1, weights.shape[-1])
    out = np.zeros_like(flat_p)
    for r, (d, p) in enumerate(zip(flat_d, flat_p)):
        for j in range(len(p)):
            out[r, j] += d[j] * p[j]
            for i in range(len(p)):
                out[r, j] += d[i] * p[i] * p[j]
    return out.reshape(weights.shape)


@wrong(ID, "cross terms for i unlike j only")
def _(d_weights, weights):
    k = weights.shape[-1]
    off = 1 - np.eye(k)
    cross = (weights[..., :, None] * weights[..., None, :] * off * d_weights[..., :, None]).sum(-2)
    return weights * d_weights - cross


wrong(ID, "weights squared in the mean", named=("weights_squared",))(
    lambda d_weights, weights: weights * (d_weights - (d_weights * weights**2).sum(-1, keepdims=True))
)

wrong(ID, "the mean of the row taken off at the end", named=("mean", "no_bracket"))(
    lambda d_weights, weights: weights * d_weights - (weights * d_weights).mean(-1, keepdims=True)
)
