"""attnlib.multihead: with PyTorch's parameters, PyTorch's recorded answers? And back again?"""

import numpy as np
import pytest
import recorded_cases

from attnlib.attention import attention_mask_backward
from attnlib.multihead import (
    MultiHeadParams,
    from_torch,
    init_multihead,
    multihead_attention,
    multihead_attention_backward,
    split_heads,
    to_torch,
)

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
        d_attended = split_heads(d_out @ params.out_weight.mT, params.heads)
        pairs += [("d_mask", attention_mask_backward(d_attended, saved.value, saved.weights, case["mask"]))]
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
