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
FAST, THIRD, FOURTH, TWO, SLOWEST = slice(4), slice(4, 6), slice(6, 8), slice(4, 8), slice(8, 24)  # two features each


@cache
def page(width=24):
    """The names that the cells of the chapter define; its stubs are empty, so the turns are the book's."""
    cells = {cell["id"]: cell.source for cell in nbformat.read(CHAPTER, as_version=4).cells}
    names = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("attnpage.plotting.setup", lambda: None)
        for id in ("imports", "ex-rope-stub", "ex-back-stub", "task-run", "model"):
            exec(cells[id].replace("width = 8, 8, 24", f"width = 8, 8, {width}"), names)
    assert names["width"] == width
    return names


@cache
def trained(kind, task, draw):
    return page()["train"](kind, task, seed=draw)


def right(kind, task, draw, n=16, params=None, **how):
    return page()["right"](trained(kind, task, draw) if params is None else params, kind, task, n, **how)


def squeezed(rotate):
    return lambda x, pos: rotate(x, pos * 16 / len(pos))


def larger_base(slowed, width=24):
    """Base 100,000 for the hands named."""
    factor = [10 ** (2 * i / width) if i in slowed else 1 for i in range(width // 2)]
    return lambda rotate: lambda x, pos: np.concatenate(
        [rotate(x, pos / factor[i])[..., 2 * i : 2 * i + 2] for i in range(width // 2)], axis=-1
    )


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
    larger = 2 * np.pi * 500_000 ** (np.arange(64) / 64)
    ratio = larger / turn
    assert ratio[0] == 1 and np.all(np.diff(ratio) > 0), "a larger base slows the last hands most"
    assert np.sum(larger > 4096) == 32, "and leaves more hands unfinished"
    assert np.all(turn < 131_072 / 2) and np.sum(larger > 131_072) == 15
    assert [np.sum((low < turn) & (turn < 10 * low)) for low in (10, 100)] == [16, 16]
    twelve = 2 * np.pi * 10000 ** (np.arange(12) / 12)
    assert np.sum(twelve < 16) == 2 and np.sum((16 < twelve) & (twelve < 64)) == 2 and round(twelve[4]) == 135
    seen, now = np.minimum(1, 15 / twelve), np.minimum(1, 63 / twelve)
    assert np.allclose(seen[2:4], [0.5, 0.25], atol=0.02) and np.all(now[2:4] == 1), "the third showed half, the fourth a quarter"
    assert np.all((now - seen)[2:4].min() > np.delete(now - seen, [2, 3])), "all others meet fewer new angles"
    assert np.all(48 / twelve[2:4] > [1, 0.75]) and 360 * 48 / twelve[-1] < 1


# --- heads that look back ---------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize("draw", DRAWS)
def test_heads_learn_three_back_with_rotary_positions_and_not_without(draw):
    assert np.all(right("rotary", "three back", draw) > 0.99)
    without = right("none", "three back", draw)
    assert np.all((0.25 < without) & (without < 0.4)), "more often than one in eight, and far from always"
    assert np.all(right("rotary", "last capital", draw) > 0.98)


@pytest.mark.thorough
@pytest.mark.parametrize("draw", DRAWS)
def test_scores_come_back_at_distances_that_were_not_trained(draw):
    params, turn = trained("rotary", "three back", draw), page()["turn"]
    mean_token = params["token"].mean(axis=1, keepdims=True)
    query, key = mean_token @ params["Q"], mean_token @ params["K"]
    score = (query * turn(np.repeat(key, 64, axis=1), -np.arange(64))).sum(axis=-1)
    inside = np.delete(score[:, :16], 3, axis=1).max(axis=1)
    assert np.all(score[:, :16].argmax(axis=1) == 3)
    assert np.all(score[:, 16:].max(axis=1) > inside), "further out they rise above all trained distances but three"
    each = (query * turn(np.repeat(key, 64, axis=1), -np.arange(64))).reshape(8, 64, 12, 2).sum(axis=-1)
    assert np.all((each[:, 3] - each[:, 9])[:, 1:].sum(axis=1) > 5 * np.abs((each[:, 3] - each[:, 9])[:, 0])), "at 9 the other hands hold the score down"


@pytest.mark.thorough
@pytest.mark.parametrize("task", ["three back", "last capital"])
@pytest.mark.parametrize("draw", DRAWS)
def test_untrained_distances_are_to_blame_and_not_the_number_of_keys(task, draw):
    plain, clipped = (right("rotary", task, draw, 64, furthest=furthest) for furthest in (None, 15))
    assert np.all(clipped > 0.9) and np.all(clipped > plain - 0.02) and clipped.mean() > plain.mean() + 0.08
    assert right("rotary", task, draw, 64, furthest=40).mean() < clipped.mean() - 0.05, "to clip only some untrained distances is not enough"
    assert np.array_equal(right("rotary", task, draw, 64, furthest=63), plain), "and to clip none changes nothing"


@pytest.mark.thorough
@pytest.mark.parametrize("furthest", [12, 15])
@pytest.mark.parametrize("draw", DRAWS)
def test_the_third_hand_does_the_most_harm_and_the_eight_slowest_do_none(draw, furthest):
    for task in ("three back", "last capital"):
        plain = right("rotary", task, draw, 64)
        fast, third, fourth, two, slowest, ten = (right("rotary", task, draw, 64, furthest=furthest, clamped=part)
                                                  for part in (FAST, THIRD, FOURTH, TWO, SLOWEST, slice(4, 24)))  # fmt: skip
        assert np.all(third > plain) and np.median(third) > 0.92, "held alone, it improves every head"
        assert fourth.min() < 0.91 and np.median(fourth) < np.median(plain) + 0.08, "the fourth alone repairs neither task"
        assert np.median(third) > np.median(fourth) + 0.01
        assert np.all(two > plain) and np.all(two > 0.9), "held, these two repair every head"
        assert abs(np.median(two) - np.median(ten)) < 0.02, "as well as all ten"
        assert np.median(slowest) < np.median(plain) + 0.04 and np.sum(slowest > 0.9) <= np.sum(plain > 0.9) + 1, "the control"
        if task == "three back" and furthest == 12:
            assert np.all(fast > 0.99), "held at 12, the fast hands repair this task, though their angles are not new"
        else:
            assert np.median(fast) < np.median(plain) + 0.03, "at 15 they repair neither"


@pytest.mark.thorough
@pytest.mark.parametrize("task", ["three back", "last capital"])
def test_the_two_hands_stand_out_in_what_they_can_add_to_a_score(task):
    for draw in DRAWS:
        params = trained("rotary", task, draw)
        of_query, of_key = (np.hypot(rows[..., 0::2], rows[..., 1::2]).mean(axis=1) for rows in (params["token"] @ params[name] for name in "QK"))
        adds = np.median(of_query * of_key, axis=0)
        assert np.all(adds[4:] < adds[2] / 2), "from the fifth on, the bars are low"


@pytest.mark.thorough
@pytest.mark.parametrize("width", [32, 48])
def test_a_larger_base_and_squeezing_in_wider_heads(width):
    names = page(width)
    better = {}
    for task in ("three back", "last capital"):
        params = names["train"]("rotary", task, seed=1)
        plain, *changed = (names["right"](params, "rotary", task, 64, change=change)
                           for change in (names["as_trained"], larger_base(range(width // 2), width), squeezed))  # fmt: skip
        better[task] = [np.sum(now > plain) for now in changed]
    assert better["three back"][0] <= 4, "the base 100,000 helps at most half of the heads"
    assert better["last capital"][0] == 8, "and every head for the last capital"
    if width == 48:
        assert 2 <= better["last capital"][1] <= 6, "squeezing helps about half of them"


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
    parts = [names["forward"](params, text, "rotary", furthest=3, clamped=part)[1][4] for part in (slice(4), slice(4, None))]
    assert not any(np.allclose(weights, part) for part in parts), "to hold a part of the hands is something else"
    plain = names["forward"](params, text, "rotary")[1][4]
    with np.errstate(divide="ignore", invalid="ignore"):  # the changes of both parts add up to that of all hands
        moved = [np.log(changed / plain) for changed in (weights, *parts)]
    moved = [change - change[..., :1] for change in moved]
    within = np.broadcast_to(np.tri(9, dtype=bool), weights.shape)
    np.testing.assert_allclose(moved[0][within], (moved[1] + moved[2])[within], atol=1e-8)


@pytest.mark.thorough
def test_what_slowing_hands_helps():
    changes = page()["as_trained"], squeezed, larger_base(range(12)), larger_base((2, 3)), larger_base(range(4, 12))
    three, capital = (np.array([[right("rotary", task, draw, 64, change=change) for draw in DRAWS] for change in changes])
                      for task in ("three back", "last capital"))  # fmt: skip
    assert np.all(three[1] < 0.18), "squeezing loses the exact distance"
    assert abs(np.sum(capital[1] > capital[0]) - 29) <= 1 and np.sum(three[2] > three[0]) > 20 and np.sum(capital[2] > capital[0]) > 28
    assert np.all(three[3] > three[0]) and np.all(capital[3] > capital[0]), "to slow the third and the fourth hand helps every head"
    for found in (three, capital):
        assert abs(np.median(found[4]) - np.median(found[0])) < 0.03, "to slow the eight slowest hardly changes the median"
    plain, twelve = ([right("rotary", "twelve back", draw, 64, change=change, params=trained("rotary", "three back", draw))
                      for draw in DRAWS] for change in changes[:2])  # fmt: skip
    assert np.median(twelve) > 0.4 and np.max(plain) < 0.25, "squeezed heads look twelve tokens back"


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
