"""The drawing of where *it* looks: does it show what chapter 2 computes, and is what is said of it so?"""

import re

import numpy as np
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


def test_the_first_page_works_the_weights_out_as_they_are(weights):
    """Its table from the queries and keys of chapter 2, rounded as it rounds."""
    query, keys = looks.query_and_keys()
    page = (looks.ROOT / "chapters" / "index.md").read_text(encoding="utf-8")
    assert query.tolist() == [2, 2] and keys["cat"].tolist() == [1, 1] and keys["mat"].tolist() == [1, 0]
    assert all(key.tolist() == [0, 0] for word, key in keys.items() if word not in ("cat", "mat"))
    powers = {word: np.exp(query @ key / 2**0.5) for word, key in keys.items()}
    total = sum(powers.values())
    for name, word in (("*cat*", "cat"), ("*mat*", "mat"), ("each of the six others", "sat")):
        (row,) = re.findall(rf"^\| {re.escape(name)} \|(.+)\|$", page, re.M)
        score, power, weight = (cell.strip() for cell in row.split("|"))
        assert float(score.split()[-1]) == pytest.approx(query @ keys[word] / 2**0.5, abs=0.005)
        above = f"{powers[word]:.1f}".removesuffix(".0")
        assert (power, weight) == (above, f"{above}/{total:.1f} = {100 * weights[word]:.1f} %")
        assert 100 * float(above) / round(total, 1) == pytest.approx(100 * weights[word], abs=0.05)  # with these digits, too
    assert f"| total | | {total:.1f} | |" in page and len(keys) == 8


def test_a_word_that_the_sentence_lacks_is_refused(weights):
    with pytest.raises(ValueError, match=r"lacks the words \['dog'\]"):
        looks.drawing(weights | {"dog": 0.1})
