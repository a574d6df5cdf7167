"""The Sphinx side: hints and solution after each exercise cell, folded, once, and nowhere else."""

import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import nbformat
import pytest
from notebook_tools import tiny_notebook

from attnexercises.engine.registry import find

ROOT = Path(__file__).resolve().parents[3]
CONF = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
extensions = ["myst_nb", "book.exercises.help"]
nb_execution_mode = "off"
html_theme = "basic"
"""


RUN = """
import sys
from sphinx.cmd.build import build_main
for folder in sys.argv[1:]:
    builder = "text" if folder.endswith("text") else "html"
    options = ["-W", "--keep-going", "-n", "-q", "-b", builder, "-w", folder + "/warnings.txt"]
    code = build_main([*options, folder + "/source", folder + "/out"])
    open(folder + "/code.txt", "w").write(str(code))
"""


@pytest.fixture(scope="module")
def builds(tmp_path_factory):
    """Four small books, built one after the other in one process (importing Sphinx takes longest)."""
    unknown, first, second = tiny_notebook(), tiny_notebook(), tiny_notebook()
    unknown.cells[3].metadata["tags"] = ["exercise-softmx"]
    first.cells[0].source += "\n\n```{toctree}\nother\n```"
    second.cells = [cell for cell in second.cells if "ex-softmax" not in cell.source]
    books = {
        "html": {"index": tiny_notebook()},
        "text": {"index": tiny_notebook()},
        "unknown": {"index": unknown},
        "twice": {"index": first, "other": second},
    }
    top = tmp_path_factory.mktemp("books")
    for book, pages in books.items():
        (top / book / "source").mkdir(parents=True)
        (top / book / "source" / "conf.py").write_text(CONF)
        for page, notebook in pages.items():
            nbformat.write(notebook, top / book / "source" / f"{page}.ipynb")
    subprocess.run([sys.executable, "-c", RUN, *(str(top / book) for book in books)], check=True, capture_output=True)
    return top


@pytest.fixture(scope="module")
def site(builds):
    assert warnings_of(builds / "html") == (0, "")
    return builds / "html" / "out"


def warnings_of(book):
    """Return the exit code of the build and what it warned of."""
    return int((book / "code.txt").read_text()), (book / "warnings.txt").read_text()


def text_of(html):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", "", html)).replace("&gt;", ">").replace("&quot;", '"')


class Nesting(HTMLParser):
    """Checks that every tag is closed, in order."""

    void = {"meta", "link", "input", "br", "img", "hr"}

    def __init__(self):
        super().__init__()
        self.open, self.wrong = [], []

    def handle_starttag(self, tag, attrs):
        if tag not in self.void:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag in self.void:
            return
        if not self.open or self.open.pop() != tag:
            self.wrong.append((tag, self.getpos()))


def test_hints_and_solution_follow_the_cell_in_order(site):
    html = (site / "index.html").read_text()
    section = html[html.index('id="ex-softmax"') : html.index('id="recap"')]
    summaries = re.findall(r"<summary>(.*?)</summary>", section)
    assert summaries == 2 * ["Hint 1 of 3", "Hint 2 of 3", "Hint 3 of 3", "Solution"]
    text = text_of(section)
    places = [text.index('check("softmax", softmax)')]
    places += [text.index(hint.replace("`", "")) for hint in find("softmax").hints]
    places += [text.index("shifted = x - x.max(axis=-1, keepdims=True)")]
    places += [text.index(find("softmax").why.replace("`", ""))]
    assert places == sorted(places)


def test_the_page_is_well_formed_and_everything_is_folded(site):
    html = (site / "index.html").read_text()
    nesting = Nesting()
    nesting.feed(html)
    assert nesting.wrong == [] and nesting.open == []
    assert html.count("<details") == 8 and "<details open" not in html


def test_the_section_of_the_exercise_has_a_class_for_the_style_sheet(site):
    html = (site / "index.html").read_text()
    assert len(re.findall(r'<section class="exercise" id="exercise-1-', html)) == 2
    assert html.count('<section class="exercise"') == 2


def test_a_solution_is_on_the_site_exactly_once(site):
    line = "shifted=x-x.max(axis=-1,keepdims=True)"
    count = 0
    for path in site.rglob("*"):
        if path.suffix in (".html", ".ipynb", ".txt", ".js", ".md"):
            count += re.sub(r"\s", "", text_of(path.read_text(errors="replace"))).count(line)
    assert count == 1


def test_other_builders_do_not_stumble(builds):
    assert warnings_of(builds / "text") == (0, "")


def test_an_unknown_id_is_a_warning(builds):
    code, text = warnings_of(builds / "unknown")
    assert code != 0 and "there is no exercise 'softmx' for the tag 'exercise-softmx'" in text


def test_an_id_that_occurs_twice_is_a_warning(builds):
    code, text = warnings_of(builds / "twice")
    assert code != 0
    assert "the exercise 'softmax' occurs twice: in index and in other" in text
    assert "the exercise 'delta_sum' occurs twice: in index and in other" in text
