"""attnpage.tables: is every value where it belongs, for the eye, for a screen reader and in a terminal?"""

import math
from html.parser import HTMLParser

import numpy as np
import pytest

from attnpage import table


class Cells(HTMLParser):
    """Every cell of a table as (tag, attributes, text), row by row, and its caption."""

    def __init__(self, shown):
        super().__init__()
        self.rows, self.caption, self.open = [], "", []
        self.feed(shown._repr_html_())
        assert self.open == [], "a tag is not closed"

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("th", "td"):
            self.rows[-1].append([tag, dict(attrs), ""])

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "caption" in self.open:
            self.caption += data
        elif {"th", "td"} & {*self.open}:
            self.rows[-1][-1][2] += data

    def texts(self):
        return [[text for _, _, text in row] for row in self.rows]


def lines(shown):
    return str(shown).splitlines()


def test_each_column_has_its_format_and_each_row_its_place():
    columns = {"n": "d", "seconds": ".2f", "way": None, "share": "{:.0%}".format}
    shown = table(columns, [(8, 0.125, "loop", 0.5), (1024, 2.0, "tiles", 1)])
    assert Cells(shown).texts() == [[*columns], ["8", "0.12", "loop", "50%"], ["1024", "2.00", "tiles", "100%"]]
    assert lines(shown) == [
        "   n  seconds  way    share",
        "   8     0.12  loop     50%",
        "1024     2.00  tiles   100%",
    ]
    assert repr(shown) == str(shown)


@pytest.mark.parametrize(
    ("values", "shown"),
    [
        ([1, 20, 300], ["1", "20", "300"]),
        ([1, 16_384], ["1", "16,384"]),
        ([0.25, 1, 100], ["0.25", "1.00", "100.00"]),
        ([0.98168, 0.33678], ["0.982", "0.337"]),
        ([2.0, 1.0], ["2", "1"]),
        ([0.5, 12_000.25], ["0.50", "12,000.25"]),
        ([0.00012, 3], ["0.0001", "3.0000"]),
        ([1e-9, 0.0, 2.5], ["1.0e-09", "0", "2.5e+00"]),
        ([1.5, float("inf"), float("nan"), None], ["1.5", "inf", "NaN", "–"]),
        ([-0.5, 0.25], ["-0.50", "0.25"]),
        (np.array([1.0, 0.5], np.float32), ["1.0", "0.5"]),
        (np.arange(3), ["0", "1", "2"]),
        (["loop", "tiles"], ["loop", "tiles"]),
        ([True, False], ["yes", "no"]),
        ([None, None], ["–", "–"]),
        ([0.0, 0.0], ["0", "0"]),
    ],
)
def test_values_alone_get_formats_that_suit_them(values, shown):
    assert [row.strip() for row in lines(table({"x": values}))[1:]] == shown


def test_values_and_rows_show_the_same():
    columns, rows = {"n": "d", "way": None, "share": ".0%"}, [(8, "loop", 0.5), (1024, "tiles", 1)]
    given = {"n": [8, 1024], "way": ("loop", "tiles"), "share": np.array([0.5, 1])}
    assert table(given, formats={"share": ".0%"})._repr_html_() == table(columns, rows)._repr_html_()
    assert table(columns, rows, formats={"n": ".1f"})._repr_html_() == table({**columns, "n": ".1f"}, rows)._repr_html_()
    assert columns == {"n": "d", "way": None, "share": ".0%"}  # not written to


@pytest.mark.parametrize(
    ("arguments", "error", "said"),
    [
        (({"a": [1, 2], "b": [1]},), ValueError, "same number of values; 'a' has 2, 'b' has 1"),
        (({"a": ".2f"},), TypeError, "column 'a' is '.2f'"),
        (({"a": 3},), TypeError, "column 'a' is 3"),
        (({"a": [1]}, None, {"b": "d"}), ValueError, "'b' is none of 'a'"),
    ],
)
def test_columns_that_do_not_fit_are_refused(arguments, error, said):
    columns, rows, formats = (*arguments, None, None)[:3]
    with pytest.raises(error, match=said):
        table(columns, rows, formats=formats)


def test_header_cells_say_what_they_head():
    cells = Cells(table({"n": "d", "out": ".1f"}, [(1, 2.0)], caption="Two numbers"))
    assert cells.caption == "Two numbers"
    assert [(tag, attributes.get("scope")) for row in cells.rows for tag, attributes, _ in row] == [
        ("th", "col"), ("th", "col"), ("th", "row"), ("td", None),
    ]  # fmt: skip
    plain = Cells(table({"n": "d", "out": ".1f"}, [(1, 2.0)], row_header=False))
    assert [tag for tag, _, _ in plain.rows[1]] == ["td", "td"] and plain.caption == ""


def test_numbers_stand_to_the_right_and_words_to_the_left():
    rows = [(1, "a", True, None, np.float32(0.5)), (2, "b", np.False_, 3, np.int64(4))]
    cells = Cells(table({"p": None, "q": None, "r": None, "s": None, "t": ".1f"}, rows))
    for row in cells.rows:
        sides = [attributes["style"].split()[-1] for _, attributes, _ in row]
        assert sides == ["right", "left", "left", "right", "right"]
    assert cells.texts()[1:] == [["1", "a", "yes", "–", "0.5"], ["2", "b", "no", "3", "4.0"]]


def test_columns_of_one_group_stand_under_one_heading():
    columns = {"d": "d", ("without", "entropy"): ".2f", ("without", "top"): ".2f", ("scaled", "entropy"): ".2f", "ok": None}
    shown = table(columns, [(4, 0.65, 0.35, 0.87, True)])
    first, second, third = Cells(shown).rows
    assert [(text, a.get("colspan"), a.get("rowspan"), a["scope"]) for _, a, text in first] == [
        ("d", None, "2", "col"), ("without", "2", None, "colgroup"), ("scaled", "1", None, "colgroup"), ("ok", None, "2", "col"),
    ]  # fmt: skip
    assert [text for _, _, text in second] == ["entropy", "top", "entropy"]
    assert len(third) == 5
    assert lines(shown) == [
        "      without      scaled",
        "d  entropy   top  entropy  ok",
        "4     0.65  0.35     0.87  yes",
    ]


def test_a_group_that_returns_later_is_a_group_of_its_own():
    shown = table({("a", "x"): "d", "m": "d", ("a", "y"): "d"}, [(1, 2, 3)])
    assert [text for _, _, text in Cells(shown).rows[0]] == ["a", "m", "a"]


def test_a_group_longer_than_its_columns_has_room():
    shown = table({"n": "d", ("a long heading", "x"): "d", "last": "d"}, [(1, 2, 3)])
    assert lines(shown) == [
        "   a long heading",
        "n               x  last",
        "1               2     3",
    ]


def test_what_is_missing_is_a_dash_and_zero_is_not_missing():
    rows = [(None,), (math.nan,), (np.float32("nan"),), (0.0,), (-0.0,), (math.inf,)]
    assert [row[0] for row in Cells(table({"x": "z.1f"}, rows)).texts()[1:]] == ["–", "NaN", "NaN", "0.0", "0.0", "inf"]


def test_minus_and_powers_of_ten_are_typeset_on_the_page_alone():
    shown = table({"x": ".1e"}, [(-2.5e-7,), (1e20,), (3.0,)])
    assert lines(shown) == ["       x", "-2.5e-07", " 1.0e+20", " 3.0e+00"]
    source = shown._repr_html_()
    assert "\u22122.5 × 10<sup>\u22127</sup>" in source
    assert "1.0 × 10<sup>20</sup>" in source and "3.0 × 10<sup>0</sup>" in source
    assert ">\u22128.7</th>" in table({"-8.7": "d", "1e-3": "d"}, [(1, 2)])._repr_html_()  # a name that is a number
    words = table({"way": None}, [("one-pass 1e-5",)])
    assert Cells(words).texts()[1] == ["one-pass 1e-5"]


def test_text_is_escaped_and_backticks_are_code():
    shown = table({"`a<b>`": None}, [("<script> & `x`",), ("5` alone",)], caption="`q` < k")
    source = shown._repr_html_()
    assert "<script>" not in source and "&lt;script&gt; &amp; <code>x</code>" in source
    assert "<code>a&lt;b&gt;</code>" in source and "<caption><code>q</code> &lt; k</caption>" in source
    assert "5` alone" in source
    assert "<script> & `x`" in str(shown)


def test_several_runs_are_shown_by_their_lowest_and_their_highest():
    runs = {"n": [1, 2, 3], "error": [[0.5, 0.25, 1], np.array([0.1, 0.1]), (2, 0.125)]}
    shown = table(runs, formats={"error": ".2f"})
    assert lines(shown) == ["n  error", "1  0.25 to 1.00", "2  0.10", "3  0.12 to 2.00"]
    assert lines(table(runs))[1:] == ["1  0.250 to 1.000", "2  0.100", "3  0.125 to 2.000"]
    assert lines(table({"calls": [[25, 38, 30], range(80, 81)]})) == ["calls", "25 to 38", "80"]
    assert lines(table({"rise": [[-0.5, math.nan], [math.nan, 1]]})) == ["rise", "NaN", "NaN"]  # a run that failed is not hidden
    assert lines(table({"right": [[True, False]], "n": [1]}, formats={"right": str})) == ["right          n", "[True, False]  1"]
    assert lines(table({"n": [[1, 3, 2]]}, formats={"n": lambda runs: f"{len(runs)} runs"})) == ["n", "3 runs"]


def test_rows_may_be_made_as_they_are_asked_for_and_be_none():
    squares = table({"i": "d", "square": "d"}, ((i, i * i) for i in range(2)))
    assert lines(squares) == ["i  square", "0       0", "1       1"]
    empty = table({"i": "d", "square": "d"}, [])
    assert lines(empty) == ["i  square"] and Cells(empty).texts() == [["i", "square"]]


@pytest.mark.parametrize(
    ("columns", "rows", "error", "said"),
    [
        (["n"], [], TypeError, "table: columns must be a dict from name to values or formats; got list"),
        ({}, [], ValueError, "columns must name at least one column"),
        ({"n": "d", "x": ".1f"}, [(1, 2.0), (1,)], ValueError, "row 2 must hold 2 values, one a column; got 1"),
        ({"n": "d"}, [(1, 2)], ValueError, "row 1 must hold 1 values, one a column; got 2"),
        ({"n": "d"}, [(1.5,)], ValueError, "the format 'd' of column 'n' does not fit 1.5"),
        ({"n": ".1f"}, [([],)], ValueError, "the format '.1f' of column 'n' does not fit []"),
        ({"n": ".1f"}, [([1, "two"],)], ValueError, "the format '.1f' of column 'n' does not fit [1, 'two']"),
        ({"n": "d"}, [([1, 1.5],)], ValueError, "the format 'd' of column 'n' does not fit [1, 1.5]"),
    ],
)
def test_what_does_not_fit_is_refused(columns, rows, error, said):
    with pytest.raises(error) as caught:
        table(columns, rows)
    assert said in str(caught.value)
