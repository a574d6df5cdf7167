"""attnpage.recorded: does a chapter quote what all runs agree on, and say so where there is none?"""

import json
from pathlib import Path

import pytest

from attnpage import from_to, recorded_gpu_runs, recorded_runs, table

STORED = Path(__file__).parents[2] / "benchmarks" / "runs"
FORWARD, BACKWARD = ("forward", 512), ("backward", 512)


def row(passes, n, first, **other):
    """A measurement whose numbers tell which one it is: ratios first, first + 1; memory of one of them only."""
    ratios = {"plain": first, "JAX": first + 1}
    usual = {"threads": 1, "dtype": "float32", "inputs": "normal", "heads": 4, "settled": True}
    return usual | {"passes": passes, "n": n} | {"ratios": ratios, "bytes": {"plain": first * 2**20}} | other


def store(folder, name, *rows):
    content = {"machine": {"processor": name.upper(), "cores": 2}, "beyond": {}, "rows": rows}
    (folder / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")
    (folder / f"{name}.md").write_text("# for people")


@pytest.fixture
def one(tmp_path):
    store(
        tmp_path,
        "b",
        row("forward", 2048, 10),
        row(*FORWARD, 20, settled=False),
        row(*BACKWARD, 30),
        row("both", 512, 60, bytes={"plain": 3 * 2**19, "JAX": None}),
        row("forward", 16, 70, heads=1024),
        row(*FORWARD, 40, threads=2),
        row(*FORWARD, 50, dtype="float64"),
        row(*FORWARD, 80, inputs="trained", bytes={}),
    )
    return tmp_path


@pytest.fixture
def two(one):
    store(one, "a", row(*FORWARD, 15), row(*BACKWARD, 35), row("causal", 1024, 5, ratios={"plain": 5}))
    return one


def test_of_one_run_both_ends_are_its_own(one):
    runs = recorded_runs(one)
    assert runs.machines == [{"run": "b", "processor": "B", "cores": 2}]
    found = [runs.ratio("plain", *place) for place in (("forward", 2048), FORWARD, BACKWARD)]
    assert found == [(10, 10), (20, 20), (30, 30)]
    assert runs.ratio("JAX", *FORWARD) == (21, 21) and runs.ratios("JAX", *FORWARD) == {"b": 21}
    assert runs.mib("plain", *BACKWARD) == (30, 30) and runs.mib("plain", "both", 512) == (1.5, 1.5)


def test_of_two_runs_the_lowest_and_the_highest_count_whichever_has_them(two):
    runs = recorded_runs(two)
    assert [machine["run"] for machine in runs.machines] == ["a", "b"]
    assert runs.ratio("plain", *FORWARD) == (15, 20) and runs.ratio("plain", *BACKWARD) == (30, 35)
    assert runs.mib("plain", *FORWARD) == (15, 20) and runs.mib("plain", *BACKWARD) == (30, 35)
    assert runs.ratios("plain", *FORWARD) == {"a": 15, "b": 20}


def test_a_run_that_did_not_measure_it_takes_nothing_from_the_others(two):
    runs = recorded_runs(two)
    assert runs.ratio("plain", "forward", 2048) == (10, 10) and runs.ratios("plain", "causal", 1024) == {"a": 5}
    assert runs.ratio("JAX", "causal", 1024) is None and runs.ratios("JAX", "causal", 1024) == {}


def test_lengths_come_in_order_with_their_heads(two):
    assert list(recorded_runs(two).heads.items()) == [(16, 1024), (512, 4), (1024, 4), (2048, 4)]


def test_what_is_not_settled_is_counted(two):
    assert recorded_runs(two).settled == (7, 8)
    assert recorded_runs(two, threads=2).settled == (1, 1)


def test_other_threads_numbers_and_inputs_are_other_runs(two):
    assert recorded_runs(two, threads=2).ratio("plain", *FORWARD) == (40, 40)
    assert recorded_runs(two, dtype="float64").ratio("plain", *FORWARD) == (50, 50)
    trained = recorded_runs(two, inputs="trained")
    assert trained.ratio("plain", *FORWARD) == (80, 80) and trained.mib("plain", *FORWARD) is None
    assert [machine["run"] for machine in trained.machines] == ["b"] and list(trained.heads) == [512]


@pytest.mark.parametrize("place", [("plain", "forward", 64), ("plain", "causal", 512), ("PyTorch", "forward", 512)])
def test_what_was_not_measured_is_none(two, place):
    runs = recorded_runs(two)
    assert runs.ratio(*place) is None and runs.mib(*place) is None and runs.ratios(*place) == {}


def test_memory_may_be_unknown_where_the_time_is_not(one):
    runs = recorded_runs(one)
    assert runs.mib("JAX", *FORWARD) is None and runs.mib("JAX", "both", 512) is None
    assert runs.ratio("JAX", "both", 512) == (61, 61)


def test_an_interval_reaches_to_both_sides_of_the_median(tmp_path):
    store(tmp_path, "a", row(*FORWARD, 10, interval={"plain": 0.5}))
    store(tmp_path, "b", row(*FORWARD, 20, interval={"plain": 2, "JAX": 1}), row(*BACKWARD, 30))
    runs = recorded_runs(tmp_path)
    assert runs.spans("plain", *FORWARD) == {"a": (9.5, 10.5), "b": (18, 22)}
    assert runs.spans("JAX", *FORWARD) == {"b": (20, 22)}  # its median is 21
    assert runs.spans("plain", *BACKWARD) == {} and runs.spans("plain", "causal", 512) == {}


def test_time_is_shared_out_among_the_scores_of_all_heads(tmp_path):
    store(tmp_path, "a", row("forward", 8, 1, heads=5, seconds={"plain": 320e-9}))
    store(tmp_path, "b", row("forward", 8, 1, heads=10, seconds={"plain": 1280e-9}))
    runs = recorded_runs(tmp_path)
    assert runs.nanoseconds("plain", "forward", 8) == pytest.approx({"a": 1, "b": 2})
    assert runs.nanoseconds("JAX", "forward", 8) == {} == runs.nanoseconds("plain", "forward", 9)


@pytest.mark.parametrize("folder", ["gone", "."])
def test_without_a_folder_or_runs_in_it_nothing_is_measured(tmp_path, folder):
    runs = recorded_runs(str(tmp_path / folder))
    assert runs.machines == [] and runs.heads == {} and runs.settled == (0, 0)
    assert runs.ratio("plain", *FORWARD) is None and runs.mib("plain", *FORWARD) is None


def test_the_runs_of_the_course_are_found_from_any_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    stored = {file.stem: json.loads(file.read_text(encoding="utf-8")) for file in sorted(STORED.glob("*.json"))}
    stored = {name: run for name, run in stored.items() if "GPU" not in run["machine"]}
    usual = (1, "float32", "normal")
    chosen = {
        name: [row for row in run["rows"] if (row["threads"], row["dtype"], row["inputs"]) == usual]
        for name, run in stored.items()
    }
    runs = recorded_runs()
    assert runs.machines == [{"run": name, **stored[name]["machine"]} for name, rows in chosen.items() if rows]
    assert runs.settled[1] == sum(map(len, chosen.values()))
    for name, rows in chosen.items():
        for found in rows:
            for peer, ratio in found["ratios"].items():
                assert runs.ratios(peer, found["passes"], found["n"])[name] == ratio


def test_a_table_shows_both_ends_once_where_they_look_the_same(two):
    runs = recorded_runs(two)
    places = [FORWARD, ("forward", 2048), ("forward", 8192)]
    rows = [[f"{n}", runs.ratio("plain", passes, n)] for passes, n in places]
    shown = [line.split() for line in str(table({"n": None, "plain": from_to(".1f")}, rows)).splitlines()]
    assert shown[1:] == [["512", "15.0–20.0"], ["2048", "10.0"], ["8192", "–"]]


# --- on a GPU -------------------------------------------------------------------------------------


def gpu_row(passes, n, rate, **other):
    usual = {"dtype": "float16", "d": 64, "texts": 2, "heads": 16, "settled": True, "bytes": {"fused": 2**21}}
    return usual | {"passes": passes, "n": n, "ratios": {"fused": rate / 10}, "tflops": {"fused": rate}} | other


def store_gpu(folder, name, *rows):
    content = {"machine": {"GPU": name.upper(), "driver": "1.0"}, "beyond": {}, "rows": rows}
    (folder / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")


def test_runs_on_a_gpu_and_on_a_processor_keep_apart(two):
    before = recorded_runs(two).machines
    assert recorded_gpu_runs(two).machines == []
    store_gpu(two, "gpu a", gpu_row("forward", 512, 100), gpu_row("causal", 512, 70))
    store_gpu(two, "gpu b", gpu_row("forward", 512, 300), gpu_row("forward", 1024, 400, settled=False))
    assert recorded_runs(two).machines == before
    runs = recorded_gpu_runs(two)
    assert [machine["GPU"] for machine in runs.machines] == ["GPU A", "GPU B"]
    assert runs.tflops("fused", "forward", 512) == (100, 300) and runs.tflops("fused", "causal", 512) == (70, 70)
    assert runs.ratio("fused", "forward", 512) == (10, 30) and runs.mib("fused", "forward", 1024) == (2, 2)
    assert runs.settled == (3, 4) and list(runs.heads) == [512, 1024]
    assert runs.tflops("fused", "causal", 1024) is None and runs.tflops("plain", "forward", 512) is None
    assert recorded_runs(two).tflops("plain", *FORWARD) is None


def test_other_dtypes_and_widths_on_a_gpu_are_other_runs(tmp_path):
    rows = gpu_row("forward", 512, 100), gpu_row("forward", 512, 200, d=128)
    store_gpu(tmp_path, "one", *rows, gpu_row("forward", 512, 300, dtype="bfloat16"))
    found = [recorded_gpu_runs(tmp_path, **which).tflops("fused", "forward", 512) for which in ({}, {"d": 128})]
    assert found == [(100, 100), (200, 200)]
    assert recorded_gpu_runs(tmp_path, dtype="bfloat16").tflops("fused", "forward", 512) == (300, 300)
    assert recorded_gpu_runs(tmp_path, dtype="float32").machines == []
