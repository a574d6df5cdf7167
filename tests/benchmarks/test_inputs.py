"""benchmarks/inputs.py and contenders.py: do both kinds of inputs take the path they are there for?"""

import contenders
import numpy as np
import pytest
from inputs import KINDS, heads_at, largest_score, make_inputs

from attnlib.attention import attention, attention_backward
from attnlib.flash import forward


def row(inputs, n, **other):
    return {"inputs": inputs, "n": n, "heads": 2, "dtype": "float32", "passes": "forward"} | other


@pytest.mark.parametrize(("inputs", "small"), [("normal", True), ("trained", False)])
def test_flash_goes_without_a_running_maximum_where_scores_stay_near_zero(inputs, small, monkeypatch):
    asked = []
    ask = forward._all_is_small
    monkeypatch.setattr(forward, "_all_is_small", lambda *arrays: asked.append(ask(*arrays)) or asked[-1])
    contenders.contender("Flash (ours)", row(inputs, 512))()
    assert set(asked) == {small}


def test_flash_does_not_ask_where_keys_are_hidden_or_few(monkeypatch):
    monkeypatch.setattr(forward, "_all_is_small", lambda *arrays: pytest.fail("asked"))
    contenders.contender("Flash (ours)", row("normal", 512, passes="causal"))()
    contenders.contender("Flash (ours)", row("normal", 256))()


@pytest.mark.parametrize(("inputs", "spread"), [("normal", 1), ("trained", 6)])
def test_the_scores_spread_as_said(inputs, spread):
    query, key, _, _ = make_inputs(row(inputs, 512))
    scores = query @ key.mT / 8
    assert scores.std() == pytest.approx(spread, rel=0.01)
    assert largest_score(row(inputs, 512)) == pytest.approx(np.abs(scores).max(), rel=1e-5)
    assert (np.abs(scores).max() > 20) == (inputs == "trained")
    weights = attention(query, key, key)[1]
    assert weights.min() > np.finfo(np.float32).tiny  # no slow subnormal numbers


def test_in_trained_scores_one_of_2048_keys_takes_over_half_of_the_weight():
    query, key, _, _ = make_inputs(row("trained", 2048, heads=1))
    assert attention(query[:, :256], key, key)[1].max(axis=-1).mean() > 0.5


def test_the_largest_score_is_found_in_any_block_of_queries():
    query, key, _, _ = make_inputs(row("normal", 2100))
    assert largest_score(row("normal", 2100)) == pytest.approx(np.abs(query @ key.mT).max() / 8, rel=1e-5)


def test_short_texts_have_many_heads():
    shapes = {n: heads_at(n) for n in (16, 32, 64, 128, 256, 8192)}
    assert shapes == {16: 1024, 32: 1024, 64: 64, 128: 16, 256: 4, 8192: 4}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("inputs", KINDS)
def test_contenders_compute_the_same(inputs, dtype):
    """All but the bare products; PyTorch and JAX where they are installed."""
    where = row(inputs, 40, dtype=dtype)
    query, key, value, d_out = (array.astype(np.float64) for array in make_inputs(where))
    plain, weights = attention(query, key, value)
    wanted = {"forward": [plain], "causal": [attention(query, key, value, causal=True)[0]]}
    wanted["backward"] = wanted["both"] = attention_backward(d_out, query, key, value, weights)
    names = [name for name in contenders.taking_part(where) if name != "products alone"]
    assert names[:2] == ["Flash (ours)", "plain (ours)"] and len(names) >= 4
    for name in names:
        for passes, exact in wanted.items():
            found = contenders.contender(name, where | {"passes": passes})()
            found = found if isinstance(found, (tuple, list)) else [found]
            for ours, theirs in zip(exact, found, strict=False):  # what is saved for the backward follows
                theirs = np.asarray(theirs)
                theirs = theirs[0].swapaxes(0, 1) if name == "JAX" else theirs.reshape(ours.shape)
                exact_to = 2e-4 if dtype == "float32" or name == "JAX" else 1e-11  # JAX: softmax always in float32
                np.testing.assert_allclose(theirs, ours, atol=exact_to, err_msg=f"{name} {passes}")


def test_what_would_not_fit_takes_no_part():
    assert "textbook" in contenders.taking_part(row("normal", 4096, heads=4))
    left = contenders.taking_part(row("normal", 8192, heads=4))
    assert "textbook" not in left and "textbook, dtype kept" in left
    assert contenders.taking_part(row("normal", 65536, heads=4))[:1] == ["Flash (ours)"]
