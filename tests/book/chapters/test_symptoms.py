"""The page of symptoms: every row leads to a cell, and no pitfall of practice is left out."""

import re
from pathlib import Path

import nbformat
import pytest

from tools.notebooks.teaching_paths import slug

ROOT = Path(__file__).resolve().parents[3]

CHAPTERS = ROOT / "chapters"
PAGE = (CHAPTERS / "symptoms.md").read_text(encoding="utf-8")
ROWS = [row for row in re.findall(r"^\| (.+?) \| (.+?) \| (.+) \|$", PAGE, re.M) if row[0] != "What you see"]
# What the page must lead to, in words and as the place that reproduces it.
PITFALLS = {
    "what True means": "frameworks.ipynb#axes-and-masks",
    "-1e9 in the place of -inf": "04_masks.ipynb#a-query-that-sees-nothing",
    "softmax along another axis": "m-axis",
    "no scale": "02_attention.ipynb#why-divide-by-d",
    "transposes of a batch": "m-transpose",
    "masks after the softmax": "04_masks.ipynb#show-a-leak",
    "NaN in the padding": "04_masks.ipynb#how-far-a-nan-spreads",
    "the offset of a cache": "04_masks.ipynb#more-keys-than-queries",
    "the pairing of rotary positions": "09_positions.ipynb#two-pairings",
    "heads split by a reshape": "m-split",
    "heads loaded in the wrong order": "m-head-order",
    "rotary positions that restart at 0 with a cache": "m-positions-restart",
    "out of memory": "06_flash.ipynb#the-question",
    "a plateau": "12_training.ipynb#two-layers-learn-it-one-small-layer-does-not",
}


def places(text):
    """Labels of the page of mistakes, and addresses of sections, that a row leads to."""
    return re.findall(r"\{ref\}`[^<`]*<(m-[\w-]+)>`|\]\((\w+\.ipynb(?:#[\w-]+)?)\)", text)


def there_is(label, address):
    if label:
        return f'<a id="{label}"></a>' in sources("mistakes.ipynb")
    name, _, anchor = address.partition("#")
    return not anchor or anchor in {slug(heading) for heading in re.findall(r"^#+ (.+)$", sources(name), re.M)}


def sources(name):
    """The text of a notebook's Markdown cells."""
    cells = nbformat.read(CHAPTERS / name, as_version=4).cells
    return "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")


@pytest.mark.parametrize("row", ROWS, ids=[row[0][:40] for row in ROWS])
def test_each_symptom_leads_to_what_reproduces_it(row):
    found = places(row[2])
    assert found and all(there_is(*place) for place in found), row


def test_a_place_that_is_not_there_is_found():
    assert not there_is("m-gone", "") and not there_is("", "04_masks.ipynb#gone") and there_is("m-split", "")


@pytest.mark.parametrize("pitfall", PITFALLS)
def test_no_pitfall_is_left_out(pitfall):
    led = {label or address for row in ROWS for label, address in places(row[2])}
    assert PITFALLS[pitfall] in led


def test_no_symptom_stands_twice():
    seen = [row[0] for row in ROWS]
    assert len(seen) > 25 and len(set(seen)) == len(seen)
