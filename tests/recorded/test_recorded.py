"""Do plain and Flash attention give the values and gradients that PyTorch and JAX gave?

The recorded cases are made by `tests/recorded/make_cases.py`, which describes them.
"""

import functools
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
import recorded_cases

from attnlib.attention import attention, attention_backward, attention_mask_backward
from attnlib.flash import flash_attention, flash_attention_backward, flash_attention_mask_backward

TORCH = recorded_cases.load("attention_torch.npz")
JAX = recorded_cases.load("attention_jax.npz")
F32 = np.finfo(np.float32)


def plain(query, key, value, d_out, *, mask, causal, scale):
    """Plain attention and its gradients, by name."""
    out, weights = attention(query, key, value, mask=mask, causal=causal, scale=scale)
    gradients = attention_backward(d_out, query, key, value, weights, scale=scale)
    results = {"out": out, "weights": weights}
    results |= dict(zip(("d_query", "d_key", "d_value"), gradients, strict=True))
    if mask is not None and mask.dtype != bool:
        results["d_mask"] = attention_mask_backward(d_out, value, weights, mask)
    return results


def flash(query, key, value, d_out, *, mask, **options):
    """The same by Flash attention."""
    out, logsumexp = flash_attention(query, key, value, mask=mask, **options)
    saved = d_out, query, key, value, out, logsumexp
    results = {"out": out, "logsumexp": logsumexp}
    gradients = flash_attention_backward(*saved, mask=mask, **options)
    results |= dict(zip(("d_query", "d_key", "d_value"), gradients, strict=True))
    if mask is not None and mask.dtype != bool:
        results["d_mask"] = flash_attention_mask_backward(*saved, mask, **options)
    return results


IMPLEMENTATIONS = {
    "plain": plain,
    "flash": flash,
    "flash, small tiles": functools.partial(flash, block_q=3, block_k=2),
}


def run(implementation, case, dtype):
    arrays = [case[name].astype(dtype) for name in ("query", "key", "value", "d_out")]
    mask = case.get("mask")
    if mask is not None and mask.dtype != bool:
        mask = mask.astype(dtype)
    elif mask is not None and mask.ndim == arrays[0].ndim - 1 == 3 and mask.shape[1] == 1:
        mask = mask[np.newaxis]  # PyTorch and JAX mean the heads, and attnlib wants that to be said
    return IMPLEMENTATIONS[implementation](*arrays, mask=mask, causal=case["causal"], scale=case["scale"])


def largest(array):
    return np.abs(np.nan_to_num(array, neginf=0)).max(initial=1)


def assert_agrees(results, case, tolerance):
    compared = 0
    for name, result in results.items():
        if name in case:
            assert result.shape == case[name].shape, name
            np.testing.assert_allclose(result, case[name], rtol=0, atol=tolerance(name), err_msg=name)
            compared += 1
    assert compared >= 4
    assert ("d_mask" in case) == ("d_mask" in results)


def by_group(cases):
    """One test for each group; its name says of how many cases."""
    groups = {}
    for name, case in cases.items():
        groups.setdefault(case["group"], {})[name] = case
    ids = [f"{group} ({len(members)})" for group, members in groups.items()]
    return pytest.mark.parametrize("group", groups.values(), ids=ids)


def each(group, agrees):
    """Try every case of a group; the message of a failure has them all."""
    failed = []
    for name, case in group.items():
        try:
            agrees(case)
        except AssertionError as error:
            failed.append(f"{name}: {error}")
    assert not failed, "\n\n".join(failed)


@pytest.mark.parametrize("implementation", IMPLEMENTATIONS)
@by_group(TORCH)
def test_float64_agrees_with_pytorch(implementation, group):
    def agrees(case):
        # 16 times PyTorch's own rounding error, and never less than a few units in the last place.
        floor = 4e-15 * largest(case["logsumexp"])
        results = run(implementation, case, np.float64)
        assert_agrees(results, case, lambda name: max(16 * case["float64_error"][name], floor * largest(case[name])))

    each(group, agrees)


def float32_tolerance(case, results):
    """Four times the other library's own error; for Flash also what the mean of a row from `out` costs."""

    def tolerance(name):
        tolerance = max(4 * case["float32_error"][name], 2e-6 * largest(case[name]))
        if name in ("d_query", "d_key") and "logsumexp" in results:
            # Where a weight is 1, plain attention subtracts a number from itself, Flash d_out · out, rounded.
            factor = float(largest(case["key" if name == "d_query" else "query"])) * abs(case["scale"] or 1)
            tolerance = max(tolerance, F32.eps * largest(case["d_out"]) * largest(case["value"]) * factor)
        return tolerance

    return tolerance


@pytest.mark.parametrize("implementation", IMPLEMENTATIONS)
@by_group(TORCH)
def test_float32_agrees_with_pytorch(implementation, group):
    def agrees(case):
        results = run(implementation, case, np.float32)
        assert {array.dtype for name, array in results.items() if name != "logsumexp"} == {np.dtype(np.float32)}
        assert_agrees(results, case, float32_tolerance(case, results))

    each(group, agrees)


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=["float32", "float64"])
@pytest.mark.parametrize("implementation", IMPLEMENTATIONS)
@by_group(JAX)
def test_agrees_with_jax_to_float32(implementation, group, dtype):
    def agrees(case):
        results = run(implementation, case, dtype)
        assert_agrees(results, case, float32_tolerance(case, results))

    each(group, agrees)


OFFSETS = {name: case for name, case in TORCH.items() if "offset" in case}


@pytest.mark.parametrize("block", [1, 3, 64])
@by_group(OFFSETS)
def test_flash_with_an_offset_agrees_with_the_lower_right_mask_of_pytorch(group, block):
    def agrees(case):
        arrays = [case[name].astype(np.float64) for name in ("query", "key", "value", "d_out")]
        blocks = {"block_q": block, "block_k": block}
        results = flash(*arrays, mask=None, causal=True, offset=case["offset"], scale=None, **blocks)
        assert_agrees(results, case, lambda name: 4e-15 * largest(case["logsumexp"]) * largest(case[name]))

    each(group, agrees)


def test_every_recorded_case_is_here():
    def groups(cases):
        return Counter(case["group"] for case in cases.values())

    assert groups(TORCH) == {
        "sizes": 29,
        "causal": 26,
        "boolean masks": 30,
        "additive masks": 30,
        "grouped heads": 21,
        "scales": 14,
        "extreme logits": 18,
        "empty rows": 13,
        "empty sequences": 17,
        "patterns": 8,
    }
    assert groups(JAX) == {
        "plain": 5,
        "causal": 5,
        "boolean masks": 16,
        "additive masks": 16,
        "grouped heads": 6,
        "scales": 4,
        "patterns": 4,
    }
    assert set(recorded_cases.versions("attention_torch.npz")) == {"torch", "numpy"}


def test_recorded_inputs_are_the_same_numbers_in_float32():
    for case in (*TORCH.values(), *JAX.values()):
        for name in ("query", "key", "value", "d_out", "mask"):
            if name in case:
                np.testing.assert_array_equal(case[name].astype(np.float32).astype(np.float64), case[name])


def test_the_recorded_files_stay_small():
    files = list(Path(__file__).parent.glob("*.npz"))
    assert len(files) >= 3
    assert sum(file.stat().st_size for file in files) < 3.5e6
