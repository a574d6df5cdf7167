"""How chapters begin on the site, and how the first page shows them."""

import re
from pathlib import Path

import pytest
from docutils import nodes

from book import openers

ROOT = Path(__file__).resolve().parents[3]

CHAPTERS = [*sorted(path.stem for path in (ROOT / "chapters").glob("[0-9][0-9]_*.ipynb")), "prerequisites", "puzzles"]  # no reference page


def paragraph(*parts):
    return nodes.paragraph("", "", *parts)


def test_the_parts_of_an_opener_are_found_in_their_order():
    will, goals = paragraph(nodes.Text(""), nodes.strong("", "You will")), nodes.bullet_list()
    need, time = paragraph(nodes.strong("", "You need"), nodes.Text(" nothing")), paragraph(nodes.strong("", "Time"), nodes.Text(" 5"))
    after = paragraph(nodes.strong("", "You will"), nodes.Text(" not be in the card"))
    section = nodes.section("", nodes.title(), will, goals, need, time, nodes.container(), after)
    assert openers.labelled(section) == [("You will", [will, goals]), ("You need", [need]), ("Time", [time])]
    assert openers.labelled(nodes.section("", nodes.title(), paragraph(nodes.Text("You will")), goals)) == []


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_chapter_begins_with_its_picture_and_its_card(site, chapter):
    page = (site / "chapters" / f"{chapter}.html").read_text(encoding="utf-8")
    assert page.count('class="diagram opener-picture"') == 1
    assert re.findall(r'class="opener-(\w+) docutils container"', page) == ["will", "need", "time"]
    drawn = page[page.index("opener-picture") :]
    assert page.index("<h1>") < page.index("opener-picture") and drawn.index("opener-will") < drawn.index("<h2>")
    assert re.search(r'<svg viewBox="[^"]+" role="img" aria-label="[^"]{20,}"', drawn[:400]), "the picture has no description"


def test_the_first_page_has_a_card_for_each_chapter(site):
    page = (site / "chapters" / "index.html").read_text(encoding="utf-8")
    cards = re.findall(r'<a class="chapter-card" href="(\w+)\.html"[^>]*>.*?<strong>(.*?)</strong><span>(.+?)</span></a>', page, re.S)
    numbered = [name for name in CHAPTERS if name[0].isdigit()]
    assert [name for name, _, _ in cards] == ["prerequisites", *numbered, "puzzles"]
    assert [title.split()[0] for _, title, _ in cards[1:-1]] == [str(int(name[:2])) for name in numbered]
    assert all(question.endswith("?") for _, _, question in cards)


def test_a_picture_uses_the_colours_of_the_quantities_alone():
    allowed = {"query", "key", "value", "scores", "weights", "output"}
    for path in (ROOT / "chapters" / "pictures").glob("*.svg"):
        source = path.read_text(encoding="utf-8")
        assert set(re.findall(r'class="([^"]*)"', source)) <= allowed, path.name
        assert set(re.findall(r'(?:fill|stroke)="([^"]*)"', source)) <= {"none", "currentColor"}, path.name
