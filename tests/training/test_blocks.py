"""attnlib.training: the complete block and the language model, their gradients, and the cache."""

import numpy as np
import pytest
from array_tools import close
from dtype_spy import spied
from training_cases import B, H, K, L, M, N, block_params, close_gradients, language_params, right, right_along

from attnlib.decoding import KVCache
from attnlib.multihead import MultiHeadParams, multihead_attention
from attnlib.training import (
    block,
    block_backward,
    block_decode,
    generate,
    init_block,
    init_language_model,
    language_model,
    language_model_backward,
    mlp,
    rms_norm,
)

TOKENS = np.array([[1, 4, 1, 0], [2, 2, 4, 1]])
MLP = ("up_weight", "up_bias", "down_weight", "down_bias")


def test_at_position_zero_the_block_is_attention_and_mlp(rng):
    """One token stands at position 0, where rotary turns nothing: the rest can be put together from the parts."""
    params, x = block_params(rng), rng.normal(size=(B, 1, M))
    attention = MultiHeadParams(heads=H, **{key: params[key] for key in ("query_weight", "key_weight", "value_weight", "out_weight")})
    middle = x + multihead_attention(rms_norm(x, params["attention_gain"]), attention)[0]
    expected = middle + mlp(rms_norm(middle, params["mlp_gain"]), *(params[name] for name in MLP))[0]
    close(block(x, params, heads=H)[0], expected)


def test_the_weights_depend_on_distances_and_the_order_counts(rng):
    """The same token everywhere: all keys are equal but for their turn, so a row of scores depends on the distance."""
    params = block_params(rng)
    weights = block(np.tile(rng.normal(size=M), (B, N, 1)), params, heads=H)[1].attention.weights
    ratio = lambda q, k: weights[:, :, q, k] / weights[:, :, q, q]  # noqa: E731
    close(ratio(2, 1), ratio(3, 2))
    close(ratio(2, 0), ratio(3, 1))
    assert (abs(ratio(3, 2) - 1) > 1e-6).all()


def test_gradients_of_the_block(rng):
    arrays = block_params(rng) | {"x": rng.normal(size=(B, N, M))}
    d_out = rng.normal(size=(B, N, M))

    def out(arrays):
        return block(arrays["x"], {name: array for name, array in arrays.items() if name != "x"}, heads=H)

    saved = out(arrays)[1]
    d_x, d_params = block_backward(d_out, {name: array for name, array in arrays.items() if name != "x"}, saved)
    right(lambda a: (d_out * out(a)[0]).sum(), arrays, d_params | {"x": d_x})


def test_gradients_of_the_language_model(rng):
    params, d_logits = language_params(rng), rng.normal(size=(B, N, K))
    _, saved = language_model(TOKENS, params, heads=H)
    gradients = language_model_backward(d_logits, params, saved)
    right_along(rng, lambda a: (d_logits * language_model(TOKENS, a, heads=H)[0]).sum(), params, gradients)


def test_float32_gradients_agree_with_float64(rng):
    narrow = language_params(rng, np.float32)
    wide = {name: array.astype(float) for name, array in narrow.items()}
    d_logits, results = rng.normal(size=(B, N, K)).astype(np.float32), []
    for params in (narrow, wide):
        logits, saved = language_model(TOKENS, params, heads=H)
        results.append({"logits": logits} | language_model_backward(d_logits.astype(logits.dtype), params, saved))
    assert {array.dtype for array in results[0].values()} == {np.dtype(np.float32)}
    close_gradients(*results, 1e-4)


def test_float32_makes_no_float64_on_the_way(rng):
    params, d_logits = language_params(rng, np.float32), rng.normal(size=(B, N, K)).astype(np.float32)
    saved = language_model(TOKENS, params, heads=H)[1]
    angles = 2 * N  # the angles of rotary alone are float64
    assert spied(language_model, TOKENS, params, heads=H, beyond=angles) == {np.dtype(np.float32)}
    assert spied(language_model_backward, d_logits, params, saved, beyond=angles) == {np.dtype(np.float32)}


@pytest.mark.parametrize("sizes", [(1, 1, 1, 1), (2, 1, 1), (4,)], ids=str)
def test_the_cache_gives_what_the_whole_sequence_gives(rng, sizes):
    params, x = block_params(rng), rng.normal(size=(B, N, M))
    expected, saved = block(x, params, heads=H)
    cache, outs = KVCache(N, leading=(B, H), d=M // H), []
    for start, size in zip(np.cumsum([0, *sizes]), sizes, strict=False):
        out, weights = block_decode(x[:, start : start + size], params, cache, heads=H)
        outs.append(out)
    close(np.concatenate(outs, axis=1), expected)
    close(weights, saved.attention.weights[:, :, N - sizes[-1] :])


def test_likeliest_text_is_that_of_the_whole_forward(rng):
    params, tokens = language_params(rng), TOKENS
    generated = generate(TOKENS, params, heads=H, steps=6, temperature=0)
    for _ in range(6):  # without a cache: everything again for each token
        logits, _ = language_model(tokens, params, heads=H)
        tokens = np.concatenate([tokens, logits[:, -1:].argmax(axis=-1)], axis=1)
    np.testing.assert_array_equal(generated, tokens)
    assert len(np.unique(generated[:, N:])) > 1  # or any order would do
    np.testing.assert_array_equal(generate(TOKENS[1], params, heads=H, steps=6, temperature=0), tokens[1])
    np.testing.assert_array_equal(generate(TOKENS, params, heads=H, steps=0, temperature=0), TOKENS)


def test_drawn_tokens_have_their_probabilities(rng):
    params = language_params(rng)
    prompt = np.tile(TOKENS[0], (4000, 1))
    logits, _ = language_model(TOKENS[0], params, heads=H)
    for temperature in (1.0, 0.5):
        drawn = generate(prompt, params, heads=H, steps=1, rng=np.random.default_rng(0), temperature=temperature)[:, -1]
        expected = np.exp(logits[-1] / temperature) / np.exp(logits[-1] / temperature).sum()
        assert abs(np.bincount(drawn, minlength=K) / 4000 - expected).max() < 0.03  # four standard deviations
    first, again = (generate(prompt[:5], params, heads=H, steps=3, rng=np.random.default_rng(7)) for _ in range(2))
    np.testing.assert_array_equal(first, again)


def test_the_start_has_the_sizes_that_were_asked_for():
    params = init_block(np.random.default_rng(0), m=M, heads=H)
    assert params["up_weight"].shape == (M, 4 * M) and (params["mlp_gain"] == 1).all() and not params["up_bias"].any()
    model = init_language_model(np.random.default_rng(0), vocabulary=K, m=M, heads=H, layers=L, hidden=7, dtype="float32")
    assert model["1.down_weight"].shape == (7, M) and model["unembedding"].shape == (M, K)
    assert {array.dtype for array in model.values()} == {np.dtype(np.float32)}
