"""The failing case that a reader can experiment with: its arguments, the right result and the answer's result."""

from dataclasses import dataclass, replace

import numpy as np

from attnexercises.failing_case import as_html, as_text


@dataclass(frozen=True, eq=False, repr=False)
class Case:
    """An input on which an answer goes wrong. Unpacking it gives the arguments: ``softmax(*case("softmax"))``.

    Attributes
    ----------
    exercise, label : str
        The id of the exercise, and the label of the probe from which this case was made.
    names, arguments : tuple
        The names and the values of the arguments. ``case["x"]`` is the argument x.
    outputs : tuple of str
        The names of the outputs that are compared.
    wrong, marks : tuple
        For each output whether it is wrong, and a boolean array of its wrong numbers (None if its shape is wrong).
    wanted, returned : tuple of ndarray
        The right outputs and those of the answer. `returned` is None if the answer gave nothing to compare.
    problem : str
        What is wrong with the form of the return value, or why nothing was returned; "" if all is well.
    """

    exercise: str
    label: str
    names: tuple
    arguments: tuple
    outputs: tuple
    wrong: tuple
    marks: tuple
    wanted: tuple
    returned: tuple | None
    problem: str = ""

    @property
    def expected(self):
        """The right result: an array, or a tuple of arrays if an answer returns several."""
        return self.wanted if len(self.wanted) > 1 else self.wanted[0]

    @property
    def got(self):
        """The answer's result, in the form of `expected`; None if the answer gave nothing that could be compared."""
        return None if self.returned is None else self.returned if len(self.returned) > 1 else self.returned[0]

    @property
    def shapes(self):
        """A dict from the names of the arguments to their shapes; that of a single number is ()."""
        return {name: np.shape(arg) for name, arg in zip(self.names, self.arguments, strict=True)}

    def __iter__(self):
        return iter(self.arguments)

    def __len__(self):
        return len(self.arguments)

    def __getitem__(self, which):
        if not isinstance(which, str):
            return self.arguments[which]
        if which not in self.names:
            raise KeyError(f"{self.exercise} has no argument {which!r}; there are: {', '.join(self.names)}")
        return self.arguments[self.names.index(which)]

    def __repr__(self):
        return as_text.text(self)

    def _repr_html_(self):
        return as_html.html_of(self)

    def shortened(self, lines):
        """Return an object that shows this case in at most so many lines, in a terminal and in a notebook."""
        return _Shortened(self, lines)

    def copy(self):
        """Return a copy with its own arrays, so that writing into them does not change this case."""
        return replace(self, arguments=tuple(a.copy() if isinstance(a, np.ndarray) else a for a in self.arguments))

    def most_telling(self):
        """Return the indices of the wrong outputs: wrong shapes first, then those with NaN or infinity, then others."""
        places = [place for place, wrong in enumerate(self.wrong) if wrong]
        return sorted(places, key=self._how_plain) if self.returned else places

    def _how_plain(self, place):
        """0 for a wrong shape, 1 for NaN or infinity, 2 for other wrong numbers."""
        got, want = self.returned[place], self.wanted[place]
        if got.shape != want.shape:
            return 0
        return 2 if got.dtype.kind != "f" or np.isfinite(got).all() else 1


class _Shortened:
    def __init__(self, case, lines):
        self._case, self._lines = case, lines

    def __repr__(self):
        return as_text.text(self._case, self._lines)

    def _repr_html_(self):
        return as_html.html_of(self._case, self._lines)
