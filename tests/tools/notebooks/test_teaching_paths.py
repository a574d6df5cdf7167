"""The paths for teachers: what the page says is what the chapters say, and what is not there is refused."""

import re
from pathlib import Path

import nbformat
import pytest

from tools.notebooks import teaching_paths

ROOT = Path(__file__).resolve().parents[3]


def test_the_page_holds_the_paths_as_the_chapters_are_now():
    assert teaching_paths.main(["--check"]) == 0, "run: python -m tools.notebooks.teaching_paths"


def test_all_numbered_chapters_are_in_the_four_weeks():
    text = teaching_paths.paths()
    weeks = text[text.index("week 1") :]
    for file in teaching_paths.CHAPTERS.glob("[0-9][0-9]_*.ipynb"):
        assert re.search(rf"\]\({file.name}\): all of it( but \*Further\*)?\. Do: all exercises \|", weeks), file.name


def test_minutes_add_up():
    for part in teaching_paths.paths().split("### ")[1:]:
        said = int(re.search(r"(\d+) minutes in all", part)[1])
        assert said == sum(int(a) + int(b) for a, b in re.findall(r"\| (\d+) \+ (\d+) \|", part))


def test_sections_are_counted_as_a_chapter_is():
    from tools.notebooks.reading_time import minutes

    notebook = nbformat.read(teaching_paths.CHAPTERS / "04_masks.ipynb", as_version=4)
    parts = teaching_paths.sections(notebook)
    assert abs(sum(each for each, _ in parts.values()) - minutes(notebook.cells)) < 1e-9
    assert parts["Hide a key"][1] == ["spot_mask"]


@pytest.mark.parametrize(
    "step, said",
    [
        (("04_masks", ["Gone"], []), "no section 'Gone'"),
        (("04_masks", ["Hide a key"], ["causal_mask"]), "'causal_mask' is not in what is read"),
        (("01_softmax", None, ["mha"]), "'mha' is not in what is read"),
    ],
)
def test_what_is_not_there_is_refused(step, said):
    with pytest.raises(SystemExit, match=said):
        teaching_paths.row(*step)


def test_a_path_that_is_too_long_is_refused():
    with pytest.raises(SystemExit, match="Two hours takes .* more than 1 hours"):
        teaching_paths.path("Two hours", 1, teaching_paths.TWO_HOURS)
