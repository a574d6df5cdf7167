"""How chapters begin on the site, and how the first page shows them."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from docutils import nodes

from book import openers
from tools.site import build

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


def test_the_drawing_of_the_first_page_names_each_chapter_by_its_number(site):
    page = (site / "chapters" / "index.html").read_text(encoding="utf-8")
    drawn = page[page.index('aria-labelledby="whole-title') : page.index("The numbers are chapters")]
    assert "{chapter" not in drawn
    named = {int(number) for found in re.findall(r"chapters? (\d+(?: and \d+)*)<", drawn) for number in found.split(" and ")}
    assert named == {int(name[:2]) for name in CHAPTERS if name[0].isdigit()}, "chapters/diagrams/whole.svg names other chapters"


class Environment:
    """What the first page needs to know of a book with two chapters; the file of the second has another number."""

    def __init__(self, folder):
        self.srcdir = folder
        self.config = type("Config", (), {"root_doc": "chapters/index"})
        self.toctree_includes = {"chapters/index": ["chapters/start", "chapters/01_one", "chapters/07_two"], "chapters/07_two": ["chapters/more", "chapters/api/one"]}
        self.toc_secnumbers = {"chapters/01_one": {"": (1,)}, "chapters/07_two": {"": (2,)}}


def test_numbers_are_those_of_the_table_of_contents_not_of_the_files(tmp_path):
    env = Environment(tmp_path)
    assert list(openers.in_order(env)) == ["index", "start", "one", "two", "more"]
    assert openers.in_order(env)["one"] == "chapters/01_one"
    assert openers.number_of(env, openers.in_order(env)["two"]) == "2"
    assert openers.number_of(env, "chapters/start") == ""


@pytest.mark.parametrize("text, shown, warns", [
    ("{chapter two}", "chapter 2", False), ("{chapter one two}", "chapters 1 and 2", False), ("{chapter one three}", "chapter 1", True),
])  # fmt: skip
def test_a_drawing_is_given_its_numbers_and_a_chapter_that_is_not_there_is_told(tmp_path, monkeypatch, text, shown, warns):
    (tmp_path / "chapters").mkdir()
    (tmp_path / "chapters" / "all.svg").write_text(f"<svg>{text}</svg>", encoding="utf-8")
    warnings = []
    monkeypatch.setattr(openers.logger, "warning", lambda *words, **place: warnings.append(words))
    page = nodes.section("", openers.numbered_diagram(file="all.svg", caption="A < B"))
    openers.fill_diagrams(type("App", (), {"env": Environment(tmp_path)}), page, "chapters/index")
    assert page.children[0].astext() == f'<figure class="diagram"><svg>{shown}</svg><figcaption>A &lt; B</figcaption></figure>'
    assert bool(warnings) == warns


def test_a_picture_uses_the_colours_of_the_quantities_alone():
    allowed = {"query", "key", "value", "scores", "weights", "output"}
    for path in (ROOT / "chapters" / "pictures").glob("*.svg"):
        source = path.read_text(encoding="utf-8")
        assert set(re.findall(r'class="([^"]*)"', source)) <= allowed, path.name
        assert set(re.findall(r'(?:fill|stroke)="([^"]*)"', source)) <= {"none", "currentColor"}, path.name


@pytest.mark.parametrize(("python", "url"), [(True, ""), (False, ""), (True, "https://example.org/a/b"), (False, "https://example.org/a/b")])
def test_the_first_page_says_how_its_code_is_run(python, url, tmp_path):
    """In the page first, where that is possible; the source and JupyterLab after it."""
    if python:
        (tmp_path / "_vendor" / "pyodide").mkdir(parents=True)
    said = " ".join(run_it(tmp_path, url).split())
    assert said.startswith("**Run it.** Every page with code runs in this browser" if python else "**Run it.** Every page with code is a notebook.")
    assert said.count("**Run it.**") == said.count("run `make lab` in its folder") == 1
    assert (f"get [the source]({url})" if url else "get the source of this book ([where?](#source-and-licence))") in said


def run_it(folder, url):
    """The Markdown that the directive gives to the page."""
    given = []
    state = SimpleNamespace(document=SimpleNamespace(settings=SimpleNamespace(env=environment(folder, url))))
    state.nested_parse = lambda lines, offset, node: given.extend(lines)
    openers.RunIt("run-it", [], {}, [], 1, 1, "", state, SimpleNamespace(reporter=None)).run()
    return "\n".join(given)


def environment(folder, url):
    config = SimpleNamespace(html_theme_options={"repository_url": url} if url else {}, author="A. Author")
    return SimpleNamespace(srcdir=str(folder), config=config)


@pytest.mark.parametrize("author", ["A. Author", openers.NOBODY, ""])
@pytest.mark.parametrize("url", ["", "https://example.org/a/b"])
def test_the_first_page_says_who_made_the_book_and_where_the_source_is(tmp_path, url, author):
    """Names that are not known are not made up, and whoever looks for the source learns how to get it."""
    given = environment(tmp_path, url)
    given.config.author = author
    state = SimpleNamespace(document=SimpleNamespace(settings=SimpleNamespace(env=given)))
    (made,) = openers.SourceAddress("source-address", [], {}, [], 1, 1, "", state, SimpleNamespace(reporter=None)).run()
    names = "This book was made by A. Author. " if author == "A. Author" else ""
    assert made.astext() == names + (f"The source is at {url}." if url else openers.NOWHERE)
    assert build.NOBODY == openers.NOBODY
