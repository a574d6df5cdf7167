"""Each term of the glossary is a link where a chapter uses it first; the glossary has letters, and what people search for."""

import re
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import pytest
from docutils import nodes
from sphinx.addnodes import glossary

from book import glossary as glossary_links

ROOT = Path(__file__).resolve().parents[3]

CHAPTERS = sorted(path.stem for path in [*ROOT.glob("chapters/[0-9]*.ipynb"), ROOT / "chapters/prerequisites.ipynb"])
LABELS = {"attention": "term-attention", "flash attention": "term-flash", "query": "term-query", "HBM": "term-HBM"}
VOID = {"area", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"}
SILENT = {"h1", "h2", "h3", "h4", "h5", "h6", "pre", "code", "table", "figure", "svg", "details", "style", "script"}
SILENT_CLASSES = {"predict", "cell", "exercise-helps", "opener", "math", "predict-missed"}
SEARCHED_FOR = [
    "ALiBi", "attention sink", "autoregressive", "embedding", "FlashAttention", "GQA", "KV", "KV cache", "log-sum-exp", "LSE",
    "MHA", "MLA", "MQA", "prefill", "RoPE", "SDPA", "speculative decoding",
]  # fmt: skip


# One page at a time


def paragraph(*parts):
    return nodes.paragraph("", "", *[nodes.Text(part) if isinstance(part, str) else part for part in parts])


def html(text):
    return nodes.raw("", text, format="html")


def found(*parts, labels=LABELS, elsewhere=()):
    """The words that become links, each with its place."""
    uses = glossary_links.first_uses(nodes.section("", *parts), labels, elsewhere)
    return [(node[start:end], label) for node, all in uses for start, end, label in all]


def test_a_term_is_found_once_also_in_the_plural_and_with_a_capital():
    assert found(paragraph("Queries and queries. A query, HBM.")) == [("Queries", "term-query"), ("HBM", "term-HBM")]


def test_the_longer_term_counts_every_time():
    text = "Flash attention; flash attention; attention"
    assert found(paragraph(text)) == [("Flash attention", "term-flash"), ("attention", "term-attention")]


@pytest.mark.parametrize("text", ["self-attention", "inattention", "attentions2", "key–query", "hbm", "FLASH ATTENTION"])
def test_a_part_of_a_word_is_no_term(text):
    assert found(paragraph(text)) == []


def test_a_term_may_be_broken_by_a_line():
    assert found(paragraph("flash\nattention")) == [("flash\nattention", "term-flash")]


@pytest.mark.parametrize(
    "left_out",
    [
        [nodes.title("", "query")], [paragraph(nodes.literal("", "query"))], [paragraph(nodes.math("", "query"))],
        [nodes.table("", paragraph("query"))], [nodes.literal_block("", "query")],
        [nodes.container("", paragraph("query"), classes=["opener"])],
        [html('<div class="predict choose" id="a">'), paragraph("query"), html("</div>")],
        [html('<details class="answer">\n<summary>Answer</summary>'), paragraph("query"), html("</details>")],
    ],
)  # fmt: skip
def test_what_is_no_running_text_is_left_alone(left_out):
    section = [*left_out, paragraph("A query.")]
    ((node, uses),) = glossary_links.first_uses(nodes.section("", *section), LABELS)
    assert (node.astext(), uses) == ("A query.", [(2, 7, "term-query")])


def test_a_side_note_is_running_text():
    assert found(html('<div class="note">'), paragraph("query"), html("</div>")) == [("query", "term-query")]


def test_a_link_by_hand_is_the_first_use():
    link = nodes.reference("", "query", refuri="glossary.html#term-query")
    assert found(paragraph("See ", link, ": a query.")) == []
    assert found(paragraph("A query, see ", link)) == [("query", "term-query")]


def test_a_word_in_another_sense_is_left_alone():
    assert found(paragraph("query, HBM"), elsewhere={"query"}) == [("HBM", "term-HBM")]


def test_the_link_stands_in_the_text_of_its_own_paragraph():
    """Two texts that are equal are two places."""
    parts = glossary_links.with_links("A query, HBM.", [(2, 7, "term-query"), (9, 12, "term-HBM")], "glossary.html")
    assert [part.astext() for part in parts] == ["A ", "query", ", ", "HBM", "."]
    assert [part["refuri"] for part in parts[1::2]] == ["glossary.html#term-query", "glossary.html#term-HBM"]


# The letters of the page


def entry(*terms):
    return nodes.definition_list_item("", *[nodes.term("", term) for term in terms], nodes.definition())


def test_the_terms_of_a_letter_become_a_list_and_the_row_of_letters_leads_to_it():
    whole = nodes.definition_list("", entry("head"), entry("HBM", "SRAM"), entry("key"), classes=["glossary"])
    page = nodes.section("", nodes.paragraph(), glossary("", whole))
    glossary_links.part_by_letter(SimpleNamespace(env=SimpleNamespace(docname="chapters/glossary")), page)
    row, box = page.children[1:]
    found = [(part["ids"], part["classes"], [term.astext() for term in part.findall(nodes.term)]) for part in box]
    assert found == [(["H"], ["glossary"], ["head", "HBM", "SRAM"]), (["K"], ["glossary"], ["key"])]
    assert re.findall(r'<a href="#(\w)">(\w)</a>', row.astext()) == [("H", "H"), ("K", "K")]


def test_another_page_keeps_its_lists():
    page = nodes.section("", nodes.definition_list("", entry("head")))
    before = page.pformat()
    glossary_links.part_by_letter(SimpleNamespace(env=SimpleNamespace(docname="chapters/running")), page)
    assert page.pformat() == before


# The site


class Running(HTMLParser):
    """`texts`: the running text of a page, in pieces, each with the address of the link it is in."""

    def __init__(self, page):
        super().__init__()
        self.texts, self.open = [], []
        self.feed(page.split("<article", 1)[1].split("</article>", 1)[0])

    def handle_starttag(self, tag, attributes):
        if tag in VOID:
            return
        attributes = dict(attributes)
        silent, href = self.open[-1][1:] if self.open else (False, None)
        silent = silent or tag in SILENT or bool(SILENT_CLASSES & set((attributes.get("class") or "").split()))
        self.open.append((tag, silent, attributes.get("href", href)))

    def handle_endtag(self, tag):
        while tag not in VOID and self.open and self.open.pop()[0] != tag:
            pass

    def handle_data(self, text):
        if self.open and not self.open[-1][1]:
            self.texts.append((text, self.open[-1][2]))


@pytest.fixture(scope="module")
def places(site):
    """{term: its place} as the page of the glossary has it."""
    page = (site / "chapters" / "glossary.html").read_text(encoding="utf-8")
    found = re.findall(r'<dt id="(term-[^"]+)">(.*?)<a class="headerlink"', page)
    assert len(found) > 50
    return {term: f"glossary.html#{label}" for label, term in found}


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_the_first_use_of_each_term_is_a_link_to_it(chapter, places, site, record_property):
    words, first = glossary_links.any_of(places), {}
    for text, href in Running((site / "chapters" / f"{chapter}.html").read_text(encoding="utf-8")).texts:
        if href and not href.startswith("glossary.html"):
            continue  # a link to somewhere else
        for use in words.finditer(text):
            term = next(term for term in places if re.fullmatch(glossary_links.form(term), use[0]))
            first.setdefault(term, href)
    elsewhere = {term for term, pages in glossary_links.ELSEWHERE.items() if chapter in pages}
    assert elsewhere <= set(first), "the list of words in another sense names a word that the page does not use"
    assert {term for term, href in first.items() if href != places[term]} == elsewhere
    assert len(first) > (5 if chapter == "prerequisites" else 8)  # the words of attention come later
    record_property("checked first uses of terms", len(first))


def test_words_in_another_sense_are_listed_for_pages_and_terms_that_exist(places):
    for term, pages in glossary_links.ELSEWHERE.items():
        assert term in places and set(pages) <= set(CHAPTERS)


def test_the_letters_stand_in_their_order_and_so_do_the_terms(site):
    page = (site / "chapters" / "glossary.html").read_text(encoding="utf-8")
    row = re.search(r'<nav class="letters" aria-label="[^"]+">(.*?)</nav>', page, re.S)[1]
    lists = re.findall(r'<dl class="[^"]*\bglossary\b[^"]*" id="(\w)">(.*?)</dl>', page, re.S)
    assert re.findall(r'href="#(\w)"', row) == [letter for letter, _ in lists]
    first = [re.search(r"<dt [^>]*>(.*?)<a ", item)[1] for _, text in lists for item in text.split("</dd>")[:-1]]
    assert first == sorted(first, key=str.lower) and len(first) > 60
    assert [letter for letter, _ in lists] == sorted({term[0].upper() for term in first})


@pytest.mark.parametrize("word", SEARCHED_FOR)
def test_what_people_search_for_is_a_term(word, places):
    assert word in places
