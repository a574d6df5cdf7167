"""attnlib.multihead: is it right, is every gradient right, does it speak PyTorch, does it fail clearly?"""

import numpy as np
import oracles
import pytest
import recorded_cases
from dtype_spy import spied

from attnlib.gradients import check_gradient
from attnlib.masks import causal_mask
from attnlib.multihead import (
    MultiHeadParams,
    from_torch,
    init_multihead,
    merge_heads,
    multihead_attention,
    multihead_attention_backward,
    multihead_mask_backward,
    split_heads,
    to_torch,
)

# Every axis has its own size, so that mixing up two axes cannot go unnoticed.
B, Q, K, M, D, V = 2, 4, 3, 6, 5, 7
SIZES = dict(m=M, d=D, v=V, bias=True)
NAMES = [f"{which}_{kind}" for which in ("query", "key", "value", "out") for kind in ("weight", "bias")]


def make_params(rng, heads=3, kv_heads=None, **sizes):
    params = init_multihead(rng, heads=heads, kv_heads=kv_heads, **(SIZES | sizes))
    # Biases start at zero; a test needs them to be something.
    return params.map(lambda array: array if array.ndim == 2 else rng.normal(size=array.shape))


def by_oracle(x, params, context=None, **options):
    for_keys, for_values = context if isinstance(context, tuple) else (x if context is None else context,) * 2
    arrays = params.arrays()
    weights = [arrays[f"{which}_weight"] for which in ("query", "key", "value", "out")]
    biases = [arrays.get(f"{which}_bias", np.zeros(w.shape[1])) for which, w in zip(("query", "key", "value", "out"), weights, strict=True)]
    return oracles.multihead_attention(x, for_keys, for_values, weights, biases, params.heads, params.kv_heads, **options)


def close(ours, expected, tolerance=1e-13):
    np.testing.assert_allclose(ours, expected, rtol=tolerance, atol=tolerance)


# --- agrees with one head after the other ---------------------------------------------------------------------------

HEADS = [(1, 1), (3, 3), (4, 4), (4, 2), (6, 2), (6, 1)]


@pytest.mark.parametrize("heads, kv_heads", HEADS)
@pytest.mark.parametrize("causal", [False, True])
def test_self_attention_is_one_head_after_the_other(rng, heads, kv_heads, causal):
    x, params = rng.normal(size=(B, Q, M)), make_params(rng, heads, kv_heads)
    out, saved = multihead_attention(x, params, causal=causal)
    expected, weights = by_oracle(x, params, causal=causal)
    close(out, expected)
    close(saved.weights, weights)


@pytest.mark.parametrize("heads, kv_heads", HEADS)
@pytest.mark.parametrize("pair", [False, True])
def test_cross_attention_is_one_head_after_the_other(rng, heads, kv_heads, pair):
    widths = dict(key_width=9, value_width=8 if pair else 9)
    x, params = rng.normal(size=(B, Q, M)), make_params(rng, heads, kv_heads, **widths)
    context = rng.normal(size=(B, K, 9))
    context = (context, rng.normal(size=(B, K, 8))) if pair else context
    out, saved = multihead_attention(x, params, context=context)
    expected, weights = by_oracle(x, params, context)
    close(out, expected)
    close(saved.weights, weights)


MASKS = {"per head": (3, Q, K), "per element": (B, 1, 1, K), "full": (B, 3, Q, K), "one for all": (Q, K), "keys": (K,)}


@pytest.mark.parametrize("shape", MASKS.values(), ids=MASKS)
@pytest.mark.parametrize("additive", [False, True])
def test_masks_broadcast_over_batch_heads_queries_and_keys(rng, shape, additive):
    x, context, params = rng.normal(size=(B, Q, M)), rng.normal(size=(B, K, M)), make_params(rng)
    mask = rng.random(shape) < 0.6
    mask = np.where(mask, rng.normal(size=shape), -np.inf) if additive else mask
    out, saved = multihead_attention(x, params, context=context, mask=mask)
    expected, weights = by_oracle(x, params, context, mask=mask)
    close(out, expected)
    close(saved.weights, weights)


def test_without_biases_is_with_biases_of_zero(rng):
    x, params = rng.normal(size=(B, Q, M)), make_params(rng, bias=False)
    assert not any("bias" in name for name in params.arrays())
    close(multihead_attention(x, params)[0], by_oracle(x, params)[0])


@pytest.mark.parametrize("leading", [(), (1,), (2, 3)])
def test_any_number_of_leading_axes_gives_the_same_for_each(rng, leading):
    x, params = rng.normal(size=(*leading, Q, M)), make_params(rng, 4, 2)
    d_out = rng.normal(size=x.shape)
    out, saved = multihead_attention(x, params, causal=True)
    d_x, _, d_params = multihead_attention_backward(d_out, params, saved)
    expected_sum = np.zeros_like(params.query_weight)
    for index in np.ndindex(leading):
        one, one_saved = multihead_attention(x[index], params, causal=True)
        one_d_x, _, one_d_params = multihead_attention_backward(d_out[index], params, one_saved)
        close(out[index], one)
        close(d_x[index], one_d_x)
        expected_sum += one_d_params.query_weight
    close(d_params.query_weight, expected_sum)


# --- invariants -----------------------------------------------------------------------------------------------------


def test_split_cuts_features_into_blocks_and_merge_undoes_it(rng):
    x = rng.normal(size=(2, 5, 3 * 4))
    heads = split_heads(x, 3)
    assert heads.shape == (2, 3, 5, 4)
    for h in range(3):
        np.testing.assert_array_equal(heads[:, h], x[:, :, 4 * h : 4 * h + 4])
    np.testing.assert_array_equal(merge_heads(heads), x)
    assert split_heads(x[0], 3).shape == (3, 5, 4) and merge_heads(heads[0]).shape == (5, 12)
    assert split_heads(x[:0], 3).shape == (0, 3, 5, 4) and split_heads(x[:, :0], 3).shape == (2, 3, 0, 4)


@pytest.mark.parametrize("kv_heads", [1, 2, 3])
def test_shared_key_heads_are_repeated_key_heads_and_gradients_sum_over_the_group(rng, kv_heads):
    heads = 6
    group = heads // kv_heads
    x, params = rng.normal(size=(B, Q, M)), make_params(rng, heads, kv_heads)

    def repeat(array, width):
        blocks = array.reshape(*array.shape[:-1], kv_heads, width)
        return np.repeat(blocks, group, axis=-2).reshape(*array.shape[:-1], heads * width)

    def collect(array, width):
        return array.reshape(*array.shape[:-1], kv_heads, group, width).sum(axis=-2).reshape(*array.shape[:-1], -1)

    arrays = params.arrays()
    for name, width in (("key_weight", D), ("key_bias", D), ("value_weight", V), ("value_bias", V)):
        arrays[name] = repeat(arrays[name], width)
    full = MultiHeadParams(heads=heads, **arrays)
    (out, saved), (full_out, full_saved) = multihead_attention(x, params), multihead_attention(x, full)
    close(out, full_out)
    d_out = rng.normal(size=out.shape)
    d_x, _, d_params = multihead_attention_backward(d_out, params, saved)
    full_d_x, _, full_d_params = multihead_attention_backward(d_out, full, full_saved)
    close(d_x, full_d_x)
    for name in NAMES:
        expected = getattr(full_d_params, name)
        if name.startswith(("key", "value")):
            expected = collect(expected, D if name.startswith("key") else V)
        close(getattr(d_params, name), expected, 1e-12)


def test_self_attention_is_cross_attention_with_itself_and_its_gradients_add_up(rng):
    x, params = rng.normal(size=(B, Q, M)), make_params(rng)
    out, saved = multihead_attention(x, params)
    d_out = rng.normal(size=out.shape)
    d_x, nothing, d_params = multihead_attention_backward(d_out, params, saved)
    assert nothing is None
    for context in (x, (x, x)):
        cross_out, cross_saved = multihead_attention(x, params, context=context)
        np.testing.assert_array_equal(cross_out, out)
        cross_d_x, d_context, cross_d_params = multihead_attention_backward(d_out, params, cross_saved)
        d_context = sum(d_context) if isinstance(d_context, tuple) else d_context
        close(cross_d_x + d_context, d_x)
        np.testing.assert_array_equal(cross_d_params.value_weight, d_params.value_weight)


def test_the_key_bias_changes_nothing_and_its_gradient_is_zero(rng):
    x, params = rng.normal(size=(B, Q, M)), make_params(rng)
    out, saved = multihead_attention(x, params, mask=rng.normal(size=(Q, Q)))
    d_params = multihead_attention_backward(rng.normal(size=out.shape), params, saved)[2]
    assert np.abs(d_params.key_bias).max() < 1e-14 < 0.1 < np.abs(d_params.query_bias).max()
    moved = MultiHeadParams(heads=3, **(params.arrays() | {"key_bias": params.key_bias + 5.0}))
    close(multihead_attention(x, moved)[0], multihead_attention(x, params)[0])


def test_causal_lets_nothing_from_the_future_through(rng):
    x, params = rng.normal(size=(B, Q, M)), make_params(rng)
    out, _ = multihead_attention(x, params, causal=True)
    changed = x.copy()
    changed[:, 2:] += 1
    np.testing.assert_array_equal(multihead_attention(changed, params, causal=True)[0][:, :2], out[:, :2])
    np.testing.assert_array_equal(multihead_attention(x, params, mask=causal_mask(Q, Q))[0], out)


def test_tokens_in_another_order_give_the_same_outputs_in_that_order(rng):
    x, params, order = rng.normal(size=(B, Q, M)), make_params(rng), [2, 0, 3, 1]
    close(multihead_attention(x[:, order], params)[0], multihead_attention(x, params)[0][:, order])


# --- initialisation -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sizes", [dict(m=256, heads=4), dict(m=64, heads=2, d=128, kv_heads=1, key_width=300)])
def test_scores_of_unit_variance_inputs_start_with_unit_variance(rng, sizes):
    params = init_multihead(rng, **sizes)
    key_width = params.key_weight.shape[0]
    x, context = rng.normal(size=(300, params.m)), rng.normal(size=(300, key_width))
    scores = split_heads(x @ params.query_weight, params.heads) @ split_heads(context @ params.key_weight, params.kv_heads).mT
    # 90 000 scores of each head, not independent: the standard deviation comes out within some percent of 1.
    assert (scores / np.sqrt(params.d)).std() == pytest.approx(1, abs=0.05)
    assert (x @ params.query_weight).std() == pytest.approx(1, abs=0.05)


def test_each_weight_has_the_variance_one_over_its_fan_in(rng):
    params = init_multihead(rng, m=200, heads=2, d=90, v=150, key_width=400, value_width=80, bias=True)
    for which, fan_in in (("query", 200), ("key", 400), ("value", 80), ("out", 300)):
        weight, bias = getattr(params, f"{which}_weight"), getattr(params, f"{which}_bias")
        assert weight.shape[0] == fan_in
        assert weight.var() * fan_in == pytest.approx(1, abs=0.05) and abs(weight.mean()) < 0.01
        np.testing.assert_array_equal(bias, np.zeros(weight.shape[1]))


def test_every_size_may_be_one(rng):
    params = init_multihead(rng, m=1, heads=1, kv_heads=1, d=1, v=1, key_width=1, value_width=1)
    assert {params.m, params.d, params.v, params.heads, params.kv_heads} == {1}
    assert multihead_attention([[2.0]], params)[0].shape == (1, 1)


def test_initialisation_depends_on_the_generator_only_and_rounds_once():
    one = init_multihead(np.random.default_rng(3), m=8, heads=2)
    other = init_multihead(np.random.default_rng(3), m=8, heads=2, dtype=np.float32)
    for name, array in one.arrays().items():
        np.testing.assert_array_equal(getattr(other, name), array.astype(np.float32))
        assert array.dtype == np.float64
    assert init_multihead(np.random.default_rng(4), m=8, heads=2).query_weight[0, 0] != one.query_weight[0, 0]


# --- edges ----------------------------------------------------------------------------------------------------------


def test_a_token_that_may_look_at_nothing_gets_the_output_bias_and_no_gradient(rng):
    x, context, params = rng.normal(size=(B, Q, M)), rng.normal(size=(B, K, M)), make_params(rng)
    mask = np.ones((Q, K), bool)
    mask[1] = False
    out, saved = multihead_attention(x, params, context=context, mask=mask)
    np.testing.assert_array_equal(out[:, 1], np.broadcast_to(params.out_bias, (B, M)))
    close(out, by_oracle(x, params, context, mask=mask)[0])
    d_out = rng.normal(size=out.shape)
    d_x, d_context, d_params = multihead_attention_backward(d_out, params, saved)
    np.testing.assert_array_equal(d_x[:, 1], 0)
    others = [0, 2, 3]
    _, saved_others = multihead_attention(x[:, others], params, context=context)
    _, expected_context, expected = multihead_attention_backward(d_out[:, others], params, saved_others)
    close(d_context, expected_context)
    close(d_params.query_weight, expected.query_weight)
    close(d_params.out_bias, d_out.sum(axis=(0, 1)))


@pytest.mark.parametrize("b, q, k", [(0, Q, K), (B, 0, K), (B, Q, 0), (B, 1, 1)])
def test_empty_batches_queries_and_contexts_are_allowed(rng, b, q, k):
    x, context, params = rng.normal(size=(b, q, M)), rng.normal(size=(b, k, M)), make_params(rng)
    out, saved = multihead_attention(x, params, context=context)
    close(out, by_oracle(x, params, context)[0])
    d_x, d_context, d_params = multihead_attention_backward(np.ones(out.shape), params, saved)
    assert (d_x.shape, d_context.shape) == (x.shape, context.shape)
    if not b * q * k:
        assert not d_x.any() and not d_context.any() and not d_params.query_weight.any()


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_splitting_and_merging_heads_keep_the_dtype(rng, dtype):
    x = rng.normal(size=(5, 12)).astype(dtype)
    heads = split_heads(x, 3)
    assert heads.dtype == merge_heads(heads).dtype == dtype
    np.testing.assert_array_equal(merge_heads(heads), x)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_the_dtype_is_kept_forward_and_backward(rng, dtype):
    params = make_params(rng).map(lambda array: array.astype(dtype))
    assert {array.dtype for array in params.arrays().values()} == {np.dtype(dtype)}
    x, context = rng.normal(size=(B, Q, M)).astype(dtype), rng.normal(size=(B, K, M)).astype(dtype)
    mask = rng.normal(size=(Q, K))  # float64, which must not widen the rest
    for given in (context, (context, context)):
        out, saved = multihead_attention(x, params, context=given, mask=mask)
        d_x, d_context, d_params = multihead_attention_backward(np.ones_like(out), params, saved)
        d_context = d_context if isinstance(d_context, tuple) else (d_context,)
        results = [out, d_x, *d_context, *d_params.arrays().values()]
        assert {array.dtype for array in results} == {np.dtype(dtype)}
        compute = np.float32 if dtype == np.float16 else dtype
        assert {saved.weights.dtype, saved.merged.dtype, saved.query.dtype} == {np.dtype(compute)}
    tolerance = {np.float16: 2e-2, np.float32: 1e-5, np.float64: 1e-12}[dtype]
    close(out.astype(float), by_oracle(x.astype(float), params.map(np.float64), context.astype(float), mask=mask)[0], tolerance)
    assert multihead_mask_backward(np.ones_like(out), params, saved, mask).dtype == dtype


@pytest.mark.parametrize("narrow", [np.float16, np.float32])
def test_the_wider_of_tokens_and_parameters_decides_the_dtype(rng, narrow):
    wide_params, wide_x = make_params(rng), rng.normal(size=(B, Q, M))
    for x, params in ((wide_x.astype(narrow), wide_params), (wide_x, wide_params.map(lambda array: array.astype(narrow)))):
        out, saved = multihead_attention(x, params)
        close(out, by_oracle(x.astype(float), params.map(np.float64))[0])
        d_x, _, d_params = multihead_attention_backward(out.astype(x.dtype), params, saved)
        d_mask = multihead_mask_backward(out.astype(x.dtype), params, saved, np.zeros((Q, Q)))
        assert {array.dtype for array in (out, d_x, d_mask, *d_params.arrays().values())} == {np.dtype(np.float64)}


def test_float32_makes_no_float64_on_the_way(rng):
    params = make_params(rng, 4, 2).map(np.float32)
    x, mask = rng.normal(size=(B, Q, M)).astype(np.float32), rng.normal(size=(Q, Q)).astype(np.float32)
    assert spied(multihead_attention, x, params, mask=mask) == {np.dtype(np.float32)}
    out, saved = multihead_attention(x, params, mask=mask)
    assert spied(multihead_attention_backward, out, params, saved) == {np.dtype(np.float32)}
    assert spied(multihead_mask_backward, out, params, saved, mask) == {np.dtype(np.float32)}


def test_lists_and_integers_become_float64():
    params = MultiHeadParams([[1]], [[1]], [[1]], [[2]], heads=1)
    out, _ = multihead_attention([[3], [3]], params)
    np.testing.assert_array_equal(out, [[6.0], [6.0]])
    assert out.dtype == params.out_weight.dtype == np.float64


def test_overflow_shows_without_a_warning(rng):
    params = make_params(rng).map(np.float32)
    x = np.full((Q, M), 1e38, np.float32)
    out, saved = multihead_attention(x, params)
    assert not np.isfinite(out).all()
    multihead_attention_backward(np.full((Q, M), 1e38, np.float32), params, saved)
    multihead_mask_backward(np.full((Q, M), 1e38, np.float32), params, saved, np.zeros((Q, Q), np.float32))


def test_inputs_are_not_written_to_and_any_memory_layout_will_do(rng):
    x, context, params = rng.normal(size=(Q, B, M)).swapaxes(0, 1), rng.normal(size=(B, M, K)).swapaxes(1, 2), make_params(rng)
    d_out = np.asfortranarray(rng.normal(size=(B, Q, M)))
    for array in (x, context, d_out, *params.arrays().values()):
        array.flags.writeable = False
    out, saved = multihead_attention(x, params, context=context)
    d_x, d_context, _ = multihead_attention_backward(d_out, params, saved)
    plain, plain_saved = multihead_attention(x.copy(), params, context=context.copy())
    plain_d_x, plain_d_context, _ = multihead_attention_backward(d_out.copy(order="C"), params, plain_saved)
    for ours, expected in ((out, plain), (d_x, plain_d_x), (d_context, plain_d_context)):
        close(ours, expected)


def test_two_forwards_do_not_disturb_each_other(rng):
    x, params = rng.normal(size=(2, B, Q, M)), make_params(rng)
    out, saved = multihead_attention(x[0], params)
    d_out = rng.normal(size=out.shape)
    before = multihead_attention_backward(d_out, params, saved)[0]
    multihead_attention(x[1], params)
    np.testing.assert_array_equal(multihead_attention_backward(d_out, params, saved)[0], before)


def test_parameters_are_frozen_and_map_makes_new_ones(rng):
    params = make_params(rng, 4, 2)
    with pytest.raises(AttributeError):
        params.heads = 3
    doubled = params.map(lambda array: 2 * array)
    summed = params.map(np.add, params)
    for name, array in params.arrays().items():
        np.testing.assert_array_equal(getattr(doubled, name), 2 * array)
        np.testing.assert_array_equal(getattr(summed, name), 2 * array)
    assert (doubled.heads, doubled.kv_heads, doubled.m, doubled.d, doubled.v) == (4, 2, M, D, V)


# --- gradients ------------------------------------------------------------------------------------------------------

BIAS = np.array([[0.5, -1.0, -np.inf], [0.1, 0.0, 2.0], [-np.inf] * 3, [1.0, 2.0, 3.0]])
SETTINGS = {
    "self": dict(),
    "self, causal, shared heads": dict(heads=4, kv_heads=2, causal=True),
    "cross, masked": dict(context="one", mask=BIAS),
    "cross, two widths, one key head": dict(context="two", heads=4, kv_heads=1, mask=BIAS > 0),
}


@pytest.mark.parametrize("what", ["x", "context", *NAMES])
@pytest.mark.parametrize("setting", SETTINGS)
def test_gradient_agrees_with_fourth_order_differences(rng, setting, what):
    setting = dict(SETTINGS[setting])
    kind, heads, kv_heads = setting.pop("context", None), setting.pop("heads", 3), setting.pop("kv_heads", None)
    widths = dict(key_width=5, value_width=8) if kind == "two" else {}
    params, x = make_params(rng, heads, kv_heads, **widths), rng.normal(size=(B, Q, M))
    context = {"one": rng.normal(size=(B, K, M)), "two": (rng.normal(size=(B, K, 5)), rng.normal(size=(B, K, 8)))}.get(kind)
    d_out = rng.normal(size=x.shape)

    def loss(x=x, context=context, **changed):
        arrays = params.arrays() | changed
        moved = MultiHeadParams(heads=params.heads, kv_heads=params.kv_heads, **arrays)
        return (d_out * multihead_attention(x, moved, context=context, **setting)[0]).sum()

    _, saved = multihead_attention(x, params, context=context, **setting)
    d_x, d_context, d_params = multihead_attention_backward(d_out, params, saved)
    checks = {name: [(getattr(params, name), getattr(d_params, name), lambda a, n=name: loss(**{n: a}))] for name in NAMES}
    checks["x"] = [(x, d_x, lambda a: loss(x=a))]
    checks["context"] = []
    if kind == "one":
        checks["context"] = [(context, d_context, lambda a: loss(context=a))]
    if kind == "two":
        checks["context"] = [
            (context[0], d_context[0], lambda a: loss(context=(a, context[1]))),
            (context[1], d_context[1], lambda a: loss(context=(context[0], a))),
        ]
    for array, gradient, function in checks[what]:
        if what == "key_bias":  # zero: a relative error says nothing
            assert np.abs(gradient).max() < 1e-14 and abs(function(array + 1) - function(array)) < 1e-12
        else:
            report = check_gradient(function, array, gradient, tolerance=1e-9)
            assert report, report


def test_gradient_of_an_additive_mask_agrees_with_fourth_order_differences(rng):
    x, params, d_out = rng.normal(size=(B, Q, M)), make_params(rng), rng.normal(size=(B, Q, M))
    for shape in ((Q, Q), (3, 1, Q), (B, 1, Q, Q)):
        mask = rng.normal(size=shape)
        _, saved = multihead_attention(x, params, mask=mask)
        gradient = multihead_mask_backward(d_out, params, saved, mask)
        report = check_gradient(
            lambda a: (d_out * multihead_attention(x, params, mask=a)[0]).sum(), mask, gradient, tolerance=1e-9
        )
        assert gradient.shape == shape and report, report


# --- PyTorch: recorded answers --------------------------------------------------------------------------------------

RECORDED = recorded_cases.load("multihead_torch.npz")


def parts(case, prefix):
    return {name.removeprefix(prefix): array for name, array in case.items() if name.startswith(prefix)}


@pytest.mark.parametrize("case", RECORDED.values(), ids=RECORDED)
def test_agrees_with_pytorch_in_value_every_gradient_and_one_step_of_training(case):
    params = from_torch(parts(case, "param/"), case["heads"]).map(np.float64)
    x, d_out = case["x"].astype(float), case["d_out"].astype(float)
    context = (case["key"], case["value"]) if "key" in case else case.get("context")
    out, saved = multihead_attention(x, params, context=context, mask=case.get("mask"), causal=case["causal"])
    d_x, d_context, d_params = multihead_attention_backward(d_out, params, saved)
    d_contexts = d_context if isinstance(d_context, tuple) else (d_context,)
    stepped = params.map(lambda array, d_array: array - case["lr"] * d_array, d_params)
    pairs = [("out", out), ("weights", saved.weights), ("d_x", d_x)]
    pairs += zip(("d_key", "d_value") if "key" in case else ("d_context",), d_contexts, strict=True) if context is not None else []
    pairs += [(f"d_param/{name}", array) for name, array in to_torch(d_params).items()]
    pairs += [(f"step/{name}", array) for name, array in to_torch(stepped).items()]
    if "d_mask" in case:
        pairs += [("d_mask", multihead_mask_backward(d_out, params, saved, case["mask"]))]
    for name, ours in pairs:
        expected = case[name]
        assert ours.shape == expected.shape, name
        np.testing.assert_allclose(ours, expected, rtol=1e-12, atol=1e-14 * max(1, np.abs(expected).max()) * 20, err_msg=name)
    results = {name for name in case if name.startswith(("d_", "step/")) or name in ("out", "weights")} - {"d_out"}
    assert results == {name for name, _ in pairs}  # nothing that was recorded goes unread


@pytest.mark.parametrize("case", RECORDED.values(), ids=RECORDED)
def test_a_state_dict_survives_the_round_trip_bit_by_bit(case):
    state = parts(case, "param/")
    params = from_torch(state, case["heads"])
    back = to_torch(params)
    assert back.keys() == state.keys()
    for name, array in state.items():
        np.testing.assert_array_equal(back[name], array)
        assert back[name].dtype == array.dtype
        for ours in params.arrays().values():  # training one side must not change the other
            assert not np.shares_memory(ours, array) and not np.shares_memory(ours, back[name])


def test_a_width_may_be_odd():
    state = {"in_proj_weight": np.arange(27.0).reshape(9, 3), "out_proj.weight": np.eye(3)}
    params = from_torch(state, heads=3)
    np.testing.assert_array_equal(params.value_weight, state["in_proj_weight"][6:].T)


def test_missing_biases_become_zeros_in_a_state_dict(rng):
    params = init_multihead(rng, m=6, heads=2, bias=True)
    arrays = params.arrays()
    del arrays["key_bias"]
    arrays["query_bias"] = np.arange(6.0)
    state = to_torch(MultiHeadParams(heads=2, **arrays))
    np.testing.assert_array_equal(state["in_proj_bias"], [0, 1, 2, 3, 4, 5, *[0] * 12])
    np.testing.assert_array_equal(state["out_proj.bias"], [0] * 6)
    assert set(to_torch(init_multihead(rng, m=6, heads=2))) == {"in_proj_weight", "out_proj.weight"}


# --- errors ---------------------------------------------------------------------------------------------------------

RNG = np.random.default_rng(0)
X, PARAMS = np.ones((B, Q, M)), init_multihead(RNG, m=M, heads=3)
SAVED = multihead_attention(X, PARAMS)[1]
STATE = to_torch(PARAMS)
SQUARE = np.ones((6, 6))


def attend(x=X, params=PARAMS, **options):
    return multihead_attention(x, params, **options)


def changed(**entries):
    return from_torch(STATE | {name.replace("__", "."): array for name, array in entries.items()}, 3)


@pytest.mark.parametrize(
    "call, error, message",
    [
        # making parameters
        (lambda: init_multihead(RNG, m=7, heads=3), ValueError, "m must be a multiple of heads, or give d; got m 7 and heads 3"),
        (lambda: init_multihead(RNG, m=6, heads=0), ValueError, "init_multihead: heads must be at least 1; got 0"),
        (lambda: init_multihead(RNG, m=6, heads=-2), ValueError, "init_multihead: heads must be at least 1; got -2"),
        (lambda: init_multihead(RNG, m=6, heads=2.0), TypeError, "init_multihead: heads must be an integer; got 2.0"),
        (lambda: init_multihead(RNG, m=6, heads=True), TypeError, "init_multihead: heads must be an integer; got True"),
        (lambda: init_multihead(RNG, m=6, heads=6, kv_heads=4), ValueError, "heads must be a multiple of kv_heads; got 6 and 4"),
        (lambda: init_multihead(RNG, m=6, heads=2, kv_heads=0), ValueError, "kv_heads must be at least 1; got 0"),
        (lambda: init_multihead(RNG, m=0, heads=2), ValueError, "m must be at least 1; got 0"),
        (lambda: init_multihead(RNG, m=6, heads=2, d=0), ValueError, "init_multihead: d must be at least 1; got 0"),
        (lambda: init_multihead(RNG, m=6, heads=2, v=0), ValueError, "init_multihead: v must be at least 1; got 0"),
        (lambda: init_multihead(RNG, m=6, heads=2, v=1.5), TypeError, "v must be an integer; got 1.5"),
        (lambda: init_multihead(RNG, m=6, heads=2, key_width=0), ValueError, "key_width must be at least 1; got 0"),
        (lambda: init_multihead(RNG, m=6, heads=2, value_width=0), ValueError, "value_width must be at least 1; got 0"),
        (lambda: init_multihead(42, m=6, heads=2), TypeError, "rng must be a numpy.random.Generator; got int"),
        (lambda: init_multihead(RNG, m=6, heads=2, dtype=int), TypeError, "init_multihead: dtype must be a float dtype; got int"),
        (lambda: MultiHeadParams(*[SQUARE] * 4, heads=1.5), TypeError, "MultiHeadParams: heads must be an integer; got 1.5"),
        (lambda: MultiHeadParams(*[SQUARE] * 4, heads=4), ValueError, r"(?s)multiple of its number of heads.*heads: 4"),
        (lambda: MultiHeadParams(*[SQUARE] * 4, heads=4, kv_heads=3), ValueError, "heads must be a multiple of kv_heads; got 4 and 3"),
        (lambda: MultiHeadParams(*[SQUARE] * 4, heads=2, kv_heads=1), ValueError, "same number of features d in each head"),
        (lambda: MultiHeadParams(SQUARE, np.ones((6, 4)), SQUARE, SQUARE, heads=3), ValueError, "multiple of its number of heads"),
        (lambda: MultiHeadParams(SQUARE, SQUARE, np.ones((6, 4)), SQUARE, heads=3), ValueError, "multiple of its number of heads"),
        (lambda: MultiHeadParams(SQUARE[:, :0], SQUARE[:, :0], SQUARE, SQUARE, heads=1), ValueError, "at least one row and one column"),
        (lambda: MultiHeadParams(SQUARE, SQUARE, SQUARE[:, :0], SQUARE[:0], heads=1), ValueError, "at least one row and one column"),
        (lambda: MultiHeadParams(SQUARE, SQUARE, SQUARE, SQUARE[:5], heads=1), ValueError, r"(?s)\(heads · v, m\) = \(6, 6\).*\(5, 6\)"),
        (lambda: MultiHeadParams(SQUARE[0], SQUARE, SQUARE, SQUARE, heads=1), ValueError, "weights have two axes and biases have one"),
        (lambda: MultiHeadParams(*[SQUARE] * 4, heads=1, key_bias=SQUARE), ValueError, "weights have two axes and biases have one"),
        (lambda: MultiHeadParams(*[SQUARE] * 4, heads=1, key_bias=np.ones(5)), ValueError, "key_bias must have one number for each"),
        (lambda: MultiHeadParams(*[SQUARE] * 4, heads=1, out_bias=np.ones(5)), ValueError, "out_bias must have one number for each"),
        (lambda: MultiHeadParams(None, SQUARE, SQUARE, SQUARE, heads=1), TypeError, "query_weight must be an array of real numbers"),
        (lambda: MultiHeadParams(SQUARE > 0, SQUARE, SQUARE, SQUARE, heads=1), TypeError, "query_weight must be an array of real"),
        # the layer
        (lambda: attend(params=PARAMS.arrays()), TypeError, "params must be a MultiHeadParams; got dict"),
        (lambda: attend(np.ones((Q, 5))), ValueError, r"x must have the shape \(..., q, m\) with a last axis of 6.*\(4, 5\)"),
        (lambda: attend(np.ones(M)), ValueError, r"x must have the shape \(..., q, m\).*got \(6,\)"),
        (lambda: attend(X > 0), TypeError, "multihead_attention: x must be an array of real numbers.*bool"),
        (lambda: attend(context=X + 1j), TypeError, "multihead_attention: context must be an array of real numbers.*complex"),
        (lambda: attend(context=np.ones((B, K, 7))), ValueError, r"context must have the shape \(..., k, key_width\).*6.*\(2, 3, 7\)"),
        (lambda: attend(context=np.ones((1, K, M))), ValueError, r"(?s)x and context must have the same leading.*\(2, 4, 6\).*\(1, 3, 6\)"),
        (lambda: attend(context=(X, X, X)), ValueError, "context must be .for_keys, for_values.; got 3 items"),
        (lambda: attend(context=(X, X[:, :3])), ValueError, r"context\[0\] and context\[1\] must have the same number of positions k"),
        (lambda: attend(context=(X, X[..., :3])), ValueError, r"context\[1\] must have the shape \(..., k, value_width\).*6.*\(2, 4, 3\)"),
        (lambda: attend(context=(X[..., :3], X)), ValueError, r"context\[0\] must have the shape \(..., k, key_width\).*\(2, 4, 3\)"),
        (lambda: attend(context=(X, X[:1])), ValueError, r"(?s)x and context\[1\] must have the same leading axes.*\(1, 4, 6\)"),
        (lambda: attend(mask=np.ones((B, Q, Q), bool)), ValueError, r"(?s)multihead_attention: mask must broadcast.*mask\[:, np.newaxis\].*\(2, 4, 4\).*\(2, 3, 4, 4\)"),
        (lambda: attend(mask=np.ones((Q, K), bool)), ValueError, r"(?s)mask must broadcast to the shape \(..., heads, q, k\).*\(4, 3\)"),
        (lambda: attend(X[0], mask=np.ones((B, 1, 1, Q), bool)), ValueError, r"(?s)mask must broadcast.*\(2, 1, 1, 4\).*\(3, 4, 4\)"),
        (lambda: attend(mask=np.ones((Q, Q), int)), TypeError, "multihead_attention: mask must be boolean or float"),
        (lambda: attend(mask=np.full((Q, Q), np.inf)), ValueError, "multihead_attention: an additive mask must not hold \\+inf"),
        (lambda: attend(causal=1), TypeError, "multihead_attention: causal must be True or False; got 1"),
        (lambda: multihead_attention_backward(X[:, :3], PARAMS, SAVED), ValueError, r"d_out must have the shape .*\(2, 3, 6\), x is \(2, 4, 6\)"),
        (lambda: multihead_attention_backward(X > 0, PARAMS, SAVED), TypeError, "multihead_attention_backward: d_out must be an array of real"),
        (lambda: multihead_attention_backward(X, None, SAVED), TypeError, "multihead_attention_backward: params must be a MultiHeadParams"),
        (lambda: multihead_attention_backward(X, PARAMS, tuple(SAVED)), TypeError, "saved must be a MultiHeadSaved; got tuple"),
        (lambda: multihead_mask_backward(X, PARAMS, SAVED, np.ones((Q, Q), bool)), TypeError, "a boolean mask has no gradient"),
        (lambda: multihead_mask_backward(X[:1], PARAMS, SAVED, np.ones((Q, Q))), ValueError, "multihead_mask_backward: d_out must have"),
        # heads
        (lambda: split_heads(X, 4), ValueError, r"split_heads: x must have the shape .* multiple of heads = 4; got \(2, 4, 6\)"),
        (lambda: split_heads(np.ones(6), 2), ValueError, r"split_heads: x must have .* got \(6,\)"),
        (lambda: split_heads(X, 0), ValueError, "split_heads: heads must be at least 1; got 0"),
        (lambda: split_heads(X, 2.0), TypeError, "split_heads: heads must be an integer; got 2.0"),
        (lambda: merge_heads(np.ones((3, 4))), ValueError, r"merge_heads: x must have the shape \(..., h, n, d\); got \(3, 4\)"),
        (lambda: merge_heads(["a"]), TypeError, "merge_heads: x must be an array of real numbers"),
        # PyTorch
        (lambda: changed(bias_k=np.ones(6)), ValueError, "from_torch: bias_k and bias_v .* are not supported"),
        (lambda: changed(bias_v=np.ones(6)), ValueError, "from_torch: bias_k and bias_v .* are not supported"),
        (lambda: changed(weight=np.ones(6)), ValueError, "(?s)state_dict must hold in_proj_weight, out_proj.weight and may hold .*got.*weight"),
        (lambda: from_torch({"in_proj_weight": np.ones((18, 6))}, 3), ValueError, "must hold in_proj_weight, out_proj.weight"),
        (lambda: from_torch({}, 3), ValueError, "must hold k_proj_weight, out_proj.weight, q_proj_weight, v_proj_weight"),
        (lambda: changed(in_proj_weight=np.ones((17, 6))), ValueError, r"in_proj_weight has the wrong shape \(17, 6\); expected a first axis of 3 m"),
        (lambda: changed(in_proj_weight=np.ones(18)), ValueError, r"in_proj_weight has the wrong shape \(18,\)"),
        (lambda: changed(in_proj_bias=np.ones(17)), ValueError, r"in_proj_bias has the wrong shape \(17,\)"),
        (lambda: changed(out_proj__weight=np.ones(6)), ValueError, r"out_proj.weight has the wrong shape \(6,\); expected two axes"),
        (lambda: changed(out_proj__weight=np.ones((5, 6))), ValueError, "out_weight must have the shape"),
        (lambda: changed(out_proj__weight=SQUARE > 0), TypeError, "from_torch: out_proj.weight must be an array of real numbers"),
        (lambda: from_torch(STATE, 4), ValueError, "columns of a weight must be a multiple of its number of heads"),
        (lambda: from_torch(STATE, 3.0), TypeError, "heads must be an integer; got 3.0"),
        (lambda: to_torch(init_multihead(RNG, m=6, heads=3, kv_heads=1)), ValueError, "needs kv_heads = heads .* kv_heads 1"),
        (lambda: to_torch(init_multihead(RNG, m=6, heads=3, d=4)), ValueError, "d = v = m / heads; got m 6, heads 3, kv_heads 3, d 4, v 4"),
        (lambda: to_torch(init_multihead(RNG, m=6, heads=3, v=4)), ValueError, "d 2, v 4"),
        (lambda: to_torch(STATE), TypeError, "to_torch: params must be a MultiHeadParams; got dict"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_with_a_message_that_says_why(call, error, message):
    with pytest.raises(error, match=message):
        call()
