"""Scripts: a page loads those that it uses, is shown before they arrive, and is laid out once while they start."""

import re

CODE = "cell_input|highlight-python|highlight-bash"  # what `copybutton_selector` in _config.yml looks for
# A script of the theme or of another extension that only some pages use, or none, and the class that those pages have.
# Of the book's own scripts each feature says it (`static_files.add_script`).
USED_WITH = {
    "design-tabs.js": "sd-tab-set",
    "clipboard.min.js": CODE,
    "copybutton.js": CODE,
    "fontawesome.js": "",  # no page: see icons.py
}
CLASSES = re.compile(r'\bclass="([^"]*)"')
SCRIPT = re.compile(r'<script\b[^>]*\bsrc="([^"?]*)[^>]*></script>')
PRELOAD = re.compile(r'<link\b[^>]*\brel="preload"[^>]*\bas="script"[^>]*>')
# The theme asks for the system's colours when its script has run. Until then a page would have neither scheme.
SCHEME = 'document.documentElement.dataset.theme = localStorage.getItem("theme") || "auto";'
SCHEME_AT_ONCE = """{
      const { mode } = document.documentElement.dataset;
      const dark = mode === "auto" ? matchMedia("(prefers-color-scheme: dark)").matches : mode === "dark";
      document.documentElement.dataset.theme = dark ? "dark" : "light";
    }"""

# The theme makes a stop of the Tab key of each of these that scrolls. It measures one and changes it before it measures the
# next, so that the browser lays the page out anew for each: a third of a second on a phone. `book.js` measures them all, and
# then changes them.
THEME = "scripts/pydata-sphinx-theme.js"
STOPS = '["pre",".nboutput > .output_area",".cell_output > .output",".jp-RenderedHTMLCommon",".pst-scrollable-table-container"].join(", ")'
NO_STOPS = '"no-block"'


def lean(text, used_with):
    """The page with the scripts that it uses (`used_with`: {script: the classes of its pages}), none of which holds it up."""
    text = replaced(PRELOAD, lambda found: "", text)  # asked for early, they would delay the style sheet
    text = text.replace(SCHEME, SCHEME_AT_ONCE)
    # As a module it waits for the deferred script that it needs.
    text = text.replace("<script>DOCUMENTATION_OPTIONS.", '<script type="module">DOCUMENTATION_OPTIONS.')

    classes = set(" ".join(CLASSES.findall(text)).split())

    def keep(found):
        markers = used_with.get(found[1].rsplit("/", 1)[-1])
        if markers is not None and not classes & set(markers.split("|")):
            return ""
        return re.sub(r"<script (?!defer)", "<script defer ", found[0])

    return replaced(SCRIPT, keep, text)


def replaced(element, new, text):
    """The text with `new(found)` for each element found; where that is empty, the blanks before the element go, too.

    A regular expression that begins with these blanks would take its time at every blank of the page.
    """
    parts, end = [], 0
    for found in element.finditer(text):
        before, instead = text[end : found.start()], new(found)
        parts += [before if instead else before.rstrip(), instead]
        end = found.end()
    return "".join([*parts, text[end:]])
