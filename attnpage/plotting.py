"""The figures of the book: one style, one colour a quantity, the same bytes in every run.

Every function draws on an `Axes` that it is given and returns it. Weights always
have one colour scale, from 0 to 1; signed numbers have a diverging one, white at 0.
"""

import warnings
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.colors import LinearSegmentedColormap, to_rgb
from matplotlib.font_manager import fontManager
from matplotlib.text import Annotation

from attnlib.checks.arrays import as_float

#: One colour a quantity, the same as in the formulas and diagrams of the pages. Nothing else is drawn in them.
QUERY, KEY, VALUE = "#0b5cad", "#b34700", "#00725a"
SCORES, WEIGHTS, OUTPUT = "#7a3e9d", "#b3186d", "#3d4a5c"

#: Everything else, told apart by any kind of colour vision. Grey is also for guides; a mask is paler than that.
INK, OCHRE, BROWN, GREY = "#1f2328", "#8f6900", "#5a3a1e", "#6f7682"
MASK = "#8a8f98"

# The pages' face, for all letters of a figure.
FONT = Path(__file__).with_name("fonts") / "SourceSans3-Regular.ttf"

#: Largest matrix side whose numbers are still readable inside the cells.
LARGEST_ANNOTATED = 8

_STYLE = {
    "figure.figsize": (5.5, 3.2),
    "figure.constrained_layout.use": True,
    "figure.facecolor": "white",
    # What IPython cuts a figure to keeps this margin, that of the layout: the figure stays as wide as it was asked for.
    "savefig.pad_inches": mpl.rcParamsDefault["figure.constrained_layout.w_pad"],
    "font.family": ["Source Sans 3", "DejaVu Sans"],  # the second has what the first lacks, such as ⊙
    # Numbers in the page's face, letters as in the page's formulas.
    "mathtext.fontset": "custom",
    "mathtext.rm": "Source Sans 3",
    "mathtext.it": "STIXGeneral:italic",
    "mathtext.cal": "STIXGeneral:italic",  # of itself it looks for fonts that few machines have, and complains
    "mathtext.fallback": "stix",
    # A figure 5.5 inches wide is shown at two thirds of that on a phone: never less than 10 points.
    "font.size": 12,
    "axes.titlesize": 12,
    "axes.labelsize": 12,
    "xtick.labelsize": 11,
    "ytick.labelsize": 11,
    "ytick.alignment": "center",
    "legend.fontsize": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.prop_cycle": mpl.cycler(color=[INK, OCHRE, BROWN, GREY], linestyle=["-", "--", "-.", ":"]),
    "legend.frameon": False,
    "lines.linewidth": 2,
    "axes.formatter.use_mathtext": True,
    # Letters become shapes, so that no reader needs the font, and ids do not
    # depend on the time: a figure that has not changed has not changed a byte.
    "svg.fonttype": "path",
    "svg.hashsalt": "attnlib",
    "figure.hooks": ["attnpage.plotting:_watch_annotations"],
}


def setup():
    """Use the book's style, and deterministic SVG pictures when run in a notebook.

    Call it once, in the first cell of a notebook.

    Raises
    ------
    FileNotFoundError
        If the font is not where the package has it.

    Examples
    --------
    >>> setup()
    >>> mpl.rcParams["svg.hashsalt"]
    'attnlib'
    """
    if not FONT.is_file():
        raise FileNotFoundError(f"plotting: the font {FONT} is missing; install attnlib again.")
    if str(FONT) not in {font.fname for font in fontManager.ttflist}:
        fontManager.addfont(FONT)
    mpl.rcParams.update(_STYLE)
    try:
        from IPython import get_ipython
        from matplotlib_inline.backend_inline import set_matplotlib_formats
    except ImportError:  # a plain script needs neither
        return
    if get_ipython() is not None:
        set_matplotlib_formats("svg", metadata={"Date": None, "Creator": None})


def _watch_annotations(figure):
    """Hung on every figure by `setup`: Matplotlib leaves out a label or arrow that points outside its axes, and says nothing."""
    figure.canvas.mpl_connect("draw_event", _warn_of_missing)


def _warn_of_missing(event):
    for note in event.canvas.figure.findobj(Annotation):
        if note.get_visible() and not note._check_xy(event.renderer):
            place = ", ".join(f"{number:g}" for number in note.xy)
            warnings.warn(f"plotting: {note.get_text()!r} is not drawn: it points to ({place}), outside the axes.", stacklevel=2)


def shades(color):
    """A colour scale from white to `color`, for magnitudes; what is missing (NaN) is grey.

    Parameters
    ----------
    color : colour
        Of the largest magnitude.

    Returns
    -------
    scale : matplotlib Colormap

    Examples
    --------
    >>> from matplotlib.colors import to_hex
    >>> [to_hex(shades(WEIGHTS)(share)) for share in (0.0, 1.0)]
    ['#ffffff', '#b3186d']
    """
    return _scale("white", color)


def heatmap(
    ax, matrix, *, rows, columns, row_ticks=None, column_ticks=None, signed=False, color=None, limit=None, digits=2
):
    """Draw a matrix as coloured cells; the numbers are printed where they are readable.

    Parameters
    ----------
    ax : matplotlib Axes
        Drawn on and returned.
    matrix : array_like of shape (rows, columns)
        Weights between 0 and 1, a boolean mask, or signed numbers. NaN is drawn grey.
    rows, columns : str
        What the two axes count, for instance ``"query q"`` and ``"key k"``.
    row_ticks, column_ticks : list of str, optional
        Names of the rows and columns, otherwise their numbers.
    signed : bool, default False
        False: one colour from 0 to `limit`. True: two colours from ``-limit`` to
        `limit`, white at 0.
    color : colour, optional
        Of `limit`, if not `signed`; by default that of weights, for a mask that of masks.
    limit : float, optional
        End of the colour scale; by default 1, and the largest magnitude if `signed`.
    digits : int, default 2
        Decimals of the printed numbers.

    Returns
    -------
    ax : matplotlib Axes

    Raises
    ------
    TypeError
        If `matrix` holds neither real numbers nor booleans.
    ValueError
        If `matrix` does not have two axes.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = heatmap(Figure().subplots(), np.eye(2), rows="query q", columns="key k")
    >>> ax.get_ylabel(), len(ax.texts)
    ('query q', 4)
    """
    if color is None:
        color = MASK if np.asarray(matrix).dtype == bool else WEIGHTS
    matrix = _numbers("heatmap", matrix=matrix)
    if matrix.ndim != 2:
        raise ValueError(f"heatmap: matrix must have two axes (rows, columns); got the shape {matrix.shape}.")
    if limit is None:
        limit = max(np.nanmax(np.abs(matrix), initial=0.0), 1e-300) if signed else 1.0
    image = ax.imshow(
        matrix,
        cmap=_scale(OCHRE, "white", SCORES) if signed else shades(color),
        vmin=-limit if signed else 0.0,
        vmax=limit,
        aspect="equal",
    )
    ax.set(xlabel=columns, ylabel=rows)
    ax.set_xticks(range(matrix.shape[1]), column_ticks)
    ax.set_yticks(range(matrix.shape[0]), row_ticks)
    ax.tick_params(length=0)
    ax.spines[:].set(visible=True, color="0.8", linewidth=0.8)  # white cells at the edge are seen to be cells
    if max(matrix.shape) <= LARGEST_ANNOTATED:
        for (row, column), number in np.ndenumerate(matrix):
            colour = _readable_on(image.cmap(image.norm(number)))
            ax.text(column, row, _short(number, digits), ha="center", va="center", color=colour, fontsize=11)
    else:
        ax.figure.colorbar(image, ax=ax, shrink=0.8)
        _thin_ticks(ax, matrix.shape, row_ticks, column_ticks)
    return ax


def bars(ax, weights, *, ticks=None, label="key k", color=WEIGHTS, digits=2):
    """Draw one row of weights as bars, each with its number above it.

    Parameters
    ----------
    ax : matplotlib Axes
        Drawn on and returned.
    weights : array_like of shape (k,)
        Between 0 and 1.
    ticks : list of str, optional
        Names of the bars, otherwise their numbers.
    label : str, default "key k"
        What the bars stand for.
    color : colour, optional
        Of the bars; by default that of weights.
    digits : int, default 2
        Decimals of the printed numbers.

    Returns
    -------
    ax : matplotlib Axes

    Raises
    ------
    TypeError
        If `weights` holds neither real numbers nor booleans.
    ValueError
        If `weights` does not have exactly one axis.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = bars(Figure().subplots(), [0.25, 0.75])
    >>> [text.get_text() for text in ax.texts]
    ['0.25', '0.75']
    """
    weights = _numbers("bars", weights=weights)
    if weights.ndim != 1:
        raise ValueError(f"bars: weights must have one axis (k,); got the shape {weights.shape}.")
    drawn = ax.bar(range(len(weights)), weights, color=color, width=0.7)
    ax.bar_label(drawn, [_short(weight, digits) for weight in weights], padding=2, fontsize=11)
    ax.set_xticks(range(len(weights)), ticks)
    ax.set(xlabel=label, ylim=(0, 1.12), yticks=[0, 0.5, 1])
    ax.tick_params(axis="x", length=0)
    return ax


def name_lines(ax, *, pad=0.02):
    """Write each line's label at its right end, in its colour, in place of a legend.

    Labels that would overlap are moved apart. Lines without a label stay unnamed.

    Parameters
    ----------
    ax : matplotlib Axes
        Holds lines drawn with ``label=``; written on and returned.
    pad : float, default 0.02
        Distance between line and label, in widths of the axes.

    Returns
    -------
    ax : matplotlib Axes

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = Figure().subplots()
    >>> _ = ax.plot([0, 1], [0, 1], label="rising")
    >>> name_lines(ax).texts[0].get_text()
    'rising'
    """
    ax.get_ylim()  # settles limits that are still to be fitted to the data
    to_fraction = ax.transAxes.inverted()
    ends = []
    for line in ax.get_lines():
        x, y = line.get_data()
        if line.get_label().startswith("_") or len(x) == 0:
            continue
        height = to_fraction.transform(ax.transData.transform((x[-1], y[-1])))[1]
        ends.append([float(np.clip(height, 0, 1)), line])
    ends.sort(key=lambda end: end[0])
    for below, above in zip(ends, ends[1:]):
        lines = sum(line.get_label().count("\n") + 1 for _, line in (below, above))
        above[0] = max(above[0], below[0] + 0.045 * lines)
    for height, line in ends:
        ax.text(
            1 + pad, height, line.get_label(), color=line.get_color(), transform=ax.transAxes, va="center", fontsize=11
        )
    return ax


def _scale(*colors):
    return LinearSegmentedColormap.from_list("", colors).with_extremes(bad="0.85")


def _numbers(function, **array):
    ((name, array),) = array.items()
    if np.asarray(array).dtype == bool:  # a mask is drawn as 0 and 1
        return np.asarray(array, dtype=np.float64)
    return as_float(function, **{name: array})[0][0]


def _short(number, digits):
    return f"{number:z.{digits}f}".replace("-", "\N{MINUS SIGN}")  # z: no minus in front of a rounded zero


def luminance(rgb):
    """Return the relative luminance of a colour, as WCAG 2 defines it.

    Parameters
    ----------
    rgb : sequence of float
        The three parts of the colour, from 0 to 1.

    Returns
    -------
    float
        From 0 for black to 1 for white.

    Examples
    --------
    >>> luminance((0, 0, 0)), round(luminance((1, 1, 1)), 9)
    (0.0, 1.0)
    """
    red, green, blue = (((part + 0.055) / 1.055) ** 2.4 if part > 0.04045 else part / 12.92 for part in rgb)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _readable_on(colour):
    # Black has the larger contrast (WCAG 2) from a luminance of 0.18 on. But in the dark the pages turn lightness
    # round, and what was black is white: with 0.23 no number falls below 3 : 1 in either scheme.
    return "black" if luminance(to_rgb(colour)) > 0.23 else "white"


def _thin_ticks(ax, shape, row_ticks, column_ticks):
    # At most about ten numbers an axis; names are the caller's choice and stay.
    for size, names, axis in ((shape[0], row_ticks, ax.yaxis), (shape[1], column_ticks, ax.xaxis)):
        if names is None:
            axis.set_ticks(range(0, size, max(1, -(-size // 10))))
