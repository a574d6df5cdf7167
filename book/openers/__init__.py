"""Sphinx extension: how a chapter begins, and how the first page shows the chapters.

* A chapter's first cell says *You will*, *You need* and *Time* in plain Markdown, so that it reads well in any notebook
  program. On the site these become a card, under the chapter's picture.
* ``{chapter-cards}`` on the first page is a card for each chapter: picture, number, title, question. The order and the
  numbers are those of the table of contents.
* ``{chapter-diagram}`` shows a drawing in which ``{chapter softmax}`` stands for "chapter 1", whatever its number is.
* ``{run-it}`` on the first page says how its code is run: in the page itself, where the pages have a Python, and in JupyterLab.
* ``{source-address}`` says who made the book and where the source is, as far as `_config.yml` has names and an address.

A page is named by its topic: chapter 2 is `02_attention`, its topic `attention`. The picture of a chapter is `chapters/pictures/<topic>.svg`. It stands in the page itself, so it has the colours of the
scheme. A picture that is missing is a warning, and so stops the build.
"""

import html
import re
from pathlib import Path

from docutils import nodes
from docutils.parsers.rst import Directive
from docutils.statemachine import StringList
from sphinx.transforms import SphinxTransform
from sphinx.util import logging

from book.exercises.help import cells_of
from book.static_files import add_styles

LABELS = ("You will", "You need", "Time")
logger = logging.getLogger(__name__)


class cards(nodes.General, nodes.Element):
    """The place of the chapters' cards, until all titles are known."""


class numbered_diagram(nodes.General, nodes.Element):
    """The place of a drawing, until the chapters' numbers are known."""


def setup(app):
    add_styles(app, Path(__file__).parent, "openers.css")
    app.add_node(cards)
    app.add_node(numbered_diagram)
    app.add_directive("chapter-cards", ChapterCards)
    app.add_directive("chapter-diagram", ChapterDiagram)
    app.add_directive("run-it", RunIt)
    app.add_directive("source-address", SourceAddress)
    app.add_transform(Opener)
    app.connect("doctree-resolved", fill_cards)
    app.connect("doctree-resolved", fill_diagrams)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def topic_of(docname):
    """`chapters/02_attention` -> `attention`"""
    return re.sub(r"^\d+_", "", docname.rsplit("/", 1)[-1])


def picture(env, docname, location=None):
    """The chapter's picture as HTML, or "" with a warning."""
    return drawing(env, Path(env.srcdir) / "chapters" / "pictures" / f"{topic_of(docname)}.svg", location)


def drawing(env, path, location=None):
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
    """Each line: the topic of a page, a colon, the question it answers. A numbered chapter without a line is a warning."""

    has_content = True

    def run(self):
        node = cards(questions={})
        for line in self.content:
            topic, _, question = line.partition(":")
            node["questions"][topic.strip()] = question.strip()
        node.source, node.line = self.state_machine.get_source_and_line(self.lineno)
        return [node]


def in_order(env):
    """{topic: page} of the whole table of contents, from its first page to its last. Of two pages, the first has the topic."""
    pages, waiting = {}, [env.config.root_doc]
    while waiting:
        page = waiting.pop(0)
        pages.setdefault(topic_of(page), page)  # the library has a page `attention`, too
        waiting[:0] = env.toctree_includes.get(page, ())
    return pages


def number_of(env, page):
    return ".".join(map(str, env.toc_secnumbers.get(page, {}).get("", ())))


def fill_cards(app, doctree, docname):
    env = app.env
    for node in list(doctree.findall(cards)):
        shown, questions = [], dict(node["questions"])
        for topic, target in in_order(env).items():
            number = number_of(env, target)
            question = questions.pop(topic, None)
            if question is None:
                if number.isdigit():
                    logger.warning("the card of %s needs a question", target, location=node, type="opener")
                continue
            title = f"{number} {env.titles[target].astext()}".strip()
            address = app.builder.get_relative_uri(docname, target)
            exercises = " ".join(cells_of(env).get(target, ()))
            solved = f' data-exercises="{html.escape(exercises)}"' if exercises else ""  # for exercises/solved.js
            shown.append(
                f'<li><a class="chapter-card" href="{html.escape(address)}"{solved}>'
                f'<span class="diagram" aria-hidden="true">{picture(env, target, node)}</span>'
                f"<strong>{html.escape(title)}</strong><span>{html.escape(question)}</span></a></li>"
            )
        for topic in questions:
            logger.warning("there is no page %s for a card", topic, location=node, type="opener")
        node.replace_self(nodes.raw("", f'<ul class="chapter-cards">{"".join(shown)}</ul>', format="html"))


class ChapterDiagram(Directive):
    """The argument: an SVG file in the page's folder. The content: the caption, plain text."""

    required_arguments = 1
    has_content = True

    def run(self):
        node = numbered_diagram(file=self.arguments[0], caption=" ".join(self.content))
        node.source, node.line = self.state_machine.get_source_and_line(self.lineno)
        return [node]


def fill_diagrams(app, doctree, docname):
    env = app.env
    for node in list(doctree.findall(numbered_diagram)):
        pages = in_order(env)

        def chapters(found, node=node, pages=pages):
            topics = found[1].split()
            numbers = [number_of(env, pages[topic]) for topic in topics if topic in pages]
            if len(numbers) < len(topics):
                logger.warning("a drawing names a chapter that is not there: %s", found[1], location=node, type="opener")
            return f"chapter{'s' * (len(numbers) > 1)} {' and '.join(numbers)}"

        drawn = drawing(env, Path(env.srcdir) / Path(docname).parent / node["file"], node)
        drawn, caption = (re.sub(r"\{chapter ([\w ]+)\}", chapters, text) for text in (drawn, html.escape(node["caption"])))
        figure = f'<figure class="diagram">{drawn}<figcaption>{caption}</figcaption></figure>'
        node.replace_self(nodes.raw("", figure, format="html"))


HERE_TEXT = """**Run it.** Every page with code runs in this browser: press *Run this page* at its head, or *Run* at a cell, and
change what you like. A Python starts [inside the page](running.md). There is nothing to install, and nothing is sent anywhere.
"""
LAB_TEXT = "{begin}{get} and run `make lab` in its folder. It needs Python 3.11 or newer, installs the rest into a folder of its own and opens chapter 1."
NOBODY = "the authors of Attention, Derived"  # until `_config.yml` has names
NOWHERE = "These pages were built without the address of that repository. If you built them yourself, you have it; otherwise ask whoever gave you the pages."


class RunIt(Directive):
    """How the code of the book is run: first in the page, where that is possible."""

    def run(self):
        env = self.state.document.settings.env
        url = env.config.html_theme_options.get("repository_url", "")
        here = (Path(env.srcdir) / "_vendor" / "pyodide").is_dir()
        get = f"get [the source]({url})" if url else "get the source of this book ([where?](#source-and-licence))"
        begin = "To work in JupyterLab instead, " if here else "**Run it.** Every page with code is a notebook. To run it in JupyterLab, "
        text = (HERE_TEXT + "\n" if here else "") + LAB_TEXT.format(begin=begin, get=get)
        box = nodes.container("", classes=["run-it"])
        self.state.nested_parse(StringList(text.splitlines(), "run-it"), self.content_offset, box)
        return [box]


class SourceAddress(Directive):
    """A paragraph with who made the book, if `_config.yml` has names, and with the address of the source or how to get it without one."""

    def run(self):
        config = self.state.document.settings.env.config
        url = config.html_theme_options.get("repository_url", "")
        known = config.author and config.author != NOBODY
        made = nodes.paragraph("", f"This book was made by {config.author}. " if known else "")
        made += [nodes.Text("The source is at "), nodes.reference("", url, refuri=url), nodes.Text(".")] if url else nodes.Text(NOWHERE)
        return [made]
