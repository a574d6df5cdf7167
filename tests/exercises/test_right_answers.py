"""Right answers in other styles: each way of writing a function is accepted for every function exercise."""

import functools
import types
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from exercise_cases import every_function

from attnlib.exercises import grade
from attnlib.exercises.engine.calls import argument_names
from attnlib.exercises.engine.registry import registry


def listed(thing):
    if isinstance(thing, tuple):
        return tuple(map(listed, thing))
    return thing.tolist() if isinstance(thing, (np.ndarray, np.generic)) else thing


def renamed(function, names):
    """The function with parameters called a0, a1, ..."""
    numbered = ", ".join(f"a{place}" for place in range(len(names)))
    return eval(f"lambda {numbered}: function({numbered})", {"function": function})


def typed(function, names):
    space = {"function": function}
    given = ", ".join(f"{name}: object" for name in names)
    exec(f"def answer({given}) -> object:\n    return function({', '.join(names)})", space)
    return space["answer"]


def by_keyword(function, names):
    return lambda *arguments: function(**dict(zip(names, arguments, strict=True)))


def with_defaults(function, names):
    space = {"function": function}
    exec(f"def answer({', '.join(names)}, eps=0.0, *, note=''):\n    return function({', '.join(names)})", space)
    return space["answer"]


def decorated(function, names):
    @functools.wraps(function)
    def answer(*arguments, **options):
        return function(*arguments, **options)

    return answer


class Layer:
    def __init__(self, function):
        self.function = function

    def method(self, *arguments):
        return self.function(*arguments)

    def __call__(self, *arguments):
        return self.function(*arguments)


STYLES = {
    "lambda": lambda function, names: lambda *arguments: function(*arguments),
    "partial": lambda function, names: functools.partial(lambda note, *arguments: function(*arguments), "note"),
    "method": lambda function, names: Layer(function).method,
    "callable object": lambda function, names: Layer(function),
    "static method": lambda function, names: types.SimpleNamespace(f=staticmethod(function)).f,
    "decorated": decorated,
    "typed": typed,
    "other names": renamed,
    "called by keyword": by_keyword,
    "more arguments, with defaults": with_defaults,
    "lists out": lambda function, names: lambda *arguments: listed(function(*arguments)),
    "a list of outputs": lambda function, names: lambda *arguments: _as_list(function(*arguments)),
    "numpy's numbers": lambda function, names: lambda *arguments: _scalars(function(*arguments)),
    "Fortran's order": lambda function, names: lambda *arguments: _each(np.asfortranarray, function(*arguments)),
    "read-only": lambda function, names: lambda *arguments: _each(_frozen, function(*arguments)),
    "in long double": lambda function, names: lambda *arguments: function(*map(_longer, arguments)),
    "a subclass": lambda function, names: lambda *arguments: _each(_subclass, function(*arguments)),
}


def _each(change, out):
    many = isinstance(out, tuple)
    changed = tuple(change(part) if isinstance(part, np.ndarray) else part for part in (out if many else (out,)))
    return changed if many else changed[0]


def _as_list(out):
    return list(out) if isinstance(out, tuple) else out


def _scalars(out):
    return tuple(map(_scalars, out)) if isinstance(out, tuple) else out[()] if isinstance(out, np.ndarray) else out


def _frozen(array):
    array.flags.writeable = False
    return array


class _Mine(np.ndarray):
    pass


def _subclass(array):
    return array.view(_Mine)


def _longer(argument):
    return argument.astype(np.longdouble) if getattr(argument, "dtype", None) == np.float64 else argument


@every_function
@pytest.mark.parametrize("style", STYLES)
def test_a_right_answer_passes_in_every_style(exercise, style):
    answer = STYLES[style](exercise.solution, argument_names(exercise))
    result = grade(exercise, answer)
    assert result.status == "passed", result.lines


VALUES = [exercise for exercise in registry().values() if exercise.value]
NUMBERS = [exercise for exercise in VALUES if np.asarray(exercise.solution()).dtype.kind in "fi"]


def _parts(change, value):
    return tuple(change(part) for part in value) if isinstance(value, tuple) else change(value)


KINDS = {
    "Fraction": lambda number: Fraction(str(number)),
    "Decimal": lambda number: Decimal(str(number)),
    "float": float,
    "float64": np.float64,
    "array": np.asarray,
    "longdouble": np.longdouble,
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("exercise", NUMBERS, ids=lambda exercise: exercise.id)
def test_a_right_number_passes_in_every_kind(exercise, kind):
    value = _parts(KINDS[kind], exercise.solution())
    for answer in (value, lambda: value):
        result = grade(exercise, answer)
        assert result.status == "passed", result.lines
