"""attnlib.page.recorded: does a chapter quote the right measurement, and say so where there is none?"""

import json
from pathlib import Path

import pytest

from attnlib.page import recorded_run

STORED = Path(__file__).parents[2] / "benchmarks" / "results.json"


def row(passes, n, first, *, threads=1, dtype="float32"):
    """A measurement whose numbers tell which one it is: ratios first, first + 1; memory of one of them only."""
    ratios = {"plain": first, "JAX": first + 1}
    return {"threads": threads, "dtype": dtype, "passes": passes, "n": n, "ratios": ratios, "bytes": {"plain": first * 2**20}}


@pytest.fixture
def stored(tmp_path):
    rows = [
        row("forward", 2048, 10),
        row("forward", 512, 20),
        row("backward", 512, 30),
        row("forward", 512, 40, threads=2),
        row("forward", 128, 50, dtype="float64"),
        row("both", 512, 60) | {"bytes": {"plain": 3 * 2**19, "JAX": None}},
    ]
    path = tmp_path / "run.json"
    path.write_text(json.dumps({"machine": {"numpy": "2.4.6", "cores": 2}, "rows": rows}), encoding="utf-8")
    return path


def test_a_measurement_is_found_by_contender_pass_and_length(stored):
    run = recorded_run(stored)
    assert run.machine == {"numpy": "2.4.6", "cores": 2}
    assert [run.ratio("plain", *place) for place in (("forward", 2048), ("forward", 512), ("backward", 512))] == [10, 20, 30]
    assert run.ratio("JAX", "forward", 512) == 21
    assert run.mib("plain", "backward", 512) == 30 and run.mib("plain", "both", 512) == 1.5
    assert run.sizes == [512, 2048]


def test_other_threads_and_numbers_are_another_run(stored):
    assert recorded_run(stored, threads=2).ratio("plain", "forward", 512) == 40
    doubles = recorded_run(stored, dtype="float64")
    assert doubles.sizes == [128] and doubles.ratio("plain", "forward", 128) == 50


@pytest.mark.parametrize("place", [("plain", "forward", 64), ("plain", "causal", 512), ("PyTorch", "forward", 512)])
def test_what_was_not_measured_is_none(stored, place):
    run = recorded_run(stored)
    assert run.ratio(*place) is None and run.mib(*place) is None


def test_memory_may_be_unknown_where_the_time_is_not(stored):
    run = recorded_run(stored)
    assert run.mib("JAX", "forward", 512) is None and run.mib("JAX", "both", 512) is None
    assert run.ratio("JAX", "both", 512) == 61


def test_without_a_file_nothing_is_measured_and_the_run_says_so(tmp_path):
    run = recorded_run(str(tmp_path / "gone.json"))
    assert run.sizes == [] and run.ratio("plain", "forward", 512) is None
    assert list(run.machine) == ["gone.json"] and "missing" in run.machine["gone.json"]


def test_the_run_of_the_course_is_found_from_any_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    content = json.loads(STORED.read_text(encoding="utf-8"))
    run = recorded_run()
    assert run.machine == content["machine"]
    first = next(row for row in content["rows"] if (row["threads"], row["dtype"]) == (1, "float32"))
    name, ratio = list(first["ratios"].items())[-1]
    assert run.ratio(name, first["passes"], first["n"]) == ratio
