"""Sphinx extension: how a chapter begins, and how the first page shows the chapters.

* A chapter's first cell says *You will*, *You need* and *Time* in plain Markdown, so that it reads well in any notebook
  program. On the site these become a card, under the chapter's picture.
* ``{chapter-cards}`` on the first page is a card for each chapter it lists: picture, number, title, question.

The picture of a chapter is `chapters/pictures/<topic>.svg`. It stands in the page itself, so it has the colours of the
scheme. A picture that is missing is a warning, and so stops the build.
"""

import html
import re
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import Directive
from sphinx.transforms import SphinxTransform
from sphinx.util import logging

from book.exercises.help import cells_of
from book.static_files import add_styles

LABELS = ("You will", "You need", "Time")
logger = logging.getLogger(__name__)


class cards(nodes.General, nodes.Element):
    """The place of the chapters' cards, until all titles are known."""


def setup(app):
    add_styles(app, Path(__file__).parent, "openers.css")
    app.add_node(cards)
    app.add_directive("chapter-cards", ChapterCards)
    app.add_transform(Opener)
    app.connect("doctree-resolved", fill_cards)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def picture(env, docname, location=None):
    """The chapter's picture as HTML, or "" with a warning. Chapter 2 is `02_attention`, its picture `attention.svg`."""
    topic = re.sub(r"^\d+_", "", docname.rsplit("/", 1)[-1])
    path = Path(env.srcdir) / "chapters" / "pictures" / f"{topic}.svg"
    if not path.is_file():
        logger.warning("the picture %s is missing", path.relative_to(env.srcdir), location=location, type="opener")
        return ""
    return path.read_text(encoding="utf-8").replace(' xmlns="http://www.w3.org/2000/svg"', "")


class Opener(SphinxTransform):
    """Gather the lines *You will*, *You need* and *Time* at the start of a chapter in a card, and put the picture above."""

    default_priority = 410

    def apply(self):
        for section in self.document.findall(nodes.section):
            parts = labelled(section)
            if [label for label, _ in parts] == list(LABELS):
                self.build(section, parts)
            return  # the first section is the page

    def build(self, section, parts):
        card = nodes.container(classes=["opener"])
        place = section.index(parts[0][1][0])
        for label, content in parts:
            box = nodes.container("", classes=["opener-" + label.split()[-1].lower()])
            for node in content:
                section.remove(node)
                box += node
            card += box
        drawn = picture(self.env, self.env.docname, section)
        section.insert(place, [nodes.raw("", f'<figure class="diagram opener-picture">{drawn}</figure>', format="html"), card])


def labelled(section):
    """The paragraphs that begin with one of the labels in bold, each with the list that may follow, in their order."""
    found = []
    for node in section.children:
        label = first_bold(node)
        if label in LABELS:
            found.append((label, [node]))
        elif found and len(found[-1][1]) == 1 and isinstance(node, nodes.bullet_list):
            found[-1][1].append(node)
        elif found and found[-1][0] == LABELS[-1]:
            break
    return found


def first_bold(node):
    children = node.children if isinstance(node, nodes.paragraph) else []
    first = next((child for child in children if child.astext()), None)  # Markdown may begin with an empty text
    return first.astext() if isinstance(first, nodes.strong) else ""


class ChapterCards(Directive):
    """Each line: a page of the same folder, a colon, the question it answers."""

    has_content = True

    def run(self):
        node = cards(entries=[])
        for line in self.content:
            page, _, question = line.partition(":")
            node["entries"].append((page.strip(), question.strip()))
        node.source, node.line = self.state_machine.get_source_and_line(self.lineno)
        return [node]


def fill_cards(app, doctree, docname):
    env = app.env
    for node in list(doctree.findall(cards)):
        shown = []
        for page, question in node["entries"]:
            target = f"{docname.rpartition('/')[0]}/{page}".lstrip("/")
            if target not in env.titles:
                logger.warning("there is no page %s for a card", target, location=node, type="opener")
                continue
            number = env.toc_secnumbers.get(target, {}).get("", ())
            title = f"{'.'.join(map(str, number))} {env.titles[target].astext()}".strip()
            address = app.builder.get_relative_uri(docname, target)
            exercises = " ".join(cells_of(env).get(target, ()))
            solved = f' data-exercises="{html.escape(exercises)}"' if exercises else ""  # for exercises/solved.js
            shown.append(
                f'<li><a class="chapter-card" href="{html.escape(address)}"{solved}>'
                f'<span class="diagram" aria-hidden="true">{picture(env, target, node)}</span>'
                f"<strong>{html.escape(title)}</strong><span>{html.escape(question)}</span></a></li>"
            )
        node.replace_self(nodes.raw("", f'<ul class="chapter-cards">{"".join(shown)}</ul>', format="html"))
