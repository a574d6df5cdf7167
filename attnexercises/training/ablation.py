"""The ablation to predict: what happens to a head's map when nobody hears the head any more."""

import numpy as np

from attnexercises.engine.model import Mistake, value_exercise


def _taken_out():
    # Zero takes the place of what the head hands over. Its weights are made before that.
    return "neither"


def _which_fall():
    """Find out by running: the weights of two layers of random numbers, with and without what the second adds."""
    rng = np.random.default_rng(0)
    start, (first, second) = rng.standard_normal((5, 4)), rng.standard_normal((2, 4, 4))

    def maps(silent):
        x, found = start, []
        for layer, matrix in enumerate((first, second)):
            scores = np.exp(x @ matrix @ x.T)
            found.append(scores / scores.sum(axis=1, keepdims=True))
            x = x + (0 if layer == silent else found[-1] @ x)
        return found

    changed = [not np.array_equal(*pair) for pair in zip(maps(None), maps(1), strict=True)]
    names = {(False, False): "neither", (True, False): "previous", (False, True): "induction", (True, True): "both"}
    return names[tuple(changed)]


_TAKEN_OUT = value_exercise(
    title="Which score falls?", level="medium", minutes=5, answer=_taken_out, oracle=_which_fall,
    mistakes=(
        Mistake("its_own", lambda: "induction",
            "The score is computed from the head's weights, and the head has computed them before its output is replaced.", 2),
        Mistake("before_it", lambda: "previous", "That head is in the layer below, and replacing an output above it cannot change it.", 1),
        Mistake("all_of_it", lambda: "both", "The answers get worse, but the scores are computed from weights and not from answers.", 2),
    ),
    hints=(
        "Follow the model from the tokens up. Which numbers are there before the output is replaced?",
        "A head's score is computed from its weights. Does the replaced output enter them?",
        "The weights of both heads are finished before the output of the second head is replaced.",
    ),
    why="The model computes its weights from the bottom up. Replacing the output of the last head changes only what comes later: "
    "the answers.",
    insight="The map stays perfect while the model guesses. A map says where a head looks, and never whether anybody listens.",
)  # fmt: skip
