"""Exercises in which many answers are right: judged is what the returned matrices do, and said is what they do wrong."""

import numpy as np
import pytest
from answers import first_line

from attnexercises import grade
from attnexercises.multihead.looks import texts, tokens, weights_of


def previous(size, k=-1, width=None):
    """A head that asks for the place before, with a factor."""

    def head(letters, places):
        ask, found = size * np.eye(places, width, k=k), np.eye(places, width)
        return tuple(np.vstack([np.zeros((letters, ask.shape[1])), block]) for block in (ask, found))

    return head


def test_matrices_that_nobody_wrote_down_pass_if_the_head_does_what_it_should():
    def turned(letters, places):
        """Any invertible matrix between queries and keys leaves their products as they are."""
        query_weight, key_weight = previous(100.0 * np.sqrt(places))(letters, places)
        turn = np.eye(places) + 0.5 * np.eye(places, k=1)
        return query_weight @ turn, key_weight @ np.linalg.inv(turn).T

    assert grade("previous_token_head", turned).status == "passed"


@pytest.mark.parametrize(
    "answer, said",
    [
        (previous(8.0), "Your factor is the same for every number of places."),
        (previous(99.0, k=-3), "in the text aaaaaa, token 1 gives token 0, where it should look, no more weight than another"),
        (previous(99.0, k=2), "in the text aaaaaa, token 1 looks most at token 3, and should look at token 0"),
        (previous(np.nan), "in the text aaaaaa, token 1 has weights that are no numbers"),
        (lambda letters, places: (np.eye(9), np.eye(9, 4)), "your function returns matrices that do not fit: queries have 9 features, keys 4"),
        (lambda letters, places: (np.eye(8), np.eye(9)), "a query_weight of shape (8, 8); a matrix with 9 rows is expected"),
        (lambda letters, places: (np.zeros((9, 0)),) * 2, "matrices without columns"),
        (lambda letters, places: np.eye(9), "one array of shape (9, 9), but 2 things are expected: query_weight, key_weight"),
    ],
)
def test_a_head_that_no_known_mistake_explains_is_told_what_it_does(answer, said):
    assert said in first_line(answer, "previous_token_head")


@pytest.mark.parametrize("factor, places", [(68.0, 101), (100.0, 200)])
def test_a_fixed_factor_is_refused_and_fails_on_a_longer_text(factor, places):
    assert grade("previous_token_head", previous(factor)).mistakes == ("fixed",)
    weights = weights_of(tokens([0] * places, 2, places), *previous(factor)(2, places))
    assert weights[-1, -2] < 0.9


@pytest.mark.parametrize("factor", [1e3, 1e6])
def test_no_factor_is_large_enough(factor):
    assert grade("previous_token_head", previous(factor)).mistakes == ("fixed",)


def test_a_lead_that_grows_with_the_root_alone_is_refused_if_a_text_of_a_million_tokens_needs_more():
    assert grade("previous_token_head", lambda letters, places: previous(16 * np.sqrt(places))(letters, places)).mistakes
    assert grade("previous_token_head", lambda letters, places: previous(17 * np.sqrt(places))(letters, places)).status == "passed"


def test_a_long_text_is_not_spelled_out():
    def late(letters, places):
        """Right up to place 50; from there on a token looks two back."""
        query_weight, key_weight = previous(999.0)(letters, places)
        query_weight[letters + 51 :] = np.roll(query_weight[letters + 51 :], -1, axis=1)
        return query_weight, key_weight

    said = first_line(late, "previous_token_head")
    assert "in the text aaaaaaaaaaaa..., 100 letters, token 51 looks most at token 49, and should look at token 50" in said


def test_the_texts_differ_and_hold_every_letter():
    several = texts(3, 6)
    assert len({tuple(text) for text in several}) == len(several) == 5
    assert {letter for text in several for letter in text} == {0, 1, 2}


def test_the_weights_are_those_of_attention():
    from attnlib.attention import attention

    rng = np.random.default_rng(0)
    query_weight, key_weight = rng.standard_normal((2, 5, 4))
    x = tokens([0, 1, 1], 2, 3)
    right = attention(x @ query_weight, x @ key_weight, x)[1]
    np.testing.assert_allclose(weights_of(x, query_weight, key_weight), right)
