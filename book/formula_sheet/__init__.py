"""Sphinx extension: the page *Look up a formula*, made from the table `chapters/formulas.toml`.

A row of the table gives a formula a name and a sentence, and names the test that checks it. The formula itself and its
section are those of the chapter: `label` names a numbered formula. One without a number has its `tex` and its `place`
in the row, and a row may show another `tex` than its chapter. A numbered formula without a row, a row without a formula,
and a test that is not there are warnings, which stop the build.
"""

import ast
import json
import re
import tomllib
from pathlib import Path

from myst_parser.mdit_to_docutils.base import default_slugify
from sphinx.util import logging

from book.plain_markdown import FORMULA

ROOT = Path(__file__).resolve().parents[2]
TABLE = ROOT / "chapters" / "formulas.toml"
PAGE = "chapters/formulas"
HERE = "<!-- the formulas -->"
HEADING = re.compile(r"^(#+) (.+)$", re.M)
LIBRARY = re.compile(r"attnlib\.[\w.]+")
logger = logging.getLogger(__name__)


def setup(app):
    app.connect("source-read", read)
    app.connect("html-page-context", break_at_words)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def read(app, docname, source):
    """Write the formulas into their page."""
    if docname != PAGE:
        return
    app.env.note_dependency(str(TABLE))
    chapters = book(app.env.srcdir, app.config.external_toc_path)
    rows = table()
    for problem in problems(rows, chapters):
        logger.warning("%s", problem, location=docname, type="formula")
    source[0] = source[0].replace(HERE, sheet(rows, chapters))


def break_at_words(app, pagename, templatename, context, doctree):
    """Where a phone has no room for the name of a test, a line ends at one of its words."""
    if pagename == PAGE:
        name = re.compile(r'(?<=<span class="pre">)tests/[^<]+')
        context["body"] = name.sub(lambda found: re.sub(r"(/|::|_)", r"\1<wbr>", found[0]), context["body"])


def table():
    return tomllib.loads(TABLE.read_text(encoding="utf-8"))["formula"]


def book(folder, contents="_toc.yml"):
    """{file: the `Chapter`} of all notebooks, in the order of the contents."""
    names = re.findall(r"file: (chapters/\w+)$", (Path(folder) / contents).read_text(encoding="utf-8"), re.M)
    paths = [Path(folder) / f"{name}.ipynb" for name in names]
    return {path.name: Chapter(path) for path in paths if path.is_file()}


class Chapter:
    """A notebook's `title`, its `formulas` {label: TeX}, and the `sections` {label: heading} that they stand in."""

    def __init__(self, path):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        text = "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
        self.headings = [heading[2].strip() for heading in HEADING.finditer(text)]
        self.title = self.headings[0]
        number = re.match(r"(\d+)_", path.name)
        self.name = f"Chapter {int(number[1])}: {self.title}" if number else self.title
        self.formulas, self.sections = {}, {}
        for formula in FORMULA.finditer(text):
            self.formulas[formula[1]] = unboxed(formula[2].removeprefix("$$").strip())
            self.sections[formula[1]] = HEADING.findall(text[: formula.start()])[-1][1].strip()


def unboxed(tex):
    r"""A formula without the \boxed{…} around it, and without the comma or full stop of its sentence."""
    inside = re.fullmatch(r"\\boxed\{(?:\\;)?(.*?)(?:\\;)?\}\s*", tex.strip(), re.S)
    return re.sub(r"\s*[.,](\s*(?:\\end\{\w+\})?)$", r"\1", inside[1].strip() if inside else tex.strip())


def written(tex):
    """A formula for a comparison: without spaces."""
    return re.sub(r"\s+", "", unboxed(tex))


def formula_of(row, chapters):
    """The TeX that the sheet shows, "" if there is none."""
    found = (chapter.formulas.get(row.get("label")) for chapter in chapters.values())
    return row.get("tex") or next(filter(None, found), "")


def problems(rows, chapters):
    """What is wrong with the table: a list of sentences."""
    found, numbered = [], {label for chapter in chapters.values() for label in chapter.formulas}
    labels = [row["label"] for row in rows if "label" in row]
    found += [f"the formula {label} has no row in {TABLE.name}" for label in sorted(numbered - set(labels))]
    found += [f"{label} has two rows in {TABLE.name}" for label in sorted({each for each in labels if labels.count(each) > 1})]
    for row in rows:
        name = row.get("label") or row["name"]
        if not formula_of(row, chapters):
            found.append(f"{name}: no chapter has this formula")
        if "label" not in row and not has_place(row.get("place", ""), chapters):
            found.append(f"{name}: {row.get('place')!r} is no section of a chapter")
        if not has_test(row["test"]):
            found.append(f"{name}: there is no test {row['test']}")
    return found


def has_place(place, chapters):
    """Whether a place is `file.ipynb#its heading`, or something of the library (whose link the build checks)."""
    file, _, heading = place.partition("#")
    return bool(LIBRARY.fullmatch(place)) or file in chapters and heading in chapters[file].headings


def has_test(node):
    """Whether a node id of pytest, `folder/file.py::test_name`, names a test that is there."""
    file, _, name = node.partition("::")
    if not (ROOT / file).is_file() or not Path(file).name.startswith("test_"):
        return False
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    return name.startswith("test_") and name in {each.name for each in tree.body if isinstance(each, ast.FunctionDef)}


def sheet(rows, chapters):
    """The formulas as Markdown, by chapter, in the order of the book; those of the library come last."""
    parts = []
    for file, chapter in chapters.items():
        of_chapter = sorted((order, number) for number, row in enumerate(rows) if (order := place_in(row, file, chapter)))
        if of_chapter:
            parts.append(f"## {chapter.name}")
            parts += [entry(rows[number], file, chapter, chapters) for _, number in of_chapter]
    rest = [row for row in rows if LIBRARY.fullmatch(row.get("place", ""))]
    if rest:
        parts += ["## In the library", *(entry(row, None, None, chapters) for row in rest)]
    return "\n\n".join(parts)


def place_in(row, file, chapter):
    """Where in a chapter a row belongs: (number of the section, number of the formula), None if it does not."""
    labels = list(chapter.formulas)
    if row.get("label") in labels:
        return chapter.headings.index(chapter.sections[row["label"]]), labels.index(row["label"])
    at, _, heading = row.get("place", "").partition("#")
    return (chapter.headings.index(heading), -1) if at == file and heading in chapter.headings else None


def entry(row, file, chapter, chapters):
    """One formula: name and sentence, formula, where it is derived and which test checks it."""
    if file is None:
        place = "Stated at {py:func}`" + row["place"] + "`"  # with its source; no chapter derives it
    else:
        heading = chapter.sections[row["label"]] if "label" in row else row["place"].partition("#")[2]
        number = "{eq}`" + row["label"] + "` " if "label" in row else ""
        place = f"Derived in {number}[{heading}]({file}#{default_slugify(heading)})"
    tex = formula_of(row, chapters)
    return f"**{row['name']}.** {row['reading']}\n\n$$\n{tex}\n$$\n\n{{.formula-proof}}\n{place}\\\nChecked by `{row['test']}`"

