"""Sphinx extension: what Jupyter Book does not do for the site as a whole.

* One setting, `repository.url`, decides about all buttons that need an address.
* Every page describes itself, and does without scripts.
* A browser that refuses to keep anything stops no script, of the theme or of ours, and one that keeps what a reader does
  on a page from a disk is asked for it late enough (`storage.js`).
* `index.html` at the top leads to the first page.
"""

import html
from pathlib import Path

STORAGE = Path(__file__).with_name("storage.js").read_text(encoding="utf-8")
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
    app.add_config_value("comments_config", {}, "html")  # set by Jupyter Book for an extension that we leave out
    app.connect("config-inited", settle_buttons)
    app.connect("html-page-context", page_context, priority=900)  # after the theme
    app.connect("build-finished", finish)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


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


# Without scripts a figure in steps shows all its pictures, and nothing that only a script could move.
WITHOUT_SCRIPTS = """<noscript><style>
figure.stepped .step[hidden] { display: block !important; }
figure.stepped label, figure.tap .do, .theme-switch-button, .search-button, .copybtn { display: none !important; }
</style></noscript>"""


def page_context(app, pagename, templatename, context, doctree):
    """Pages made by Sphinx itself (search, index, source listings) describe themselves too."""
    context["metatags"] = f"\n<script>\n{STORAGE}</script>" + (context.get("metatags") or "")
    context["metatags"] = (context.get("metatags") or "") + "\n" + WITHOUT_SCRIPTS
    if "description" not in (context.get("metatags") or ""):
        text = html.escape(f"{context.get('title', '')} – {app.config.html_title}")
        context["metatags"] = (context.get("metatags") or "") + f'\n<meta name="description" content="{text}">'


def finish(app, exception):
    if exception is not None or app.builder.format != "html":
        return
    first = app.builder.get_target_uri(app.config.root_doc)
    home = Path(app.outdir) / "index.html"
    home.write_text(HOME.format(title=html.escape(app.config.html_title), first=first), encoding="utf-8")
