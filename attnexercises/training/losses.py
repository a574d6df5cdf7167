"""The exercise on the gradient of cross-entropy, a mean over the positions that count."""

import math

import numpy as np

from attnexercises.engine.model import Exercise, Mistake, Probe
from attnexercises.softmax.stable import plain_softmax


def cross_entropy_backward(weights, targets, keep):
    right = np.eye(weights.shape[-1])[targets]
    d_logits = (weights - right) * keep[..., np.newaxis]
    return d_logits / keep.sum()


def _oracle(weights, targets, keep):
    """Slopes of the loss by the complex step, from logits that give these weights: no formula of a gradient in it."""
    logits = np.log(weights)
    places = list(np.ndindex(targets.shape))
    kept = [place for place in places if keep[place]]
    d_logits = np.zeros(weights.shape)
    for place in kept:
        for i in range(weights.shape[-1]):
            row = [complex(x) for x in logits[place]]
            row[i] += 1e-30j
            total = sum(np.exp(x) for x in row)
            d_logits[(*place, i)] = (np.log(total) - row[int(targets[place])]).imag / 1e-30
    return d_logits / math.fsum(1 for _ in kept)


def _case(b, n, k, kept):
    def make(rng):
        weights = plain_softmax(rng.standard_normal((b, n, k)))
        return weights, rng.integers(k, size=(b, n)), np.arange(n) >= n - np.asarray(kept)[:, np.newaxis]

    return make


def _one_kept(rng):
    keep = np.zeros((3, 4), bool)
    keep[1, 2] = True
    return plain_softmax(rng.standard_normal((3, 4, 2))), rng.integers(2, size=(3, 4)), keep


def _with_a_kept_position(args):
    """A mean over no position is none: a case made smaller keeps one."""
    if not args[2].any():
        raise ValueError("no position is kept")
    return args


def _sure(rng):
    targets = np.array([[0, 2, 1, 1]])
    weights = plain_softmax(np.where(np.eye(3)[[0, 2, 0, 2]], 12.0, 0.0))[np.newaxis]
    return weights, targets, np.ones((1, 4), bool)


_BACKWARD = Exercise(
    title="The gradient of cross-entropy", level="easy", minutes=12, blanks=3, oracle=_oracle, solution=cross_entropy_backward,
    probes=(
        Probe("2 texts of 5 tokens, 3 and 4 of them kept, a vocabulary of 3", _case(2, 5, 3, (3, 4))),
        Probe("3 texts of 3 tokens, a vocabulary of 3", _case(3, 3, 3, (2, 1, 2)), "equal", "Axes of one size."),
        Probe("4 texts of 2 tokens, a vocabulary of 7", _case(4, 2, 7, (1, 2, 1, 1)), why="More tokens than places."),
        Probe("one position is kept", _one_kept, "edge", "A mean over one position."),
        Probe("sure, twice right and twice wrong", _sure, "edge", "Where the model is sure and right, the slope is nearly zero."),
        Probe("one text, one token, a vocabulary of 2", _case(1, 1, 2, (1,)), "edge", "Axes of size 1 stay."),
    ),
    mistakes=(
        Mistake("sum", "/ keep.sum() ->",
            "The loss is a mean over the kept positions, and you differentiated their sum.", 3, shows="factor", sets="count"),
        Mistake("all_positions", "keep.sum() -> keep.size",
            "You took the mean over all positions. Only the kept ones count.", 3, shows="factor", sets="count"),
        Mistake("batch", "keep.sum() -> len(keep)",
            "You divided by the number of texts. The mean is over positions.", 3, shows="factor", sets="count"),
        Mistake("each_text", "keep.sum() -> keep.sum(axis=-1)[..., np.newaxis, np.newaxis]",
            "You gave each text a mean of its own. The loss is one mean over all kept positions.", 3, sets="count"),
        Mistake("mean_of_texts", "keep.sum() -> (len(keep) * keep.sum(axis=-1)[..., np.newaxis, np.newaxis])",
            "You took a mean for each text, and then the mean of these. The loss is one mean, in which all kept positions count alike.", 1),
        Mistake("vocabulary", "keep.sum() -> (keep.sum() * weights.shape[-1])",
            "You counted the vocabulary in the mean. A position has one loss, however many tokens there are.", 3,
            shows="factor", sets="count"),
        Mistake("sign", "return d_logits -> return -d_logits",
            "The sign is flipped. More weight on a wrong token raises the loss.", 2, shows="minus"),
        Mistake("added", "weights - right -> weights + right",
            "You added 1 at the target. It has to be subtracted.", 2, sets="slope"),
        Mistake("no_right", "(weights - right) -> weights",
            "The target is missing: nothing in your slope depends on which token came.", 2, sets="slope"),
        Mistake("only_target", "(weights - right) -> right * (weights - right)",
            "Only the logit of the target gets a slope in yours. The other logits are in the logarithm of the sum, too.", 1, sets="slope"),
        Mistake("weights_slope", "(weights - right) -> (-right / weights)",
            "This is the slope in the weights. The softmax still lies between them and the logits.", 1, sets="slope"),
        Mistake("log", "(weights - right) -> (np.log(weights) - right)",
            "You have log(weights) where the weights themselves belong. The logarithm is in the loss, not in its slope.", 2, sets="slope"),
        Mistake("squared", "(weights - right) -> 2 * (weights - right)",
            "The factor 2 belongs to a squared error. This loss is a logarithm.", 1, shows="factor", sets="slope"),
        Mistake("times_weights", "return d_logits / keep.sum() -> return d_logits * weights / keep.sum()",
            "The weights multiply once more. With cross-entropy the slope of a logit is weight minus target, and nothing else.", 2),
        Mistake("smoothed", "right = np.eye(weights.shape[-1])[targets] -> right = 0.9 * np.eye(weights.shape[-1])[targets] + 0.1 / weights.shape[-1]",
            "You smoothed the targets. The right token has the target 1, all others 0.", 1),
        Mistake("softmax_again", "right = -> weights = plain_softmax(weights)\nright =",
            "You applied the softmax again. The weights are its output already.", 1),
        Mistake("no_keep", "* keep[..., np.newaxis] ->",
            "Positions that are not kept have a slope in yours. The loss does not depend on them.", 3, sets="keep"),
        Mistake("keep_right_only", "(weights - right) * keep[..., np.newaxis] -> weights - right * keep[..., np.newaxis]",
            "You multiplied only the target by `keep`. Where a position does not count, the weights must vanish, too.", 3,
            sets="keep slope"),
        Mistake("inverted", "keep): -> keep):\n    keep = ~keep",
            "You read `keep` the wrong way round. True means that a position counts.", 3),
        Mistake("shifted", "[targets] -> [np.roll(targets, -1, axis=-1)]",
            "You moved the targets by one place. They already say which token comes next.", 2),
    ),
    hints=(
        "Take one position. Its loss is the log of the sum of e to the logits, minus the logit of the target. Differentiate both "
        "parts in one logit.",
        "The first part gives the softmax. The second gives 1 at the target and 0 elsewhere, which is a row of the identity.",
        "`np.eye(k)[targets]` is 1 at each target. Multiply the difference by `keep` with a new last axis, and divide by the number "
        "of kept positions.",
    ),
    why="The slope of the logarithm of the sum is the softmax, and the slope of the target's logit is 1. A mean divides "
    "by the number of positions that it counts, and by nothing else.",
    insight="The entries of every position sum to 0: the slope asks the right logit to rise by as much as it asks all others together to fall.",
    consistent=_with_a_kept_position, outputs=("d_logits",),
)  # fmt: skip
