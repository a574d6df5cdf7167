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
FAST = 4  # features of the two hands that finish a turn in 16 tokens


@cache
def page():
    """The names that the cells of the chapter define; its stubs are empty, so the turns are the book's."""
    cells = {cell["id"]: cell.source for cell in nbformat.read(CHAPTER, as_version=4).cells}
    names = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("attnpage.plotting.setup", lambda: None)
        for id in ("imports", "ex-rope-stub", "ex-back-stub", "task-run", "model"):
            exec(cells[id], names)
    return names


@cache
def trained(kind, task, draw):
    return page()["train"](kind, task, seed=draw)


@cache
def later(task, draw, change):
    return page()["train"]("rotary", task, 50, 64, trained("rotary", task, draw), change, seed=draw + 100)


def right(kind, task, draw, n=16, params=None, **how):
    return page()["right"](trained(kind, task, draw) if params is None else params, kind, task, n, **how)


def squeezed(rotate):
    return lambda x, pos: rotate(x, pos * 16 / len(pos))


def slow_hands_only(rotate):
    return lambda x, pos: np.concatenate([rotate(x, pos)[..., :FAST], squeezed(rotate)(x, pos)[..., FAST:]], axis=-1)


def fast_hands_only(rotate):
    return lambda x, pos: np.concatenate([squeezed(rotate)(x, pos)[..., :FAST], rotate(x, pos)[..., FAST:]], axis=-1)


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
    assert np.isclose(64 * 2 * np.pi, 402, atol=0.2)
    assert abs(25 / (2 * np.pi) - 4) < 0.03 and abs(6 / (2 * np.pi) - 1) < 0.05
    twelve = 2 * np.pi * 10000 ** (np.arange(12) / 12)
    assert np.sum(twelve < 16) == 2


def test_evenly_spaced_hands_are_back_after_402_tokens_and_geometric_ones_are_not():
    away = np.arange(101, 4097)[:, np.newaxis]
    geometric, even = (np.cos(away * speeds).mean(axis=1) for speeds in (SPEEDS, np.arange(1, 65) / 64))
    assert geometric.max() < 0.5 and even.max() > 0.999 and even[402 - 101] > 0.99
    assert np.cos(np.arange(101, 4097)).max() > 0.9999, "one hand alone is back, too"


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
    assert np.all(score[:, 16:].max(axis=1) > 0.75 * score[:, 3])


@pytest.mark.thorough
@pytest.mark.parametrize("task", ["three back", "last capital"])
@pytest.mark.parametrize("draw", DRAWS)
def test_far_keys_are_to_blame(task, draw):
    plain, hidden = (right("rotary", task, draw, 64, within=within) for within in (None, 16))
    half = right("rotary", task, draw, 64, within=40)
    assert np.all(hidden > 0.93) and np.all(hidden > plain) and plain.mean() < 0.92
    assert half.mean() < hidden.mean() - 0.05, "to hide some far keys is not enough"


@pytest.mark.thorough
def test_what_each_way_of_slowing_hands_helps():
    changes = page()["as_trained"], squeezed, slow_hands_only, fast_hands_only
    three, capital = (np.array([[right("rotary", task, draw, 64, change=change) for draw in DRAWS] for change in changes])
                      for task in ("three back", "last capital"))  # fmt: skip
    assert np.all(three[1] < 0.18) and np.all(three[3] < 0.18), "whoever slows the fast hands loses the distance"
    assert np.all(three[2] > three[1]) and np.all(capital[1] > capital[2])
    assert abs(np.sum(three[2] > three[0]) - 25) <= 1 and abs(np.sum(capital[1] > capital[0]) - 29) <= 1
    assert np.all(three[2].mean(axis=1) > three[0].mean(axis=1) + 0.05)
    assert np.all(capital[1].mean(axis=1) > capital[0].mean(axis=1) + 0.02)
    assert np.all(capital[2].mean(axis=1) < capital[0].mean(axis=1)), "and what helps one task does not help the other"


@pytest.mark.thorough
@pytest.mark.parametrize("draw", DRAWS[:2])
def test_after_fifty_more_steps_only_the_squeezed_heads_for_three_back_are_wrong(draw):
    for change in (page()["as_trained"], squeezed, slow_hands_only):
        for task in ("three back", "last capital"):
            shares = right("rotary", task, draw, 64, later(task, draw, change), change=change)
            if change is squeezed and task == "three back":
                assert np.all(shares < 0.3)
            else:
                assert np.all(shares > 0.95)


@pytest.mark.thorough
@pytest.mark.parametrize("draw", DRAWS)
def test_a_price_for_distance_helps_the_last_capital_at_any_length_and_never_three_back(draw):
    for n in (16, 64, 128):
        assert np.all(right("ALiBi", "last capital", draw, n) > 0.93)
        assert np.all(right("ALiBi", "three back", draw, n) < 0.25)
    assert right("rotary", "last capital", draw, 128).max() < 0.85
    assert np.all(right("ALiBi", "three back", draw) < right("none", "three back", draw))


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
