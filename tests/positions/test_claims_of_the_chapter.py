"""What chapter 9 says of positions, with other starts than its cells have, and with the control that each claim needs."""

from functools import cache
from pathlib import Path

import nbformat
import numpy as np
import pytest

from attnlib.attention import attention
from attnlib.positions import alibi_bias, rotary

CHAPTER = Path(__file__).resolve().parents[2] / "chapters/09_positions.ipynb"
DRAWS = (1, 2, 3, 4)  # the chapter has the first; each draws eight heads
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
    assert 15 > twelve[1] and 15 < twelve[2], "in 15 tokens the first two finish a turn, and the others do not"


# --- heads that look back ---------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize("draw", DRAWS)
def test_heads_learn_three_back_with_rotary_positions_and_not_without(draw):
    assert np.all(right(draw) > 0.99)
    without = page()["right"](trained("none", draw), "none")
    assert np.all((0.25 < without) & (without < 0.4)), "more often than one in eight, and far from always"


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
@pytest.mark.parametrize("draw", DRAWS)
def test_at_28_no_hand_holds_the_false_peak_down(draw):
    waves = waves_of_three_back(draw).mean(axis=0)
    lost = waves - waves[3]
    peaks = [9, 16, 22, 28, 34, 41, 47, 53, 60]
    assert peaks[lost[peaks].sum(axis=1).argmax()] == 28, "the highest false peak"
    assert np.argmin(lost[9]) == 1 and lost[9, 1] < -5, "at 9 the second hand"
    assert np.argmin(lost[16]) == 2 and lost[16, 1] > -0.3, "at 16 the third, as the second is back"
    assert np.all(lost[28, :3] > -2) and lost[28, 2] > 0 and lost[28].sum() > lost[16].sum() + 1
    misplaced = page()["misplaced"](trained("rotary", draw))
    far = misplaced[:, 16:].sum(axis=1) / misplaced.sum(axis=1)
    assert misplaced.mean(axis=0).argmax() == 28 and np.all(far > 0.8), "the keys beyond 15 are two thirds of the wrong ones"
    assert draw > 1 or misplaced.mean(axis=0)[28] > misplaced.mean(axis=0).sum() / 2, "most of it, says the page of its own heads"


@pytest.mark.thorough
@pytest.mark.parametrize("draw", DRAWS)
def test_waves_that_come_back_do_no_harm_while_the_slow_hands_stay_at_trained_angles(draw):
    slow, fast = slice(4, None), slice(4)
    plain = right(draw, 64)
    for furthest in (12, 15):  # not only at one distance
        held = right(draw, 64, furthest=furthest, held=slow)
        assert np.all(held > 0.9) and held.mean() > plain.mean() + 0.03
    other = right(draw, 64, furthest=15, held=fast)
    assert other.mean() < plain.mean(), "the control: to hold the two fast hands there repairs nothing"


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
@pytest.mark.parametrize("draw", DRAWS)
def test_untrained_distances_are_to_blame_and_not_the_number_of_keys(draw):
    plain, clipped = (right(draw, 64, furthest=furthest) for furthest in (None, 15))
    assert np.all(clipped > 0.95) and clipped.mean() > plain.mean() + 0.03
    assert right(draw, 64, furthest=40).mean() < clipped.mean() - 0.03, "to clip only some untrained distances is not enough"
    assert np.array_equal(right(draw, 64, furthest=63), plain), "and to clip none changes nothing"


def test_a_clipped_distance_gives_the_score_of_a_key_that_far_away():
    names = page()
    params = {name: np.random.default_rng(0).standard_normal((8, *shape))
              for name, shape in dict(token=(8, 24), Q=(24, 24), K=(24, 24), V=(24, 24), answer=(24, 8)).items()}  # fmt: skip
    text = np.random.default_rng(1).integers(8, size=(8, 1, 9))
    weights = names["forward"](params, text, "rotary", furthest=3)[1][4]
    x = params["token"][np.arange(8)[:, np.newaxis, np.newaxis], text]
    Q, K = (x @ params[name][:, np.newaxis] for name in "QK")
    scores = np.full((8, 1, 9, 9), -np.inf)
    for i in range(9):
        for j in range(i + 1):
            turned = rotary(K[..., j : j + 1, :], [-min(i - j, 3)])[..., 0, :]
            scores[..., i, j] = (Q[..., i, :] * turned).sum(axis=-1) / np.sqrt(24)
    np.testing.assert_allclose(weights, names["softmax"](scores), atol=1e-10)
    plain = names["forward"](params, text, "rotary")[1][4]
    assert not np.allclose(weights, plain)


@pytest.mark.thorough
@pytest.mark.parametrize("draw", DRAWS)
def test_what_squeezing_ruins_and_repairs(draw):
    def slow_squeezed(rotate, first=4):
        return lambda x, pos: np.where(np.arange(24) < first, rotate(x, pos), squeezed(rotate)(x, pos))

    def all_but_the_first(rotate):
        return slow_squeezed(rotate, first=2)

    plain, every, slow, but_one = (right(draw, 64, change=change) for change in (page()["as_trained"], squeezed, slow_squeezed, all_but_the_first))
    assert np.all(every < 0.18), "squeezing loses the exact distance"
    assert slow.mean() > plain.mean() + 0.01, "but not if the fast hands keep their speeds"
    assert np.median(but_one) < 0.7, "and both have to"
    twelve, control = (right(draw, 64, back=12, change=change) for change in (squeezed, page()["as_trained"]))
    assert np.median(twelve) > 0.4 and np.max(control) < 0.25, "squeezed heads look twelve tokens back"


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
