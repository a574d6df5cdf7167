"""Print the built book into one PDF: contents, outline, page numbers, and links that work inside it.

    python -m tools.printing.pdf [--site _build/html] [--output _build/attention-derived.pdf] [--pages PAGE ...]

Chromium makes one document of the pages of `_toc.yml` and prints it twice: the second time with the numbers of the
pages that the first one had. Then the PDF is compared with the site: every paragraph, every cell of a table, every
character of a formula and every picture has to be in it. All or nothing: after a failure there is no PDF.
The same site gives the same bytes, with the same Chromium: nothing in the PDF tells the time.
"""

import argparse
import importlib.metadata
import io
import logging
import os
import sys
import time
from pathlib import Path

import yaml

from tools import browser

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
PRINT = {"prefer_css_page_size": True, "print_background": True, "tagged": True}
PATIENCE = 600_000  # ms; a busy machine is no failure
ON_SCREEN = {"chapters/review"}  # repeats what stands in the chapters, for somebody who can commit to an answer


class PdfError(Exception):
    """The book could not be printed; the message is one sentence."""


def parts(root):
    """The parts of the book: [{caption, pages}], the first page alone in the first, which has no caption."""
    contents = yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))

    def below(entries):
        return [page for entry in entries for page in [entry["file"], *below(entry.get("sections", []))]]

    found = [{"caption": part["caption"], "pages": below(part["chapters"])} for part in contents["parts"]]
    return [{"caption": "", "pages": [contents["root"]]}, *found]


def on_paper(parts):
    """The parts without the pages that say nothing on paper."""
    return [part | {"pages": [page for page in part["pages"] if page not in ON_SCREEN]} for part in parts]


def chosen(parts, names):
    """The parts with these pages alone, in the order of the book."""
    every = [page for part in parts for page in part["pages"]]
    if unknown := [name for name in names if name not in every]:
        raise PdfError(f"{unknown[0]} is no page of the printed book; a page is called, for example, {every[-1]}")
    found = [part | {"pages": [page for page in part["pages"] if page in names]} for part in parts]
    return [part for part in found if part["pages"]]


def settings(root):
    config = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))
    citation = yaml.safe_load((root / "CITATION.cff").read_text(encoding="utf-8"))
    return {
        "title": config["title"],
        "author": config["author"],
        "version": f"Version {citation['version']}",
        "notes": [citation["abstract"], "Text and figures: CC BY 4.0. Code: BSD 3-Clause."],
    }


def printed(page, address, parts, settings):
    """The book as the browser prints it, in bytes, its outline, and the numbers of pages that stand in it.

    `page` shows any page of the site at this address.
    """
    import pypdf
    from playwright.sync_api import Error

    page.add_style_tag(content=(HERE / "book.css").read_text(encoding="utf-8"))
    try:
        page.add_script_tag(url=f"{address}_static/paper.js")  # the page may have done without it
        page.add_script_tag(content=(HERE / "book.js").read_text(encoding="utf-8") + "globalThis.book = book;")
        outline = page.evaluate("settings => book.assemble(settings)", {"root": address, "parts": parts, **settings})
        browser.settle(page)
        filled = numbers(pypdf.PdfReader(io.BytesIO(page.pdf(**PRINT | {"tagged": False}))))
        page.evaluate("numbers => book.fill(numbers)", filled)
        return page.pdf(**PRINT), outline, filled
    except Error as error:
        raise PdfError(f"the pages cannot be put together: {error.message.splitlines()[0]}") from error


def numbers(reader):
    """{name: number of its page} of all places that a link in the document leads to."""
    places = reader.named_destinations.items()
    return {name.lstrip("/"): reader.get_destination_page_number(place) + 1 for name, place in places}


def finished(content, outline, filled, settings):
    """The PDF with outline, title and author, without what depends on when it was printed, in bytes."""
    import pypdf

    from tools.printing import ids

    reader = pypdf.PdfReader(io.BytesIO(content))
    places = numbers(reader)
    if places != filled:
        raise PdfError("the numbers of the pages changed when they were filled in")
    tops = {name.lstrip("/"): place.get("/Top") for name, place in reader.named_destinations.items()}
    writer = pypdf.PdfWriter(clone_from=reader)

    def add(title, id, parent=None, is_open=False):
        if id not in places:
            raise PdfError(f"the outline leads nowhere: {title}")
        fit = pypdf.generic.Fit.xyz(left=0, top=tops[id])
        return writer.add_outline_item(title=title, page_number=places[id] - 1, parent=parent, fit=fit, is_open=is_open)

    add("Contents", "contents")
    for part in outline:
        chapters = part["chapters"]
        parent = add(part["caption"], chapters[0]["id"], is_open=True) if part["caption"] else None
        for chapter in chapters:
            entry = add(chapter["title"], chapter["id"], parent)
            for section in chapter["sections"]:
                inner = add(section["title"], section["id"], entry)
                for subsection in section["sections"]:
                    add(subsection["title"], subsection["id"], inner)
    writer.metadata = {"/Title": settings["title"], "/Author": settings["author"], "/Creator": "Chromium and pypdf"}
    writer.page_mode = "/UseOutlines"
    writer.create_viewer_preferences().display_doctitle = True
    ids.renumber(writer.root_object["/StructTreeRoot"])
    result = io.BytesIO()
    writer.write(result)
    return result.getvalue()


def make(site, output, root=ROOT, names=None):
    """Print the book, or of it the pages of these names.

    Returns what was checked and how much. Raises `PdfError`; then there is no `output`.
    """
    site, output = Path(site).resolve(), Path(output).resolve()
    output.unlink(missing_ok=True)
    if not (site / "index.html").is_file():
        raise PdfError("there is no site; run: make book")
    if browser.chromium() is None:
        raise PdfError(f"printing needs Chromium or Chrome, and none was found (looked for {', '.join(browser.NAMES)})")
    for name in ("playwright", "pypdf"):
        try:
            importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            raise PdfError(f"the package {name} is missing; run: pip install -r requirements.txt") from None
    printable = on_paper(parts(root))
    if names:
        printable = chosen(printable, names)
    with browser.launched() as chromium:
        content, counts = checked(chromium, site, printable, settings(root))
    output.parent.mkdir(parents=True, exist_ok=True)
    scratch = output.with_name(f".{output.name}.{os.getpid()}")
    try:
        scratch.write_bytes(content)
        os.replace(scratch, output)
    finally:
        scratch.unlink(missing_ok=True)
    return counts


def checked(chromium, site, parts, settings):
    """These parts of the book as a PDF that holds all of them, in bytes, and what was counted. Raises `PdfError`."""
    from tools.printing import check

    logging.getLogger("pypdf").setLevel(logging.ERROR)  # Chromium counts the objects of a tagged file a little short
    names = [page for part in parts for page in part["pages"]]
    with browser.served(site) as address:
        page = chromium.new_page(viewport={"width": 800, "height": 1000}, color_scheme="light")
        page.set_default_timeout(PATIENCE)
        page.goto(f"{address}{names[0]}.html")
        browser.settle(page)  # its scripts change it, and must not do so while the book is put together
        said = check.spoken(page, site, names)
        content, outline, filled = printed(page, address, parts, settings)
        page.close()
    content = finished(content, outline, filled, settings)
    report = check.compare(content, said, outline, names)
    if report.problems:
        raise PdfError("the PDF is not the site: " + "; ".join(report.problems[:5]))
    return content, report.counts


def main(arguments=None):
    parser = argparse.ArgumentParser(description="Print the built book into one PDF.")
    parser.add_argument("--site", type=Path, default=ROOT / "_build" / "html", help="default: _build/html")
    output = ROOT / "_build" / "attention-derived.pdf"
    parser.add_argument("--output", type=Path, default=output, help="default: _build/attention-derived.pdf")
    example = "for example chapters/01_softmax; default: the whole book"
    parser.add_argument("--pages", nargs="+", metavar="PAGE", help=f"print these pages alone, {example}")
    options = parser.parse_args(arguments)
    start = time.perf_counter()
    try:
        counts = make(options.site, options.output, names=options.pages)
    except PdfError as error:
        print(f"pdf: {error}", file=sys.stderr)
        return 1
    size = options.output.stat().st_size / 1e6
    found = ", ".join(f"{number} {name}" for name, number in counts.items())
    print(f"pdf: {found}, {size:.1f} MB, {time.perf_counter() - start:.0f} s: {options.output}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
