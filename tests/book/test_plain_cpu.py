"""The notebooks also run as on an older processor: `make test` does so, and the tool really leaves instructions out."""

import json
import platform
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import plain_cpu
import pytest

ROOT = Path(__file__).resolve().parents[2]
SAYS_WHAT_NUMPY_USES = """\
import json, os
import numpy as np

simd = np.show_config(mode="dicts")["SIMD Extensions"]
print(json.dumps([simd.get("found", []), simd["not found"], os.environ.get("OPENBLAS_CORETYPE")]))
raise SystemExit(3)
"""


def run(*command):
    command = [sys.executable, ROOT / "tools" / "plain_cpu.py", *command]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)


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


def test_make_test_runs_the_notebooks_as_on_an_older_processor_and_then_everything():
    alone = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}  # this may run inside make
    make = subprocess.run(["make", "-n", "test"], cwd=ROOT, capture_output=True, text=True, check=True, env=alone)
    *_, older, everything = make.stdout.splitlines()
    command = everything.split(" -m ", 1)[1]
    assert command.startswith("pytest ") and not {"chapters", "tests", "attnlib"} & set(command.split())
    assert "tools/plain_cpu.py" in older and older.endswith(f" -m {command} chapters")
