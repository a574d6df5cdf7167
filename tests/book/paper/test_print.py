"""The book in one PDF and the site in one zip file: what goes in, what is noticed if it is missing, who links there."""

import contextlib
import re
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from book import paper
from tools import browser
from tools.printing import check, pdf
from tools.site import pack

ROOT = Path(__file__).resolve().parents[3]


def small_site(folder):
    (folder / "chapters").mkdir(parents=True)
    (folder / "index.html").write_text("<p>first</p>")
    (folder / "chapters" / "one.html").write_text("<p>one</p>")
    return folder


def test_the_zip_is_the_site_byte_for_byte_in_one_folder(tmp_path):
    site = small_site(tmp_path / "site")
    assert pack.pack(site, tmp_path / "book.zip") == 3
    with zipfile.ZipFile(tmp_path / "book.zip") as archive:
        packed = {name: archive.read(name) for name in archive.namelist()}
    assert packed.pop("book/start.py") == pack.START.read_bytes()
    assert packed == {f"book/{path.relative_to(site).as_posix()}": path.read_bytes() for path in site.rglob("*") if path.is_file()}


def test_the_same_site_gives_the_same_zip_whatever_its_files_times(tmp_path):
    pack.pack(small_site(tmp_path / "a"), tmp_path / "a.zip")
    site = small_site(tmp_path / "b")
    (site / "index.html").touch(mode=0o600)
    (site / "index.html").chmod(0o600)
    pack.pack(site, tmp_path / "c" / "a.zip")
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "c" / "a.zip").read_bytes()


@pytest.mark.parametrize("tool", [pack, pdf])
def test_without_a_site_one_sentence_and_no_file(tool, tmp_path, capsys):
    output = tmp_path / "old"
    output.write_text("the book of yesterday")
    assert tool.main(["--site", str(tmp_path / "nowhere"), "--output", str(output)]) == 1
    assert capsys.readouterr().err == f"{tool.__name__.rpartition('.')[2]}: there is no site; run: make book\n"
    assert not list(tmp_path.iterdir())


def test_without_a_browser_one_sentence_and_no_pdf(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(browser, "chromium", lambda: None)
    output = tmp_path / "old.pdf"
    output.write_text("the book of yesterday")
    assert pdf.main(["--site", str(small_site(tmp_path / "site")), "--output", str(output)]) == 1
    said = capsys.readouterr().err
    assert said.startswith("pdf: printing needs Chromium or Chrome, and none was found (looked for chromium,") and said.count("\n") == 1
    assert not output.exists()


def test_the_pages_of_the_book_are_those_of_the_contents_in_their_order():
    lines = (ROOT / "_toc.yml").read_text(encoding="utf-8").splitlines()
    named = [line.split(": ")[1] for line in lines if line.strip().startswith(("root:", "- file:"))]
    captions = [line.split(": ")[1] for line in lines if "caption:" in line]
    parts = pdf.parts(ROOT)
    assert [page for part in parts for page in part["pages"]] == named
    assert [part["caption"] for part in parts] == ["", *captions]


def test_what_repeats_the_chapters_on_the_screen_is_not_printed(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(pdf.browser, "chromium", lambda: "chromium")
    monkeypatch.setattr(pdf.browser, "launched", contextlib.nullcontext)
    monkeypatch.setattr(pdf, "checked", lambda chromium, site, parts, settings: asked.extend(parts) or (b"", {}))
    pdf.make(small_site(tmp_path / "site"), tmp_path / "book.pdf")
    every = [page for part in pdf.parts(ROOT) for page in part["pages"]]
    assert set(every) - {page for part in asked for page in part["pages"]} == {"chapters/review"}


def test_pages_of_the_book_can_be_printed_alone_in_their_order():
    parts = pdf.on_paper(pdf.parts(ROOT))
    found = pdf.chosen(parts, ["chapters/api/softmax", "chapters/02_attention", "chapters/01_softmax"])
    assert [part["pages"] for part in found] == [["chapters/01_softmax", "chapters/02_attention"], ["chapters/api/softmax"]]
    assert [part["caption"] for part in found] == ["Chapters", "Reference"]


@pytest.mark.parametrize("name", ["chapters/review", "chapters/nowhere"])
def test_a_page_that_the_book_does_not_have_is_named_and_nothing_is_printed(name, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(browser, "chromium", lambda: "chromium")
    output = tmp_path / "old.pdf"
    output.write_text("the book of yesterday")
    options = ["--site", str(small_site(tmp_path / "site")), "--output", str(output), "--pages", "chapters/index", name]
    assert pdf.main(options) == 1
    assert capsys.readouterr().err.startswith(f"pdf: {name} is no page of the printed book") and not output.exists()


def test_a_lost_sentence_a_lost_line_and_a_lost_formula_are_noticed():
    pages = ["Scores be", "come weights.", "p = e"]
    assert check.lost_text([["Scores become weights."], ["weights."]], list(map(check.plain, pages))) == []
    assert check.lost_text([["Weights become scores."]], list(map(check.plain, pages))) == ["'weightsbecomescores.'"]
    assert check.lost_text([["Scores become"], ["Scores", "outputs"]], list(map(check.plain, pages))) == ["'outputs'"]
    said = {"texts": [["Scores become weights."]], "formulas": ["𝑝=𝑒"]}
    assert check.lost_characters(said, list(map(check.plain, pages))) == []
    assert check.lost_characters(said | {"formulas": ["𝑝=𝑒", "𝑝"]}, list(map(check.plain, pages))) == ["'p' (1 times)"]


def test_a_text_may_go_on_over_several_pages_but_not_skip_one():
    assert check.goes_on("abcdef", ["xab", "cd", "efy"])
    assert not check.goes_on("abcdef", ["xab", "", "cdef"])
    assert not check.goes_on("abcdefg", ["xab", "cd", "efy"])


def test_letters_are_compared_by_what_they_say():
    assert check.plain("[P\u0303] t") == check.plain("[P\x00]\nt") == "[p]t"
    assert check.plain("The library’s\u00a0\u2061𝑄𝐾 \ufb01t") == check.plain("THE LIBRARYʼS QK fit")
    assert check.plain("‖𝑥‖") == check.plain("∥x∥") != check.plain("|x|")


def test_each_character_of_a_formula_is_printed_as_what_it_is_called(site):
    """A style sheet prints the glyphs of formulas. Where it prints a look-alike, the comparison has to know it."""
    style = (site / "_static" / "style.css").read_text(encoding="utf-8")
    glyphs = re.findall(r'\.c([0-9A-F]+)(?:\.TEX-\w+)?::before\{[^}]*content:\s*"((?:\\.|[^"])*)"', style)
    escapes = re.compile(r"\\(?:([0-9a-fA-F]{1,6}) ?|(.))")
    printed = {chr(int(code, 16)): escapes.sub(lambda found: found[2] or chr(int(found[1], 16)), text) for code, text in glyphs}
    assert len(printed) > 100
    assert {name: text for name, text in printed.items() if check.plain(name) != check.plain(text)} == {}


def test_paper_has_the_colours_of_the_light_scheme_whatever_is_chosen():
    style = ':root{--a: #eee; --c: 1px}html[data-theme="light"]{--b:#fff}p{color:red}html[data-theme=dark]{--a:#000}b[data-theme=light] i{--d:1}'
    assert paper.light_rules(style) == "html[data-theme]{--a:#eee}\nhtml[data-theme]{--b:#fff}\nb[data-theme] i{--d:1}\n"
    with pytest.raises(paper.ExtensionError, match="no colours"):
        paper.light_rules("p{color:red}")


def test_the_sheet_for_print_holds_up_no_page_and_the_script_comes_where_it_is_needed(site):
    for path in [site / "chapters" / "01_softmax.html", site / "chapters" / "bibliography.html", site / "404.html"]:
        text = path.read_text(encoding="utf-8")
        assert text.count('<link rel="stylesheet" media="print" href="') == 1
        folded = "<details" in text[text.index("<article") : text.index("</article>")] if "<article" in text else False
        assert text.count("_static/paper.js") == folded
    assert "_static/paper.js" in (site / "chapters" / "01_softmax.html").read_text(encoding="utf-8")


@pytest.mark.parametrize("address", ["https://github.com/somebody/book", "https://github.com/somebody/book/"])
def test_the_footer_leads_to_the_files_of_the_newest_release(address):
    config = SimpleNamespace(html_theme_options={"repository_url": address, "extra_footer": "<p>Licence</p>"})
    paper.link_files(None, config)
    footer = config.html_theme_options["extra_footer"]
    assert footer.startswith("<p>Licence</p><p><a ")
    for name in ("attention-derived.pdf", "attention-derived.zip"):
        assert f'"https://github.com/somebody/book/releases/latest/download/{name}"' in footer


def test_without_an_address_the_footer_is_as_it_was():
    config = SimpleNamespace(html_theme_options={"repository_url": "", "extra_footer": "<p>Licence</p>"})
    paper.link_files(None, config)
    assert config.html_theme_options["extra_footer"] == "<p>Licence</p>"


def test_every_release_gets_both_files_made_from_the_site_that_was_checked():
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8"))["jobs"]
    checked = yaml.safe_load((ROOT / ".github" / "workflows" / "check.yml").read_text(encoding="utf-8"))["jobs"]["test"]["steps"][-1]["with"]
    assert jobs["check"] == {"uses": "./.github/workflows/check.yml", "with": {"thorough": True}}
    job = jobs["attach"]
    assert job["needs"] == "check" and job["permissions"] == {"contents": "write"}
    loads = [step["with"] for step in job["steps"] if "download-artifact" in step.get("uses", "")]
    assert loads == [{"name": checked["name"], "path": checked["path"]}]
    runs = [step["run"] for step in job["steps"] if "run" in step]
    assert runs[1:3] == ["python -m tools.printing.pdf", "python -m tools.site.pack"] and not any("site.build" in run or "make" in run for run in runs)
    for name in paper.FILES:
        assert f"_build/{name}" in runs[3]
        assert (pdf if name.endswith("pdf") else pack).__doc__.count(f"_build/{name}") == 1
