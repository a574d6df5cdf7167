"""The exercise on Adam: two running means that start at zero, and what takes the zero out of them."""

import math

import numpy as np

from attnexercises.engine.model import Exercise, Mistake, Probe
from attnexercises.training import accepts


def adam_direction(gradients, beta1, beta2, epsilon):
    mean = square = np.zeros(gradients.shape[1])
    for gradient in gradients:
        mean = beta1 * mean + (1 - beta1) * gradient
        square = beta2 * square + (1 - beta2) * gradient**2
    steps = len(gradients)
    mean = mean / (1 - beta1**steps)
    square = square / (1 - beta2**steps)
    return mean / (np.sqrt(square) + epsilon)


def _oracle(gradients, beta1, beta2, epsilon):
    """Weighted means, written out: a gradient counts beta times as much as the one after it."""
    steps, size = gradients.shape
    first = [beta1 ** (steps - 1 - t) for t in range(steps)]
    second = [beta2 ** (steps - 1 - t) for t in range(steps)]
    out = []
    for i in range(size):
        mean = math.fsum(w * gradients[t, i] for t, w in enumerate(first)) / math.fsum(first)
        square = math.fsum(w * gradients[t, i] ** 2 for t, w in enumerate(second)) / math.fsum(second)
        out.append(mean / (math.sqrt(square) + epsilon))
    return np.array(out)


def _family(bugs):
    def variant(gradients, beta1, beta2, epsilon):
        if "swapped" in bugs:
            beta1, beta2 = beta2, beta1
        mean = square = np.zeros(gradients.shape[1])
        keep1, keep2 = (1 - beta1, 1 - beta2) if "turned" in bugs else (beta1, beta2)
        for t, gradient in enumerate(gradients, start=1):
            mean = keep1 * mean + (1.0 if "no_share" in bugs else 1 - keep1) * gradient
            squared = mean**2 if "square_of_mean" in bugs else gradient**2
            square = keep2 * square + (1.0 if "no_share_square" in bugs else 1 - keep2) * squared
            if "in_the_loop" in bugs:
                mean, square = mean / (1 - beta1**t), square / (1 - beta2**t)
        steps = len(gradients) + (1 if "late" in bugs else -1 if "early" in bugs else 0)
        one, two = 1 - beta1**steps, 1 - beta2**steps
        if "no_power" in bugs:
            one, two = 1 - beta1, 1 - beta2
        elif "no_bias" in bugs or "in_the_loop" in bugs:
            one = two = 1.0
        elif "no_bias_mean" in bugs or "no_bias_square" in bugs:
            one, two = (1.0, two) if "no_bias_mean" in bugs else (one, 1.0)
        if "multiplied" in bugs:
            one, two = 1 / one, 1 / two
        if "plain" in bugs:
            mean, square, one, two = gradients.mean(axis=0), (gradients**2).mean(axis=0), 1.0, 1.0
        with np.errstate(all="ignore"):  # a power of 0 leaves nothing to divide by
            top, below = np.divide(mean, one), np.divide(square, two)
        if "last" in bugs:
            top = gradients[-1]
        if "epsilon_inside" in bugs:
            bottom = np.sqrt(below + epsilon)
        elif "epsilon_first" in bugs:
            bottom = (np.sqrt(square) + epsilon) / np.sqrt(two)
        elif "no_epsilon" in bugs:
            bottom = np.sqrt(below)
        else:
            bottom = (below if "no_root" in bugs else np.sqrt(below)) + epsilon
        return -top / bottom if "sign" in bugs else top / bottom

    return variant


def _case(steps, size, beta1=0.8, beta2=0.9, epsilon=0.03):
    def make(rng):
        return rng.standard_normal((steps, size)), beta1, beta2, epsilon

    return make


def _with_a_zero(rng):
    gradients = rng.standard_normal((3, 2))
    gradients[:, 1] = 0.0
    return gradients, 0.8, 0.9, 1e-3


_ADAM = Exercise(
    "adam_direction",
    title="Take the zero out of a running mean",
    chapter="training",
    level="medium",
    minutes=15,
    blanks=4,
    oracle=_oracle,
    solution=adam_direction,
    family=_family,
    probes=(
        Probe("4 steps, 3 numbers", _case(4, 3)),
        Probe("3 steps, 3 numbers", _case(3, 3), "equal", "As many steps as numbers."),
        Probe("2 steps, 5 numbers, other betas", _case(2, 5, 0.6, 0.95, 0.2), why="A large epsilon shows where it stands."),
        Probe("the first step", _case(1, 4), "edge", "The direction is nearly the sign of the gradient."),
        Probe("beta1 = 0", _case(3, 2, 0.0, 0.5), "edge", "Only the last gradient is left in the mean."),
        Probe("a gradient that is always zero", _with_a_zero, "edge", "Epsilon keeps 0 / 0 away."),
        Probe("60 steps", _case(60, 2, 0.9, 0.999), "edge", "The first mean has forgotten its zero, the second has not."),
    ),
    mistakes=(
        Mistake(
            "no_bias", "mean, square as they are",
            "Both means still hold the zeros that they started from; that is to be taken out.", 2,
            sets="bias",
        ),
        Mistake(
            "no_bias_mean", "only the square is corrected",
            "The mean of the gradients still holds the zero that it started from.", 2,
            sets="bias",
        ),
        Mistake(
            "no_bias_square", "only the mean is corrected",
            "The mean of the squares still holds the zero that it started from.", 2,
            sets="bias",
        ),
        Mistake(
            "no_power", "1 - beta",
            "Yours divides by the same in every step; how much of the zero is left depends on how many steps there were.", 2,
            sets="bias",
        ),
        Mistake(
            "late", "1 - beta ** (t + 1)",
            "A step too many is counted: the first gradient is the first step.", 3,
            sets="bias",
        ),
        Mistake(
            "early", "1 - beta ** (t - 1)",
            "The power counts the steps before the last; the last gradient belongs to the mean, too.", 3,
            sets="bias",
        ),
        Mistake(
            "multiplied", "mean * (1 - beta ** t)",
            "You multiplied by the share that the mean holds; to take the zero out is to divide by it.", 2,
        ),
        Mistake(
            "in_the_loop", "corrected and stored in each step",
            "The corrected means go on into the next step; the running means themselves have to stay uncorrected.", 3,
            sets="bias",
        ),
        Mistake(
            "no_root", "mean / (square + epsilon)",
            "The root is missing: the mean of the squares is the square of a size.", 1,
            sets="root",
        ),
        Mistake(
            "epsilon_inside", "sqrt(square + epsilon)",
            "Epsilon stands under the root; it is added to the root.", 3,
            sets="root",
        ),
        Mistake(
            "epsilon_first", "(sqrt(square) + epsilon) / sqrt(1 - beta2 ** t)",
            "Epsilon was added before the zero was taken out of the mean of the squares, and so it is corrected, too.", 3,
            sets="root",
        ),
        Mistake(
            "no_epsilon", "mean / sqrt(square)",
            "Epsilon is missing; a number whose gradient has always been zero needs it.", 3,
            sets="root",
        ),
        Mistake(
            "swapped", "beta1 and beta2 exchanged",
            "The two betas have changed places: the first belongs to the gradients, the second to their squares.", 3,
        ),
        Mistake(
            "turned", "(1 - beta) * mean + beta * gradient",
            "Old and new have changed places: beta is the share of the old mean that is kept.", 1,
            sets="share share_square",
        ),
        Mistake(
            "no_share", "beta1 * mean + gradient",
            "The new gradient enters with its whole size; in a mean, old and new share 1 between them.", 1,
            sets="share",
        ),
        Mistake(
            "no_share_square", "beta2 * square + gradient ** 2",
            "The new square enters with its whole size; in a mean, old and new share 1 between them.", 1,
            sets="share_square",
        ),
        Mistake(
            "square_of_mean", "beta2 * square + (1 - beta2) * mean ** 2",
            "The second mean is fed the square of the first; it is a mean of the gradients' own squares.", 1,
            sets="share_square",
        ),
        Mistake(
            "plain", "gradients.mean(axis=0), (gradients ** 2).mean(axis=0)",
            "All steps count alike in yours; in a running mean a gradient counts less, the older it is.", 1,
            sets="bias share share_square top",
        ),
        Mistake(
            "last", "gradient / sqrt(square)",
            "The direction is that of the last gradient alone; it is the running mean that is wanted.", 1,
            sets="top",
        ),
        Mistake(
            "sign", "-mean / root",
            "The sign is turned round: the minus belongs to the step, which is rate times this.", 3,
            shows="minus",
        ),
    ),
    hints=(
        "A running mean keeps the share beta of what it was and takes the share 1 - beta of what is new.",
        "Feed it the same gradient g in each step. After t steps it holds a share of g; which one, as a formula in beta and t?",
        "The share is `1 - beta**t`. Divide each mean by its own share after the last step, take the root of the second, "
        "then add epsilon.",
    ),
    why="After t equal gradients a mean that started at zero holds 1 - beta ** t of them. Dividing by that share makes "
    "the weights of the gradients so far sum to 1, for any gradients.",
    insight="In the first step the direction is nearly the sign of each gradient: Adam does not see the scale of the loss.",
    accepts=accepts.ADAM_DIRECTION,
    outputs=("direction",),
)  # fmt: skip

EXERCISES = (_ADAM,)
