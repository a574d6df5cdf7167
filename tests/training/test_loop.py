"""attnlib.training: does the loop do what it says, and do the models learn with it?"""

import numpy as np
import pytest
from array_tools import close
from training_cases import right_along

from attnlib.training import (
    accuracy,
    adam_start,
    adam_step,
    encode,
    init_transformer,
    reversal_batch,
    text_batch,
    train,
    transformer,
    transformer_loss,
)


def parabola(params, batch):
    return ((params["x"] - batch) ** 2).sum(), {"x": 2 * (params["x"] - batch)}


def test_the_loop_is_batch_loss_step(rng):
    batches, rates = list(rng.normal(size=(4, 3))), [0.1, 0.5, 0.2, 0.3]
    params, reported = {"x": np.zeros(3)}, []
    given = iter(batches)
    final, losses = train(
        params, lambda: next(given), parabola, steps=4, rate=lambda step: rates[step - 1], beta2=0.8,
        report=lambda *args: reported.append(args),
    )  # fmt: skip
    moved, state = params, adam_start(params)
    for step, (batch, rate) in enumerate(zip(batches, rates, strict=True), 1):
        loss, gradients = parabola(moved, batch)
        moved, state = adam_step(moved, gradients, state, rate=rate, beta2=0.8)
        close(losses[step - 1], loss)
        assert reported[step - 1][:2] == (step, loss)
        close(reported[step - 1][2]["x"], moved["x"])
    close(final["x"], moved["x"])
    assert not params["x"].any() and len(reported) == len(losses) == 4


def test_a_loss_that_is_no_number_stops_the_loop():
    losses = iter([1.0, np.nan])
    with pytest.raises(ValueError, match="train: the loss of step 2 is nan: training has diverged"):
        train({"x": [1.0]}, lambda: None, lambda params, batch: (next(losses), {"x": [1.0]}), steps=3, rate=0.1)


def reverse(seed, steps):
    rng = np.random.default_rng(seed)
    params = init_transformer(rng, vocabulary=4, n=5, m=12, heads=1, layers=1)
    return train(
        params, lambda: reversal_batch(rng, b=16, n=5, vocabulary=4),
        lambda params, batch: transformer_loss(params, batch, heads=1, causal=False), steps=steps, rate=0.02,
    )  # fmt: skip


def test_one_layer_learns_to_reverse():
    params, losses = reverse(seed=0, steps=200)
    batch = reversal_batch(np.random.default_rng(1), b=50, n=5, vocabulary=4)
    logits, saved = transformer(batch.tokens, params, heads=1, causal=False)
    assert losses[:5].mean() > 1 and losses[-5:].mean() < 0.2
    assert accuracy(logits, batch.targets) > 0.95
    assert (saved.weights[0].mean(axis=(0, 1)).argmax(axis=1) == np.arange(5)[::-1]).all()


def test_the_same_seed_gives_the_same_numbers():
    (params, losses), (again, losses_again), (_, other) = (reverse(seed, 3) for seed in (0, 0, 1))
    np.testing.assert_array_equal(losses, losses_again)
    for name in params:
        np.testing.assert_array_equal(params[name], again[name])
    assert (losses != other).all()


def test_a_complete_model_learns_a_rhyme():
    text = "one two buckle my shoe three four knock at the door "
    alphabet = "".join(sorted(set(text)))
    tokens, rng = encode(text * 3, alphabet), np.random.default_rng(0)
    parts = dict(heads=2, positions="rotary")
    params = init_transformer(rng, vocabulary=len(alphabet), m=16, layers=1, norm=True, hidden=16, **parts)
    params, losses = train(
        params, lambda: text_batch(rng, tokens, b=8, n=12),
        lambda params, batch: transformer_loss(params, batch, **parts), steps=150, rate=0.01,
    )  # fmt: skip
    batch = text_batch(rng, tokens, b=20, n=12)
    assert losses[0] > 2.5 and losses[-10:].mean() < 0.5
    assert accuracy(transformer(batch.tokens, params, **parts)[0], batch.targets) > 0.8


def test_the_loss_counts_what_the_batch_keeps(rng):
    params = init_transformer(rng, vocabulary=3, n=4, m=4, heads=2, layers=1)
    batch = reversal_batch(rng, b=2, n=4, vocabulary=3)._replace(keep=np.array([[True, False] * 2, [False] * 4]))
    for causal in (True, False):
        _, gradients = transformer_loss(params, batch, heads=2, causal=causal)
        right_along(rng, lambda a, c=causal: transformer_loss(a, batch, heads=2, causal=c)[0], params, gradients)
