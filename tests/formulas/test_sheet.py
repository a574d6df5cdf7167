"""The formula sheet: every formula of the book is on it, as its chapter has it, with the test that proves it."""

import inspect
import re
from importlib import util
from pathlib import Path

import numpy as np
import pytest
from letters import letters_used_twice

from book import formula_sheet

ROOT = Path(__file__).resolve().parents[2]

ROWS, CHAPTERS = formula_sheet.table(), formula_sheet.book(ROOT)
TESTS = [row["test"] for row in ROWS]
CLOSE = np.testing.assert_allclose


def function(test):
    """The function of a test, from a module of its own, so that what is changed in it is changed for nobody else."""
    file, _, name = test.partition("::")
    spec = util.spec_from_file_location("of_the_sheet", ROOT / file)
    module = util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)


def test_the_table_has_every_numbered_formula_with_a_place_and_a_test(record_property):
    assert formula_sheet.problems(ROWS, CHAPTERS) == []
    assert sum(len(chapter.formulas) for chapter in CHAPTERS.values()) > 60
    record_property("checked formulas of the sheet", len(ROWS))


def test_pytest_collects_the_test_of_each_row_and_each_proves_one_formula(request):
    files = sorted(set(Path(__file__).parent.glob("test_*.py")) - {Path(__file__)})
    collected = [item.nodeid for file in files for item in pytest.Module.from_parent(request.session, path=file).collect()]
    assert sorted(TESTS) == sorted(collected)


@pytest.mark.parametrize("row", ROWS, ids=TESTS)
def test_a_test_quotes_the_formula_that_it_evaluates(row):
    """Who changes a formula of a chapter has to look at its test."""
    quoted = function(row["test"]).__doc__
    assert formula_sheet.written(quoted) == formula_sheet.written(formula_sheet.formula_of(row, CHAPTERS))


@pytest.mark.parametrize("test", TESTS)
def test_a_formula_that_is_slightly_wrong_fails(test, monkeypatch, rng):
    """Each test compares, and tightly: a result ten tolerances away is refused."""
    compared = []

    def moved(formula, reference, rtol=1e-7, atol=0.0, **rest):
        formula, reference = np.asarray(formula, float), np.asarray(reference, float)
        compared.append(formula.shape == reference.shape and reference.size)
        assert rtol <= 0.05 and np.isfinite(reference).any()
        off = 10 * (atol + rtol * np.abs(reference))
        CLOSE(np.where(np.isfinite(formula), formula + off, formula), reference, rtol=rtol, atol=atol, **rest)

    monkeypatch.setattr(np.testing, "assert_allclose", moved)
    prove = function(test)
    with pytest.raises(AssertionError):
        prove(*[rng for _ in inspect.signature(prove).parameters])
    assert compared and all(compared)


def test_the_letters_are_those_of_the_notation():
    sheet = formula_sheet.sheet(ROWS, CHAPTERS)
    assert len(re.findall(r"^\$\$$", sheet, re.M)) == 2 * len(ROWS)
    assert letters_used_twice(sheet) == []


# A faulty table


def row(**changes):
    whole = {"label": "eq-softmax", "name": "Softmax", "reading": "…", "test": TESTS[0]} | changes
    return {name: value for name, value in whole.items() if value is not None}


@pytest.mark.parametrize(
    "wrong, said",
    [
        ({"test": "tests/formulas/test_softmax.py::test_nothing"}, "there is no test"),
        ({"test": "tests/formulas/test_nothing.py::test_softmax"}, "there is no test"),
        ({"test": "tests/formulas/formula_cases.py::agree"}, "there is no test"),
        ({"label": "eq-nothing"}, "no chapter has this formula"),
        ({"label": None, "tex": "x", "place": "01_softmax.ipynb#Nothing"}, "is no section of a chapter"),
        ({"label": None, "tex": "x"}, "is no section of a chapter"),
    ],
)
def test_a_faulty_row_is_named(wrong, said):
    (found,) = [each for each in formula_sheet.problems([row(**wrong)], CHAPTERS) if "has no row" not in each]
    assert said in found


def test_a_missing_row_and_a_repeated_one_are_named():
    without = [each for each in ROWS if each.get("label") != "eq-alibi"]
    assert formula_sheet.problems(without, CHAPTERS) == ["the formula eq-alibi has no row in formulas.toml"]
    assert formula_sheet.problems([*ROWS, row()], CHAPTERS) == ["eq-softmax has two rows in formulas.toml"]
