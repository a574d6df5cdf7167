"""The book's own Sphinx extension: the small things that Jupyter Book does not do by itself.

* Links to the documentation of Python and NumPy are resolved from the lists in `_inv`: building needs no network.
* The types and references of docstrings become plain text, so that `-n` can be strict about all other references;
  the fields of a tuple are described once.
* One setting, `repository.url`, decides about all buttons that need an address.
* `index.html` at the top leads to the first page.
* The folder `templates` beside this file is where Sphinx looks first for the templates of pages.
"""

import html
import json
import re
import sys
import zlib
from pathlib import Path

from docutils import nodes
from sphinx.errors import ExtensionError

ROOT = Path(__file__).resolve().parent.parent
FIRST_FONTS = ("fonts/source-serif-4.woff2", "fonts/source-sans-3.woff2", "fonts/source-code-pro.woff2")
ITALIC = "fonts/source-serif-4-italic.woff2"

HOME = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title}</title>
<meta http-equiv="refresh" content="0; url={first}">
<link rel="canonical" href="{first}">
<link rel="icon" href="_static/favicon.svg" type="image/svg+xml">
</head>
<body>
<main><h1>{title}</h1><p>The book starts at <a href="{first}">its first page</a>.</p></main>
</body>
</html>
"""


def setup(app):
    sys.path.insert(0, str(ROOT))  # autodoc imports attnlib, installed or not
    for quick in ("coloured_code", "source_pages"):  # the same pages with less work
        app.setup_extension(quick)
    app.add_config_value("comments_config", {}, "html")  # set by Jupyter Book for an extension that we leave out
    app.connect("config-inited", own_templates)
    app.connect("config-inited", settle_buttons)
    app.connect("config-inited", local_inventories, priority=400)  # before intersphinx reads its mapping
    app.connect("autodoc-skip-member", skip_fields)
    app.connect("autodoc-process-docstring", plain_types_and_references, priority=900)  # after napoleon
    app.connect("html-page-context", page_context, priority=900)  # after the theme
    app.connect("build-finished", finish)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def own_templates(app, config):
    config.templates_path = [str(Path(__file__).parent / "templates"), *config.templates_path]


def settle_buttons(app, config):
    """All buttons that need a repository if there is one, none if there is not."""
    options = config.html_theme_options
    has_address = bool(options.get("repository_url"))
    for button in ("use_repository_button", "use_edit_page_button", "use_issues_button"):
        options[button] = has_address
    if not has_address:
        options["launch_buttons"] = {}
        for name in ("repository_url", "path_to_docs"):
            options.pop(name, None)


def local_inventories(app, config):
    """Turn the readable lists in `_inv` into the format that intersphinx reads."""
    folder = Path(app.doctreedir) / "inventories"
    folder.mkdir(parents=True, exist_ok=True)
    mapping = {}
    for source in sorted((ROOT / "_inv").glob("*.txt")):
        lines = [line for line in source.read_text(encoding="utf-8").splitlines() if line and line[0] != "#"]
        url = lines[0].removeprefix("url: ")
        entries = "".join("{} {} 1 {} -\n".format(*line.split()) for line in lines[1:])
        header = f"# Sphinx inventory version 2\n# Project: {source.stem}\n# Version: \n# The remainder of this file is compressed using zlib.\n"
        target = folder / f"{source.stem}.inv"
        target.write_bytes(header.encode() + zlib.compress(entries.encode()))
        mapping[source.stem] = (url, str(target))
    config.intersphinx_mapping = mapping


def skip_fields(app, what, name, obj, skip, options):
    """Leave out "Alias for field number 0": the class describes its fields already."""
    return True if str(getattr(obj, "__doc__", "")).startswith("Alias for field number") else None


def plain_types_and_references(app, what, name, obj, options, lines):
    """Show types such as "ndarray of shape (..., k)" as they are, and references as a numbered list.

    Sphinx would look up every word of a type as a class. And it wants each footnote number once a page, while
    numpydoc starts with [1] in every docstring.
    """
    kinds = [line for line in lines if line.startswith(":type: ")]
    if kinds:  # an attribute's one sentence: napoleon took the words before its colon for the type
        lines[:] = [kinds[0].removeprefix(":type: ") + ": " + lines[0]] + [line for line in lines[1:] if line != kinds[0]]
    in_reference = False
    for number, line in enumerate(lines):
        if found := re.match(r":(ivar|vartype) ([^:]*, [^:]*):", line):  # "passed, failed": no type before a name
            line = f":{found[1]} {found[2].replace(', ', ',')}:" + line[found.end() :]
        if found := re.match(r"(\s*:(?:var)?type [^:]+: )(.+)", line):
            line = found[1] + "*" + found[2].strip().replace("\\", "\\\\").replace("*", "\\*") + "*"
        elif found := re.match(r"\s*\.\. \[(\d+)\] (.*)", line):
            in_reference, line = True, f"{found[1]}. {found[2]}"
        elif in_reference and line.strip():
            line = "   " + line.strip()
        else:
            in_reference = False
        lines[number] = re.sub(r"\s\[(\d+)\]_", r" [\1]", line)


# Without scripts a figure in steps shows all its pictures, and nothing that only a script could move.
WITHOUT_SCRIPTS = """<noscript><style>
figure.stepped .step[hidden] { display: block !important; }
figure.stepped label, figure.tap .do, .theme-switch-button, .search-button, .copybtn { display: none !important; }
</style></noscript>"""


# Not on a page opened from a disk, where the browser would refuse and complain.
PRELOAD = """<script>
if (location.protocol !== "file:") for (const href of {addresses}) {{
  document.head.append(Object.assign(document.createElement("link"), {{ rel: "preload", as: "font", crossOrigin: "", href }}));
}}
</script>"""


def preload(context, doctree):
    """The faces that the page shows, asked for before the style sheet that names them has arrived."""
    slanted = doctree is not None and next(doctree.findall(nodes.emphasis), None) is not None
    names = [*FIRST_FONTS, ITALIC] if slanted else FIRST_FONTS
    for name in names:
        if not (ROOT / "_static" / name).is_file():
            raise ExtensionError(f"the font _static/{name} is missing")
    names = [*names, *context.get("formula_fonts", ())]  # see formulas.py
    return PRELOAD.format(addresses=json.dumps([context["pathto"](f"_static/{name}", resource=True) for name in names]))


def page_context(app, pagename, templatename, context, doctree):
    """Pages made by Sphinx itself (search, index, source listings) describe themselves too."""
    context["metatags"] = (context.get("metatags") or "") + "\n" + preload(context, doctree) + "\n" + WITHOUT_SCRIPTS
    if "description" not in (context.get("metatags") or ""):
        text = html.escape(f"{context.get('title', '')} – {app.config.html_title}")
        context["metatags"] = (context.get("metatags") or "") + f'\n<meta name="description" content="{text}">'


def finish(app, exception):
    if exception is not None or app.builder.format != "html":
        return
    first = app.builder.get_target_uri(app.config.root_doc)
    home = Path(app.outdir) / "index.html"
    home.write_text(HOME.format(title=html.escape(app.config.html_title), first=first), encoding="utf-8")
