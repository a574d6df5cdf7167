"""A small book for the tests of print: the site of its three pages, and the PDF that the command makes of them."""

import contextlib
import io
import re
from types import SimpleNamespace

import pypdf
import pytest

from three_pages import CHAPTER, PRINTED, SECTIONS, counted, shortened
from tools import browser
from tools.printing import check, pdf


@pytest.fixture(scope="session")
def small(site, tmp_path_factory):
    """The pages to be printed as a site of their own, with links to what is in it."""
    folder = tmp_path_factory.mktemp("site")
    pages = {name: (site / f"{name}.html").read_text(encoding="utf-8") for name in ["index", *PRINTED]}
    pages[CHAPTER], gone = shortened(pages[CHAPTER])
    assert all(f'<section id="{name}">' in pages[CHAPTER] for name in SECTIONS)
    dead = re.compile(rf' href="(?:[\w./]*{CHAPTER.split("/")[1]}\.html)?#(?:{"|".join(map(re.escape, sorted(gone)))})"')
    for name, text in pages.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.html").write_text(dead.sub("", text), encoding="utf-8")
    for source in [*(site / "_static").iterdir(), *(site / "_images").iterdir()]:
        target = folder / source.relative_to(site)
        target.parent.mkdir(exist_ok=True)
        target.symlink_to(source)
    return folder


@pytest.fixture(scope="session")
def book(chromium, small, tmp_path_factory):
    """Three pages as a book, from the command of `make pdf` with the browser that is running already.

    Reading a PDF takes longer than printing it, so the tests look at what the command has read.
    """
    output, line, texts, said = tmp_path_factory.mktemp("paper") / "book.pdf", io.StringIO(), [], []
    read, spoken = pypdf.PageObject.extract_text, check.spoken
    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(line):
        patch.setattr(browser, "launched", lambda: contextlib.nullcontext(chromium))
        patch.setattr(pypdf.PageObject, "extract_text", lambda page: texts.append(read(page)) or texts[-1])
        patch.setattr(check, "spoken", lambda *given: said.extend(spoken(*given)) or said)
        assert pdf.main(["--site", str(small), "--output", str(output), "--pages", *PRINTED]) == 0
    return SimpleNamespace(path=output, reader=pypdf.PdfReader(output), counts=counted(line.getvalue()), texts=texts, said=said)
