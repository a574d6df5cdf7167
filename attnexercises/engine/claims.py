"""A claim about a wrong answer, such as "every number is 2 times the right one", as data: its words follow from what it holds.

`relations` measures which claims hold; the tests measure every claim again, in their own way.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np


class Size(NamedTuple):
    """A number by which a result can be too large: the size of an axis, or an integer argument (`axis` is None)."""

    argument: str
    axis: int | None = None
    over: str = ""  # the name of an integer argument by which the size is divided
    axes: int | None = None  # how many axes the argument has, if these are the same in every case

    def __str__(self):
        size = self.argument if self.axis is None else f"{self._name()} of {self.argument}"
        return size + (f" / {self.over}" if self.over else "")

    def _name(self):
        """What the axis is called; in the book four axes are batch, heads, rows and columns, and three are without heads."""
        names = {(-1, 1): "the length", (-4, 4): "the batch size", (-3, 4): "the number of heads", (-3, 3): "the batch size"}
        leading = {-1: "the number of columns", -2: "the number of rows", -3: "the size of the last leading axis"}
        return names.get((self.axis, self.axes)) or leading.get(self.axis) or f"the size of axis {self.axis}"


@dataclass(frozen=True)
class Claim:
    """One measured claim about an answer.

    Attributes
    ----------
    kind : str
        A name in `WORDS`.
    values : dict
        What the words are made of.
    where : str
        The cases in which the claim holds: a name in `RANGES`.
    case : str
        The label of the case, if the claim is about one case of several.
    outputs : tuple of str
        The outputs that the claim is about; () if the exercise has a single output.

    Examples
    --------
    >>> print(Claim("times", {"n": 2.0}, "wrong", outputs=("d_x", "d_y")))
    d_x, d_y: where it is wrong, every number is 2 times the right one
    """

    kind: str
    values: dict = field(default_factory=dict)
    where: str = ""
    case: str = ""
    outputs: tuple = ()

    def __str__(self):
        words = WORDS[self.kind]
        words = words if isinstance(words, str) else words(**self.values)
        parts = [RANGES[self.where].format(case=self.case), f"{', '.join(self.outputs)}: " if self.outputs else ""]
        return "".join(parts if self.where == "edge" else parts[::-1]) + words

    @property
    def sentence(self):
        words = str(self)
        return words if words.endswith("?") else f"{words}."


RANGES = {
    "": "",
    "wrong": "where it is wrong, ",
    "ordinary": "on ordinary inputs, ",
    "ordinary wrong": "on ordinary inputs where it is wrong, ",
    "case": 'on the case "{case}", ',
    "edge": 'right on ordinary inputs; on the case "{case}": ',
}


def number(x, told_from=None):
    """Write a number with three digits, or with as many as it takes to differ from `told_from`."""
    x = float(x)
    if np.isnan(x):
        return "NaN"
    if np.isinf(x):
        return "infinite" if x > 0 else "minus infinite"
    digits = 3
    while told_from is not None and x != told_from and f"{x:.{digits}g}" == f"{told_from:.{digits}g}" and digits < 16:
        digits += 1
    return str(int(x)) if x == round(x) and abs(x) < 1e6 else f"{x:.{digits}g}"


def counted(count, noun):
    return f"{count} {noun}{'s' * (count != 1)}"


def _lost(what, count, of, right):
    if what == "finite":
        return f"finite where {right:g} is right" + (f", in {count} of {of} numbers" if of > 1 else "")
    return what + (f" in {count} of {of} numbers" if of > 1 else "") + ("" if right is None else f" where {right:g} is right")


def _shape(got, want):
    fits = len(got) != len(want) and [n for n in got if n > 1] == [n for n in want if n > 1]
    axis = f" (an axis of size 1 is {'too many' if len(got) > len(want) else 'missing'})" if fits else ""
    return f"the shape is {got}; {want} is expected{axis}"


def _digits(digits, single, rounded):
    cause = "rounded, or an epsilon or a small step in it?"
    if single:
        cause = "computed in float32?" + (" Or is an epsilon or a small step in it?" if rounded else "")
    return f"right to about {digits} digits only; {cause}"


def _kind(got, want, one):
    if want == "U":
        return "a word is expected, not a number"
    if got == "U":
        return "a number is expected, not a word" if one else "a tuple of numbers is expected, not a word"
    return "True or False is expected, not numbers" if want == "b" else "numbers are expected"


def _entries(wrong, of, axis, at, first, got, want, side=""):
    """Which numbers are wrong: how many, where, and the first of them."""
    numbers = f"{number(got, told_from=want)} and should be {number(want, told_from=got)}"
    if of == 1:
        return f"the number is {numbers}"
    what = {-1: "column" if len(first) > 1 else "place", -2: "row"}.get(axis, "place")
    where = f", all in {_listed(what, at)}" + f" of axis {len(first) + axis}" * (axis < -2) if at else ""
    where = f", all {side} the diagonal" if side else where
    how_many = f"all {of} numbers are wrong" if wrong == of else f"{wrong} of {of} numbers are wrong{where}"
    which = "it" if wrong == 1 else f"the first, at [{', '.join(map(str, first))}],"
    return f"{how_many}; {which} is {numbers}"


def _times(factor):
    """Return words such as "2 times ", or "" for 1."""
    return "" if np.isclose(factor, 1) else f"{number(factor)} times "


def _listed(noun, places):
    """Return words such as "row 2", "rows 0 to 3" or "rows 0, 2 and 5"."""
    if len(places) == 1:
        return f"{noun} {places[0]}"
    plural = f"{noun}s"
    if len(places) > 2 and list(places) == list(range(places[0], places[-1] + 1)):
        return f"{plural} {places[0]} to {places[-1]}"
    return f"{plural} {', '.join(map(str, places[:-1]))} and {places[-1]}"


#: The words of each kind of claim, or a function that makes them out of its values.
WORDS = {
    # relations between two arrays
    "minus": "exactly minus the right answer",
    "times": lambda n: f"every number is {number(n, told_from=1)} times the right one",
    "parts": lambda n: f"every number is {number(n)} times too small",
    "size": lambda size, power, n: f"every number is too {'large' if power > 0 else 'small'} by a factor of "
    f"{'the square root of ' * (abs(power) == 0.5)}{size}, here {number(n)}",
    "offset": lambda n: f"every number is off by the same amount, {number(n)}",
    "transposed": "the last two axes are swapped (transposed)",
    "one element": lambda which, what: f"only the {which} {what} (along axis 0) is right",
    "row factors": lambda n: f"right up to one factor for each row (the last axis); one of them is {number(n, told_from=1)}",
    "column factors": lambda n: "right up to one factor for each column (the axis before the last); one of them is "
    f"{number(n, told_from=1)}",
    "row offsets": "right up to one constant added to each row (the last axis)",
    "permuted": "the right numbers, in other places",
    "whole numbers": lambda dtype: f"the result holds whole numbers only (its dtype is {dtype}), so every decimal is cut off",
    "entries": _entries,
    "function": lambda name: f"every number is {name} the right one",
    "same rows": "all rows are the same, and they should differ",
    "same columns": "within each row all numbers are the same, and they should differ",
    "ignored": lambda name: f"your result stays the same whatever {name} is",
    # properties, and relations to an input
    "input": lambda name: f"your result is {name}, just as it was given",
    "off by input": lambda name, right, n: f"your result is {_times(right)}the right one {'plus' if n > 0 else 'minus'} "
    f"{_times(abs(n))}{name}",
    "where sign": lambda name, what: f"the wrong numbers are just those for which {name} is {what}",
    "size does not count": lambda name: f"your result stays the same if {name} is multiplied by a number, and it should change",
    "mixed": lambda name, what: f"your first {what} changes if {name} changes in the last {what} only, and it should not",
    "part not used": lambda name, which, what: f"your result stays the same whatever the {which} {what} of {name} is, and it should change",
    "not proportional": lambda names: f"if {' and '.join(names)} {'doubles' if len(names) == 1 else 'double'}, the right result "
    "doubles and yours does not",
    "shift counts": lambda name: f"your result changes if the same number is added to all of {name}, and it should not",
    # sums
    "row sums": lambda n: f"not every row sums to 1: one sums to {number(n, told_from=1)}",
    "negative": lambda n: f"rows sum to 1, but some numbers are negative, for instance {number(n)}",
    "sums along 0": "the numbers sum to 1 along axis 0, and not along each row",
    "sum of all": "all numbers together sum to 1, and not each row",
    "largest one": "the largest number of each row is 1, not the sum of the row",
    "zero sums": lambda n: f"each row of the right answer sums to 0; one of yours sums to {number(n)}",
    "zero": lambda one: "your number is 0" if one else "every number is 0",
    # what is lost, kinds, shapes, digits
    "complement": "every entry is the opposite of the right one",
    "booleans": lambda of, extra, missing: f"of {of} entries, {extra} are True that should be False, and {missing} False "
    "that should be True",
    "lost": _lost,
    "kind": _kind,
    "shape": _shape,
    "rounded": lambda places: f"rounded to {counted(places, 'decimal')}",
    "digits": _digits,
    # values
    "word": lambda word, words: f"{word!r} is not " + (f"one of the words {', '.join(words)}" if words else "the answer"),
    "bare number": "a bare number is expected, not a list, a tuple or an array",
    "one number": lambda count: f"one number is expected, not {count}",
    "tuple": "a tuple of numbers is expected, not one number",
    "length": lambda count, of: f"your tuple has {counted(count, 'number')}; {of} are expected",
    "not finite": "NaN or infinity is not the answer",
    "order": "the right numbers, in another order",
    "wrong numbers": lambda count, of, at: (f"{_listed('number', at)} of {of}" if at else f"{count} of {of} numbers")
    + f" {'is' if count == 1 else 'are'} wrong",
    "sign": "the sign is wrong",
    "rounded value": lambda digits: f"that is the right number rounded to {counted(digits, 'digit')}; give it in full",
    "multiple": lambda n: f"your number is {n} times the right one",
    "part": lambda n: f"your number is {n} times too small",
    "quantity": lambda much, n, names: f"your number is too {much} by a factor of {number(n)}, "
    + (f"and there are {names[0]}" if len(names) == 1 else f"the ratio of {names[0]} to {names[1]}"),
    "side": lambda much, told: f"your number is too {much}"
    + (f": the right number lies {'below' if much == 'large' else 'above'} it" if told else ""),
    # whole answers
    "values right": "the values are right",
    "other output": lambda name, other: f"what you return as {name} is the right {other}: is the order of the outputs right?",
    "turned": lambda stops: f"right without leading axes; with them it {'stops' if stops else 'is wrong'}: "
    "`.T` turns all axes round",
    "turns": "`.T` turns all axes round; with leading axes, only the last two may change places",
}
