"""The drawing of where *it* looks: does it show what chapter 2 computes, and is what is said of it so?"""

import re

import pytest

from tools.notebooks import compare
from tools.recorded import looks


@pytest.fixture(scope="module")
def weights():
    return looks.weights()


def test_the_stored_drawing_is_that_of_chapter_2(weights):
    stored = looks.PICTURE.read_text(encoding="utf-8")
    said = compare.same("image/svg+xml", stored, looks.drawing(weights))
    assert not said, f"{said}; if chapter 2 has another example: python -m tools.recorded.looks"
    shown = [float(number) for number in re.findall(r">(\d+\.\d)</text>", stored)]
    assert shown == pytest.approx([100 * weights[word] for word in looks.SENTENCE.split() if word in weights], abs=0.05)
    assert sum(shown) == pytest.approx(100)  # whoever adds them up finds what the first page says


def test_another_weight_is_another_drawing(weights):
    stored = looks.PICTURE.read_text(encoding="utf-8")
    assert compare.same("image/svg+xml", stored, looks.drawing(weights | {"cat": weights["cat"] - 0.02}))


def test_what_is_said_of_the_drawing_holds(weights):
    cat, mat, *others = sorted(weights.values(), reverse=True)
    assert (weights["cat"], weights["mat"]) == (cat, mat) and sum(weights.values()) == pytest.approx(1)
    assert cat > 4 * mat and mat > 4 * max(others)  # "by far the thickest", "thin", "hairlines"
    assert len(weights) == len(looks.SENTENCE.split()) - 3  # the articles and the full stop


def test_a_word_that_the_sentence_lacks_is_refused(weights):
    with pytest.raises(ValueError, match=r"lacks the words \['dog'\]"):
        looks.drawing(weights | {"dog": 0.1})
