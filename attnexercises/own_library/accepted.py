"""Keep the source of each function that passed in this session, together with the source of everything that it uses.

A reader may run a cell again with other code after its function has passed. Therefore all source is collected at the
moment when the function passes, and nothing is looked up later.

For a module, constant or imported function that an answer uses, `place_of` returns the line that defines it in a file
that needs only NumPy, or the reason why there is no such line.
"""

import ast
import builtins
import inspect
import math
import sys
import textwrap
from dataclasses import dataclass

from attnexercises.own_library.definitions import names_used, parsed

_session = {}  # from the id of an exercise to its `Accepted`


class CannotSave(Exception):
    """An answer cannot be saved in a file. The exception's text is a sentence for the reader."""


@dataclass(frozen=True)
class Piece:
    """One name that an answer needs.

    Attributes
    ----------
    name, code : str
        The name, and the code that defines it in the file.
    needs : tuple of str
        The names that this code uses.
    lacking : str
        If there is no code, the reason: "comes from attnlib.softmax".
    """

    name: str
    code: str = ""
    needs: tuple = ()
    lacking: str = ""


@dataclass(frozen=True)
class Accepted:
    """A function that passed, with the `Piece` of each name that it needs; or the `problem` why it cannot be saved."""

    function: object
    pieces: dict
    name: str = ""  # the function's own name, usually that of the exercise
    problem: str = ""


def remember(id, function):
    """Keep the source of a function that has just passed."""
    try:
        _session[id] = Accepted(function, _gathered(id, function), definition(function)[0])
    except CannotSave as error:
        _session[id] = Accepted(function, {}, problem=str(error))


def accepted(id):
    """Return the `Accepted` of an exercise, or None if no answer to it has passed in this session."""
    return _session.get(id)


def forget(id=None):
    """Delete one accepted answer, or all."""
    for gone in [id] if id else list(_session):
        _session.pop(gone, None)


def changed_since(id):
    """Has the notebook given the function's name to a different function since the answer passed?"""
    passed = inspect.unwrap(_session[id].function)
    name, pieces = _session[id].name, _session[id].pieces
    now = inspect.unwrap(passed.__globals__.get(name, passed))
    if now is passed or getattr(now, "__globals__", None) is not passed.__globals__:
        return False  # the name was imported since then, as chapter 1 itself does
    try:
        return definition(now)[1] != pieces[name].code
    except CannotSave:
        return True


def _gathered(id, function):
    """Return a dict from each name that an answer needs to its `Piece`."""
    home = getattr(inspect.unwrap(function), "__globals__", {})
    if (getattr(function, "__module__", None) or "").partition(".")[0] in ("attnlib", "attnexercises"):
        raise CannotSave(f"That {id} is the book's own, not yours.")
    pieces = {}
    _add_function(pieces, id, function, home)
    return pieces


def _add_function(pieces, name, function, home):
    """Add the piece for a function of the reader's, and the pieces that it needs."""
    own_name, code = definition(function)
    if own_name in pieces and pieces[own_name].code not in ("", code):
        raise CannotSave(f"Two functions of yours are called {own_name}: give one of them another name.")
    if own_name != name:
        pieces[name] = Piece(name, f"{name} = {own_name}\n", (own_name,))
    needs = [need for need in names_used(code) if need != own_name]
    pieces[own_name] = Piece(own_name, code, tuple(needs))
    for need in needs:
        if need not in pieces:
            _add(pieces, need, home)


def _add(pieces, name, home):
    """Add the piece for a name that some code uses, and the pieces that it needs in turn."""
    value = home.get(name, getattr(builtins, name, None))
    by_ipython = (getattr(value, "__module__", None) or "").startswith(("IPython", "ipykernel"))  # such as display
    if name not in home and not by_ipython:
        pieces[name] = Piece(name)  # built in, or never used: running the new file will show
        return
    function = inspect.unwrap(value) if callable(value) else value
    if inspect.isfunction(function) and function.__globals__ is home:
        _add_function(pieces, name, value, home)
        return
    code, origin, target = place_of(name, value)
    if code:
        pieces[name] = Piece(name, code + "\n")
    elif target not in ("", name) and target not in pieces:  # from attnlib.softmax import softmax as sm
        pieces[name] = Piece(name, f"{name} = {target}\n", (target,))
        pieces[target] = Piece(target, lacking=origin)
    else:
        pieces[name] = Piece(name, lacking=origin)


def definition(function):
    """Return the name and the source of a function defined by ``def`` or ``name = lambda``, or raise `CannotSave`."""
    function = inspect.unwrap(function)
    if not inspect.isfunction(function):
        raise CannotSave(f"A {type(function).__name__} has no source to be saved: write a function with `def`.")
    called = "your lambda" if function.__name__ == "<lambda>" else function.__name__
    if function.__closure__:
        inner = function.__code__.co_freevars[0]
        raise CannotSave(
            f"`{inner}` in {called} belongs to another function around it: "
            "write a function that stands on its own."
        )
    try:
        source = inspect.getsource(function)
    except (OSError, TypeError):
        raise CannotSave(
            f"Python cannot show the source of {called}: define it in a cell that does not begin with %%, "
            "or in a file, and check it again."
        ) from None
    source = textwrap.dedent(source.replace("\r\n", "\n")).rstrip() + "\n"
    name = _defined_name(source)
    if name is None or function.__name__ not in (name, "<lambda>"):
        raise CannotSave(f"The source of {called} is not one definition: write it as a function, with `def`.")
    foreign = [module for module in _imported_inside(source) if not always_there(module)]
    if foreign:
        raise CannotSave(f"{name} imports {foreign[0]}, but a file of your own is to need NumPy alone.")
    return name, source


def _defined_name(source):
    """The name of the function that the source defines; None if the source is anything but one definition."""
    try:
        statements = parsed(source)
    except (SyntaxError, ValueError):
        return None
    first = statements[0] if len(statements) == 1 else None
    if isinstance(first, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return first.name
    if isinstance(first, ast.Assign) and isinstance(first.value, ast.Lambda) and len(first.targets) == 1:
        return getattr(first.targets[0], "id", None)
    return None


def _imported_inside(source):
    """Yield the packages that are imported inside the function."""
    for node in ast.walk(parsed(source)[0]):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield (node.module or "").partition(".")[0]


def place_of(name, value):
    """Return ``(code, origin, target)`` for a name of the notebook and its value.

    `code` is the line that defines the name in a file that needs only NumPy. If there is no such line, `code` is "",
    `origin` says why, and `target` is the value's own name.

    Examples
    --------
    >>> place_of("np", np)[0], place_of("floor", -np.inf)[0], place_of("root", np.sqrt)[0]
    ('import numpy as np', "floor = float('-inf')", 'from numpy import sqrt as root')
    >>> from attnlib.softmax import softmax
    >>> place_of("sm", softmax)
    ('', 'comes from attnlib.softmax', 'softmax')
    """
    if inspect.ismodule(value):
        module = value.__name__
        if not always_there(module):
            return "", f"is the module {module}", ""
        return f"import {module}" + ("" if module == name else f" as {name}"), "", ""
    if _is_constant(value):
        return f"{name} = {_written(value)}", "", ""
    own_name, modules = getattr(value, "__name__", ""), (getattr(value, "__module__", None), "numpy")
    for module in filter(None, modules):
        if always_there(module) and own_name and getattr(sys.modules.get(module), own_name, None) is value:
            return f"from {module} import {own_name}" + ("" if own_name == name else f" as {name}"), "", ""
    if modules[0] and modules[0] != "__main__" and (inspect.isroutine(value) or inspect.isclass(value)):
        room = ".".join(modules[0].split(".")[:2]) if modules[0].startswith("attnlib.") else modules[0]
        return "", f"comes from {room}", own_name
    kind = "a class" if inspect.isclass(value) else f"a value of the kind {type(value).__name__}"
    return "", f"is {kind} from another cell", ""


def always_there(module):
    """Is a module part of NumPy or of Python's standard library, and so available wherever NumPy is?"""
    root = module.partition(".")[0]
    return root == "numpy" or root in sys.stdlib_module_names


def _is_constant(value):
    if type(value) is tuple:
        return all(map(_is_constant, value))
    return value is None or type(value) in (bool, int, float, str)


def _written(value):
    if type(value) is tuple:
        return "(" + "".join(f"{_written(part)}, " for part in value) + ")"
    if type(value) is float and not math.isfinite(value):
        return f"float('{value}')"
    return repr(value)
