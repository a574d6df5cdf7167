"""The exercise on Adam: two running means that start at zero, and what takes the zero out of them."""

import math

import numpy as np

from attnexercises.engine.model import Exercise, Mistake, Probe


def adam_direction(gradients, beta1, beta2, epsilon):
    mean = np.zeros(gradients.shape[1])
    square = np.zeros(gradients.shape[1])
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


def _case(steps, size, beta1=0.8, beta2=0.9, epsilon=0.03):
    def make(rng):
        return rng.standard_normal((steps, size)), beta1, beta2, epsilon

    return make


def _with_a_zero(rng):
    gradients = rng.standard_normal((3, 2))
    gradients[:, 1] = 0.0
    return gradients, 0.8, 0.9, 1e-3


_ADAM = Exercise(
    title="Take the zero out of a running mean", level="medium", minutes=15, blanks=4, oracle=_oracle, solution=adam_direction,
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
        Mistake("no_bias", ("mean / (1 - beta1**steps) -> mean", "square / (1 - beta2**steps) -> square"),
            "Both means still hold the zero that they started from. Divide each by the share that it holds.", 2, sets="bias"),
        Mistake("no_bias_mean", "mean / (1 - beta1**steps) -> mean",
            "The mean of the gradients still holds the zero that it started from. Divide it by its share.", 2, sets="bias"),
        Mistake("no_bias_square", "square / (1 - beta2**steps) -> square",
            "The mean of the squares still holds the zero that it started from. Divide it by its share.", 2, sets="bias"),
        Mistake("no_power", "**steps ->",
            "You divide by the same number after any number of steps, but the more steps there were, the less of the zero is left.", 2,
            sets="bias"),
        Mistake("late", "len(gradients) -> len(gradients) + 1",
            "You counted one step too many: the first gradient is step 1.", 3, sets="bias"),
        Mistake("early", "len(gradients) -> len(gradients) - 1",
            "You counted the steps before the last one only: the last gradient is in the mean, too.", 3, sets="bias"),
        Mistake("multiplied", "/ (1 - beta1**steps) square = square / -> * (1 - beta1**steps) square = square *",
            "You multiplied by the share that the mean holds. Dividing by it takes the zero out.", 2, sets="loop"),
        Mistake("in_the_loop",
            "for gradient in gradients: -> for t, gradient in enumerate(gradients):\n    if t:\n"
            "        mean, square = mean / (1 - beta1**t), square / (1 - beta2**t)",
            "You carry the corrected means into the next step. The running means themselves must stay uncorrected.", 3,
            sets="bias loop"),
        Mistake("no_root", "np.sqrt(square) -> square",
            "The root is missing. The mean of the squares is the square of a size.", 1, sets="root"),
        Mistake("epsilon_inside", "np.sqrt(square) + epsilon -> np.sqrt(square + epsilon)",
            "Your epsilon is under the root. Add it to the root.", 3, sets="root"),
        Mistake("epsilon_first",
            ("square = square / (1 - beta2**steps) -> share = (1 - beta2**steps)",
             "(np.sqrt(square) + epsilon) -> ((np.sqrt(square) + epsilon) / np.sqrt(share))"),
            "You added epsilon before you corrected the mean of the squares, so epsilon is corrected as well.", 3,
            sets="root loop"),
        Mistake("no_epsilon", "+ epsilon ->",
            "Epsilon is missing. Without it, a number whose gradient has always been zero gives 0 / 0.", 3, sets="root"),
        Mistake("epsilon_twice", "(np.sqrt(square) + epsilon) -> (np.sqrt(square) + 2 * epsilon)",
            "Epsilon is added twice. Add it once, to the root of the corrected mean of squares.", 3, sets="root"),
        Mistake("epsilon_subtracted", "np.sqrt(square) + epsilon -> np.sqrt(square) - epsilon",
            "You subtracted epsilon, so the divisor can become 0. Add it to the root.", 3, sets="root"),
        Mistake("one_beta", "epsilon): -> epsilon):\n    beta2 = beta1",
            "You used beta1 for both averages. The squares have a beta of their own.", 2),
        Mistake("square_by_beta1", "beta2 * square + (1 - beta2) * -> beta1 * square + (1 - beta1) *",
            "Your mean of the squares keeps the share beta1. The squares have a beta of their own.", 2, sets="share_square"),
        Mistake("bias_by_beta1", "1 - beta2**steps -> 1 - beta1**steps",
            "You corrected the mean of the squares with beta1. Its zero fades with beta2.", 2, sets="bias"),
        Mistake("squared_mean", "np.sqrt(square) -> np.sqrt(mean**2)",
            "You squared the corrected mean of the gradients. The second average is that of their squares.", 2, sets="root"),
        Mistake("absolute", "gradient**2 -> np.abs(gradient)",
            "You averaged the absolute values. The second average is that of the squares.", 2),
        Mistake("backwards", "for gradient in gradients: -> for gradient in gradients[::-1]:",
            "You walked through the gradients from the last to the first. The last one has to count most.", 1),
        Mistake("swapped", "epsilon): -> epsilon):\n    beta1, beta2 = beta2, beta1",
            "You swapped the two betas. The first belongs to the gradients, the second to their squares.", 3),
        Mistake("turned",
            ("beta1 * mean + (1 - beta1) * gradient -> (1 - beta1) * mean + beta1 * gradient",
             "beta2 * square + (1 - beta2) * gradient -> (1 - beta2) * square + beta2 * gradient"),
            "You swapped old and new. Beta is the share of the old mean that is kept.", 1, sets="share share_square"),
        Mistake("no_share", "(1 - beta1) * gradient -> gradient",
            "You add the whole new gradient. In a mean the shares of old and new add up to 1.", 1, sets="share"),
        Mistake("no_share_square", "(1 - beta2) * gradient -> gradient",
            "You add the whole new square. In a mean the shares of old and new add up to 1.", 1, sets="share_square"),
        Mistake("square_of_mean", "gradient**2 -> mean**2",
            "You squared the running mean. The second mean takes the squares of the gradients themselves.", 1, sets="share_square"),
        Mistake("plain",
            ("mean / (1 - beta1**steps) -> gradients.mean(axis=0)", "square / (1 - beta2**steps) -> (gradients**2).mean(axis=0)"),
            "In yours all steps count equally. In a running mean, older gradients count less.", 1,
            sets="bias share share_square top"),
        Mistake("last", "mean / (np.sqrt -> gradients[-1] / (np.sqrt",
            "You return the direction of the last gradient alone. Use the running mean.", 1, sets="top"),
        Mistake("sign", "return mean -> return -mean",
            "The sign is flipped. The minus belongs to the step and not to the direction.", 3, shows="minus"),
    ),
    hints=(
        "A running mean keeps the share beta of its old value and takes the share 1 - beta of the new one.",
        "Give it the same gradient g in each step. Which share of g does it hold after t steps, as a formula in beta and t?",
        "The share is `1 - beta**t`. Divide each mean by its own share after the last step, take the root of the second, then add "
        "epsilon.",
    ),
    why="After t equal gradients a mean that started at zero holds 1 - beta ** t of them. Dividing by that share makes the weights "
    "of the gradients so far sum to 1, for any gradients.",
    insight="In the first step the direction is nearly the sign of each gradient: Adam does not see the scale of the loss.",
    outputs=("direction",),
)  # fmt: skip
