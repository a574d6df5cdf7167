"""What every run of pytest needs: a steady environment for the notebooks, their outputs compared as a reader would,
and a last line that says what was checked."""

import itertools
import os
import random
import signal
import sys
from collections import Counter
from pathlib import Path

import matplotlib
import matplotlib.pyplot
import numpy as np
import pytest
from nbval.plugin import IPyNbCell

ROOT = Path(__file__).parent
# What tests import: the packages, what rooms share (tests), what the files of one folder share, and what is benchmarked.
SHARED = [folder for folders in ("tests/*/", "tests/book/*/", "tests/tools/*/") for folder in sorted(ROOT.glob(folders))]
FOLDERS = [ROOT, ROOT / "tests", ROOT / "benchmarks", *SHARED]
sys.path[:0] = map(str, FOLDERS)

import attnexercises  # noqa: E402, F401  before pytest runs one of its files for the examples, which would make each class twice
from tools.notebooks import compare  # noqa: E402
from tools.notebooks.needs import missing  # noqa: E402

# Before any kernel starts: exercises write no file and show no earlier state; small matrices need one thread.
os.environ.setdefault("ATTNLIB_PROGRESS", "off")
os.environ.setdefault("ATTNLIB_LIBRARY", "off")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)  # what a command answers, and a test that calls it in this process

collect_ignore_glob = ["my_attention*.py", "*/my_attention*.py"]  # a reader's own file is not ours to run

COUNTED = "checked "  # what a test counts: record_property("checked links", 12)
BROWSER, FIREFOX = "test_browser_", "test_firefox"
LONG = (BROWSER, "test_exercise_notebooks", ".ipynb::")  # of what takes minutes, in the name of a test
LEFT_OUT = pytest.StashKey[int]()


@pytest.fixture(autouse=True, scope="session")
def numpy_in_examples(doctest_namespace):
    """`np` in every example of a docstring, also of a module that does not import it."""
    doctest_namespace["np"] = np


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    """Each test leaves behind what it found. A hook, since a fixture would cost all the tests as much as their asserts.

    A chapter's first cell, run in a test, shortens how arrays are printed and sets how figures are drawn. An example of the exercises begins as a new
    session does, whichever other examples ran before it. A command that a test calls in this process, such as the build,
    sets handlers of signals that would stay. And a figure that is left open is seen by the tests that count them.
    """
    figures = set(matplotlib.pyplot.get_fignums())
    handlers = {number: signal.getsignal(number) for number in SIGNALS}
    with np.printoptions(), pytest.MonkeyPatch.context() as patch, matplotlib.rc_context():
        if item.name.startswith("attnexercises."):
            from attnexercises.reader import record

            patch.setattr(record, "_memory", {})
            patch.setattr(record, "_last_checks", {})
        try:
            return (yield)
        finally:
            for number in set(matplotlib.pyplot.get_fignums()) - figures:
                matplotlib.pyplot.close(number)
            for number, handler in handlers.items():
                if signal.getsignal(number) is not handler:
                    signal.signal(number, handler)


def compare_outputs(cell, test, ref, skip_compare=None):
    """In the place of nbval's own, which wants every byte of a picture and every digit to be the same."""
    ignored = skip_compare or cell.parent.skip_compare
    layout = not cell.config.option.figures_without_layout
    said = compare.outputs(cell.sanitize_outputs(ref), cell.sanitize_outputs(test), ignored, layout=layout)
    cell.comparison_traceback = [said]
    return not said


def pytest_addoption(parser):
    parser.addoption(
        "--thorough",
        action="store_true",
        help="run the tests marked `thorough`, too: exhaustive products, further builds, every page in every view",
    )
    parser.addoption(
        "--shuffled",
        type=int,
        metavar="SEED",
        help="the files in an order of this seed, and the tests within each: none may depend on what another leaves",
    )
    parser.addoption(
        "--figures-without-layout",
        action="store_true",
        help="compare what figures show but not where: for another Matplotlib than the stored figures were made with",
    )


def pytest_configure(config):
    config.addinivalue_line("markers", "thorough: runs before publishing and every week, with --thorough; not on every push")
    IPyNbCell.compare_outputs = compare_outputs
    # A shell that starts a run in the background lets it ignore interrupts, and so would every process that a test interrupts.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    """Leave the thorough tests out of an ordinary run; the last lines of the run say how many that were.

    The cells of a notebook that cannot run here are skipped, with the sentence that says what is missing.
    """
    reasons = {path: missing(path) for path in {item.path for item in items if isinstance(item, IPyNbCell)}}
    for item in items:
        if reason := reasons.get(item.path):
            item.add_marker(pytest.mark.skip(reason=reason))
    if config.option.shuffled is not None:
        items[:] = shuffled(items, config.option.shuffled)
    elif hasattr(config, "workerinput"):  # several workers: what is long comes first, or one would wait for the other in the end
        items.sort(key=lambda item: not any(name in item.nodeid for name in LONG))
    if config.option.thorough:
        return
    left_out = [item for item in items if item.get_closest_marker("thorough")]
    config.stash[LEFT_OUT] = len(left_out)
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not item.get_closest_marker("thorough")]


def shuffled(items, seed):
    """The tests in another order, the same in every worker. A file stays together, and the cells of a notebook in their order."""
    order = random.Random(seed)
    files = [list(tests) for _, tests in itertools.groupby(items, key=lambda item: item.path)]
    order.shuffle(files)
    for tests in files:
        if not isinstance(tests[0], IPyNbCell):
            order.shuffle(tests)
    return [item for tests in files for item in tests]


def pytest_sessionfinish(session):
    """Of several processes only the first writes the last lines, and it has collected nothing: the others tell it."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left out"] = session.config.stash.get(LEFT_OUT, 0)


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node):
    """Every worker collects everything, so that all of them have left out the same tests, which count once."""
    if "left out" in (told := getattr(node, "workeroutput", {})):
        node.config.stash[LEFT_OUT] = told["left out"]


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
    if left_out := config.stash.get(LEFT_OUT, 0):
        terminalreporter.write_line(f"left out: {left_out} thorough tests: make test-all, or pytest --thorough")
    for browser, name in (("A BROWSER", BROWSER), ("FIREFOX", FIREFOX)):
        skipped = [report for report in terminalreporter.stats.get("skipped", []) if name in report.nodeid]
        if skipped:
            reasons = sorted({str(report.longrepr[-1]).removeprefix("Skipped: ") for report in skipped})
            terminalreporter.write_line(f"NOT CHECKED IN {browser}: {'; '.join(reasons)}", yellow=True, bold=True)
