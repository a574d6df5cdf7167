"""The text of the reader's file: which names it defines where; a definition put in, replaced or taken out.

Whatever else stands in the file stays as it is, to the letter.
"""

import ast
import re
import symtable
import warnings
from dataclasses import dataclass

from attnexercises.engine.registry import registry

HEAD = '''"""My own attention, from the exercises of "Attention, Derived". Each function here passed its check.

Add what you like. What stands below a line "# saved: ..." is replaced when you save that name again.
"""

import numpy as np
'''
_MARK = "# saved: "


@dataclass(frozen=True)
class _Place:
    first: int  # lines first to last, counted from 0, `last` excluded
    last: int
    saved: bool  # below our mark
    alone: bool  # a statement that defines nothing else


def defined(text):
    """Return the names that the file defines at its top level, with their code.

    Examples
    --------
    >>> defined("x = 1\\ndef f():\\n    pass\\n")
    {'x': 'x = 1\\n', 'f': 'def f():\\n    pass\\n'}
    """
    lines = _lines(text)
    return {
        name: re.sub(r"\r\n?", "\n", "".join(lines[place.first + place.saved : place.last])).rstrip() + "\n"
        for name, place in _places(text).items()
    }


def with_piece(text, name, code, above=None, replace=False):
    """Return the text with `name` defined by `code`: in its old place, or above another name, or at the end.

    Raises
    ------
    KeyError
        If the reader has written something else of this name, and `replace` is not set.
    """
    text = text if text.strip() else HEAD
    lines, places = _lines(text), _places(text)
    ending = "\r\n" if "\r\n" in text else "\n"
    new = [line + ending for line in code.rstrip("\n").split("\n")]
    place = places.get(name)
    if place and (defined(text)[name] == code or _is_import(code)):
        return text
    if place and not (place.saved or replace):
        raise KeyError(name)
    if place and not place.alone:
        place = None  # `softmax, other = ...`: stands as it is; what is defined further down counts
    if not _is_import(code):
        new = [_MARK + name + ending, *new]
    if place:
        first, last = place.first, place.last
    elif _is_import(code):
        first = last = _below_imports(text)
    elif above in places and above != name:
        first = last = places[above].first
        new += [ending, ending]
    else:
        first = last = len(lines)
        new = [ending, ending, *new]
    if first == len(lines) and lines and not lines[-1].endswith(("\r", "\n")):
        lines[-1] += ending
    lines[first:last] = new
    return "".join(lines)


def without(text, name):
    """Return the text without the definition of `name` and our mark above it; KeyError if there is no such mark.

    What was saved with it goes, too, unless something else needs it.
    """
    text = _taken_out(text, name)
    helpers = [helper for helper, place in _places(text).items() if place.saved and helper not in registry()]
    for helper in reversed(helpers):
        rest = _taken_out(text, helper)
        if helper not in names_used(rest):
            text = rest
    return text


def _taken_out(text, name):
    lines, place = _lines(text), _places(text).get(name)
    if place is None or not place.saved:
        raise KeyError(name)
    first = place.first
    while first and not lines[first - 1].strip():
        first -= 1
    return "".join(lines[:first] + lines[place.last :])


def parsed(source):
    """Return the statements of a source. A warning about them was shown when they were run."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source).body


def names_used(source):
    """The global names that some code uses anywhere: in a function, in default arguments, in decorators.

    Examples
    --------
    >>> names_used("@cached\\ndef f(x, n=N):\\n    return g(x) + max(x)\\n")
    ['N', 'cached', 'g', 'max']
    """
    names, tables = set(), [_table(source)]
    for table in tables:
        tables += table.get_children()
        for symbol in table.get_symbols():
            if symbol.is_referenced() and symbol.is_global():
                names.add(symbol.get_name())
    return sorted(names)


def _table(source):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return symtable.symtable(source, "answer", "exec")


def _lines(text):
    """As Python counts them; `str.splitlines` knows more ends than Python."""
    return re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$", text)


def _is_import(code):
    return code.startswith(("import ", "from "))


def _places(text):
    lines, places = _lines(text), {}
    for node in parsed(text):
        decorators = getattr(node, "decorator_list", [])
        first = min(part.lineno for part in (node, *decorators)) - 1
        for name in _names(node):
            saved = first > 0 and lines[first - 1].strip() == _MARK + name
            places[name] = _Place(first - saved, node.end_lineno, saved, len(_names(node)) == 1)
    return places


def _names(node):
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [node.name]
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return [alias.asname or alias.name.partition(".")[0] for alias in node.names]
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    parts = [part for target in targets if target for part in ast.walk(target) if isinstance(part, ast.Name)]
    return [part.id for part in parts if isinstance(part.ctx, ast.Store)]


def _below_imports(text):
    """The line below the imports at the top, or else below the docstring."""
    line = 0
    for number, node in enumerate(parsed(text)):
        is_docstring = number == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not isinstance(node, (ast.Import, ast.ImportFrom)) and not is_docstring:
            break
        line = node.end_lineno
    return line
