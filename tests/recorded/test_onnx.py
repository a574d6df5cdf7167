"""The backend tests of the ONNX operators Attention, Softmax and LogSoftmax, run with attnlib.

Needs the `onnx` package (part of the test extra), which computes the expected answers itself.
Every case either runs or stands in OUT_OF_SCOPE with the reason; a new one that does neither fails.
"""

import importlib
import warnings

import numpy as np
import pytest

from attnlib.attention import attention
from attnlib.masks import causal_mask, combine_masks, padding_mask, sliding_window_mask
from attnlib.softmax import log_softmax, softmax

onnx = pytest.importorskip("onnx", reason="the ONNX backend tests need the onnx package, which is not installed")

SOFTCAP = "caps the scores by a tanh, which this course does not cover"
BFLOAT16 = "bfloat16, which NumPy does not have"
OUT_OF_SCOPE = {
    "test_attention_4d_softcap": SOFTCAP,
    "test_attention_4d_gqa_softcap": SOFTCAP,
    "test_attention_4d_diff_heads_sizes_softcap": SOFTCAP,
    "test_attention_4d_with_qk_matmul_softcap": SOFTCAP,
    "test_attention_4d_softcap_neginf_mask": SOFTCAP,
    "test_attention_4d_softcap_neginf_mask_poison": SOFTCAP,
    "test_attention_3d_softcap": SOFTCAP,
    "test_attention_3d_gqa_softcap": SOFTCAP,
    "test_attention_3d_diff_heads_sizes_softcap": SOFTCAP,
    "test_attention_3d_with_past_and_present_qk_matmul_softcap": SOFTCAP,
    "test_attention_local_window_gqa_rank4_mask": SOFTCAP,
    "test_attention_4d_causal_bf16": BFLOAT16,
    "test_attention_4d_padded_kv_bf16": BFLOAT16,
    "test_attention_4d_causal_padded_kv_bf16": BFLOAT16,
    "test_attention_4d_attn_mask_causal_bf16": BFLOAT16,
    "test_attention_3d_causal_bf16": BFLOAT16,
}


def of(cases, *operators):
    """The cases of these operators by name, without those that spell them out in primitive operators."""
    return {case.name: case for case in cases if {node.op_type for node in case.model.graph.node} <= set(operators)}


def load_cases():
    """The cases that stand in the files of these operators. Those of all operators take ten times as long."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a file computes its cases when it is imported, some with overflows
        from onnx.backend.test.case import node

        for file in ("attention", "softmax", "logsoftmax"):
            importlib.import_module(f"{node.__name__}.{file}")
    return list(node._NodeTestCases)


LOADED = load_cases()
ATTENTION, SOFTMAX = of(LOADED, "Attention"), of(LOADED, "Softmax", "LogSoftmax")


def arguments(case):
    """The named inputs, the attributes and the named expected outputs of a case."""
    node = case.model.graph.node[0]
    attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
    schema = onnx.defs.get_schema(node.op_type, case.model.opset_import[0].version)
    ((given, expected),) = case.data_sets
    inputs = [spec.name for spec, used in zip(schema.inputs, node.input, strict=False) if used]
    outputs = [spec.name for spec, used in zip(schema.outputs, node.output, strict=False) if used]
    return dict(zip(inputs, given, strict=True)), attributes, dict(zip(outputs, expected, strict=True))


def run_attention(Q, K, V, attn_mask=None, past_key=None, past_value=None, nonpad_kv_seqlen=None, **attributes):
    """ONNX's Attention in terms of attnlib: (Y, present_key, present_value, weights)."""
    packed = Q.ndim == 3
    if packed:  # (b, n, h d) -> (b, h, n, d)
        h, heads = attributes["q_num_heads"], attributes["kv_num_heads"]
        Q, K, V = (x.reshape(*x.shape[:2], n, -1).swapaxes(1, 2) for x, n in ((Q, h), (K, heads), (V, heads)))
    past = 0
    if past_key is not None:
        past = past_key.shape[2]
        K, V = np.concatenate([past_key, K], axis=2), np.concatenate([past_value, V], axis=2)
    q, k = Q.shape[2], K.shape[2]
    offsets = [past]
    if nonpad_kv_seqlen is not None:
        offsets = [int(length) - q for length in nonpad_kv_seqlen]

    masks = [attn_mask]
    if attn_mask is not None and 1 < attn_mask.shape[-1] < k:  # a mask that ends early hides the rest
        hidden = False if attn_mask.dtype == bool else -np.inf
        missing = [(0, 0)] * (attn_mask.ndim - 1) + [(0, k - attn_mask.shape[-1])]
        masks = [np.pad(attn_mask, missing, constant_values=hidden)]
    if nonpad_kv_seqlen is not None:
        masks.append(padding_mask(nonpad_kv_seqlen[:, np.newaxis], k))
    if attributes.get("is_causal"):
        masks.append(np.stack([causal_mask(q, k, offset=offset) for offset in offsets])[:, np.newaxis])
    left, right = attributes.get("left_window_size", -1), attributes.get("right_window_size", -1)
    left, right = (k + q if size == -1 else size for size in (left, right))  # -1: as far as there are keys
    window = [sliding_window_mask(q, k, left + right + 1, offset=offset + right) for offset in offsets]
    if "left_window_size" in attributes or "right_window_size" in attributes:
        masks.append(np.stack(window)[:, np.newaxis])

    out, weights = attention(Q, K, V, mask=combine_masks(*masks), scale=attributes.get("scale"))
    if packed:
        out = out.swapaxes(1, 2).reshape(*out.shape[:1], q, -1)
    return out, K, V, weights


@pytest.mark.parametrize("name", sorted(set(ATTENTION) - set(OUT_OF_SCOPE)))
def test_attention(name):
    inputs, attributes, expected = arguments(ATTENTION[name])
    out, present_key, present_value, weights = run_attention(**inputs, **attributes)
    results = {"Y": out, "present_key": present_key, "present_value": present_value}
    if attributes.get("qk_matmul_output_mode") == 3:  # the other modes ask for scores, which attention keeps to itself
        results["qk_matmul_output"] = weights
    case = ATTENTION[name]
    for output in expected.keys() & results.keys():
        assert results[output].dtype == expected[output].dtype
        np.testing.assert_allclose(results[output], expected[output], rtol=case.rtol, atol=case.atol, err_msg=output)


@pytest.mark.parametrize("name", sorted(SOFTMAX))
def test_softmax(name):
    case = SOFTMAX[name]
    inputs, attributes, expected = arguments(case)
    function = softmax if case.model.graph.node[0].op_type == "Softmax" else log_softmax
    (x,), (wanted,) = inputs.values(), expected.values()
    result = function(x, **attributes)
    assert result.dtype == wanted.dtype
    np.testing.assert_allclose(result, wanted, rtol=case.rtol, atol=case.atol)


def test_the_list_of_cases_out_of_scope_is_up_to_date():
    assert set(OUT_OF_SCOPE) <= set(ATTENTION)
    for name in OUT_OF_SCOPE:
        inputs, attributes, _ = arguments(ATTENTION[name])
        capped, kinds = attributes.get("softcap", 0) != 0, {array.dtype.kind for array in inputs.values()}
        assert capped or "V" in kinds, f"{name} could run"


def test_there_are_cases():
    assert len(ATTENTION) >= 93
    assert len(SOFTMAX) >= 14


@pytest.mark.thorough
def test_no_other_file_of_onnx_has_cases_of_these_operators():
    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        everything = collect_testcases(None)
    assert len(everything) > len(LOADED)
    assert of(everything, "Attention").keys() == ATTENTION.keys()
    assert of(everything, "Softmax", "LogSoftmax").keys() == SOFTMAX.keys()
