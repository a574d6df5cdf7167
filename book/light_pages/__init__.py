"""Sphinx extension: a page asks for little, shows its text at once, and does not move while the rest arrives.

When all files are written, it goes through the pages. Pictures get their sizes (`pictures`), scripts that a page does
not use are taken out and the others wait (`scripts`), the style sheets become one that holds what is used
(`style_sheet`), icons are drawn (`icons`), code has elements for coloured words alone (`plain_code`), and what only writers of
templates read goes (`markup`), as in the files of figures (`drawings`). Files that no page asks for any more are removed.
"""

import hashlib
import importlib.metadata
import os
import re
import shutil
from functools import cache
from pathlib import Path

import PIL

from book.cache import digest
from book.light_pages import drawings, icons, markup, pictures, plain_code, scripts, style_sheet
from book.static_files import add_styles, classes_of_scripts

LINK = re.compile(r'[ \t]*<link\b(?=[^>]*\brel="stylesheet")[^>]*\bhref="([^"?]*)[^>]*>\n?')
NAMES = re.compile(r'\b(?:class|id)="([^"]*)"')
CODE = re.compile(r"<script\b[^>]*>(.+?)</script>", re.S)


def setup(app):
    app.setup_extension("book.cache")
    add_styles(app, Path(__file__).parent, "icons.css")
    app.connect("build-finished", finish, priority=900)  # after the extensions that write files of their own
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def finish(app, exception):
    if exception is not None or app.builder.format != "html":
        return
    site = Path(app.outdir).resolve()
    static = site / "_static"
    drawing = icons.Icons((static / icons.SCRIPT).read_text(encoding="utf-8"))
    pages = {path: path.read_text(encoding="utf-8") for path in sorted(site.rglob("*.html")) if static not in path.parents}
    all_scripts = asked_for(pages, scripts.SCRIPT)
    options = app.config.html_theme_options
    styles = [options[f"pygments_{scheme}_style"] for scheme in ("light", "dark")]
    plain, twins = plain_code.plain_classes(styles), plain_code.twins(styles)
    used_with = scripts.USED_WITH | classes_of_scripts(app)
    for path, text in pages.items():
        text = plain_code.unwrapped(pictures.sized(text, path, site / "_images"), plain, twins)
        pages[path] = markup.lean(drawing.on_page(scripts.lean(text, used_with)))
    used_scripts = asked_for(pages, scripts.SCRIPT)
    theme = static / scripts.THEME
    theme.write_text(theme.read_text(encoding="utf-8").replace(scripts.STOPS, scripts.NO_STOPS), encoding="utf-8")
    pages = with_one_sheet(pages, static, words(pages, used_scripts), drawing, app.kept)
    for path, text in pages.items():
        path.write_text(plain_code.short(text), encoding="utf-8")
    for path in all_scripts - used_scripts | set(static.rglob("*.css")) - asked_for(heads(pages), LINK):
        path.unlink()
    shutil.rmtree(static / icons.FONTS, ignore_errors=True)
    thin_figures(site / "_images", app.kept)


def thin_figures(folder, kept):
    version = digest(Path(drawings.__file__), PIL.__version__)
    for path in sorted(folder.glob("*.svg")):
        path.write_text(kept.get(drawings.thinned, path.read_text(encoding="utf-8"), version=version), encoding="utf-8")


def heads(pages):
    """Where a page asks for style sheets: its head, a small part of it."""
    return {path: text.partition(scripts.END_OF_HEAD)[0] for path, text in pages.items()}


def asked_for(pages, pattern):
    """The files that the pages ask for, with the addresses that the pattern finds."""
    return {whole(path.parent, address) for path, text in pages.items() for address in pattern.findall(text)}


@cache
def whole(folder, address):
    """The file at an address that is relative to a folder. Hundreds of pages ask for the same few files."""
    return Path(os.path.normpath(folder / address))


def words(pages, used_scripts):
    """All classes and ids of the pages, the variables that they read, and every word of the scripts."""
    found = set()
    for text in [*pages.values(), *(f"<script>{path.read_text(encoding='utf-8')}</script>" for path in sorted(used_scripts))]:
        found.update(" ".join(NAMES.findall(text)).split(), style_sheet.READ.findall(text))
        found.update(*(re.findall(r"[\w-]+", part) for part in CODE.findall(text)))
    return found


def with_one_sheet(pages, static, words, drawing, kept):
    """Write the one style sheet and return the pages with a link to it."""
    lists = {path: [whole(path.parent, address) for address in LINK.findall(head)] for path, head in heads(pages).items()}
    lists = {path: sheets for path, sheets in lists.items() if sheets}  # the page that only leads to the first has none
    shared = [sheet for sheet in next(iter(lists.values())) if all(sheet in sheets for sheets in lists.values())]
    paths = [sheet.relative_to(static).as_posix() for sheet in shared]
    text = plain_code.short_rules(one_sheet(static, paths, words, drawing, kept))
    (static / "style.css").write_text(text, encoding="utf-8")
    version = hashlib.sha256(text.encode()).hexdigest()[:8]
    return {path: linked(text, path, shared, f"_static/style.css?v={version}") for path, text in pages.items()}


def one_sheet(static, paths, words, drawing, kept):
    """The text of the one style sheet."""
    sheets = {path.relative_to(static).as_posix(): path for path in sorted(static.rglob("*.css"))}  # one may ask for another
    made_by = [Path(icons.__file__), Path(style_sheet.__file__), static / icons.SCRIPT, importlib.metadata.version("tinycss2")]

    def make(paths, words):
        return style_sheet.merged(static, paths, set(words), drawing.in_rule) + drawing.rules() + drawing.in_forced_colours()

    text = kept.get(make, paths, sorted(words), version=digest(*sheets, *sheets.values(), *made_by))
    style_sheet.check_addresses(static, text)
    return text


def linked(text, page, shared, address):
    """The page with one link in place of those to the shared sheets."""
    first = True

    def replace(found):
        nonlocal first
        if whole(page.parent, found[1]) not in shared:
            return found[0]
        link = f'  <link rel="stylesheet" href="{found[1][: found[1].index("_static/")]}{address}">\n' if first else ""
        first = False
        return link

    head, end, body = text.partition(scripts.END_OF_HEAD)
    return LINK.sub(replace, head) + end + body
