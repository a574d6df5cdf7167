"""A formula in fewer bytes: letters, sizes, gaps and MathML stay; what only MathJax's own scripts read goes."""

import re

import pytest

from book import formulas
from book.formulas.short import shortened


@pytest.fixture(scope="module")
def engine():
    made = formulas.Engine({})
    yield made
    made.close()


def letters(formula):
    return re.findall(r'<mjx-c class="(?:mjx-)?(c\w+)', formula)


def words(formula):
    return re.sub(r"<[^>]*>", " ", re.search(r"<math.*</math>", formula, re.S)[0]).split()


TEX = r"P_{ij} = \frac{\exp(x_{ij} - \mu_i)}{\sum_k e^{x_{ik}}} \;\text{for all}\; \left( \boldsymbol{q} \in \mathbb{R}^{12} \right)"


@pytest.mark.parametrize("display", [False, True])
def test_a_formula_keeps_its_letters_sizes_gaps_and_mathml(display, engine):
    whole, *_ = engine.typeset(TEX, display)
    short = shortened(whole)
    assert len(short) < 0.65 * len(whole)
    assert letters(short) == letters(whole) and words(short) == words(whole)
    for kept in ("space", "size", "display", "mathvariant", "aria-hidden"):
        assert re.findall(rf'\b{kept}="\w+"', short) == re.findall(rf'\b{kept}="\w+"', whole) or kept == "display"
    assert ('display="true"' in short) == display
    for gone in ("texclass", "unselectable", "xmlns", "position: relative", "stretchy", "<mspace", 'class="mjx-i"', 'class="mjx-n"'):
        assert gone in whole and gone not in short


def test_a_letter_alone_is_one_element_and_a_number_of_two_letters_keeps_its_own():
    short = shortened('<mjx-mi class="mjx-i" size="s"><mjx-c class="mjx-c1D465 TEX-I"></mjx-c></mjx-mi><mjx-mn><mjx-c class="mjx-c31"></mjx-c><mjx-c class="mjx-c32"></mjx-c></mjx-mn>')
    assert short == '<mjx-c class="c1D465" size="s"></mjx-c><mjx-mn><mjx-c class="c31"></mjx-c><mjx-c class="c32"></mjx-c></mjx-mn>'
    assert shortened('<mjx-script style="vertical-align: -0.15em; margin-left: 10.5em;">') == '<mjx-script style="margin-left:10.5em">'
