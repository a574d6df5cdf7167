"""attnexercises.reader.progress: the table of the progress, and its map."""

import re
from xml.etree import ElementTree

import nbformat
import pytest
from answers import right
from notebook_tools import run_in_kernel, unwrapped

from attnexercises import check, hint, progress
from attnexercises.engine.registry import BOOK_ORDER, registry
from attnexercises.reader import record
from attnexercises.reader.progress import Overview


def two_tries():
    check("softmax", right)
    check("softmax_backward", lambda d_weights, weights: d_weights @ 3)
    check("temperature_gradient", lambda d_weights, scores, temperature: 0.25)


def overview(chapter="softmax", saved=None):
    return Overview([e for e in registry().values() if chapter in (None, e.chapter)], record.load(), saved)


@pytest.mark.parametrize("setting", ["off", "a file"])
def test_the_table_says_what_was_done_said_and_comes_next(setting, capsys, monkeypatch, tmp_path):
    if setting == "a file":
        monkeypatch.setenv("ATTNLIB_PROGRESS", str(tmp_path / "progress.json"))
    two_tries()
    hint("softmax_backward")
    capsys.readouterr()
    progress("softmax")
    head, *rows = capsys.readouterr().out.splitlines()
    count = len(registry()["softmax"].probes)
    assert head.split("  ")[0] == "chapter" and head.endswith("tries  hints  last message")
    assert re.split(r"\s{2,}", rows[0]) == ["softmax", "softmax", "easy", "solved", "1", "0", f"all {count} cases right"]
    assert re.split(r"\s{2,}", rows[1])[:6] == ["softmax", "softmax_backward", "medium", "stops", "1", "1"]
    assert rows[1].endswith("…") and "  your function stops with " in rows[1]
    assert re.split(r"\s{2,}", rows[2])[3:] == ["not attempted", "0", "0"]
    assert " wrong " in rows[3] or " stops " in rows[3]
    end = f'1 of {how_many("softmax")} solved. Next in this chapter: softmax_backward, "The gradient without the matrix".'
    assert unwrapped(" ".join(rows[4:])) == end


def test_a_check_and_the_progress_below_it_name_the_same_next_exercise(capsys):
    check("softmax", right)
    check("sdpa", registry()["sdpa"].solution)  # the exercises in between are left out
    progress()
    said = unwrapped(capsys.readouterr().out)
    named = re.findall(r'Next: (\w+), "', said)
    assert named == ["softmax_backward", "spot_attention", "spot_attention"]
    check("softmax", right)  # the reader goes back, and so does what comes next
    progress()
    assert re.findall(r'Next: (\w+), "', unwrapped(capsys.readouterr().out)) == 2 * ["softmax_backward"]


def test_all_solved_has_no_next(capsys, monkeypatch):
    monkeypatch.setattr(record, "_memory", {id: record.blank() | {"state": "passed"} for id in registry()})
    progress()
    assert capsys.readouterr().out.splitlines()[-1] == f"{len(registry())} of {len(registry())} solved."


def how_many(topic):
    """How many exercises the chapter has."""
    return len(BOOK_ORDER[topic]["exercises"])


def parsed(html):
    return ElementTree.fromstring(f"<div>{html.replace('<br>', '<br/>')}</div>")


def test_the_map_has_a_card_for_each_chapter_and_a_disc_for_each_exercise():
    two_tries()
    page = parsed(overview(None)._repr_html_())
    cards = page.findall("ul/li")
    names = [f"{chapter['number']} {chapter['title']}".strip() for chapter in BOOK_ORDER.values()]
    assert [card.find("strong").text for card in cards] == names
    assert sum(len(card.findall("svg/g")) for card in cards) == len(registry())
    softmax = cards[1]
    assert softmax.find("span").text == f"1 of {how_many('softmax')} solved, 2 begun"
    assert cards[2].find("span").text == f"0 of {how_many('attention')} solved"
    assert [g.find("title").text for g in softmax.findall("svg/g")] == [
        "softmax: solved", "softmax_backward: stops", "score_table_step: not attempted", "temperature_gradient: wrong",
    ]  # fmt: skip
    assert softmax.find("svg").get("role") == "img"
    assert softmax.find("svg").get("aria-label") == (
        "softmax: solved, softmax_backward: stops, score_table_step: not attempted, temperature_gradient: wrong"
    )
    full, half, empty, _ = softmax.findall("svg/g")
    assert "fill: none" not in full.find("circle").get("style") and len(full.findall("path")) == 1  # a tick
    assert "fill: none" in half.find("circle").get("style") and len(half.findall("path")) == 1
    assert "fill: none" in empty.find("circle").get("style") and empty.find("path") is None


def test_the_colours_are_those_of_the_page_so_that_both_schemes_hold():
    two_tries()
    html = overview()._repr_html_()
    assert set(re.findall(r"(?:fill|stroke|background): ([^;\"]+)", html)) - {"none"} == {
        "var(--book-accent, var(--jp-brand-color1, #0b4f82))",
        "var(--book-box, var(--jp-layout-color1, transparent))",
        "var(--pst-color-background, var(--jp-layout-color0, white))",
    }


def test_the_table_of_a_page_holds_the_whole_message_and_no_markup_of_an_answer():
    def answer(x):
        raise ValueError("<b>" + 90 * "long")

    check("softmax", answer)
    page = parsed(overview(saved={"softmax"})._repr_html_())
    heading, *rows = page.findall("div/table/tbody/tr")
    assert heading.find("th").text == "Chapter 1, Turn scores into weights"
    assert heading.find("th").get("scope") == "rowgroup"
    names = [cell.text for cell in page.findall("div/table/thead/tr/th")]
    assert names == ["exercise", "state", "tries", "hints", "saved", "last message"]
    said = rows[0].findall("td")[-1].text
    assert rows[0].find("th").text == "softmax" and said.startswith("your function stops with ValueError: <b>long")
    assert rows[0].findall("td")[-2].text == "yes" and not rows[1].findall("td")[-2].text


def test_in_a_kernel_it_is_shown_as_a_page_and_is_the_same_each_time(tmp_path):
    cells = [nbformat.v4.new_code_cell("from attnexercises import progress\nprogress('masks')") for _ in range(2)]
    notebook = nbformat.v4.new_notebook(cells=cells)
    run_in_kernel(notebook, tmp_path)
    (shown,) = notebook.cells[0].outputs
    page, text = shown.data["text/html"], shown.data["text/plain"]
    assert page.startswith('<ul class="progress-map"') and text.startswith("chapter ")
    assert "0 of 7 solved. Next in this chapter: spot_mask, " in page and "0 of 7 solved. Next in this" in text
    assert notebook.cells[1].outputs == notebook.cells[0].outputs
