"""attnpage.plotting: are the numbers on the picture the numbers, and is the picture the same in every run?"""

import io
import itertools
import re
import tomllib
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.colors import to_hex, to_rgb, to_rgba
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, fontManager

from attnpage import plotting


@pytest.fixture
def ax():
    with mpl.rc_context():
        plotting.setup()
        yield Figure().subplots()


# Colours, in the words of WCAG 2 and of Machado, Oliveira and Fernandes (2009), full strength

QUANTITIES = {name: getattr(plotting, name) for name in ("QUERY", "KEY", "VALUE", "SCORES", "WEIGHTS", "OUTPUT")}
NEUTRAL = {name: getattr(plotting, name) for name in ("INK", "OCHRE", "BROWN", "GREY")}
VISION = {
    "all": np.eye(3),
    "no red": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "no green": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "no blue": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}


def linear(colour):
    parts = np.array(to_rgb(colour))
    return np.where(parts > 0.04045, ((parts + 0.055) / 1.055) ** 2.4, parts / 12.92)


def contrast(one, other):
    dark, light = sorted(linear(colour) @ [0.2126, 0.7152, 0.0722] for colour in (one, other))
    return (light + 0.05) / (dark + 0.05)


def in_the_dark(colour):
    """What the style sheet makes of a colour in the dark: invert(1) hue-rotate(180deg), on #121212 by `screen`."""
    half_turn = [[-0.574, 1.43, 0.144], [0.426, 0.43, 0.144], [0.426, 1.43, -0.856]]
    turned = np.clip(half_turn @ (1 - np.array(to_rgb(colour))), 0, 1)
    return tuple(1 - (1 - turned) * (1 - 0x12 / 255))


def seen(colour, vision):
    """Lightness and two opponent colours (CIELAB) for a kind of colour vision."""
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    xyz = to_xyz @ np.clip(VISION[vision] @ linear(colour), 0, 1) / [0.9505, 1, 1.089]
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("name", QUANTITIES | NEUTRAL)
def test_every_colour_can_be_read_as_letters(name):
    colour = getattr(plotting, name)
    assert contrast(colour, "white") >= 4.5
    assert contrast(in_the_dark(colour), in_the_dark("white")) >= 4.5


# What the style sheets say; the page's own grounds, white and #121212, are the theme's
STYLES = Path(__file__).resolve().parents[2] / "book" / "look"


def declared(sheet, selector):
    """{name: colour} of the variables in the first rule of a style sheet with this selector."""
    body = re.search(rf"(?m)^{re.escape(selector)} \{{([^}}]*)\}}", (STYLES / sheet).read_text(encoding="utf-8"))[1]
    return dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", body))


def test_the_pages_have_the_colours_of_the_figures():
    assert declared("colours.css", ":root") == {name.lower(): colour for name, colour in QUANTITIES.items()}
    assert declared("colours.css", 'html[data-theme="dark"]').keys() == {name.lower() for name in QUANTITIES}


@pytest.mark.parametrize(("selector", "page"), [(":root", "#ffffff"), ('html[data-theme="dark"]', "#121212")])
def test_a_quantity_can_be_read_on_the_page_and_in_a_box(selector, page):
    for ground in (page, declared("book.css", selector)["book-box"]):
        for name, colour in declared("colours.css", selector).items():
            assert contrast(colour, ground) >= 4.5, f"{name} on {ground}"


def test_no_colour_stands_for_two_things():
    assert len({*(QUANTITIES | NEUTRAL).values(), plotting.MASK}) == 11
    assert contrast(plotting.MASK, "white") >= 3


@pytest.mark.parametrize("vision", VISION)
def test_neutral_colours_differ_for_any_kind_of_colour_vision(vision):
    colours = [seen(colour, vision) for colour in NEUTRAL.values()]
    assert min(np.linalg.norm(one - other) for one, other in itertools.combinations(colours, 2)) > 20


def test_lines_without_a_colour_have_neutral_ones_and_each_its_dashes(ax):
    lines = [ax.plot([0, 1], [0, height])[0] for height in range(4)]
    assert [line.get_color() for line in lines] == list(NEUTRAL.values())
    assert len({line.get_linestyle() for line in lines}) == 4


# Letters


def faces(words):
    """The fonts whose outlines a text is drawn with."""
    figure, file = Figure(), io.StringIO()
    figure.text(0.5, 0.5, words)
    figure.savefig(file, format="svg")
    return set(re.findall(r'href="#([\w-]+)-[0-9a-f]+"', file.getvalue()))


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("query 0, d → √d · Σ α − 1", {"SourceSans3-Regular"}),
        ("$10^{-3}$", {"SourceSans3-Regular"}),
        ("Q ⊙ K", {"SourceSans3-Regular", "DejaVuSans"}),
        (r"$2\,d_{k}$", {"SourceSans3-Regular", "STIXGeneral-Italic"}),
    ],
)
def test_letters_have_the_face_of_the_pages_and_missing_ones_come_from_another(ax, words, expected):
    assert faces(words) == expected


def test_no_text_is_smaller_than_ten_points():
    with mpl.rc_context():
        plotting.setup()
        names = [name for name in mpl.rcParams if re.search(r"font\.?size$|(label|title)size$", name)]
        sizes = {name: FontProperties(size=mpl.rcParams[name]).get_size_in_points() for name in names}
        assert {"font.size", "xtick.labelsize", "axes.titlesize", "legend.fontsize"} <= set(sizes)
        assert {name: size for name, size in sizes.items() if size < 10} == {}


def test_no_function_writes_smaller_than_ten_points(ax):
    plotting.bars(ax, [0.5])
    plotting.heatmap(ax, [[0.5]], rows="q", columns="k")
    ax.plot([0, 1], label="rising")
    plotting.name_lines(ax)
    assert min(text.get_fontsize() for text in ax.texts) >= 10


def test_a_figure_in_a_notebook_is_not_wider_than_asked_for():
    with mpl.rc_context():
        plotting.setup()
        figure = Figure()
        figure.subplots().set(xlabel="key k", ylabel="weight")
        file = io.BytesIO()
        figure.savefig(file, format="svg", bbox_inches="tight")
        width = re.search(rb'width="([\d.]+)pt"', file.getvalue())
        assert float(width[1]) <= 5.5 * 72 + 0.01


def test_setup_twice_registers_the_font_once():
    with mpl.rc_context():
        plotting.setup()
        plotting.setup()
        assert [font.fname for font in fontManager.ttflist].count(str(plotting.FONT)) == 1


def test_a_missing_font_is_named(monkeypatch, tmp_path):
    monkeypatch.setattr(plotting, "FONT", tmp_path / "SourceSans3-Regular.ttf")
    with pytest.raises(FileNotFoundError, match=r"the font .*SourceSans3-Regular\.ttf is missing"):
        plotting.setup()


def test_the_font_and_its_license_are_part_of_the_package():
    root = Path(__file__).resolve().parents[2]
    settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    folder, globs = root / "attnpage", settings["package-data"]["attnpage"]
    packed = {path.relative_to(folder).as_posix() for glob in globs for path in folder.glob(glob)}
    assert packed == {"fonts/SourceSans3-Regular.ttf", "fonts/OFL.txt"}


# Pictures of arrays


def test_heatmap_prints_each_number_in_its_cell(ax):
    matrix = np.array([[0.0, 0.25, 0.75], [1.0, 0.125, 0.5]])
    plotting.heatmap(ax, matrix, rows="query q", columns="key k")
    printed = {text.get_position(): text.get_text() for text in ax.texts}
    assert printed == {(column, row): f"{matrix[row, column]:.2f}" for row in range(2) for column in range(3)}


def test_heatmap_of_weights_always_has_the_scale_from_0_to_1(ax):
    plotting.heatmap(ax, [[0.2, 0.1]], rows="q", columns="k")
    assert ax.images[0].get_clim() == (0.0, 1.0)


def test_heatmap_of_signed_numbers_is_white_at_0(ax):
    plotting.heatmap(ax, [[-3.0, 1.0]], rows="q", columns="k", signed=True)
    assert ax.images[0].get_clim() == (-3.0, 3.0)
    low, zero, high = (ax.images[0].cmap(place) for place in (0.0, 0.5, 1.0))
    assert (to_hex(low), to_hex(high)) == (plotting.OCHRE, plotting.SCORES)
    assert np.allclose(zero, 1, atol=0.01)


def test_heatmap_of_weights_is_white_at_0_and_has_their_colour_at_1(ax):
    plotting.heatmap(ax, [[0.0, 1.0]], rows="q", columns="k")
    assert [to_hex(ax.images[0].cmap(place)) for place in (0.0, 1.0)] == ["#ffffff", plotting.WEIGHTS]


def test_heatmap_of_anything_else_has_the_colour_asked_for_and_a_mask_none_of_a_quantity(ax):
    for matrix, color, expected in ((np.eye(2), plotting.OCHRE, plotting.OCHRE), (np.eye(2) > 0, None, plotting.MASK)):
        plotting.heatmap(ax, matrix, rows="q", columns="k", color=color)
        assert to_hex(ax.images[-1].cmap(1.0)) == expected


def test_heatmap_of_small_signed_numbers_uses_the_whole_scale_and_names_its_axes(ax):
    plotting.heatmap(ax, [[-0.3, 0.1]], rows="query q", columns="key k", signed=True)
    assert ax.images[0].get_clim() == (-0.3, 0.3)
    assert (ax.get_ylabel(), ax.get_xlabel()) == ("query q", "key k")
    # The number on the darkest cell is light, the one on the palest dark.
    light, dark = (sum(to_rgb(text.get_color())) for text in ax.texts)
    assert light > dark


def test_heatmap_draws_nan_grey_and_every_cell_square(ax):
    plotting.heatmap(ax, [[np.nan, 0.5]], rows="q", columns="k")
    assert np.allclose(ax.images[0].cmap(np.ma.masked)[:3], 0.85)
    assert ax.get_aspect() == 1


def test_heatmap_of_zeros_has_an_edge(ax):
    plotting.heatmap(ax, np.zeros((2, 2)), rows="q", columns="k")
    assert all(edge.get_visible() for edge in ax.spines.values())


def test_heatmap_with_one_long_axis_prints_no_numbers(ax):
    plotting.heatmap(ax, np.zeros((2, 13)), rows="q", columns="k")
    assert not ax.texts


def test_heatmap_of_zeros_and_of_nothing_but_nan_still_draws(ax):
    plotting.heatmap(ax, np.zeros((2, 2)), rows="q", columns="k", signed=True)
    plotting.heatmap(ax, np.full((2, 2), np.nan), rows="q", columns="k")
    assert ax.images[0].get_clim()[1] > 0


def test_heatmap_draws_a_boolean_mask_as_0_and_1(ax):
    plotting.heatmap(ax, [[True, False]], rows="q", columns="k", digits=0)
    assert [text.get_text() for text in ax.texts] == ["1", "0"]


@pytest.mark.parametrize("scheme", [to_rgb, in_the_dark])
def test_numbers_stand_out_from_their_cell(ax, scheme):
    shares = np.linspace(0, 1, 64).reshape(8, 8)
    for matrix, style in ((shares, {}), (shares, {"color": plotting.MASK}), (2 * shares - 1, {"signed": True})):
        ax.clear()
        plotting.heatmap(ax, matrix, rows="q", columns="k", **style)
        cells = ax.images[0].cmap(ax.images[0].norm(matrix.ravel()))
        numbers = [text.get_color() for text in ax.texts]
        assert min(contrast(scheme(number), scheme(cell)) for number, cell in zip(numbers, cells, strict=True)) > 3


def test_a_large_heatmap_has_a_colour_bar_in_place_of_numbers(ax):
    size = plotting.LARGEST_ANNOTATED + 1
    plotting.heatmap(ax, np.full((size, size), 0.5), rows="q", columns="k")
    assert not ax.texts and len(ax.figure.axes) == 2


def test_a_large_heatmap_keeps_at_most_ten_tick_numbers_but_all_names(ax):
    plotting.heatmap(ax, np.zeros((25, 12)), rows="q", columns="k", column_ticks=list("abcdefghijkl"))
    assert list(ax.get_yticks()) == list(range(0, 25, 3))
    assert [label.get_text() for label in ax.get_xticklabels()] == list("abcdefghijkl")


def test_a_small_heatmap_names_or_numbers_every_row_and_column(ax):
    plotting.heatmap(ax, np.zeros((3, 2)), rows="q", columns="k", row_ticks=["the", "cat", "sat"])
    assert [label.get_text() for label in ax.get_yticklabels()] == ["the", "cat", "sat"]
    assert list(ax.get_yticks()) == [0, 1, 2] and list(ax.get_xticks()) == [0, 1]


def test_a_rounded_zero_has_no_minus_and_a_negative_number_a_real_one(ax):
    plotting.heatmap(ax, [[-0.001, -0.5]], rows="q", columns="k", signed=True)
    assert [text.get_text() for text in ax.texts] == ["0.00", "\N{MINUS SIGN}0.50"]


def test_bars_are_as_high_as_the_weights(ax):
    plotting.bars(ax, [0.2, 0.8], ticks=["a", "b"])
    assert {to_hex(patch.get_facecolor()) for patch in ax.patches} == {plotting.WEIGHTS}
    assert [patch.get_height() for patch in ax.patches] == [0.2, 0.8]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["a", "b"]


def test_bars_stand_apart_at_their_keys_and_the_scale_is_that_of_weights(ax):
    plotting.bars(ax, [0.2, 0.7], ticks=["cat", "mat"], label="key", color="C1")
    assert [bar.get_x() + bar.get_width() / 2 for bar in ax.patches] == pytest.approx([0, 1])
    assert all(bar.get_width() < 1 for bar in ax.patches)
    assert {bar.get_facecolor() for bar in ax.patches} == {to_rgba("C1")}
    assert ax.get_xlabel() == "key" and ax.get_ylim()[0] == 0 and 1 < ax.get_ylim()[1] < 1.2


def test_names_of_lines_keep_their_order_and_their_distance(ax):
    for height in (0.50, 0.51, 0.9):
        ax.plot([0, 1], [0, height], label=f"{height:.2f}")
    ax.plot([0, 1], [0, 0.3])  # no label: no name
    ax.plot([], [], label="empty")
    plotting.name_lines(ax)
    assert [text.get_text() for text in ax.texts] == ["0.50", "0.51", "0.90"]
    heights = [text.get_position()[1] for text in ax.texts]
    assert np.all(np.diff(heights) >= 0.0899)
    assert [text.get_color() for text in ax.texts] == [line.get_color() for line in ax.get_lines()[:3]]


def test_a_name_of_two_lines_gets_the_room_of_two(ax):
    for height, name in ((0.50, "low"), (0.51, "in\nbetween"), (0.52, "high")):
        ax.plot([0, 1], [0, height], label=name)
    plotting.name_lines(ax)
    assert np.all(np.diff([text.get_position()[1] for text in ax.texts]) >= 0.1349)


def test_lines_drawn_from_top_to_bottom_are_named_at_their_last_point(ax):
    ax.set_ylim(0, 1)
    for height in (0.9, 0.505, 0.5):
        ax.plot([0, 1, 2], [0, 0.2, height], label=f"{height}")
        ax.plot([0, 1, 2], [0, 0.1, height])  # no name, and no end of the list
    ax.plot([0, 1], [0, 7.0], label="leaves")
    plotting.name_lines(ax)
    heights = {text.get_text(): text.get_position()[1] for text in ax.texts}
    assert heights == pytest.approx({"0.5": 0.5, "0.505": 0.59, "0.9": 0.9, "leaves": 1.0})


def test_names_stand_at_the_ends_of_the_lines_before_anything_is_drawn(ax):
    for height in (10.0, 90.0):
        ax.plot([0, 1], [0, height], label=f"{height:.0f}")
    plotting.name_lines(ax)
    places = [text.get_position()[1] for text in ax.texts]
    low, high = ax.get_ylim()
    assert np.allclose(places, [(height - low) / (high - low) for height in (10.0, 90.0)])


def svg():
    ax = Figure().subplots()
    plotting.bars(ax, [0.25, 0.75])
    file = io.BytesIO()
    ax.figure.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
    return file.getvalue()


def test_the_same_figure_has_the_same_bytes():
    with mpl.rc_context():
        plotting.setup()
        assert svg() == svg()


def test_setup_in_a_notebook_asks_for_svg_without_a_date(monkeypatch):
    import IPython
    import matplotlib_inline.backend_inline as inline

    asked = []
    monkeypatch.setattr(IPython, "get_ipython", lambda: object())
    monkeypatch.setattr(inline, "set_matplotlib_formats", lambda *formats, **options: asked.append((formats, options)))
    with mpl.rc_context():
        plotting.setup()
    assert asked == [(("svg",), {"metadata": {"Date": None, "Creator": None}})]


def test_setup_works_without_ipython(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "IPython", None)
    with mpl.rc_context():
        plotting.setup()
        assert mpl.rcParams["svg.hashsalt"] == "attnlib"


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda ax: plotting.heatmap(ax, np.zeros(3), rows="q", columns="k"), r"heatmap: matrix must have two axes .*\(3,\)"),
        (lambda ax: plotting.bars(ax, np.zeros((2, 3))), r"bars: weights must have one axis .*\(2, 3\)"),
    ],
)
def test_a_wrong_shape_is_refused(ax, draw, message):
    with pytest.raises(ValueError, match=message):
        draw(ax)


@pytest.mark.parametrize("draw", [lambda ax, x: plotting.heatmap(ax, x, rows="q", columns="k"), plotting.bars])
def test_complex_numbers_are_refused(ax, draw):
    with pytest.raises(TypeError, match="must be an array of real numbers.*complex128"):
        draw(ax, np.ones((2, 2)) * 1j)
