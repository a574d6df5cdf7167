"""attnpage.heads_figure: does the table hold the sum over heads, and is each number explained truthfully?"""

import re

import numpy as np
import pytest

from attnlib.multihead import MultiHeadParams, init_multihead, multihead_attention
from attnpage import heads_figure

WEIGHTS = np.array([[[0.75, 0.25, 0.0]], [[0.5, 0.0, 0.5]]])  # h 2, q 1, k 3
HANDED = np.array([[[2.0, 0.0], [0.0, -4.0], [1.0, 1.0]], [[1.0, 3.0], [7.0, 7.0], [-3.0, 0.0]]])  # h 2, k 3, m 2


def figure(weights=WEIGHTS, handed=HANDED, **settings):
    names = dict(heads=["left", "right"], rows=["it"], columns=["noun", "<alive>"], keys=["a", "b", "c"], caption="Two & two")
    return heads_figure(weights, handed, **names | settings)


def explained(column, **settings):
    lines = repr(figure(start=(0, column), **settings)).splitlines()
    return lines[3], dict(line.strip().split(": ", 1) for line in lines if line.startswith("  "))


def test_a_number_is_explained_head_by_head():
    said, steps = explained(0)
    assert said == "it gets 0.5 for noun: left 1.5 + right -1."
    assert steps == {
        "left, weight times what is handed over": "a 0.75 × 2 + b 0.25 × 0 + c 0 × 1 = 1.5",
        "right, weight times what is handed over": "a 0.5 × 1 + b 0 × 7 + c 0.5 × (-3) = -1",
        "Sum over heads": "1.5 + (-1) = 0.5",
    }


def test_a_rounded_number_is_called_rounded():
    _, steps = explained(1, weights=np.array([[[1 / 3, 1 / 3, 1 / 3]], [[0.5, 0.0, 0.5]]]))
    assert steps["left, weight times what is handed over"].endswith("≈ -1")
    assert steps["right, weight times what is handed over"].endswith(" = 1.5")


def test_the_table_is_the_output_of_a_layer_of_several_heads():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((4, 5))
    params = init_multihead(rng, m=5, heads=2, d=3, v=2)
    out, saved = multihead_attention(x, params)
    handed = saved.value @ params.out_weight.reshape(2, 2, 5)
    names = {name: list("abcde"[:size]) for name, size in (("rows", 4), ("columns", 5), ("keys", 4))}
    shown = heads_figure(saved.weights, handed, heads=["one", "two"], caption="", **names)._repr_html_()
    cells = [float(number.replace("−", "-")) for number in re.findall(r"<td[^>]*>([−\d.-]+)</td>", shown)]
    assert isinstance(params, MultiHeadParams)
    assert cells == pytest.approx(out.ravel(), abs=5.01e-4)


def test_the_page_has_every_explanation_its_own_words_and_nothing_unescaped():
    shown = figure()._repr_html_()
    assert shown.count("data-way=") == 2 and 'aria-label="Sums over heads"' in shown
    assert "Choose a number: tap it" in shown and "&lt;alive&gt;" in shown and "Two &amp; two" in shown
    assert '<span class="value">(−3)</span>' in shown.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", '"')
    assert all(f"figure.tap .{name} {{ color: var(--{name}," in shown for name in ("weights", "value", "output"))
    assert "color: var(--query" not in shown and 'class="query"' not in shown
    assert '<th scope="row"><span class="output">it</span></th>' in shown


def test_the_largest_number_has_the_strongest_colour_whatever_its_sign():
    def tints(**settings):
        return [int(tint) for tint in re.findall(r"color-mix\(in srgb, [^%]*\) (\d+)%", figure(**settings)._repr_html_())]

    assert tints(handed=HANDED * [1.0, -4.0]) == [8, 30]  # 0.5 and -2
    assert tints(weights=0 * WEIGHTS) == [0, 0]


@pytest.mark.parametrize(
    "settings, error, message",
    [
        ({"weights": WEIGHTS[0]}, ValueError, "weights must have the shape (h, q, k) and handed (h, k, m)"),
        ({"handed": HANDED[:1]}, ValueError, "got (2, 1, 3) and (1, 3, 2)"),
        ({"handed": HANDED[:, :2]}, ValueError, "with the same heads and keys"),
        ({"handed": np.zeros((2, 3, 9)), "columns": list("abcdefghi")}, ValueError, "1 to 8 queries, keys and features"),
        ({"handed": np.full((2, 3, 2), np.inf)}, ValueError, "handed must hold finite numbers; got inf"),
        ({"heads": ["left"]}, ValueError, "heads_figure: heads must hold one name for each of 2 heads; got 1"),
        ({"keys": "abc"}, TypeError, "heads_figure: keys must be a sequence of names (str)"),
        ({"caption": 5}, TypeError, "caption must be a text (str); got int"),
        ({"start": (1, 0)}, ValueError, "heads_figure: start must lie within the table of shape (1, 2); got (1, 0)"),
        ({"start": 1}, TypeError, "heads_figure: start must be a tuple (row, column); got 1"),
    ],
)
def test_what_cannot_be_shown_is_refused(settings, error, message):
    with pytest.raises(error, match=re.escape(message)):
        figure(**settings)
