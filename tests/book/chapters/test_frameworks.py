"""What PyTorch and JAX answered is what attnlib answers, and what the page's tables say."""

import json
import re
from pathlib import Path

import nbformat
import numpy as np
import pytest

from attnlib.attention import attention
from attnlib.masks import causal_mask, padding_mask, sliding_window_mask

ROOT = Path(__file__).resolve().parents[3]
with np.load(ROOT / "chapters" / "data" / "frameworks.npz", allow_pickle=False) as file:
    STORED = dict(file)
RECORD = json.loads(str(STORED["record"]))
GIVEN = {name.removeprefix("input/"): array for name, array in STORED.items() if name.startswith("input/")}
SHORT = {"SDPA": "scaled_dot_product_attention", "Flex": "flex_attention"}
SHORT |= {"MHA": "nn.MultiheadAttention", "JAX": "jax.nn.dot_product_attention"}
CELLS = {cell.id: cell for cell in nbformat.read(ROOT / "chapters" / "frameworks.ipynb", as_version=4).cells}
N_Q, N_K = GIVEN["query"].shape[-2], GIVEN["key"].shape[-2]
# The same question in attnlib; where a library is known to answer otherwise, it is in OTHERWISE.
SAME = {
    "plain": {},
    "boolean": {"mask": GIVEN["mask"]},
    "bias": {"mask": GIVEN["bias"]},
    "causal": {"causal": True},
    "at the end": {"mask": causal_mask(N_Q, N_K, offset=N_K - N_Q)},
    "window": {"mask": sliding_window_mask(N_Q, N_K, 2)},
    "padding": {"mask": padding_mask(GIVEN["lengths"], N_K)[:, None]},
    "scale": {"scale": 0.25},
    "scale 0": {"scale": 0.0},
    "grouped": {},
    "narrow value": {},
    "empty row": {"mask": GIVEN["empty"]},
    "empty row, −∞": {"mask": GIVEN["infinite"]},
    "float64": {},
}
OTHERWISE = {("JAX", "empty row"): "mean", ("JAX", "empty row, −∞"): "NaN"}


def inputs(case):
    names = {"key": "grouped_key", "value": "grouped_value"} if case == "grouped" else {}
    names |= {"value": "narrow_value"} if case == "narrow value" else {}
    arrays = [GIVEN[names.get(name, name)] for name in ("query", "key", "value")]
    return [array.astype(float) for array in arrays] if case == "float64" else arrays


ASKED = [(name, case) for name in SHORT for case in SAME if f"{SHORT[name]}/{case}/out" in STORED]


@pytest.mark.parametrize("name, case", ASKED)
def test_the_answer_is_ours(name, case):
    theirs, (ours, _) = STORED[f"{SHORT[name]}/{case}/out"], attention(*inputs(case), **SAME[case])
    known = OTHERWISE.get((name, case))
    if known:
        row = theirs[:, :, 1]
        mean = np.broadcast_to(GIVEN["value"].mean(axis=-2), row.shape)
        assert np.isnan(row).all() if known == "NaN" else np.allclose(row, mean, atol=2e-6)
        theirs, ours = theirs[:, :, ::2], ours[:, :, ::2]  # the other rows
    np.testing.assert_allclose(theirs, ours, atol=2e-6)


def test_enough_was_asked():
    assert len(ASKED) >= 50
    refused = {(name, case) for name in SHORT for case, said in RECORD[SHORT[name]]["calls"].items() if "error" in said}
    assert refused == {("JAX", "narrow value"), ("MHA", "causal alone")}


def rows(cell):
    """The table that a cell shows, as text: {function: what its line says}."""
    (text,) = [output["data"]["text/plain"] for output in CELLS[cell].outputs if "data" in output]
    lines = [re.split(r" {2,}", line.strip()) for line in text.splitlines()]
    return {line[0]: line[1:] for line in lines if line[0] in {*SHORT, "MHA, weights wanted", "attnlib"}}


def test_the_page_shows_each_call_as_it_was_run():
    shown = {}
    for cell in CELLS:
        if cell.startswith("calls-") and CELLS[cell].cell_type == "code":
            for name, (call,) in rows(cell).items():
                shown.setdefault(name, set()).add(call.strip("`"))
    for name, function in SHORT.items():
        cases = [case for case in SAME if case not in ("scale 0", "narrow value", "float64") and "empty" not in case]
        calls = {RECORD[function]["calls"][case]["call"] for case in cases if case in RECORD[function]["calls"]}
        assert shown[name] == calls


def test_the_page_says_what_was_answered():
    axes, numbers, empty = rows("axes-run"), rows("numbers-run"), rows("empty-run")
    for name, function in SHORT.items():
        assert axes[name][0] == RECORD[function]["axes"]
        assert (axes[name][1] == "hidden") == ("~mask" in RECORD[function]["calls"]["boolean"]["call"])
        error = np.abs(STORED[f"{function}/float64/out"] - attention(*inputs("float64"))[0]).max()
        assert numbers[name][-1] == ("float64" if error < 1e-13 else "float32")
        assert numbers[name][2] == ("yes" if f"{function}/grouped/out" in STORED else "no")
        assert numbers[name][3] == ("yes" if f"{function}/narrow value/out" in STORED else "no")
        otherwise = [(name, case) in OTHERWISE for case in ("empty row", "empty row, −∞")]
        assert ["mean" in empty[name][0], empty[name][2] == "NaN"] == otherwise
    assert empty["attnlib"] == ["zeros"] * 4 and empty["MHA, weights wanted"][:2] == ["NaN", "NaN"]
    assert axes["attnlib"][1:] == ["may look", "top left"]


def test_the_page_says_which_versions_were_asked():
    shown = "".join(output.get("text", "") for output in CELLS["imports"].outputs)
    assert all(each["version"] in shown for each in RECORD.values())


def test_the_page_says_how_far_jax_is_off_in_float64():
    ours, _ = attention(*inputs("float64"))
    error = np.abs(STORED["jax.nn.dot_product_attention/float64/out"] - ours).max()
    (power,) = re.findall("off by about 10⁻(.)", CELLS["numbers-note"].source)
    assert "⁰¹²³⁴⁵⁶⁷⁸⁹".index(power) == round(-np.log10(error))
