"""Wrong answers to `softmax_backward` and `temperature_gradient`."""

import numpy as np

from . import wrong
from .parts import softmax, softmax_grad

# --- softmax_backward -----------------------------------------------------------------------------

ID = "softmax_backward"

wrong(ID, "einsum sums the row and drops its axis", named=("sum_no_keepdims",))(
    lambda d_weights, weights: weights * (d_weights - np.einsum("...i,...i->...", weights, d_weights))
)


@wrong(ID, "the Jacobian times d, entry by entry, summed over its rows", says=r"every number is 0|all numbers are 0|0 everywhere")
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

wrong(ID, "the sum of the weights taken off")(
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


@wrong(ID, "a Jacobian whose outer product repeats p_i")
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

wrong(ID, "the largest in the place of the mean")(
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


wrong(ID, "weights squared in the mean")(
    lambda d_weights, weights: weights * (d_weights - (d_weights * weights**2).sum(-1, keepdims=True))
)

wrong(ID, "the mean of the row taken off at the end", named=("mean", "no_bracket"))(
    lambda d_weights, weights: weights * d_weights - (weights * d_weights).mean(-1, keepdims=True)
)

# --- temperature_gradient -------------------------------------------------------------------------

ID = "temperature_gradient"


@wrong(ID, "row by row, the minus forgotten", named=("sign",))
def _(d_weights, scores, temperature):
    total = 0.0
    for where in np.ndindex(scores.shape[:-1]):
        p = softmax(scores[where] / temperature)
        d = softmax_grad(d_weights[where], p)
        total += np.dot(d, scores[where]) / temperature**2
    return total


@wrong(ID, "through d_scores, one 1/T forgotten", named=("no_square",))
def _(d_weights, scores, temperature):
    p = softmax(scores / temperature)
    d_scores = softmax_grad(d_weights, p) / temperature
    return -np.sum(d_scores * scores)


@wrong(ID, "scaled scores and 1/T^2", named=("scaled_twice",))
def _(d_weights, scores, temperature):
    y = scores / temperature
    d_y = softmax_grad(d_weights, softmax(y))
    return -np.vdot(d_y, y) * temperature**-2


wrong(ID, "a where in the place of the shift", named=("no_max",))(
    lambda d_weights, scores, temperature: (
        lambda e: -np.sum(softmax_grad(d_weights, e / e.sum(-1, keepdims=True)) * scores) / temperature**2
    )(np.where(scores / temperature > 700, np.exp(700.0), np.exp(scores / temperature)))
)

wrong(ID, "a gradient for each row", named=("per_row",))(
    lambda d_weights, scores, temperature: -np.einsum(
        "...k,...k->...", softmax_grad(d_weights, softmax(scores / temperature)), scores
    )
    / temperature**2
)

wrong(ID, "summed over axis 0 only", says=r"the shape is")(
    lambda d_weights, scores, temperature: -(
        softmax_grad(d_weights, softmax(scores / temperature)) * scores / temperature**2
    ).sum(axis=0)
)


@wrong(ID, "softmax over axis 0", named=("axis_0",))
def _(d_weights, scores, temperature):
    p = softmax(scores / temperature, axis=0)
    d = p * (d_weights - (p * d_weights).sum(axis=0, keepdims=True))
    return -(d * scores).sum() / temperature**2


@wrong(ID, "one softmax over everything", named=("axis_all",))
def _(d_weights, scores, temperature):
    p = softmax(scores.ravel() / temperature)
    d = p * (d_weights.ravel() - np.dot(p, d_weights.ravel()))
    return -np.dot(d, scores.ravel()) / temperature**2


wrong(ID, "an array with one number", says=r"size 1 is too many|bare number|the shape is \(1,\)")(
    lambda d_weights, scores, temperature: np.array(
        [-(softmax_grad(d_weights, softmax(scores / temperature)) * scores).sum() / temperature**2]
    )
)


@wrong(ID, "a forward difference", says=r"digits only")
def _(d_weights, scores, temperature):
    def loss(t):
        return (d_weights * softmax(scores / t)).sum()

    return (loss(temperature + 1e-4) - loss(temperature)) / 1e-4


@wrong(ID, "a difference in 1/T", named=("as_factor",))
def _(d_weights, scores, temperature):
    beta, eps = 1 / temperature, 1e-6

    def loss(b):
        return (d_weights * softmax(b * (scores - scores.max(-1, keepdims=True)))).sum()

    return (loss(beta + eps) - loss(beta - eps)) / (2 * eps)


wrong(ID, "divided by the size of the batch", says=r"too small")(
    lambda d_weights, scores, temperature: -(
        softmax_grad(d_weights, softmax(scores / temperature)) * scores
    ).sum() / temperature**2 / (len(scores) if scores.ndim > 1 else 1)
)


@wrong(ID, "the product rule stops at the weights", named=("no_mean",))
def _(d_weights, scores, temperature):
    weights = softmax(scores / temperature)
    grad = 0
    for d, p, x in zip(d_weights.flat, weights.flat, scores.flat):
        grad -= d * p * x / temperature / temperature
    return grad


wrong(ID, "a temperature that multiplies", named=("multiplied",))(
    lambda d_weights, scores, temperature: -np.sum(softmax_grad(d_weights, softmax(temperature * scores)) * scores)
    * (1 / temperature) ** 2
)

wrong(ID, "a temperature that multiplies, differentiated as such", named=("multiplied", "as_factor"))(
    lambda d_weights, scores, temperature: np.sum(softmax_grad(d_weights, softmax(temperature * scores)) * scores)
)

wrong(ID, "weights in the place of scores")(
    lambda d_weights, scores, temperature: -(
        softmax_grad(d_weights, softmax(scores / temperature)) * softmax(scores / temperature)
    ).sum() / temperature**2
)

wrong(ID, "T squared inside the softmax")(
    lambda d_weights, scores, temperature: -(
        softmax_grad(d_weights, softmax(scores / temperature**2)) * scores
    ).sum() / temperature**2
)

wrong(ID, "-1/T^2 as the slope of every score", named=("no_scores",))(
    lambda d_weights, scores, temperature: (
        softmax_grad(d_weights, softmax(scores / temperature)) * (-1 / temperature**2)
    ).sum()
)

wrong(ID, "not summed", says=r"the shape is")(
    lambda d_weights, scores, temperature: -softmax_grad(d_weights, softmax(scores / temperature)) * scores / temperature**2
)

wrong(ID, "a covariance with plain means")(
    lambda d_weights, scores, temperature: -(
        softmax(scores / temperature)
        * (d_weights - d_weights.mean(-1, keepdims=True))
        * (scores - scores.mean(-1, keepdims=True))
    ).sum()
    / temperature**2
)


@wrong(ID, "a covariance, its minus forgotten", named=("sign",))
def _(d_weights, scores, temperature):
    p = softmax(scores / temperature)
    eg = (p * d_weights).sum(-1)
    ex = (p * scores).sum(-1)
    egx = (p * d_weights * scores).sum(-1)
    return (egx - eg * ex).sum() / temperature**2


@wrong(ID, "np.cov of gradient and scores")
def _(d_weights, scores, temperature):
    rows = zip(d_weights.reshape(-1, d_weights.shape[-1]), scores.reshape(-1, scores.shape[-1]))
    return -sum(np.cov(g, x, bias=True)[0, 1] for g, x in rows) / temperature**2


@wrong(ID, "a loop that keeps the last row", named=("last_row",))
def _(d_weights, scores, temperature):
    for where in np.ndindex(scores.shape[:-1]):
        p = softmax(scores[where] / temperature)
        grad = -softmax_grad(d_weights[where], p) @ scores[where] / temperature**2
    return grad


@wrong(ID, "a loop over axis 0, taken for the rows")
def _(d_weights, scores, temperature):
    if scores.ndim == 1:
        d_weights, scores = d_weights[None], scores[None]
    total = 0
    for g, x in zip(d_weights, scores):
        e = np.exp((x - x.max()) / temperature)
        p = e / e.sum()
        total -= (p * (g - (p * g).sum()) * x).sum() / temperature**2
    return total


wrong(ID, "single precision", says=r"float32")(
    lambda d_weights, scores, temperature: np.float32(
        -np.sum(softmax_grad(d_weights, softmax(scores / temperature)) * scores) / temperature**2
    )
)

wrong(ID, "rounded to two places", says=r"rounded|digits only")(
    lambda d_weights, scores, temperature: round(
        float(-np.sum(softmax_grad(d_weights, softmax(scores / temperature)) * scores) / temperature**2), 4
    )
)


@wrong(ID, "printed, not returned", says=r"did you forget `return`")
def _(d_weights, scores, temperature):
    p = softmax(scores / temperature)
    print(-(softmax_grad(d_weights, p) * scores).sum() / temperature**2)


@wrong(ID, "the exponentials differentiated, the sum below not")
def _(d_weights, scores, temperature):
    e = np.exp(scores / temperature)
    return -np.sum(d_weights * e * scores) / temperature**2


wrong(ID, "the temperature's gradient and the scores'", says=r"returns 2 things")(
    lambda d_weights, scores, temperature: (
        -(softmax_grad(d_weights, softmax(scores / temperature)) * scores).sum() / temperature**2,
        softmax_grad(d_weights, softmax(scores / temperature)) / temperature,
    )
)

wrong(ID, "the weights' loss, not its gradient")(
    lambda d_weights, scores, temperature: (d_weights * softmax(scores / temperature)).sum()
)

wrong(ID, "a mean for the sum, at the end", named=("mean_of_all",))(
    lambda d_weights, scores, temperature: np.average(
        -softmax_grad(d_weights, softmax(scores / temperature)) * scores / temperature**2
    )
)

wrong(ID, "the diagonal only and no scores", named=("sigmoid", "no_scores"))(
    lambda d_weights, scores, temperature: -(
        d_weights * softmax(scores / temperature) * (1 - softmax(scores / temperature))
    ).sum() / temperature**2
)

wrong(ID, "always downhill: the absolute value", says=r"case \"one row\": exactly minus")(
    lambda d_weights, scores, temperature: abs(
        (softmax_grad(d_weights, softmax(scores / temperature)) * scores).sum() / temperature**2
    )
)

wrong(ID, "weights at T = 1, the factor at T", named=("at_one",))(
    lambda d_weights, scores, temperature: -np.tensordot(
        softmax_grad(d_weights, softmax(scores)), scores, axes=scores.ndim
    ) / np.square(temperature)
)

wrong(ID, "zeros taken for hidden scores", says=r"case \"zeros among the scores\"")(
    lambda d_weights, scores, temperature: (
        lambda x: -np.nansum(
            softmax_grad(d_weights, softmax(np.where(x == 0, -1e9, x) / temperature)) * scores
        ) / temperature**2
    )(scores)
)
