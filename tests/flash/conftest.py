"""What the tests of chapter 8 share: the names that its cells define."""

from pathlib import Path

import nbformat
import pytest

from attnexercises.engine.registry import find

CHAPTER = Path(__file__).resolve().parents[2] / "chapters/08_sharing.ipynb"
CELLS = (
    "imports", "ring-class", "ring-code", "ring-table", "ring-pairs-figure", "causal-ring", "causal-table", "ring-limit",
)  # fmt: skip


@pytest.fixture(scope="module")
def page():
    """The names that the cells of the chapter define."""
    cells = {cell["id"]: cell.source for cell in nbformat.read(CHAPTER, as_version=4).cells}
    names = {"W": 4, "ring_backward": find("ring_backward").solution}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("attnpage.plotting.setup", lambda: None)
        patch.setattr("matplotlib.pyplot.show", lambda: None)
        for id in CELLS:
            exec(cells[id], names)
    return names
