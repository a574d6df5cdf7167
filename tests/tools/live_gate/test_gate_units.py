"""The library's unit tests, and those of the exercises' checker, in the page's Python."""

import ast
import sys
from collections import Counter

import pytest
from gate_cases import LISTED, needs_the_site, unlisted_and_stale

from tools import live_gate
from tools.live_gate import inside

# The verdicts say the same as the tests of every exercise, message and mistake, which are many.
ROOMS = ("attention", "checks", "costs", "decoding", "flash")
ROOMS += ("gradients", "masks", "multihead", "page", "positions", "recorded", "softmax", "training")
CHECKER = ("behaviour", "blanks", "called", "next_steps", "partial_answers", "progress", "reader", "report", "returned", "timelimit", "values")
PARTS = {
    "rooms to flash": [f"tests/{room}" for room in ROOMS[:5]],
    "rooms from gradients": [f"tests/{room}" for room in ROOMS[5:]],
    "checker": [f"tests/exercises/test_{name}.py" for name in CHECKER],
}


@needs_the_site
@pytest.mark.parametrize("part", PARTS)
def test_unit_tests_pass(part, tmp_path, record_property):
    try:
        kit = live_gate.pack(tmp_path / "kit.zip", live_gate.wheels())
    except live_gate.GateError as error:
        pytest.skip(f"NOT CHECKED IN THE PAGE'S PYTHON: {error}")
    paths = PARTS[part]
    left_out = [entry["name"] for entry in LISTED.get("left_out", []) if entry["name"].startswith(tuple(paths))]
    given = live_gate.ask({"do": "unit_tests", "paths": paths, "without": left_out, "displays": part != "checker"}, kit)
    tests = given["tests"]
    counts = Counter(outcome for outcome, _ in tests.values())
    assert counts["passed"] > 300, given["said"]
    differ = [name for name, (outcome, _) in tests.items() if outcome == "failed"]
    unlisted, stale = unlisted_and_stale(differ, "test")
    assert not unlisted, "\n".join(f"{name}\n{tests[name][1]}" for name in unlisted[:8])
    stale = [name for name in stale if name.startswith(tuple(paths))]
    assert not stale, f"listed in differences.toml, but passed: {stale}"
    for outcome, number in counts.items():
        record_property(f"checked unit tests {outcome} in the page's Python", number)


def imported(path):
    """The first names of what a file imports, from the course and from other packages."""
    for line in ast.parse(path.read_text(encoding="utf-8")).body:
        names = [name.name for name in line.names] if isinstance(line, ast.Import) else [line.module] if isinstance(line, ast.ImportFrom) else []
        yield from {name.split(".")[0] for name in names} - sys.stdlib_module_names


def test_what_these_tests_import_is_there_in_the_page():
    """Here, because the page's Python runs on no push."""
    root, kit = live_gate.ROOT, {"hypothesis", *live_gate.FOR_TESTS, *inside.stand_ins()}
    page = {"numpy", "matplotlib", "IPython", *(folder.name for folder in root.iterdir() if folder.is_dir())}
    beside = {file.stem: file for file in root.glob("tests/**/*.py")}
    waiting = [file for paths in PARTS.values() for path in paths for file in [root / path, *root.glob(f"{path}/**/*.py")] if file.is_file()]
    waiting += [root / folder / "conftest.py" for folder in ("", "tests", "tests/exercises")]
    read, missing = set(), {}
    while waiting:
        file = waiting.pop()
        read.add(file)
        for name in set(imported(file)) - page:
            if name in beside and beside[name] not in read:
                waiting.append(beside[name])
            elif name not in beside and name not in kit:
                missing.setdefault(name, file)
    assert len(read) > 150 and missing == {}


def test_what_is_asked_and_what_is_left_out_is_there():
    assert [path for paths in PARTS.values() for path in paths if not (live_gate.ROOT / path).exists()] == []
    for entry in [*LISTED.get("left_out", []), *LISTED["test"]]:
        path, _, name = entry["name"].partition("::")
        text = (live_gate.ROOT / path).read_text(encoding="utf-8")
        assert f"def {name.partition('[')[0]}(" in text if name else text, entry
