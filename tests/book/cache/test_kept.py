"""What one build keeps for the next: never anything old, damaged or half, and never for long without a use."""

import shutil
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from sphinx.errors import ExtensionError
from sphinx.highlighting import PygmentsBridge

from book import cache, formulas, light_pages, search
from book.cache import highlighting
from book.formulas import mathjax_engine

ROOT = Path(__file__).resolve().parents[3]

LONG = "ab" * 3000  # so that the parts fill several pages of the file


def long(word):
    """A part that is made of a word."""
    return [word, LONG + word]


def never(*what):
    raise AssertionError(f"{what} was made again")


def build_with(path, *words, make=long, version="1"):
    """One build that needs the parts of these words. Returns the parts."""
    parts = cache.Kept(path)
    found = [parts.get(make, word, version=version) for word in words]
    parts.save()
    return found


def words_in(path):
    """What is kept in the file, by the words."""
    return sorted(part[0] for part in map(cache.json.loads, cache.Kept(path).found.values()))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "_build" / "kept.db"


def test_the_next_build_finds_what_this_one_made(path):
    assert build_with(path, "one", "two") == build_with(path, "one", "two", make=never) == [long("one"), long("two")]


def test_a_part_is_made_once_in_a_build():
    made = []
    parts = cache.Kept()
    for _ in range(2):
        assert parts.get(lambda word: made.append(word) or len(made), "one", version="1") == 1


def test_a_fresh_part_is_of_the_types_of_a_kept_one(path):
    fresh, again = (build_with(path, "one", make=lambda word: (word, {1: (2.5, "é")}), version="pair") for _ in range(2))
    assert fresh == again == [["one", {"1": [2.5, "é"]}]]


def test_what_another_version_made_is_not_used(path):
    build_with(path, "one")
    assert build_with(path, "one", make=lambda word: "new", version="2") == ["new"]


def test_what_another_python_made_is_not_used(path, monkeypatch):
    build_with(path, "one")
    monkeypatch.setattr(sys, "version", "another Python")
    assert build_with(path, "one", make=lambda word: "new") == ["new"]


def test_a_failure_is_not_kept(path):
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            build_with(path, "one", make=lambda word: 1 / 0)
    assert build_with(path, "one") == [long("one")]


def test_digests_tell_parts_apart_by_their_ends_and_files_by_their_content(tmp_path):
    (tmp_path / "file").write_text("first")
    assert cache.digest("ab", "c") != cache.digest("a", "bc") != cache.digest("abc")
    before = cache.digest(tmp_path / "file")
    (tmp_path / "file").write_text("other")
    assert cache.digest(tmp_path / "file") != before


# Damage


def flip(path, place):
    content = bytearray(path.read_bytes())
    content[place] ^= 0x55
    path.write_bytes(content)


def spoil_value(path):
    with cache.closing(sqlite3.connect(path)) as file:
        file.execute("update part set value = replace(value, 'two', 'owt')")
        file.commit()


def other_form(path):
    with cache.closing(sqlite3.connect(path)) as file:
        file.execute(f"pragma user_version = {cache.FORM + 1}")


DAMAGE = {
    "empty": lambda path: path.write_bytes(b""),
    "no database": lambda path: path.write_bytes(b"not a database" * 1000),
    "cut off": lambda path: path.write_bytes(path.read_bytes()[:9000]),
    "first byte": lambda path: flip(path, 0),
    "the table's name": lambda path: flip(path, path.read_bytes().index(b"part")),
    "pages lost": lambda path: path.write_bytes(path.read_bytes()[:4096] + bytes(len(path.read_bytes()) - 4096)),
    "a part": lambda path: flip(path, path.read_bytes().rindex(b"abab")),
    "the end of a part": spoil_value,
    "another form": other_form,
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_what_is_damaged_is_made_anew_and_mended(path, damage):
    build_with(path, "one", "two", "three")
    damage(path)
    assert build_with(path, "one", "two", "three") == [long("one"), long("two"), long("three")]
    assert build_with(path, "one", "two", "three", make=never) == [long("one"), long("two"), long("three")]


def test_a_file_of_another_form_is_not_read(path):
    build_with(path, "one")
    other_form(path)
    assert build_with(path, "one", make=lambda word: "new") == ["new"]


def test_a_file_that_is_damaged_during_a_build_is_written_anew(path):
    build_with(path, "one")
    parts = cache.Kept(path)
    for word in ("one", "two"):
        parts.get(long, word, version="1")
    DAMAGE["no database"](path)
    parts.save()
    assert words_in(path) == ["one", "two"]


def test_a_damaged_part_does_not_damage_the_others(path):
    build_with(path, "one", "two", "three")
    spoil_value(path)
    assert words_in(path) == ["one", "three"]


@pytest.mark.parametrize("name", ["missing", "file/kept.db"])
def test_without_a_place_to_keep_parts_a_build_makes_them(tmp_path, name):
    (tmp_path / "file").touch()
    (tmp_path / "missing").mkdir()  # a folder of the file's own name
    assert build_with(tmp_path / name, "one") == [long("one")]
    assert build_with(None, "one") == [long("one")]


# Several builds


def test_a_part_that_ten_builds_did_not_use_is_removed(path):
    build_with(path, "used", "unused")
    for number in range(cache.BUILDS - 1):
        build_with(path, "used", str(number))
    assert {"used", "unused"} < set(words_in(path))
    build_with(path, "used")
    assert "used" in words_in(path) and "unused" not in words_in(path)


def test_the_file_does_not_grow_with_the_number_of_builds(path):
    sizes = []
    for number in range(4 * cache.BUILDS):
        build_with(path, f"first {number}", f"second {number}")
        sizes.append(path.stat().st_size)
    assert sizes[-1] == sizes[2 * cache.BUILDS] <= 2 * cache.BUILDS * 2 * len(LONG)


def test_two_builds_at_once_add_their_parts(path):
    first, second = cache.Kept(path), cache.Kept(path)
    for parts, word in ((first, "one"), (second, "two"), (first, "both"), (second, "both")):
        parts.get(long, word, version="1")
    first.save()
    second.save()
    assert words_in(path) == ["both", "one", "two"]


# A build in a process of its own. For the word "killed", it kills itself after it has written and before that counts.
PROGRAM = """
import os, signal, sys
sys.path.insert(0, sys.argv[1])
from book import cache

class Death:
    def __rsub__(self, build):
        os.kill(os.getpid(), signal.SIGKILL)

parts = cache.Kept(sys.argv[2])
for word in sys.argv[3:]:
    parts.get(lambda word: [word, "ab" * 3000 + word], word, version="1")
cache.BUILDS = Death() if "killed" in sys.argv else cache.BUILDS
parts.save()
"""


def process_with(path, *words):
    return subprocess.Popen([sys.executable, "-c", PROGRAM, ROOT, path, *words])


def test_many_builds_at_once_lose_nothing(path):
    builds = [process_with(path, "all", str(number)) for number in range(6)]
    assert [build.wait() for build in builds] == [0] * 6
    assert words_in(path) == ["0", "1", "2", "3", "4", "5", "all"]


def test_a_build_that_is_killed_while_it_writes_leaves_the_parts_as_they_were(path):
    build_with(path, "one", "two")
    assert process_with(path, "one", "killed").wait() == -signal.SIGKILL
    assert words_in(path) == ["one", "two"]
    build_with(path, "three")
    assert words_in(path) == ["one", "three", "two"]


# Formulas, their style sheet and their fonts

MACROS = {"softmax": "\\operatorname{softmax}"}
FORMULAS = [(r"P = \softmax(QK^\top)", True), (r"\sum_q P_{qk}", False), (r"\sqrt{d}", False)]


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
    assert "mjx-c221A" in turned[1] and typeset_all(path)[1] == typeset_all(None)[1]


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
