"""Formulas typeset during the build: MathJax's own HTML, a width that is right, and no mistake that goes unnoticed."""

import re
from pathlib import Path

import pytest

from book import formulas

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def typesetter():
    made = formulas.Typesetter({"softmax": "\\operatorname{softmax}"})
    yield made
    made.close()


def letters(found):
    """The characters of a formula, by their code points, in the order of the page."""
    return "".join(chr(int(code, 16)) for code in re.findall(r'<mjx-c class="c([0-9A-F]+)', found))


def test_a_formula_becomes_html_with_mathml_beside_it(typesetter):
    found, _ = typesetter.typeset(r"P = \softmax(c\,QK^\top)", True)
    assert found.startswith("<mjx-container") and 'display="true"' in found
    assert letters(found) == "𝑃=softmax(𝑐𝑄𝐾⊤)"
    assert "</mjx-math><math" in found and "<mi>Q</mi>" in found and 'aria-hidden="true"' in found


def test_inline_and_display_differ(typesetter):
    assert 'display="true"' not in typesetter.typeset(r"\sum_k P_{qk}", False)[0]
    assert typesetter.typeset(r"\sum_k P_{qk}", True)[0] != typesetter.typeset(r"\sum_k P_{qk}", False)[0]


@pytest.mark.parametrize(("tex", "width"), [("x", 0.572), ("xx", 1.144), (r"x\hspace{10em}x", 11.144), (r"\begin{aligned}x\\xx\end{aligned}", 1.144)])
def test_the_width_is_that_of_the_formula(typesetter, tex, width):
    assert typesetter.typeset(tex, True)[1] == pytest.approx(width, abs=1e-3)


@pytest.mark.parametrize("tex", [r"\newcommand{\loss}{L} \loss", r"\def\loss{L}", r"\DeclareMathOperator{\tr}{tr}", r"\let\a\alpha", r"x \label{eq}"])
def test_a_formula_that_would_change_others_is_a_mistake(typesetter, tex):
    with pytest.raises(ValueError, match="would change other formulas; a macro belongs in formula_macros of _config.yml"):
        typesetter.typeset(tex, True)


def test_commands_that_only_begin_so_are_none():
    assert not formulas.DEFINES.search(r"\left( \deg f \right) \leftarrow \labelled")


@pytest.mark.parametrize(("tex", "said"), [(r"\frac{1}{", "Missing close brace"), (r"\nosuchthing x", "Undefined control sequence"), (r"\left( x", r"\right")])
def test_a_mistake_is_told_in_words(typesetter, tex, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        typesetter.typeset(tex, True)


def test_after_a_mistake_it_goes_on(typesetter):
    with pytest.raises(ValueError):
        typesetter.typeset(r"\frac{", True)
    assert letters(typesetter.typeset("y", True)[0]) == "𝑦"


def test_the_rules_of_the_style_sheet_stand_in_the_order_of_their_first_use(typesetter):
    typesetter.typeset(r"\zeta\beta", True)
    typesetter.typeset(r"\beta\theta\eta", False)
    rules = re.findall(r"mjx-c\.c([0-9A-F]+)", typesetter.styles())
    assert [chr(int(code, 16)) for code in rules if chr(int(code, 16)) in "𝜁𝛽𝜃𝜂"] == list("𝜁𝛽𝜃𝜂")


def test_the_style_sheet_has_what_was_used_and_the_fonts_lie_where_it_says(typesetter):
    typesetter.typeset(r"\aleph_0", True)
    styles = typesetter.styles()
    assert "mjx-c.c2135" in styles
    for name in re.findall(r'url\("woff-v2/([^"]+)"\)', styles):
        assert (formulas.mathjax() / "output" / "chtml" / "fonts" / "woff-v2" / name).is_file()


def test_a_mark_behind_a_formula_stays_on_its_line():
    formula = '<span class="math notranslate"><mjx-container><mjx-math>{}</mjx-math></mjx-container></span>'
    one, other = formula.format("x"), formula.format("y")
    context = {"body": f"<p>{one} and ({other}), or {one}.</p><div class='math'><mjx-container></mjx-container></div>{one}"}
    formulas.keep_marks(None, "page", "page.html", context, None)
    kept = '<span class="formula-end">{}</span>'.format
    expected = f"<p>{one} and ({kept(other + '),')} or {kept(one + '.')}</p>"
    assert context["body"] == f"{expected}<div class='math'><mjx-container></mjx-container></div>{one}"
    formulas.keep_marks(None, "search", "search.html", {}, None)  # a page without a body
