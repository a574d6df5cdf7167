"""Every notebook, cell by cell in the page's Python: does it show what is stored? Slow cells are left out, as on the page."""

import re

import pytest
from gate_cases import needs_the_site, unlisted_and_stale

from book.live import model
from tools import live_gate
from tools.notebooks import compare
from tools.notebooks.files import read

NOTEBOOKS = sorted((live_gate.ROOT / "chapters").glob("*.ipynb"))


@needs_the_site
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_page_shows_what_is_stored(path, kit, record_property):
    cells = [cell for cell in read(path).cells if cell.cell_type == "code"]
    if any(re.search(model.NEEDS, cell.source) for cell in cells) and not live_gate.trained_model():
        pytest.skip("NOT CHECKED IN THE PAGE'S PYTHON: the site has no trained model; run: make model live")
    given = live_gate.ask({"do": "notebook", "cells": [None if slow(cell) else cell.source for cell in cells]}, kit)
    differ = {}
    checked = 0
    for cell, (outputs, _) in zip(cells, given, strict=True):
        if not slow(cell) and "nbval-ignore-output" not in cell.metadata.get("tags", ()):
            checked += 1
            # Another Matplotlib sets letters in another way, so that axes and all in them lie a few points off.
            # And the last digit counts: the readers' Python is always the same one, and a digit that it shows otherwise is listed.
            if said := compare.outputs(cell.outputs, outputs, layout=False, digits=True):
                differ[f"{path.stem}: {cell.id}"] = said
        broken = [output for output in outputs if output["output_type"] == "error"]
        assert not broken, (cell.id, broken)
    record_property("checked notebook cells in the page's Python", checked)
    print(*(f"{cell.id}: {seconds:.0f} s" for cell, (_, seconds) in zip(cells, given) if seconds > 5), sep="\n")
    unlisted, _ = unlisted_and_stale(differ, "cell")
    assert not unlisted, {name: differ[name] for name in unlisted}
    here = [name for name in unlisted_and_stale(differ, "cell")[1] if name.startswith(f"{path.stem}:")]
    assert not here, f"listed in differences.toml, but shown as stored: {here}"


def slow(cell):
    return any(tag.startswith("slow-") for tag in cell.metadata.get("tags", ()))
