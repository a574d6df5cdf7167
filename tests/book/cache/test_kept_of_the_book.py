"""What is kept of the book: formulas with their style sheet and fonts, coloured code, the style sheet of a page, the search."""

import shutil
from types import SimpleNamespace

import pytest
from sphinx.errors import ExtensionError
from sphinx.highlighting import PygmentsBridge

from book import cache, formulas, light_pages, search
from book.cache import highlighting
from book.formulas import mathjax_engine

MACROS = {"softmax": "\\operatorname{softmax}"}
FORMULAS = [(r"P = \softmax(QK^\top)", True), (r"\sum_q P_{qk}", False), (r"\sqrt{d}", False)]


def never(*what):
    raise AssertionError(f"{what} was made again")


def typeset_all(path, macros=MACROS):
    """A build's formulas and style sheet, and whether MathJax was started for them."""
    parts = cache.Kept(path)
    typesetter = formulas.Typesetter(macros, parts)
    try:
        found = [typesetter.typeset(*each) for each in FORMULAS]
        return found, typesetter.styles(), typesetter.started is not None
    finally:
        typesetter.close()
        parts.save()


@pytest.fixture(scope="module")
def typeset(tmp_path_factory):
    """The file after a build, and what that build showed."""
    path = tmp_path_factory.mktemp("typeset") / "kept.db"
    return path, typeset_all(path)


@pytest.fixture
def typeset_copy(typeset, path):
    """The same, with a file of one's own."""
    path.parent.mkdir()
    shutil.copy(typeset[0], path)
    return path, typeset[1]


def test_kept_formulas_are_those_that_mathjax_makes(typeset_copy):
    path, (fresh, styles, _) = typeset_copy
    assert typeset_all(path) == (fresh, styles, False)


def test_the_style_sheet_is_that_of_these_formulas_in_this_order(typeset_copy, monkeypatch):
    path, (_, styles, _) = typeset_copy
    monkeypatch.setitem(globals(), "FORMULAS", FORMULAS[::-1])
    turned = typeset_all(path)
    assert turned[1:] == (typeset_all(None)[1], True) and turned[1] != styles
    monkeypatch.setitem(globals(), "FORMULAS", FORMULAS[1:])
    assert ".c221A" in turned[1] and typeset_all(path)[1] == typeset_all(None)[1]


def test_another_macro_typesets_all_formulas_anew(typeset_copy):
    path, (fresh, *_) = typeset_copy
    changed, _, started = typeset_all(path, {"softmax": "\\sigma"})
    assert started and changed[0] != fresh[0] and changed[1:] == fresh[1:]


def test_another_mathjax_typesets_all_formulas_anew(typeset_copy, tmp_path, monkeypatch):
    path, (fresh, *_) = typeset_copy
    script = tmp_path / "formulas.js"
    text = mathjax_engine.SCRIPT.read_text(encoding="utf-8")
    script.write_text(text.replace("adaptor.outerHTML(item.typesetRoot)", "adaptor.outerHTML(item.typesetRoot) + '<!-- -->'"))
    monkeypatch.setattr(mathjax_engine, "SCRIPT", script)
    changed, _, started = typeset_all(path)
    assert started and changed == [(f"{found}<!-- -->", width) for found, width in fresh]


def test_a_mistake_in_a_formula_is_told_each_time(typeset_copy):
    path, _ = typeset_copy
    for _ in range(2):
        parts = cache.Kept(path)
        typesetter = formulas.Typesetter(MACROS, parts)
        with pytest.raises(ValueError, match="Missing close brace"):
            typesetter.typeset(r"\frac{1}{", True)
        typesetter.close()
        parts.save()


def test_kept_fonts_are_those_that_were_made_and_each_is_its_own(path, tmp_path, monkeypatch):
    first, other = fonts(path, tmp_path / "first", "1→"), fonts(path, tmp_path / "other", "2")
    assert len(set(first.values())) == len(first) > 10
    assert other["MathJax_Main-Regular.woff"] != first["MathJax_Main-Regular.woff"]
    monkeypatch.setattr(formulas, "subset_font", never)
    assert fonts(path, tmp_path / "again", "→1") == first


def fonts(path, folder, characters):
    """{name: content} of the fonts that a build writes for these characters."""
    parts = cache.Kept(path)
    formulas.write_fonts(folder, set(map(ord, characters)), parts)
    parts.save()
    return {file.name: file.read_bytes() for file in folder.iterdir()}


# Coloured code


class Heard:
    """Colours code as a build does and counts how often Pygments was asked."""

    def __init__(self, path=None, style="a11y-high-contrast-light"):
        self.asked, self.parts = [], cache.Kept(path)
        bridge = PygmentsBridge("html", style)
        colour = bridge.highlight_block
        bridge.highlight_block = lambda source, *rest, **others: self.asked.append(source) or colour(source, *rest, **others)
        self.colour = highlighting.keeping(bridge.highlight_block, self.parts, style)


def test_code_keeps_its_colours(path):
    first = Heard(path)
    coloured = first.colour("x = 'one'", "python", linenos=False)
    assert first.asked and """<span class="s1">'one'</span>""" in coloured
    first.parts.save()
    second = Heard(path)
    assert second.colour("x = 'one'", "python", linenos=False) == coloured and not second.asked
    second.colour("x = 'one'", "python", linenos="inline")
    second.colour("x = 'one'", "text", linenos=False)
    second.colour("x = 'two'", "python", linenos=False)
    assert len(second.asked) == 3
    third = Heard(path, "a11y-high-contrast-dark")
    third.colour("x = 'one'", "python", linenos=False)
    assert third.asked


def test_code_that_cannot_be_read_is_complained_of_each_time(path, caplog):
    for number in (1, 2):
        heard = Heard(path)
        plain = PygmentsBridge("html", "a11y-high-contrast-light").highlight_block("$?", "python", location="here")
        caplog.clear()
        assert heard.colour("$?", "python", location="here") == plain
        assert [record.location for record in caplog.records] == ["here"], number
        heard.parts.save()


# The style sheet and the places that the search finds

SHEET = ".a { color: red }\n.b { color: blue }\n"


class Drawing:
    """In the place of `icons.Icons`."""

    def in_rule(self, selector, declarations):
        return declarations

    def rules(self):
        return ""

    def in_forced_colours(self):
        return "/* colours */"


@pytest.fixture
def static(tmp_path):
    (tmp_path / "static" / "scripts").mkdir(parents=True)
    (tmp_path / "static" / "own.css").write_text(SHEET)
    (tmp_path / "static" / "first.css").write_text('@import "own.css";')
    (tmp_path / "static" / "scripts" / "fontawesome.js").write_text("icons")
    return tmp_path / "static"


def sheet_of(path, static, words):
    """The style sheet of a build with these classes on its pages, and how many parts it made."""
    parts = cache.Kept(path)
    text = light_pages.one_sheet(static, ["first.css"], words, Drawing(), parts)
    parts.save()
    return text, len(parts.used.keys() - parts.found.keys())


def test_the_style_sheet_is_made_anew_for_other_classes_or_sheets_or_icons(path, static):
    first, made = sheet_of(path, static, {"a"})
    assert made == 1 and ".a{" in first and ".b" not in first and first.endswith("/* colours */")
    assert sheet_of(path, static, {"a"}) == (first, 0)
    assert ".b{" in sheet_of(path, static, {"b"})[0]
    (static / "own.css").write_text(SHEET.replace("red", "green"))
    assert "green" in sheet_of(path, static, {"a"})[0]
    (static / "scripts" / "fontawesome.js").write_text("other icons")
    assert sheet_of(path, static, {"a"})[1] == 1


def test_a_kept_style_sheet_does_not_hide_that_a_file_is_missing(path, static):
    (static / "own.css").write_text(".a { background: url(a.svg) }")
    (static / "a.svg").write_text("a picture")
    sheet_of(path, static, {"a"})
    (static / "a.svg").unlink()
    with pytest.raises(ExtensionError, match="a.svg is missing"):
        sheet_of(path, static, {"a"})


def places_of(path, words):
    """What a build finds on a page with these words for the search."""
    page = path.with_name("page.html")
    page.write_text(f'<article><section id="s"><h1>{words}</h1></section></article>')
    builder = SimpleNamespace(get_target_uri=lambda name: "page.html")
    app = SimpleNamespace(builder=builder, env=SimpleNamespace(toc_secnumbers={}), kept=cache.Kept(path))
    found = search.page(app, "page", path.parent)["places"]
    app.kept.save()
    return found


def test_the_search_knows_a_page_as_it_is_now(path, monkeypatch):
    path.parent.mkdir()
    assert places_of(path, "one") == [["s", "one", ""]]
    assert places_of(path, "two") == [["s", "two", ""]]
    monkeypatch.setattr(search, "Places", never)
    assert places_of(path, "one") == [["s", "one", ""]]
    code = path.with_name("search_places.py")
    code.write_text("other code")
    monkeypatch.setattr(search, "CODE", code)
    with pytest.raises(AssertionError, match="made again"):
        places_of(path, "one")
