"""chapters/measured.ipynb: what it shows once a run on a GPU is recorded, and that a sentence that fails is not shown."""

import json
from pathlib import Path

import pytest

import attnpage
from attnpage import recorded, table

PAGE = Path(__file__).parents[2] / "chapters" / "measured.ipynb"


def cell(name):
    """The code of a cell of the page."""
    (found,) = (each for each in json.loads(PAGE.read_text(encoding="utf-8"))["cells"] if each["id"] == name)
    return "".join(found["source"])


def store(folder, name, *rows):
    content = {"machine": {"GPU": name, "PyTorch": "2.9"}, "beyond": {}, "rows": rows}
    (folder / f"{name}.json").write_text(json.dumps(content), encoding="utf-8")


def shown_on_gpu(capsys):
    from attnpage import from_to, recorded_gpu_runs

    tables = []
    names = {"recorded_gpu_runs": recorded_gpu_runs, "from_to": from_to, "table": table}
    exec(cell("gpu-run"), names | {"display": lambda *each: tables.extend(each)})
    return [[line.split() for line in str(each).splitlines()] for each in tables], capsys.readouterr().out


def test_runs_on_gpus_show_as_tables_of_ranges(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(recorded, "RUNS", tmp_path)
    assert shown_on_gpu(capsys) == ([], "No run on a GPU has been recorded yet: there are no times to show.\n")
    usual = {"dtype": "float16", "d": 64, "heads": 16, "settled": True, "bytes": {}, "ratios": {}}
    slow, fast = ({"Triton (ours)": rate, "PyTorch fused": 2 * rate} for rate in (100.4, 250.4))
    forward = usual | {"passes": "forward", "n": 512}
    causal = usual | {"passes": "causal", "n": 1024}
    store(tmp_path, "A100", forward | {"tflops": slow}, causal | {"tflops": slow})
    store(tmp_path, "H100", forward | {"tflops": fast}, forward | {"tflops": fast, "d": 128})
    (first, second), said = shown_on_gpu(capsys)
    assert said == "" and first[0][-2:] == ["A100,", "H100"] and second[0][-4:] == ["d", "=", "128:", "H100"]
    assert first[-2:] == [["512", "100–250", "201–501", "–", "–", "–", "–"], ["1024", "–", "–", "–", "100", "201", "–"]]
    assert second[-1] == ["512", "250", "501", "–", "–", "–", "–"]


def claims(folder):
    names = {}
    exec(cell("imports").split("plotting.setup()")[0], names)
    runs = {inputs: attnpage.recorded_runs(folder, inputs=inputs) for inputs in ("normal", "trained")}
    names |= {"bench": runs, "machines": runs["trained"].machines}
    names |= {"sizes": (512, 2048, 4096), "ways": ("forward", "backward")}
    exec(cell("recorded-claims").rsplit("\ntable(", 1)[0], names)
    return {row[0]: row[1:] for row in names["rows"]}


def test_a_run_in_which_a_sentence_does_not_hold_stops_the_page(tmp_path):
    stored = json.loads(next(recorded.RUNS.glob("*-haswell-1.json")).read_text(encoding="utf-8"))
    (tmp_path / "one.json").write_text(json.dumps(stored), encoding="utf-8")
    before = claims(tmp_path)
    sentence = "n up to 512, backward: plain is faster"
    assert before[sentence][1] < 1 and before[sentence][3] is True
    (row,) = (
        each for each in stored["rows"] if (each["inputs"], each["passes"], each["n"]) == ("trained", "backward", 64)
    )
    row["interval"]["plain (ours)"] = 0.5  # the interval passes 1, the median does not
    (tmp_path / "two.json").write_text(json.dumps(stored), encoding="utf-8")
    assert claims(tmp_path)[sentence] == (*before[sentence][:3], False)
    row["ratios"]["plain (ours)"] = 1.01
    (tmp_path / "two.json").write_text(json.dumps(stored), encoding="utf-8")
    with pytest.raises(AssertionError, match=sentence):
        claims(tmp_path)


def test_without_runs_the_page_claims_nothing_and_does_not_fail(tmp_path):
    assert {row[:2] for row in claims(tmp_path).values()} == {(None, None)}
