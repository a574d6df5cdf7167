"""What the book reaches into though no package promises it: `book/PRIVATE.md` lists all of it, and each row has a test.

The tests here are for the rows that no other test covers. When one fails after a new version was installed, that package
has changed, and its message says with which version the book was tried.
"""

import ast
import importlib.metadata
import inspect
import io
import json
import pickle
import re
import subprocess
import sys
from collections import namedtuple
from contextlib import contextmanager
from pathlib import Path

import pytest
import tinycss2
from docutils import nodes

from book import formulas, light_pages, live, pages
from book.formula_sheet import has_test
from book.light_pages import icons, plain_code, scripts, style_sheet
from book.search import index
from tools.site import build

ROOT = Path(__file__).resolve().parents[2]
ROW = re.compile(r"^\| `(?P<file>[^`]+)` \| (?P<what>.+?) \| (?P<package>[^|]+) \| `(?P<test>[^`]+)` \|$", re.M)
ROWS = list(ROW.finditer((ROOT / "book" / "PRIVATE.md").read_text(encoding="utf-8")))
PINNED = dict(re.findall(r"(?m)^([\w.-]+)==(.+)$", (ROOT / "constraints.txt").read_text(encoding="utf-8")))
NOT_PINNED = {"Python", "Pyodide", "Chromium", "pip"}  # PRIVATE.md says where their versions are
PROMISED = {"_exit", "_getframe", "_replace", "_asdict", "_fields"}  # documented in spite of their names


def reaches_into(package):
    """Have a test that fails say with which version of the package the book was tried."""

    @contextmanager
    def told():
        try:
            yield
        except Exception as error:
            error.add_note(f"{package} {importlib.metadata.version(package)}; tried with {PINNED[package]}: see book/PRIVATE.md")
            raise

    return told()


# The list


def test_every_row_names_a_file_a_package_and_a_test():
    assert len(ROWS) == (ROOT / "book" / "PRIVATE.md").read_text(encoding="utf-8").count("\n| `") > 30
    for row in ROWS:
        assert (ROOT / row["file"]).is_file(), row[0]
        assert row["package"] in PINNED.keys() | NOT_PINNED, row[0]
        assert has_test(row["test"]), row[0]


def test_every_test_here_of_a_package_has_a_row():
    here = ast.parse(Path(__file__).read_text(encoding="utf-8"))
    tests = [each.name for each in here.body if isinstance(each, ast.FunctionDef) and each.name.startswith("test_")]
    named = {row["test"].partition("::")[2] for row in ROWS if row["test"].startswith("tests/book/test_private.py")}
    assert set(tests[3:]) == named  # the first three are about the list itself


def underscored(text):
    """The names with one underscore at their start that a Python text takes from elsewhere, and those that it makes."""
    taken, made = set(), set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Attribute):
            own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
            (made if own or isinstance(node.ctx, ast.Store) else taken).add(node.attr)
        elif isinstance(node, ast.ImportFrom):
            taken.update(*(name.split(".") for name in [node.module or "", *(each.name for each in node.names)]))
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") == "getattr" and isinstance(node.args[1], ast.Constant):
            taken.add(node.args[1].value)
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            made.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            made.add(node.id)
    return ({name for name in found if re.match("_[a-z]", name)} for found in (taken, made))


def test_a_private_name_of_another_package_is_in_the_list():
    files = [path for top in ("attnlib", "attnexercises", "attnpage", "benchmarks", "book", "tools") for path in (ROOT / top).rglob("*.py")]
    names = {path: tuple(underscored(path.read_text(encoding="utf-8"))) for path in [ROOT / "conftest.py", *files]}
    ours = set().union(*(made for _, made in names.values()))
    foreign = {(path.relative_to(ROOT).as_posix(), name) for path, (taken, _) in names.items() for name in taken - ours - PROMISED}
    missing = [each for each in foreign if not any(row["file"] == each[0] and each[1] in row["what"] for row in ROWS)]
    assert not missing and len(foreign) >= 3


# What Sphinx, MyST-NB, the theme and the other extensions write, without the book's own extensions

CONF = """
extensions = ["myst_nb", "sphinx_book_theme", "sphinx_copybutton", "sphinx_design", "sphinx.ext.autodoc", "sphinx.ext.viewcode"]
html_theme, nb_execution_mode, numfig, myst_enable_extensions = "sphinx_book_theme", "off", True, ["dollarmath"]
"""
INDEX = """# Small

```{toctree}
:numbered:
first
```

```{eval-rst}
.. automodule:: attnlib.positions.sinusoidal_encoding
   :members:
```
"""
FIRST = """# First

(ex-one)=
## Section

A formula $x$, and `code`.

$$ x $$ (eq-one)

```{figure} picture.svg
A caption
```

```{glossary}
score
  A number.
```
"""
PICTURE = '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="10"><rect width="20" height="10"/></svg>'


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    """The folder of a site of two pages, with what Sphinx knows of them in `known` and one page's tree in `tree`."""
    folder = tmp_path_factory.mktemp("plain")
    shown = [{"output_type": "stream", "name": "stdout", "text": "two words\n"}]
    cells = [
        {"cell_type": "markdown", "id": "text", "metadata": {}, "source": FIRST},
        {"cell_type": "code", "id": "code", "metadata": {"tags": ["exercise-one"]}, "execution_count": 1, "outputs": shown, "source": "def f(x): return x"},
    ]
    notebook = {"cells": cells, "metadata": {"language_info": {"name": "python"}}, "nbformat": 4, "nbformat_minor": 5}
    for name, text in {"conf.py": CONF, "index.md": INDEX, "first.ipynb": json.dumps(notebook), "picture.svg": PICTURE}.items():
        (folder / name).write_text(text, encoding="utf-8")
    command = [sys.executable, "-m", "sphinx", "-q", "-d", folder / "known", folder, folder / "out"]
    subprocess.run(command, check=True, capture_output=True, cwd=ROOT)
    return folder


@pytest.fixture(scope="module")
def known(plain):
    return pickle.loads((plain / "known" / "environment.pickle").read_bytes())


@pytest.fixture(scope="module")
def first(plain):
    return (plain / "out" / "first.html").read_text(encoding="utf-8")


@reaches_into("Sphinx")
def test_sphinx_keeps_the_numbers_of_sections_and_formulas(known):
    assert known.toc_secnumbers["first"][""] == (1,)
    assert known.toc_fignumbers["first"]["displaymath"][nodes.make_id("equation-eq-one")] == (1, 1)
    assert known.domaindata["math"]["objects"]["eq-one"][0] == "first"
    assert known.toctree_includes["index"] == ["first"]


@reaches_into("Sphinx")
def test_sphinx_keeps_the_places_of_labels_and_terms(known):
    assert known.domaindata["std"]["labels"]["ex-one"] == ("first", "ex-one", "Section")
    assert known.domaindata["std"]["objects"]["term", "score"] == ("first", "term-score")


@reaches_into("Sphinx")
def test_sphinx_makes_its_index_in_two_methods_and_its_search_page_of_these_scripts(plain):
    from sphinx.builders.html import StandaloneHTMLBuilder

    page = (plain / "out" / "search.html").read_text(encoding="utf-8")
    assert all(callable(getattr(StandaloneHTMLBuilder, name)) for name in ("index_page", "dump_search_index"))
    assert "_static/searchtools.js" in page and "_static/language_data.js" in page
    language = (plain / "out" / "_static" / "language_data.js").read_text(encoding="utf-8")
    assert re.search(r"\b(?:var|const) stopwords\b", language) and re.search(r"\bStemmer\b", language) and "stemWord" in language


@reaches_into("Sphinx")
def test_sphinx_has_these_classes_on_what_the_search_leaves_out(plain):
    found = " ".join(path.read_text(encoding="utf-8") for path in (plain / "out").glob("*.html"))
    classes = set(" ".join(scripts.CLASSES.findall(found)).split())
    own = {"answer", "exercise-helps", "chapter-cards", "predict-all"}
    assert own < index.LEFT_OUT and index.LEFT_OUT - own <= classes and "sig" in classes


@reaches_into("Sphinx")
def test_sphinx_has_the_permalink_inside_the_heading(first):
    assert pages.title_of(first) == "1. First"


@reaches_into("Sphinx")
def test_napoleon_writes_attributes_as_fields():
    from sphinx.ext.napoleon import Config
    from sphinx.ext.napoleon.docstring import NumpyDocstring

    config = Config(napoleon_use_ivar=True, napoleon_use_rtype=False)
    lines = str(NumpyDocstring("Attributes\n----------\npassed, failed : int\n    How many.", config, what="class"))
    assert ":ivar passed, failed: How many." in lines and ":vartype passed, failed: int" in lines


def test_python_describes_the_field_of_a_tuple_in_these_words():
    assert namedtuple("Pair", "one").one.__doc__.startswith("Alias for field number")


@reaches_into("myst-nb")
def test_a_cell_is_a_container_that_tells_its_tags(plain):
    tree = pickle.loads((plain / "known" / "first.doctree").read_bytes())
    (cell,) = [node for node in tree.findall(nodes.container) if node.get("nb_element") == "cell_code"]
    assert cell["cell_metadata"]["tags"] == ["exercise-one"]


@reaches_into("myst-nb")
def test_the_code_of_a_cell_stands_where_its_button_goes(first):
    assert len(live.INPUT.findall(first)) == 1 and len(live.TITLE.findall(first)) == 1


@reaches_into("pydata-sphinx-theme")
def test_the_theme_chooses_the_scheme_in_these_lines(first):
    for line in (scripts.MODE, scripts.SCHEME):  # behind " || " stands the default, which `default_mode` of _config.yml sets
        assert first.count(line.partition(" || ")[0]) == 1
    assert first.count("localStorage") == 2 and first.count("<script>DOCUMENTATION_OPTIONS.") == 1


@reaches_into("pydata-sphinx-theme")
def test_every_page_of_the_site_has_the_scheme_at_once(site):
    texts = [path.read_text(encoding="utf-8") for path in site.rglob("*.html") if "_static" not in path.parts]
    at_once = "\n".join(map(str.strip, scripts.SCHEME_AT_ONCE.splitlines()))  # `markup` has taken the indentation
    assert sum(at_once in text for text in texts) == len(texts) - 1  # one only leads to the first page
    assert not any(line in text for line in (scripts.MODE, scripts.SCHEME) for text in texts)
    assert not any(scripts.PRELOAD.search(text) for text in texts)


@reaches_into("pydata-sphinx-theme")
def test_the_theme_chooses_the_stops_of_the_tab_key_in_this_line(plain, site):
    assert (plain / "out" / "_static" / scripts.THEME).read_text(encoding="utf-8").count(scripts.STOPS) == 1
    assert (site / "_static" / scripts.THEME).read_text(encoding="utf-8").count(f"querySelectorAll({scripts.NO_STOPS})") == 1


@reaches_into("pydata-sphinx-theme")
def test_the_theme_asks_for_sheets_scripts_and_icons_in_these_forms(plain, first):
    asked = [address.rsplit("/", 1)[-1] for address in scripts.SCRIPT.findall(first)]
    assert scripts.USED_WITH.keys() <= set(asked) and scripts.PRELOAD.search(first)
    assert len(light_pages.LINK.findall(first)) == first.count('rel="stylesheet"') > 3
    packs = icons.Icons((plain / "out" / "_static" / icons.SCRIPT).read_text(encoding="utf-8")).packs
    assert min(map(len, packs.values())) > 100
    assert len(icons.ELEMENT.findall(first)) == len(re.findall(r'class="[^"]*\b(?:fa-solid|fa-regular|fa-brands|fa[srb])\b', first)) > 3
    assert icons.CHARACTER.search("".join(path.read_text(encoding="utf-8") for path in (plain / "out" / "_static" / "styles").glob("*.css")))
    assert (plain / "out" / "_static" / icons.FONTS).is_dir()


@reaches_into("pydata-sphinx-theme")
def test_what_a_build_throws_away_is_there(plain):
    assert [pattern for pattern in build.DEAD_WEIGHT if not list((plain / "out").glob(pattern))] == []


@reaches_into("pydata-sphinx-theme")
def test_the_styles_name_nothing_that_no_page_and_no_script_has(site):
    named = {name: sheet for sheet in (ROOT / "book").rglob("*.css") for name in names_in(sheet.read_text(encoding="utf-8"))}
    there = set(" ".join(name for path in site.rglob("*.html") for name in light_pages.NAMES.findall(path.read_text(encoding="utf-8"))).split())
    ours = [path for kind in ("py", "js", "mjs") for top in ("book", "attnpage", "attnexercises") for path in (ROOT / top).rglob(f"*.{kind}")]
    there.update(*(re.findall(r"[\w-]+", path.read_text(encoding="utf-8")) for path in ours))
    assert not {name: sheet.name for name, sheet in named.items() if name not in there} and len(named) > 100


def names_in(text):
    """The classes and ids in the selectors of a style sheet, but for those that an element must not have."""
    for rule in tinycss2.parse_stylesheet(text, skip_comments=True, skip_whitespace=True):
        if rule.type == "qualified-rule":
            selector = re.sub(r":not\((?:[^()]|\([^()]*\))*\)", "", tinycss2.serialize(rule.prelude))
            yield from re.findall(r"[.#]([A-Za-z][\w-]*)", selector)
        elif rule.lower_at_keyword in style_sheet.GROUPS:
            yield from names_in(tinycss2.serialize(rule.content))


@reaches_into("pydata-sphinx-theme")
def test_what_a_script_repairs_on_the_pages_is_still_there(site):
    text = "".join((site / name).read_text(encoding="utf-8") for name in ("chapters/01_softmax.html", "chapters/bibliography.html"))
    script = (ROOT / "book" / "look" / "book.js").read_text(encoding="utf-8")
    repaired = {"bd-sidebar-primary", "navbar-brand", "search-button-field", "bd-sidenav", "citation-list", "citation"}
    classes = set(" ".join(scripts.CLASSES.findall(text)).split())
    assert repaired <= classes and all(f".{name}" in script for name in repaired)


@reaches_into("Pygments")
def test_each_word_of_code_has_an_element_with_its_class(first):
    block = plain_code.BLOCK.search(first)[0]
    assert '<span class="n">x</span>' in block and '<span class="n">' not in plain_code.unwrapped(block, {"n"})


@reaches_into("sphinx-mathjax-offline")
def test_a_mark_behind_a_formula_is_found_on_the_site(site):
    text = (site / "chapters" / "01_softmax.html").read_text(encoding="utf-8")
    assert text.count('<span class="formula-end"><span class="math') > 10
    assert not re.search(r"</mjx-container></span>[.,;:]", formulas.BEFORE_A_MARK.sub("", text))


# What other packages have


@reaches_into("nbval")
def test_nbval_compares_outputs_in_a_method_that_can_be_replaced():
    import nbval.plugin

    source = inspect.getsource(nbval.plugin)
    assert "    def compare_outputs(self, test, ref, skip_compare=None):" in source  # ours takes its place in conftest.py
    assert "self.compare_outputs(" in source and "self.skip_compare =" in source
    assert "    def sanitize_outputs(self, outputs" in source and "self.comparison_traceback" in source


@reaches_into("nbclient")
def test_nbclient_notes_that_it_caught_a_signal():
    from nbclient import NotebookClient

    assert "self._async_cleanup_kernel_future = asyncio.ensure_future(" in inspect.getsource(NotebookClient)


@reaches_into("matplotlib")
def test_matplotlib_lists_the_open_figures():
    from matplotlib._pylab_helpers import Gcf

    assert Gcf.get_all_fig_managers() == [] and callable(Gcf.destroy_all)


@reaches_into("matplotlib")
def test_matplotlib_writes_a_text_into_a_comment_beside_its_letters():
    from matplotlib.figure import Figure

    figure, file = Figure(), io.StringIO()
    figure.text(0.5, 0.5, "two words")
    figure.savefig(file, format="svg")
    assert "<!-- two words -->" in file.getvalue()


@reaches_into("numpy")
def test_numpy_lets_a_program_look_into_its_library():
    import numpy as np

    assert Path(np._core._multiarray_umath.__file__).is_file()
