"""Which kinds of block the site has, and the pages on which one of each kind is looked at on every push.

A kind is what a style sheet, a script or axe can tell apart: an element, a class, a role, a type of input, a script. Two
things that only look like kinds are left out. The colours of code and of the letters of formulas are judged on every page
(`probes.pale`), and what is drawn in an SVG holds nothing that axe would judge.
"""

import re

TAG = re.compile(r"<([a-z][a-z\d-]*)((?:\s+[\w:-]+(?:=\"[^\"]*\")?)*)\s*/?>")
# What is inside is drawn, coloured or read aloud as one thing.
ONE_THING = re.compile(r"(<(pre|svg|mjx-container)\b[^>]*>).*?</\2>", re.S)
QUANTITIES = {"query", "key", "value", "scores", "weights", "output"}

# The cheapest pages that have every kind between them, a page of source code, and the page for what is missing.
LOOKED_AT = [
    "404.html",
    "_modules/attnlib/softmax/weights.html",
    "chapters/01_softmax.html",
    "chapters/02_attention.html",
    "chapters/03_gradients.html",
    "chapters/13_pretrained.html",
    "chapters/api/page.html",
    "chapters/bibliography.html",
    "chapters/costs.html",
    "chapters/exercises.html",
    "chapters/formulas.html",
    "chapters/glossary.html",
    "chapters/index.html",
    "chapters/review.html",
    "chapters/running.html",
    "chapters/teachers.html",
    "search.html",
]


def kinds(page):
    """The kinds of block in the text of a page."""
    found = set()
    for tag, rest in TAG.findall(ONE_THING.sub(r"\1", page)):
        attributes = dict(re.findall(r'\s([\w:-]+)="([^"]*)"', rest))
        found.add(tag)
        found |= {f".{name}" for name in set(attributes.get("class", "").split()) - QUANTITIES if not name.startswith("tag_")}
        if "role" in attributes:
            found.add(f"[role={attributes['role']}]")
        if tag in ("input", "button"):
            found.add(f"{tag}[type={attributes.get('type')}]")
        if tag == "script" and "src" in attributes:
            found.add(f"script {attributes['src'].partition('?')[0].rsplit('/', 1)[-1]}")
    return found


def overlooked(kinds_of, looked_at):
    """{kind: the first page that has it} of all kinds that no page looked at has. `kinds_of`: {name of a page: its kinds}."""
    seen = set().union(*(kinds_of[name] for name in looked_at))
    found = {}
    for name, there in kinds_of.items():
        for kind in there - seen:
            found.setdefault(kind, name)
    return found
