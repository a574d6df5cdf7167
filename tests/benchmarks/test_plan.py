"""benchmarks/run.py and machine.py: what is measured unless asked otherwise, and what a record names."""

import os
import subprocess
import sys
from pathlib import Path

import machine
import run

BENCHMARKS = Path(run.__file__).parent


def test_the_default_run_takes_both_inputs_one_thread_and_less_than_an_hour():
    rows = run.plan(run.arguments([]))
    assert {(row["threads"], row["dtype"]) for row in rows} == {(1, "float32")}
    assert {row["inputs"] for row in rows} == {"normal", "trained"} and len(rows) == 10 * 4 * 2
    assert 20 < run.minutes(rows) < 60


def test_more_is_measured_where_it_is_asked_for():
    asked = "--n 64 512 --threads 1 2 --dtypes float32 float64 --passes both --seconds 9"
    rows = run.plan(run.arguments(asked.split()))
    assert len(rows) == 2 * 2 * 2 * 2 and {row["spend"] for row in rows} == {9}
    assert {(row["n"], row["heads"]) for row in rows} == {(64, 64), (512, 4)}
    assert run.minutes(rows) > run.minutes([row for row in rows if row["dtype"] == "float32"])


def test_a_record_names_what_times_depend_on(monkeypatch):
    monkeypatch.setenv("OPENBLAS_CORETYPE", "Nehalem")
    about = machine.machine(1)
    needed = "processor, cores, threads, pinned to, instructions, BLAS, BLAS kernel, OPENBLAS_CORETYPE"
    needed = f"{needed}, Python, NumPy, PyTorch, JAX, attnlib, date".split(", ")
    assert list(about.keys() - needed) == ["load"] and all(about[key] for key in needed)
    assert about["OPENBLAS_CORETYPE"] == "Nehalem"
    assert machine.machine(1)["attnlib"] == about["attnlib"]


def test_the_kernel_is_the_one_in_use():
    ask = [sys.executable, "-c", "import machine; print(machine.blas_kernel())"]
    environment = os.environ | {"PYTHONPATH": f"{BENCHMARKS}{os.pathsep}{BENCHMARKS.parent}"}
    said = [
        subprocess.run(ask, env=environment | more, capture_output=True, text=True, check=True).stdout.strip()
        for more in ({}, {"OPENBLAS_CORETYPE": "Nehalem"})
    ]
    assert said[0] == machine.blas_kernel()
    if said[0] != "unknown" and machine.platform.machine() == "x86_64":  # only there is a Nehalem to be chosen
        assert said[1] == "Nehalem"


def test_changed_code_is_another_library(monkeypatch, tmp_path):
    before = machine.digest()
    for room in machine.MEASURED:
        (tmp_path / room).mkdir()
        (tmp_path / room / "file.py").write_text("one = 1\n")
    monkeypatch.setattr(machine, "ROOM", tmp_path)
    one = machine.digest()
    (tmp_path / "flash" / "file.py").write_text("one = 2\n")
    assert len({before, one, machine.digest()}) == 3


def test_a_process_measures_a_row_with_what_is_installed():
    where = {"threads": 1, "dtype": "float32", "inputs": "trained", "n": 24, "heads": 2, "passes": "both", "spend": 0}
    row = run.measure("time", where)
    assert row["rounds"] >= 6 and row["largest_score"] > 15 and row["settled"] in (True, False)
    assert set(row["interval"]) == set(row["ratios"]) == set(row["seconds"]) - {"Flash (ours)"}
    size = run.measure("memory", where, contender="plain (ours)")
    assert size > 2 * 24 * 24 * 4  # the weights of two heads
