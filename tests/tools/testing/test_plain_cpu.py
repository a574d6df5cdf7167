"""Before anything is published the notebooks run as on an older processor; the tool really leaves instructions out."""

import json
import os
import platform
import subprocess
import sys
from pathlib import Path

import nbformat
import numpy as np
import pytest
import yaml

from tools.testing import plain_cpu

ROOT = Path(__file__).resolve().parents[3]
WORKFLOWS = ROOT / ".github" / "workflows"
SAYS_WHAT_NUMPY_USES = """\
import json, os
import numpy as np

simd = np.show_config(mode="dicts")["SIMD Extensions"]
print(json.dumps([simd.get("found", []), simd["not found"], os.environ.get("OPENBLAS_CORETYPE")]))
raise SystemExit(3)
"""
CELL = """\
import numpy as np

print(np.show_config(mode="dicts")["SIMD Extensions"].get("found", []))
"""
HANGS = 600  # seconds after which a process that should have ended is given up: never the measure of anything


def run(*command):
    command = [sys.executable, "-m", "tools.testing.plain_cpu", *command]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=HANGS)


def test_numpy_uses_no_instruction_that_it_need_not():
    before = np.show_config(mode="dicts")["SIMD Extensions"]
    result = run(sys.executable, "-W", "error", "-c", SAYS_WHAT_NUMPY_USES)
    assert (result.returncode, result.stderr) == (3, "")
    said, shown = result.stdout.splitlines()
    found, left_out, core = json.loads(shown)
    assert found == [] and set(left_out) >= set(before.get("found", []))
    assert all(name in said for name in before.get("found", []))
    assert core == plain_cpu.OLDEST[platform.machine().lower()]


@pytest.mark.parametrize(("machine", "core"), [("AMD64", "Prescott"), ("arm64", "ARMV8"), ("riscv64", None)])
def test_openblas_is_told_only_names_that_it_knows_on_this_machine(monkeypatch, machine, core):
    monkeypatch.setattr(platform, "machine", lambda: machine)
    assert plain_cpu.settings().get("OPENBLAS_CORETYPE") == core


def test_without_a_command_or_with_one_that_is_not_there():
    assert (run().returncode, run().stderr) == (1, plain_cpu.main([]) + "\n")
    result = run("./no-such-command")
    assert (result.returncode, result.stderr) == (1, "plain_cpu: ./no-such-command: No such file or directory\n")


def test_the_kernel_of_a_notebook_uses_none_either(tmp_path):
    """What `make test-all` does with the chapters, with a notebook of one cell: quick enough for every push."""
    outputs = [nbformat.v4.new_output("stream", text="[]\n")]
    cells = [nbformat.v4.new_code_cell(CELL, outputs=outputs, execution_count=1)]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "one.ipynb")
    options = ["--nbval", "--nbval-current-env", "-q", "-p", "no:cacheprovider", "--rootdir", tmp_path, tmp_path / "one.ipynb"]
    result = run(sys.executable, "-m", "pytest", *options)
    assert result.returncode == 0 and "1 passed" in result.stdout, result.stdout


# When it is done


def asked(target):
    """The last commands of a target, without those of what it builds upon."""
    alone = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}  # this may run inside make
    said = subprocess.run(["make", "-n", target], cwd=ROOT, capture_output=True, text=True, check=True, env=alone).stdout
    return said.partition("-m tools.site.build\n")[2].splitlines()


def test_make_test_runs_everything_but_what_is_thorough_and_make_test_all_that_too_and_the_older_processor():
    (every_push,) = asked("test")
    older, everything = asked("test-all")
    _, command = every_push.split(" -m ", 1)
    assert command.startswith("pytest ") and not {"chapters", "tests", "attnlib", "--thorough"} & set(command.split())
    assert "plain_cpu" not in every_push
    assert "-m tools.testing.plain_cpu" in older and older.endswith(f" -m {command} chapters")
    assert everything.endswith(f" -m {command} --thorough")


def test_what_is_published_has_passed_that():
    jobs = {name: yaml.safe_load((WORKFLOWS / f"{name}.yml").read_text(encoding="utf-8"))["jobs"] for name in ("publish", "check")}
    assert jobs["publish"]["check"]["with"] == {"thorough": True} and jobs["publish"]["publish"]["needs"] == "check"
    said = [step.get("run") for step in jobs["check"]["test"]["steps"]]
    assert ".ci/run ${{ inputs.thorough && 'test-all' || 'test' }}" in said
