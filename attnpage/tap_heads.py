"""A table of what several heads hand over together, in which a reader chooses one number and sees which head brought what."""

import numpy as np

from attnlib.checks.arrays import as_float
from attnpage.plotting import LARGEST_ANNOTATED
from attnpage.tap import TapFigure, _names, _place
from attnpage.weight_steps import Numbers, Part, joined


def heads_figure(weights, handed, *, heads, rows, columns, keys, caption, start=(0, 0)):
    """Show the sum over heads as a table in which a reader chooses a number, and what each head adds to it.

    Head i adds ``weights[i] @ handed[i]``, where row k of ``handed[i]`` is what that head hands over from token k: its
    value, projected back. All numbers are stored in the notebook, as those of `tap_figure` are.

    Parameters
    ----------
    weights : array_like of shape (h, q, k)
        At most 8 queries and 8 keys.
    handed : array_like of shape (h, k, m)
        At most 8 features.
    heads, rows, columns, keys : sequence of str
        The names of the heads, of the queries, of the features that are handed over, and of the keys.
    caption : str
        What the figure shows.
    start : (int, int), default (0, 0)
        Row and column of the number that is explained first.

    Returns
    -------
    figure : TapFigure

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    ValueError
        If the shapes do not fit, an array is too large or not finite, a name is missing, or `start` is outside the
        table.

    Examples
    --------
    >>> heads_figure([[[0.75, 0.25]], [[0, 1]]], [[[2], [0]], [[1], [3]]], heads=["left", "right"],
    ...              rows=["it"], columns=["alive"], keys=["cat", "mat"], caption="Two heads add up")
    Two heads add up
    token  alive
    it     4.500
    it gets 4.5 for alive: left 1.5 + right 3.
      left, weight times what is handed over: cat 0.75 × 2 + mat 0.25 × 0 = 1.5
      right, weight times what is handed over: cat 0 × 1 + mat 1 × 3 = 3
      Sum over heads: 1.5 + 3 = 4.5
    """
    (weights, handed), _dtype = as_float("heads_figure", weights=weights, handed=handed)
    if weights.ndim != 3 or handed.ndim != 3 or (len(weights), weights.shape[2]) != handed.shape[:2]:
        raise ValueError(
            "heads_figure: weights must have the shape (h, q, k) and handed (h, k, m), with the same heads and keys; "
            f"got {weights.shape} and {handed.shape}."
        )
    (h, q, k), m = weights.shape, handed.shape[2]
    if h < 1 or not 1 <= min(q, k, m) <= max(q, k, m) <= LARGEST_ANNOTATED:
        raise ValueError(
            f"heads_figure: there must be at least one head, and 1 to {LARGEST_ANNOTATED} queries, keys and features, so "
            f"that every number can be read; got {weights.shape} and {handed.shape}."
        )
    for name, array in (("weights", weights), ("handed", handed)):
        if not np.isfinite(array).all():
            raise ValueError(f"heads_figure: {name} must hold finite numbers; got {array[~np.isfinite(array)][0]}.")
    given = (("heads", heads, h, "heads"), ("rows", rows, q, "queries"))
    given += (("columns", columns, m, "features"), ("keys", keys, k, "keys"))
    names = {argument: _names(argument, *rest, function="heads_figure") for argument, *rest in given}
    if not isinstance(caption, str):
        raise TypeError(f"heads_figure: caption must be a text (str); got {type(caption).__name__}.")
    start = _place(start, (q, m), function="heads_figure")
    return HeadsFigure(Sums(weights, handed, **names), names["rows"], names["columns"], caption, start)


class HeadsFigure(TapFigure):
    """What `heads_figure` returns: a table of sums over heads."""

    _HOLDS, _CORNER, _CHOOSE_WHAT = "Sums over heads", ("token ↓", "gets →"), "a number"
    _ROW, _COLUMN, _ENTRY = "output", "output", "output"
    _COLOURED = ("weights", "value", "output")
    _STRONGEST, _INKED = 30, False  # its numbers have the colours of three quantities, which need a paler ground


class Sums(Numbers):
    """The sums over heads, and the way to each of them; `weights` is what the table shows."""

    def __init__(self, weights, handed, *, heads, rows, columns, keys):
        super().__init__(1e-9 if weights.dtype == np.float64 else 1e-6)
        self._heads, self._rows, self._columns, self._keys = heads, rows, columns, keys
        self._looks, self._handed = weights, handed
        self._parts = weights @ handed  # (h, q, m)
        self.weights = self._parts.sum(axis=0)
        self.hidden = np.zeros(self.weights.shape, dtype=bool)
        self.tints = np.abs(self.weights) / max(np.abs(self.weights).max(), 1e-300)

    def sentence(self, row, column):
        """The whole in one sentence, as parts."""
        total = self._number(self.weights[row, column], "output")
        said = [Part(self._rows[row], "output"), Part(" gets "), total, Part(" for "), Part(self._columns[column], "output")]
        each = [[Part(f"{name} "), self._number(part)] for name, part in self._named(row, column)]
        return [*said, Part(": "), *joined(each, " + "), Part(".")]

    def steps(self, row, column):
        """The steps in order: [(what is done, parts)]."""
        steps = []
        for head, (name, total) in enumerate(self._named(row, column)):
            looks, handed = self._looks[head, row], self._handed[head, :, column]
            pairs = [
                [Part(f"{key}\N{NO-BREAK SPACE}", "name"), self._number(weight, "weights")]
                + [Part("\N{NO-BREAK SPACE}×\N{NO-BREAK SPACE}"), self._operand(value, "value")]
                for key, weight, value in zip(self._keys, looks, handed, strict=True)
            ]
            equals = self._equals(*looks, *handed, total)
            steps.append((f"{name}, weight times what is handed over", [*joined(pairs, " + "), equals, self._number(total)]))
        parts, total = self._parts[:, row, column], self.weights[row, column]
        terms = [[self._number(parts[0])], *([self._operand(part)] for part in parts[1:])]
        return [*steps, ("Sum over heads", [*joined(terms, " + "), self._equals(*parts, total), self._number(total, "output")])]

    def _named(self, row, column):
        return zip(self._heads, self._parts[:, row, column], strict=True)
