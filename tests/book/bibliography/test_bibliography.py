"""The list of works: labelled as the text cites them, in that order, and each work leads back to where it is cited."""

import re
from html import unescape
from pathlib import Path

import pytest
from pybtex.database import parse_file

WORKS = parse_file(str(Path(__file__).resolve().parents[3] / "chapters" / "references.bib"), bib_format="bibtex").entries
CITATION = re.compile(r'<span class="bibtex-citation" id="([^"]+)">(.*?\])</span>', re.DOTALL)
WORK = re.compile(r'<div class="citation" id="([^"]+)".*?</div>', re.DOTALL)
BACK = re.compile(r'<a href="([\w.]+)#([^"]+)"')


def plain(text):
    return unescape(re.sub(r"<[^>]*>", "", text)).strip()


@pytest.fixture(scope="module")
def works(site):
    """Label and HTML of each work, by its id."""
    text = (site / "chapters" / "bibliography.html").read_text(encoding="utf-8")
    found = {}
    for work in WORK.finditer(text):
        label = re.search(r'<span class="label">(.*?</span>)</span>', work[0], re.DOTALL)
        found[work[1]] = (plain(label[1]), work[0])
    assert len(found) > 30
    return found


@pytest.fixture(scope="module")
def citations(site):
    """All citations of the book: page, id, text, the works."""
    found = []
    for path in sorted((site / "chapters").glob("*.html")):
        for id, text in CITATION.findall(path.read_text(encoding="utf-8")):
            found.append((path.name, id, plain(text), re.findall(r'href="bibliography\.html#([^"]+)"', text)))
    assert len(found) > 50
    return found


def test_labels_are_author_and_year_and_no_two_are_the_same(works):
    labels = [label for label, _ in works.values()]
    for label in labels:
        assert re.fullmatch(r"\[[^\d\[\]]+, \d{4}[a-z]?\]", label), label
    assert len(set(labels)) == len(labels)


def test_each_work_leads_to_where_it_can_be_found(works, record_property):
    """By its DOI, its arXiv id or its address, each as a link (`test_works.py` looks at the ids themselves)."""
    shown = {label: set(re.findall(r'<a class="reference external" href="([^"]+)">', work)) for label, work in works.values()}
    starts = {"doi": "https://doi.org/", "eprint": "https://arxiv.org/abs/", "url": ""}
    expected = [{starts[kind] + id for kind, id in work.fields.items() if kind in starts} for work in WORKS.values()]
    assert sorted(map(sorted, shown.values())) == sorted(map(sorted, expected))
    record_property("checked works", len(expected))


def test_works_stand_in_the_order_of_their_labels(works):
    names = [label.strip("[]").split(",")[0].replace(" et al.", "").split(" and ")[0].lower() for label, _ in works.values()]
    assert names == sorted(names)


def test_same_author_and_year_get_letters(works):
    assert {label for label, _ in works.values() if "Bridle" in label} == {"[Bridle, 1990a]", "[Bridle, 1990b]"}


def test_the_text_cites_by_the_label(works, citations, record_property):
    """`Bridle [1990a]` in a sentence, `[Bridle, 1990a]` after one."""
    for page, _, text, ids in citations:
        for label in (works[id][0].strip("[]") for id in ids):
            author, year = label.rsplit(", ", 1)
            assert label in text or f"{author} [{year}]" in text, f"{page}: {text} is listed as {label}"
    record_property("checked citations", len(citations))


def test_each_work_leads_back_to_each_section_that_cites_it(works, citations, site):
    ids = {path.name: path.read_text(encoding="utf-8") for path in (site / "chapters").glob("*.html")}
    for page, id, text, cited in citations:
        section = section_of(ids[page], id)
        for work in cited:
            back = [(name, anchor) for name, anchor in BACK.findall(works[work][1])]
            assert section in [section_of(ids[name], anchor) for name, anchor in back if name == page], f"{page}: {text}"


def test_each_section_is_named_once_and_as_its_heading(works, citations, site):
    for label, work in works.values():
        targets = BACK.findall(work)
        assert len(set(targets)) == len(targets), label
    _, dao = next(work for work in works.values() if work[0] == "[Dao, 2023]")
    assert re.search(r"Cited in chapter 6 \(.+\), Look up the notation \(In the papers\)", plain(dao))


def section_of(page, id):
    """The last section that begins before an id: an anchor of its own lies in one section."""
    return re.findall(r'<section\b[^>]*\bid="([^"]+)"', page[: page.index(f'id="{id}"')])[-1]
