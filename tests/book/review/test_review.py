"""The page Review: all predictions, and all exercises, hidden, each with a link that leads to its place."""

import re
from pathlib import Path

from attnexercises.engine.registry import registry
from book import predictions, review

ROOT = Path(__file__).resolve().parents[3]


CARD = re.compile(
    r'<div class="review-exercise" data-unsolved="(\w+)" data-page="(\w+)"><p>Exercise: <a href="(\w+)\.html#([\w-]+)">(.*?)</a></p>'
    r'<p class="review-about">(.*?)</p></div>'
)
PAGE = '<article><h1>Review</h1><div class="predict-all"><div>one</div></div><p>End.</p></article>'


def test_the_cards_stand_hidden_behind_the_predictions_and_twice_changes_nothing():
    once = review.with_exercises(PAGE, "<div>cards</div>")
    assert '<div>one</div></div><div class="review-exercises" hidden>\n<div>cards</div></div><p>End.' in once
    assert review.with_exercises(once, "<div>cards</div>") == once
    assert review.with_exercises(once, "<div>others</div>") == once.replace("cards", "others")


def test_filling_the_review_twice_changes_nothing():
    page = '<article><h1>Review</h1><div class="predict-all">\n</div></article>'
    chapter = '<article><h1>One</h1><div class="predict choose" id="predict-x">\n<p>Which?</p></div><div></div></article>'
    found = {"chapters/one": predictions.blocks(chapter, "one.html")}
    pages = {"chapters/review": page, "chapters/one": chapter}
    once = review.with_predictions(pages, found)
    assert once.count("predict choose") == 1 and 'href="one.html#predict-x"' in once
    assert review.with_predictions(pages | {"chapters/review": once}, found) == once


def test_a_page_without_a_place_or_a_book_without_exercises_stays_as_it_is():
    assert review.with_exercises("<p>nothing</p>", "<div>cards</div>") == "<p>nothing</p>"
    assert review.with_exercises(PAGE, "") == PAGE


def test_a_card_says_level_minutes_and_page():
    exercise = registry()["allowed_pairs"]
    card = review.card(exercise, "04_masks.html#ex-allowed-pairs", "04_masks", "4. Masks")
    found = CARD.fullmatch(card.strip())
    about = f"{exercise.level.capitalize()} · {exercise.minutes} minutes · 4. Masks"
    assert found.groups() == ("allowed_pairs", "04_masks", "04_masks", "ex-allowed-pairs", exercise.title, about)


def test_review_has_every_exercise_once_and_each_link_leads_to_its_heading(site):
    review = (site / "chapters" / "review.html").read_text(encoding="utf-8")
    cards = CARD.findall(review)
    assert sorted(id for id, *_ in cards) == sorted(registry())
    for id, page, address, label, *_ in cards:
        text = (site / "chapters" / f"{address}.html").read_text(encoding="utf-8")
        assert page == address and text.count(f'id="{label}"') == 1, id
        assert f'data-exercise="{id}"' in text[text.index(f'id="{label}"') :]


def test_no_heading_ends_in_the_sign_of_a_link(site):
    """A title is taken from a page whose heading carries a link to itself, whose text is `#`."""
    text = (site / "chapters" / "review.html").read_text(encoding="utf-8")
    titles = [re.sub(r"<[^>]*>", "", title).strip() for title in re.findall(r"<h2\b[^>]*>(.*?)</h2>", text, re.DOTALL)]
    assert len(titles) > 5 and [title for title in titles if title.endswith("#")] == []


def test_the_cards_stand_in_the_order_of_the_book(site):
    """So that the browser need not know it."""
    review = (site / "chapters" / "review.html").read_text(encoding="utf-8")
    pages = list(dict.fromkeys(page for _, page, *_ in CARD.findall(review)))
    numbered = [page for page in pages if page[0].isdigit()]
    assert pages == ["prerequisites", *sorted(numbered), "puzzles"]
