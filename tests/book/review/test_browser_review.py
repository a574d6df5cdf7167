"""Review in the browser: exercises that are not ticked stand among the missed predictions."""

import json

from playwright.sync_api import expect
from watched import accessibility

from attnexercises.engine.registry import registry

FIRST, SHORT, REVIEW = (f"chapters/{name}.html" for name in ("04_masks", "puzzles", "review"))
KEY = "attention-derived-"
BLOCKED = """for (const name of ["getItem", "setItem", "removeItem"]) {
    const usual = Storage.prototype[name];
    Storage.prototype[name] = function (key, ...rest) {
        if (key.startsWith("attention-derived")) throw new DOMException("denied", "SecurityError");
        return usual.call(this, key, ...rest);
    };
}"""


def ids(chapter):
    return [exercise.id for exercise in registry().values() if exercise.chapter == chapter]


def keep(watched, **stored):
    """Put into the storage what earlier visits would have left."""
    if watched.page.url == "about:blank":  # any page of the site will do
        watched.page.goto(f"{watched.address}404.html")
    for name, value in stored.items():
        text = value if isinstance(value, str) else json.dumps(value)
        watched.page.evaluate("([key, text]) => localStorage.setItem(key, text)", [KEY + name, text])


def review_after(watched, **stored):
    keep(watched, **stored)
    return watched.open(REVIEW)


def kept(page, name):
    return json.loads(page.evaluate("key => localStorage.getItem(key)", KEY + name) or "null")


def shown(page):
    return page.locator(".predict-all .review-exercise").evaluate_all("cards => cards.map(c => c.dataset.unsolved)")


def in_turn(*chapters):
    """A page in turn, then the next of each."""
    return [id for turn in zip(*map(ids, chapters), strict=False) for id in turn]


def test_nothing_is_shown_before_a_chapter_was_opened(desk):
    page = desk.open(REVIEW)
    assert shown(page) == [] and page.locator(".predict-all h2").first.inner_text().startswith("Not made yet")
    expect(page.locator(".review-exercise").first).to_be_hidden()
    assert page.locator(".review-exercises > .review-exercise").count() == len(registry())


def test_exercises_of_the_pages_that_were_opened_come_in_turn(desk):
    desk.open(SHORT)
    desk.open(FIRST)
    page = desk.open(REVIEW)
    assert kept(page, "visited") == ["puzzles", "04_masks"]  # Review itself, which has no exercises, is not among them
    assert shown(page) == in_turn("puzzles", "masks")[:5]
    count = len(ids("puzzles")) + len(ids("masks"))
    expect(page.locator(".predict-all h2").first).to_have_text(f"Exercises not solved (5 of {count})")
    page = desk.open(REVIEW)
    assert shown(page) == in_turn("puzzles", "masks")[:5]  # the same every time
    assert not accessibility(page)


def test_a_card_says_what_it_is_and_leads_to_the_exercise(desk):
    card = review_after(desk, visited=["04_masks"]).locator(".predict-all .review-exercise").first
    exercise = registry()[ids("masks")[0]]
    about = f"{exercise.level.capitalize()} · {exercise.minutes} minutes · 4. Decide who may look at whom"
    assert card.locator("p").all_inner_texts() == [f"Exercise: {exercise.title}", about]
    card.get_by_role("link").click()
    page = desk.page
    page.wait_for_url(f"**/{FIRST}#ex-{exercise.id.replace('_', '-')}")
    assert page.locator(f"#ex-{exercise.id.replace('_', '-')}").count() == 1


def test_what_is_ticked_stays_away(desk):
    page = desk.open(SHORT)
    first, second = ids("puzzles")[:2]
    page.locator(f"input[data-exercise={first}]").check()
    page = desk.open(REVIEW)
    assert shown(page)[0] == second and first not in shown(page)
    page = review_after(desk, solved=ids("puzzles"))
    assert shown(page) == []


def test_they_stand_among_the_missed_predictions(desk):
    page = desk.open(FIRST)
    blocks = page.locator(".predict.choose").all()[:3]
    for block in blocks:  # the option that has a note is a wrong one
        note = block.locator("details > ul > li strong").first.text_content()
        block.get_by_role("radio").nth("ABCDE".index(note)).check(force=True)
        block.get_by_role("button", name="Commit").click()
    page = desk.open(REVIEW)
    order = page.locator(".predict-all > section").first.locator(":scope > div").evaluate_all("ones => ones.map(o => o.className)")
    assert order == ["predict-one", "predict-one", "review-exercise", "predict-one", *["review-exercise"] * 4]
    count = len(ids("masks"))
    expect(page.locator(".predict-all h2").first).to_have_text(f"Not right (3). Exercises not solved (5 of {count})")


def test_later_sends_one_behind_the_others_and_is_remembered(desk):
    page = review_after(desk, visited=["04_masks"])
    all_of_them = ids("masks")
    page.get_by_role("button", name="Later").first.focus()
    page.keyboard.press("Enter")
    assert shown(page) == all_of_them[1:6]
    assert page.evaluate("document.activeElement.closest('.review-exercise').dataset.unsolved") == all_of_them[1]
    assert kept(page, "later") == {all_of_them[0]: 1}
    assert shown(desk.open(REVIEW)) == all_of_them[1:6]
    for _ in range(len(all_of_them) - 1):  # once round
        page.get_by_role("button", name="Later").first.click()
    assert shown(page) == all_of_them[:5]
    for _ in range(2):
        page.get_by_role("button", name="Later").nth(1).click()
    left = [all_of_them[0], *all_of_them[3:]]
    assert shown(page)[:4] == left[:4]
    again = [*left, *all_of_them[1:3]][:5]
    assert shown(desk.open(REVIEW)) == again


def test_the_only_one_that_is_left_stays(desk):
    page = review_after(desk, visited=["04_masks"], solved=ids("masks")[1:])
    page.get_by_role("button", name="Later").click()
    assert shown(page) == ids("masks")[:1]
    assert page.evaluate("document.activeElement.closest('.review-exercise').dataset.unsolved") == ids("masks")[0]
    expect(page.locator(".predict-all h2").first).to_have_text("Exercises not solved (1)")


LISTS = ["{", "7", "null", '{"a": 1}', '"04_masks"', "[null, 3]"]
COUNTS = ["{", "7", "null", "[1]", '{"spot_mask": "x"}']
# What Review would show, were it opened with this in the storage.
SHOWN_WITH = """([key, text]) => {
    const before = localStorage.getItem(key);
    localStorage.setItem(key, text);
    const ids = reviewExercises.mixedWith([]).ones.map(card => card.dataset.unsolved);
    if (before === null) localStorage.removeItem(key); else localStorage.setItem(key, before);
    return ids;
}"""


def test_damaged_storage_is_as_if_nothing_stood_there(desk):
    page = review_after(desk, visited=["04_masks"])
    assert shown(page) == ids("masks")[:5]
    for text in LISTS:
        assert page.evaluate(SHOWN_WITH, [f"{KEY}visited", text]) == [], text
        as_if_none = [] if text == "{" else ids("masks")[:5]  # what is no JSON at all hides them
        assert page.evaluate(SHOWN_WITH, [f"{KEY}solved", text]) == as_if_none, text
    for text in COUNTS:
        assert page.evaluate(SHOWN_WITH, [f"{KEY}later", text]) == ids("masks")[:5], text


def test_review_opens_with_damaged_storage(desk):
    assert shown(review_after(desk, visited=["04_masks"], solved="7", later="{")) == ids("masks")[:5]
    assert shown(review_after(desk, solved="{")) == []
    assert shown(review_after(desk, visited="{", solved="[]")) == []


def test_a_browser_that_may_store_nothing_shows_none(desk):
    desk.page.add_init_script(BLOCKED)
    desk.open(SHORT)
    page = desk.open(REVIEW)
    assert shown(page) == []
    assert page.locator(".predict-all .predict").count() > 20


def test_without_scripts_there_are_none(without_scripts, address):
    without_scripts.goto(address + REVIEW)
    expect(without_scripts.locator(".review-exercise").first).to_be_hidden()


def test_a_phone_has_room_for_it(phone):
    page = review_after(phone, visited=["04_masks"])
    assert len(shown(page)) == 5
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    button = page.get_by_role("button", name="Later").first.bounding_box()
    assert button["height"] >= 24 and button["width"] >= 24


def test_one_chapter_is_shown_alone_and_is_remembered(desk):
    page = review_after(desk, visited=["04_masks", "puzzles"])
    both, predictions = shown(page), page.locator(".predict-all .predict-one").count()
    choice = page.get_by_role("combobox", name="Show")
    assert choice.locator("option").first.inner_text() == "All chapters"
    assert choice.locator("option").last.inner_text() == "Solve puzzles across the chapters"
    choice.focus()
    page.keyboard.type("4. Dec")  # as a reader without a pointer chooses
    expect(choice).to_have_value("04_masks")
    expect(choice).to_be_focused()
    links = page.locator(".predict-all .predict-place a").evaluate_all("links => links.map(a => a.getAttribute('href'))")
    assert 0 < len(links) < predictions and all(link.startswith("04_masks.html#") for link in links)
    assert shown(page) == ids("masks")[:5]
    expect(page.locator(".predict-counts")).to_have_text(f"0 not right, {len(links)} not made yet, 0 right.")
    expect(page.locator(".predict-all h2")).to_have_text(
        [f"Exercises not solved (5 of {len(ids('masks'))})", f"Not made yet ({len(links)})"]
    )
    page.get_by_role("button", name="Later").first.click()
    assert shown(page) == ids("masks")[1:6]
    assert not accessibility(page)
    page = desk.open(REVIEW)
    expect(page.get_by_role("combobox", name="Show")).to_have_value("04_masks")
    assert page.locator(".predict-all .predict-one").count() == len(links)
    page.get_by_role("combobox", name="Show").select_option("All chapters")
    assert page.locator(".predict-all .predict-one").count() == predictions and len(shown(page)) == len(both)


def test_what_was_committed_in_the_chosen_chapter_is_counted_and_stays_when_another_is_chosen(desk):
    page = desk.open(REVIEW)
    page.get_by_role("combobox", name="Show").select_option("4. Decide who may look at whom")
    block = page.locator(".predict-all .predict.choose").first
    note = block.locator("details > ul > li strong").first.text_content()
    block.get_by_role("radio").nth("ABCDE".index(note)).check(force=True)
    block.get_by_role("button", name="Commit").click()
    counts = page.locator(".predict-counts")
    expect(counts).to_contain_text("1 not right")
    page.get_by_role("combobox", name="Show").select_option("1. Turn scores into weights")
    expect(counts).to_contain_text("0 not right")
    page.get_by_role("combobox", name="Show").select_option("4. Decide who may look at whom")
    expect(counts).to_contain_text("1 not right")
    expect(page.locator(".predict-all .predict.choose").first.locator(".predict-result")).not_to_be_empty()


def test_a_chapter_of_which_nothing_waits_says_so(desk):
    page = review_after(desk, **{"review-chapter": "puzzles"})
    assert shown(page) == [] and page.locator(".predict-all .predict-one").count() == 0
    expect(page.locator(".predict-all > p")).to_contain_text("Nothing is here yet")
    page = review_after(desk, **{"review-chapter": "a chapter that is gone"})
    expect(page.get_by_role("combobox", name="Show")).to_have_value("")
    assert page.locator(".predict-all .predict-one").count() > 20


def test_the_choice_works_where_nothing_may_be_stored_and_fits_a_phone(phone):
    phone.page.add_init_script(BLOCKED)
    page = phone.open(REVIEW)
    page.get_by_role("combobox", name="Show").select_option("3. Derive the backward pass and catch a planted mistake")
    assert 0 < page.locator(".predict-all .predict-one").count() < 20
    box = page.get_by_role("combobox", name="Show").bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= 390 and box["height"] >= 24
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
