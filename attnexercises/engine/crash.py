"""Find the line of the reader's code at which an exception was raised, and explain the exception in plain words."""

import linecache
import os
import re
from dataclasses import dataclass

import numpy as np

_ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), "..", ".."))
_OURS = tuple(os.path.join(_ROOT, package, "") for package in ("attnlib", "attnpage", "attnexercises"))
_FOLDERS = tuple(os.path.join(os.path.realpath(os.path.dirname(module.__file__)), "") for module in (np, os))


@dataclass(frozen=True)
class Line:
    """A line that the reader wrote.

    Attributes
    ----------
    number : int
        The line number in its cell or file, counted from 1.
    text : str
        The code of the line, or "" if Python cannot show it.
    """

    number: int
    text: str = ""


def readers_line(error):
    """Return the innermost `Line` of an exception's traceback that is in the reader's own code; or None."""
    found, trace = None, error.__traceback__
    while trace is not None:
        if _is_the_readers(trace.tb_frame.f_code.co_filename):
            found = trace
        trace = trace.tb_next
    if found is None:
        return None
    frame = found.tb_frame
    text = linecache.getline(frame.f_code.co_filename, found.tb_lineno, frame.f_globals)
    return Line(found.tb_lineno, text.strip())


def _is_the_readers(file):
    if file.startswith("<frozen") or file == "<__array_function__ internals>":
        return False
    path = os.path.realpath(file)
    installed = {"site-packages", "dist-packages"} & set(path.split(os.sep))
    return not installed and not path.startswith(_FOLDERS + _OURS)


def error_in_words(problem):
    """Return a sentence that explains an exception, or "" for an exception that has no such sentence.

    Parameters
    ----------
    problem : str
        The exception as a check's message names it: "stops with ValueError: …".

    Examples
    --------
    >>> error_in_words("stops with NameError: name 'wieghts' is not defined")
    'Nothing is called `wieghts` there: a slip of the pen, or a cell that has not run?'
    >>> error_in_words("stops with ValueError: operands could not be broadcast together with shapes (3,5) (3,) ")
    'Shapes (3, 5) and (3,) do not fit: NumPy lines them up at their ends, and the last axes have the sizes 5 and 3.'
    """
    for pattern, say in _WORDS:
        found = re.search(pattern, problem)
        if found:
            return say(*found.groups()) if callable(say) else say
    return ""


def _shape(text):
    """Write a shape such as "3,5" as Python does: "(3, 5)"."""
    sizes = [size for size in text.replace(" ", "").split(",") if size]
    return f"({sizes[0]},)" if len(sizes) == 1 else f"({', '.join(sizes)})"


def _broadcast(shapes):
    """The axis, counted from the last one, on which two of the shapes do not fit, and the sizes that meet there."""
    shapes = [[int(size) for size in shape.split(",") if size] for shape in re.findall(r"\(([\d,]*)\)", shapes)]
    named = " and ".join(_shape(",".join(map(str, shape))) for shape in shapes)
    for place in range(1, max(map(len, shapes)) + 1):
        sizes = list(dict.fromkeys(shape[-place] for shape in shapes if len(shape) >= place and shape[-place] != 1))
        if len(sizes) > 1:
            axis = {1: "the last axes have", 2: "the axes before the last have"}.get(place, f"the axes number {place} from the end have")
            return f"Shapes {named} do not fit: NumPy lines them up at their ends, and {axis} the sizes {sizes[0]} and {sizes[1]}."
    return f"Shapes {named} do not fit."


def _remapped(shapes):
    """A product lines up the axes before the last two, and an `einsum` those of one letter; NumPy shows how."""
    named = " and ".join(map(_shape, re.findall(r"\(([\d,]*)\)->", shapes)))
    if all(shape.endswith("newaxis,newaxis)") for shape in shapes.split()):
        return f"Shapes {named} do not fit: a product `@` lines up all axes but the last two, and these differ."
    return f"In this `einsum` one letter stands for axes of different sizes. The shapes are {named}."


def _product(operand, axis, size, other):
    left, right = (size, other) if operand == "0" else (other, size)
    sums = f"A product sums over the last axis of its left array, here {left} long,"
    return f"{sums} and the last but one of its right, here {right}."


def _reshape(numbers, shape):
    sizes = re.findall(r"\d+", shape)  # NumPy's text leaves out a size of -1
    held = int(np.prod([int(size) for size in sizes]))
    asked = " × ".join(sizes) + (f" makes {held}" if len(sizes) > 1 else " in a row")
    return f"{asked}, and the array has {numbers} numbers."


def _place(index, axis, size):
    if size == "0":
        return f"Axis {axis} of this array is empty: it has no place {index}."
    return f"Axis {axis} has {size} place{'s' * (size != '1')}, numbered from 0; place {index} is not among them."


def _kinds(operator, one, other):
    return f"`{operator}` does not work between {_kind(one)} and {_kind(other)}."


def _kind(name):
    names = {"NoneType": "None", "numpy.ndarray": "an array", "str": "a text"}
    names["builtin_function_or_method"] = "a function"
    return names.get(name) or ("an " if name[:1] in "aeiou" else "a ") + name


_WORDS = (
    (r"NameError: name '(\w+)' is not defined",
     lambda name: f"Nothing is called `{name}` there: a slip of the pen, or a cell that has not run?"),
    (r"UnboundLocalError: cannot access local variable '(\w+)'",
     lambda name: f"`{name}` is used before this function has given it a value."),
    (r"operands could not be broadcast together with shapes ((?:\([\d,]*\) ?)+)", _broadcast),
    (r"operands could not be broadcast together with remapped shapes ((?:\S+->\S+ ?)+)", _remapped),
    (r"einstein sum subscripts string contains too many subscripts for operand (\d+)",
     lambda place: f"The subscripts of this `einsum` name more axes than its array number {int(place) + 1} has."),
    (r"all the input array dimensions except for the concatenation axis must match exactly, but along dimension (\d+), "
     r"the array at index (\d+) has size (\d+) and the array at index (\d+) has size (\d+)",
     lambda axis, one, size, other, another: f"The arrays that are joined differ in axis {axis}, too: array {one} has "
     f"{size} places there, and array {other} has {another}."),
    (r"all input arrays must have the same shape", "Only arrays of the same shape can be stacked."),
    (r"axes don't match array", "`transpose` needs the number of each axis of the array exactly once."),
    (r"non-broadcastable output operand with shape \(([\d,]*)\) doesn't match the broadcast shape \(([\d,]*)\)",
     lambda one, other: f"The result has the shape {_shape(other)}, and where it is to be written {_shape(one)}."),
    (r"could not broadcast input array from shape \(([\d,]*)\) into shape \(([\d,]*)\)",
     lambda one, other: f"An array of shape {_shape(one)} does not fit into a place of shape {_shape(other)}."),
    (r"matmul: Input operand ([01]) has a mismatch in its core dimension ([01]) "
     r"\(size (\d+) is different from (\d+)\)", _product),
    (r"matmul: Input operand [01] does not have enough dimensions",
     "A product `@` takes arrays with at least one axis; one of these is a single number."),
    (r"shapes \(([\d,]*)\) and \(([\d,]*)\) not aligned: (\d+) \(dim \d\) != (\d+)",
     lambda one, other, left, right: _product("0", "", left, right)),
    (r"cannot reshape array of size (\d+) into shape \((\w[\w,]*)\)", _reshape),
    (r"axis (-?\d+) is out of bounds for array of dimension (\d+)",
     lambda axis, axes: f"This array has {axes} {'axis' if axes == '1' else 'axes'}; axis {axis} is not among them."),
    (r"index (-?\d+) is out of bounds for axis (\d+) with size (\d+)", _place),
    (r"too many indices for array: array is (\d+)-dimensional, but (\d+) were indexed",
     lambda axes, indices: f"{indices} indices for an array of {axes} {'axis' if axes == '1' else 'axes'}."),
    (r"truth value of an array with more than one element",
     "`if`, `while`, `and`, `or`, `not` need one True or False; here is a whole array of them."),
    (r"IndexError: list index out of range", "The list is shorter than this index."),
    (r"ZeroDivisionError", "Something is divided by 0."),
    (r"AttributeError: 'numpy.ndarray' object has no attribute '(\w+)'",
     lambda name: f"An array has nothing called `.{name}`."),
    (r"AttributeError: module 'numpy' has no attribute '(\w+)'", lambda name: f"NumPy has nothing called `{name}`."),
    (r"unsupported operand type\(s\) for (\S+): '([\w.]+)' and '([\w.]+)'", _kinds),
    (r"TypeError: '([\w.]+)' object is not callable",
     lambda name: f"Round brackets call a function, but this is {_kind(name)}."),
    (r"TypeError: '([\w.]+)' object is not subscriptable",
     lambda name: f"Square brackets pick from an array or list, but this is {_kind(name)}."),
    (r"TypeError: '([\w.]+)' object is not iterable",
     lambda name: f"This is {_kind(name)}: there is nothing in it to go through."),
    (r"assignment destination is read-only", "This array may be read, not written to: make a copy first."),
    (r"Cannot cast ufunc '(\w+)' output from dtype\('float64'\) to dtype\('(\w+)'\)",
     lambda ufunc, kind: f"The result has decimals, and the array it is to be written into holds {kind} only."),
    (r"inhomogeneous shape|setting an array element with a sequence",
     "One place of an array takes one number, not several."),
)  # fmt: skip
