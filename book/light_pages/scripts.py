"""Scripts: a page loads those that it uses, is shown before it asks for them, and is laid out once while they start."""

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
# The theme asks for the system's colours when its script has run. Until then a page would have neither scheme. And it reads
# the storage at once, which a page from a disk must not (book/site/storage.js).
MODE = 'document.documentElement.dataset.mode = localStorage.getItem("mode") || "auto";'
SCHEME = 'document.documentElement.dataset.theme = localStorage.getItem("theme") || "auto";'
SCHEME_AT_ONCE = """whenStorageIsReady(() => {
      const { dataset } = document.documentElement;
      dataset.mode = localStorage.getItem("mode") || "auto";
      const dark = dataset.mode === "auto" ? matchMedia("(prefers-color-scheme: dark)").matches : dataset.mode === "dark";
      dataset.theme = dark ? "dark" : "light";
    });"""

# The theme makes a stop of the Tab key of each of these that scrolls. It measures one and changes it before it measures the
# next, so that the browser lays the page out anew for each: a third of a second on a phone. `book.js` measures them all, and
# then changes them.
THEME = "scripts/pydata-sphinx-theme.js"
STOPS = '["pre",".nboutput > .output_area",".cell_output > .output",".jp-RenderedHTMLCommon",".pst-scrollable-table-container"].join(", ")'
NO_STOPS = '"no-block"'

# The theme notes the page's name for its list of versions, which this book does not have.
PAGE_NAME = re.compile(r"<script>DOCUMENTATION_OPTIONS\.pagename = '[^']*';</script>")

# A browser neither fetches nor runs a script of this type.
LATER = 'type="later"'
END_OF_HEAD = "</head>"
# Even a deferred script is fetched beside the letters and runs before the page is shown. So the page is shown first, and then
# its scripts run in their order. A page in a tab that nobody looks at has no frame to wait for. One file that never arrives
# must not hold up the scripts for good; but a page that has not all arrived does not name all of them.
LONGEST = 5000  # milliseconds
START = f"""<script>
{{
  let started = false;
  const start = () => {{
    if (started) return;
    started = true;
    let last;
    for (const {{ src }} of document.querySelectorAll('script[{LATER}]')) {{
      last = Object.assign(document.createElement("script"), {{ src, async: false }});
      document.head.append(last);
    }}
    last.onload = last.onerror = () => {{ document.documentElement.dataset.started = ""; }};
  }};
  addEventListener("load", () => document.hidden ? start() : requestAnimationFrame(() => setTimeout(start)));
  addEventListener("DOMContentLoaded", () => setTimeout(start, {LONGEST}));
}}
</script>
"""


def lean(text, used_with):
    """The page with the scripts that it uses (`used_with`: {script: the classes of its pages}), none of which holds it up."""
    text = replaced(PRELOAD, lambda found: "", text)  # asked for early, they would delay the style sheet
    text = text.replace(MODE, "").replace(SCHEME, SCHEME_AT_ONCE)
    text = replaced(PAGE_NAME, lambda found: "", text)

    classes = set(" ".join(CLASSES.findall(text)).split())

    def keep(found):
        markers = used_with.get(found[1].rsplit("/", 1)[-1])
        if markers is not None and not classes & set(markers.split("|")):
            return ""
        return re.sub(r"<script (?:defer )?", f"<script {LATER} ", found[0])

    text = replaced(SCRIPT, keep, text)
    return text.replace(END_OF_HEAD, START + END_OF_HEAD, 1) if LATER in text else text


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
