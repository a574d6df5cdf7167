"""The failing case that a reader can play with: its arguments, what is right there, what the answer gave."""

from dataclasses import dataclass, replace

import numpy as np

from attnexercises.failing_case import as_html, as_text


@dataclass(frozen=True, eq=False, repr=False)
class Case:
    """An input on which an answer goes wrong. Unpacked it gives the arguments: ``softmax(*case("softmax"))``.

    Attributes
    ----------
    exercise, label : str
        The exercise, and the check's case that this one was made from.
    names, arguments : tuple
        The names of the arguments, and these. An argument by its name is ``case["x"]``.
    outputs : tuple of str
        The names of what is compared.
    wrong, marks : tuple
        For each output whether it is wrong, and which of its numbers are; None where its shape is.
    wanted, returned : tuple of ndarray
        For each output what is right and what the answer gave; `returned` is None if there was nothing to compare.
    problem : str
        What else is wrong with the way it returned, or why it did not; "" if nothing.
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
        """What is right: an array, or a tuple of arrays where an answer returns several."""
        return self.wanted if len(self.wanted) > 1 else self.wanted[0]

    @property
    def got(self):
        """What the answer gave, in the form of `expected`; None if it gave nothing that could be compared."""
        return None if self.returned is None else self.returned if len(self.returned) > 1 else self.returned[0]

    @property
    def shapes(self):
        """The shapes of the arguments by name; those of plain numbers are ()."""
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

    def copy(self):
        """The same case with arrays of its own, so that whoever writes into them does not spoil it."""
        return replace(self, arguments=tuple(a.copy() if isinstance(a, np.ndarray) else a for a in self.arguments))

    def most_telling(self):
        """The places of the wrong outputs: first those of a wrong shape, then those with NaN, then the others."""
        places = [place for place, wrong in enumerate(self.wrong) if wrong]
        return sorted(places, key=self._how_plain) if self.returned else places

    def _how_plain(self, place):
        got, want = self.returned[place], self.wanted[place]
        if got.shape != want.shape:
            return 0
        return 2 if got.dtype.kind != "f" or np.isfinite(got).all() else 1
