"""Send a `Result` and an answer's outputs from another process as plain data, which cannot make the receiver do anything.

The text is JSON. It holds numbers, words, lists and arrays, and of this project's own classes `Claim`, `Size` and `Case`.
An array is its bytes with dtype and shape. An exception is three texts: the name of its type, its message and its traceback.
Anything else is refused, when it is written and when it is read. Unlike a pickle, such a text names no function, so that a
forged one can at most lie.
"""

import base64
import json
import math
import re
import traceback
from dataclasses import fields

import numpy as np

from attnexercises.engine.claims import Claim, Size
from attnexercises.engine.model import Result

DEEPEST = 20  # lists within lists
_OF_PLAIN_NUMBERS = re.compile(r"[<>|=](?:[biuf][1248]|f16|U\d{1,5})")  # the dtypes that an array may have


class NotPlain(ValueError):
    """This is not plain data."""


def text_of(thing):
    """Return a thing as one line of JSON; raise `NotPlain` if it is no plain data.

    Examples
    --------
    >>> read(text_of({"shape": (2, 3), "mean": 0.5}))
    {'shape': (2, 3), 'mean': 0.5}
    """
    return json.dumps(_written(thing), separators=(",", ":"))


def read(text):
    """Return the thing that `text_of` has written; raise `NotPlain` for any other text.

    Examples
    --------
    >>> read('{"eval": "1 + 1"}')
    Traceback (most recent call last):
    attnexercises.engine.plain_data.NotPlain: 'eval' is no kind of plain data
    """
    try:
        return _read(json.loads(text))
    except NotPlain:
        raise
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, MemoryError) as error:
        raise NotPlain(f"{type(error).__name__}: {error}") from None


def fields_of(result):
    """Return a `Result` as a dict. A field that is no plain data, such as an object of a reader's class, gets its default."""
    values = {}
    for field in fields(Result):
        values[field.name] = getattr(result, field.name)
        try:
            text_of(values[field.name])
        except NotPlain:
            values[field.name] = field.default
    return values


def result_of(values):
    """Return the `Result` with these fields; raise `NotPlain` if they are not those of a `Result`."""
    from attnexercises.failing_case.case import Case

    try:
        result = Result(**values)
    except TypeError as error:
        raise NotPlain(str(error)) from None
    texts = "lines", "passed", "failed", "mistakes", "printed"
    fits = result.status in ("unattempted", "crashed", "wrong", "passed") and isinstance(result.stopped, str)
    fits &= all(isinstance(getattr(result, name), tuple) for name in (*texts, "claims")) and bool(result.lines)
    fits &= all(isinstance(text, str) for name in texts for text in getattr(result, name))
    fits &= all(isinstance(claim, Claim) for claim in result.claims)
    fits &= result.hint is None or type(result.hint) is int
    fits &= result.case is None or isinstance(result.case, Case)
    if not fits:
        raise NotPlain("not the fields of a Result")
    return result


def exception_in_words(error):
    """Return an exception as plain data: the name of its type, its message and its traceback."""
    return {"exception": type(error).__name__, "message": str(error), "traceback": "".join(traceback.format_exception(error))}


def _written(thing, depth=0):
    """The thing as JSON holds it: a number, text or None is itself; all else is a dict with one key, its kind."""
    kind = type(thing)
    if depth > DEEPEST:
        raise NotPlain("lists within lists, without end")
    if thing is None or kind in (bool, str, float) or kind is int and abs(thing) < 2**4096:
        return thing if kind is not float or math.isfinite(thing) else {"float": repr(thing)}
    if kind in (tuple, list):
        return {kind.__name__: [_written(part, depth + 1) for part in thing]}
    if kind is dict and all(type(key) is str for key in thing):
        return {"dict": {key: _written(value, depth + 1) for key, value in thing.items()}}
    if kind is np.ndarray or isinstance(thing, np.generic):
        return _written_array(thing)
    if kind is Size:
        return {"size": [_written(part, depth + 1) for part in thing]}
    if kind in _classes().values():
        return {kind.__name__: {f.name: _written(getattr(thing, f.name), depth + 1) for f in fields(kind)}}
    raise NotPlain(f"{kind.__name__} is no plain data")


def _written_array(array):
    kind = "array" if type(array) is np.ndarray else "scalar"
    array = np.asarray(array)
    if not _OF_PLAIN_NUMBERS.fullmatch(array.dtype.str):
        raise NotPlain(f"an array of {array.dtype} is no plain data")
    numbers = base64.b64encode(array.tobytes()).decode("ascii")  # `tobytes` writes them in the order of the last axis
    return {kind: {"dtype": array.dtype.str, "shape": list(array.shape), "bytes": numbers}}


def _read(thing):
    if thing is None or type(thing) in (bool, str, int, float):
        return thing
    if type(thing) is not dict or len(thing) != 1:
        raise NotPlain("this has no kind")
    ((kind, held),) = thing.items()
    if kind == "float" and held in ("inf", "-inf", "nan"):
        return float(held)
    if kind in ("tuple", "list"):
        return {"tuple": tuple, "list": list}[kind](map(_read, held))
    if kind == "dict":
        return {key: _read(value) for key, value in held.items()}
    if kind in ("array", "scalar"):
        array = _read_array(**held)
        return array if kind == "array" else array[()]
    if kind == "size":
        return Size(*map(_read, held))
    if kind in _classes():
        return _classes()[kind](**{name: _read(value) for name, value in held.items()})
    raise NotPlain(f"{kind!r} is no kind of plain data")


def _read_array(dtype, shape, bytes):
    if not _OF_PLAIN_NUMBERS.fullmatch(dtype):
        raise NotPlain(f"no dtype of plain numbers: {dtype}")
    return np.frombuffer(base64.b64decode(bytes, validate=True), dtype).reshape(shape).copy()


def _classes():
    from attnexercises.failing_case.case import Case

    return {"Claim": Claim, "Case": Case}
