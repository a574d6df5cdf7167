"""attnlib.training: text from the model with a cache is the text of the whole forward."""

import numpy as np
import pytest
from array_tools import close
from training_cases import HIDDEN, MODELS, TOKENS, B, H, K, L, M, N, complete, model

from attnlib.decoding import KVCache
from attnlib.training import generate, transformer
from attnlib.training.transformer_model import run_layers

WRITERS = MODELS | {
    "no positions": (lambda rng: model(rng, positions=None, norm=True), {"positions": None}),
    "no norm": (lambda rng: model(rng, hidden=HIDDEN), {}),
}
every_writer = pytest.mark.parametrize(("make", "options"), WRITERS.values(), ids=WRITERS)


@every_writer
@pytest.mark.parametrize("sizes", [(1, 1, 1, 1), (2, 1, 1), (4,)], ids=str)
def test_the_cache_gives_what_the_whole_sequence_gives(rng, make, options, sizes):
    params, caches, found = make(rng), [KVCache(N, leading=(B, H), d=M // H) for _ in range(L)], []
    saved = transformer(TOKENS, params, heads=H, **options)[1]
    options = {"positions": "learned"} | options | dict(heads=H, residual=True, causal=True)
    for start, size in zip(np.cumsum([0, *sizes]), sizes, strict=False):
        x, layers = run_layers(TOKENS[:, start : start + size], params, caches, **options)
        found.append(x)
    close(np.concatenate(found, axis=1), saved.x)
    for layer, whole in zip(layers, saved.weights, strict=True):
        close(layer.attention.weights, whole[:, :, N - sizes[-1] :])


@pytest.mark.parametrize(("make", "options"), MODELS.values(), ids=MODELS)
def test_likeliest_text_is_that_of_the_whole_forward(rng, make, options):
    params, tokens, options = make(rng), TOKENS, options | {"heads": H}
    steps = 4 if "positions" in params else 6
    generated = generate(TOKENS, params, steps=steps, temperature=0, **options)
    for _ in range(steps):  # without a cache: everything again for each token
        logits, _ = transformer(tokens, params, **options)
        tokens = np.concatenate([tokens, logits[:, -1:].argmax(axis=-1)], axis=1)
    np.testing.assert_array_equal(generated, tokens)
    assert len(np.unique(generated[:, N:])) > 1  # or any order would do
    np.testing.assert_array_equal(generate(TOKENS[1], params, steps=steps, temperature=0, **options), tokens[1])
    np.testing.assert_array_equal(generate(TOKENS, params, steps=0, temperature=0, **options), TOKENS)


def test_drawn_tokens_have_their_probabilities(rng):
    params, options = complete(rng), dict(heads=H, positions="rotary")
    prompt = np.tile(TOKENS[0], (4000, 1))
    logits, _ = transformer(TOKENS[0], params, **options)
    for temperature in (1.0, 0.5):
        draws = dict(steps=1, rng=np.random.default_rng(0), temperature=temperature)
        drawn = generate(prompt, params, **options, **draws)[:, -1]
        expected = np.exp(logits[-1] / temperature) / np.exp(logits[-1] / temperature).sum()
        assert abs(np.bincount(drawn, minlength=K) / 4000 - expected).max() < 0.03  # four standard deviations
    first, again = (generate(prompt[:5], params, **options, steps=3, rng=np.random.default_rng(7)) for _ in range(2))
    np.testing.assert_array_equal(first, again)
