"""Imports for drawing wait until a cell draws: what waits, what does not, and what makes up for it."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
FIRST = """import matplotlib.pyplot as plt
import numpy as np

from attnpage import (plotting, show_source,
                      stepped_figure, table as rows)

plotting.setup()
x = 1"""


@pytest.fixture
def postponed(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "book" / "live" / "python"))
    import postponed

    yield postponed
    del sys.modules["postponed"]


@pytest.fixture
def made():
    return []


def test_a_first_cell_keeps_its_lines_and_loses_what_draws(postponed, made):
    assert not postponed.draws(FIRST)
    assert postponed.cut(FIRST, made.append).split("\n") == [
        "", "import numpy as np", "", "from attnpage import show_source, table as rows", "", "", "", "x = 1",
    ]  # fmt: skip
    assert made == []


@pytest.mark.parametrize("code", ["plt.show()", "def f():\n    return plotting.INK", "stepped_figure([])", "for plt in []: pass", "dir()", "from a import b as plt"])
def test_a_cell_that_mentions_a_name_makes_up_for_all_of_it_once(code, postponed, made):
    postponed.cut(FIRST, made.append)
    assert postponed.draws(code) and postponed.cut(code, made.append) == code
    assert made == [
        "import matplotlib.pyplot as plt", "from attnpage import plotting", "from attnpage import stepped_figure", "plotting.setup()",
    ]  # fmt: skip
    made.clear()
    assert postponed.cut(code, made.append) == code and made == []


@pytest.mark.parametrize("code", ["x + 1", "rows({})", "print('plt')", "x.plt = 1", "def f(", ""])
def test_other_cells_leave_it_waiting(code, postponed, made):
    postponed.cut(FIRST, made.append)
    assert not postponed.draws(code) and postponed.cut(code, made.append) == code and made == []


@pytest.mark.parametrize(
    "code",
    [
        FIRST + "\nplt.plot([1])",  # drawn in the same cell
        "import matplotlib.pyplot as plt; plt.plot([1])",  # not alone on its line
        "import matplotlib.pyplot",
        "import matplotlib as mpl",
        "from matplotlib import pyplot as plt",
        "from attnpage import *",
        "import attnpage\nattnpage.stepped_figure",
        "import attnpage.tap",
    ],
)
def test_what_cannot_wait_counts_as_drawing(code, postponed, made):
    assert postponed.draws(code) and postponed.cut(code, made.append) == code


def test_what_is_misspelt_fails_at_once(postponed, made):
    code = "from attnpage import tabel, plotting"
    assert postponed.cut(code, made.append) == "from attnpage import tabel"


def test_the_book_imports_its_package_without_matplotlib_and_has_every_name():
    import subprocess

    code = """import sys, attnpage
assert not [name for name in sys.modules if name.startswith("matplotlib")]
assert set(attnpage.DRAWS) <= set(attnpage.__all__) <= set(dir(attnpage))
from attnpage import *
print([name for name in attnpage.__all__ if name not in globals()])
try:
    attnpage.no_such_name
except AttributeError as error:
    print(error)"""
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout.splitlines() == ["[]", "module 'attnpage' has no attribute 'no_such_name'"], done.stderr
