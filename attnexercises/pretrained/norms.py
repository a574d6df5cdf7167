"""The exercise on layer norm."""

import math

import numpy as np

from attnexercises.engine.model import Exercise, Mistake, Probe


def layer_norm(x, gain, bias, epsilon):
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = (centred**2).mean(axis=-1, keepdims=True)
    return gain * centred / np.sqrt(variance + epsilon) + bias


def _oracle(x, gain, bias, epsilon):
    out = np.zeros(x.shape)
    for place in np.ndindex(x.shape[:-1]):
        token = [float(number) for number in x[place]]
        m = len(token)
        mean = math.fsum(token) / m
        variance = math.fsum((number - mean) ** 2 for number in token) / m
        for f, number in enumerate(token):
            out[(*place, f)] = (number - mean) / math.sqrt(variance + epsilon) * gain[f] + bias[f]
    return out


def _tokens(*shape, epsilon=0.3):
    def make(rng):
        x = 2 * rng.standard_normal(shape) + 1.5
        return x, rng.uniform(0.5, 2, shape[-1]), rng.uniform(-1, 1, shape[-1]), epsilon

    return make


def _rows_apart(rng):
    x, gain, bias, _ = _tokens(3, 4)(rng)
    return x * np.array([[0.1], [1.0], [10.0]]), gain, bias, 0.05


def _equal_features(rng):
    _, gain, bias, epsilon = _tokens(2, 3)(rng)
    return np.array([[2.0, 2.0, 2.0], [0.0, 0.0, 0.0]]), gain, bias, epsilon


_NORM = Exercise(
    title="Layer norm", level="easy", minutes=8, blanks=3, oracle=_oracle, solution=layer_norm,
    probes=(
        Probe("2 texts of 3 tokens of 5 features", _tokens(2, 3, 5)),
        Probe("2 texts of 4 tokens of 3 features", _tokens(2, 4, 3, epsilon=0.1), why="More tokens than features."),
        Probe("4 tokens of 4 features", _tokens(4, 4, epsilon=0.2), "equal", "A mean along the wrong axis runs here."),
        Probe("short and long tokens", _rows_apart, why="Each token has a variance of its own."),
        Probe("tokens whose features are equal", _equal_features, "edge", "Their variance is 0, and epsilon keeps the quotient finite."),
        Probe("one text, one token, two features", _tokens(1, 1, 2), "edge", "Axes of size 1 stay."),
    ),
    mistakes=(
        Mistake("ddof", "(centred**2).mean(axis=-1, keepdims=True) -> x.var(axis=-1, ddof=1, keepdims=True)",
            "Your variance divides by m - 1. Layer norm takes the plain mean of the m squares.", 2, sets="variance"),
        Mistake("epsilon_outside", "np.sqrt(variance + epsilon) -> (np.sqrt(variance) + epsilon)",
            "You added epsilon to the root. It belongs to the variance, under the root.", 3, sets="root"),
        Mistake("no_epsilon", "variance + epsilon -> variance",
            "Epsilon is left out, so a token whose features are all equal has nothing to be divided by.", 3, sets="root"),
        Mistake("no_root", "np.sqrt(variance + epsilon) -> (variance + epsilon)",
            "You divided by the variance. The features come to variance 1 if its root divides them.", 2, sets="root"),
        Mistake("over_tokens", ("x - x.mean(axis=-1, keepdims=True) -> x - x.mean(axis=-2, keepdims=True)",
            "(centred**2).mean(axis=-1, keepdims=True) -> (centred**2).mean(axis=-2, keepdims=True)"),
            "Mean and variance run over the tokens. They run over the features, for each token by itself.", 1, sets="variance mean"),
        Mistake("over_first", ("x - x.mean(axis=-1, keepdims=True) -> x - x.mean(axis=0, keepdims=True)",
            "(centred**2).mean(axis=-1, keepdims=True) -> (centred**2).mean(axis=0, keepdims=True)"),
            "Mean and variance run along the first axis, over the texts. They run over the features, for each token by itself.",
            1, sets="variance mean"),
        Mistake("over_all", ("x - x.mean(axis=-1, keepdims=True) -> x - x.mean()",
            "(centred**2).mean(axis=-1, keepdims=True) -> (centred**2).mean()"),
            "You took one mean and one variance for the whole array. Every token has its own.", 1, sets="variance mean"),
        Mistake("no_mean", "centred = x - x.mean(axis=-1, keepdims=True) -> centred = x",
            "The mean is not taken off. Dividing alone makes an RMS norm.", 1, sets="mean"),
        Mistake("second_moment", "(centred**2).mean -> (x**2).mean",
            "The mean square of x is no variance: the variance is the mean square of what is left without the mean.", 2, sets="variance"),
        Mistake("norm", "(centred**2).mean -> (centred**2).sum",
            "You divided by the length of the token. The variance is the mean of the squares and not their sum.", 2, sets="variance"),
        Mistake("absolute", "(centred**2).mean -> np.abs(centred).mean",
            "You took the mean of the absolute values. The variance is the mean of the squares.", 2, sets="variance"),
        Mistake("gain_plus_1", "gain * centred -> (1 + gain) * centred",
            "You added 1 to the gain. Here the gain is the whole factor.", 3, sets="gain"),
        Mistake("bias_subtracted", "+ bias -> - bias",
            "You subtracted the bias. It is added.", 3, sets="bias"),
        Mistake("root_above", "/ np.sqrt -> * np.sqrt",
            "You multiplied by the standard deviation. Divide by it.", 2, sets="root"),
        Mistake("epsilon_squared", "variance + epsilon -> variance + epsilon**2",
            "You squared epsilon. Add it to the variance as it is.", 2, sets="root"),
        Mistake("no_gain", "gain * centred -> centred",
            "The gain is left out. It scales each feature at the end.", 3, sets="gain"),
        Mistake("gain_divides", "gain * centred -> centred / gain",
            "You divided by the gain. Each feature is multiplied by it.", 3, sets="gain"),
        Mistake("no_bias", "epsilon) + bias -> epsilon)",
            "The bias is left out. It shifts each feature at the end.", 3, sets="bias"),
        Mistake("bias_scaled", "return gain * centred / np.sqrt(variance + epsilon) + bias -> "
            "return gain * (centred / np.sqrt(variance + epsilon) + bias)",
            "The gain multiplies the bias, too. The bias comes last and is not scaled.", 3, sets="bias gain"),
        Mistake("swapped", "epsilon):\n -> epsilon):\n    gain, bias = bias, gain\n",
            "Gain and bias have changed places: the gain multiplies, the bias is added.", 3, sets="bias gain"),
        Mistake("not_centred_above", "gain * centred -> gain * x",
            "You took the mean off for the variance only. The features that are divided need it taken off, too.", 1, sets="mean"),
    ),
    hints=(
        "Look at one token: a row of m numbers along the last axis. First make its mean 0, then its variance 1.",
        "Take the row's mean off. The variance is the mean of the squares of what is left, and its root divides the row. Keep the "
        "axis, so that each row meets its own two numbers.",
        "Divide the centred rows by the root of variance plus epsilon, multiply by the gain, and add the bias: both have one number "
        "for each feature.",
    ),
    why="After centring, the mean of the squares is the variance, so dividing by its root makes it 1. The gain and the bias then let "
    "each feature have the size and the offset that the next part wants.",
    insight="A token that is ten times as long, or has 5 added to every feature, comes out almost the same: exactly so if epsilon is 0.",
    outputs=("out",),
)  # fmt: skip
