"""attnlib.training: the transformer with any of its parts left out, against its parts; its gradients."""

import itertools

import numpy as np
import pytest
from array_tools import close
from dtype_spy import spied
from training_cases import (
    HIDDEN,
    LEARNED,
    MODELS,
    TOKENS,
    B,
    H,
    K,
    L,
    M,
    N,
    close_gradients,
    complete,
    model,
    right_along,
    unsettled,
)

from attnlib.multihead import MultiHeadParams, multihead_attention
from attnlib.training import head_means, init_transformer, mlp, rms_norm, transformer, transformer_backward
from attnlib.training.parameters import ATTENTION, MLP, of_layer

EVERY_COMBINATION = [
    pytest.param(*parts, id="{}, norm {:d}, hidden {}, residual {:d}, causal {:d}".format(*parts))
    for parts in itertools.product(("learned", "rotary", None), (False, True), (0, HIDDEN), (False, True), (False, True))
]
both_models = pytest.mark.parametrize(("make", "options"), MODELS.values(), ids=MODELS)


def by_parts(tokens, params, *, residual=True, causal=True, silent=()):
    """The forward without rotary positions and without the room's own layers; a silent head gets zeros for its rows of out_weight."""
    x = params["tokens"][tokens]
    if "positions" in params:
        x = x + params["positions"][: tokens.shape[-1]]
    for layer in range(L):
        arrays = of_layer(params, layer)
        attention = {name: arrays[name].copy() for name in ATTENTION}
        for silent_layer, head in silent:
            if silent_layer == layer:
                attention["out_weight"][head * M // H : (head + 1) * M // H] = 0
        normal = rms_norm(x, arrays["attention_gain"]) if "attention_gain" in arrays else x
        added = multihead_attention(normal, MultiHeadParams(heads=H, **attention), causal=causal)[0]
        x = x + added if residual else added
        if "up_weight" in arrays:
            normal = rms_norm(x, arrays["mlp_gain"]) if "mlp_gain" in arrays else x
            added = mlp(normal, *(arrays[name] for name in MLP))[0]
            x = x + added if residual else added
    return (rms_norm(x, params["gain"]) if "gain" in params else x) @ params["unembedding"]


@pytest.mark.parametrize("positions, norm, hidden, residual, causal", EVERY_COMBINATION)
def test_every_combination_of_parts(rng, positions, norm, hidden, residual, causal):
    """The forward is put together from its parts, and the gradient is the slope along random directions of all arrays at once."""
    params, d_logits = model(rng, positions=positions, norm=norm, hidden=hidden), rng.normal(size=(B, N, K))
    options = dict(heads=H, positions=positions, residual=residual, causal=causal)
    logits, saved = transformer(TOKENS, params, **options)
    if positions != "rotary":
        close(logits, by_parts(TOKENS, params, residual=residual, causal=causal))
    gradients = transformer_backward(d_logits, params, saved)
    assert list(gradients) == list(params)
    ends = np.cumsum([array.size for array in params.values()])

    def whole(flat):
        arrays = zip(params, np.split(flat, ends[:-1]), strict=True)
        there = {name: array.reshape(params[name].shape) for name, array in arrays}
        return (d_logits * transformer(TOKENS, there, **options)[0]).sum()

    flat, slopes = (np.concatenate([array.ravel() for array in arrays.values()]) for arrays in (params, gradients))
    right_along(rng, lambda arrays: whole(arrays["all"]), {"all": flat}, {"all": slopes})


@both_models
@pytest.mark.parametrize("causal", [True, False])
def test_the_gradient_of_each_array_is_its_slope(rng, make, options, causal):
    params, d_logits, options = make(rng), rng.normal(size=(B, N, K)), options | dict(heads=H, causal=causal)
    saved = transformer(TOKENS, params, **options)[1]
    gradients = transformer_backward(d_logits, params, saved)
    right_along(rng, lambda a: (d_logits * transformer(TOKENS, a, **options)[0]).sum(), params, gradients)
    assert not gradients["tokens"][3].any()  # which does not occur
    if "positions" in gradients:
        assert not gradients["positions"][N:].any()


@both_models
@pytest.mark.parametrize("causal", [True, False])
def test_the_shapes_and_what_a_position_sees(rng, make, options, causal):
    params = make(rng)
    logits, saved = transformer(TOKENS, params, heads=H, causal=causal, **options)
    assert logits.shape == (B, N, K) and [w.shape for w in saved.weights] == [(B, H, N, N)] * L
    close(transformer(TOKENS[1], params, heads=H, causal=causal, **options)[0], logits[1])
    assert all((np.triu(weights, 1) == 0).all() == causal for weights in saved.weights)


@both_models
def test_a_later_token_changes_no_earlier_logits(rng, make, options):
    params = make(rng)
    changed = TOKENS.copy()
    changed[:, -1] = 3
    logits, other = (transformer(tokens, params, heads=H, **options)[0] for tokens in (TOKENS, changed))
    np.testing.assert_array_equal(logits[:, :-1], other[:, :-1])
    assert (logits[:, -1] != other[:, -1]).all()


def test_at_position_zero_rotary_turns_nothing(rng):
    """One token stands at position 0: the rest can be put together from the parts."""
    params = complete(rng)
    close(transformer(TOKENS[:, :1], params, heads=H, positions="rotary")[0], by_parts(TOKENS[:, :1], params))


def test_rotary_weights_depend_on_distances_and_the_order_counts(rng):
    """The same token everywhere: all keys are equal but for their turn, so a row of scores depends on the distance."""
    weights = transformer(np.full((B, N), 2), complete(rng), heads=H, positions="rotary")[1].weights[0]
    ratio = lambda q, k: weights[:, :, q, k] / weights[:, :, q, q]  # noqa: E731
    close(ratio(2, 1), ratio(3, 2))
    close(ratio(2, 0), ratio(3, 1))
    assert (abs(ratio(3, 2) - 1) > 1e-6).all()


def test_without_positions_and_mask_the_order_does_not_count(rng):
    params, order = model(rng, positions=None, norm=True, hidden=HIDDEN), rng.permutation(N)
    options = dict(heads=H, positions=None, causal=False)
    close(transformer(TOKENS[:, order], params, **options)[0], transformer(TOKENS, params, **options)[0][:, order])


@both_models
def test_float32_gradients_agree_with_float64(rng, make, options):
    narrow = make(rng, np.float32)
    wide = {name: array.astype(float) for name, array in narrow.items()}
    d_logits, results = rng.normal(size=(B, N, K)).astype(np.float32), []
    for params in (narrow, wide):
        logits, saved = transformer(TOKENS, params, heads=H, **options)
        results.append({"logits": logits} | transformer_backward(d_logits.astype(logits.dtype), params, saved))
    assert {array.dtype for array in results[0].values()} == {np.dtype(np.float32)}
    assert saved.weights[0].dtype == np.float64
    close_gradients(*results, 1e-4)


@both_models
def test_float32_makes_no_float64_on_the_way(rng, make, options):
    params, d_logits = make(rng, np.float32), rng.normal(size=(B, N, K)).astype(np.float32)
    saved = transformer(TOKENS, params, heads=H, **options)[1]
    beyond = 2 * N if options else 1  # the angles of rotary alone are float64
    assert spied(transformer, TOKENS, params, heads=H, without={(0, 1)}, **options, beyond=beyond) == {np.dtype(np.float32)}
    assert spied(transformer_backward, d_logits, params, saved, beyond=beyond) == {np.dtype(np.float32)}


@pytest.mark.parametrize("parts", [{}, {"norm": True, "hidden": HIDDEN}], ids=str)
@pytest.mark.parametrize("silent", [{(0, 1)}, {(1, 2)}, {(0, 0), (0, 2), (1, 0)}], ids=str)
def test_a_head_that_is_taken_out_says_nothing(rng, silent, parts):
    params = model(rng, **parts)
    logits, saved = transformer(TOKENS, params, heads=H, without=silent)
    close(logits, by_parts(TOKENS, params, silent=silent))
    assert saved.without == silent
    with_all = transformer(TOKENS, params, heads=H)[1]
    np.testing.assert_array_equal(saved.weights[0], with_all.weights[0])  # it still looks; nobody listens


@both_models
def test_a_head_can_be_replaced_by_what_it_says(rng, make, options):
    """The output of a head in its own place changes nothing; the mean of many differs from it, and from zero."""
    params, options = make(rng), options | {"heads": H}
    logits, saved = transformer(TOKENS, params, **options)
    merged = saved.layers[1].attention.merged.reshape(B, N, H, M // H)
    close(transformer(TOKENS, params, **options, without={(1, 2): merged[:, :, 2]})[0], logits)
    means = head_means(saved)
    assert sorted(means) == [(layer, head) for layer in range(L) for head in range(H)]
    close(means[1, 2], merged[:, :, 2].mean(axis=0))
    replaced = transformer(TOKENS, params, **options, without={(1, 2): means[1, 2]})[0]
    silent = transformer(TOKENS, params, **options, without={(1, 2)})[0]
    assert (replaced != silent).any(axis=-1).all() and (replaced != logits).any(axis=-1).all()


@both_models
def test_nothing_is_written_to(rng, make, options):
    params, options = make(rng), options | {"heads": H}
    for array in params.values():
        array.flags.writeable = False
    logits, saved = transformer(TOKENS, params, **options)
    merged = saved.layers[0].attention.merged.copy()
    transformer(TOKENS, params, **options, without=head_means(saved))
    transformer_backward(logits, params, saved)
    np.testing.assert_array_equal(saved.layers[0].attention.merged, merged)


def test_the_start_is_random_and_repeatable():
    sizes = dict(vocabulary=K, n=LEARNED, m=48, heads=H, layers=L)
    first, again, other = (init_transformer(np.random.default_rng(seed), **sizes, scale=0.5) for seed in (0, 0, 1))
    for name, array in first.items():
        np.testing.assert_array_equal(array, again[name])
        assert (array != other[name]).all()
    assert 0.4 < first["positions"].std() < 0.6 and 0.4 < first["tokens"].std() < 0.6
    close(first["unembedding"].std() * np.sqrt(48), 1, 0.2)


def test_the_start_has_the_sizes_that_were_asked_for():
    parts = dict(positions="rotary", norm=True, hidden=HIDDEN, dtype="float32")
    params = init_transformer(np.random.default_rng(0), vocabulary=K, m=M, heads=H, layers=L, **parts)
    assert params["1.down_weight"].shape == (HIDDEN, M) and params["unembedding"].shape == (M, K)
    assert (params["0.mlp_gain"] == 1).all() and not params["0.up_bias"].any() and not params["1.down_bias"].any()
    assert {array.dtype for array in params.values()} == {np.dtype(np.float32)}
    with_mlp = init_transformer(np.random.default_rng(0), vocabulary=K, m=M, heads=H, layers=L, positions=None, hidden=1)
    assert not {"gain", "positions", "0.mlp_gain", "0.attention_gain"} & with_mlp.keys()


def test_a_window_hides_old_tokens_in_every_layer_and_has_the_right_gradients(rng):
    params = unsettled(rng, complete(rng))
    options = dict(heads=H, positions="rotary", window=2)
    logits, saved = transformer(TOKENS, params, **options)
    n = TOKENS.shape[-1]
    sees = np.tri(n, dtype=bool) & ~np.tri(n, k=-2, dtype=bool)
    for weights in saved.weights:
        assert not weights[..., ~sees].any() and (weights[..., sees] > 0).all()
    wide, _ = transformer(TOKENS, params, **(options | {"window": n}))
    close(wide, transformer(TOKENS, params, heads=H, positions="rotary")[0])
    assert not np.allclose(wide, logits)
    d_logits = rng.normal(size=logits.shape)
    right_along(rng, lambda p: np.vdot(d_logits, transformer(TOKENS, p, **options)[0]), params,
                transformer_backward(d_logits, params, saved))  # fmt: skip
    with pytest.raises(ValueError, match="transformer: window must be at least 1"):
        transformer(TOKENS, params, **(options | {"window": 0}))
