"""A figure in fewer bytes looks as it did: Chromium draws both, at two dots a pixel.

Coordinates are rounded to a hundredth of a point, which changes the grey of edges. How much that is depends on how many edges a
figure has, so the measure is the figure itself, moved by two hundredths of a point.
"""

import base64
import io
import json
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from book.light_pages import drawings

CHAPTERS = Path(__file__).resolve().parents[3] / "chapters"
WINDOW = re.compile(r'viewBox="0 0 (?=[\d.]+ [\d.]+")')


def figures(name):
    """The figures that are stored in a notebook."""
    notebook = json.loads((CHAPTERS / name).read_text(encoding="utf-8"))
    outputs = [output.get("data", {}) for cell in notebook["cells"] for output in cell.get("outputs", [])]
    return ["".join(data["image/svg+xml"]) for data in outputs if "image/svg+xml" in data]


@pytest.fixture
def dots(chromium):
    page = chromium.new_page(device_scale_factor=2)

    def draw(text):
        address = base64.b64encode(text.encode()).decode()
        page.set_content(f'<img src="data:image/svg+xml;base64,{address}">')
        page.evaluate("document.querySelector('img').decode()")
        picture = Image.open(io.BytesIO(page.locator("img").screenshot())).convert("RGB")
        return np.asarray(picture, dtype=np.float64)

    yield draw
    page.close()


def shifted(text, points):
    """The figure, all of it moved by so many points to the left and upwards."""
    moved, count = WINDOW.subn(f'viewBox="{points} {points} ', text, count=1)
    assert count
    return moved


@pytest.mark.parametrize(
    "name", ["02_attention.ipynb", *(pytest.param(path.name, marks=pytest.mark.thorough) for path in sorted(CHAPTERS.glob("*.ipynb")))]
)
def test_figures_look_as_they_did(name, dots):
    for text in figures(name):
        before, after, moved = dots(text), dots(drawings.thinned(text)), dots(shifted(text, 0.02))
        assert before.shape == after.shape == moved.shape
        assert abs(before - after).mean() < abs(before - moved).mean() < abs(before - dots(shifted(text, 0.05))).mean()


def test_a_shift_of_one_word_by_a_point_would_be_seen(dots):
    text = figures("02_attention.ipynb")[0]
    first = text.index('translate(', text.index("text_1"))
    number = text[first + 10 :].split(" ")[0]
    moved = text.replace(f"translate({number} ", f"translate({float(number) + 1} ", 1)
    assert moved != text and abs(dots(text) - dots(moved)).max() > 130
