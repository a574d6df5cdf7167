"""The exercise on the gradient of a temperature: one number that every weight of every row depends on."""

import cmath
import math

import numpy as np

from attnexercises.engine.model import Exercise, Mistake, Probe


def temperature_gradient(d_weights, scores, temperature):
    scaled = scores / temperature
    exponentials = np.exp(scaled - scaled.max(axis=-1, keepdims=True))
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    d_scaled = weights * (d_weights - (weights * d_weights).sum(axis=-1, keepdims=True))
    return -(d_scaled * scores).sum() / temperature**2


def _oracle(d_weights, scores, temperature):
    # A complex step: the loss at T + ih is L + ih dL/dT up to a term in h squared, and nothing is subtracted.
    step = 1e-30
    contributions = []
    for row in np.ndindex(scores.shape[:-1]):
        x = [float(score) for score in scores[row]]
        exponentials = [cmath.exp((score - max(x)) / (temperature + step * 1j)) for score in x]
        total = sum(exponentials)
        contributions += [
            float(g) * (exponential / total).imag for g, exponential in zip(d_weights[row], exponentials, strict=True)
        ]
    return math.fsum(contributions) / step


def _inputs(rng, shape, temperature):
    return rng.normal(size=shape), rng.normal(size=shape), temperature


def _large_scores(rng):
    # One row far up, one far down, one that is wide: only a shift of each row by its own maximum survives all three.
    d_weights, scores, temperature = _inputs(rng, (3, 4), 0.5)
    scores[0] += 1000.0
    scores[1] -= 1000.0
    scores[2, 1] += 900.0
    return d_weights, scores, temperature


def _zeros(rng):
    d_weights, scores, temperature = _inputs(rng, (3, 4), 1.3)
    scores[0, 1], scores[2, :2] = 0.0, 0.0
    return d_weights, scores, temperature


def _no_difference_quotient(answer):
    """Refuse a difference of two losses, which an added constant drowns. Added to every entry, it changes no slope."""
    rng = np.random.default_rng(7)
    for shape, temperature in (((3, 4), 0.7), ((2, 3), 1.3)):
        d_weights, scores, temperature = _inputs(rng, shape, temperature)
        wanted = _oracle(d_weights, scores, temperature)
        slope = np.asarray(answer(d_weights + 1e5, scores, temperature), dtype=float)  # numbers of Python's `decimal`, too
        if not np.allclose(slope, wanted, rtol=1e-8, atol=1e-9):
            return (
                "with 100000 added to every entry of d_weights the right answer stays the same, but yours loses its digits. "
                "Is it a difference of two losses? Derive the slope instead."
            )
    return ""


TEMPERATURE_GRADIENT = Exercise(
    title="The gradient of the temperature",
    level="medium",
    minutes=15,
    blanks=3,
    oracle=_oracle,
    solution=temperature_gradient,
    method=_no_difference_quotient,
    probes=(
        Probe("all sizes differ", lambda rng: _inputs(rng, (2, 3, 5), 0.7)),
        Probe("square", lambda rng: _inputs(rng, (4, 4), 2.5), "equal"),
        Probe("large scores", _large_scores, "edge", why="Any shift but that by each row's own maximum ends in NaN here."),
        Probe("constant upstream gradient", lambda rng: (np.full((3, 4), 2.5), rng.normal(size=(3, 4)), 0.7), "edge",
            why="The weights sum to one at every temperature: the answer is 0."),
        Probe("equal scores", lambda rng: (rng.normal(size=(3, 4)), np.full((3, 4), 1.5), 0.7), "edge",
            why="Equal scores have equal weights at every temperature: the answer is 0."),
        Probe("one row", lambda rng: _inputs(rng, (5,), 0.7), "edge", why="No leading axis at all."),
        Probe("three leading axes, one of size 1", lambda rng: _inputs(rng, (2, 1, 3, 4), 0.7), "edge",
            why="The number collects over all axes in front, however many there are."),
        Probe("zeros among the scores", _zeros, "edge", why="A score of 0 is a score like any other; it hides nothing."),
    ),
    mistakes=(
        Mistake("sign", "return -(d_scaled -> return (d_scaled",
            "The sign is flipped: what does x / T do when T grows and x is positive?", 2, shows="minus", sets="sign"),
        Mistake("no_square", "temperature**2 -> temperature",
            "A division by T is missing: what is the derivative of x / T with respect to T?", 2, sets="power"),
        Mistake("scaled_twice", "d_scaled * scores -> d_scaled * scores / temperature",
            "There is one division by T too many: differentiate x / T, with the raw score x.", 2, sets="power"),
        Mistake("as_factor", "-(d_scaled * scores).sum() / temperature**2 -> (d_scaled * scores).sum()",
            "This is the gradient for 1/T, the number that multiplies the scores. T itself is one more step away: how does 1/T "
            "change with T?", 2, sets="sign power"),
        Mistake("at_one", "scores / temperature -> scores",
            "The softmax sees the scores as they are; they have to be divided by the temperature first.", 1, sets="temperature"),
        Mistake("multiplied", "scores / temperature -> scores * temperature",
            "The scores were multiplied by the temperature before the softmax; a temperature divides.", 1, sets="temperature"),
        Mistake("no_softmax", "weights * (d_weights - (weights * d_weights).sum(axis=-1, keepdims=True)) -> d_weights",
            "You multiplied d_weights by the scores directly. It is the gradient for the weights, so it has to pass back through "
            "the softmax first.", 1, sets="mean"),
        Mistake("no_scores", "d_scaled * scores -> d_scaled",
            "The plain sum of the gradients of the scaled scores is 0, too; each of them must first be multiplied by how fast T moves its scaled score.", 2, shows="zero"),
        Mistake("no_mean", "d_weights - (weights * d_weights).sum(axis=-1, keepdims=True) -> d_weights",
            "On the way through the softmax the weighted mean is missing: every weight depends on all scores of its row.", 3,
            sets="mean"),
        Mistake("plain_mean", "(weights * d_weights).sum(axis=-1 -> d_weights.mean(axis=-1",
            "On the way through the softmax you subtract the plain mean of d_weights; it has to be weighted.", 3, sets="mean"),
        Mistake("no_division",
            "d_scaled = weights * (d_weights - (weights * d_weights).sum(axis=-1, keepdims=True)) -> d_scaled = np.exp(scaled) * d_weights",
            "You took the slope of the exponentials alone. The sum below them depends on the temperature, too.", 2, sets="mean"),
        Mistake("loss_itself", "return -(d_scaled * scores).sum() / temperature**2 -> return (d_weights * weights).sum()",
            "You returned the sum of d_weights times the weights. Your result has to say how the temperature changes this sum.", 1, sets="sum sign power"),
        Mistake("sigmoid", "d_weights - (weights * d_weights).sum(axis=-1, keepdims=True) -> (1 - weights) * d_weights",
            "On the way through the softmax only the diagonal of the Jacobian was kept: all weights of the row move.", 3,
            sets="mean"),
        Mistake("no_keepdims", "d_weights).sum(axis=-1, keepdims=True) -> d_weights).sum(axis=-1)",
            "Without `keepdims=True` the weighted means run along the columns, so entry (i, j) gets the mean of row j instead of "
            "row i.", 3, sets="mean"),
        Mistake("d_scores", "-(d_scaled * scores).sum() / temperature**2 -> d_scaled / temperature",
            "You returned the gradient for the scores; they share one temperature, and its gradient is one number.", 2),
        Mistake("per_row", "sum() -> sum(axis=-1)",
            "You summed along each row only. All rows share one temperature, so the sums of all rows have to be added as well.", 3,
            sets="sum"),
        Mistake("mean_of_rows", "sum() -> sum(axis=-1).mean()",
            "You averaged over the rows. The chain rule adds up the contributions of all paths from T to the loss.", 3, sets="sum"),
        Mistake("mean_of_all", "sum() -> mean()",
            "You took the mean of all contributions, not their sum: the chain rule adds the paths up.", 3, sets="sum"),
        Mistake("no_max", "scaled - scaled.max(axis=-1, keepdims=True) -> scaled",
            "Large exponents overflow: shift each row by its own maximum before `exp`.", 3, shows="lost"),
        Mistake("axis_0", "axis=-1 -> axis=0",
            "The softmax ran over axis 0; each row, along the last axis, has weights of its own.", 3, sets="axis"),
        Mistake("axis_all", "axis=-1 -> axis=None",
            "One softmax ran over all scores together; each row, along the last axis, has weights of its own.", 3, sets="axis"),
        Mistake("mean_of_batch", ".sum() -> .sum() / len(scores)",
            "You divided by the size of axis 0. All paths from T to the loss are added, without a mean.", 3, sets="sum"),
        Mistake("weights_for_scores", "d_scaled * scores -> d_scaled * weights",
            "You multiplied by the weights. The slope of x / T with respect to T contains the score x.", 2),
        Mistake("square_inside", "scores / temperature -> scores / temperature**2",
            "You divided the scores by T squared before the softmax. The square belongs to the slope at the end.", 1, sets="temperature"),
        Mistake("covariance_plain", "weights * (d_weights - (weights * d_weights).sum(axis=-1, keepdims=True)) -> (d_weights - d_weights.mean(axis=-1, keepdims=True)) / scores.shape[-1]",
            "You took a plain covariance of gradient and scores. Each key counts by its weight.", 3, sets="mean"),
        Mistake("no_upstream", "weights * (d_weights - (weights * d_weights).sum(axis=-1, keepdims=True)) -> weights * (1 - weights)",
            "d_weights is not used. The chain rule multiplies the slopes of the softmax by it.", 1, sets="mean"),
        Mistake("no_power", "/ temperature**2 ->",
            "The division by T squared is missing: what is the derivative of x / T with respect to T?", 2, sets="power"),
        Mistake("one_axis", "d_weights).sum(axis=-1, keepdims=True) -> d_weights).sum()",
            "One mean was taken over all rows. Every row has a mean of its own.", 3, sets="mean"),
        Mistake("last_row", ".sum() -> .reshape(-1, scores.shape[-1])[-1].sum()",
            "Only the last row counts here: in a loop over rows, add each row's contribution to what is there.", 3, sets="sum"),
    ),
    hints=(
        "Give the scaled scores a name, y = x / T. T reaches the loss in two steps: T changes every y, and the y change "
        "the weights. You can already go back through the second step, with `softmax_backward`.",
        "How fast does one y change with T? Its slope is -x / T**2. Multiply it by the gradient for this y. T reaches the loss "
        "through every score of every row, so there is one such product for each score. What do you do with them?",
        "Compute y = x / T, the softmax of y, and with `softmax_backward` the gradient for y. Multiply each entry by its score x, "
        "add up all the products, divide by T squared and change the sign.",
    ),
    why="Softmax passes the upstream gradient to the scaled scores, and each of them passes its part to T with the slope "
    "-x / T**2. One number feeds every score of every row, so all contributions are added.",
    insight="It is minus the covariance of upstream gradient and scores under the weights, divided by T squared.",
    outputs=("d_temperature",),
    atol=1e-8,  # weights are right to 1e-13 near scores of 1000, and these are multiplied by the scores
    cancelling=(frozenset({"no_square", "scaled_twice"}),),
)  # fmt: skip
