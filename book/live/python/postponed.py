"""Imports for drawing wait until a cell draws: Matplotlib is a third of all that a page fetches, and half of Python's start.

The first cell of a chapter imports what its cells need. Three of its statements only serve figures:

    import matplotlib.pyplot as plt
    from attnpage import plotting, stepped_figure      (of these names, those that draw)
    plotting.setup()

They are put aside, and made up for before the first cell that mentions one of the names. Nothing else is put aside, so whatever is
misspelt fails at once, and a cell that could reach the names without mentioning them (`globals`, `exec`) counts as one that does.
"""

import ast
import re
from functools import cache

PLOT = re.compile(r"import matplotlib\.pyplot as (\w+)")
SETUP = "plotting.setup()"
ROUNDABOUT = {"globals", "locals", "vars", "dir", "exec", "eval"}
_waiting = {}  # {statement: the names that it binds}


def draws(code):
    """Does the cell need Matplotlib?"""
    return _parts(code)[2]


def cut(code, make_up):
    """The cell without the statements that can wait; those that waited for this cell are made up for by `make_up(statement)`."""
    rest, found, drawing = _parts(code)
    if not drawing:
        _waiting.update(found)
        return rest
    for statement in [*_waiting]:
        make_up(statement)
        del _waiting[statement]
    return code


def _parts(code):
    """The cell without what can wait, what can wait, and whether the rest draws."""
    try:
        statements = ast.parse(code).body
    except Exception:  # the cell will say so itself
        return code, {}, False
    lines = code.split("\n")
    found, mentioned = {}, set()
    for statement in statements:
        waits, now = _split(statement, {*found, *_waiting})
        if not waits or not _alone(statement, statements):
            mentioned |= _names(statement)
            continue
        found |= waits
        first, last = statement.lineno - 1, statement.end_lineno - 1
        lines[first : last + 1] = [now] + [""] * (last - first)  # the lines below keep their numbers
    names = {name for bound in [*found.values(), *_waiting.values()] for name in bound}
    rest = "\n".join(lines)
    return rest, found, bool(mentioned & names or names and mentioned & ROUNDABOUT or _drawing()[1].search(rest))


@cache
def _drawing():
    """The names of the book's package that draw, and what finds them, or Matplotlib itself, in a cell that takes another way."""
    from attnpage import DRAWS  # not before the path leads to the course

    return DRAWS, re.compile(rf"\bmatplotlib\b|\battnpage\s*\.\s*(?:{'|'.join({*DRAWS, *DRAWS.values()})})\b|\battnpage\s+import\s+\*")


def _split(statement, waiting):
    """What of a statement can wait, with the names that it binds, and the text of what is left of it."""
    if not isinstance(statement, ast.Import | ast.ImportFrom | ast.Expr):
        return {}, ""
    text = SETUP if _is_setup(statement) else "" if isinstance(statement, ast.Expr) else ast.unparse(statement)
    if plot := PLOT.fullmatch(text):
        return {text: {plot[1]}}, ""
    if text == SETUP and any("plotting" in each for each in waiting):
        return {text: {"plotting"}}, ""
    if isinstance(statement, ast.ImportFrom) and (statement.module, statement.level) == ("attnpage", 0):
        drawing = [name for name in statement.names if name.name in _drawing()[0]]
        others = [ast.unparse(name) for name in statement.names if name not in drawing]
        waits = {f"from attnpage import {ast.unparse(name)}": {name.asname or name.name} for name in drawing}
        return waits, f"from attnpage import {', '.join(others)}" if others else ""
    return {}, ""


def _is_setup(statement):
    call = statement.value if isinstance(statement, ast.Expr) else None
    plain = isinstance(call, ast.Call) and not call.args and not call.keywords
    return plain and isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name) and ast.unparse(call) == SETUP


def _alone(statement, statements):
    """Has the statement its lines to itself?"""
    lines = range(statement.lineno, statement.end_lineno + 1)
    return not any(other is not statement and {other.lineno, other.end_lineno} & {*lines} for other in statements)


def _names(statement):
    """All names in a statement, also those that it imports."""
    found = set()
    for node in ast.walk(statement):
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.alias):
            found.add(node.asname or node.name)
        elif isinstance(node, ast.Global | ast.Nonlocal):
            found.update(node.names)
    return found
