"""Predictions, to which a reader commits before the answer is shown: what they say, and what is wrong with them.

Their form in a notebook is in CONTRIBUTING.md. The site (`__init__.py`, `predictions.js`) relies on each being of that
form; so the check of the notebooks and the build of the site both look here.
"""

import hashlib
import re
from decimal import Decimal
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode
from mdit_py_plugins.dollarmath import dollarmath_plugin

MARKDOWN = MarkdownIt("commonmark").enable("table").use(dollarmath_plugin)
BEGINS = re.compile(r'<div\b[^>]*\bclass="predict\b[^>]*>')
FORM = re.compile(
    r'<div class="predict (?P<kind>choose|order|number|point)" id="(?P<id>predict-[a-z0-9-]+)"'
    r'(?P<more>(?: [\w-]+="[^"]*")*)>'
)
FRAME = ['<details class="answer">', "<summary>Answer</summary>", "</details>", "</div>"]
OPENERS = ("**Predict first.**", "**Quick check.**")
LETTERS = "ABCDE"
OTHER = "any other"
NUMBER = re.compile(r"[-−]?\d+(?:\.\d+)?")
PLACE = re.compile(r"row (\d+), column (\d+)")


class Prediction(NamedTuple):
    """One prediction; `options` of two kinds and `table` of one are empty for the others."""

    kind: str
    id: str
    more: dict  # the further attributes, data-cell and data-within
    question: list  # [(kind of block, its text)]
    options: dict  # {"A": text}
    table: list  # rows, headings included
    answer: str  # "B", "B, A, C", "0.64", "row 1, column 2"
    notes: list  # [(for which answer, text)]

    @property
    def digest(self):
        """Changes with whatever would make an earlier answer one to another question."""
        asked = [self.kind, self.question, self.options, self.table, self.answer, self.more.get("data-within")]
        return hashlib.sha256(repr(asked).encode()).hexdigest()[:8]


class Malformed(Exception):
    """A prediction is not of the form; the message says what is wrong."""


def predictions(source):
    """The predictions of a Markdown cell and what is wrong with their form: ([Prediction, …], [sentence, …])."""
    if not BEGINS.search(source):
        return [], []
    found, problems, block = [], [], None
    seen = 0
    for part in parts(source):
        if part[0] == "html" and BEGINS.match(part[1]):
            if block:
                problems.append(f"{named(block)}: no </div> on a line of its own ends it")
            block, seen = [part], seen + 1
        elif block:
            block.append(part)
            if part == ("html", "</div>"):
                try:
                    found.append(understood(block))
                except Malformed as error:
                    problems.append(f"{named(block)}: {error}")
                block = None
    if block:
        problems.append(f"{named(block)}: no </div> on a line of its own ends it")
    if seen < len(BEGINS.findall(source)):
        problems.append("a prediction does not begin at the start of a line of its own")
    return found, problems


def parts(source):
    """The blocks of a cell as (kind, content): a line of HTML, the items of a list, the rows of a table, a text."""
    for node in SyntaxTreeNode(MARKDOWN.parse(source)).children:
        if node.type == "html_block":
            yield from (("html", line.strip()) for line in node.content.splitlines() if line.strip())
        elif node.type == "bullet_list":
            yield "list", [[(inner.type, text_of(inner)) for inner in item.children] for item in node.children]
        elif node.type == "table":
            yield "table", [[text_of(cell) for cell in row.children] for part in node.children for row in part.children]
        else:
            yield node.type, text_of(node)


def text_of(node):
    if node.children and node.children[0].type == "inline":
        return node.children[0].content
    return "" if node.is_nested else node.content


def named(block):
    id = re.search(r'\bid="([^"]*)"', block[0][1])
    return f"prediction {id[1]!r}" if id else f"prediction {block[0][1]}"


def understood(block):
    """The prediction that a block is. Raises `Malformed`."""
    first = FORM.fullmatch(block[0][1])
    if not first:
        raise Malformed('its first line is not <div class="predict choose|order|number|point" id="predict-…" …>')
    lines = [content for kind, content in block[1:] if kind == "html"]
    if lines != FRAME:
        odd = next((line for line in lines if line not in FRAME), "")
        near = f"; near {odd}" if odd else ""
        raise Malformed(f"its lines of HTML are not {' '.join(FRAME)}, each with empty lines around it{near}")
    start, close = block.index(("html", FRAME[0])), block.index(("html", FRAME[2]))
    question, inside = block[1:start], block[start + 2 : close]
    if len(block) != close + 2 or block[start + 1] != ("html", FRAME[1]):
        raise Malformed("something stands around the answer where nothing may")
    kind = first["kind"]
    options, table = given(kind, question)
    answer, notes = answered(inside)
    more = dict(re.findall(r'([\w-]+)="([^"]*)"', first["more"]))
    return Prediction(kind, first["id"], more, question, options, table, answer, notes)


def given(kind, question):
    """The options or the table that a question ends with."""
    if not question or question[0][0] != "paragraph" or not question[0][1].startswith(OPENERS):
        raise Malformed(f"it does not begin with {' or '.join(OPENERS)}")
    if any(part == "heading" for part, _ in question):
        raise Malformed("it holds a heading")
    expected = {"choose": ["list"], "order": ["list"], "number": [], "point": ["table"]}[kind]
    special = [part for part, _ in question if part in ("list", "table")]
    if special != expected or expected and question[-1][0] != expected[0]:
        raise Malformed(f"before the answer stands not {f'one {expected[0]}' if expected else 'text alone'}")
    options, table = {}, []
    if expected == ["list"]:
        pairs = keyed(question[-1][1])
        options = dict(pairs)
        if [key for key, _ in pairs] != list(LETTERS[: len(pairs)]) or len(pairs) < 2:
            raise Malformed("its options are not **A**, **B**, … (two to five)")
    elif expected == ["table"]:
        table = question[-1][1]
        if len(table) < 2 or len(table[0]) < 2:
            raise Malformed("its table has no cell without its headings")
    return options, table


def answered(inside):
    """The right answer, and the notes on the wrong ones."""
    first = re.match(r"\*\*(.+?)\.\*\*(.*)", inside[0][1], re.S) if inside and inside[0][0] == "paragraph" else None
    if not first:
        raise Malformed("its answer does not begin with the right one in bold and a full stop, **B.**")
    if not first[2].strip() and [part for part, _ in inside[1:]] in ([], ["list"]):
        raise Malformed("its answer gives no reason")
    if inside[-1][0] != "list":
        raise Malformed("it has no note on a wrong answer")
    return first[1], keyed(inside[-1][1])


def keyed(items):
    """The items of a list as [(what is bold at the start, the rest)]."""
    pairs = []
    for item in items:
        plain = [kind for kind, _ in item] == ["paragraph"]
        found = re.match(r"\*\*(.+?)\*\*\s+(.+)", item[0][1], re.S) if plain else None
        if not found:
            start = item[0][1][:40] if item else ""
            raise Malformed(f"an item is not one paragraph that begins with its name in bold: {start}")
        pairs.append((found[1], found[2]))
    return pairs


# What is wrong with predictions that have the form


def check_predictions(cell, notebook, seen):
    """What is wrong with the predictions of a cell; `seen` holds the ids of the cells before and gets those of this one."""
    found, problems = predictions(cell.source)
    for each in found:
        wrong = KINDS[each.kind](each, notebook) + notes_of(each)
        if each.id in seen:
            wrong.append("its id is there twice")
        seen.add(each.id)
        problems += [f"prediction {each.id!r}: {text}" for text in wrong]
    return problems


def notes_of(each):
    """What every kind asks of its notes."""
    keys = [key for key, _ in each.notes]
    found = [f"two notes on {key}" for key in dict.fromkeys(keys) if keys.count(key) > 1]
    found += [f"a note on {key}, the right answer"] if (key := each.answer) in keys else []
    found += ["the note on any other answer is not the last"] if OTHER in keys[:-1] else []
    extra = set(each.more) - ({"data-cell", "data-within"} if each.kind == "number" else set())
    return found + [f"the attribute {name} is not known" for name in sorted(extra)]


def named_answers(each):
    """The right answer and those that have notes of their own."""
    return [each.answer, *(key for key, _ in each.notes if key != OTHER)]


def check_choose(each, notebook):
    keys = [key for key, _ in each.notes]
    found = [] if each.answer in each.options else [f"the right answer {each.answer} is none of the options"]
    found += [f"no note on {option}" for option in each.options if option not in (each.answer, *keys)]
    return found + [f"a note on {key}, which is no option" for key in keys if key not in each.options]


def check_order(each, notebook):
    letters = ", ".join(each.options)
    wrong = [key for key in named_answers(each) if ", ".join(sorted(key.split(", "))) != letters]
    found = [f"{key} is no order of {letters}" for key in wrong]
    return found + ([f"the options stand in the right order already, {letters}"] if each.answer == letters else [])


def check_point(each, notebook):
    rows, columns = len(each.table) - 1, len(each.table[0]) - 1
    found = []
    for key in named_answers(each):
        place = PLACE.fullmatch(key)
        if not place:
            found.append(f"{key} is not of the form row 0, column 0")
        elif int(place[1]) >= rows or int(place[2]) >= columns:
            found.append(f"{key} is outside the table of {rows} rows and {columns} columns (counted from 0)")
    return found


def check_number(each, notebook):
    found = [f"{key} is not a number" for key in named_answers(each) if not NUMBER.fullmatch(key)]
    within = each.more.get("data-within", "")
    if not NUMBER.fullmatch(within) or decimal(within) <= 0:
        return [*found, f"data-within is not a positive number: {within!r}"]
    name = each.more.get("data-cell", "")
    cell = next((cell for cell in notebook.cells if cell.get("id") == name and cell.cell_type == "code"), None)
    if cell is None:
        return [*found, f"data-cell names no code cell of this notebook: {name!r}"]
    if found:
        return found
    right = decimal(each.answer)
    half = Decimal(1).scaleb(right.as_tuple().exponent) / 2  # what rounding to the digits stated may change
    if not any(abs(number - right) <= half for number in printed(cell)):
        found.append(f"the cell {name!r} does not print {each.answer}")
    close = [key for key in named_answers(each)[1:] if abs(decimal(key) - right) <= decimal(within)]
    return found + [f"the note on {key} is about an answer that counts as right" for key in close]


def decimal(text):
    return Decimal(text.replace("−", "-"))


def printed(cell):
    """All numbers that a cell prints."""
    texts = []
    for output in cell.outputs:
        texts.append(output.get("text", ""))
        data = output.get("data", {}).items()
        texts += [re.sub("<[^>]*>", " ", value) for kind, value in data if kind.startswith("text/")]
    return [decimal(token) for token in re.findall(r"(?<![\w.])[-−]?\d+(?:\.\d+)?", "\n".join(texts))]


KINDS = {"choose": check_choose, "order": check_order, "number": check_number, "point": check_point}
