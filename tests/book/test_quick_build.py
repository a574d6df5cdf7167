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

ROOT = Path(__file__).resolve().parents[2]

CURRENT = re.compile(r'<li class="[^"]*\b(?:current|active)\b')
NAVIGATION = re.compile(r'<nav class="bd-links.*?</nav>', re.S)


# The list of chapters beside the library's source


def shown(app, pagename, made):
    """The list on a page; how it is made goes to the list `made`."""

    def toctree(**options):
        made.append((pagename, options))
        return f"list of {pagename}"

    context = {"toctree": toctree}
    source_pages.share(app, pagename, "page.html", context, None)
    return context["toctree"](maxdepth=2)


def test_the_list_of_chapters_is_made_once_for_each_folder_of_source():
    app, made = SimpleNamespace(), []
    source_pages.start(app)
    pages = ["_modules/index", "_modules/attnlib/a", "_modules/attnlib/b", "chapters/a", "chapters/b"]
    lists = [shown(app, page, made) for page in pages]
    assert lists == ["list of " + page for page in ("_modules/index", "_modules/attnlib/a", "_modules/attnlib/a", "chapters/a", "chapters/b")]
    assert len(made) == 4


def test_other_options_give_another_list():
    app, made = SimpleNamespace(), []
    source_pages.start(app)
    shown(app, "_modules/a", made)
    context = {"toctree": lambda **options: f"another with {options}"}
    source_pages.share(app, "_modules/b", "page.html", context, None)
    assert context["toctree"](maxdepth=2) == "list of _modules/a"
    assert context["toctree"](maxdepth=3) == "list of _modules/a" and made[-1] == ("_modules/a", {"maxdepth": 3})


def test_on_pages_with_source_no_chapter_is_open_and_every_link_leads_somewhere(site):
    pages = sorted((site / "_modules").rglob("*.html"))
    assert len(pages) > 50
    for page in pages:
        (listed,) = NAVIGATION.findall(page.read_text(encoding="utf-8"))
        links = re.findall(r'href="([^"#]+)"', listed)
        assert len(links) > 20 and not CURRENT.search(listed)
        assert all((page.parent / link).is_file() for link in links), page


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
    kept = '\n  <script defer src="_static/stepped.js?v=1"></script>' if has else ""
    assert scripts.lean(text, {"stepped.js": "stepped"}) == f'<head>{kept}\n  <script defer src="_static/other.js"></script></head>{page}'


def test_an_address_is_seen_from_its_page():
    assert light_pages.whole(Path("/site/chapters/api"), "../../_static/a.css") == Path("/site/_static/a.css")


# The list of works


def test_what_bibtex_asks_for_is_found_without_a_look_at_all_packages(monkeypatch):
    bibliography.setup(SimpleNamespace(connect=lambda *event: None, add_css_file=lambda name, priority: None))
    expected = [plugin.find_plugin(*each) for each in bibliography.ASKED_FOR]
    monkeypatch.setattr(plugin, "entry_points", partial(pytest.fail, "all packages were looked at"))
    assert [plugin.find_plugin(*each) for each in bibliography.ASKED_FOR] == expected
