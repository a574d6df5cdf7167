"""Print the built book into one PDF: contents, outline, page numbers, and links that work inside it.

    python tools/pdf.py [--site _build/html] [--output _build/attention-derived.pdf]

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

import browser
import yaml

ROOT = Path(__file__).resolve().parent.parent
HERE = Path(__file__).resolve().parent / "printing"
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


def settings(root):
    config = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))
    citation = yaml.safe_load((root / "CITATION.cff").read_text(encoding="utf-8"))
    return {
        "title": config["title"],
        "author": config["author"],
        "version": f"Version {citation['version']}",
        "notes": [citation["abstract"], "Text and figures: CC BY 4.0. Code: BSD 3-Clause."],
    }


def printed(chromium, site, parts, settings):
    """The book as Chromium prints it, in bytes, and its outline."""
    import pypdf
    from playwright.sync_api import Error

    with browser.served(site) as address:
        page = chromium.new_page(viewport={"width": 800, "height": 1000}, color_scheme="light")
        page.set_default_timeout(PATIENCE)
        page.goto(f"{address}{parts[0]['pages'][0]}.html")
        page.add_style_tag(content=(HERE / "book.css").read_text(encoding="utf-8"))
        page.add_script_tag(content=(HERE / "book.js").read_text(encoding="utf-8") + "globalThis.book = book;")
        try:
            given = {"root": address, "parts": parts, **settings}
            outline = page.evaluate("settings => book.assemble(settings)", given)
        except Error as error:
            raise PdfError(f"the pages cannot be put together: {error.message.splitlines()[0]}") from error
        browser.settle(page)
        first = pypdf.PdfReader(io.BytesIO(page.pdf(**PRINT | {"tagged": False})))
        page.evaluate("numbers => book.fill(numbers)", numbers(first))
        content = page.pdf(**PRINT)
        page.close()
    return content, outline


def numbers(reader):
    """{name: number of its page} of all places that a link in the document leads to."""
    places = reader.named_destinations.items()
    return {name.lstrip("/"): reader.get_destination_page_number(place) + 1 for name, place in places}


def finished(content, outline, settings):
    """The PDF with outline, title and author, without the time of printing, in bytes."""
    import pypdf

    reader = pypdf.PdfReader(io.BytesIO(content))
    places = numbers(reader)
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
    result = io.BytesIO()
    writer.write(result)
    return result.getvalue()


def make(site, output, root=ROOT):
    """Print the book. Returns what was checked and how much. Raises `PdfError`; then there is no `output`."""
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
    with browser.launched() as chromium:
        content, counts = checked(chromium, site, on_paper(parts(root)), settings(root))
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
    from printing import check

    logging.getLogger("pypdf").setLevel(logging.ERROR)  # Chromium counts the objects of a tagged file a little short
    content, outline = printed(chromium, site, parts, settings)
    content = finished(content, outline, settings)
    report = check.compare(chromium, content, site, outline, [page for part in parts for page in part["pages"]])
    if report.problems:
        raise PdfError("the PDF is not the site: " + "; ".join(report.problems[:5]))
    return content, report.counts


def main(arguments=None):
    parser = argparse.ArgumentParser(description="Print the built book into one PDF.")
    parser.add_argument("--site", type=Path, default=ROOT / "_build" / "html", help="default: _build/html")
    output = ROOT / "_build" / "attention-derived.pdf"
    parser.add_argument("--output", type=Path, default=output, help="default: _build/attention-derived.pdf")
    options = parser.parse_args(arguments)
    start = time.perf_counter()
    try:
        counts = make(options.site, options.output)
    except PdfError as error:
        print(f"pdf: {error}", file=sys.stderr)
        return 1
    size = options.output.stat().st_size / 1e6
    found = ", ".join(f"{number} {name}" for name, number in counts.items())
    print(f"pdf: {found}, {size:.1f} MB, {time.perf_counter() - start:.0f} s: {options.output}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
