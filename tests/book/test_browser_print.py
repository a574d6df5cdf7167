"""Pages on paper, printed by a real browser: nothing is lost, nothing is cut off, and paper is white."""

import io
import re
import shutil

import pdf
import pypdf
import pytest
import yaml
from printing import check

ROOT = pdf.ROOT
CHOSEN = ["chapters/index", "chapters/01_softmax", "chapters/api/softmax"]
TEXT_WIDTH = 605  # px: A4 less the margins that paper.css gives it, at 96 px an inch
SEEN = """() => [...document.querySelectorAll("body *")].filter(element => element.getClientRects().length).map(element => {
    const style = getComputedStyle(element);
    return [element.tagName + "." + element.className, style.color, style.backgroundColor, style.borderLeftColor, style.fill,
        style.filter, style.mixBlendMode, getComputedStyle(element, "::before").color].join(" ");
})"""
CUT = """width => [...document.querySelectorAll("article *")].filter(element => {
    if (element.closest("mjx-assistive-mml, svg *") || !element.getClientRects().length) return false;
    const scrolls = element.scrollWidth > element.clientWidth + 1 && getComputedStyle(element).overflowX !== "visible" && element.clientWidth;
    return scrolls || element.getBoundingClientRect().right > width + 1;
}).map(element => `${element.tagName}.${element.className}: ${element.textContent.slice(0, 60)}`)"""


def chosen(*names):
    """The parts of the book with these pages alone."""
    found = [part | {"pages": [page for page in part["pages"] if page in names]} for part in pdf.parts(ROOT)]
    return [part for part in found if part["pages"]]


@pytest.fixture(scope="module")
def book(chromium, site):
    """Three pages as a book, what was counted while they were compared with the site, and the text of each sheet."""
    content, counts = pdf.checked(chromium, site, chosen(*CHOSEN), pdf.settings(ROOT))
    reader = pypdf.PdfReader(io.BytesIO(content))
    return reader, counts, [sheet.extract_text() for sheet in reader.pages]


def test_everything_on_the_pages_is_in_the_pdf(book, record_property):
    _, counts, _ = book
    assert counts["chapters"] == len(CHOSEN) and counts["blocks of text"] > 500 and counts["formulas"] > 100 and counts["pictures"] >= 5
    record_property("checked blocks of text and formulas in print", counts["blocks of text"] + counts["formulas"])


def titles(outline):
    """The outline as [(title, [entries below it])]."""
    found = []
    for entry in outline:
        if isinstance(entry, list):
            found[-1][1].extend(titles(entry))
        else:
            found.append((entry.title, []))
    return found


def test_the_outline_has_parts_chapters_and_sections_and_leads_to_them(book, site):
    reader, _, texts = book
    found = titles(reader.outline)
    assert [title for title, _ in found] == ["Contents", "Attention, Derived", "Chapters", "Reference"]
    ((chapter, sections),) = found[2][1]
    assert chapter == "1. Turn scores into weights" and found[3][1][0][0] == "attnlib.softmax"
    page = (site / "chapters" / "01_softmax.html").read_text(encoding="utf-8")
    shown = [re.sub("<[^>]*>", "", title) for title in re.findall(r"<h2>(.*?)<a class=\"headerlink\"", page)]
    assert [title for title, _ in sections] == [*shown, "Hints and solutions"]
    assert [title for title, _ in sections[-1][1]] == [title for _, below in sections[:-1] for title, _ in below if title.startswith("Exercise")]
    flat = [entry for entry in flatten(reader.outline) if entry.title != "Chapters"]
    for entry in flat:
        text = texts[reader.get_destination_page_number(entry)]
        assert check.plain(entry.title) in check.plain(text) or entry.title == "Reference", entry.title


def flatten(outline):
    return [inner for entry in outline for inner in (flatten(entry) if isinstance(entry, list) else [entry])]


def links(reader):
    return [note.get_object() for page in reader.pages for note in page.get("/Annots", []) if note.get_object()["/Subtype"] == "/Link"]


def test_links_lead_to_places_in_the_pdf_or_to_other_sites(book, record_property):
    reader, _, _ = book
    inside = {note["/Dest"] for note in links(reader) if "/Dest" in note}
    assert len(inside) > 30 and inside <= set(reader.named_destinations)
    assert len([name for name in inside if name.endswith("--help")]) == 4  # from the exercises to their solutions
    assert any(name.startswith("/chapters-api-softmax--attnlib.softmax.") for name in inside)
    outside = {note["/A"]["/URI"] for note in links(reader) if "/A" in note}
    assert all(address.startswith("https://") for address in outside), outside
    record_property("checked links in print", len(links(reader)))


def test_the_contents_name_the_page_on_which_a_chapter_begins(book):
    reader, _, texts = book
    for name, title in [("chapters-01_softmax", "1. Turn scores into weights"), ("chapters-api-softmax", "attnlib.softmax")]:
        page = check.start(reader, name)
        assert re.search(rf"{re.escape(title)}\s*{page + 1}\b", texts[1]), title
        assert check.plain(texts[page]).startswith(check.plain(f"{title}{page + 1}"))


def test_the_pdf_says_who_and_what_but_not_when(book):
    reader, _, _ = book
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    assert reader.metadata.title == config["title"] and reader.metadata.author == config["author"]
    assert not {"/CreationDate", "/ModDate"} & set(reader.metadata)
    assert reader.trailer["/Root"]["/Lang"] == "en" and reader.trailer["/Root"]["/MarkInfo"]["/Marked"]
    assert {tuple(round(side / 72 * 25.4) for side in page.mediabox[2:]) for page in reader.pages} == {(210, 297)}


def test_printing_twice_gives_the_same_bytes(chromium, site):
    first, second = (pdf.checked(chromium, site, chosen("chapters/index"), pdf.settings(ROOT))[0] for _ in range(2))
    assert first == second


def test_a_paragraph_that_does_not_print_is_an_error(chromium, site, tmp_path):
    copy = shutil.copytree(site, tmp_path / "site")
    with (copy / "_static" / "paper.css").open("a", encoding="utf-8") as sheet:
        sheet.write("#chapters-index--three-ways-to-use-this-book > p:first-of-type { display: none }\n")
    with pytest.raises(pdf.PdfError, match="chapters/index: 'readit,andcommityourself"):
        pdf.checked(chromium, copy, chosen("chapters/index"), pdf.settings(ROOT))


def test_a_reader_without_scripts_prints_everything_that_is_folded_or_behind_a_slider(chromium, address, site):
    name = "chapters/02_attention"
    context = chromium.new_context(java_script_enabled=False, color_scheme="dark")
    page = context.new_page()
    page.goto(f"{address}{name}.html", wait_until="load")
    reader = pypdf.PdfReader(io.BytesIO(page.pdf(tagged=True, prefer_css_page_size=True)))
    context.close()
    pages = [check.plain(sheet.extract_text()) for sheet in reader.pages]
    (said,) = check.spoken(chromium, site, [name])
    assert check.lost_text(said["texts"], pages) == [] and check.lost_characters(said, pages) == []
    assert len([text for (text, *_) in said["texts"] if re.match(r"\d of \d\. ", text)]) >= 5
    described = {check.plain(alt) for alt in check.descriptions(reader)}
    assert {check.plain(alt) for alt in said["pictures"]} <= described


@pytest.mark.parametrize("name", ["chapters/index", "chapters/02_attention", "chapters/api/costs"])
def test_paper_is_white_for_a_reader_of_the_dark_scheme_and_nothing_is_cut_off(name, chromium, address):
    seen = {}
    for scheme in ("light", "dark"):
        page = chromium.new_page(viewport={"width": TEXT_WIDTH, "height": 900}, color_scheme=scheme)
        page.goto(f"{address}{name}.html")
        assert page.evaluate("document.documentElement.dataset.theme") == scheme
        page.emulate_media(media="print", color_scheme=scheme)
        seen[scheme] = page.evaluate(SEEN)
        if scheme == "light":
            assert page.evaluate("[...document.querySelectorAll('.step')].every(step => step.getClientRects().length)")
            assert page.evaluate(CUT, TEXT_WIDTH) == []
            assert page.evaluate("document.documentElement.scrollWidth") <= TEXT_WIDTH
        page.close()
    assert len(seen["light"]) > 100
    assert [pair for pair in zip(seen["light"], seen["dark"], strict=True) if pair[0] != pair[1]] == []


def test_before_printing_all_is_opened_and_fetched_and_afterwards_folded_again(chromium, address):
    page = chromium.new_page()
    page.goto(f"{address}chapters/02_attention.html")
    page.locator("article details").first.evaluate("box => { box.open = true }")
    count = "[document.querySelectorAll('article details:not([open])').length, document.querySelectorAll('img[loading=lazy]').length]"
    folded, late = page.evaluate(count)
    assert folded > 30 and late > 3
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate(count) == [0, 0]
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.evaluate(count) == [folded, 0]
    page.close()
