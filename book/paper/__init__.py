"""Sphinx extension: every page prints as a page of a book, and the footer leads to the whole book where there is one.

* `paper.css` is asked for as a style sheet for print alone, so it holds up no page. With it go the rules of the light
  scheme, for a reader of the dark one too: paper is white.
* `paper.js` comes with the pages that fold something or fetch pictures late: before printing, all of it is there.
* The workflow `release.yml` attaches the book as one PDF and as a packed site to every release. The links to them need
  the address of the repository; without `repository.url` there are none.
"""

import hashlib
import re
from pathlib import Path

import tinycss2
from sphinx.errors import ExtensionError

HERE = Path(__file__).resolve().parent
FILES = {"attention-derived.pdf": "The book as a PDF", "attention-derived.zip": "all pages as a zip file"}
SHEET = re.compile(r'[ \t]*<link rel="stylesheet" href="([^"]*)_static/style\.css[^>]*>\n')
LIGHT = re.compile(r"""\[data-theme=["']?light["']?\]""")
DARK = re.compile(r"""\[data-theme=["']?dark["']?\]""")
VARIABLE = re.compile(r"(--[\w-]+)\s*:\s*([^;]+)")
FOLDED = re.compile(r'<details\b|\bloading="lazy"')


def setup(app):
    app.connect("config-inited", link_files, priority=400)  # before the theme's options are settled
    app.connect("build-finished", finish, priority=950)  # after the style sheets became one (light_pages)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def link_files(app, config):
    options = config.html_theme_options
    if address := (options.get("repository_url") or "").rstrip("/"):
        links = [f'<a href="{address}/releases/latest/download/{name}">{words}</a>' for name, words in FILES.items()]
        options["extra_footer"] = options.get("extra_footer", "") + f"<p>{', '.join(links)}.</p>"


def finish(app, exception):
    if exception is not None or app.builder.format != "html":
        return
    site = Path(app.outdir)
    static = site / "_static"
    style = static / "style.css"
    if not style.is_file():
        raise ExtensionError("_static/style.css is missing: book/paper takes the light colours of print from it")
    print_sheet = light_rules(style.read_text(encoding="utf-8")) + (HERE / "paper.css").read_text(encoding="utf-8")
    script = (HERE / "paper.js").read_text(encoding="utf-8")
    (static / "paper.css").write_text(print_sheet, encoding="utf-8")
    (static / "paper.js").write_text(script, encoding="utf-8")
    for path in sorted(site.rglob("*.html")):
        if static not in path.parents:
            text = path.read_text(encoding="utf-8")
            path.write_text(printable(text, version(print_sheet), version(script)), encoding="utf-8")


def version(text):
    return hashlib.sha256(text.encode()).hexdigest()[:8]


def light_rules(style):
    """The rules of the light scheme, for whatever scheme is chosen; also what is light where nothing darkens it."""
    rules = tinycss2.parse_stylesheet(style, skip_comments=True, skip_whitespace=True)
    rules = [rule for rule in rules if rule.type == "qualified-rule"]
    rules = [(tinycss2.serialize(rule.prelude).strip(), tinycss2.serialize(rule.content)) for rule in rules]
    darkened = {name for selector, body in rules if DARK.search(selector) for name, _ in VARIABLE.findall(body)}
    text = ""
    for selector, body in rules:
        if LIGHT.search(selector):
            text += f"{LIGHT.sub('[data-theme]', selector)}{{{body}}}\n"
        elif selector == ":root":
            kept = [f"{name}:{value}" for name, value in VARIABLE.findall(body) if name in darkened]
            text += f"html[data-theme]{{{';'.join(kept)}}}\n" if kept else ""
    if not text:
        raise ExtensionError("_static/style.css has no rules for the light scheme: paper would have no colours")
    return text


def printable(text, sheet_version, script_version):
    """The page with the style sheet for print and, where something has to be unfolded or fetched, the script."""

    def add(found):
        added = f'  <link rel="stylesheet" media="print" href="{found[1]}_static/paper.css?v={sheet_version}">\n'
        if FOLDED.search(text, text.find("<article")):
            added += f'  <script defer src="{found[1]}_static/paper.js?v={script_version}"></script>\n'
        return found[0] + added

    return SHEET.sub(add, text, count=1)
