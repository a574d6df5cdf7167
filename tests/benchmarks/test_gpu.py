"""benchmarks/gpu.py without a GPU: what it says, what it would measure, how it counts, and what it writes down."""

import importlib.util
import json
import os
import subprocess
import sys
import types
from pathlib import Path

import gpu
import numpy as np
import pytest
from runs import GpuRun

GPU = Path(gpu.__file__)
ABOUT = {"GPU": "Some GPU-40GB", "processors": 108, "memory, GiB": 40, "driver": "1.2", "PyTorch": "2.9"}
ABOUT |= {"load": 0.5, "date": "2026-01-01"}


def row(n=512, passes="forward", **other):
    usual = {"dtype": "float16", "d": 64, "n": n, "texts": 2, "heads": 3, "passes": passes, "spend": 4}
    return usual | other


def test_where_nothing_can_be_measured_it_says_so_in_one_sentence_and_all_is_well():
    interpreted = os.environ | {"TRITON_INTERPRET": "1"}  # so that it does not measure where there is a GPU
    done = subprocess.run([sys.executable, GPU], env=interpreted, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("No GPU run: ") and done.stdout.endswith(".\n") and done.stdout.count("\n") == 1
    assert done.stderr == ""


@pytest.mark.parametrize("there, said", [([], "PyTorch and Triton"), (["torch"], "Triton"), (["triton"], "PyTorch")])
def test_it_names_the_packages_that_are_missing(monkeypatch, there, said):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name if name in there else None)
    assert gpu.absent() == f'it needs {said} (pip install -e ".[gpu]")'


@pytest.mark.parametrize("available", [False, True])
def test_it_asks_pytorch_for_a_gpu_and_does_not_time_the_interpreter(monkeypatch, available):
    torch = types.SimpleNamespace(__version__="2.9", cuda=types.SimpleNamespace(is_available=lambda: available))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)
    monkeypatch.setitem(sys.modules, "torch", torch)
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    assert gpu.absent().startswith("TRITON_INTERPRET is set" if available else "PyTorch 2.9 finds no GPU")
    monkeypatch.delenv("TRITON_INTERPRET")
    assert (gpu.absent() is None) == available


def test_the_plan_measures_each_place_once_with_the_same_number_of_tokens():
    rows = gpu.plan(gpu.arguments([]))
    places = [(found["dtype"], found["d"], found["n"], found["passes"]) for found in rows]
    assert len(set(places)) == len(rows) == 2 * 2 * 6 * 2
    assert {found["texts"] * found["n"] for found in rows} == {gpu.TOKENS}
    few = gpu.plan(gpu.arguments(["--n", "32768", "--d", "128", "--dtypes", "bfloat16", "--seconds", "9"]))
    assert [(found["texts"], found["spend"], found["passes"]) for found in few] == [(1, 9, "forward"), (1, 9, "causal")]


def test_operations_are_those_of_the_visible_pairs():
    scores = np.ones((2, 3, 7, 7))  # texts, heads, queries, keys
    assert gpu.operations(row(7)) == 4 * 64 * scores.sum()
    assert gpu.operations(row(7, "causal")) == 4 * 64 * np.tril(scores).sum()


def test_times_are_those_of_one_call_and_each_turn_lasts(monkeypatch):
    now, calls = 0.0, {"ours": 0, "theirs": 0}

    def work(name, seconds):
        def run():
            nonlocal now
            now += seconds
            calls[name] += 1

        return run

    monkeypatch.setattr(gpu, "REFERENCE", "ours")
    running = {"ours": work("ours", 0.002), "theirs": work("theirs", 0.003)}
    said = gpu.times(running, row(512), lambda: now)
    assert said["calls"] == 5 and said["rounds"] == 6 and calls == {"ours": 31, "theirs": 31}
    assert said["seconds"] == pytest.approx({"ours": 0.002, "theirs": 0.003})
    assert said["ratios"] == pytest.approx({"theirs": 1.5}) and said["settled"] is True
    assert said["tflops"]["ours"] == pytest.approx(4 * 64 * 512**2 * 6 / 0.002 / 1e12)


def test_the_clock_counts_seconds_from_when_it_was_made():
    class Event:
        made = 0

        def __init__(self, enable_timing):
            assert enable_timing

        def record(self):
            Event.made += 1
            self.at = 250.0 * Event.made  # milliseconds

        def synchronize(self):
            self.done = True

        def elapsed_time(self, other):
            assert self.done and other.done
            return other.at - self.at

    clock = gpu.EventClock(types.SimpleNamespace(cuda=types.SimpleNamespace(Event=Event)))
    assert [clock(), clock(), clock()] == [0.25, 0.5, 0.75]


def test_a_run_is_written_beside_the_others_under_the_name_of_the_gpu(tmp_path):
    measured = {"rounds": 9, "settled": True, "calls": 3, "seconds": {"Triton (ours)": 0.001, "PyTorch fused": 0.0005}}
    measured |= {"ratios": {"PyTorch fused": 0.5}, "interval": {"PyTorch fused": 0.0125}}
    measured |= {"tflops": {"Triton (ours)": 100.0, "PyTorch fused": 200.0}, "bytes": {"Triton (ours)": 3 * 2**19}}
    run = GpuRun(ABOUT, tmp_path)
    run.add(row(1024) | measured)
    run.add(row(512, "causal") | measured | {"settled": False})
    run.add(row(512) | measured)
    later = GpuRun(ABOUT | {"date": "2026-02-02"}, tmp_path)
    later.add(row(512, d=128) | measured)
    (file,) = tmp_path.glob("*.json")
    rows = json.loads(file.read_text(encoding="utf-8"))["rows"]
    order = [(found["d"], found["passes"], found["n"]) for found in rows]
    assert file.stem == "some-gpu-40gb"
    assert order == [(64, "forward", 512), (64, "forward", 1024), (64, "causal", 512), (128, "forward", 512)]
    page = file.with_suffix(".md").read_text(encoding="utf-8")
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in page.splitlines() if line[:5] == "| 512"]
    usual = ["512", "2", "3", "100.0", "200.0", "–", "0.50 ± 0.01", "–", "1.5", "–", "–", "9"]
    assert cells == [[*usual, "yes"], [*usual, "no"], [*usual, "yes"]]
    assert "GPU Some GPU-40GB" in page and "## Causal forward, float16, d = 64" in page


def test_other_versions_begin_anew(tmp_path):
    for driver in ("1.2", "1.3"):
        GpuRun(ABOUT | {"driver": driver}, tmp_path).save()
        assert GpuRun(ABOUT | {"driver": driver}, tmp_path).rows == []
