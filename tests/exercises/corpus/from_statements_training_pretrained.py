"""A fourth corpus, written from the statements alone, before anything was mended: chapters 12 and 13."""

import numpy as np

from . import wrong


def adam(gradients, b1, b2, eps, *, t=None, square=lambda g: g * g, corr=(True, True), inside=False, swap=False, start0=False):
    m, s = np.zeros(gradients.shape[1]), np.zeros(gradients.shape[1])
    for g in gradients:
        m = b1 * m + (1 - b1) * g if not swap else (1 - b1) * m + b1 * g
        s = b2 * s + (1 - b2) * square(g)
    n = len(gradients) if t is None else t
    if corr[0]:
        m = m / (1 - b1**n)
    if corr[1]:
        s = s / (1 - b2**n)
    return m / (np.sqrt(s + eps) if inside else np.sqrt(s) + eps)


# --- cross_entropy_backward ------------------------------------------------------------------------


@wrong("cross_entropy_backward", "mean over all positions", named=("all_positions",))
def _(weights, targets, keep):
    right_ = np.eye(weights.shape[-1])[targets]
    return (weights - right_) * keep[..., None] / keep.size


@wrong("cross_entropy_backward", "no mean", named=("sum",))
def _(weights, targets, keep):
    right_ = np.eye(weights.shape[-1])[targets]
    return (weights - right_) * keep[..., None]


@wrong("cross_entropy_backward", "keep not used", named=("all_positions", "no_keep"))
def _(weights, targets, keep):
    right_ = np.eye(weights.shape[-1])[targets]
    return (weights - right_) / targets.size


@wrong("cross_entropy_backward", "mean for each text", named=("mean_of_texts",))
def _(weights, targets, keep):
    right_ = np.eye(weights.shape[-1])[targets]
    return (weights - right_) * keep[..., None] / np.maximum(keep.sum(1), 1)[:, None, None] / len(keep)


@wrong("cross_entropy_backward", "divides by the number of texts", named=("batch",))
def _(weights, targets, keep):
    right_ = np.eye(weights.shape[-1])[targets]
    return (weights - right_) * keep[..., None] / len(targets)


@wrong("cross_entropy_backward", "only positions where kept lose the one, hidden ones keep the weights", named=("keep_right_only",))
def _(weights, targets, keep):
    right_ = np.eye(weights.shape[-1])[targets] * keep[..., None]
    return (weights - right_) / keep.sum()


# --- adam_direction --------------------------------------------------------------------------------


@wrong("adam_direction", "no correction, again", named=("no_bias",))
def _(gradients, beta1, beta2, epsilon):
    return adam(gradients, beta1, beta2, epsilon, corr=(False, False))


@wrong("adam_direction", "epsilon inside the root", named=("epsilon_inside",))
def _(gradients, beta1, beta2, epsilon):
    return adam(gradients, beta1, beta2, epsilon, inside=True)


@wrong("adam_direction", "correction as after one step", named=("no_power",))
def _(gradients, beta1, beta2, epsilon):
    return adam(gradients, beta1, beta2, epsilon, t=1)


@wrong("adam_direction", "steps counted from 0", named=("early",))
def _(gradients, beta1, beta2, epsilon):
    with np.errstate(all="ignore"):
        return adam(gradients, beta1, beta2, epsilon, t=len(gradients) - 1)


@wrong("adam_direction", "the square of the running mean", named=("square_of_mean",))
def _(gradients, beta1, beta2, epsilon):
    m = np.zeros(gradients.shape[1])
    s = np.zeros(gradients.shape[1])
    for g in gradients:
        m = beta1 * m + (1 - beta1) * g
        s = beta2 * s + (1 - beta2) * m**2
    n = len(gradients)
    return m / (1 - beta1**n) / (np.sqrt(s / (1 - beta2**n)) + epsilon)


@wrong("adam_direction", "beta at the new gradient")
def _(gradients, beta1, beta2, epsilon):
    return adam(gradients, beta1, beta2, epsilon, swap=True)


@wrong("adam_direction", "descends: minus the direction", named=("sign",))
def _(gradients, beta1, beta2, epsilon):
    return -adam(gradients, beta1, beta2, epsilon)


@wrong("adam_direction", "divides by 1 - beta * t")
def _(gradients, beta1, beta2, epsilon):
    n = len(gradients)
    m, s = np.zeros(gradients.shape[1]), np.zeros(gradients.shape[1])
    for g in gradients:
        m = beta1 * m + (1 - beta1) * g
        s = beta2 * s + (1 - beta2) * g * g
    with np.errstate(all="ignore"):
        return m / (1 - beta1 * n) / (np.sqrt(np.abs(s / (1 - beta2 * n))) + epsilon)


@wrong("adam_direction", "the correction inside the loop, fed back", named=("in_the_loop",))
def _(gradients, beta1, beta2, epsilon):
    m, s = np.zeros(gradients.shape[1]), np.zeros(gradients.shape[1])
    for t, g in enumerate(gradients, 1):
        m = (beta1 * m + (1 - beta1) * g) / (1 - beta1**t)
        s = (beta2 * s + (1 - beta2) * g * g) / (1 - beta2**t)
    return m / (np.sqrt(s) + epsilon)


# --- taken_out -------------------------------------------------------------------------------------

wrong("taken_out", "previous and later both", named=("all_of_it",))("both")

# --- spot_training ---------------------------------------------------------------------------------

wrong("spot_training", "plots look like overfitting", named=("too_few",))("same batch")
wrong("spot_training", "blames the rate", named=("rate",))("rate too high")

# --- layer_norm ------------------------------------------------------------------------------------


@wrong("layer_norm", "divides by n - 1", named=("ddof",))
def _(x, gain, bias, epsilon):
    c = x - x.mean(-1, keepdims=True)
    return gain * c / np.sqrt(x.var(-1, keepdims=True, ddof=1) + epsilon) + bias


@wrong("layer_norm", "epsilon outside the root", named=("epsilon_outside",))
def _(x, gain, bias, epsilon):
    c = x - x.mean(-1, keepdims=True)
    return gain * c / (x.std(-1, keepdims=True) + epsilon) + bias


@wrong("layer_norm", "one mean for the whole array, again", named=("over_all",))
def _(x, gain, bias, epsilon):
    return gain * (x - x.mean()) / np.sqrt(x.var() + epsilon) + bias


@wrong("layer_norm", "mean over the tokens, a batch norm", named=("over_first",))
def _(x, gain, bias, epsilon):
    return gain * (x - x.mean(0)) / np.sqrt(x.var(0) + epsilon) + bias


@wrong("layer_norm", "not divided by the root but by the variance", named=("no_root",))
def _(x, gain, bias, epsilon):
    c = x - x.mean(-1, keepdims=True)
    return gain * c / ((c * c).mean(-1, keepdims=True) + epsilon) + bias


@wrong("layer_norm", "gain multiplies the bias too", named=("bias_scaled",))
def _(x, gain, bias, epsilon):
    c = x - x.mean(-1, keepdims=True)
    return gain * (c / np.sqrt((c * c).mean(-1, keepdims=True) + epsilon) + bias)


@wrong("layer_norm", "no mean subtracted, rms norm", named=("no_mean",))
def _(x, gain, bias, epsilon):
    return gain * x / np.sqrt((x * x).mean(-1, keepdims=True) + epsilon) + bias


@wrong("layer_norm", "gain as 1 + gain", named=("gain_plus_1",))
def _(x, gain, bias, epsilon):
    c = x - x.mean(-1, keepdims=True)
    return (1 + gain) * c / np.sqrt((c * c).mean(-1, keepdims=True) + epsilon) + bias


# --- gelu ------------------------------------------------------------------------------------------


@wrong("gelu", "erf without the root of two", named=("no_root",))
def _(x):
    from math import erf
    return x * 0.5 * (1 + np.vectorize(erf)(x))


@wrong("gelu", "times the root of two", named=("root_above",))
def _(x):
    from math import erf
    return x * 0.5 * (1 + np.vectorize(erf)(x * np.sqrt(2)))


@wrong("gelu", "erf itself is the share", named=("no_one",))
def _(x):
    from math import erf
    return x * np.vectorize(erf)(x / np.sqrt(2))


@wrong("gelu", "returns the share", named=("only_share",))
def _(x):
    from math import erf
    return 0.5 * (1 + np.vectorize(erf)(x / np.sqrt(2)))


@wrong("gelu", "the approximation with tanh", named=("tanh",))
def _(x):
    return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))


@wrong("gelu", "absolute value: the half is added on the wrong side for negative x")
def _(x):
    from math import erf
    return x * 0.5 * (1 + np.vectorize(erf)(np.abs(x) / np.sqrt(2)))


@wrong("gelu", "x/2 inside", named=("halved_inside",))
def _(x):
    from math import erf
    return x * 0.5 * (1 + np.vectorize(erf)(x / 2))
