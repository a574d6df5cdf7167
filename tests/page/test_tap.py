"""attnpage.tap: does the table hold the library's weights, and is each one explained truthfully?"""

import html
import re
from pathlib import Path

import numpy as np
import pytest
from matplotlib.colors import to_rgb

from attnlib.attention import attention
from attnpage import plotting, tap, tap_figure
from tools.notebooks import compare

ROOT = Path(__file__).resolve().parents[2]
WORDS = ["cat", "mat", "<it>"]
QUERY = np.array([[0.8, 1.0], [-3.0, 0.0]])
KEY = np.array([[1.0, 1.0], [1.0, 0.0], [0.0, -0.5]])
HIDDEN = np.array([[True, True, False], [False, False, False]])


def figure(query=QUERY, key=KEY, *, rows=("asks", "wants"), columns=WORDS, caption="It & they", **settings):
    return tap_figure(query, key, rows=rows, columns=columns, caption=caption, **settings)


def explained(row, column, **settings):
    """The steps of one weight, by name, and its sentence under "said"."""
    lines = repr(figure(start=(row, column), **settings)).splitlines()
    steps = dict(line.strip().split(": ", 1) for line in lines if line.startswith("  "))
    return steps | {"said": next(line for line in lines if " the weight " in line)}


def cells(shown):
    return [float(number) for number in re.findall(r"<td[^>]*>([\d.]+)</td>", shown)]


@pytest.mark.parametrize("settings", [{}, {"mask": HIDDEN}, {"scale": 0.25}, {"mask": np.array([0.0, -2.5, -np.inf])}])
def test_the_table_and_every_last_step_have_the_weights_of_the_library(settings):
    _, weights = attention(QUERY, KEY, KEY, **settings)
    assert cells(figure(**settings)._repr_html_()) == pytest.approx(weights.ravel(), abs=5.01e-4)
    for (row, column), weight in np.ndenumerate(weights):
        steps = explained(row, column, **settings)
        if "Weight" in steps:
            assert float(re.split(" [=≈] ", steps["Weight"])[-1]) == pytest.approx(weight, abs=5.01e-4)
            assert steps["said"].startswith(f"{['asks', 'wants'][row]} gives {WORDS[column]} the weight ")


def test_a_weight_is_explained_step_by_step():
    assert explained(0, 1, features=["thing", "alive"]) == {
        "Query times key, feature by feature": "thing 0.8 × 1 + alive 1 × 0 = 0.8 + 0 = 0.8",
        "Scale": "0.8 ÷ √2 ≈ 0.566",
        "Minus the row’s largest score μ": "0.566 − 1.273 ≈ -0.707",
        "Exponential": "exp(-0.707) ≈ 0.493",
        "Sum of the row’s exponentials": "cat 1 + mat 0.493 + <it> 0.197 ≈ 1.690",
        "Weight": "0.493 ÷ 1.690 ≈ 0.292",
        "said": "asks gives mat the weight 0.292: an exponential of 0.493 in a row that sums to 1.690.",
    }


def test_numbers_with_few_digits_are_exact_and_negative_ones_stand_in_brackets():
    steps = explained(1, 2, scale=0.5)
    assert steps["Query times key, feature by feature"] == "-3 × 0 + 0 × (-0.5) = 0 + 0 = 0"
    assert explained(1, 0, scale=0.5)["Scale"] == "-3 × 0.5 = -1.5"
    assert explained(1, 0)["Minus the row’s largest score μ"] == "-2.121 − 0 ≈ -2.121"
    even = figure([[1.0] * 4], [[1.0] * 4] * 2, rows=["q"], columns=["a", "b"])
    assert "Scale: 4 ÷ √4 = 2" in repr(even) and "Weight: 1 ÷ 2 = 0.5" in repr(even)


def value_of(shown):
    """Of a sum, product, quotient or exponential as it is written on the page."""
    code = re.sub(r"\b[e-h]\s", "", shown)  # the names of the keys
    for sign, operator in (("×", "*"), ("÷", "/"), ("−", "-"), ("exp", "np.exp")):
        code = code.replace(sign, operator)
    return eval(code)


def test_equals_stands_only_where_what_is_shown_adds_up():
    rng = np.random.default_rng(5)
    query, key = rng.standard_normal((2, 4, 3))
    seen = 0
    for mask in (None, rng.standard_normal((4, 4))):
        for place in np.ndindex(4, 4):
            shown = repr(figure(query, key, rows=list("abcd"), columns=list("efgh"), mask=mask, start=place))
            for line in shown.splitlines():
                for left, right in re.findall(r"([^=≈:]*) = ([^=≈]*)", line):
                    assert value_of(left) == pytest.approx(float(right), abs=1e-9), line
                    seen += 1
    assert seen >= 16  # at least the largest of each row


def test_a_hidden_key_says_so_and_has_exactly_zero():
    for mask in (HIDDEN, np.where(HIDDEN, 0.0, -np.inf)):
        steps = explained(0, 2, mask=mask)
        assert steps["Mask"] == "hidden: the score counts as −∞"
        assert steps["Exponential"] == "exp(−∞) = 0"
        assert steps["Sum of the row’s exponentials"] == "cat 1 + mat 0.493 + <it> 0 ≈ 1.493"
        assert steps["Weight"] == "0 ÷ 1.493 = 0"
        assert steps["said"] == "asks gives <it> the weight 0: the mask hides this key from it."
        assert figure(mask=mask)._repr_html_().count('class="masked" aria-label="0, hidden"') == 4
    assert explained(0, 0, mask=HIDDEN)["Mask"] == "may look: the score stays"
    assert explained(0, 1, mask=np.array([0.0, -0.25, 0.0]))["Mask"] == "0.566 + (-0.25) ≈ 0.316"


def test_a_row_with_nothing_to_look_at_says_so():
    steps = explained(1, 0, mask=HIDDEN)
    assert steps["said"] == "wants gives cat the weight 0: the mask leaves it nothing to look at."
    assert "all exponentials are 0" in steps["The row"] and "Weight" not in steps


def test_huge_scores_are_shown_as_they_are_computed():
    steps = explained(0, 1, query=QUERY * 1e7)
    assert steps["Scale"] == "8.00e+06 ÷ √2 ≈ 5.66e+06"
    assert steps["Exponential"] == "exp(-7.07e+06) ≈ 0, too small for float64"
    small = explained(0, 2, query=QUERY * 10)
    assert small["Exponential"] == "exp(-16.263) ≈ 8.65e-08"
    assert "the weight 8.64e-08" in small["said"]
    shown = figure(QUERY * 10)._repr_html_()
    assert "8.65 × 10<sup>−8</sup>" in shown


def test_float32_stays_float32_and_its_inputs_look_like_what_was_typed():
    steps = explained(0, 1, query=QUERY.astype(np.float32), key=KEY.astype(np.float32))
    assert steps == explained(0, 1)
    steps = explained(0, 1, query=(QUERY * 1e3).astype(np.float32), key=KEY.astype(np.float32))
    assert steps["Exponential"] == "exp(-707.107) ≈ 0, too small for float32"
    assert "too small" not in explained(0, 1, query=QUERY * 1e3)["Exponential"]


def test_what_cancels_on_paper_is_zero():
    shown = repr(figure([[0.1, 0.2, -0.3]], [[1.0, 1.0, 1.0], [0.0, 0.0, 0.0]], rows=["q"], columns=["a", "b"]))
    assert "= 0.1 + 0.2 + (-0.3) = 0\n" in shown and "0 − 0 = 0" in shown
    assert 0.1 + 0.2 - 0.3 != 0


def test_two_scores_that_are_equal_on_paper_are_shown_as_equal():
    query, key = [[-1.0, -1.0, -1.0]], [[0.1, 0.1, 0.1], [0.3, 0.0, 0.0]]
    assert 0.1 + 0.1 + 0.1 != 0.3
    steps = explained(0, 0, query=query, key=key, rows=["q"], columns=["a", "b"], scale=1)
    assert steps["Minus the row’s largest score μ"] == "-0.3 − (-0.3) = 0"
    assert steps["Exponential"] == "exp(0) = 1"


def test_a_small_product_is_not_taken_for_rounding_because_another_is_large_nor_a_rest_kept_because_one_is_small():
    steps = explained(1, 0, query=[[1e6], [1e-9]], key=[[1.0]], columns=["a"], scale=1)
    assert steps["Scale"].startswith("1.00e-09 × 1 ")
    query = [[0.1, 0.2, -0.3, 1e-30]]
    steps = explained(0, 0, query=query, key=[[1.0] * 4], rows=["q"], columns=["a"], scale=1)
    assert steps["Scale"] == "0 × 1 = 0"


def test_a_hidden_key_is_not_the_largest_score():
    query, key = [[-1.0]], [[1.0], [2.0], [0.5]]
    for mask in (np.array([True, True, False]), np.array([0.0, 0.0, -np.inf])):
        steps = explained(0, 1, query=query, key=key, rows=["q"], mask=mask, scale=1)
        assert steps["Minus the row’s largest score μ"] == "-2 − (-1) = -1"


def test_digits_that_are_not_shown_are_not_called_equal():
    steps = explained(0, 0, query=[[0.3000001]], key=[[1.0]], rows=["q"], columns=["a"], scale=1)
    assert steps["Scale"] == "0.300 × 1 ≈ 0.300"


def test_one_feature_has_no_sum_and_rounded_products_do_not_add_up_exactly():
    products = "Query times key, feature by feature"
    assert explained(0, 0, query=[[0.5]], key=[[2.0]], rows=["q"], columns=["a"])[products] == "0.5 × 2 = 1"
    shown = explained(0, 0, query=[[0.015, -0.015]], key=[[0.1, 0.1]], rows=["q"], columns=["a"])[products]
    assert shown.endswith(" + (-0.002) ≈ 0")


def test_a_hyphen_in_a_name_stays_a_hyphen():
    shown = figure(rows=["know-how", "b"], columns=["x-ray", "y", "z"], features=["far-off", "near"])._repr_html_()
    for name in ("know-how", "x-ray", "far-off"):
        assert name in shown and name.replace("-", "\u2212") not in shown


def test_the_table_names_its_rows_and_columns_and_every_tag_is_closed():
    shown = figure()._repr_html_()
    for kind, scope, names in (("key", "col", ["cat", "mat", "&lt;it&gt;"]), ("query", "row", ["asks", "wants"])):
        assert re.findall(rf'<th scope="{scope}"><span class="{kind}">(.*?)</span></th>', shown) == names
    for tag in ("figure", "table", "thead", "tbody", "tr", "th", "td", "p", "ol", "li", "span", "b", "small"):
        visible = re.sub(r'data-\w+="[^"]*"', "", shown)
        assert len(re.findall(rf"<{tag}[ >]", visible)) == visible.count(f"</{tag}>"), tag


def test_one_wrong_entry_among_right_ones_is_refused():
    with pytest.raises(ValueError, match="mask must not hold NaN"):
        figure(mask=np.array([0.0, np.nan, 0.0]))
    with pytest.raises(TypeError, match="columns must be a sequence of names"):
        figure(columns=["a", 2, "c"])


def test_the_sum_shows_which_of_its_terms_is_meant():
    shown = figure(start=(0, 1))._repr_html_()
    way = shown[shown.index('<ol class="way">') : shown.index("</ol>")]
    assert re.findall("<b>(.*?)</b>", way) == ["0.493"]


def test_only_the_start_is_shown_and_chosen_before_a_tap():
    shown = figure(start=(1, 2))._repr_html_()
    assert re.findall(r'aria-selected="(\w+)"', shown) == ["false"] * 5 + ["true"]
    assert re.findall(r'tabindex="([-\d]+)"', shown) == ["-1"] * 5 + ["0"]
    (said,) = re.findall(r'<p class="said" aria-live="polite">(.*)</p>', shown)
    assert "wants</span> gives" in said and "&lt;it&gt;</span> the weight" in said
    assert shown.count('<ol class="way">') == 1


def test_every_cell_holds_its_own_explanation():
    shown = figure()._repr_html_()
    held = [tuple(map(html.unescape, pair)) for pair in re.findall(r'data-said="([^"]*)" data-way="([^"]*)"', shown)]
    assert len(held) == len(set(held)) == QUERY.shape[0] * KEY.shape[0]
    for (row, column), (said, way) in zip(np.ndindex(2, 3), held, strict=True):
        started = figure(start=(row, column))._repr_html_()
        assert f'aria-live="polite">{said}</p>' in started and f'<ol class="way">{way}</ol>' in started


def test_texts_are_escaped_nothing_is_fetched_and_no_id_can_clash():
    shown = figure(features=["<b>", "&"])._repr_html_()
    assert "&lt;it&gt;" in shown and "<it>" not in shown and "It &amp; they" in shown and "<small>&lt;b&gt;" in shown
    assert "http" not in shown and not re.search(r"\sid=", shown)


def test_a_last_digit_that_another_processor_rounds_the_other_way_is_the_same_to_a_reader():
    query = np.array([[0.81234567, 1.0456789], [-3.1415926, 0.1234567]])
    old, new = (figure(query * factor, KEY / 3) for factor in (1, 1.0002))
    assert re.findall("data-way=.*", old._repr_html_()) != re.findall("data-way=.*", new._repr_html_())
    assert repr(old) != repr(new)
    assert compare.same("text/plain", repr(old), repr(new)) == ""
    assert compare.same("text/html", old._repr_html_(), new._repr_html_()) == ""


def test_in_the_dark_jupyterlab_has_the_colours_of_the_dark_pages():
    pages = (ROOT / "book" / "look" / "colours.css").read_text(encoding="utf-8").split('[data-theme="dark"]')[1].split("}")[0]
    lab = re.search(r"data-jp-theme-light=false\] \{ (.*?) \}", figure()._repr_html_())[1].split("; ")
    assert len(lab) == 4
    for colour in lab:
        assert f"{colour};" in pages


def test_the_rounding_of_another_processor_changes_nothing_for_a_reader():
    noise = 1 + 1e-15 * np.random.default_rng(0).standard_normal(QUERY.shape)
    for query in (QUERY, np.array([[0.1, 0.2], [0.0, 0.0]])):  # the last row has equal weights
        old, new = figure(query), figure(query * noise)
        assert compare.same("text/plain", repr(old), repr(new)) == ""
        assert compare.same("text/html", old._repr_html_(), new._repr_html_()) == ""
    assert compare.same("text/html", figure()._repr_html_(), figure(QUERY * 1.01)._repr_html_())
    assert compare.same("text/plain", repr(figure()), repr(figure(QUERY * 1.01)))


HUGE = QUERY * 1e200
BAD = {
    "leading axes": ({"query": QUERY[None], "key": KEY[None]}, r"query must have the shape \(q, d\), .*\(1, 2, 2\)"),
    "features": ({"key": KEY[:, :1]}, "tap_figure: query and key must have the same number of features"),
    "too many": ({"key": np.ones((9, 2))}, r"key must have 1 to 8 positions .* got \(9, 2\)"),
    "no query": ({"query": np.ones((0, 2))}, "query must have 1 to 8 positions"),
    "too wide": ({"query": np.ones((2, 17)), "key": np.ones((3, 17))}, "at most 16 features"),
    "NaN": ({"query": QUERY * np.nan}, "query must hold finite numbers; got nan"),
    "NaN in a mask": ({"mask": np.full(3, np.nan)}, "mask must not hold NaN"),
    "overflow": ({"query": HUGE, "key": KEY * 1e200}, "products must be finite in float64; query 0 and key 0 give inf"),
    "overflow by scale": ({"query": HUGE, "scale": 1e200}, "scores must be finite in float64"),
    "integer mask": ({"mask": np.ones(3, dtype=int)}, "tap_figure: mask must be boolean or float"),
    "rows": ({"rows": ["asks"]}, "rows must hold one name for each of 2 queries; got 1"),
    "columns": ({"columns": "cat"}, "columns must be a sequence of names"),
    "feature names": ({"features": [1, 2]}, r"features must be a sequence of names \(str\); got \[1, 2\]"),
    "caption": ({"caption": None}, r"caption must be a text \(str\); got NoneType"),
    "start outside": ({"start": (2, 0)}, r"start must lie within the table of shape \(2, 3\); got \(2, 0\)"),
    "start before": ({"start": (0, -1)}, "start must be at least 0; got -1"),
    "start as a number": ({"start": 1}, r"start must be a tuple \(row, column\); got 1"),
}
TYPES = {"integer mask", "columns", "feature names", "caption", "start as a number"}


@pytest.mark.parametrize("name", BAD)
def test_a_wrong_input_is_refused_by_name(name):
    settings, message = BAD[name]
    with pytest.raises(TypeError if name in TYPES else ValueError, match=message):
        figure(**settings)


def test_the_number_can_be_read_on_every_weight_in_both_schemes():
    """At least 4.5 : 1 (WCAG 2), and with the other ink a strong or a weak colour would fail."""

    def contrast(tint, scheme, ink):
        colour, ground = (to_rgb(each[scheme]) for each in (tap._COLOURS["weights"], tap._GROUNDS))
        light = plotting.luminance([tint / 100 * a + (1 - tint / 100) * b for a, b in zip(colour, ground, strict=True)])
        return 1.05 / (light + 0.05) if ink == "white" else (light + 0.05) / 0.05

    for tint in range(101):
        for scheme, ink in enumerate(re.findall(r"ink: (\w+)", tap._inks("weights", tint))):
            assert contrast(tint, scheme, ink) >= 4.5, (tint, scheme)
    assert contrast(100, 0, "black") < 4.5 and contrast(100, 1, "white") < 4.5
