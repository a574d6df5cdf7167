"""Solved exercises: ticked by the reader, remembered by the browser, shown in the contents and on the map."""

from playwright.sync_api import expect
from watched import accessibility

from attnlib.exercises.engine.registry import registry

CHAPTER, MAP = "chapters/01_softmax.html", "chapters/index.html"
NO_STORAGE = """for (const name of ["getItem", "setItem"]) {
    const usual = Storage.prototype[name];
    Storage.prototype[name] = function (key, ...rest) {
        if (key.includes("solved")) throw new DOMException("denied", "SecurityError");
        return usual.call(this, key, ...rest);
    };
}"""


def test_a_solved_exercise_is_remembered_and_shown(desk):
    page = desk.open(CHAPTER)
    box = page.locator("input[data-exercise=softmax]")
    contents = page.locator(".bd-sidebar-secondary a", has_text="Exercise 1.1")
    expect(contents).not_to_contain_text("solved")
    box.focus()
    page.keyboard.press("Space")
    expect(contents).to_contain_text("(solved)")
    assert not accessibility(page)
    page = desk.open(CHAPTER)
    expect(box).to_be_checked()
    expect(contents).to_contain_text("✓")
    card = desk.open(MAP).locator(".chapter-card", has_text="Turn scores into weights")
    expect(card).to_contain_text("1 of 4 exercises solved")
    expect(page.locator(".solved-mark")).to_have_count(1)
    assert not accessibility(page)
    page = desk.open(CHAPTER)
    box.uncheck()
    expect(page.locator(".solved-mark")).to_have_count(0)
    desk.open(MAP)
    expect(page.locator(".solved-mark")).to_have_count(0)


def test_every_exercise_can_be_ticked_and_counts_on_its_card(desk):
    cards = desk.open(MAP).locator("[data-exercises]").evaluate_all("cards => cards.map(c => [c.pathname, c.dataset.exercises])")
    assert sum(len(ids.split()) for _, ids in cards) == len(registry())
    for path, ids in cards:
        page = desk.open(path.lstrip("/"))
        assert page.locator("input[data-exercise]").evaluate_all("boxes => boxes.map(b => b.dataset.exercise)") == ids.split()


def test_a_browser_that_keeps_nothing_still_marks(desk):
    desk.context.add_init_script(NO_STORAGE)
    page = desk.open(CHAPTER)
    page.locator("input[data-exercise=softmax]").check()
    expect(page.locator(".bd-sidebar-secondary .solved-mark")).to_have_count(1)


def test_without_scripts_there_is_no_box(chromium, address):
    page = chromium.new_page(java_script_enabled=False)
    page.goto(address + CHAPTER)
    expect(page.locator("input[data-exercise=softmax]")).to_be_hidden()
    page.close()
