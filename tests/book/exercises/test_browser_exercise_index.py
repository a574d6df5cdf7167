"""The index of exercises in a browser: what is solved, a choice by level, and no column where nothing is kept."""

from playwright.sync_api import expect
from watched import NO_STORAGE, accessibility

from attnexercises.engine.registry import registry

INDEX, CHAPTER = "chapters/exercises.html", "chapters/puzzles.html"
SHOWN = "table.exercise-index [data-exercise-row]:not([hidden])"


def test_what_is_ticked_in_a_chapter_is_solved_in_the_index(desk):
    desk.open(CHAPTER).locator("input[data-exercise=text_cache]").check()
    page = desk.open(INDEX)
    rows = page.locator(SHOWN)
    expect(rows).to_have_count(len(registry()))
    expect(page.locator("[data-exercise-row=text_cache] td").last).to_have_text("✓ yes")
    expect(page.locator("[data-exercise-row=sdpa] td").last).to_have_text("–")
    minutes = sum(exercise.minutes for exercise in registry().values())
    expect(page.get_by_role("status")).to_have_text(f"{len(registry())} exercises (1 solved), {minutes} minutes")
    page.get_by_role("combobox", name="Show").select_option("Not solved")
    expect(rows).to_have_count(len(registry()) - 1)
    assert not accessibility(page)


def test_a_level_is_shown_alone_and_chapters_without_it_are_not(desk):
    page = desk.open(INDEX)
    page.get_by_role("combobox", name="Show").select_option("Hard")
    hard = {id for id, exercise in registry().items() if exercise.level == "hard"}
    assert set(page.locator(SHOWN).evaluate_all("rows => rows.map(row => row.dataset.exerciseRow)")) == hard
    chapters = {registry()[id].chapter for id in hard}
    expect(page.locator("table.exercise-index tbody:not([hidden])")).to_have_count(len(chapters))
    page.get_by_role("combobox", name="Show").select_option("All")
    expect(page.locator(SHOWN)).to_have_count(len(registry()))


def test_a_phone_shows_all_columns_without_scrolling(phone):
    page = phone.open(INDEX)
    box = page.locator("table.exercise-index").bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= 390
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    expect(page.locator("th", has_text="Solved")).to_be_visible()


def test_where_nothing_may_be_kept_there_is_no_column(desk):
    desk.page.add_init_script(NO_STORAGE)
    page = desk.open(INDEX)
    expect(page.locator(SHOWN)).to_have_count(len(registry()))
    expect(page.locator("th", has_text="Solved")).to_be_hidden()
    assert page.get_by_role("combobox", name="Show").locator("option").all_text_contents() == ["All", "Easy", "Medium", "Hard"]


def test_without_scripts_there_is_a_table_and_no_column(without_scripts, address):
    page = without_scripts
    page.goto(address + INDEX)
    expect(page.locator(SHOWN)).to_have_count(len(registry()))
    expect(page.locator("th", has_text="Solved")).to_be_hidden()
    expect(page.locator("select")).to_have_count(0)
