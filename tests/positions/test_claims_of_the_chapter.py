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
def page(width=24):
    """The names that the cells of the chapter define; its stubs are empty, so the turns are the book's."""
    cells = {cell["id"]: cell.source for cell in nbformat.read(CHAPTER, as_version=4).cells}
    names = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("attnpage.plotting.setup", lambda: None)
        for id in ("imports", "ex-rope-stub", "ex-back-stub", "task-run", "model"):
            exec(cells[id].replace("width = 8, 8, 24", f"width = 8, 8, {width}"), names)
        exec(cells["score-run"][: cells["score-run"].index("query, key =")], names)
        exec(cells["score-figure"][: cells["score-figure"].index("def draw_waves")], names)
    assert names["width"] == width
    return names


@cache
def trained(kind, task, draw):
    return page()["train"](kind, task, seed=draw)


def right(kind, task, draw, n=16, params=None, **how):
    return page()["right"](trained(kind, task, draw) if params is None else params, kind, task, n, **how)


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


def test_the_numbers_about_sixty_four_hands():
    turn = 2 * np.pi / SPEEDS
    assert round(turn[0], 1) == 6.3 and round(turn[-1]) == 54410
    assert np.isclose(turn[16] / turn[0], 10) and np.isclose(turn[63] / turn[47], 10)
    assert 0.85 < turn[-1] / (2 * np.pi * 10000) < 0.9, "nearly 2 pi times the base"
    assert np.sum(turn > 4096) == 18 and np.all(turn[46:] > 4096) and turn[45] < 4096
    assert np.sum(turn / 2 > 4096) == 14 and round(turn[-1] / 8192, 1) == 6.6 and 10 ** (13 / 16) < 6.6 < 10 ** (14 / 16)
    larger = 2 * np.pi * 500_000 ** (np.arange(64) / 64)
    ratio = larger / turn
    assert ratio[0] == 1 and np.all(np.diff(ratio) > 0), "a larger base slows the last hands most"
    assert np.sum(larger / 2 > 4096) == 29, "and leaves more hands within half a turn"
    assert np.all(turn / 2 < 131_072) and np.sum(larger / 2 > 131_072) == 12
    falls = [np.all(np.diff(np.cos(2 * np.pi * np.arange(4097) / takes)) < 0) for takes in turn]
    assert np.sum(falls) == 14, "just these waves fall from each distance to the next within 4096 tokens"
    assert [np.sum((low < turn) & (turn < 10 * low)) for low in (10, 100)] == [16, 16]
    twelve = 2 * np.pi * 10000 ** (np.arange(12) / 12)
    assert np.all(twelve[:5].round(1) == [6.3, 13.5, 29.2, 62.8, 135.4])
    assert np.allclose(15 / twelve[2:4], [0.5, 0.25], atol=0.02), "in 15 tokens the third makes half a turn, the fourth a quarter"


# --- heads that look back ---------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize("draw", DRAWS)
def test_heads_learn_three_back_with_rotary_positions_and_not_without(draw):
    assert np.all(right("rotary", "three back", draw) > 0.99)
    without = right("none", "three back", draw)
    assert np.all((0.25 < without) & (without < 0.4)), "more often than one in eight, and far from always"
    assert np.all(right("rotary", "last capital", draw) > 0.98)


def mean_scores(task, draw):
    names = page()
    rows = names["mean_rows"](trained("rotary", task, draw), slice(8, None) if task == "last capital" else slice(None))
    return names["by_distance"](rows), names["heights"](rows)


@pytest.mark.thorough
@pytest.mark.parametrize("draw", DRAWS)
def test_scores_for_three_back_peak_whenever_the_first_hand_is_back(draw):
    scores, heights = mean_scores("three back", draw)
    inside = np.delete(scores[:, :16], 3, axis=1).max(axis=1)
    assert np.all(scores[:, :16].argmax(axis=1) == 3) and np.all(heights[:, 0] > 2 * heights[:, 1:].max(axis=1))
    assert np.all(scores[:, 16:].max(axis=1) > inside), "further out they rise above all trained distances but three"
    peaks = [t for curve in scores for t in range(16, 63) if curve[t] == curve[t - 1 : t + 2].max()]
    assert max(abs(t - 3 - 2 * np.pi * round((t - 3) / (2 * np.pi))) for t in peaks) < 1
    params, turn = trained("rotary", "three back", draw), page()["turn"]
    query, key = page()["mean_rows"](params)
    each = (query * turn(np.repeat(key, 64, axis=1), -np.arange(64))).reshape(8, 64, 12, 2).sum(axis=-1)
    assert np.all((each[:, 3] - each[:, 9])[:, 1:].sum(axis=1) > 5 * np.abs((each[:, 3] - each[:, 9])[:, 0])), "at 9 the other hands hold the score down"
    pairs = (params["token"] @ params["Q"])[:, :, np.newaxis] * turn((params["token"] @ params["K"])[:, np.newaxis], np.full(16, -7))
    np.testing.assert_allclose(pairs.sum(axis=-1).mean(axis=(1, 2)) / np.sqrt(24), scores[:, 7])  # the mean over all pairs of tokens


def waves_of_three_back(draw):
    """What each hand adds to the mean score, (heads, distances, hands)."""
    query, key = page()["mean_rows"](trained("rotary", "three back", draw))
    turned = page()["turn"](np.repeat(key, 64, axis=1), -np.arange(64))
    return (query * turned).reshape(8, 64, 12, 2).sum(axis=-1) / np.sqrt(24)


@pytest.mark.thorough
@pytest.mark.parametrize("draw", DRAWS)
def test_at_28_no_hand_holds_the_false_peak_down(draw):
    waves = waves_of_three_back(draw).mean(axis=0)
    lost = waves - waves[3]
    peaks = [9, 16, 22, 28, 34, 41, 47, 53, 60]
    assert peaks[lost[peaks].sum(axis=1).argmax()] == 28, "the highest false peak"
    assert np.argmin(lost[9]) == 1 and lost[9, 1] < -3, "at 9 the second hand"
    assert np.argmin(lost[16]) == 2 and lost[16, 1] > -0.3, "at 16 the third, as the second is back"
    assert np.all(lost[28, :3] > -1.5) and lost[28].sum() > -1.5 > -2 > lost[16].sum()
    assert page()["misplaced"](trained("rotary", "three back", draw), "three back")[0].mean(axis=0).argmax() == 28


@pytest.mark.thorough
@pytest.mark.parametrize("task", ["three back", "last capital"])
@pytest.mark.parametrize("draw", DRAWS)
def test_waves_that_come_back_do_no_harm_while_the_slow_hands_stay_at_trained_angles(task, draw):
    slow, fast = slice(4, None), slice(4)
    plain = right("rotary", task, draw, 64)
    for furthest in (12, 15):  # not only at one distance
        held = right("rotary", task, draw, 64, furthest=furthest, held=slow)
        assert np.all(held > 0.9) and held.mean() > plain.mean() + 0.08
    other = right("rotary", task, draw, 64, furthest=15, held=fast)
    assert other.mean() < plain.mean() + 0.02, "the control: to hold the two fast hands there repairs nothing"


@pytest.mark.thorough
@pytest.mark.parametrize("draw", DRAWS)
def test_scores_for_the_last_capital_fall_while_trained_and_climb_again(draw):
    scores, heights = mean_scores("last capital", draw)
    assert set(heights.argmax(axis=1)) <= {2, 3}, "the third or the fourth hand counts most"
    lowest = scores[:, :30].argmin(axis=1)
    assert np.all((15 < lowest) & (lowest < 22)) and np.all(scores[:, 0] > scores[:, 15] + 9)
    assert np.all(scores[:, 30:].max(axis=1) > scores[:, :30].min(axis=1) + 7)
    assert np.all(np.argmax(scores[:, 40:], axis=1) + 40 >= 54), "and are high near 56"


def far_shares(names, params, task):
    weight, number = (found[:, 16:].sum(axis=1) / found.sum(axis=1) for found in names["misplaced"](params, task))
    return weight, number


@pytest.mark.thorough
@pytest.mark.parametrize("task", ["three back", "last capital"])
@pytest.mark.parametrize("draw", DRAWS)
def test_wrong_heads_look_beyond_the_trained_distances(task, draw):
    weight, number = far_shares(page(), trained("rotary", task, draw), task)
    assert np.all(weight > 0.9) and np.all(number < 0.75), "these keys are two thirds of the wrong ones"


@pytest.mark.thorough
@pytest.mark.parametrize("width", [32, 48])
@pytest.mark.parametrize("task", ["three back", "last capital"])
def test_wider_heads_look_there_too(task, width):
    params = page(width)["train"]("rotary", task, seed=1)
    weight, number = far_shares(page(width), params, task)
    assert np.median(weight) > 0.95 and np.sum(weight > number + 0.2) >= 7, "in one of 32 wider heads it is not so"


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


def test_how_near_the_first_three_hands_of_ours_are_to_where_they_were_25_tokens_before():
    turns = 2 * np.pi * 10000 ** (np.arange(12) / 12)
    off = np.abs((t := 25 / turns[:3]) - t.round())
    assert np.all(off.round(2) == [0.02, 0.15, 0.14]), "the last two are no match: their waves are low enough not to matter"


@pytest.mark.thorough
@pytest.mark.parametrize("task", ["three back", "last capital"])
@pytest.mark.parametrize("draw", DRAWS)
def test_untrained_distances_are_to_blame_and_not_the_number_of_keys(task, draw):
    plain, clipped = (right("rotary", task, draw, 64, furthest=furthest) for furthest in (None, 15))
    assert np.all(clipped > 0.9) and np.all(clipped > plain - 0.02) and clipped.mean() > plain.mean() + 0.08
    assert right("rotary", task, draw, 64, furthest=40).mean() < clipped.mean() - 0.05, "to clip only some untrained distances is not enough"
    assert np.array_equal(right("rotary", task, draw, 64, furthest=63), plain), "and to clip none changes nothing"


def test_a_clipped_distance_gives_the_score_of_a_key_that_far_away():
    names = page()
    params = {name: np.random.default_rng(0).standard_normal((8, *shape))
              for name, shape in dict(token=(16, 24), Q=(24, 24), K=(24, 24), V=(24, 24), answer=(24, 8)).items()}  # fmt: skip
    text = np.random.default_rng(1).integers(16, size=(8, 1, 9))
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
def test_what_squeezing_ruins_and_repairs():
    def slow_squeezed(rotate, first=4):
        return lambda x, pos: np.where(np.arange(24) < first, rotate(x, pos), squeezed(rotate)(x, pos))

    def all_but_the_first(rotate):
        return slow_squeezed(rotate, first=2)

    changes = page()["as_trained"], squeezed, slow_squeezed, all_but_the_first
    three, capital = (np.array([[right("rotary", task, draw, 64, change=change) for draw in DRAWS] for change in changes])
                      for task in ("three back", "last capital"))  # fmt: skip
    assert np.all(three[1] < 0.18), "squeezing loses the exact distance"
    assert np.all(three[2] > 0.85) and np.all(three[2].mean(axis=1) > three[0].mean(axis=1) + 0.05), "but not if the fast hands keep their speeds"
    assert np.median(three[3]) < 0.7, "and both have to"
    assert np.all(capital[1, 0] > capital[0, 0]), "the eight heads of the page get better"
    assert np.all(capital[2].mean(axis=1) < capital[0].mean(axis=1) + 0.02), "not if only the slow hands are squeezed"
    assert np.all(capital[3].mean(axis=1) > capital[2].mean(axis=1) + 0.08), "and the second hand is the reason"
    plain, twelve = ([right("rotary", "twelve back", draw, 64, change=change, params=trained("rotary", "three back", draw))
                      for draw in DRAWS] for change in changes[:2])  # fmt: skip
    assert np.median(twelve) > 0.4 and np.max(plain) < 0.25, "squeezed heads look twelve tokens back"


@pytest.mark.thorough
@pytest.mark.parametrize("width", [48, 64])
def test_of_wider_heads_for_the_last_capital_squeezing_makes_many_worse(width):
    names, better = page(width), []
    for seed in (1, 2):
        params = names["train"]("rotary", "last capital", seed=seed)
        plain, other = (names["right"](params, "rotary", "last capital", 64, change=change) for change in (names["as_trained"], squeezed))
        better += [*(other > plain)]
    assert 4 <= np.sum(better) <= 12, "of sixteen"


def test_a_squeezed_key_gets_the_score_of_a_quarter_of_its_distance():
    query, key = np.random.default_rng(0).standard_normal((2, 1, 24))
    for t in (1, 3, 12, 50):
        np.testing.assert_allclose(rotary(query, [63 / 4]) @ rotary(key, [(63 - t) / 4]).T, query @ rotary(key, [-t / 4]).T)


@pytest.mark.thorough
@pytest.mark.parametrize("draw", DRAWS)
def test_with_the_steep_price_the_letter_one_back_is_named_and_the_key_three_back_is_not_starved(draw):
    text = page()["sample"](np.random.default_rng(99), "three back", 32, 16)[0]
    weights, named = {}, {}
    for kind in ("none", "ALiBi, 1/2"):
        answers, saved = page()["forward"](trained(kind, "three back", draw), text, kind)
        weights[kind] = [np.diagonal(saved[4], -back, 2, 3)[..., 8 - back :].mean(axis=(1, 2)) for back in (1, 2, 3)]
        named[kind] = (answers.argmax(axis=-1)[..., 8:] == text[..., 7:15] % 8).mean(axis=(1, 2))
    one, two, three = weights["ALiBi, 1/2"]
    assert np.all(three > weights["none"][2]) and np.all(one > two) and np.all(two > 1.5 * three)
    assert np.all(named["ALiBi, 1/2"] > 0.6) and np.all(named["none"] < 0.4)


@pytest.mark.thorough
@pytest.mark.parametrize("draw", DRAWS)
def test_a_price_for_distance_helps_the_last_capital_at_any_length_and_never_three_back(draw):
    steep, flat = "ALiBi, 1/2", "ALiBi, 1/8"
    for n in (16, 64, 128):
        assert np.all(right(steep, "last capital", draw, n) > 0.93)
        assert np.median(right("none", "last capital", draw, n)) + 0.1 < np.median(right(flat, "last capital", draw, n)) < 0.95
        assert np.all(right(steep, "three back", draw, n) < 0.25) and np.all(right(flat, "three back", draw, n) < 0.45)
        assert np.median(right(flat, "three back", draw, n)) > np.median(right("none", "three back", draw, n)) - 0.02
    assert right("rotary", "last capital", draw, 128).max() < 0.85
    assert np.all(right(steep, "three back", draw) < right("none", "three back", draw))


def test_of_two_keys_with_equal_content_the_nearer_gets_more():
    query, key = np.random.default_rng(0).standard_normal((2, 1, 8))
    weights = attention(query, np.repeat(key, 6, axis=0), np.eye(6), mask=alibi_bias(8, 1, 6, offset=5)[7])[1]
    assert np.all(np.diff(weights) > 0)


# --- further ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
def test_a_key_turned_in_advance_is_found_at_its_distance(seed):
    query = np.random.default_rng(seed).standard_normal((1, 128))
    for t in (0, 7, 300):
        key = rotary(query, [t])
        scores = [(query @ rotary(key, [-away]).T).item() for away in range(600)]
        assert np.argmax(scores) == t


@pytest.mark.parametrize("seed", range(8))
def test_orthogonal_matrices_grant_the_wish_and_others_do_not(seed):
    rng = np.random.default_rng(seed)
    orthogonal, other = np.linalg.qr(rng.standard_normal((4, 4)))[0], rng.standard_normal((4, 4))
    for matrix, granted in ((orthogonal, True), (other, False)):
        between = [np.linalg.matrix_power(matrix, p).T @ np.linalg.matrix_power(matrix, p + 2) for p in range(4)]
        assert all(np.allclose(between[0], later) for later in between) == granted
