"""Find, add, replace and remove definitions in the text of the reader's file.

All other text in the file is kept exactly as it is.
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
    """The lines that define a name."""

    first: int  # the first line of the definition, counted from 0, with our mark if there is one
    last: int  # the line after the definition
    saved: bool  # whether our mark stands above the definition
    alone: bool  # whether the statement defines no other name


def defined(text):
    """Return a dict from each name that the text defines at its top level to the code of the definition.

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
    """Return the text with `name` defined by `code`.

    The code replaces an old definition of the name. Without one, it goes above the name `above`, or to the end.

    Raises
    ------
    KeyError
        If the reader has written another definition of this name, and `replace` is not set.
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
        place = None  # `softmax, other = ...` is left alone: a definition further down in the file overrides it
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
    """Return the text without the definition of `name`. Raise a KeyError if our mark does not stand above it.

    Helpers that were saved together with a function are removed too, unless other code needs them.
    """
    text = _taken_out(text, name)
    helpers = [helper for helper, place in _places(text).items() if place.saved and helper not in registry()]
    for helper in reversed(helpers):
        rest = _taken_out(text, helper)
        if helper not in names_used(rest):
            text = rest
    return text


def _taken_out(text, name):
    """The text without a definition, its mark and the empty lines above; KeyError if there is no mark."""
    lines, place = _lines(text), _places(text).get(name)
    if place is None or not place.saved:
        raise KeyError(name)
    first = place.first
    while first and not lines[first - 1].strip():
        first -= 1
    return "".join(lines[:first] + lines[place.last :])


def parsed(source):
    """Return the statements of a source, without warnings: Python has shown them when the code was run."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(source).body


def names_used(source):
    """Return the global names that some code uses anywhere, also in default arguments and decorators.

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
    """Split a text into lines as Python does. (`str.splitlines` also splits at characters that end no line of code.)"""
    return re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+$", text)


def _is_import(code):
    return code.startswith(("import ", "from "))


def _places(text):
    """Return a dict from each name that the text defines to its `_Place`."""
    lines, places = _lines(text), {}
    for node in parsed(text):
        decorators = getattr(node, "decorator_list", [])
        first = min(part.lineno for part in (node, *decorators)) - 1
        for name in _names(node):
            saved = first > 0 and lines[first - 1].strip() == _MARK + name
            places[name] = _Place(first - saved, node.end_lineno, saved, len(_names(node)) == 1)
    return places


def _names(node):
    """The names that a statement defines."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [node.name]
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return [alias.asname or alias.name.partition(".")[0] for alias in node.names]
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    parts = [part for target in targets if target for part in ast.walk(target) if isinstance(part, ast.Name)]
    return [part.id for part in parts if isinstance(part.ctx, ast.Store)]


def _below_imports(text):
    """Return the number of the line below the imports at the top, or else below the docstring."""
    line = 0
    for number, node in enumerate(parsed(text)):
        is_docstring = number == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if not isinstance(node, (ast.Import, ast.ImportFrom)) and not is_docstring:
            break
        line = node.end_lineno
    return line
