"""Break a module on purpose, one place at a time, and see whether its tests notice.

    python -m tools.testing.mutate attnlib/softmax/weights.py tests/softmax attnlib/softmax/weights.py

prints every mutant that survives: the line, what it was, what it became. A survivor
is either a hole in the tests or a change that makes no difference; read it and decide.
Everything happens in a temporary copy of the project, which itself is never written to.
Run by hand: some hundred mutants take a few minutes.
"""

import argparse
import ast
import os
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

from tools.testing.mutations import mutants

ROOT = Path(__file__).resolve().parents[2]
NOT_COPIED = shutil.ignore_patterns(".*", "_build", "__pycache__", "*.egg-info")
# The project's own options load plugins for notebooks, which take long to start; all its other settings hold.
OPTIONS = ["-q", "-p", "no:cacheprovider", "-o", "addopts=--import-mode=importlib --doctest-modules"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("module", type=Path, help="the file to break, inside the package attnlib")
    parser.add_argument("tests", nargs="+", help="what pytest runs; add the module itself for its doctests")
    parser.add_argument("--seconds", type=float, default=60, help="time limit for one mutant (default 60)")
    parser.add_argument("--lines", default="", help="only mutants of these lines, as in 20-45")
    options = parser.parse_args()
    low, _, high = options.lines.partition("-")
    lines = range(int(low), int(high or low) + 1) if low else None
    module = options.module.resolve().relative_to(ROOT)

    prepare()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch).resolve() / "project"
        shutil.copytree(ROOT, folder, ignore=NOT_COPIED)
        counts = hunt(folder, module, options.tests, options.seconds, lines)
    killed = counts["failed"] + counts["timeout"]
    print(f"{module}: {sum(counts.values())} mutants, {killed} killed, {counts['passed']} survived", flush=True)
    if counts["not run"]:
        sys.exit(f"{counts['not run']} mutants could not be run")


def prepare():
    """Set the environment of the tests, and import once what they need, so that every fork starts quickly."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    import hypothesis  # noqa: F401
    import numpy  # noqa: F401
    import pytest  # noqa: F401


def hunt(folder, module, tests, seconds, lines):
    """Run the tests on every mutant of the module and print the survivors. Returns how many had which outcome."""
    tree = ast.parse((folder / module).read_text(encoding="utf-8"))
    (folder / module).write_text(ast.unparse(tree), encoding="utf-8")
    if (outcome := run(folder, tests, 10 * seconds)) != "passed":
        sys.exit(f"the tests do not pass on the unbroken module ({outcome}); mend that first")
    counts = dict.fromkeys(("failed", "timeout", "not run", "passed"), 0)
    for number, (line, before, after, mutated) in enumerate(mutants(tree)):
        if lines is not None and line not in lines:
            continue
        (folder / module).write_text(ast.unparse(mutated), encoding="utf-8")
        os.utime(folder / module, (number, number))  # a new time for each, or a stale .pyc would hide it
        outcome = run(folder, tests, seconds)
        counts[outcome] += 1
        if outcome in ("passed", "not run"):
            old, new = shortest_difference(before, after)
            word = "survived" if outcome == "passed" else "NOT RUN"
            print(f"{module}:{line}: {word}\n  - {old}\n  + {new}", flush=True)
    return counts


def run(folder, tests, seconds, stop_at_the_first=True, plugins=()):
    """Run pytest in a fork that starts in `folder`; return "passed", "failed", "timeout" or "not run"."""
    child = os.fork()
    if child == 0:
        os.setsid()  # so that whatever the tests start dies with them
        os.chdir(folder)
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 1)
        os.dup2(null, 2)
        sys.path.insert(0, str(folder))
        os.environ["PYTHONPATH"] = str(folder)
        status = 3  # also if anything goes wrong before pytest runs
        try:
            import pytest

            import attnlib

            if Path(attnlib.__file__).parent.parent == Path(folder):
                status = int(pytest.main([*OPTIONS, *(["-x"] if stop_at_the_first else []), *tests], plugins=list(plugins)))
        finally:
            os._exit(status)
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            code = os.waitstatus_to_exitcode(status)
            return {0: "passed", 3: "not run", 4: "not run", 5: "not run"}.get(code, "failed")
        time.sleep(0.01)
    os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "timeout"


def shortest_difference(before, after, width=70):
    start = next((i for i, (a, b) in enumerate(zip(before, after)) if a != b), min(len(before), len(after)))
    start = max(0, start - width // 2)
    dots = "…" if start else ""
    return f"{dots}{before[start : start + width]}", f"{dots}{after[start : start + width]}"


if __name__ == "__main__":
    main()
