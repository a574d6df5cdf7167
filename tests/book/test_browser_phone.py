"""What a phone shows can be read, and what is to be pressed can be hit."""

import pytest

from tools import browser

PAGES = ["chapters/index.html", "chapters/02_attention.html", "chapters/09_positions.html", "chapters/review.html"]
# The smallest letters of what is read, formulas aside: an index in a formula is small by its nature.
SMALL = """() => {
    const found = new Set();
    const texts = document.createTreeWalker(document.querySelector('article'), NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
        const box = texts.currentNode.parentElement;
        if (!texts.currentNode.data.trim() || box.closest('mjx-container, script, style, noscript, sup, sub, .visually-hidden')) continue;
        if (!box.checkVisibility({ visibilityProperty: true })) continue;
        let size = parseFloat(getComputedStyle(box).fontSize);
        if (box.closest('svg') && !box.closest('tspan')) { const { a, b } = box.getScreenCTM(); size *= Math.hypot(a, b); }
        if (!box.closest('tspan') && size < 11.9) found.add(`${size.toFixed(1)} px: ${texts.currentNode.data.trim().slice(0, 40)}`);
    }
    return [...found];
}"""
HITS = """() => [...document.querySelectorAll('input[type=radio]')].filter(input => input.checkVisibility()).map(input => {
    const boxes = [...input.closest('label').getClientRects()];
    return [boxes[0].height, input.closest('label').innerText.slice(0, 30)];
}).filter(([height]) => height < 36)"""
# The least distance between two neighbouring choices of a question, below zero where they overlap.
LEAST_GAP = """() => Math.min(...[...document.querySelectorAll('.predict.choose > ul')].filter(list => list.checkVisibility()).flatMap(list => {
    const boxes = [...list.querySelectorAll('label')].map(label => [...label.getClientRects()]);
    return boxes.slice(1).map((box, at) => box[0].top - boxes[at].at(-1).bottom);
}))"""
# How far the second row of each line of code that goes on in one stands behind the first.
HANGING = """() => [...document.querySelectorAll('.cell_input pre')].filter(pre => pre.checkVisibility()).flatMap(pre => {
    const rows = [], range = document.createRange();
    const texts = document.createTreeWalker(pre, NodeFilter.SHOW_TEXT);
    let before = null;
    while (texts.nextNode()) {
        const node = texts.currentNode;
        for (let at = 0; at < node.length; at++) {
            if (node.data[at] === '\\n') { before = null; continue; }
            range.setStart(node, at); range.setEnd(node, at + 1);
            const box = range.getClientRects()[0];
            if (!box || !box.width) continue;
            if (before && box.top > before.top + 5) rows.push(box.left - before.start);
            before = { top: box.top, start: before?.start ?? box.left };
        }
    }
    return rows;
})"""


@pytest.mark.parametrize("name", PAGES)
def test_letters_have_12_pixels_and_choices_are_easy_to_hit(phone, name):
    page = phone.open(name)
    assert page.evaluate(SMALL) == []
    assert page.evaluate(HITS) == []


def test_choices_are_easy_to_hit_in_the_fonts_of_the_phone(phone):
    """The book's own font may come late or not at all, and a line of another one is lower."""
    phone.page.route("**/*.woff2", lambda route: route.abort())
    try:
        assert phone.open("chapters/review.html").evaluate(HITS) == []
    finally:
        phone.page.unroute("**/*.woff2")
        phone.faults[:] = [fault for fault in phone.faults if "ERR_FAILED" not in fault]  # the fonts that this test refused


def test_no_choice_lies_over_another(phone):
    assert phone.open("chapters/review.html").evaluate(LEAST_GAP) >= 0


@pytest.mark.parametrize("name", ["chapters/02_attention.html"])
def test_a_long_line_of_code_goes_on_behind_its_beginning(phone, name):
    page = phone.open(name)
    browser.settle(page)
    if page.locator("html.live").count():
        pytest.skip("where cells can be run their code is a text box, whose lines all begin at its edge")
    behind = page.evaluate(HANGING)
    assert len(behind) > 5 and min(behind) > 8, sorted(behind)[:10]


def test_the_picture_of_the_whole_fits(phone):
    page = phone.open("chapters/index.html")
    left, right = page.locator("svg[aria-labelledby^=whole]").evaluate("box => { const { left, right } = box.getBoundingClientRect(); return [left, right]; }")
    assert 0 <= left and right <= 390
