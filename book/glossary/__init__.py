"""Sphinx extension: each term of the glossary is a link where a chapter uses it first; its page has letters to jump by.

Looked at is the running text of the chapters and of the prerequisites: not headings, code, formulas, tables, pictures,
exercise helps and the card a chapter begins with; and not predictions and folded answers, which other pages show again.
A term may stand in the plural, or begin with a capital. Some terms are everyday words, too: `ELSEWHERE` lists the pages
on which such a word is first used in another sense.

On the page of the glossary, the terms of each letter become a list of their own, whose id is the letter. A row of links
to these lists stands before the first of them.
"""

import re
from functools import cache
from itertools import groupby
from pathlib import Path

from docutils import nodes
from sphinx.addnodes import glossary

from book.static_files import add_styles

GLOSSARY = "chapters/glossary"
BEFORE = "chapters/prerequisites"
ELSEWHERE = {
    "weights": ("09_positions", "12_training"),  # that a model has learned
    "score": ("12_training",),  # how well a head does what it is tested for
}
SILENT = (nodes.title, nodes.literal, nodes.FixedTextElement, nodes.math, nodes.math_block, nodes.table)
SILENT_CLASSES = {"cell", "exercise-helps", "opener"}
BLOCK = re.compile(r"<(/?)(div|details|figure)\b([^>]*)>")
QUIET_DIV = re.compile(r'class="predict\b')
JOINED = r"[\w–-]"  # where a word goes on: no term begins or ends beside it


def setup(app):
    add_styles(app, Path(__file__).parent, "glossary.css")
    app.connect("doctree-read", part_by_letter)
    app.connect("doctree-resolved", link_first_uses)
    return {"version": "2", "parallel_read_safe": True, "parallel_write_safe": True}


def part_by_letter(app, doctree):
    """Give the terms of each letter a list of their own, and the page a row of links to these lists."""
    if app.env.docname != GLOSSARY:
        return
    (box,) = doctree.findall(glossary)
    (whole,) = box.children
    letters = []
    for letter, items in groupby(whole.children, initial):
        part = nodes.definition_list("", *items, ids=[letter], classes=list(whole["classes"]))
        box.append(part)
        letters.append(letter)
    box.remove(whole)
    box.parent.insert(box.parent.index(box), row_of(letters))


def initial(item):
    """The letter under which an entry stands: that of its first term."""
    return item.next_node(nodes.term).astext()[0].upper()


def row_of(letters):
    links = " ".join(f'<a href="#{letter}">{letter}</a>' for letter in letters)
    return nodes.raw("", f'<nav class="letters" aria-label="Letters of the glossary">{links}</nav>', format="html")


def link_first_uses(app, doctree, docname):
    if docname != BEFORE and "" not in app.env.toc_secnumbers.get(docname, {}):
        return
    objects = app.env.get_domain("std").data["objects"]
    labels = {term: label for (kind, term), (_, label) in objects.items() if kind == "term"}
    page = docname.rpartition("/")[2]
    elsewhere = {term for term, pages in ELSEWHERE.items() if page in pages}
    address = app.builder.get_relative_uri(docname, GLOSSARY)
    for text, uses in first_uses(doctree, labels, elsewhere):
        parent = text.parent
        place = next(number for number, child in enumerate(parent) if child is text)  # equal texts are not the same
        parent[place : place + 1] = with_links(text.astext(), uses, address)


def first_uses(doctree, labels, elsewhere=()):
    """[(text node, [(start, end, label)])]: where each term is used first, unless it is a link there already."""
    waiting = {term: label for term, label in labels.items() if term not in elsewhere}
    words, found = any_of(labels), []
    for node in running_text(doctree):
        if isinstance(node, nodes.reference):
            waiting = {term: label for term, label in waiting.items() if not node.get("refuri", "").endswith(f"#{label}")}
            continue
        uses = []
        for use in words.finditer(node.astext()):
            if term := next((term for term in waiting if re.fullmatch(form(term), use[0])), None):
                uses.append((use.start(), use.end(), waiting.pop(term)))
        if uses:
            found.append((node, uses))
    return found


def any_of(terms):
    """A regular expression for all of these: where one is a part of another, the longer one counts."""
    return re.compile(rf"(?<!{JOINED})(?:{'|'.join(map(form, sorted(terms, key=len, reverse=True)))})(?!{JOINED})")


@cache
def form(term):
    """A regular expression for a term, its plural, and both with a capital."""
    first, rest = (re.escape(part) for part in (term[0], term[1:]))
    first = f"[{first}{first.upper()}]" if first.islower() else first
    plural = rf"{rest[:-1]}(?:y|ies)" if term[-1] == "y" else rest if term[-1] == "s" else f"{rest}s?"
    return first + plural.replace(r"\ ", r"\s+")


def running_text(node, blocks=None):
    """Yield the texts of paragraphs and the links among them, in their order."""
    blocks = [] if blocks is None else blocks  # the HTML around: whether what stands in each block is left out
    if isinstance(node, nodes.raw):
        for end, tag, attributes in BLOCK.findall(node.astext()):
            if end:
                blocks.pop()
            else:
                blocks.append(tag != "div" or bool(QUIET_DIV.search(attributes)))
    elif isinstance(node, nodes.reference | nodes.Text):
        if not any(blocks):
            yield node
    elif not isinstance(node, SILENT) and not SILENT_CLASSES & set(node.get("classes", ())):
        for child in node.children:
            yield from running_text(child, blocks)


def with_links(text, uses, address):
    """A text as nodes, with its links."""
    parts, place = [], 0
    for start, end, label in uses:
        parts.append(nodes.Text(text[place:start]))
        parts.append(nodes.reference("", text[start:end], internal=True, refuri=f"{address}#{label}", classes=["term"]))
        place = end
    return [part for part in [*parts, nodes.Text(text[place:])] if part.astext()]
