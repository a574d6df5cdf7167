"""Two pictures are the same if they show the same: a figure with all that figures hold, drawn again with one change."""

import functools
import io
import re

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest

from tools.notebooks import compare
from tools.notebooks.compare import pictures

X = np.linspace(0, 1, 12)
IMAGE = np.array([[0.0, 0.25], [0.5, 1.0]])
WIDTH = HEIGHT = 200  # of the axes, in pt


def svg(change=lambda ax: None, salt="attnlib", **settings):
    with mpl.rc_context({"svg.hashsalt": salt, "svg.fonttype": "path"} | settings):
        fig = plt.figure(figsize=(4, 4))
        ax = fig.add_axes((0.2, 0.2, WIDTH / 288, HEIGHT / 288))
        ax.plot(X, X**2, label="square")
        ax.plot(X, X / 2, "--", label="half")
        ax.scatter(X[:3], X[:3], alpha=0.5)
        ax.bar([0.8], [0.3], width=0.1, hatch="//")
        ax.imshow(IMAGE, extent=(0.1, 0.3, 0.6, 0.9), aspect="auto")
        ax.text(0.5, 0.5, "$x^2$ at 0.25")
        ax.set(xlim=(0, 1), ylim=(0, 1), xlabel="key k", ylabel="weight")
        ax.legend(loc="upper left")
        change(ax)
        file = io.StringIO()
        fig.savefig(file, format="svg", metadata={"Date": None, "Creator": None})
        plt.close(fig)
    return file.getvalue()


@pytest.fixture(scope="module")
def stored():
    return svg()


def moved(x=0.0, y=0.0, which=0):
    """A change that moves one point of a line by so many pt."""

    def change(ax):
        xs, ys = ax.lines[which].get_data()
        hit = np.arange(len(xs)) == 5
        ax.lines[which].set_data(xs + hit * x / WIDTH, ys + hit * y / HEIGHT)

    return change


def with_one_point_fewer(ax):
    ax.lines[0].set_data(*np.delete(ax.lines[0].get_data(), 5, axis=1))


def exchanged(ax):
    ax.lines[0].set_zorder(2.5)


def at_the_bottom(ax):
    ax.lines[1].set_zorder(0.5)


# The same


@pytest.mark.parametrize("x", [-0.29, 0, 1e-6, 0.29])
@pytest.mark.parametrize("y", [-0.29, 0, 0.29])
def test_a_point_may_move_by_less_than_the_tolerance(stored, x, y):
    assert compare.same("image/svg+xml", stored, svg(moved(x, y))) == ""


def test_the_names_of_ids_do_not_count(stored):
    other = svg(salt="another")
    ids = [set(re.findall(r'id="([^"]+)"', text)) for text in (stored, other)]
    assert ids[0] != ids[1]
    assert pictures.difference(stored, other) == ""


def test_the_place_of_a_definition_does_not_count(stored):
    glyphs = re.findall(r"<defs>.*?</defs>", stored, re.DOTALL)
    gathered = re.sub(r"<defs>.*?</defs>", "", stored, flags=re.DOTALL).replace("</svg>", "".join(glyphs) + "</svg>")
    assert pictures.difference(stored, gathered) == ""


def test_what_is_not_drawn_does_not_count(stored):
    assert "<metadata>" in stored
    without = re.sub(r"<metadata>.*</metadata>", "", stored, flags=re.DOTALL)
    assert pictures.difference(stored, without.replace('<g id="axes_1">', '<g id="axes_1"><g id="none"/>')) == ""


def test_an_image_may_be_packed_otherwise(stored):
    from base64 import b64decode, b64encode

    from PIL import Image

    packed = re.search(r"base64,([^\"]+)", stored)[1]
    file = io.BytesIO()
    Image.open(io.BytesIO(b64decode(packed))).save(file, format="png", compress_level=0)
    other = b64encode(file.getvalue()).decode()
    assert len(other) != len(packed)
    assert pictures.difference(stored, stored.replace(packed, other)) == ""


# Not the same

CHANGES = {
    "a point, by 0.31 pt to the right": moved(x=0.31),
    "a point, by 0.31 pt up": moved(y=0.31),
    "a line, by 1 % of the axis": lambda ax: ax.lines[0].set_ydata(ax.lines[0].get_ydata() + 0.01),
    "a dashed line, by 1 % of the axis": lambda ax: ax.lines[1].set_ydata(ax.lines[1].get_ydata() + 0.01),
    "a point fewer": with_one_point_fewer,
    "a point that is NaN": lambda ax: ax.lines[0].set_ydata(np.where(X[5] == X, np.nan, X**2)),
    "one colour": lambda ax: ax.lines[0].set_color("#1f77b5"),
    "one line over the other": exchanged,
    "one line under all": at_the_bottom,
    "the width of a line": lambda ax: ax.lines[0].set_linewidth(1.6),
    "the dashes": lambda ax: ax.lines[1].set_linestyle((0, (3.7, 1.7))),
    "dashes of a full line": lambda ax: ax.lines[0].set_linestyle("--"),
    "a line less": lambda ax: ax.lines[0].remove(),
    "a line more": lambda ax: ax.plot(X, X**3),
    "a line hidden": lambda ax: ax.lines[0].set_visible(False),
    "markers": lambda ax: ax.lines[0].set_marker("o"),
    "the size of the points": lambda ax: ax.collections[0].set_sizes([50]),
    "the place of a point": lambda ax: ax.collections[0].set_offsets([[0, 0], [0.1, 0.1], [0.2, 0.21]]),
    "a point of a scatter fewer": lambda ax: ax.collections[0].set_offsets([[0, 0], [1 / 11, 1 / 11]]),
    "the transparency": lambda ax: ax.collections[0].set_alpha(0.6),
    "the height of a bar": lambda ax: ax.patches[0].set_height(0.31),
    "the width of a bar": lambda ax: ax.patches[0].set_width(0.11),
    "the hatches": lambda ax: ax.patches[0].set_hatch("\\\\"),
    "no hatches": lambda ax: ax.patches[0].set_hatch(None),
    "a pixel": lambda ax: ax.images[0].set_data(IMAGE + [[0.0, 0.01], [0.0, 0.0]]),
    "the place of an image": lambda ax: ax.images[0].set_extent((0.1, 0.3, 0.61, 0.91)),
    "the size of an image": lambda ax: ax.images[0].set_extent((0.1, 0.31, 0.6, 0.9)),
    "what is cut off": lambda ax: ax.lines[0].set_clip_path(plt.Circle((0.5, 0.5), 0.4, transform=ax.transData)),
    "nothing cut off": lambda ax: ax.lines[0].set_clip_on(False),
    "a text": lambda ax: ax.texts[0].set_text("$x^2$ at 0.26"),
    "a text lost": lambda ax: ax.texts[0].remove(),
    "the place of a text": lambda ax: ax.texts[0].set_y(0.51),
    "the size of a text": lambda ax: ax.texts[0].set_fontsize(11),
    "the colour of a text": lambda ax: ax.texts[0].set_color("#000001"),
    "the angle of a text": lambda ax: ax.texts[0].set_rotation(2),
    "a label": lambda ax: ax.set_xlabel("key q"),
    "a label lost": lambda ax: ax.set_ylabel(""),
    "the labels exchanged": lambda ax: ax.set(xlabel="weight", ylabel="key k"),
    "a tick": lambda ax: ax.set_xticks([0, 0.25, 0.4, 0.6, 0.8, 1.0]),
    "the name of a tick": lambda ax: ax.set_xticks([0, 0.2, 0.4, 0.6, 0.8, 1.0], list("abcdef")),
    "an end of the axis": lambda ax: ax.set_xlim(0, 1.01),
    "the names of all ticks": lambda ax: ax.set_yticks(
        np.arange(6) / 5, [f"{tick / 5 + 0.1:.1f}" for tick in range(6)]
    ),
    "the legend": lambda ax: ax.legend(loc="lower right"),
    "no legend": lambda ax: ax.get_legend().remove(),
    "the size of the figure": lambda ax: ax.figure.set_size_inches(4.01, 4),
    "a grid": lambda ax: ax.grid(True),
    "the colour of the page": lambda ax: ax.figure.set_facecolor("#fffffe"),
    "no spine": lambda ax: ax.spines["top"].set_visible(False),
}


@functools.cache
def svg_with(name):
    return svg(CHANGES[name])


@pytest.mark.parametrize("name", CHANGES)
def test_what_a_reader_may_see_is_found(stored, name):
    other = svg_with(name)
    for old, new in ((stored, other), (other, stored)):
        said = compare.same("image/svg+xml", old, new)
        assert said and len(said) < 300 and "\n" not in said, said
        assert not said.startswith(("the stored", "the new")), said


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("M 1 1 L 9 9", "M 1 1 l 8 8"),
        ("M 1 1 L 9 9", "M1,1 9,9"),
        ("m 1 1 8 8 1 1", "M 1 1 L 9 9 L 10 10"),
        ("M 1 1 L 9 9 L 2 2 z m 1 1", "M 1 1 L 9 9 L 2 2 Z M 2 2"),
        ("M 1 2 H 9 V 8 h 1 v 1", "M 1 2 h 8 v 6 H 10 V 9"),
        ("M 1 1 C 1 2 3 4 5 6 Q 7 8 9 9", "M 1 1 c 0 1 2 3 4 5 q 2 2 4 3"),
        ("M 1 1 A 3 3 0 0 1 5 5", "M 1 1 a 3 3 0 0 1 4 4"),
        ("M 1e1 .5 L -2.5e0 1E+1", "M10,.5-2.5,10"),
    ],
)
def test_ways_to_write_a_path(old, new):
    assert pictures.difference(drawing(f'<path d="{old}"/>'), drawing(f'<path d="{new}"/>')) == ""


def drawing(inside):
    return f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">{inside}</svg>'


STEPS = " ".join(["l 1 1"] * 50)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        # small steps of one direction add up
        (f'<path d="M 0 0 {STEPS}"/>', f'<path d="M 0 0 {STEPS.replace("1 1", "1.1 1")}"/>'),
        # a small factor is not a small distance
        ('<path transform="scale(0.1)" d="M 900 900 L 0 0"/>', '<path transform="scale(0.2)" d="M 900 900 L 0 0"/>'),
        ('<g transform="scale(10)"><path d="M 9 9"/></g>', '<g transform="scale(10)"><path d="M 9 9.2"/></g>'),
        ('<path transform="rotate(90)" d="M 9 0"/>', '<path transform="rotate(90.2)" d="M 99 0"/>'),
        (
            '<path transform="translate(1 2) scale(2)" d="M 9 9"/>',
            '<path transform="scale(2) translate(1 2)" d="M 9 9"/>',
        ),
        # commands
        ('<path d="M 0 0 L 9 9"/>', '<path d="M 0 0 M 9 9"/>'),
        ('<path d="M 0 0 L 9 9 L 9 0 z"/>', '<path d="M 0 0 L 9 9 L 9 0"/>'),
        ('<path d="M 1 1 A 3 3 0 0 1 5 5"/>', '<path d="M 1 1 A 3 3 0 1 1 5 5"/>'),
        # references
        (
            '<defs><path id="a" d="M 0 0 L 9 9"/><path id="b" d="M 0 0 L 9 8"/></defs><use href="#a"/><use href="#b"/>',
            '<defs><path id="a" d="M 0 0 L 9 9"/><path id="b" d="M 0 0 L 9 8"/></defs><use href="#b"/><use href="#a"/>',
        ),
        (
            '<clipPath id="c"><rect width="9" height="9"/></clipPath><path clip-path="url(#c)" d="M 0 0"/>',
            '<clipPath id="c"><rect width="9" height="8"/></clipPath><path clip-path="url(#c)" d="M 0 0"/>',
        ),
        (
            '<pattern id="h"><path d="M 0 0 L 9 9"/></pattern><path style="fill: url(#h)" d="M 0 0"/>',
            '<pattern id="h"><path d="M 0 0 L 9 8"/></pattern><path style="fill: url(#h)" d="M 0 0"/>',
        ),
        (
            '<linearGradient id="g"><stop offset="1" stop-color="red"/></linearGradient><path fill="url(#g)"/>',
            '<linearGradient id="g"><stop offset="1" stop-color="tan"/></linearGradient><path fill="url(#g)"/>',
        ),
        # groups and styles
        ('<g opacity="0.5"><path d="M 0 0"/></g>', '<path d="M 0 0"/>'),
        (
            '<g opacity="0.5"><path d="M 0 0"/></g><path d="M 0 0"/>',
            '<g opacity="0.5"><path d="M 0 0"/><path d="M 0 0"/></g>',
        ),
        ("<style>*{stroke-linecap: butt}</style>", "<style>*{stroke-linecap: round}</style>"),
        ("<defs><style>*{stroke: red}</style></defs>", ""),
        # other shapes and texts
        ('<circle cx="1" cy="2" r="3"/>', '<circle cx="1" cy="2" r="4"/>'),
        ('<polygon points="1,1 2,2 3,1"/>', '<polygon points="1,1 2,2 3,1.4"/>'),
        ('<polygon points="1,1 2,2 3,1"/>', '<polygon points="1,1 2,2"/>'),
        ('<text x="1">a <tspan>b</tspan> c</text>', '<text x="1">a <tspan>b</tspan> d</text>'),
        ('<text x="1">a <tspan>b</tspan> c</text>', '<text x="1">a <tspan>e</tspan> c</text>'),
        ("<!-- 0.25 -->", "<!-- 0.26 -->"),
        ("<title>a</title>", "<title>b</title>"),
        ('<a href="https://example.org/a"/>', '<a href="https://example.org/b"/>'),
        ('<image href="data:image/jpeg;base64,AAAA"/>', '<image href="data:image/jpeg;base64,AAAB"/>'),
    ],
)
def test_drawings_that_differ(old, new):
    assert pictures.difference(drawing(old), drawing(old)) == pictures.difference(drawing(new), drawing(new)) == ""
    for a, b in ((old, new), (new, old)):
        said = pictures.difference(drawing(a), drawing(b))
        assert said and "cannot be read" not in said, said


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('<path transform="translate(1)" d="M 0 0"/>', '<path transform="matrix(1 0 0 1 1 0)" d="M 0 0"/>'),
        ('<path transform="scale(2)" d="M 3 4"/>', '<path transform="scale(2, 2)" d="M 3 4"/>'),
        ('<path transform="rotate(90)" d="M 3 4"/>', '<path transform="matrix(0 1 -1 0 0 0)" d="M 3 4"/>'),
        ('<path transform="rotate(90 3 4)" d="M 5 4"/>', '<path d="M 3 6"/>'),
        ('<path transform="skewX(45)" d="M 0 2"/>', '<path d="M 2 2"/>'),
        ('<path transform="skewY(45)" d="M 2 0"/>', '<path d="M 2 2"/>'),
        ('<g transform="scale(2)"><path transform="translate(1 2)" d="M 3 4"/></g>', '<path d="M 8 12"/>'),
        (
            '<path id="a" d="M 1 1"/><use href="#a" x="3" y="4"/>',
            '<path id="b" d="M 1 1"/><use xlink:href="#b" transform="translate(3 4)"/>',
        ),
        ('<path style="fill: red; stroke: blue" d="M 0 0"/>', '<path stroke="blue" style="fill:red;" d="M 0 0"/>'),
        ('<rect width="9" height="9"/>', '<rect x="0.2" y="0.2" width="9" height="9"/>'),
        ('<polyline points="1,1 2,2"/>', '<polyline points="1 1, 2 2.29"/>'),
    ],
)
def test_drawings_that_show_the_same(old, new):
    assert pictures.difference(drawing(old), drawing(new)) == ""


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ("<path>", "mismatched tag"),
        ('<path d="M 0 0 L 1 #"/>', "'#' where a number was expected"),
        ('<path d="M 0 nan"/>', "'M' with 1 numbers"),
        ('<path d="M 0"/>', "'M' with 1 numbers"),
        ('<path d="M"/>', "'M' with 0 numbers"),
        ('<path d="0 0"/>', "'' with 2 numbers"),
        ('<path d="M 0 0 B 1 1"/>', "'B' with 2 numbers"),
        ('<path d="M 0 0 z 1"/>', "'z' with 1 numbers"),
        ('<g transform="scale(1 2 3)"/>', "scale of 3 numbers"),
        ('<g transform="turn(1)"/>', "turn of 1 numbers"),
        ('<g transform="scale 2"/>', "'scale 2' where a transform was expected"),
        ('<use href="#gone"/>', "#gone refers to nothing"),
        ('<g id="a"><use href="#a"/></g>', "#a refers to itself"),
        ('<image href="data:image/png;base64,AAAA"/>', "cannot identify image"),
    ],
)
def test_a_picture_that_cannot_be_read_is_another_one(broken, said):
    good, bad = drawing("<g/>"), drawing(broken)
    assert pictures.difference(good, bad).startswith("the new picture cannot be read")
    assert said in pictures.difference(good, bad)
    assert pictures.difference(bad, good).startswith("the stored picture cannot be read")
    assert compare.same("image/svg+xml", bad, bad) == ""


def test_the_size_of_the_page():
    page = '<svg xmlns="http://www.w3.org/2000/svg" width="{0}pt" height="9pt" viewBox="0 0 {0} 9"/>'
    assert pictures.difference(page.format(200), page.format(200.29)) == ""
    assert "point" in pictures.difference(page.format(200), page.format(200.31))
    assert pictures.difference(page.format(200), page.format(200).replace("pt", "px")) != ""
    assert pictures.difference(page.format(200), page.format(200).replace("0 0", "9 9")) != ""


# Drawn by another Matplotlib


NO_LAYOUT = ["a line, by 1 % of the axis", "a point fewer", "the height of a bar", "the size of an image", "a pixel"]
NO_LAYOUT += ["the place of a text", "an end of the axis", "the size of the figure"]
STILL_SEEN = [
    "one colour",
    "the dashes",
    "a line less",
    "a line more",
    "no hatches",
    "the transparency",
    "nothing cut off",
]
STILL_SEEN += [
    "a text",
    "a text lost",
    "the colour of a text",
    "a label",
    "a label lost",
    "the name of a tick",
    "no legend",
]


@pytest.mark.parametrize("name", NO_LAYOUT)
def test_without_layout_it_does_not_count_where_a_thing_lies(stored, name):
    other = svg_with(name)
    assert compare.same("image/svg+xml", stored, other) != ""
    assert compare.same("image/svg+xml", stored, other, layout=False) == ""


@pytest.mark.parametrize("name", STILL_SEEN)
def test_without_layout_it_still_counts_what_is_shown(stored, name):
    assert compare.same("image/svg+xml", stored, svg_with(name), layout=False) != ""


def test_without_layout_letters_may_be_joined_but_not_lose_their_colour():
    words = '<g id="a"><!-- fl --><g style="fill: #0072b2">{}</g></g>'
    apart = drawing(words.format('<path d="M 0 0"/><path d="M 9 0"/>'))
    joined = drawing(words.format('<path d="M 0 0 L 9 0"/>'))
    assert compare.same("image/svg+xml", apart, joined) != ""
    assert compare.same("image/svg+xml", apart, joined, layout=False) == ""
    assert compare.same("image/svg+xml", apart, joined.replace("b2", "b3"), layout=False) != ""


def test_the_sentence_says_where_and_what(stored):
    said = pictures.difference(stored, svg(moved(y=2)))
    assert re.fullmatch(r"line2d_\d+: point 6 of 12 of path: stored at \([\d., ]+\), now at \([\d., ]+\)", said), said
    said = [pictures.difference(stored, other) for other in (svg_with("one colour"), svg_with("a label lost"))]
    assert said[0] == "line2d_13: stroke of path: stored #1f77b4, now #1f77b5"
    assert said[1] == "text_14: stored text weight, now path"
    more = stored.replace("</svg>", "<g><!-- b --></g></svg>")
    assert pictures.difference(stored, more) == "picture: text b was not there"
    assert pictures.difference(more, stored) == "picture: text b is missing"
