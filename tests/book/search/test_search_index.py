"""What a search can find of a page: its sections in the words that a reader sees, without code, outputs and formulas."""

import json
from pathlib import Path

import pytest

from book.search.index import Places

ROOT = Path(__file__).resolve().parents[3]


def places(content):
    return Places(content).places


def formula(mathml):
    """The text of a page in which a formula stands, as MathJax writes it: drawn letters, and MathML for screen readers."""
    drawn = '<mjx-math><mjx-c class="mjx-c1D465">drawn</mjx-c></mjx-math>'
    math = f"<mjx-container>{drawn}<mjx-assistive-mml><math>{mathml}</math></mjx-assistive-mml></mjx-container>"
    return places(f'<section id="a"><h1>A</h1><p>So {math}, then.</p></section>')[0][2]


def test_sections_have_their_own_words():
    page = '<section id="a"><h1>One<a class="headerlink">#</a></h1><p>First.</p><section id="b"><h2>Two</h2><p>Second.</p></section><p>Last.</p></section>'
    assert places(page) == [["a", "One", "First. Last."], ["b", "Two", "Second."]]


def test_a_line_without_a_full_stop_gets_one():
    assert places('<section id="a"><h1>A</h1><p>Easy · 10 minutes</p><p>Write it.</p></section>')[0][2] == "Easy · 10 minutes. Write it."


def test_a_heading_without_words_quotes_the_section_below_it():
    page = '<section id="a"><h1>One</h1><section id="b"><h2>Two</h2><p>Words.</p></section></section>'
    assert places(page) == [["a", "One", "Words."], ["b", "Two", "Words."]]


@pytest.mark.parametrize(
    "silent",
    [
        "<pre>code</pre>",
        "<svg><text>diagram</text></svg>",
        '<div class="cell docutils"><div class="cell_input"><p>code</p></div><details><summary>Show</summary></details></div>',
        '<details class="answer"><summary>Answer</summary><p>Yes.</p></details>',
        '<div class="exercise-helps"><p>Hint</p></div>',
    ],
)
def test_what_is_no_prose_or_folded_is_left_out(silent):
    assert places(f'<section id="a"><h1>A</h1><p>Before.</p>{silent}<p>After.</p></section>')[0][2] == "Before. After."


def test_the_caption_of_an_output_stays():
    page = '<section id="a"><h1>A</h1><div class="cell"><div class="cell_output"><figure><img src="a.svg"><figcaption><span class="caption-number">Fig. 1.1 </span>It falls.</figcaption></figure></div></div></section>'
    assert places(page)[0][2] == "It falls."


@pytest.mark.parametrize(
    ("mathml", "shown"),
    [
        ("<mi>Q</mi><msup><mi>K</mi><mi>⊤</mi></msup>", "QK^⊤"),
        ("<msub><mi>P</mi><mrow><mi>q</mi><mi>k</mi></mrow></msub>", "P_qk"),
        ("<msup><mi>e</mi><mrow><mi>a</mi><mo>−</mo><mi>b</mi></mrow></msup>", "e^(a−b)"),
        ("<mi>log</mi><mo>\u2061</mo><mi>k</mi>", "logk"),
        ("<mfrac><mn>1</mn><mi>d</mi></mfrac>", "…"),
        ("<msqrt><mi>d</mi></msqrt>", "…"),
        ("<mi>abcdefghijklmnopqrst</mi>", "…"),
    ],
)
def test_a_formula_is_letters_or_an_ellipsis(mathml, shown):
    assert formula(mathml) == f"So {shown}, then."


def test_terms_and_functions_are_places_of_their_own():
    page = """<section id="a"><h1>A</h1><dl class="glossary"><dt id="term-x">x<a class="headerlink">#</a></dt><dd><p>A letter.</p></dd>
        <dt id="term-y">y</dt><dd><p>Another.</p></dd></dl>
        <dl class="py class"><dt class="sig sig-object py" id="lib.C"><span>class C(a)</span></dt><dd><p>A class.</p>
        <dl class="field-list"><dt>Parameters</dt><dd><p>a</p></dd></dl>
        <dl class="py method"><dt class="sig sig-object py" id="lib.C.m">m()</dt><dd><p>A method.</p></dd></dl><p>More.</p></dd></dl><p>End.</p></section>"""
    assert places(page) == [
        ["a", "A", "End."],
        ["term-x", "x", "A letter."],
        ["term-y", "y", "Another."],
        ["lib.C", "lib.C", "A class. Parameters a. More."],
        ["lib.C.m", "lib.C.m", "A method."],
    ]


def test_end_tags_that_may_be_left_out_are_no_fault():
    page = '<section id="a"><h1>A</h1><ul><li>One<li>Two</ul><p>Three</section><section id="b"><h1>B</h1>Four</section>'
    assert [place[0] for place in places(page)] == ["a", "b"] and places(page)[1][2] == "Four"


def test_all_places_of_the_site_can_be_read(site, record_property):
    text = (site / "search_text.js").read_text(encoding="utf-8")
    pages = json.loads(text.removeprefix("Search.read(").removesuffix(");\n"))
    for page in pages:
        assert page["places"], page["address"]
        html = (site / page["address"]).read_text(encoding="utf-8")
        for anchor, heading, words in page["places"]:
            assert f'id="{anchor}"' in html
            assert heading and words and "\\" not in heading + words, f"{page['address']}#{anchor}: {words[:80]!r}"
    record_property("checked places that a search can find", sum(len(page["places"]) for page in pages))
    assert {page["kind"] for page in pages} == {"chapter", "reference", "library"}
