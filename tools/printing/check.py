"""Is everything that the pages of the site say in the PDF?

What a page says is what its reader sees, on the screen or on paper, as the browser shows it (blocks.js). Each run of
text of each block (paragraph, item, cell, line of code, caption, heading, label of a diagram) has to be found in the
pages of its chapter, spaces aside. Each character, those of formulas with the rest, has to be there as often as on the
page of the site. Each picture is found by its description. Each page has its number and its head.
"""

import io
import unicodedata
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pypdf

BLOCKS = Path(__file__).with_name("blocks.js").read_text(encoding="utf-8")

UNSEEN = ("Cc", "Cf", "Mn")
# Characters that mean the same here, and of which a font may have only one.
ALIKE = str.maketrans(
    {
        "\u2225": "\u2016",  # MathJax prints the bars of a norm with the sign for parallel lines, which its font has
        "\u2019": "'",  # an apostrophe as typography wants it
        "\u02bc": "'",  # and as a letter
    }
)


class Report(NamedTuple):
    """What was found: sentences about what is wrong, and how much was checked."""

    problems: list
    counts: dict


def compare(content, said, outline, names):
    """Compare a PDF (its bytes) with what the pages of the site say that it was made of."""
    reader = pypdf.PdfReader(io.BytesIO(content))
    chapters = [chapter for part in outline for chapter in part["chapters"]]
    first = [start(reader, chapter["id"]) for chapter in chapters]
    texts, problems = running(reader, chapters, first)
    last = [*first[1:], len(reader.pages)]
    described = Counter(plain(alt) for alt in descriptions(reader))
    counts = Counter({"pages": len(reader.pages), "chapters": 0})
    for name, page, begin, end in zip(names, said, first, last, strict=True):
        found = lost_text(page["texts"], texts[begin:end])
        found += lost_characters(page, texts[begin:end])
        found += [f"the picture {alt[:60]!r}" for alt in page["pictures"] if not described[plain(alt)]]
        problems += [f"{name}: {fault} is missing" for fault in found]
        counts["chapters"] += 1
        counts["blocks of text"] += len(page["texts"])
        counts["formulas"] += len(page["formulas"])
        counts["pictures"] += len(page["pictures"])
    return Report(problems, dict(counts))


def start(reader, name):
    return reader.get_destination_page_number(reader.named_destinations["/" + name])


def spoken(page, site, names):
    """What each of these pages of a site says (see blocks.js), as the browser sees it in a page of that site."""
    page.add_script_tag(content=BLOCKS)
    said = []
    for name in names:
        page.evaluate("html => pieces.place(html)", (Path(site) / f"{name}.html").read_text(encoding="utf-8"))
        for medium in ("screen", "print"):
            page.emulate_media(media=medium)
            page.evaluate("pieces.look()")
        said.append(page.evaluate("pieces.read()"))
    page.emulate_media(media="null")
    return said


def running(reader, chapters, first):
    """The text of each page without its number and its head, and a sentence for each page that lacks one of them."""
    texts, problems = [], []
    for index, page in enumerate(reader.pages):
        text = plain(page.extract_text())
        heads = [chapter["title"] for chapter, begin in zip(chapters, first, strict=True) if begin <= index]
        expected = (plain(heads[-1]) if heads else "") + (str(index + 1) if index else "")
        if not text.startswith(expected):
            problems.append(f"page {index + 1} does not begin with its head and its number")
        texts.append(text.removeprefix(expected))
    return texts, problems


def plain(text):
    """The text without spaces and what is not seen; ligatures, mathematical letters and look-alikes in one form.

    Accents that are characters of their own are left out: pypdf reads them as a control character.
    """
    text = unicodedata.normalize("NFKC", text).translate(ALIKE)
    return "".join(each for each in text if not each.isspace() and unicodedata.category(each) not in UNSEEN).casefold()


def lost_text(blocks, pages):
    """The runs of text that are on no page, and do not go on from one page to the next."""
    whole = "\n".join(pages)
    runs = [run for block in blocks for run in map(plain, block)]
    return [f"{run[:60]!r}" for run in runs if run not in whole and not goes_on(run, pages)]


def goes_on(run, pages):
    """Does the text begin on one page and go on from page to page?"""
    for index in range(len(pages)):
        rest = run
        for page in pages[index:]:
            length = beginning(rest, page)
            rest = rest[length:]
            if not length or not rest:
                break
        if not rest:
            return True
    return False


def beginning(run, page):
    """How much of the beginning of the text is on the page."""
    low, high = 0, len(run)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if run[:middle] in page else (low, middle - 1)
    return low


def lost_characters(said, pages):
    """The characters that the pages have less often than the site."""
    everything = [run for block in said["texts"] for run in block] + said["formulas"]
    expected = Counter("".join(map(plain, everything)))
    found = Counter("".join(pages))
    return [f"{character!r} ({number} times)" for character, number in (expected - found).items()]


def descriptions(reader):
    """The descriptions of the pictures, from the tree of a tagged PDF."""
    waiting, seen = [reader.trailer["/Root"]["/StructTreeRoot"]["/K"]], []
    while waiting:
        node = waiting.pop().get_object()
        if isinstance(node, list):
            waiting += node
        elif isinstance(node, dict):
            seen += [node["/Alt"]] if "/Alt" in node else []
            waiting += [node["/K"]] if "/K" in node else []
    return seen
