"""Two trainings for chapter 12, measured alike; one of them has a bug, which its readers find from the curves."""

import numpy as np

from attnlib.training import (
    cross_entropy,
    induction_batch,
    init_transformer,
    train,
    transformer,
    transformer_loss,
    warmup_cosine,
)

_TASK = dict(n=14, vocabulary=10, shortest=4, longest=6)

#: What the best guess at the first three targets costs: nine, eight and seven of the ten tokens can still be drawn.
FLOOR = float(np.mean(np.log([9, 8, 7])))


def healthy(steps=240):
    """Train two layers of attention to name the next token at every place of sequences that repeat.

    Parameters
    ----------
    steps : int, default 240

    Returns
    -------
    curves : ndarray of shape (k, 3)
        Every fifth step: its number, the loss on fresh sequences where the target can be known, and the loss at the
        first three places, where it cannot.
    right : dict from str to float
        The share of right answers where the target can be known, with all tokens given at once and token by token.

    Examples
    --------
    >>> curves, right = healthy(steps=25)
    >>> curves.shape, list(right)
    ((5, 3), ['all tokens at once', 'token by token'])
    """
    return _measured(steps, causal=True)


def buggy(steps=240):
    """The same training, with a bug in it.

    Parameters
    ----------
    steps : int, default 240

    Returns
    -------
    curves : ndarray of shape (k, 3)
        As for `healthy`.
    right : dict from str to float
        As for `healthy`.

    Examples
    --------
    >>> curves, right = buggy(steps=25)
    >>> curves.shape
    (5, 3)
    """
    return _measured(steps, causal=False)


def _measured(steps, causal):
    rng, fresh = np.random.default_rng(0), induction_batch(np.random.default_rng(1), b=48, **_TASK)
    first = np.broadcast_to(np.arange(14) < 3, fresh.keep.shape)
    curves = []

    def report(step, loss, params):
        if step % 5 == 0:
            logits, _ = transformer(fresh.tokens, params, heads=1, causal=causal)
            losses = (cross_entropy(logits, fresh.targets, keep=keep)[0] for keep in (fresh.keep, first))
            curves.append((step, *losses))

    def everywhere():
        batch = induction_batch(rng, b=32, **_TASK)
        return batch._replace(keep=np.ones_like(batch.keep))

    params, _ = train(
        init_transformer(rng, vocabulary=10, n=14, m=32, heads=1, layers=2),
        everywhere,
        lambda params, batch: transformer_loss(params, batch, heads=1, causal=causal),
        steps=steps,
        rate=lambda step: warmup_cosine(step, steps, peak=0.01, warmup=20 if steps > 20 else 0),
        report=report,
    )
    at_once, _ = transformer(fresh.tokens, params, heads=1, causal=causal)
    by_token = np.zeros_like(at_once)
    for n in range(1, 15):  # as when it writes: the tokens up to here are all there are
        logits, _ = transformer(fresh.tokens[:, :n], params, heads=1, causal=causal)
        by_token[:, n - 1] = logits[:, -1]
    said = {"all tokens at once": at_once, "token by token": by_token}
    right = {how: (logits.argmax(axis=-1) == fresh.targets)[fresh.keep] for how, logits in said.items()}
    return np.array(curves), {how: float(share.mean()) for how, share in right.items()}
