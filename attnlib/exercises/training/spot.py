"""The bug to spot in the chapter on training: the reader sees the curves of `suspect` beside those of `healthy`."""

import numpy as np

from attnlib.exercises.engine.model import Mistake, value_exercise
from attnlib.training import (
    attention_only,
    attention_only_loss,
    cross_entropy,
    induction_batch,
    init_attention_only,
    train,
    warmup_cosine,
)

_TASK = dict(n=14, vocabulary=10, shortest=4, longest=6)
FLOOR = float(np.mean(np.log([9, 8, 7])))  # the first tokens are drawn without return: 9, 8, 7 are left


def healthy(steps=240):
    """Train two layers to name the next token, at every place of sequences that repeat; return what was measured."""
    return _measured(steps, causal=True)


def suspect(steps=240):
    """The same training with a bug in it."""
    return _measured(steps, causal=False)


def _measured(steps, causal):
    rng = np.random.default_rng(0)
    fresh = induction_batch(np.random.default_rng(1), b=48, **_TASK)
    # The first three targets cannot be known; those of the second round can.
    places = np.arange(14) < 3
    curves = []

    def report(step, loss, params):
        if step % 5 == 0:
            logits, _ = attention_only(fresh.tokens, params, heads=1, causal=causal)
            new = np.broadcast_to(places, fresh.keep.shape)
            curves.append((step, *(float(cross_entropy(logits, fresh.targets, keep=k)[0]) for k in (fresh.keep, new))))

    def everywhere():
        batch = induction_batch(rng, b=32, **_TASK)
        return batch._replace(keep=np.ones_like(batch.keep))

    params, _ = train(
        init_attention_only(rng, vocabulary=10, n=14, m=32, heads=1, layers=2),
        everywhere,
        lambda params, batch: attention_only_loss(params, batch, heads=1, causal=causal),
        steps=steps,
        rate=lambda step: warmup_cosine(step, steps, peak=0.01, warmup=20),
        report=report,
    )
    return np.array(curves), {"all tokens at once": _at_once(params, fresh, causal), "token by token": _by_token(params, fresh, causal)}


def _at_once(params, fresh, causal):
    logits, _ = attention_only(fresh.tokens, params, heads=1, causal=causal)
    return _right(logits.argmax(axis=-1), fresh)


def _by_token(params, fresh, causal):
    # As in use: the text up to here is all there is.
    said = np.zeros_like(fresh.targets)
    for place in range(fresh.tokens.shape[1]):
        logits, _ = attention_only(fresh.tokens[:, : place + 1], params, heads=1, causal=causal)
        said[:, place] = logits[:, -1].argmax(axis=-1)
    return _right(said, fresh)


def _right(said, fresh):
    return float((said == fresh.targets)[fresh.keep].mean())


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
    "spot_training",
    title="Find the bug from its curves",
    chapter="training",
    level="medium",
    minutes=8,
    answer=_spot_training,
    oracle=_name_of_the_bug,
    wrong={
        Mistake(
            "not_shifted", "the target is the token itself",
            "Then a model that is asked for the next token would be wrong all at once as well; read the table's first row again.", 2,
        ): lambda: "not shifted",
        Mistake(
            "rate", "rate too high",
            "Too long a step makes a loss jump or stay high; it cannot make it fall below what can be known.", 1,
        ): lambda: "rate too high",
        Mistake(
            "too_few", "the same few sequences again and again",
            "The curves are measured on fresh sequences; what was learned by heart would not help there.", 2,
        ): lambda: "same batch",
        Mistake(
            "no_bias", "no bias correction",
            "The correction changes the length of the first steps; it adds nothing to what the model can know.", 1,
        ): lambda: "no bias correction",
    },
    hints=(
        "Compare the lower curve with the dotted line. How can a loss be lower than what the best guess costs?",
        "Something tells the model what comes. It is there when all tokens are there, and gone when they come one by one.",
        "Which part of attention keeps a token from looking at later ones?",
    ),
    why="Nobody can guess a freshly drawn token better than evenly among those that are left. A loss below that floor has "
    "seen the answer; and it was seen in the later tokens, since without them it is gone.",
    insight="Work out the lowest loss that is possible, before you are glad about a low one.",
)  # fmt: skip

EXERCISES = (_SPOT,)
