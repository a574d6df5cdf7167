"""Wrong answers to the exercises on the trained model, as readers may write them."""

import math

import numpy as np

from . import wrong

# --- layer_norm -----------------------------------------------------------------------------------


@wrong("layer_norm", "np.std with ddof=1, as in statistics", named=("ddof",))
def sample_variance(x, gain, bias, epsilon):
    mu = np.mean(x, axis=-1, keepdims=True)
    var = np.var(x, axis=-1, keepdims=True, ddof=1)
    return (x - mu) / np.sqrt(var + epsilon) * gain + bias


@wrong("layer_norm", "std + eps", named=("epsilon_outside",))
def std_plus_eps(x, gain, bias, epsilon):
    mu = x.mean(-1, keepdims=True)
    return gain * (x - mu) / (x.std(-1, keepdims=True) + epsilon) + bias


@wrong("layer_norm", "statistics over the tokens, as batch norm does", named=("over_tokens",))
def like_batch_norm(x, gain, bias, epsilon):
    mu, var = x.mean(axis=-2, keepdims=True), x.var(axis=-2, keepdims=True)
    return gain * (x - mu) / np.sqrt(var + epsilon) + bias


@wrong("layer_norm", "statistics over the first axis", named=("over_first",))
def over_the_first_axis(x, gain, bias, epsilon):
    mu, var = x.mean(axis=0), x.var(axis=0)
    return gain * (x - mu) / np.sqrt(var + epsilon) + bias


@wrong("layer_norm", "one mean for the whole array", named=("over_all",))
def one_mean(x, gain, bias, epsilon):
    return gain * (x - np.mean(x)) / np.sqrt(np.var(x) + epsilon) + bias


@wrong("layer_norm", "an RMS norm with a bias", named=("no_mean",))
def rms(x, gain, bias, epsilon):
    return gain * x / np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + epsilon) + bias


@wrong("layer_norm", "centred, but divided by the rms of x", named=("second_moment",))
def rms_of_x(x, gain, bias, epsilon):
    left = x - x.mean(axis=-1, keepdims=True)
    return gain * left / np.sqrt((x**2).mean(axis=-1, keepdims=True) + epsilon) + bias


@wrong("layer_norm", "x minus mean over variance", named=("no_root",))
def over_variance(x, gain, bias, epsilon):
    mu = x.mean(axis=-1, keepdims=True)
    var = ((x - mu) ** 2).mean(axis=-1, keepdims=True)
    return gain * (x - mu) / (var + epsilon) + bias


@wrong("layer_norm", "np.linalg.norm for the standard deviation", named=("norm",))
def by_length(x, gain, bias, epsilon):
    left = x - x.mean(axis=-1, keepdims=True)
    return gain * left / np.sqrt(np.linalg.norm(left, axis=-1, keepdims=True) ** 2 + epsilon) + bias


@wrong("layer_norm", "no epsilon", named=("no_epsilon",))
def no_epsilon(x, gain, bias, epsilon):
    with np.errstate(all="ignore"):
        return gain * (x - x.mean(-1, keepdims=True)) / x.std(-1, keepdims=True) + bias


@wrong("layer_norm", "gain and bias forgotten", named=("no_gain", "no_bias"))
def neither(x, gain, bias, epsilon):
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + epsilon)


@wrong("layer_norm", "bias before the gain", named=("bias_scaled",))
def bias_first(x, gain, bias, epsilon):
    z = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + epsilon)
    return gain * (z + bias)


@wrong("layer_norm", "bias subtracted", named=("bias_subtracted",))
def bias_taken_off(x, gain, bias, epsilon):
    z = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + epsilon)
    return gain * z - bias


@wrong("layer_norm", "epsilon squared under the root", named=("epsilon_squared",))
def epsilon_squared(x, gain, bias, epsilon):
    z = (x - x.mean(-1, keepdims=True)) / np.hypot(x.std(-1, keepdims=True), epsilon)
    return gain * z + bias


@wrong("layer_norm", "keepdims forgotten", says=r"broadcast|shape|operands")
def no_keepdims(x, gain, bias, epsilon):
    return gain * (x - x.mean(axis=-1)) / np.sqrt(x.var(axis=-1) + epsilon) + bias


@wrong("layer_norm", "gain + 1, as some models store it", named=("gain_plus_1",))
def gain_from_zero(x, gain, bias, epsilon):
    z = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + epsilon)
    return (1 + gain) * z + bias


@wrong("layer_norm", "mean absolute deviation", named=("absolute",))
def absolute_deviation(x, gain, bias, epsilon):
    left = x - x.mean(-1, keepdims=True)
    return gain * left / np.sqrt(np.abs(left).mean(-1, keepdims=True) + epsilon) + bias


@wrong("layer_norm", "multiplied by the root", named=("root_above",))
def multiplied(x, gain, bias, epsilon):
    return gain * (x - x.mean(-1, keepdims=True)) * np.sqrt(x.var(-1, keepdims=True) + epsilon) + bias


@wrong("layer_norm", "the median for the mean")
def median(x, gain, bias, epsilon):
    left = x - np.median(x, axis=-1, keepdims=True)
    return gain * left / np.sqrt((left**2).mean(-1, keepdims=True) + epsilon) + bias


@wrong("layer_norm", "min and max for mean and deviation")
def min_max(x, gain, bias, epsilon):
    low, high = x.min(-1, keepdims=True), x.max(-1, keepdims=True)
    return gain * (x - low) / np.sqrt((high - low) ** 2 + epsilon) + bias


# --- gelu -----------------------------------------------------------------------------------------


@wrong("gelu", "the approximation by tanh", named=("tanh",))
def by_tanh(x):
    return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))


@wrong("gelu", "x times the sigmoid of 1.702 x", named=("quick",))
def quick(x):
    return x / (1 + np.exp(-1.702 * x))


@wrong("gelu", "SiLU", named=("silu",))
def silu(x):
    return x / (1 + np.exp(-x))


@wrong("gelu", "ReLU", named=("relu",))
def relu(x):
    return np.maximum(x, 0)


@wrong("gelu", "erf(x)", named=("no_root",))
def erf_of_x(x):
    return np.array([0.5 * t * (1 + math.erf(t)) for t in x.flat]).reshape(x.shape)


@wrong("gelu", "erf(x √2)", named=("root_above",))
def times_the_root(x):
    return x * 0.5 * (1 + np.vectorize(math.erf)(x * 2**0.5))


@wrong("gelu", "erf(x / 2)", named=("halved_inside",))
def half_inside(x):
    return x * (1 + np.vectorize(math.erf)(x / 2)) / 2


@wrong("gelu", "without the half", named=("no_half",))
def not_halved(x):
    return x * (1 + np.vectorize(math.erf)(x / np.sqrt(2)))


@wrong("gelu", "x times erf", named=("no_one",))
def x_erf(x):
    return x * np.vectorize(math.erf)(x / np.sqrt(2))


@wrong("gelu", "half of x times erf", named=("half_of_erf",))
def half_x_erf(x):
    return 0.5 * x * np.vectorize(math.erf)(x / np.sqrt(2))


@wrong("gelu", "erfc for erf", named=("above",))
def with_erfc(x):
    return x * np.vectorize(math.erfc)(x / np.sqrt(2)) / 2


@wrong("gelu", "the share alone", named=("only_share",))
def the_share(x):
    return 0.5 + np.vectorize(math.erf)(x / np.sqrt(2)) / 2


@wrong("gelu", "the height of the bell curve", named=("density",))
def height(x):
    return x * np.exp(-0.5 * x**2) / np.sqrt(2 * np.pi)


@wrong("gelu", "the absolute value of x", named=("absolute",))
def size_of_x(x):
    return np.abs(x) * (1 + np.vectorize(math.erf)(x / np.sqrt(2))) / 2


@wrong("gelu", "erf of the size of x")
def erf_of_size(x):
    return x * (1 + np.vectorize(math.erf)(np.abs(x) / np.sqrt(2))) / 2


@wrong("gelu", "math.erf on an array", says=r"array|scalar|TypeError|length-1|only")
def erf_on_array(x):
    return x * (1 + math.erf(x / np.sqrt(2))) / 2


@wrong("gelu", "negative numbers cut to zero", named=("cut",))
def cut(x):
    return np.maximum(x * (1 + np.vectorize(math.erf)(x / np.sqrt(2))) / 2, 0)


@wrong("gelu", "the share rounded, so that it is 0 or 1", named=("relu",))
def rounded(x):
    return x * np.vectorize(lambda t: round((1 + math.erf(t / 2**0.5)) / 2))(x)


@wrong("gelu", "the numbers standardised first")
def standardised(x):
    z = (x - x.mean()) / (x.std() + 1e-12)
    return z * (1 + np.vectorize(math.erf)(z / np.sqrt(2))) / 2


@wrong("gelu", "a flat list", says=r"shape|\(15,\)")
def flattened(x):
    return np.array([t * (1 + math.erf(t / 2**0.5)) / 2 for t in x.ravel()])
