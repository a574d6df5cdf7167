"""Wrong answers to `temperature_gradient`."""

import numpy as np

from . import wrong
from .parts import softmax, softmax_grad

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


wrong(ID, "divided by the size of the batch", named=("mean_of_batch",), says=r"too small")(
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

wrong(ID, "weights in the place of scores", named=("weights_for_scores",))(
    lambda d_weights, scores, temperature: -(
        softmax_grad(d_weights, softmax(scores / temperature)) * softmax(scores / temperature)
    ).sum() / temperature**2
)

wrong(ID, "T squared inside the softmax", named=("square_inside",))(
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
    lambda d_weights, scores, temperature: -softmax_grad(d_weights,
        softmax(scores / temperature)) * scores / temperature**2
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


@wrong(ID, "np.cov of gradient and scores", named=("covariance_plain",))
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


@wrong(ID, "the exponentials differentiated, the sum below not", named=("no_division",))
def _(d_weights, scores, temperature):
    e = np.exp(scores / temperature)
    return -np.sum(d_weights * e * scores) / temperature**2


wrong(ID, "the temperature's gradient and the scores'", says=r"returns 2 things")(
    lambda d_weights, scores, temperature: (
        -(softmax_grad(d_weights, softmax(scores / temperature)) * scores).sum() / temperature**2,
        softmax_grad(d_weights, softmax(scores / temperature)) / temperature,
    )
)

wrong(ID, "the weights' loss, not its gradient", named=("loss_itself",))(
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
