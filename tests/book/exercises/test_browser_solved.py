"""Solved exercises: ticked by the reader, remembered by the browser, shown in the contents and on the map."""

import re

from playwright.sync_api import expect
from watched import NO_STORAGE, accessibility

from attnexercises.engine.registry import registry

CHAPTER, MAP = "chapters/puzzles.html", "chapters/index.html"  # the shortest page with exercises
FIRST = "input[data-exercise=soft_maximum_slopes]"


def test_a_solved_exercise_is_remembered_and_shown(desk):
    page = desk.open(CHAPTER)
    box = page.locator(FIRST)
    contents = page.locator(".bd-sidebar-secondary a", has_text="Both slopes of a soft maximum")
    expect(contents).not_to_contain_text("solved")
    box.focus()
    page.keyboard.press("Space")
    expect(contents).to_contain_text("(solved)")
    assert not accessibility(page)
    page = desk.open(CHAPTER)
    expect(box).to_be_checked()
    expect(contents).to_contain_text("✓")
    card = desk.open(MAP).locator(".chapter-card", has_text="Solve puzzles across the chapters")
    expect(card).to_contain_text("1 of 12 exercises solved")
    expect(page.locator(".solved-mark")).to_have_count(1)
    assert not accessibility(page)
    page = desk.open(CHAPTER)
    box.uncheck()
    expect(page.locator(".solved-mark")).to_have_count(0)
    desk.open(MAP)
    expect(page.locator(".solved-mark")).to_have_count(0)


def test_every_exercise_can_be_ticked_and_counts_on_its_card(site):
    """What the scripts find in the pages. That a tick counts is tried above, with one of them."""
    cards = re.findall(r'href="([^"]+)" data-exercises="([^"]*)"', (site / MAP).read_text(encoding="utf-8"))
    assert sum(len(ids.split()) for _, ids in cards) == len(registry())
    for name, ids in cards:
        page = (site / "chapters" / name).read_text(encoding="utf-8")
        assert re.findall(r'<input type="checkbox" data-exercise="([^"]*)">', page) == ids.split(), name


def test_a_browser_that_keeps_nothing_still_marks(desk):
    desk.page.add_init_script(NO_STORAGE)
    page = desk.open(CHAPTER)
    page.locator(FIRST).check()
    expect(page.locator(".bd-sidebar-secondary .solved-mark")).to_have_count(1)


def test_without_scripts_there_is_no_box(without_scripts, address):
    without_scripts.goto(address + CHAPTER)
    expect(without_scripts.locator(FIRST)).to_be_hidden()
