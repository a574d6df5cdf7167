"""benchmarks/runs.py: what a run keeps of an earlier one, and what stands beside it."""

import json

import machine
import pytest
from runs import Run

ABOUT = {"processor": "Some CPU @ 2.0GHz", "instructions": "X86_V3", "BLAS kernel": "Haswell", "threads": 1}
ABOUT |= {"NumPy": "2.4.6", "OPENBLAS_CORETYPE": "not set", "load": 0.5, "date": "2026-01-01"}


def row(n, ratio, **other):
    """A row as measure.py and run.py make it, with one peer that was too large."""
    usual = {"threads": 1, "dtype": "float32", "inputs": "normal", "n": n, "heads": 4, "passes": "forward", "spend": 4}
    found = {"largest_score": 5.5, "rounds": 9, "settled": True, "bytes": {"Flash (ours)": 3 * 2**20}}
    times = {"seconds": {"Flash (ours)": 0.25}, "ratios": {"textbook": ratio}, "interval": {"textbook": 0.014}}
    return usual | found | times | other


def stored(folder):
    return {path.name: json.loads(path.read_text(encoding="utf-8")) for path in folder.glob("*.json")}


def test_the_name_says_what_differs_between_machines():
    assert machine.name(ABOUT) == "some-cpu-2-0ghz-x86-v3-haswell-1"


def test_a_row_measured_again_replaces_only_itself(tmp_path):
    first = Run(ABOUT, tmp_path)
    first.beyond[512] = 1000
    first.add(row(512, 1.5))
    first.add(row(256, 2.5))
    Run(ABOUT, tmp_path).add(row(512, 3.5))
    (content,) = stored(tmp_path).values()
    assert content["rows"] == [row(256, 2.5), row(512, 3.5)] and content["beyond"] == {"512": 1000}
    assert content["machine"] == ABOUT


@pytest.mark.parametrize("other", [{"inputs": "trained"}, {"dtype": "float64"}, {"passes": "both"}, {"n": 1024}])
def test_rows_that_measure_something_else_stand_side_by_side(tmp_path, other):
    run = Run(ABOUT, tmp_path)
    run.add(row(512, 1.5))
    run.add(row(512, 2.5) | other)
    (content,) = stored(tmp_path).values()
    assert sorted(found["ratios"]["textbook"] for found in content["rows"]) == [1.5, 2.5]


@pytest.mark.parametrize("other", [{"processor": "B"}, {"instructions": "V4"}, {"BLAS kernel": "Zen"}, {"threads": 2}])
def test_another_machine_kernel_or_number_of_threads_is_another_run(tmp_path, other):
    Run(ABOUT, tmp_path).add(row(512, 1.5))
    Run(ABOUT | other, tmp_path).add(row(512, 2.5))
    ratios = sorted(content["rows"][0]["ratios"]["textbook"] for content in stored(tmp_path).values())
    assert ratios == [1.5, 2.5]


def test_other_versions_begin_anew_and_another_day_goes_on(tmp_path):
    Run(ABOUT, tmp_path).add(row(256, 1.5))
    later = ABOUT | {"date": "2026-02-02", "load": 0.25, "OPENBLAS_CORETYPE": "Haswell"}
    Run(later, tmp_path).add(row(512, 1.5))
    (content,) = stored(tmp_path).values()
    assert len(content["rows"]) == 2
    assert content["machine"] == later | {"load": 0.5}  # the highest under which a row was measured
    Run(ABOUT | {"NumPy": "3.0"}, tmp_path).add(row(1024, 1.5))
    (content,) = stored(tmp_path).values()
    assert [found["n"] for found in content["rows"]] == [1024]


def test_the_page_beside_it_shows_ratios_with_intervals_dashes_and_what_is_not_settled(tmp_path):
    run = Run(ABOUT, tmp_path)
    run.add(row(512, 1.5, settled=False, rounds=17))
    run.add(row(512, 2.5, inputs="trained", bytes={}))
    (page,) = (path.read_text(encoding="utf-8") for path in tmp_path.glob("*.md"))
    assert "BLAS kernel Haswell" in page and "load 0.5" in page
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines() if line[:5] == "| 512"]
    dashes, shape = ["–"] * 5, ["512", "4", "5.5", "250.00"]
    normal = [*shape, "–", "1.50 ± 0.01", *dashes, "17", "no"]
    trained = [*shape, "–", "2.50 ± 0.01", *dashes, "9", "yes"]
    assert cells == [normal, trained, ["512", "4", "3.0", *["–"] * 6]]  # the last: memory
    assert page.index("standard deviation 1 (normal)") < page.index("standard deviation 6 (trained)")
