"""The bug to spot in the chapter on training: the reader sees the curves of `attnpage.buggy_run`."""

import numpy as np

from attnexercises.engine.model import Mistake, value_exercise

def _spot_training():
    # It knows what nobody can know, and knows it no more when the tokens come one by one.
    return "no mask"


def _name_of_the_bug():
    """Find out by running: does what an untrained layer finds for the first token depend on a later one?"""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((5, 4))
    later = x + np.eye(5, 4, k=-4)  # the last token is another one

    def first(tokens):
        scores = np.exp(tokens[0] @ tokens.T)  # of no mask
        return scores @ tokens / scores.sum()

    return "something else" if np.allclose(first(x), first(later)) else "no mask"


_SPOT = value_exercise(
    title="Find the bug from its curves", level="medium", minutes=8, answer=_spot_training, oracle=_name_of_the_bug,
    mistakes=(
        Mistake("not_shifted", lambda: "not shifted",
            "Then the answers would be wrong with all tokens at once as well. Read the first of the two printed lines again.", 2),
        Mistake("rate", lambda: "rate too high",
            "Steps that are too long make a loss jump or stay high. They cannot push it below what can be known.", 1),
        Mistake("too_few", lambda: "same batch",
            "The curves are measured on fresh sequences, where learning by heart does not help.", 2),
        Mistake("no_bias", lambda: "no bias correction",
            "The correction changes the length of the first steps. It does not change what the model can know.", 1),
    ),
    hints=(
        "Compare the lower curve with the dotted line. How can a loss be lower than what the best guess costs?",
        "Something tells the model the next token. It is there when the model gets all tokens at once, and gone when they come "
        "one by one.",
        "Which part of attention keeps a token from looking at later ones?",
    ),
    why="Nobody can guess a freshly drawn token better than evenly among those that are left. A model whose loss is below this "
    "floor has seen the answer. It saw it in the later tokens, because without them the answer is gone.",
    insight="Before you enjoy a low loss, work out the lowest loss that is possible.",
)  # fmt: skip
