"""What every run of pytest needs: a steady environment for the notebooks, their outputs compared as a reader would,
and a last line that says what was checked."""

import os
from collections import Counter

import compare
import numpy as np
import pytest
from nbval.plugin import IPyNbCell

# Before any kernel starts: exercises write no file and show no earlier state; small matrices need one thread.
os.environ.setdefault("ATTNLIB_PROGRESS", "off")
os.environ.setdefault("ATTNLIB_LIBRARY", "off")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

collect_ignore_glob = ["my_attention*.py", "*/my_attention*.py"]  # a reader's own file is not ours to run

COUNTED = "checked "  # what a test counts: record_property("checked links", 12)
BROWSER = "test_browser_"


@pytest.fixture(autouse=True)
def printed_as_numpy_prints():
    """A chapter's first cell, run in a test, shortens how arrays are printed: not for the tests after it."""
    with np.printoptions():
        yield


@pytest.fixture(autouse=True)
def numpy_in_examples(doctest_namespace):
    """`np` in every example of a docstring, also of a module that does not import it."""
    doctest_namespace["np"] = np


@pytest.fixture(autouse=True)
def nothing_tried_before(request, monkeypatch):
    """An example of the exercises begins as a new session does, whichever other examples ran before it."""
    if request.node.name.startswith("attnlib.exercises."):
        from attnlib.exercises.engine import record

        monkeypatch.setattr(record, "_memory", {})


def compare_outputs(cell, test, ref, skip_compare=None):
    """In the place of nbval's own, which wants every byte of a picture and every digit to be the same."""
    ignored = skip_compare or cell.parent.skip_compare
    layout = not cell.config.option.figures_without_layout
    said = compare.outputs(cell.sanitize_outputs(ref), cell.sanitize_outputs(test), ignored, layout=layout)
    cell.comparison_traceback = [said]
    return not said


def pytest_addoption(parser):
    parser.addoption(
        "--figures-without-layout",
        action="store_true",
        help="compare what figures show but not where: for another Matplotlib than the stored figures were made with",
    )


def pytest_configure(config):
    IPyNbCell.compare_outputs = compare_outputs
    # The cells of one notebook belong on one worker: they share a kernel.
    if getattr(config.option, "numprocesses", None) and config.option.dist == "load":
        config.option.dist = "loadfile"


def pytest_terminal_summary(terminalreporter, config):
    if config.option.collectonly:
        return
    done = [report for kind in ("passed", "failed") for report in terminalreporter.stats.get(kind, [])]
    done = [report for report in done if getattr(report, "when", None) == "call"]
    cells = sum(".ipynb::" in report.nodeid for report in done)
    counts = Counter()
    for report in done:
        for name, number in report.user_properties:
            if name.startswith(COUNTED):
                counts[name.removeprefix(COUNTED)] += number
    parts = [f"{len(done) - cells} tests", f"{cells} notebook cells"]
    parts += [f"{number} {name}" for name, number in counts.items()]
    terminalreporter.write_sep("=", "checked")
    terminalreporter.write_line(", ".join(parts))
    skipped = [report for report in terminalreporter.stats.get("skipped", []) if BROWSER in report.nodeid]
    if skipped:
        reasons = sorted({str(report.longrepr[-1]).removeprefix("Skipped: ") for report in skipped})
        terminalreporter.write_line(f"NOT CHECKED IN A BROWSER: {'; '.join(reasons)}", yellow=True, bold=True)
