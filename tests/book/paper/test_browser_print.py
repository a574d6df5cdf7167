"""Pages on paper, printed by a real browser: nothing is lost, nothing is cut off, and paper is white.

The command of `make pdf` prints three pages here, one of them a chapter with some of its sections; the thorough run
prints the whole book.
"""

import io
import re
import subprocess
import sys
from types import SimpleNamespace

import pypdf
import pytest
import yaml
from pdf_difference import first_difference
from three_pages import CHAPTER, PRINTED, RUNNING, SECTIONS, TITLE, counted

from tools import browser
from tools.printing import check, pdf

ROOT = pdf.ROOT
KEY = CHAPTER.replace("/", "-")
TEXT_WIDTH = 605  # px: A4 less the margins that paper.css gives it, at 96 px an inch
SEEN = """() => [...document.querySelectorAll("body *")].filter(element => element.getClientRects().length).map(element => {
    const style = getComputedStyle(element);
    return [element.tagName + "." + element.className, style.color, style.backgroundColor, style.borderLeftColor, style.fill,
        style.filter, style.mixBlendMode, getComputedStyle(element, "::before").color].join(" ");
})"""
# What lies beyond the edge of the paper or is hidden there. The space at which a line of code was broken may hang over
# the edge, and MathJax cuts the pieces that it makes a long brace of.
CUT = """width => {
    const beyond = (box) => box.right > width + 1;
    const words = (element) => {
        const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT), range = new Range(), found = [];
        while (walker.nextNode()) for (const word of walker.currentNode.data.matchAll(/\\S+/g)) {
            range.setStart(walker.currentNode, word.index);
            range.setEnd(walker.currentNode, word.index + word[0].length);
            found.push(...range.getClientRects());
        }
        return found;
    };
    return [...document.querySelectorAll("article *")].filter(element => {
        if (element.closest("mjx-container > math, mjx-ext, svg *") || !element.getClientRects().length) return false;
        const scrolls = element.scrollWidth > element.clientWidth + 1 && getComputedStyle(element).overflowX !== "visible" && element.clientWidth;
        return scrolls || beyond(element.getBoundingClientRect()) && (!element.closest("pre") || words(element).some(beyond));
    }).map(element => `${element.tagName}.${element.className}: ${element.textContent.slice(0, 60)}`);
}"""


def test_everything_on_the_pages_is_in_the_pdf(book, record_property):
    counts = book.counts
    assert counts["pages"] == len(book.texts) and counts["chapters"] == len(PRINTED)
    assert counts["blocks of text"] > 400 and counts["formulas"] > 20 and counts["pictures"] > 8
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


def flatten(outline):
    return [inner for entry in outline for inner in (flatten(entry) if isinstance(entry, list) else [entry])]


def test_the_outline_has_parts_chapters_and_sections_and_leads_to_them(book, small):
    found = titles(book.reader.outline)
    assert [title for title, _ in found] == ["Contents", "Chapters", "Reference"]
    ((chapter, sections),) = found[1][1]
    assert chapter == TITLE and [title for title, _ in found[2][1]] == ["Find an exercise", RUNNING]
    page = (small / f"{CHAPTER}.html").read_text(encoding="utf-8")
    shown = [re.sub("<[^>]*>", "", title) for title in re.findall(r"<h2>(.*?)<a class=\"headerlink\"", page)]
    assert len(shown) == len(SECTIONS)
    assert [title for title, _ in sections] == [*shown, "Answers", "Hints and solutions"]
    exercises = [title for _, below in sections[:-1] for title, _ in below if title.startswith("Exercise")]
    assert [title for title, _ in sections[-1][1]] == exercises != []
    flat = [entry for entry in flatten(book.reader.outline) if entry.title not in ("Chapters", "Reference")]
    for entry in flat:
        text = book.texts[book.reader.get_destination_page_number(entry)]
        assert check.plain(entry.title) in check.plain(text), entry.title


def links(reader):
    return [note.get_object() for page in reader.pages for note in page.get("/Annots", []) if note.get_object()["/Subtype"] == "/Link"]


def test_links_lead_to_places_in_the_pdf_or_to_other_sites(book, record_property):
    inside = {note["/Dest"] for note in links(book.reader) if "/Dest" in note}
    assert len(inside) > 15 and inside <= set(book.reader.named_destinations)
    assert len([name for name in inside if name.endswith("--help")]) == 1  # from the exercise to its solution
    assert f"/{KEY}--ex-spot-gradient" in inside  # from the index to the exercise
    outside = {note["/A"]["/URI"] for note in links(book.reader) if "/A" in note}
    assert all(address.startswith("https://") for address in outside), outside
    record_property("checked links in print", len(links(book.reader)))


def place(book, name):
    """The number of the page on which something stands."""
    return check.start(book.reader, name) + 1


def test_the_contents_name_the_page_on_which_a_chapter_begins(book):
    for name, title in [(KEY, TITLE), ("chapters-running", RUNNING)]:
        page = place(book, name)
        assert re.search(rf"{re.escape(title)}\s*{page}\b", book.texts[1]), title
        assert check.plain(book.texts[page - 1]).startswith(check.plain(f"{title}{page}"))


def numbers_of_questions(small):
    """1, 2, … for the questions on the short chapter that is printed, however many its sections ask."""
    page = (small / f"{CHAPTER}.html").read_text(encoding="utf-8")
    numbers = [number for number, _ in enumerate(re.findall(r'<div class="predict[ "]', page), 1)]
    assert len(numbers) >= 2, f"choose SECTIONS with more questions than {len(numbers)}"
    return numbers


def test_an_answer_stands_at_the_end_of_its_chapter_and_page_numbers_lead_there_and_back(book, small):
    """Also the answer to the last question; a reader on paper can think first."""
    numbers = numbers_of_questions(small)

    def named(pattern):
        """The number of each answer, the page that is named, and the page on which that stands."""
        return [(*map(int, found), page) for page, text in enumerate(book.texts, 1) for found in re.findall(pattern, text)]

    there = named(r"Answer (\d+): page (\d+)")
    assert [number for number, _, _ in there] == numbers
    assert [answer for _, answer, _ in there] == [place(book, f"{KEY}--answer-{number}") for number in numbers]
    back = named(r"Answer (\d+), to the question on page (\d+)")
    assert [(number, answer, question) for number, question, answer in back] == there
    whole = "".join(book.texts)
    answers = [found.start() for found in re.finditer(r"Answer \d, to", whole)]
    in_order = [whole.rindex("Predict first."), *answers, whole.index("HINT 1 OF")]
    assert in_order == sorted(in_order)
    asked = {note["/Dest"] for note in links(book.reader) if "/Dest" in note and "--predict-" in note["/Dest"]}
    assert len(asked) == len(numbers)


def test_the_index_of_exercises_fills_its_page_and_names_the_pages_of_the_exercises(book):
    page = place(book, "chapters-exercises")
    assert place(book, "chapters-running") == page + 3  # two pages of the list, and one of the commands
    begin = book.texts[page - 1]
    assert begin.count("easy") + begin.count("medium") + begin.count("hard") > 25 and "Solved" not in begin
    assert re.search(r"Level\s+Minutes\s+Page", begin)
    exercise = place(book, f"{KEY}--ex-spot-gradient")
    assert re.search(rf"3\.3 Spot the bug\s*spot_gradient\s+\w+\s+\d+\s+{exercise}\b", begin)


def test_the_pdf_says_who_and_what_but_not_when(book):
    reader = book.reader
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
    assert reader.metadata.title == config["title"] and reader.metadata.author == config["author"]
    assert not {"/CreationDate", "/ModDate"} & set(reader.metadata)
    assert reader.trailer["/Root"]["/Lang"] == "en" and reader.trailer["/Root"]["/MarkInfo"]["/Marked"]
    assert {tuple(round(side / 72 * 25.4) for side in page.mediabox[2:]) for page in reader.pages} == {(210, 297)}


def below(node):
    """The elements of a tagged PDF below one of them."""
    for each in node.get("/K", []) if isinstance(node.get("/K", []), list) else [node["/K"]]:
        if isinstance(element := each.get_object(), dict) and element.get("/Type") == "/StructElem":
            yield element
            yield from below(element)


def test_the_cells_of_a_table_name_its_heads(book):
    tree = book.reader.trailer["/Root"]["/StructTreeRoot"]
    elements = list(below(tree))
    heads = [element["/ID"] for element in elements if "/ID" in element]
    given = [each.get_object() for element in elements for each in element.get("/A", [])]
    named = [head for attributes in given for head in attributes.get("/Headers", [])]
    listed = [name for kid in tree["/IDTree"]["/Kids"] for name in kid.get_object()["/Names"]]
    assert heads == listed[::2] == sorted(set(heads)) and len(heads) > 10
    assert [reference.get_object()["/ID"] for reference in listed[1::2]] == heads
    assert len(named) > 100 and set(named) <= set(heads)


class Forgetful:
    """A browser in whose window other things have happened: it cannot fetch its fonts any more, and has counted further."""

    def __init__(self, chromium):
        self.chromium = chromium

    def new_page(self, **options):
        page = self.chromium.new_page(**options)
        printed = page.pdf

        def forget(**options):
            page.route("**/*.woff*", lambda route: route.abort())
            session = page.context.new_cdp_session(page)
            session.send("Network.setCacheDisabled", {"cacheDisabled": True})
            session.send("DOM.getDocument", {"depth": -1})  # gives every element a number
            return printed(**options)

        page.pdf = forget
        return page


@pytest.mark.thorough
def test_the_same_pages_give_the_same_bytes_whatever_the_window_has_seen(book, chromium, small, monkeypatch):
    monkeypatch.setattr(check, "compare", lambda *given: check.Report([], {}))  # the same bytes hold the same text
    parts = pdf.chosen(pdf.parts(ROOT), PRINTED)
    content, _ = pdf.checked(Forgetful(chromium), small, parts, pdf.settings(ROOT))
    assert first_difference(content, book.path.read_bytes()) == ""


def test_a_paragraph_that_does_not_print_is_an_error(chromium, small, tmp_path):
    """Whether it is lost in the book alone or by a rule for paper, which hides it on its own page, too."""
    copy = tmp_path / "site"
    (copy / "chapters").mkdir(parents=True)
    (copy / "chapters" / "running.html").write_bytes((small / "chapters" / "running.html").read_bytes())
    (copy / "_static").mkdir()
    for source in (small / "_static").iterdir():
        (copy / "_static" / source.name).symlink_to(source)
    sheet = copy / "_static" / "paper.css"
    sheet.unlink()
    top = "run-the-cells-in-your-browser"
    rules = f"#chapters-running--{top} > p:first-of-type, [id$={top}] > p:last-of-type {{ display: none }}\n"
    sheet.write_text((small / "_static" / "paper.css").read_text(encoding="utf-8") + rules, encoding="utf-8")
    with pytest.raises(pdf.PdfError, match="chapters/running: 'everypagewithabutton.*chapters/running: 'onechapteropensatrained"):
        pdf.checked(chromium, copy, pdf.chosen(pdf.parts(ROOT), ["chapters/running"]), pdf.settings(ROOT))


def test_a_reader_without_scripts_prints_everything_that_is_folded_or_behind_a_slider(book, chromium, small):
    context = chromium.new_context(java_script_enabled=False, color_scheme="dark")
    page = context.new_page()
    with browser.served(small) as address:
        page.goto(f"{address}{CHAPTER}.html")
        reader = pypdf.PdfReader(io.BytesIO(page.pdf(tagged=True, prefer_css_page_size=True)))
    context.close()
    pages = [check.plain(sheet.extract_text()) for sheet in reader.pages]
    said = book.said[PRINTED.index(CHAPTER)]
    assert check.lost_text(said["texts"], pages) == [] and check.lost_characters(said, pages) == []
    assert len([text for (text, *_) in said["texts"] if re.match(r"\d of \d\. ", text)]) >= 5
    described = {check.plain(alt) for alt in check.descriptions(reader)}
    assert {check.plain(alt) for alt in said["pictures"]} <= described and len(described) > 5


def white_and_whole(chromium, address, name):
    seen = {}
    page = chromium.new_page(viewport={"width": TEXT_WIDTH, "height": 900})
    for scheme in ("light", "dark"):
        page.emulate_media(media="screen", color_scheme=scheme)
        page.goto(f"{address}{name}.html")
        browser.settle(page)
        assert page.evaluate("document.documentElement.dataset.theme") == scheme
        page.emulate_media(media="print", color_scheme=scheme)
        seen[scheme] = page.evaluate(SEEN)
        if scheme == "light":
            assert page.evaluate("[...document.querySelectorAll('.step')].every(step => step.getClientRects().length)")
            assert page.evaluate(CUT, TEXT_WIDTH) == []
            assert page.evaluate("document.documentElement.scrollWidth") <= TEXT_WIDTH
    page.close()
    assert len(seen["light"]) > 20
    assert [pair for pair in zip(seen["light"], seen["dark"], strict=True) if pair[0] != pair[1]] == []


def test_paper_is_white_for_a_reader_of_the_dark_scheme_and_nothing_is_cut_off(chromium, small):
    with browser.served(small) as address:
        white_and_whole(chromium, address, CHAPTER)


@pytest.mark.thorough
@pytest.mark.parametrize("name", [page for part in pdf.parts(ROOT) for page in part["pages"]])
def test_every_page_is_white_and_whole_on_paper(name, chromium, address):
    white_and_whole(chromium, address, name)


# Which answers stand under their questions, which at the end, and what is folded or still to be fetched
STATE = """() => [
    document.querySelectorAll("article .predict > details.answer").length,
    document.querySelectorAll("article .exercise > .exercise-helps").length,
    [...document.querySelectorAll("article .at-the-end > h2")].map((title) => title.textContent),
    document.querySelectorAll("article .at-the-end :is(details.answer, .exercise-helps)").length,
    document.querySelectorAll("article details:not([open])").length,
    document.querySelectorAll("img[loading=lazy]").length,
]"""


def test_before_printing_answers_go_to_the_end_and_all_is_open_and_afterwards_it_is_as_it_was(chromium, small):
    page = chromium.new_page()
    with browser.served(small) as address:
        page.goto(f"{address}{CHAPTER}.html")
        browser.settle(page)
        page.locator("article .predict > details.answer").first.evaluate("box => { box.open = true }")
        ids = "[...document.querySelectorAll('article [id]')].map(element => element.id)"
        before, order = page.evaluate(STATE), page.evaluate(ids)
        *where, folded, late = before
        numbers = numbers_of_questions(small)
        assert where == [len(numbers), 1, [], 0] and folded > 5 and late > 3
        page.emulate_media(media="print")
        for _ in range(2):  # a browser may say so twice
            page.evaluate("dispatchEvent(new Event('beforeprint'))")
            assert page.evaluate(STATE) == [0, 0, ["Answers", "Hints and solutions"], len(numbers) + 1, 0, 0]
        assert page.locator("article .at-the-end details.answer li").first.is_visible()
        questions = page.locator("article .predict").all_inner_texts()
        assert [text.split("\n")[-1] for text in questions] == [f"Answer {n}: at the end" for n in numbers]
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert page.evaluate(STATE) == [*where, folded, 0] and page.evaluate(ids) == order
    page.close()


@pytest.mark.thorough
def test_the_whole_book_prints(chromium, site, tmp_path):
    output = tmp_path / "book.pdf"
    call = [sys.executable, "-m", "tools.printing.pdf", "--site", site, "--output", output]
    done = subprocess.run(call, cwd=ROOT, capture_output=True, text=True, encoding="utf-8", timeout=3600)
    assert (done.returncode, done.stderr) == (0, "")
    reader = pypdf.PdfReader(output)
    texts = [sheet.extract_text() for sheet in reader.pages]
    book = SimpleNamespace(reader=reader, counts=counted(done.stdout), texts=texts)
    printed = [page for part in pdf.on_paper(pdf.parts(ROOT)) for page in part["pages"]]
    assert book.counts["chapters"] == len(printed) and book.counts["pages"] > 400
    index = place(book, "chapters-exercises")
    rows = re.findall(r"(?:easy|medium|hard) +\d+ +(\d+)$", "\n".join(book.texts[index - 1 : index + 1]), re.M)
    assert len(rows) > 60 and all(1 < int(number) < index for number in rows)
    whole = "\n".join(book.texts)
    assert len(re.findall(r"Answer \d+: page \d+", whole)) == whole.count("to the question on page") > 80


def test_a_difference_of_two_files_is_named(book):
    content = book.path.read_bytes()
    other = content.replace(b"/Lang (en)", b"/Lang (de)")
    assert first_difference(content, content) == ""
    assert re.search(r"object 1, from letter \d+: .*'/Lang': 'en'.*, .*'/Lang': 'de'", first_difference(content, other))
