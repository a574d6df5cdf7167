"""What makes a build quick without changing a page: each shortcut gives what the long way gives."""

import re
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given, strategies as st
from pybtex import plugin

from book import bibliography, light_pages
from book.api import source_pages
from book.light_pages import pictures, scripts

# Pages of source code


def test_a_page_of_source_is_its_code_and_ways_to_the_book_the_library_and_the_search(site):
    pages = sorted((site / "_modules").rglob("*.html"))
    assert len(pages) > 50
    for page in pages:
        text = page.read_text(encoding="utf-8")
        head = text[text.index("<header") : text.index("</header>")]
        links = re.findall(r'(?:href|action)="([^"]+)"', head)
        goals = [(page.parent / link.replace("#", page.name)).resolve().relative_to(site.resolve()).as_posix() for link in links]
        assert goals == ["chapters/index.html", "chapters/api/index.html", "_modules/index.html", "search.html"], page
        assert all((site / goal).is_file() for goal in goals)
        around = len(text) - len(text[text.index("<article") : text.index("</article>")])
        assert around < 3_500, f"{page}: {around} bytes around the code"


def test_the_theme_draws_its_parts_for_pages_that_have_them_alone():
    for page, kept in (("_modules/attnlib/softmax", False), ("chapters/01_softmax", True)):
        context = {"sidebars": ["list.html"], "theme_navbar_start": ["logo.html"], "theme_logo": {"text": "book"}, "title": "title"}
        source_pages.without_parts(None, page, None, context, None)
        parts = context.pop("sidebars"), context.pop("theme_navbar_start")
        assert parts == ((["list.html"], ["logo.html"]) if kept else ([], []))
        assert context == {"theme_logo": {"text": "book"}, "title": "title"}


# The pages, gone through when all are written

PAGES = st.lists(st.sampled_from(["<p>", "</p>", "word", " ", "\n", "&lt;", "<b title='a b'>", "é", "x" * 500]), max_size=30).map("".join)


@given(PAGES, PAGES, PAGES)
def test_a_picture_is_far_down_if_more_text_than_a_screen_holds_is_above_it(before, above, below):
    text = f"{before}<article>{above}<img>{below}"
    letters = len(re.sub(r"<[^>]*>|\s+", "", above))
    far = len(before) + len("<article>") + len(above) >= pictures.below_first_screen(text)
    assert far == (letters > pictures.FIRST_SCREEN)


@given(st.lists(st.sampled_from(["\n  ", " ", "<script src='a'></script>", "<script src='b'></script>", "text", "\n\n"]), max_size=20).map("".join))
def test_an_element_that_is_taken_out_takes_the_blanks_before_it(text):
    element = re.compile(r"<script src='(.)'></script>")
    expected = re.sub(r"\s*<script src='a'></script>", "", text).replace("'b'", "'c'")
    assert scripts.replaced(element, lambda found: "" if found[1] == "a" else found[0].replace("b", "c"), text) == expected


@pytest.mark.parametrize(("page", "has"), [('<p class="stepped">', True), ('<p class="a stepped b">', True), ('<p class="stepped-on">', False), ("<p>stepped", False)])
def test_a_script_stays_where_a_page_has_its_class(page, has):
    text = f'<head>\n  <script src="_static/stepped.js?v=1"></script>\n  <script src="_static/other.js"></script></head>{page}'
    kept = '\n  <script type="later" src="_static/stepped.js?v=1"></script>' if has else ""
    expected = f'<head>{kept}\n  <script type="later" src="_static/other.js"></script>{scripts.START}</head>{page}'
    assert scripts.lean(text, {"stepped.js": "stepped"}) == expected


def test_an_address_is_seen_from_its_page():
    assert light_pages.whole(Path("/site/chapters/api"), "../../_static/a.css") == Path("/site/_static/a.css")


# The list of works


def test_what_bibtex_asks_for_is_found_without_a_look_at_all_packages(monkeypatch):
    bibliography.setup(SimpleNamespace(connect=lambda *event: None, add_css_file=lambda name, priority: None))
    expected = [plugin.find_plugin(*each) for each in bibliography.ASKED_FOR]
    monkeypatch.setattr(plugin, "entry_points", partial(pytest.fail, "all packages were looked at"))
    assert [plugin.find_plugin(*each) for each in bibliography.ASKED_FOR] == expected
