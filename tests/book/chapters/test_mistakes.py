"""The page of published mistakes: what it runs can be found, says where it comes from, and leads to what is right.

A mistake has a source that readers can open, or is called *ours*: made or seen by ourselves.
"""

import re
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "chapters" / "mistakes.ipynb"
LABEL = re.compile(r'<a id="(m-[\w-]+)"></a>\n\n### ')
ROW = re.compile(r"^\| \[(.+?)\]\((\S+?)\) \| (.+?) \| (.+?) \|$", re.M)
CHAPTER = re.compile(r"\]\((?:\d\d_\w+|prerequisites|measured)\.ipynb(?:#|\))|\]\(api/")


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
        if source != "ours" and not address:
            said.append(f"{words}: neither ours nor a source")
        if link.startswith("#") and address and address[1] not in run.get(link[1:], [""])[0]:
            said.append(f"{words}: its entry does not say {address[1]}")
    for label, (text, runs) in run.items():
        parts = {"what is said": "**What is said.**" in text, "what comes out": "**What comes out.**" in text}
        parts |= {"a cell": runs, "a link to a chapter": CHAPTER.search(text)}
        said += [f"{label}: without {part}" for part, there in parts.items() if not there]
        if COMMON.search(text):
            said.append(f"{label}: says how common it is")  # which nobody has counted
    return said


def test_every_mistake_is_listed_traced_run_and_answered():
    cells = nbformat.read(PAGE, as_version=4).cells
    assert faults(cells) == []
    assert len(entries(cells)) > 30


def test_most_mistakes_have_a_source_and_the_page_says_what_ours_means(record_property):
    cells = nbformat.read(PAGE, as_version=4).cells
    sources = [row[3] for cell in cells for row in ROW.findall(cell.source)]
    assert len(sources) > 80 and sources.count("ours") < len(sources) / 3
    assert "*Ours* means that we have no public source" in cells[0].source
    record_property("checked mistakes with a source", len(sources) - sources.count("ours"))


COMMON = re.compile(r"\bcommon (?:mistake|error)", re.I)
SOURCE = re.compile(r"\]\((?:https?://|references\.bib#)")
TO_BE_REWRITTEN = {f"chapters/0{name}.ipynb" for name in ("1_softmax", "2_attention", "3_gradients", "4_masks")}


def without_source(text):
    """The paragraphs that call a mistake common and name nobody who made it."""
    return [part for part in re.split(r"\n\s*\n", text) if COMMON.search(part) and not SOURCE.search(part)]


def test_no_page_calls_a_mistake_common_without_a_source():
    pages = {path.relative_to(ROOT).as_posix(): path for path in ROOT.glob("chapters/*.*")}
    for name in sorted(pages.keys() - TO_BE_REWRITTEN):
        if pages[name].suffix == ".ipynb":
            cells = nbformat.read(pages[name], as_version=4).cells
            text = "\n\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
        else:
            text = pages[name].read_text(encoding="utf-8") if pages[name].suffix == ".md" else ""
        assert without_source(text) == [], name


def test_a_common_mistake_is_found_and_one_with_a_source_is_not():
    cited = "A common mistake is that [[Dao, 2023]](references.bib#dao2023flashattention2)."
    assert without_source(f"It.\n\n**A common mistake** is that.\n\n{cited}") == ["**A common mistake** is that."]


TABLE = "## All of them\n\n| Said | Computed | Source |\n|---|---|---|\n| [A](#m-a) | No | ours |"
ENTRY = '<a id="m-a"></a>\n\n### A\n\n**What is said.** That A.\n\n**What comes out.** [No](01_softmax.ipynb#One).'


def page(table=TABLE, entry=ENTRY, code="1 + 1"):
    cells = [nbformat.v4.new_markdown_cell(table), nbformat.v4.new_markdown_cell(entry)]
    return cells + ([nbformat.v4.new_code_cell(code)] if code else [])


def test_a_page_in_order_has_no_faults():
    assert faults(page()) == []
    source = "[B](https://example.org/b)"
    assert faults(page(TABLE.replace("ours", source), ENTRY.replace("That A", source))) == []


@pytest.mark.parametrize(
    ("changed", "fault"),
    [
        ({"table": TABLE.replace("#m-a", "01_softmax.ipynb#One")}, "m-a: 0 rows lead to it"),
        ({"table": f"{TABLE}\n| [B](#m-a) | No | ours |"}, "m-a: 2 rows lead to it"),
        ({"table": TABLE.replace("ours", "somebody")}, "A: neither ours nor a source"),
        ({"table": TABLE.replace("ours", "common")}, "A: neither ours nor a source"),
        ({"table": TABLE.replace("ours", "[B](https://b.org/)")}, "A: its entry does not say https://b.org/"),
        ({"entry": ENTRY.replace("That", "A common mistake: that")}, "m-a: says how common it is"),
        ({"entry": ENTRY.replace("is said", "says")}, "m-a: without what is said"),
        ({"entry": ENTRY.replace("comes", "came")}, "m-a: without what comes out"),
        ({"entry": ENTRY.replace("01_softmax.ipynb", "")}, "m-a: without a link to a chapter"),
        ({"code": None}, "m-a: without a cell"),
    ],
)
def test_each_fault_is_found(changed, fault):
    assert fault in faults(page(**changed))
