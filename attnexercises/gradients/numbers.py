"""A question of the chapter on gradients: one number by hand."""

import math

import numpy as np

from attnexercises.engine.model import Mistake, value_exercise

# score_gradient: weights, values and upstream gradient stand in the chapter

_WEIGHTS, _VALUES, _UPSTREAM = (0.5, 0.25, 0.25), (1.0, 4.0, 8.0), 2.0


def _score_gradient():
    weights, values = np.array([0.5, 0.25, 0.25]), np.array([1.0, 4.0, 8.0])
    d_weights = 2.0 * values
    row_mean = np.sum(weights * d_weights)
    return weights[0] * (d_weights[0] - row_mean)


def _score_gradient_by_moving():
    """Scores that give these weights; move the first one up and down."""

    def loss(move):
        powers = [math.exp(math.log(p) + (move if i == 0 else 0)) for i, p in enumerate(_WEIGHTS)]
        return _UPSTREAM * sum(power * v for power, v in zip(powers, _VALUES, strict=True)) / sum(powers)

    return (8 * (loss(1e-3) - loss(-1e-3)) - (loss(2e-3) - loss(-2e-3))) / 12e-3


_BY_HAND = value_exercise(
    title="The gradient of one score", level="easy", minutes=5, answer=_score_gradient, oracle=_score_gradient_by_moving, rtol=1e-3,
    mistakes=(
        Mistake("no_rowsum", lambda: 1.0,
            "That is weight times dP. It leaves out what the other weights lose when this one grows.", 2),
        Mistake("sigmoid", lambda: 0.5,
            "That is the sigmoid rule. It uses only the diagonal of the Jacobian, but the other two weights move as well.", 2),
        Mistake("D_plain", lambda: -12.0, "You subtracted the plain sum of dP. Each dP counts as much as its weight says.", 2),
        Mistake("mean_plain", lambda: 0.5 * (2 - 26 / 3),
            "You subtracted the plain mean of dP; the mean has to be weighted by the weights.", 2),
        Mistake("mean_product", lambda: 0.5 * (2 - 7 / 3),
            "You averaged the products of p and dP. The weights already do the averaging, so the products are only summed.", 2),
        Mistake("no_upstream", lambda: -1.25,
            "dP is dO times the value, not the value alone. Or did the weight in front go in twice?", 1),
        Mistake("sign", lambda: 2.5, "The number is right, but the sign is not: the mean is subtracted from the key's own dP.", 3),
        Mistake("no_outer", lambda: -5.0, "That is how far dP lies from the mean; it still has to be multiplied by the weight.", 3),
        Mistake("the_mean", lambda: 7.0, "That is the weighted mean of dP; subtract it from the dP of key 0.", 3),
        Mistake("dp", lambda: 2.0, "That is dP, the gradient of the weight; one step is left, through the softmax.", 2),
        Mistake("key_1", lambda: 0.25, "That is the gradient of the score of key 1.", 3),
        Mistake("key_2", lambda: 2.25, "That is the gradient of the score of key 2.", 3),
    ),
    hints=(
        "First the gradient of each weight, dP: the upstream gradient times the value of that key.",
        "Then the mean of the three entries of dP, weighted by the three weights.",
        "The weight of key 0, times its dP minus that mean.",
    ),
    why="dP is (2, 8, 16) and its weighted mean is 7. The score of key 0 is pushed by how far its 2 lies from 7, times its weight.",
    insight="Value and upstream gradient are positive, yet raising this score lowers the loss: it takes weight away from keys with "
    "larger values.",
)  # fmt: skip
