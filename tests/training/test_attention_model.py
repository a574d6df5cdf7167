"""attnlib.training: the attention-only transformer against layer after layer, its gradients, and heads taken out."""

import numpy as np
import pytest
from array_tools import close
from dtype_spy import spied
from training_cases import LEARNED, B, H, K, L, M, N, attention_only_params, close_gradients, right_along

from attnlib.multihead import MultiHeadParams, multihead_attention
from attnlib.training import attention_only, attention_only_backward, head_means, init_attention_only
from attnlib.training.layers import of_layer

TOKENS = np.array([[1, 4, 1, 0], [2, 2, 4, 1]])


def by_layers(tokens, params, causal, silent=()):
    """The forward without the room's own code; a silent head gets zeros for its rows of out_weight."""
    x = params["tokens"][tokens] + params["positions"][: tokens.shape[-1]]
    for layer in range(L):
        arrays = of_layer(params, layer)
        for of_layer_, head in silent:
            if of_layer_ == layer:
                arrays["out_weight"] = arrays["out_weight"].copy()
                arrays["out_weight"][head * M // H : (head + 1) * M // H] = 0
        x = x + multihead_attention(x, MultiHeadParams(heads=H, **arrays), causal=causal)[0]
    return x @ params["unembedding"]


@pytest.mark.parametrize("causal", [True, False])
def test_the_forward_is_layer_after_layer(rng, causal):
    params = attention_only_params(rng)
    logits, saved = attention_only(TOKENS, params, heads=H, causal=causal)
    close(logits, by_layers(TOKENS, params, causal))
    assert logits.shape == (B, N, K) and [w.shape for w in saved.weights] == [(B, H, N, N)] * L
    close(attention_only(TOKENS[1], params, heads=H, causal=causal)[0], logits[1])
    assert all((np.triu(weights, 1) == 0).all() == causal for weights in saved.weights)


def test_a_later_token_changes_no_earlier_logits(rng):
    params = attention_only_params(rng)
    changed = TOKENS.copy()
    changed[:, -1] = 3
    logits, other = (attention_only(tokens, params, heads=H)[0] for tokens in (TOKENS, changed))
    np.testing.assert_array_equal(logits[:, :-1], other[:, :-1])
    assert (logits[:, -1] != other[:, -1]).all()


@pytest.mark.parametrize("causal", [True, False])
def test_the_gradients_are_the_slopes(rng, causal):
    params, d_logits = attention_only_params(rng), rng.normal(size=(B, N, K))
    _, saved = attention_only(TOKENS, params, heads=H, causal=causal)
    gradients = attention_only_backward(d_logits, params, saved)
    right_along(rng, lambda a: (d_logits * attention_only(TOKENS, a, heads=H, causal=causal)[0]).sum(), params, gradients)
    assert not gradients["tokens"][3].any() and not gradients["positions"][N:].any()  # which do not occur


def test_float32_gradients_agree_with_float64(rng):
    narrow = attention_only_params(rng, np.float32)
    wide = {name: array.astype(float) for name, array in narrow.items()}
    d_logits, results = rng.normal(size=(B, N, K)).astype(np.float32), []
    for params in (narrow, wide):
        logits, saved = attention_only(TOKENS, params, heads=H)
        results.append({"logits": logits} | attention_only_backward(d_logits.astype(logits.dtype), params, saved))
    assert {array.dtype for array in results[0].values()} == {np.dtype(np.float32)}
    assert saved.weights[0].dtype == np.float64
    close_gradients(*results, 1e-4)


def test_float32_makes_no_float64_on_the_way(rng):
    params, d_logits = attention_only_params(rng, np.float32), rng.normal(size=(B, N, K)).astype(np.float32)
    saved = attention_only(TOKENS, params, heads=H)[1]
    assert spied(attention_only, TOKENS, params, heads=H, without={(0, 1)}, beyond=1) == {np.dtype(np.float32)}
    assert spied(attention_only_backward, d_logits, params, saved, beyond=1) == {np.dtype(np.float32)}


@pytest.mark.parametrize("silent", [{(0, 1)}, {(1, 2)}, {(0, 0), (0, 2), (1, 0)}], ids=str)
def test_a_head_that_is_taken_out_says_nothing(rng, silent):
    params = attention_only_params(rng)
    logits, saved = attention_only(TOKENS, params, heads=H, without=silent)
    close(logits, by_layers(TOKENS, params, True, silent))
    assert saved.without == silent
    with_all = attention_only(TOKENS, params, heads=H)[1]
    np.testing.assert_array_equal(saved.weights[0], with_all.weights[0])  # it still looks; nobody listens


def test_a_head_can_be_replaced_by_what_it_says(rng):
    """The output of a head in its own place changes nothing; the mean of many differs from it, and from zero."""
    params = attention_only_params(rng)
    logits, saved = attention_only(TOKENS, params, heads=H)
    merged = saved.layers[1].merged.reshape(B, N, H, M // H)
    close(attention_only(TOKENS, params, heads=H, without={(1, 2): merged[:, :, 2]})[0], logits)
    means = head_means(saved)
    assert sorted(means) == [(layer, head) for layer in range(L) for head in range(H)]
    close(means[1, 2], merged[:, :, 2].mean(axis=0))
    replaced = attention_only(TOKENS, params, heads=H, without={(1, 2): means[1, 2]})[0]
    silent = attention_only(TOKENS, params, heads=H, without={(1, 2)})[0]
    assert (replaced != silent).any(axis=-1).all() and (replaced != logits).any(axis=-1).all()


def test_nothing_is_written_to(rng):
    params = attention_only_params(rng)
    for array in params.values():
        array.flags.writeable = False
    logits, saved = attention_only(TOKENS, params, heads=H)
    merged = saved.layers[0].merged.copy()
    attention_only(TOKENS, params, heads=H, without=head_means(saved))
    attention_only_backward(logits, params, saved)
    np.testing.assert_array_equal(saved.layers[0].merged, merged)


def test_the_start_is_random_and_repeatable():
    sizes = dict(vocabulary=K, n=LEARNED, m=48, heads=H, layers=L)
    first, again, other = (init_attention_only(np.random.default_rng(seed), **sizes, scale=0.5) for seed in (0, 0, 1))
    for name, array in first.items():
        np.testing.assert_array_equal(array, again[name])
        assert (array != other[name]).all()
    assert 0.4 < first["positions"].std() < 0.6 and 0.4 < first["tokens"].std() < 0.6
    close(first["unembedding"].std() * np.sqrt(48), 1, 0.2)
