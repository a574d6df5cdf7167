"""What chapter 9 says of positions, with other starts than its cells have, and with the control that each claim needs."""

from functools import cache
from pathlib import Path

import nbformat
import numpy as np
import pytest

from attnlib.attention import attention
from attnlib.positions import alibi_bias, rotary

CHAPTER = Path(__file__).resolve().parents[2] / "chapters/09_positions.ipynb"
DRAWS = range(1, 9)  # the chapter has the first; each draws eight heads
SPEEDS = 10000.0 ** (-np.arange(0, 128, 2) / 128)


@cache
def page():
    """The names that the cells of the chapter define; its stubs are empty, so the turns are the book's."""
    cells = {cell["id"]: cell.source for cell in nbformat.read(CHAPTER, as_version=4).cells}
    names = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("attnpage.plotting.setup", lambda: None)
        for id in ("imports", "ex-rope-stub", "ex-back-stub", "task-run", "model"):
            exec(cells[id], names)
        exec("distance = np.arange(64)", names)
        of_the_figure = cells["score-figure"]
        exec(of_the_figure[of_the_figure.index("def misplaced") : of_the_figure.index("fig, (ax, low)")], names)
    return names


@cache
def trained(kind, draw):
    return page()["train"](kind, seed=draw)


def right(draw, n=16, **how):
    return page()["right"](trained("rotary", draw), n=n, **how)


def squeezed(rotate):
    return lambda x, pos: rotate(x, pos * 16 / len(pos))


# --- order ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
def test_the_last_token_of_one_causal_layer_misses_the_order_and_that_of_two_notices(seed):
    rng = np.random.default_rng(seed)
    x, weights, order = rng.standard_normal((7, 6)), rng.standard_normal((3, 6, 6)) / np.sqrt(6), np.r_[rng.permutation(6)[::-1], 6]
    while np.array_equal(order, np.arange(7)):
        order = np.r_[rng.permutation(6), 6]

    def deep(x, layers):
        for _ in range(layers):
            x = x + attention(*(x @ weight for weight in weights), causal=True)[0]
        return x

    assert np.allclose(deep(x, 1)[-1], deep(x[order], 1)[-1])
    assert not np.allclose(deep(x, 2)[-1], deep(x[order], 2)[-1])


# --- hands ------------------------------------------------------------------------------------------


def test_a_second_hand_of_four_degrees_holds_the_false_peaks_of_the_first_down():
    query, key = np.array([1.0, 0.0]), np.array([np.cos(np.radians(60)), np.sin(np.radians(60))])

    def score(at_query, at_key):  # rows turn by 20 degrees a token
        turn = np.radians(20 * at_query), np.radians(20 * at_key)
        first, second = (np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]]) for a in turn)
        return (first @ query) @ (second @ key)

    assert [t for t in range(25) if np.isclose(score(30, 30 - t), 1)] == [3, 21] and np.isclose(score(30, 24), 0.5)
    t = np.arange(61)
    fast, both = np.cos(np.radians(20 * (t - 3))), sum(np.cos(np.radians(degrees * (t - 3))) for degrees in (20, 4))
    assert np.all(np.isclose(fast[[3, 21, 39, 57]], 1)) and np.sum(both > both[3] - 0.6) < np.sum(fast > fast[3] - 0.6) / 2


def test_the_numbers_about_sixty_four_hands():
    turn = 2 * np.pi / SPEEDS
    assert round(turn[0], 1) == 6.3 and round(turn[-1]) == 54410
    assert np.isclose(turn[16] / turn[0], 10) and np.isclose(turn[63] / turn[47], 10)
    assert 0.85 < turn[-1] / (2 * np.pi * 10000) < 0.9, "nearly 2 pi times the base"
    assert np.sum(turn / 2 > 4096) == 14 and round(turn[-1] / 8192, 1) == 6.6 and 10 ** (13 / 16) < 6.6 < 10 ** (14 / 16)
    larger = 2 * np.pi * 500_000 ** (np.arange(64) / 64)
    assert np.sum(larger / 2 > 4096) == 29, "and leaves more hands within half a turn"
    falls = [np.all(np.diff(np.cos(2 * np.pi * np.arange(4097) / takes)) < 0) for takes in turn]
    assert np.sum(falls) == 14, "just these waves fall from each distance to the next within 4096 tokens"
    assert [np.sum((low < turn) & (turn < 10 * low)) for low in (10, 100)] == [16, 16]
    twelve = 2 * np.pi * 10000 ** (np.arange(12) / 12)
    assert np.all(twelve[:5].round(1) == [6.3, 13.5, 29.2, 62.8, 135.4])
    assert 15 > twelve[1] and 15 < twelve[2], "in 15 tokens the first two finish a turn, and the others do not, so they reach new angles beyond"


# --- heads that look back ---------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize("draw", DRAWS)
def test_heads_learn_three_back_with_rotary_positions_and_not_without(draw):
    assert np.all(right(draw) > 0.99)
    without = page()["right"](trained("none", draw), "none")
    assert np.all((0.25 < without) & (without < 0.4)), "more often than one in eight, and far from always"


def test_the_most_frequent_letter_so_far_is_the_one_three_back_in_a_third_of_the_places():
    text, answer, asked = page()["sample"](np.random.default_rng(99), 32, 16)
    counts = (text[..., np.newaxis] == np.arange(8)).cumsum(axis=-2)
    assert abs(((counts.argmax(axis=-1) == answer) & asked).sum() / asked.sum() - 0.32) < 0.01


def waves_of_three_back(draw):
    """What each hand adds to the mean score, (heads, distances, hands)."""
    params = trained("rotary", draw)
    query, key = ((params["token"] @ params[name]).mean(axis=1, keepdims=True) for name in "QK")
    turned = page()["turn"](np.repeat(key, 64, axis=1), -np.arange(64))
    return (query * turned).reshape(8, 64, 12, 2).sum(axis=-1) / np.sqrt(24)


@pytest.mark.thorough
@pytest.mark.parametrize("draw", DRAWS)
def test_scores_for_three_back_peak_whenever_the_first_hand_is_back(draw):
    scores = waves_of_three_back(draw).sum(axis=-1)
    assert np.all(scores[:, :16].argmax(axis=1) == 3)
    peaks = [t for curve in scores for t in range(5, 63) if curve[t] == curve[t - 1 : t + 2].max()]
    assert max(abs(t - 3 - 2 * np.pi * round((t - 3) / (2 * np.pi))) for t in peaks) < 1
    params, turn = trained("rotary", draw), page()["turn"]
    pairs = (params["token"] @ params["Q"])[:, :, np.newaxis] * turn((params["token"] @ params["K"])[:, np.newaxis], np.full(8, -7))
    np.testing.assert_allclose(pairs.sum(axis=-1).mean(axis=(1, 2)) / np.sqrt(24), scores[:, 7])  # the mean over all pairs of letters


@pytest.mark.thorough
def test_the_most_frequent_mistake_is_28_in_two_thirds_of_the_heads_and_16_in_one_in_six():
    misplaced = np.array([page()["misplaced"](trained("rotary", draw)) for draw in DRAWS])  # (draws, heads, distances)
    worst = misplaced.argmax(axis=-1).ravel()
    assert 0.6 < np.mean(worst == 28) < 0.72 and 0.13 < np.mean(worst == 16) < 0.2
    beyond = misplaced[..., 16:].sum(axis=-1) / misplaced.sum(axis=-1)
    assert np.all(beyond > 0.8), "hardly any of it lies at distances of the training"
    of_the_page = misplaced[0].mean(axis=0)
    assert of_the_page.argmax() == 28 and of_the_page[28] > of_the_page.sum() / 2, "most of it, says the page of its own heads"


@pytest.mark.parametrize("seed", range(8))
def test_a_sum_of_waves_comes_back_and_a_price_does_not(seed):
    """The proof of the chapter with three hands, ten sectors and steps of 100 tokens."""
    rng = np.random.default_rng(seed)
    speeds, sectors, step = 10000.0 ** -rng.uniform(0, 0.5, 3), 10, 100
    seen = {}
    for p in range(0, (sectors**3 + 1) * step, step):
        where = tuple((p * speeds / (2 * np.pi) % 1 * sectors).astype(int))
        if where in seen:
            break
        seen[where] = p
    T = p - seen[where]
    height, begin = rng.uniform(0, 5, 3), rng.uniform(0, 2 * np.pi, 3)

    def score(t):
        return (height * np.cos(begin - np.multiply.outer(t, speeds))).sum(axis=-1)

    t = np.arange(200)
    assert T >= step and np.abs(score(t + T) - score(t)).max() <= 2 * np.pi / sectors * height.sum()
    assert np.all(-0.5 * (t + T) < -0.5 * t - 40), "the control: ALiBi's price never comes back"


@pytest.mark.thorough
def test_how_often_heads_are_right_on_texts_four_times_as_long():
    plain = np.array([right(draw, 64) for draw in DRAWS])
    assert np.all(plain < 1), "all 64 heads make mistakes"
    assert np.all(np.array([right(draw) for draw in DRAWS]) > 0.99), "the control: on 16 tokens they make hardly any"
    assert np.isclose(plain.mean(axis=1).min(), 0.87, atol=0.01) and np.isclose(plain.mean(axis=1).max(), 0.94, atol=0.01)


def squeezed_hands(*hands):
    """A change of `right` that squeezes these of the twelve hands."""
    chosen = np.isin(np.arange(24) // 2, hands)
    return lambda rotate: lambda x, pos: np.where(chosen, squeezed(rotate)(x, pos), rotate(x, pos))


@pytest.mark.thorough
def test_squeezing_the_slow_hands_helps_on_average_and_squeezing_all_does_not():
    plain, slow, every = (np.array([right(draw, 64, change=squeezed_hands(*hands)) for draw in DRAWS])
                          for hands in ((), range(2, 12), range(12)))  # fmt: skip
    gain = slow.mean(axis=1) - plain.mean(axis=1)
    assert np.all((0.005 < gain) & (gain < 0.095)), "by 1 to 9 points in each draw"
    assert np.any(slow < plain - 0.02), "although some heads get worse"
    assert np.all(every < 0.18)
    twelve, control = (np.array([right(draw, 64, back=12, change=squeezed_hands(*hands)) for draw in DRAWS])
                       for hands in (range(12), ()))  # fmt: skip
    assert np.all(np.median(twelve, axis=1) > 0.4) and np.max(control) < 0.25, "squeezed heads look twelve tokens back"


@pytest.mark.thorough
def test_the_one_hand_that_is_best_squeezed_differs_from_head_to_head():
    alone = np.array([[right(draw, 64, change=squeezed_hands(hand)) for hand in range(12)] for draw in DRAWS])
    helps, best = alone.max(axis=1) - [right(draw, 64) for draw in DRAWS], alone.argmax(axis=1)  # (draws, heads)
    shares = np.bincount(best[helps > 0.02], minlength=12) / np.sum(helps > 0.02)
    assert np.sum(shares > 0.05) >= 2 and np.max(shares) < 0.85, "even among the heads that it helps by more than two points"


def test_a_squeezed_key_gets_the_score_of_a_quarter_of_its_distance():
    query, key = np.random.default_rng(0).standard_normal((2, 1, 24))
    for t in (1, 3, 12, 50):
        np.testing.assert_allclose(rotary(query, [63 / 4]) @ rotary(key, [(63 - t) / 4]).T, query @ rotary(key, [-t / 4]).T)


def test_of_two_keys_with_equal_content_the_nearer_gets_more():
    query, key = np.random.default_rng(0).standard_normal((2, 1, 8))
    weights = attention(query, np.repeat(key, 6, axis=0), np.eye(6), mask=alibi_bias(8, 1, 6, offset=5)[7])[1]
    assert np.all(np.diff(weights) > 0)


# --- further ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
def test_a_key_turned_in_advance_is_found_at_its_distance(seed):
    query = np.random.default_rng(seed).standard_normal((1, 128))
    away = np.arange(600)
    for t in (0, 7, 300):
        key = rotary(query, [t])
        assert np.argmax(rotary(np.repeat(key, 600, axis=0), -away) @ query[0]) == t


@pytest.mark.parametrize("seed", range(8))
def test_orthogonal_matrices_grant_the_wish_and_others_do_not(seed):
    rng = np.random.default_rng(seed)
    orthogonal, other = np.linalg.qr(rng.standard_normal((4, 4)))[0], rng.standard_normal((4, 4))
    for matrix, granted in ((orthogonal, True), (other, False)):
        between = [np.linalg.matrix_power(matrix, p).T @ np.linalg.matrix_power(matrix, p + 2) for p in range(4)]
        assert all(np.allclose(between[0], later) for later in between) == granted


@pytest.mark.parametrize("seed", range(8))
def test_with_two_different_matrices_every_invertible_one_grants_the_wish(seed):
    matrix = np.random.default_rng(seed).standard_normal((4, 4))
    power, inverse = np.linalg.matrix_power, np.linalg.inv(matrix)
    query, key = np.random.default_rng(seed + 100).standard_normal((2, 4))
    scores = [(power(inverse, p).T @ query) @ (power(matrix, p + 2) @ key) for p in range(4)]
    np.testing.assert_allclose(scores, scores[0], rtol=1e-6)
    same = [(power(matrix, p) @ query) @ (power(matrix, p + 2) @ key) for p in range(4)]
    assert not np.allclose(same, same[0]), "the control: with the same matrix for both it does not"
