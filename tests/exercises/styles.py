"""Ways to hand over an answer, each a wrapper around any function; and the ways to compute that a formula rules out."""

import functools
import types
from decimal import Decimal
from fractions import Fraction

import numpy as np
from accepted import accepted


def ways(exercise):
    """The solution and all accepted alternatives, by name."""
    return {"solution": exercise.solution, **accepted(exercise.id)}


# --- how a function is written --------------------------------------------------------------------


def renamed(function, names):
    """The function with parameters called a0, a1, ..."""
    numbered = ", ".join(f"a{place}" for place in range(len(names)))
    return eval(f"lambda {numbered}: function({numbered})", {"function": function})


def typed(function, names):
    given = ", ".join(f"{name}: 'np.ndarray | int'" for name in names)
    return _defined(f"def answer({given}) -> object:", function, names)


def by_position_alone(function, names):
    return _defined(f"def answer({', '.join(names)}, /):", function, names)


def with_defaults(function, names):
    return _defined(f"def answer({', '.join(names)}, eps=0.0, *, note='', **more):", function, names)


def _defined(head, function, names):
    space = {"function": function}
    exec(f"{head}\n    'What it does.'\n    return function({', '.join(names)})", space)
    return space["answer"]


def by_keyword(function, names):
    return lambda *arguments: function(**dict(zip(names, arguments, strict=True)))


def decorated(function, names):
    @functools.wraps(function)
    def answer(*arguments, **options):
        return function(*arguments, **options)

    return answer


def with_a_helper(function, names):
    def answer(*arguments):
        def inner():
            return function(*arguments)

        return inner()

    return answer


class Layer:
    def __init__(self, function):
        self.function = function

    def method(self, *arguments):
        return self.function(*arguments)

    def __call__(self, *arguments):
        return self.function(*arguments)

    @classmethod
    def of_the_class(cls, function, *arguments):
        return cls(function)(*arguments)


# --- what a function returns ----------------------------------------------------------------------


def returning(change):
    """A style in which `change` is applied to everything that is returned."""
    return lambda function, names: lambda *arguments: _each(change, function(*arguments))


def _each(change, out):
    return tuple(map(change, out)) if isinstance(out, tuple) else change(out)


def _only_arrays(change):
    return lambda part: change(part) if isinstance(part, np.ndarray) else part


def _listed(part):
    return part.tolist() if isinstance(part, (np.ndarray, np.generic)) else part


def _nested(kind):
    """Lists of numbers of this kind; infinities, True and False as they are."""

    def convert(part):
        if isinstance(part, list):
            return [convert(item) for item in part]
        number = isinstance(part, (int, float)) and not isinstance(part, bool)
        return kind(part) if number and abs(part) < np.inf else part

    return lambda part: convert(_listed(part))


def _frozen(array):
    array = array.copy()
    array.flags.writeable = False
    return array


def _strided(array):
    """A view of every second entry of a larger array."""
    return np.repeat(array, 2, axis=-1)[..., ::2] if array.ndim else array


def _backwards(array):
    """A view with a negative step."""
    return array[::-1].copy()[::-1] if array.ndim else array


class _Mine(np.ndarray):
    pass


def _longer(argument):
    return argument.astype(np.longdouble) if getattr(argument, "dtype", None) == np.float64 else argument


STYLES = {
    "lambda": lambda function, names: lambda *arguments: function(*arguments),
    "partial": lambda function, names: functools.partial(lambda note, *arguments: function(*arguments), "note"),
    "partial by keyword": lambda function, names: functools.partial(lambda *a, note: function(*a), note="note"),
    "method": lambda function, names: Layer(function).method,
    "class method": lambda function, names: functools.partial(Layer.of_the_class, function),
    "static method": lambda function, names: types.SimpleNamespace(f=staticmethod(function)).f,
    "callable object": lambda function, names: Layer(function),
    "decorated": decorated,
    "with a helper": with_a_helper,
    "typed": typed,
    "other names": renamed,
    "by position alone": by_position_alone,
    "called by keyword": by_keyword,
    "more arguments, with defaults": with_defaults,
    "lists out": returning(_listed),
    "lists of rows": returning(lambda part: list(part) if np.ndim(part) else part),
    "a list of outputs": lambda function, names: lambda *arguments: _as_list(function(*arguments)),
    "fractions out": returning(_nested(Fraction)),
    "decimals out": returning(_nested(Decimal)),
    "arrays of no axis for numbers": returning(np.asarray),
    "numpy's numbers": returning(_only_arrays(lambda array: array[()])),
    "Fortran's order": returning(_only_arrays(np.asfortranarray)),
    "every second entry of an array": returning(_only_arrays(_strided)),
    "an array backwards": returning(_only_arrays(_backwards)),
    "read-only": returning(_only_arrays(_frozen)),
    "a subclass": returning(_only_arrays(lambda array: array.view(_Mine))),
    "in long double": lambda function, names: lambda *arguments: function(*map(_longer, arguments)),
}


def _as_list(out):
    return list(out) if isinstance(out, tuple) else out


# --- how it is computed ---------------------------------------------------------------------------

#: Each function exercise has an accepted answer of each of these names, or a reason in `NOT_POSSIBLE`.
COMPUTED = ("loops", "einsum", "tensordot", "where")

_NO_CHOICE = "All entries are treated alike: there is nothing to choose."
_NO_PRODUCT = "Two matrices are filled in; nothing is multiplied and added up."
_COUNTED = "Whole numbers from three or four others: there is no array."

NOT_POSSIBLE = {
    ("product_transpose", "where"): _NO_CHOICE,
    ("linear_backward", "where"): _NO_CHOICE,
    ("used_twice", "where"): _NO_CHOICE,
    ("softmax", "where"): _NO_CHOICE,
    ("distance_attention", "where"): _NO_CHOICE,
    ("sdpa", "where"): _NO_CHOICE,
    ("mha", "where"): _NO_CHOICE,
    ("causal_mask", "einsum"): "A comparison of two numbers for each pair: nothing is multiplied and added up.",
    ("causal_mask", "tensordot"): "A comparison of two numbers for each pair: nothing is multiplied and added up.",
    ("paper_mask", "einsum"): "A comparison of two numbers for each pair: nothing is multiplied and added up.",
    ("paper_mask", "tensordot"): "A comparison of two numbers for each pair: nothing is multiplied and added up.",
    ("previous_token_head", "einsum"): _NO_PRODUCT,
    ("previous_token_head", "tensordot"): _NO_PRODUCT,
    ("first_of_its_kind_head", "einsum"): _NO_PRODUCT,
    ("first_of_its_kind_head", "tensordot"): _NO_PRODUCT,
    ("flash_traffic", "einsum"): _COUNTED,
    ("flash_traffic", "tensordot"): _COUNTED,
    ("flash_traffic", "where"): _COUNTED,
    ("ring_traffic", "einsum"): _COUNTED,
    ("ring_traffic", "tensordot"): _COUNTED,
    ("ring_traffic", "where"): _COUNTED,
    ("ring_backward", "where"): _NO_CHOICE,
    ("rms_backward", "where"): _NO_CHOICE,
    ("paged_lookup", "where"): _NO_CHOICE,
    ("linear_step", "where"): _NO_CHOICE,
    ("adam_direction", "where"): _NO_CHOICE,
}
