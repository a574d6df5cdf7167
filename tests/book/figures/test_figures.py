"""Can every figure be read on a phone, and does a colour stand for its quantity alone?

Stored figures have their letters as outlines; how large they are is left in how each text is scaled.
"""

import base64
import functools
import re
from pathlib import Path
from xml.etree import ElementTree

import nbformat
import pytest

from attnpage import plotting
from book import plain_markdown

ROOT = Path(__file__).resolve().parents[3]

CHAPTERS = sorted((ROOT / "chapters").glob("*.ipynb"))
PHONE = 358  # pixels that a page leaves to a figure where the screen has 390
SMALLEST = 9  # pixels
PIXELS = 96 / 72  # in a point
CLASSES = {"query", "key", "value", "scores", "weights", "output"}
NAMES = {name for name, colour in vars(plotting).items() if name.isupper() and str(colour).startswith("#")}


def pictures(cell):
    """The figures that a cell has stored, those of a figure in steps included."""
    for output in cell.get("outputs", ()):
        data = output.get("data", {})
        yield from filter(None, [data.get("image/svg+xml")])
        for picture in re.findall(r"data:image/svg\+xml;base64,([^\"]+)", data.get("text/html", "")):
            yield base64.b64decode(picture).decode()


def diagrams(cell):
    """The drawings that the text of a cell shows."""
    shown = plain_markdown.DIAGRAM.findall(cell.source) if cell.cell_type == "markdown" else []
    return [(ROOT / "chapters" / name).read_text(encoding="utf-8") for _, name, _ in shown]


def text_sizes(picture):
    """Pixels of every text of a figure on a phone; an exponent counts with its number."""
    root = ElementTree.fromstring(picture)
    width = float(root.get("width").removesuffix("pt")) * PIXELS
    shrunk = min(1, PHONE / width)
    for group in root.iter("{http://www.w3.org/2000/svg}g"):
        # 100 units a letter: Matplotlib writes a text of 11 points as scale(0.11 -0.11)
        if scale := re.search(r"scale\(([\d.]+) -\1\)", group.get("transform", "")):
            yield 100 * float(scale[1]) * PIXELS * shrunk


@functools.cache
def cells_of(path):
    return nbformat.read(path, as_version=4).cells


def all_of(kind):
    found = [
        pytest.param(drawing, id=f"{path.stem}-{cell.id}-{number}")
        for path in CHAPTERS
        for cell in cells_of(path)
        for number, drawing in enumerate(kind(cell))
    ]
    assert found
    return found


@pytest.mark.parametrize("picture", all_of(pictures))
def test_no_text_of_a_figure_is_too_small_on_a_phone(picture):
    sizes = list(text_sizes(picture))
    assert sizes and min(sizes) >= SMALLEST


@pytest.mark.parametrize("diagram", all_of(diagrams))
def test_no_text_of_a_diagram_is_too_small_on_a_phone(diagram):
    width = float(re.search(r'viewBox="0 0 ([\d.]+) ', diagram)[1])
    sizes = [float(size) for size in re.findall(r'font-size="([\d.]+)"', diagram)]
    assert sizes and min(sizes) * PHONE / width >= SMALLEST
    assert "min-width:0" in diagram.replace(" ", ""), "the style sheet widens it, and it scrolls"


@pytest.mark.parametrize("diagram", all_of(diagrams))
def test_a_diagram_has_the_colours_of_its_page(diagram):
    assert set(re.findall(r'class="([^"]*)"', diagram)) <= CLASSES
    alone = plain_markdown.ALONE.match(diagram)
    colours = re.findall(r'(?:fill|stroke)="([^"]*)"', diagram[alone.end() :])
    assert set(colours) <= {"none", "currentColor"}
    light = (ROOT / "book" / "look" / "colours.css").read_text(encoding="utf-8").split("}")[0]
    for name, colour in re.findall(r"\.(\w+) \{ color: (#\w+) \}", alone[2] or ""):
        assert f"--{name}: {colour};" in light
    assert set(re.findall(r'class="([^"]*)"', diagram)) == set(re.findall(r"\.(\w+) \{", alone[2] or ""))


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.name)
def test_the_code_of_a_figure_names_its_colours(path):
    code = "\n".join(cell.source for cell in cells_of(path) if cell.cell_type == "code")
    assert not re.findall(r"#[0-9a-fA-F]{6}\b|[\"']C\d[\"']|cmap=[\"']", code)
    assert set(re.findall(r"plotting\.([A-Z]+)\b", code)) <= NAMES
