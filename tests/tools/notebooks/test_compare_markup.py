"""Two pieces of HTML are the same if a reader takes them for the same: tables and stepped figures with one change."""

import math

import matplotlib.pyplot as plt
import pytest

from attnpage.stepped import stepped_figure
from attnpage.tables import table
from tools.notebooks import compare
from tools.notebooks.compare import markup

IN, RELATIVE = ("error", "in `d_x`"), ("error", "relative")
COLUMNS = {"T": ".2f", IN: ".1e", RELATIVE: ".3f", "right": None}
ROWS = [(0.25, 2.5e-7, 0.982, True), (1, 3e-4, 0.659, True), (100, math.nan, -0.337, False)]


def shown(rows=ROWS, columns=COLUMNS, caption="Colder is sharper", **settings):
    return table(columns, rows, caption=caption, **settings)._repr_html_()


def changed(row, column, value):
    rows = [list(cells) for cells in ROWS]
    rows[row][column] = value
    return rows


SAME = {
    "a last digit": changed(0, 2, 0.983),
    "a last digit of a negative number": changed(2, 2, -0.336),
    "a last digit before a power of ten": changed(0, 1, 2.4e-7),
    "from one power of ten to the next": (changed(1, 1, 1.0e-3), changed(1, 1, 9.9e-4)),
    "a zero with a sign": (changed(2, 2, 0.0), changed(2, 2, -0.0)),
    "a wider number": (changed(0, 0, 9.99), changed(0, 0, 10.0)),
}


@pytest.mark.parametrize("rows", SAME.values(), ids=SAME)
def test_tables_that_a_reader_takes_for_the_same(rows):
    old, new = rows if isinstance(rows, tuple) else (ROWS, rows)
    assert shown(old) != shown(new)
    assert compare.same("text/html", shown(old), shown(new)) == ""


DIFFERENT = {
    "two in the last digit": shown(changed(0, 2, 0.984)),
    "another sign": shown(changed(2, 2, 0.337)),
    "two in the last digit before a power of ten": shown(changed(0, 1, 2.3e-7)),
    "another power of ten": shown(changed(0, 1, 2.5e-6)),
    "a dash for a number": shown(changed(0, 2, math.nan)),
    "a number for a dash": shown(changed(2, 1, 2.5e-7)),
    "an answer": shown(changed(0, 3, False)),
    "a caption": shown(caption="Colder is softer"),
    "no caption": shown(caption=None),
    "a heading": shown(columns={"T": ".2f", ("error", "in `d_y`"): ".1e", RELATIVE: ".3f", "right": None}),
    "a group of columns": shown(columns={"T": ".2f", IN: ".1e", "relative": ".3f", "right": None}),
    "no code in a heading": shown(columns={"T": ".2f", ("error", "in d_x"): ".1e", RELATIVE: ".3f", "right": None}),
    "no names of rows": shown(row_header=False),
    "rows exchanged": shown([ROWS[1], ROWS[0], ROWS[2]]),
    "a row less": shown(ROWS[:2]),
    "a row more": shown([*ROWS, ROWS[2]]),
    "columns exchanged": shown([(row[0], row[2], row[1], row[3]) for row in ROWS]),
    "a header cell that became a data cell": shown()
    .replace('<th scope="row"', "<td")
    .replace("0.25</th>", "0.25</td>"),
    "another scope": shown().replace('scope="row"', 'scope="col"', 1),
    "another alignment": shown().replace("text-align: right", "text-align: left", 1),
    "another span": shown().replace('colspan="2"', 'colspan="3"'),
    "a class": shown().replace('class="values"', 'class="plain"'),
    "no class": shown().replace(' class="values"', ""),
    "a power that is no power": shown().replace("<sup>\u22127</sup>", "\u22127"),
    "a power below": shown().replace("<sup>\u22127</sup>", "<sub>\u22127</sub>"),
    "bold": shown().replace("0.982", "<b>0.982</b>"),
    "no body": shown().replace("<tbody>\n", "").replace("</tbody>\n", ""),
    "a comment": shown().replace("<tbody>", "<tbody><!-- checked -->"),
    "a space": shown().replace("Colder is", "Colder  is"),
    "a space between cells": shown().replace("</td><td", "</td> <td", 1),
    "nothing": "",
}


@pytest.mark.parametrize("other", DIFFERENT.values(), ids=DIFFERENT)
def test_tables_that_a_reader_tells_apart(other):
    assert other != shown()
    for old, new in ((shown(), other), (other, shown())):
        said = compare.same("text/html", old, new)
        assert said and len(said) < 300 and "\n" not in said, said


@pytest.mark.parametrize(
    ("stored", "new", "differs"),
    [
        ("<p>at 0.25 %</p>", "<p>at 0.26 %</p>", False),
        ("<p>at <b>0.25</b> %</p>", "<p>at <b>0.26</b> %</p>", False),
        ("a &lt; 0.25", "a < 0.25", False),
        ("1.5 × 10<sup>a</sup>", "1.4 × 10<sup>a</sup>", False),
        ("1.5 × 10<sup>a</sup>", "1.5 × 10<sup>b</sup>", True),
        ('1.5 × 10<sup class="a">3</sup>', '1.5 × 10<sup class="b">3</sup>', True),
        ("x<sup>2</sup>", "x<sup>3</sup>", True),
        ("x<sup>2.5</sup>", "x<sup>2.6</sup>", False),
        ("<script>x = 0.25</script>", "<script>x = 0.26</script>", True),
        ("<style>p { margin: 0.25em }</style>", "<style>p { margin: 0.26em }</style>", True),
        ("<!-- 0.25 -->", "<!-- 0.26 -->", True),
        ("<!DOCTYPE html>", "<!DOCTYPE svg>", True),
        ("<?a?>", "<?b?>", True),
        ("<![CDATA[a]]>", "<![CDATA[b]]>", True),
        ('<p style="margin: 0.25em">', '<p style="margin: 0.26em">', True),
        ('<input value="0.25">', '<input value="0.26">', True),
        ("<input disabled>", "<input>", True),
        ("<input disabled>", '<input disabled="">', False),
        ('<p id="a" class="b">', '<p class="b" id="a">', False),
        ('<p title="at 0.25">', '<p title="at 0.26">', False),
        ('<p title="at 0.25">', '<p title="to 0.25">', True),
        ('<p aria-label="at 0.25">', '<p aria-label="at 0.27">', True),
        ('<img src="data:image/png;base64,AAAA">', '<img src="data:image/png;base64,AAAB">', True),
        ('<img src="data:image/svg+xml;base64,AAAA">', '<img src="data:image/svg+xml;base64,AAAB">', True),
        ('<img src="data:image/svg+xml;base64,A">', '<img src="data:image/svg+xml;base64,AAAB">', True),
    ],
)
def test_other_markup(stored, new, differs):
    assert bool(compare.same("text/html", stored, new)) is differs
    assert bool(compare.same("text/html", new, stored)) is differs


def steps(
    values=(0.25, 0.5),
    words="A bar of height {:.2f}.",
    colour="#0072b2",
    salt="attnlib",
    lift=0.0,
    label="Height",
    caption="It grows.",
):
    def draw(fig, value):
        fig.subplots().bar([0], [value + lift], color=colour)
        fig.axes[0].set_ylim(0, 1)
        return words.format(value)

    with plt.rc_context({"svg.hashsalt": salt, "svg.fonttype": "path"}):
        names = [f"{value:.2f}" for value in values]
        return stepped_figure(draw, values, label=label, caption=caption, names=names, figsize=(2, 2)).data


def test_a_stepped_figure_with_other_ids_other_last_digits_and_points_close_by_is_the_same():
    assert steps(salt="other") != steps()
    assert compare.same("text/html", steps(), steps(salt="other")) == ""
    assert compare.same("text/html", steps(), steps(lift=1e-9)) == ""
    assert compare.same("text/html", steps((0.2549, 0.5)), steps((0.2551, 0.5))) == ""


@pytest.mark.parametrize(
    "change",
    [
        {"colour": "#0072b3"},
        {"words": "A column of height {:.2f}."},
        {"words": "A bar of height {:.1f}."},
        {"values": (0.25, 0.52)},
        {"values": (0.25,)},
        {"values": (0.25, 0.5, 0.75)},
        {"values": (0.5, 0.25)},
        {"lift": 0.1},
        {"label": "Width"},
        {"caption": "It shrinks."},
    ],
    ids=str,
)
def test_a_stepped_figure_with_one_change_is_another(change):
    for old, new in ((steps(), steps(**change)), (steps(**change), steps())):
        said = compare.same("text/html", old, new)
        assert said and len(said) < 300 and "\n" not in said, said


def test_pictures_without_their_layout():
    assert compare.same("text/html", steps(), steps(lift=0.1), layout=False) == ""
    assert compare.same("text/html", steps(), steps(colour="#0072b3"), layout=False) != ""


def test_the_sentence_says_where_and_what():
    assert markup.difference(shown(), shown(changed(1, 2, 0.7))) == "row 4, cell 3: line 1: stored '0.659', now '0.700'"
    assert markup.difference(shown(), DIFFERENT["a row less"]) == "row 5: stored <tr>, now </tbody>"
    said = markup.difference(steps(), steps(colour="#0072b3"))
    assert said.startswith("image 1: src of <img>: patch_") and said.endswith(
        "fill of path: stored #0072b2, now #0072b3"
    )
    said = markup.difference(steps(), steps(words="A rod of height {:.2f}."))
    assert said == "image 1: alt of <img>: line 1: stored 'A bar of height 0.25.', now 'A rod of height 0.25.'"
