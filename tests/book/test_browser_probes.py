"""Do the checks in the browser see what they are for? A fault is planted on a real page, and must be found."""

import browser
import narrow
import pytest
from watched import accessibility, look


@pytest.fixture
def page(watched):
    """A chapter as a phone shows it, with a formula that scrolls and, where planted, code that does not wrap."""
    watched.resize(narrow.PHONE)
    watched.page.emulate_media(color_scheme="light")
    page = watched.open("chapters/01_softmax.html")
    page.add_style_tag(content=".bd-content pre.planted { white-space: pre !important }")
    watched.widen()
    return page


def formula_colour(page, colour):
    page.add_style_tag(content=f"#equation-eq-logsumexp mjx-mi {{ color: {colour} }}")
    return page.evaluate("probes.paleFormulas()")


def test_axe_sees_formulas_code_and_names(page):
    page.evaluate("document.querySelector('#equation-eq-logsumexp mjx-container').removeAttribute('tabindex')")
    page.evaluate("document.querySelector('.theme-switch-button').removeAttribute('aria-label')")
    # Behind an editor axe cannot tell what a reader sees, so that on a page that can run only code in the text is left.
    code = "p code .pre" if page.locator("html.live").count() else "pre .nb"
    page.add_style_tag(content=f"{code} {{ color: #ddd !important }}")
    found = "\n".join(accessibility(page))
    assert "scrollable-region-focusable" in found and "mjx-container" in found
    assert "color-contrast" in found and code.split()[-1] in found
    assert "button-name" in found


def test_folding_the_words_of_code_says_if_it_changes_a_width(page):
    page.add_style_tag(content=".bd-content pre:has(.nb) { white-space: pre !important } pre .nb { padding: 1em }")
    assert any("changes its width" in fault for fault in accessibility(page))


def test_a_pale_formula_is_found_at_the_limit_of_wcag(page):
    assert formula_colour(page, "#767676") == []  # 4.54 : 1 on white
    found = formula_colour(page, "#777777")
    assert len(found) == 1 and "4.48 : 1" in found[0] and "equation-eq-logsumexp" in found[0]


def test_a_pale_formula_is_judged_on_what_lies_behind_it(page):
    page.add_style_tag(content="#equation-eq-logsumexp { background: rgb(0 0 0 / 50%) }")
    assert any("equation-eq-logsumexp" in fault for fault in formula_colour(page, "#444"))


@pytest.mark.parametrize(("mark", "fault"), [("tabindex", "no stop"), ("role", "no role"), ("aria-label", "no name")])
def test_what_scrolls_without_a_mark_is_found(mark, fault, page):
    assert page.evaluate("probes.unreachable()") == []
    page.evaluate("mark => document.querySelector('#equation-eq-logsumexp mjx-container').removeAttribute(mark)", mark)
    found = page.evaluate("probes.unreachable()")
    assert len(found) == 1 and fault in found[0] and "equation-eq-logsumexp" in found[0]


def test_a_formula_cut_at_a_side_or_below_is_found(page):
    before = narrow.wide(page)
    assert before["formulas cut"] == [] and before["formulas that scroll"]
    page.add_style_tag(content="#equation-eq-logsumexp > mjx-container { overflow: hidden !important }")
    after = page.evaluate("probes.wide()")
    assert after["formulas that scroll"] == []
    assert sorted(after["formulas cut"]) == sorted(
        place.replace("mjx-container.MathJax", "mjx-math.MJX-TEX") for place in before["formulas that scroll"]
    )
    page.add_style_tag(content="#equation-eq-softmax mjx-container { max-height: 1rem; overflow: hidden !important }")
    assert any("eq-softmax" in place for place in page.evaluate("probes.wide()")["formulas cut"])


def test_each_kind_of_wide_box_is_counted(page):
    before = {kind: len(places) for kind, places in narrow.wide(page).items()}
    page.evaluate("""() => document.querySelector('.bd-content section').insertAdjacentHTML('beforeend', `
        <div style="overflow: auto"><table style="width: 999px"><tr><td>wide</td></tr></table></div>
        <figure style="overflow: auto"><div style="width: 999px">wide</div></figure>
        <div class="cell_output"><pre class="planted" style="overflow: auto">${'wide '.repeat(99)}</pre></div>
        <pre class="planted" style="overflow: auto">${'wide '.repeat(99)}</pre>`)""")
    after = {kind: len(places) for kind, places in narrow.wide(page).items()}
    grown = {kind for kind in after if after[kind] == before[kind] + 1}
    assert grown == {"tables that scroll", "figures that scroll", "outputs that scroll", "code that scrolls"}


def test_what_is_broken_is_found(page):
    page.evaluate("""() => document.querySelector('.bd-content section').insertAdjacentHTML('beforeend', `
        <div style="width: 999px">wide</div><span class="math">\\\\(x\\\\)</span><img src="missing.svg" alt="">
        <span data-mjx-error="Undefined control sequence"></span>`)""")
    page.wait_for_function("document.querySelector('img[src=\"missing.svg\"]').complete")
    found = "\n".join(page.evaluate("probes.broken()"))
    for fault in ("wider than the window", "not typeset: \\(x\\)", "TeX error: Undefined", "missing.svg"):
        assert fault in found


def test_colours_that_do_not_follow_the_scheme_are_found(page):
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    browser.settle(page)
    assert any("the colours stay dark" in fault for fault in look(page, "light"))
