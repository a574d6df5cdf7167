"""The exercises on the page Review: all of them, hidden, each with a link that leads to its place."""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "_ext"))
import review_exercises  # noqa: E402

from attnexercises.engine.registry import registry  # noqa: E402

CARD = re.compile(
    r'<div class="review-exercise" data-unsolved="(\w+)" data-page="(\w+)"><p>Exercise: <a href="(\w+)\.html#([\w-]+)">(.*?)</a></p>'
    r'<p class="review-about">(.*?)</p></div>'
)
PAGE = '<article><h1>Review</h1><div class="predict-all"><div>one</div></div><p>End.</p></article>'


def test_the_cards_stand_hidden_behind_the_predictions_and_twice_changes_nothing():
    once = review_exercises.with_exercises(PAGE, "<div>cards</div>")
    assert '<div>one</div></div><div class="review-exercises" hidden>\n<div>cards</div></div><p>End.' in once
    assert review_exercises.with_exercises(once, "<div>cards</div>") == once
    assert review_exercises.with_exercises(once, "<div>others</div>") == once.replace("cards", "others")


def test_a_page_without_a_place_or_a_book_without_exercises_stays_as_it_is():
    assert review_exercises.with_exercises("<p>nothing</p>", "<div>cards</div>") == "<p>nothing</p>"
    assert review_exercises.with_exercises(PAGE, "") == PAGE


def test_a_card_says_level_minutes_and_page():
    exercise = registry()["allowed_pairs"]
    card = review_exercises.card(exercise, "04_masks.html#ex-allowed-pairs", "04_masks", "4. Masks")
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


def test_the_cards_stand_in_the_order_of_the_book(site):
    """So that the browser need not know it."""
    review = (site / "chapters" / "review.html").read_text(encoding="utf-8")
    pages = list(dict.fromkeys(page for _, page, *_ in CARD.findall(review)))
    numbered = [page for page in pages if page[0].isdigit()]
    assert pages == ["prerequisites", *sorted(numbered), "puzzles"]
