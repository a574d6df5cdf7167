"""What a function returned, read as the arrays that the exercise asks for, or said what it is in their place."""

import inspect
from decimal import Decimal
from numbers import Real

import numpy as np

from attnexercises.engine.todo import NotAttempted, holds_blank

TOO_MANY = 10**6  # numbers in what is returned; right answers to the probes have a few hundred


class Unreadable(Exception):
    """The returned object is not what the exercise asks for; the message says what it is."""


def read(exercise, raw):
    """Return the outputs as arrays of their own, and a problem that does not hinder looking at them."""
    if holds_blank(raw):
        raise NotAttempted
    if inspect.iscoroutine(raw):
        raw.close()  # a coroutine that nobody awaits would complain later
    names = exercise.behaviour.returns if exercise.behaviour else exercise.outputs
    problem = ""
    if raw is None:
        raise Unreadable("returns None: did you forget `return`?")
    if exercise.behaviour and exercise.behaviour.as_is:
        return (raw,), ""
    if len(names) == 1:
        parts = [raw]
        if isinstance(raw, tuple) and len(raw) == 1 and not exercise.value:
            parts, problem = [raw[0]], "returns a tuple of one; is there a comma too many after `return`?"
        elif isinstance(raw, tuple) and not exercise.value:
            raise Unreadable(f"returns {len(raw)} things, but one is expected: {names[0]}")
    else:
        wanted = f"{len(names)} things are expected: {', '.join(names)}"
        if isinstance(raw, np.ndarray):
            raise Unreadable(f"returns one array of shape {raw.shape}, but {wanted}")
        rows = isinstance(raw, list) and len(raw) != len(names) and all(isinstance(row, list) for row in raw)
        if rows or not isinstance(raw, (tuple, list)):  # an array written as rows is one thing
            raise Unreadable(f"returns one {_type_name(raw)}, but {wanted}")
        if len(raw) != len(names):
            raise Unreadable(f"returns {len(raw)} thing{'s' if len(raw) != 1 else ''}, but {wanted}")
        parts = list(raw)
    return tuple(_as_array(part, words=exercise.value) for part in parts), problem


def _as_array(part, words):
    if part is None:
        raise Unreadable("returns None in one place")
    try:
        if isinstance(part, np.ndarray) and np.ndarray.size.__get__(part) > TOO_MANY:
            raise Unreadable(f"returns an array of shape {np.ndarray.shape.__get__(part)}: far too many numbers")
        if isinstance(part, np.ma.MaskedArray) and np.ma.getmaskarray(part).any():
            hidden = f"{np.ma.getmaskarray(part).sum()} of its {part.size} numbers are hidden"
            raise Unreadable(f"returns a masked array: {hidden}, and plain numbers are expected")
        array = np.array(part)
    except ValueError as error:
        if "maximum number of dimension" in str(error):
            raise Unreadable("returns lists within lists, without end") from None
        raise Unreadable("returns rows of unequal length") from None
    if array.dtype.kind == "c":
        raise Unreadable("returns complex numbers")
    if array.dtype.kind == "O" and not isinstance(part, np.ndarray) and all(map(_is_number, array.flat)):
        array = array.astype(float)  # fractions, decimals, integers of any length
    if array.dtype.kind == "O" and isinstance(part, np.ndarray):
        raise Unreadable("returns an array of Python objects, not of floats")
    if array.dtype.kind not in ("fiubU" if words else "fiub"):
        raise Unreadable(f"returns {with_article(_type_name(part))}, not numbers")
    return array


def _is_number(x):
    return isinstance(x, (Real, Decimal)) and not isinstance(x, (bool, np.bool_))


def with_article(noun):
    return f"{'an' if noun[:1].lower() in tuple('aeio') else 'a'} {noun}"


def _type_name(thing):
    return {"ndarray": "array"}.get(type(thing).__name__, type(thing).__name__)
