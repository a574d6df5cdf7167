"""A table of weights in which a reader chooses one and sees how it came about, without a kernel or a network."""

import html

import numpy as np
from matplotlib.colors import to_rgb

from attnlib.checks.arrays import as_integer
from attnlib.checks.inputs import attention_inputs
from attnpage.plotting import KEY, LARGEST_ANNOTATED, OUTPUT, QUERY, SCORES, VALUE, WEIGHTS, luminance
from attnpage.tables import Table, _typeset
from attnpage.weight_steps import DECIMALS, Weights

#: Most features whose products are still read one by one.
MOST_FEATURES = 16


def tap_figure(
    query, key, *, rows, columns, caption, mask=None, scale=None, features=None, start=(0, 0)
):  # fmt: skip
    """Show the weights of attention as a table in which a reader chooses one, and how that one came about.

    A tap, a click or the arrow keys choose a weight. Below the table stand its products, the scale, the
    mask, the subtraction of the row's maximum, the exponential, the row's sum and the division. All
    numbers are stored in the notebook. Without scripts, on paper and in a terminal the weight at
    `start` is the example.

    Parameters
    ----------
    query : array_like of shape (q, d)
        At most 8 queries of at most 16 features.
    key : array_like of shape (k, d)
        At most 8 keys.
    rows, columns : sequence of str
        The names of the queries and of the keys.
    caption : str
        What the figure shows.
    mask : array_like, optional
        Boolean, True = this query may look at this key; or float, added to the scores. Broadcasts to (q, k).
    scale : float, optional
        By default ``1 / sqrt(d)``.
    features : sequence of str, optional
        The names of the features.
    start : (int, int), default (0, 0)
        Row and column of the weight that is explained first.

    Returns
    -------
    figure : TapFigure

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    ValueError
        If the shapes do not fit, a name is missing, an array is too large or has leading axes, `start` is
        outside the table, or a query, a key or a score is not finite.

    Examples
    --------
    >>> tap_figure([[0.8, 1]], [[1, 1], [1, 0]], rows=["asks"], columns=["cat", "mat"], caption="It prefers the cat")
    It prefers the cat
    query  cat    mat
    asks   0.670  0.330
    asks gives cat the weight 0.670: an exponential of 1 in a row that sums to 1.493.
      Query times key, feature by feature: 0.8 × 1 + 1 × 1 = 0.8 + 1 = 1.8
      Scale: 1.8 ÷ √2 ≈ 1.273
      Minus the row’s largest score μ: 1.273 − 1.273 = 0
      Exponential: exp(0) = 1
      Sum of the row’s exponentials: cat 1 + mat 0.493 ≈ 1.493
      Weight: 1 ÷ 1.493 ≈ 0.670
    """
    inputs = attention_inputs("tap_figure", query, key, key, mask=mask, scale=scale)
    _check_sizes(inputs)
    (q, d), (k, _) = inputs.query.shape, inputs.key.shape
    rows = _names("rows", rows, q, "queries")
    columns = _names("columns", columns, k, "keys")
    features = _names("features", features, d, "features") if features is not None else None
    if not isinstance(caption, str):
        raise TypeError(f"tap_figure: caption must be a text (str); got {type(caption).__name__}.")
    start = _place(start, (q, k))
    weights = Weights(inputs, scale is not None, rows, columns, features)
    for name, scores in (("products", weights.raw), ("scores", weights.scaled)):
        if not np.isfinite(scores).all():
            row, column = np.argwhere(~np.isfinite(scores))[0]
            raise ValueError(
                f"tap_figure: the {name} must be finite in {scores.dtype}; "
                f"query {row} and key {column} give {scores[row, column]}."
            )
    return TapFigure(weights, rows, columns, caption, start)


class TapFigure:
    """What `tap_figure` returns: shown by a notebook as HTML, printed as text with one weight explained."""

    # What a table of something else (`heads_figure`) says in their place: what it holds, what stands in its corner,
    # what rows, columns and numbers are.
    _HOLDS, _CORNER, _CHOOSE_WHAT = "Weights", ("query ↓", "key →"), "a weight"
    _ROW, _COLUMN, _ENTRY = "query", "key", "weights"
    _COLOURED = ("query", "key", "scores", "weights")
    _STRONGEST = 100  # per cent of the colour at the weight 1; the number on it is black or white, whichever can be read
    _INKED = True

    def __init__(self, weights, rows, columns, caption, start):
        self._weights, self._rows, self._columns = weights, rows, columns
        self._caption, self._start = caption, start

    def __repr__(self):
        columns = range(len(self._columns))
        shown = [[name, *(self._weight(row, column) for column in columns)] for row, name in enumerate(self._rows)]
        heads = [("", name) for name in (self._CORNER[0].split()[0], *self._columns)]
        grid = Table(heads, shown, [False] * len(heads), self._caption, True)
        lines = [repr(grid), _plain(self._weights.sentence(*self._start))]
        return "\n".join([*lines, *(f"  {name}: {_plain(parts)}" for name, parts in self._weights.steps(*self._start))])

    def _repr_html_(self):
        said, way = self._explained(*self._start)
        return "\n".join(
            [
                '<figure class="tap">',
                f"<style>{_style(*self._COLOURED)}{_INKED_STYLE if self._INKED else ''}</style>",
                *self._grid(),
                f'<p class="do">Choose {self._CHOOSE_WHAT}: tap it, or move with the arrow keys.</p>',
                f'<p class="said" aria-live="polite">{said}</p>',
                f'<ol class="way">{way}</ol>',
                '<p class="rounded">≈ stands where a number is shown rounded; all are computed unrounded.</p>',
                f"<figcaption>{html.escape(self._caption)}</figcaption>",
                "</figure>",
            ]
        )

    def _explained(self, row, column):
        """The sentence and the steps of a weight, as HTML."""
        steps = (f"<li>{name}: {_marked(parts)}</li>" for name, parts in self._weights.steps(row, column))
        return _marked(self._weights.sentence(row, column)), "".join(steps)

    def _grid(self):
        down, across = _coloured(self._CORNER[0], self._ROW), _coloured(self._CORNER[1], self._COLUMN)
        heads = "".join(f'<th scope="col">{_coloured(name, self._COLUMN)}</th>' for name in self._columns)
        yield (
            f'<table role="grid" aria-label="{self._HOLDS}" data-lm-suppress-shortcuts="true" '
            f'onclick="{_CHOOSE}" onkeydown="{_MOVE}">'
        )
        yield f"<thead>\n<tr><th>{down} {across}</th>{heads}</tr>\n</thead>\n<tbody>"
        for row, name in enumerate(self._rows):
            cells = "".join(self._cell(row, column) for column in range(len(self._columns)))
            yield f'<tr><th scope="row">{_coloured(name, self._ROW)}</th>{cells}</tr>'
        yield "</tbody>\n</table>"

    def _cell(self, row, column):
        # The explanations wait in attributes: a program that runs no scripts drops these; it may show what is hidden.
        chosen = (row, column) == self._start
        said, way = map(html.escape, self._explained(row, column))
        marks = (
            f'role="gridcell" tabindex="{0 if chosen else -1}" aria-selected="{str(chosen).lower()}" '
            f'data-said="{said}" data-way="{way}"'
        )
        if self._weights.hidden[row, column]:
            return f'<td {marks} class="masked" aria-label="0, hidden">0</td>'
        tint = round(self._STRONGEST * float(self._weights.tints[row, column]))
        style = f"background: color-mix(in srgb, {_colour(self._ENTRY)} {tint}%, transparent)"
        if self._INKED:
            style += f"; {_inks(self._ENTRY, tint)}"
        return f'<td {marks} style="{style}">{self._weight(row, column)}</td>'

    def _weight(self, row, column):
        """As the table has it: what the mask hides is exactly 0, what is small is not."""
        return "0" if self._weights.hidden[row, column] else f"{self._weights.weights[row, column]:.{DECIMALS}f}"


# The same colours as in the figures, and those on a dark ground, as in book/look/colours.css: JupyterLab says which it has.
_COLOURS = {
    "query": (QUERY, "#7fbaff"), "key": (KEY, "#ffab70"), "scores": (SCORES, "#cfa3f0"), "weights": (WEIGHTS, "#ff8fc7"),
    "value": (VALUE, "#57d3b1"), "output": (OUTPUT, "#c5cfdb"),
}  # fmt: skip


def _colour(name):
    """The pages set the variable, in both schemes; elsewhere, in JupyterLab, the colour of the figures is used."""
    return f"var(--{name}, {_COLOURS[name][0]})"


_INKED_STYLE = (
    " figure.tap td[style*=ink] { color: var(--ink); print-color-adjust: exact } "
    ":is(html[data-theme=dark], body[data-jp-theme-light=false]) figure.tap td[style*=ink] { color: var(--dark-ink) }"
)
_GROUNDS = ("#ffffff", "#14181e")  # behind the table: of a light page, and of a dark one


def _inks(name, tint):
    """Black or white, whichever has the larger contrast (WCAG 2) with so much of the colour on either ground."""
    inks = []
    for colour, ground in zip(_COLOURS[name], _GROUNDS, strict=True):
        parts = (tint / 100 * a + (1 - tint / 100) * b for a, b in zip(to_rgb(colour), to_rgb(ground), strict=True))
        inks.append("black" if luminance(parts) > 0.179 else "white")
    return "--ink: {}; --dark-ink: {}".format(*inks)


def _style(*names):
    """What has to be seen in JupyterLab, too; the rest is in the style sheet of the pages."""
    dark = "; ".join(f"--{name}: {_COLOURS[name][1]}" for name in names)
    return " ".join(
        [
            f"body[data-jp-theme-light=false] {{ {dark} }}",
            *(f"figure.tap .{name} {{ color: {_colour(name)} }}" for name in names),
            "figure.tap td { cursor: pointer }",
            "figure.tap td[aria-selected=true] { box-shadow: inset 0 0 0 2px currentColor }",
        ]
    )


_CHOOSE = (
    "const cell = event.target.closest('[aria-selected]'); if (!cell) return; "
    "for (const other of this.querySelectorAll('[aria-selected]')) { "
    "other.setAttribute('aria-selected', other === cell); other.tabIndex = other === cell ? 0 : -1; } "
    "const figure = this.closest('figure'); "
    "figure.querySelector('.said').innerHTML = cell.dataset.said; "
    "figure.querySelector('.way').innerHTML = cell.dataset.way; cell.focus();"
)
_MOVE = (
    "const cell = event.target.closest('[aria-selected]'); if (!cell || event.altKey || event.metaKey) return; "
    "const cells = [...this.querySelectorAll('[aria-selected]')], at = cells.indexOf(cell); "
    "const width = cell.parentElement.querySelectorAll('[aria-selected]').length; "
    "const first = at - at % width, last = first + width - 1; "
    "const to = { ArrowLeft: Math.max(first, at - 1), ArrowRight: Math.min(last, at + 1), ArrowUp: at - width, "
    "ArrowDown: at + width, Home: event.ctrlKey ? 0 : first, "
    "End: event.ctrlKey ? cells.length - 1 : last }[event.key]; "
    "if (to === undefined) return; event.preventDefault(); cells[to]?.click();"
)


def _plain(parts):
    return "".join(part.text for part in parts).replace("\u00a0", " ")


def _marked(parts):
    marked = []
    for part in parts:
        text = _typeset(part.text) if part.is_number else html.escape(part.text, quote=False)
        if part.kind == "chosen":
            text = f"<b>{text}</b>"
        elif part.kind == "name":
            text = f"<small>{text}</small>"
        elif part.kind:
            text = f'<span class="{part.kind}">{text}</span>'
        marked.append(text)
    return "".join(marked)


def _coloured(text, kind):
    return f'<span class="{kind}">{html.escape(text, quote=False)}</span>'


def _check_sizes(inputs):
    for name, array, axes, most in (
        ("query", inputs.query, "(q, d)", LARGEST_ANNOTATED),
        ("key", inputs.key, "(k, d)", LARGEST_ANNOTATED),
    ):
        if array.ndim != 2:
            raise ValueError(
                f"tap_figure: {name} must have the shape {axes}, without leading axes: one head at a time; "
                f"got {array.shape}."
            )
        if not 1 <= len(array) <= most or array.shape[1] > MOST_FEATURES:
            raise ValueError(
                f"tap_figure: {name} must have 1 to {most} positions and at most {MOST_FEATURES} features, "
                f"so that every number can be read; got {array.shape}."
            )
        if not np.isfinite(array).all():
            raise ValueError(f"tap_figure: {name} must hold finite numbers; got {array[~np.isfinite(array)][0]}.")
    if inputs.mask is not None and inputs.mask.dtype != bool and np.isnan(inputs.mask).any():
        raise ValueError("tap_figure: mask must not hold NaN, which would make the weights NaN.")


def _names(argument, names, size, counted, function="tap_figure"):
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise TypeError(f"{function}: {argument} must be a sequence of names (str); got {names!r}.")
    if len(names) != size:
        raise ValueError(f"{function}: {argument} must hold one name for each of {size} {counted}; got {len(names)}.")
    return list(names)


def _place(start, shape, function="tap_figure"):
    if not isinstance(start, tuple) or len(start) != 2:
        raise TypeError(f"{function}: start must be a tuple (row, column); got {start!r}.")
    place = tuple(as_integer(function, "start", number, minimum=0) for number in start)
    if any(number >= size for number, size in zip(place, shape, strict=True)):
        raise ValueError(f"{function}: start must lie within the table of shape {shape}; got {place}.")
    return place
