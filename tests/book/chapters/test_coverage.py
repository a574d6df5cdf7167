"""Each thing that the five sources of the course teach has a place in the book.

`coverage/` has a table for each source: `id = [what the source says, place, ...]`. A place is `page#section: words`.
The section is written as in a link, with hyphens for spaces and without backticks. The words are the id of a cell in a
notebook, a term in the glossary, a key in the list of works, a public name on a page of the library, and on other pages
words that stand there. Where a source is wrong, the place holds what is right.
"""

import importlib
import json
import re
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[3]
TABLES = Path(__file__).parent / "coverage"
COUNTS = {"S0": 131, "S1": 47, "S2": 58, "S3": 144, "S4": 54}
HEADING = re.compile(r"^#{1,6} (.+)$")
ANCHOR = re.compile(r'^<a id="[^"]*"></a>$')
PLACE = re.compile(r"(?P<page>[^#]+\.(?:ipynb|md))#(?P<section>\S+): (?P<words>.+)")


def split(text, section=None):
    """The sections that a text goes through, each with its lines; it begins in `section`. Code is no heading."""
    parts, fenced = [(section, [])], False
    for line in text.splitlines():
        fenced ^= line.startswith("```")
        heading = None if fenced else HEADING.match(line)
        if heading:
            parts.append((heading[1].strip().replace(" ", "-").replace("`", ""), []))
        elif line.strip() and not ANCHOR.match(line):
            parts[-1][1].append(line)
    return parts


def sections(path):
    """What stands under each heading of a page: the ids of cells for a notebook, else the lines."""
    if path.suffix == ".md":
        return {name: lines for name, lines in split(path.read_text(encoding="utf-8"))}
    found, section = {}, None
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        parts = [(section, ["code"])]
        if cell["cell_type"] == "markdown":
            parts = split("".join(cell["source"]), section)
        for name, lines in parts:
            found.setdefault(name, [])
            if lines:
                found[name].append(cell["id"])
        section = parts[-1][0]
    return found


def is_there(words, under, page, chapters):
    """Whether the words of a place stand in its section, whose cells or lines are `under`."""
    if page.endswith(".ipynb"):
        return words in under
    if page == "bibliography.md":
        works = (chapters / "references.bib").read_text(encoding="utf-8")
        return "```{bibliography}" in under and f"{{{words}," in works
    if page == "glossary.md":
        return words in under
    room = re.search(r"automodule:: (\S+)", "\n".join(under))
    if room:
        module = importlib.import_module(room[1])
        return words in module.__all__ and bool(getattr(module, words).__doc__)
    return words in "\n".join(under)


def fault(place, chapters, pages):
    """What is wrong with a place, or None; `pages` has the sections of each."""
    parts = PLACE.fullmatch(place)
    if not parts:
        return f"{place!r} is no place"
    page, section, words = parts.groups()
    if page not in pages:
        return f"{page} is no page of the book"
    if section not in pages[page]:
        return f"{page} has no section {section}"
    if not is_there(words, pages[page][section], page, chapters):
        return f"{page}#{section} does not hold {words}"
    return None


def book_pages(root):
    """The pages in the list of contents, by their names in `chapters/`, with their sections."""
    names = re.findall(r"(?:file|root): chapters/(\S+)", (root / "_toc.yml").read_text(encoding="utf-8"))
    paths = [root / "chapters" / (name + end) for name in names for end in (".ipynb", ".md")]
    return {path.relative_to(root / "chapters").as_posix(): sections(path) for path in paths if path.is_file()}


def faults(tables, counts, root):
    """All that is wrong with the tables, a sentence each."""
    said, pages = [], book_pages(root)
    for source, count in counts.items():
        table = tomllib.loads(tables[source])  # an id that is there twice is an error of TOML
        if not table["source"].strip():
            said.append(f"{source}: which source?")
        rows, wanted = table["items"], [f"{source}-{number:02d}" for number in range(1, count + 1)]
        said += [f"{name}: missing" for name in wanted if name not in rows]
        said += [f"{name}: unknown" for name in rows if name not in wanted]
        for name, (what, *places) in ((name, row or [""]) for name, row in rows.items()):
            if not what.strip() or not places:
                said.append(f"{name}: empty")
            said += [f"{name}: {wrong}" for place in places if (wrong := fault(place, root / "chapters", pages))]
    return said


def test_everything_in_the_sources_has_a_place_in_the_book():
    tables = {path.stem: path.read_text(encoding="utf-8") for path in TABLES.glob("*.toml")}
    assert tables.keys() == COUNTS.keys()
    assert sum(COUNTS.values()) == 434
    assert faults(tables, COUNTS, ROOT) == []


TABLE = """source = "a notebook"
[items]
S0-01 = ["softmax", "01_small.ipynb#A-rule: rule"]
S0-02 = ["its check", "01_small.ipynb#A-rule: check", "api/softmax.md#attnlib.softmax: softmax"]
S0-03 = ["its name", "glossary.md#Words: softmax"]
S0-04 = ["its origin", "bibliography.md#Works: bridle1990", "words.md#Words: stands here"]
"""
CELLS = [("title", "markdown", "# Small\n\nText.\n"), ("rule", "markdown", '<a id="eq"></a>\n\n## A rule\n\nRead it.'),
         ("check", "code", "# no heading"), ("end", "markdown", "More.\n\n## Recap\n\nDone.")]  # fmt: skip
PAGES = {
    "01_small.ipynb": json.dumps(
        {"cells": [{"id": name, "cell_type": kind, "source": [text]} for name, kind, text in CELLS]}
    ),
    "glossary.md": "# Words\n\n```{glossary}\nsoftmax\n    Weights.\n```\n",
    "bibliography.md": "# Works\n\n```{bibliography}\n```\n",
    "references.bib": "@article{bridle1990,\n}\n",
    "words.md": "# Words\n\n```sh\n# no heading\n```\n\nIt stands here.\n",
    "api/softmax.md": "# `attnlib.softmax`\n\n.. automodule:: attnlib.softmax\n",
}


def faults_of(folder, table=TABLE, left_out=(), **changed):
    """The faults of a small book in `folder`, some of whose pages are changed or not in the list of contents."""
    for name, text in (PAGES | changed).items():
        path = folder / "chapters" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    listed = [{"file": f"chapters/{name.rpartition('.')[0]}"} for name in PAGES if name not in left_out]
    (folder / "_toc.yml").write_text(yaml.safe_dump(listed), encoding="utf-8")
    return faults({"S0": table}, {"S0": 4}, folder)


def test_a_table_in_order_has_no_faults(tmp_path):
    assert faults_of(tmp_path) == []


def test_a_cell_lies_in_each_section_that_it_says_something_in(tmp_path):
    faults_of(tmp_path)
    found = sections(tmp_path / "chapters" / "01_small.ipynb")
    assert found == {None: [], "Small": ["title"], "A-rule": ["rule", "check", "end"], "Recap": ["end"]}


def test_a_doubled_id_is_found(tmp_path):
    with pytest.raises(tomllib.TOMLDecodeError):
        faults_of(tmp_path, TABLE + 'S0-01 = ["again", "words.md#Words: here"]\n')


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('S0-03 = ["its name", "glossary.md#Words: softmax"]\n', "", "S0-03: missing"),
        ("S0-04 =", "S0-05 =", "S0-04: missing; S0-05: unknown"),
        ("S0-04 =", "S1-04 =", "S0-04: missing; S1-04: unknown"),
        ('"a notebook"', '" "', "S0: which source?"),
        ('["its name", "glossary.md#Words: softmax"]', "[]", "S0-03: empty"),
        ('["its name", "glossary.md#Words: softmax"]', '["its name"]', "S0-03: empty"),
        ('"its name"', '" "', "S0-03: empty"),
        ("glossary.md#Words: softmax", "the glossary", "S0-03: 'the glossary' is no place"),
        ("glossary.md", "gone.md", "S0-03: gone.md is no page of the book"),
        ("#A-rule: rule", "#Recap: rule", "S0-01: 01_small.ipynb#Recap does not hold rule"),
        (": softmax\"]\nS0-03", ": hardmax\"]\nS0-03", "S0-02: api/softmax.md#attnlib.softmax does not hold hardmax"),
        ("Words: softmax", "Words: Weights", "S0-03: glossary.md#Words does not hold Weights"),
        ("bridle1990", "bridle1991", "S0-04: bibliography.md#Works does not hold bridle1991"),
        ("stands here", "stood here", "S0-04: words.md#Words does not hold stood here"),
    ],
)  # fmt: skip
def test_a_wrong_row_is_found(old, new, said, tmp_path):
    assert TABLE.count(old) == 1
    assert "; ".join(faults_of(tmp_path, TABLE.replace(old, new))) == said


@pytest.mark.parametrize(
    ("page", "old", "new", "said"),
    [
        ("01_small.ipynb", "## A rule", "## The rule", "01_small.ipynb has no section A-rule"),
        ("01_small.ipynb", '"rule", "cell', '"rules", "cell', "01_small.ipynb#A-rule does not hold rule"),
        ("words.md", "# Words", "# Terms", "words.md has no section Words"),
        ("words.md", "stands here", "stood here", "words.md#Words does not hold stands here"),
        ("glossary.md", "softmax", "hardmax", "glossary.md#Words does not hold softmax"),
        ("references.bib", "bridle1990", "bridle1991", "bibliography.md#Works does not hold bridle1990"),
    ],
)
def test_a_place_that_is_gone_is_found(page, old, new, said, tmp_path):
    assert PAGES[page].count(old) == 1
    assert {wrong[7:] for wrong in faults_of(tmp_path, **{page: PAGES[page].replace(old, new)})} >= {said}


def test_a_page_outside_the_list_of_contents_is_found(tmp_path):
    assert faults_of(tmp_path, left_out=["glossary.md"]) == ["S0-03: glossary.md is no page of the book"]
