"""The built site in a real browser: what one can click, type and unfold."""

import re

import pytest
from playwright.sync_api import expect
from watched import accessibility


def test_search_finds_a_word(desk):
    page = desk.open("search.html?q=softmax")
    page.wait_for_function("document.querySelector('#search-results').innerText.includes('found')")
    text = page.inner_text("#search-results")
    assert re.search(r"found [1-9]\d* page", text), text
    assert "softmax" in text.lower()


def test_search_dialog_opens_by_keyboard_and_leads_to_results(desk):
    page = desk.open("chapters/index.html")
    page.keyboard.press("Control+k")
    page.keyboard.type("softmax")
    page.keyboard.press("Enter")
    page.wait_for_selector("#search-results li a")
    assert "q=softmax" in page.url


def test_menu_opens_and_closes_on_a_phone(phone):
    page = phone.open("chapters/index.html")
    link = page.locator(".bd-sidebar-primary nav a").first.element_handle()
    visible = "link => link.checkVisibility({visibilityProperty: true}) && link.getBoundingClientRect().x >= 0"
    assert not link.evaluate(visible)
    page.locator("button.primary-toggle:visible, label.sidebar-toggle.primary-toggle:visible").first.click()
    page.wait_for_function(visible, arg=link)  # it slides in
    assert not accessibility(page)
    page.mouse.click(380, 400)
    page.wait_for_function(f"link => !({visible})(link)", arg=link)


def test_the_contents_close_on_a_phone_and_show_the_place(phone):
    page = phone.open("chapters/02_attention.html")
    page.locator("button.secondary-toggle:visible").click()
    link = page.locator("dialog[open] nav a").nth(4)
    place = page.locator(link.get_attribute("href"))
    expect(place).not_to_be_in_viewport()
    link.click()
    expect(page.locator("dialog[open]")).to_have_count(0)
    expect(place.locator("h2, h3").first).to_be_in_viewport()
    uncovered = "heading => heading.contains(document.elementFromPoint(heading.getBoundingClientRect().x + 5, heading.getBoundingClientRect().y + 5))"
    assert place.locator("h2, h3").first.evaluate(uncovered)


def test_button_changes_the_colours(desk):
    page = desk.open("chapters/index.html")
    seen = set()
    for _ in range(3):
        page.locator("button.theme-switch-button:visible").first.click()
        seen.add((page.evaluate("document.documentElement.dataset.theme"), page.evaluate("getComputedStyle(document.body).backgroundColor")))
    assert {theme for theme, _ in seen} == {"light", "dark"}
    assert len({colour for _, colour in seen}) == 2


def test_folded_text_opens_by_keyboard(desk):
    page = desk.open("chapters/01_softmax.html")
    for kind in ("answer", "exercise-hint", "exercise-solution"):
        box = page.locator(f"details.{kind}").first
        box.evaluate("box => box.parentElement.closest('details')?.setAttribute('open', '')")
        assert box.get_attribute("open") is None
        box.locator("summary").first.focus()
        page.keyboard.press("Enter")
        if page.locator(".live-ask").count():  # a page that runs asks before it shows a solution
            page.keyboard.press("Enter")
        assert box.get_attribute("open") is not None, f"Enter does not open a {kind}"
        page.keyboard.press("Space")
        assert box.get_attribute("open") is None, f"Space does not close a {kind}"


def test_a_formula_scrolls_by_keyboard(phone):
    page = phone.open("chapters/01_softmax.html")
    phone.widen()
    formula = page.locator("#equation-eq-logsumexp mjx-container")
    focused = "formula => formula === document.activeElement"
    formula.focus()
    page.keyboard.press("Shift+Tab")
    assert not formula.evaluate(focused)
    page.keyboard.press("Tab")
    assert formula.evaluate(focused)
    page.keyboard.press("ArrowRight")
    page.wait_for_function("document.activeElement.scrollLeft > 0")


@pytest.mark.parametrize("name", ["chapters/03_gradients.html", pytest.param("chapters/06_flash.html", marks=pytest.mark.thorough)])
def test_a_figure_in_steps_moves_by_keyboard(name, desk):
    page = desk.open(name)
    figure = page.locator("figure.stepped").first
    shown = "figure => [...figure.querySelectorAll('.step')].map(step => step.offsetParent !== null)"
    before = figure.evaluate(shown)
    assert before[0] and not any(before[1:])
    figure.locator("input").focus()
    page.keyboard.press("ArrowRight")
    after = figure.evaluate(shown)
    assert after[1] and sum(after) == 1
    assert "2 of" in figure.inner_text()
