"""The page of published mistakes: what it runs can be found, says where it comes from, and leads to what is right."""

import re
from pathlib import Path

import nbformat
import pytest

PAGE = Path(__file__).resolve().parents[2] / "chapters" / "mistakes.ipynb"
LABEL = re.compile(r'<a id="(m-[\w-]+)"></a>\n\n### ')
ROW = re.compile(r"^\| \[(.+?)\]\((\S+?)\) \| (.+?) \| (.+?) \|$", re.M)
CHAPTER = re.compile(r"\]\((?:0\d_\w+|prerequisites|measured)\.ipynb(?:#|\))|\]\(api/")


def entries(cells):
    """What stands under each label: the text of its cells, and whether one of them runs."""
    found, label = {}, None
    for cell in cells:
        heading = LABEL.match(cell.source)
        if heading or re.match("##? ", cell.source):
            label = heading and heading[1]
        if label:
            text, runs = found.get(label, ("", False))
            found[label] = (text + cell.source + "\n", runs or cell.cell_type == "code")
    return found


def faults(cells):
    """What a reader would miss, a sentence each."""
    run = entries(cells)
    rows = [row for cell in cells if cell.source.startswith("## All") for row in ROW.findall(cell.source)]
    leading = {label: sum(row[1] == f"#{label}" for row in rows) for label in run}
    said = [f"{label}: {n} rows lead to it" for label, n in leading.items() if n != 1]
    for words, link, _, source in rows:
        address = re.search(r"\((https?://\S+|references\.bib#\w+)\)", source)
        if source != "common" and not address:
            said.append(f"{words}: neither common nor a source")
        wanted = address[1] if address else "common mistake"
        if link.startswith("#") and wanted.lower() not in run.get(link[1:], [""])[0].lower():
            said.append(f"{words}: its entry does not say {wanted}")
    for label, (text, runs) in run.items():
        parts = {"what is said": "**What is said.**" in text, "what comes out": "**What comes out.**" in text}
        parts |= {"a cell": runs, "a link to a chapter": CHAPTER.search(text)}
        said += [f"{label}: without {part}" for part, there in parts.items() if not there]
    return said


def test_every_mistake_is_listed_traced_run_and_answered():
    cells = nbformat.read(PAGE, as_version=4).cells
    assert faults(cells) == []
    assert len(entries(cells)) > 30


TABLE = "## All of them\n\n| Said | Computed | Source |\n|---|---|---|\n| [A](#m-a) | No | common |"
ENTRY = (
    '<a id="m-a"></a>\n\n### A\n\n**What is said.** A common mistake.\n\n'
    '**What comes out.** [No](01_softmax.ipynb#One).'
)


def page(table=TABLE, entry=ENTRY, code="1 + 1"):
    cells = [nbformat.v4.new_markdown_cell(table), nbformat.v4.new_markdown_cell(entry)]
    return cells + ([nbformat.v4.new_code_cell(code)] if code else [])


def test_a_page_in_order_has_no_faults():
    assert faults(page()) == []
    source = "[B](https://example.org/b)"
    assert faults(page(TABLE.replace("common", source), ENTRY.replace("common", source))) == []


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({"table": TABLE.replace("#m-a", "01_softmax.ipynb#One")}, "m-a: 0 rows lead to it"),
        ({"table": f"{TABLE}\n| [B](#m-a) | No | common |"}, "m-a: 2 rows lead to it"),
        ({"table": TABLE.replace("common", "somebody")}, "A: neither common nor a source"),
        ({"table": TABLE.replace("common", "[B](https://b.org/)")}, "A: its entry does not say https://b.org/"),
        ({"entry": ENTRY.replace("common ", "")}, "A: its entry does not say common mistake"),
        ({"entry": ENTRY.replace("is said", "says")}, "m-a: without what is said"),
        ({"entry": ENTRY.replace("comes", "came")}, "m-a: without what comes out"),
        ({"entry": ENTRY.replace("01_softmax.ipynb", "")}, "m-a: without a link to a chapter"),
        ({"code": None}, "m-a: without a cell"),
    ],
)
def test_each_fault_is_found(changed, fault):
    assert fault in faults(page(**changed))
