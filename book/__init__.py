"""How the site is made: one folder a feature, which holds its Sphinx extension, styles, scripts and templates side by side.

What notebooks hold becomes pages:

* `plain_markdown`: links, numbers, terms and diagrams in plain Markdown become references
* `formulas`: formulas typeset while the book is built; `formula_sheet`: the page *Look up a formula*
* `predictions`: predict first, then see the answer; what was missed comes back in the next chapter
* `exercises`: hints, solutions and the box to tick; the index of all exercises
* `review`: the page *Review*
* `openers`: how a chapter begins, and the cards of the first page
* `figures`: figures in steps, and tables to tap
* `glossary`: links to the glossary, and its letters
* `bibliography`: the list of works
* `calculator`: the calculator of shapes and costs
* `api`: the pages about the library, made from its docstrings
* `live`: cells that run in the reader's browser

What all pages have:

* `look`: type, colours, margins, fonts
* `search`: the search and its page; `missing_page`: the page for a wrong address
* `site`: buttons, descriptions, the page that leads to the first
* `paper`: every page on paper (the PDF of the whole book is made by `tools/printing`)
* `light_pages`: one style sheet, no idle scripts, drawn icons, pictures with sizes
* `cache`: what takes long to make is kept for the next build

Each folder can be set up alone, as the extension `book.<feature>`; `book` sets up all. What features share is in
`static_files.py` and `pages.py`. The tests of a feature are in `tests/book/<feature>`.
"""

# In the order in which they see a page (predictions write into a notebook before plain_markdown translates it), and in
# which their styles and scripts are asked for.
FEATURES = (
    "look",
    "predictions",
    "review",
    "plain_markdown",
    "formulas",
    "openers",
    "site",
    "api",
    "exercises",
    "figures",
    "light_pages",
    "live",
    "bibliography",
    "calculator",
    "search",
    "missing_page",
    "paper",
    "glossary",
    "formula_sheet",
)


def setup(app):
    for feature in FEATURES:
        app.setup_extension(f"book.{feature}")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
