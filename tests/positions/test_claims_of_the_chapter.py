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
        exec(of_the_figure[of_the_figure.index("def misplaced") : of_the_figure.index("fig, (hand_by_hand")], names)
        exec(cells["stop-run"].partition("np.testing")[0], names)
    return names


@cache
def trained(kind, draw):
    return page()["train"](kind, seed=draw)


@cache
def trained_with_base(base, draw):
    """Eight heads whose hands have another base, and the weight that their wrong answers give to each distance."""
    names = dict(page())
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(page(), "turn", lambda x, pos: rotary(x, pos, base=base))
        patch.setitem(page(), "turn_back", lambda x, pos: rotary(x, -np.asarray(pos), base=base))
        params = page()["train"]("rotary", seed=draw)
        found = page()["misplaced"](params)
    assert page()["turn"] is names["turn"]
    return params, found


def stopped(draw, hands, **how):
    return page()["right_if_stopped"](trained("rotary", draw), hands, **how)


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
    t = np.arange(101)
    fast, both = np.cos(np.radians(20 * (t - 3))), sum(np.cos(np.radians(degrees * (t - 3))) for degrees in (20, 4))
    assert np.all(np.isclose(fast[3::18], 1)) and np.sum(both[:61] > both[3] - 0.6) < np.sum(fast[:61] > fast[3] - 0.6) / 2
    assert np.flatnonzero(np.isclose(both, 2)).tolist() == [3, 93], "the slow hand holds them down until it is back itself"


def test_the_numbers_about_sixty_four_hands():
    turn = 2 * np.pi / SPEEDS
    assert round(turn[0], 1) == 6.3 and round(turn[-1]) == 54410
    assert np.isclose(turn[16] / turn[0], 10) and np.isclose(turn[63] / turn[47], 10)
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


def waves_of_three_back(draw, n=64):
    """What each hand adds to the mean score, (heads, distances, hands)."""
    params = trained("rotary", draw)
    query, key = ((params["token"] @ params[name]).mean(axis=1, keepdims=True) for name in "QK")
    turned = page()["turn"](np.repeat(key, n, axis=1), -np.arange(n))
    return (query * turned).reshape(8, n, 12, 2).sum(axis=-1) / np.sqrt(24)


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
    assert np.sum(worst == 28) == 42 and np.sum(worst == 16) == 11
    of_a_draw = misplaced.mean(axis=1)
    at_28 = of_a_draw[:, 28] / of_a_draw.sum(axis=1)
    assert round(100 * at_28.min()) == 40 and round(100 * at_28.max()) == 61
    assert at_28[0] > 0.5 and of_a_draw[0].argmax() == 28, "more than half, says the caption of the page's own heads"


@pytest.mark.thorough
def test_at_28_all_three_hands_are_nearly_back_and_at_9_16_and_22_one_of_them_holds_the_score_down():
    waves = np.array([waves_of_three_back(draw) for draw in DRAWS])  # (draws, heads, distances, hands)
    moved = (waves - waves[..., 3:4, :]).mean(axis=1)  # compared with distance 3
    height = np.ptp(waves, axis=2).mean(axis=1) / 2
    assert np.all(height[:, :3].min(axis=1) > height[:, 3:].max(axis=1)), "the first three have the highest waves"
    for distance, low in ((9, 1), (16, 2), (22, 1)):
        assert np.all(moved[:, distance].argmin(axis=-1) == low) and np.all(moved[:, distance, low] < -1)
    assert np.all(np.abs(moved[:, 28, 0]) < 0.2) and np.all(moved[:, 28, 1] > -2) and np.all(moved[:, 28, 2] > 0)
    sums = moved.sum(axis=-1)[:, [9, 16, 22, 28]]
    assert np.all(sums.argmax(axis=1) == 3)


@pytest.mark.thorough
@pytest.mark.parametrize("draw", DRAWS)
def test_with_base_500_000_the_first_two_hands_are_back_at_22_and_41_and_there_the_heads_look(draw):
    takes = 2 * np.pi * 500_000 ** (np.arange(2) / 12)
    off = [max(abs((t - 3) / turn - round((t - 3) / turn)) for turn in takes) for t in range(16, 64)]
    assert sorted(np.argsort(off)[:2] + 16) == [22, 41], "the rule says it without a look at the heads"
    assert set(trained_with_base(500_000, draw)[1].argmax(axis=1)) <= {22, 41}
    assert not set(page()["misplaced"](trained("rotary", draw)).argmax(axis=1)) & {22}, "the control: with base 10,000 no head does"


@pytest.mark.thorough
def test_new_angles_are_the_cause_and_not_the_number_of_keys():
    none, third, slowest, second, every, hidden = (
        np.array([stopped(draw, hands, **how) for draw in DRAWS])
        for hands, how in (((), {}), ([2], {}), (range(4, 12), {}), ([1], {}), (range(12), {}), ((), {"hide": True}))
    )  # (draws, heads)
    np.testing.assert_allclose(none, [right(draw, 64) for draw in DRAWS], err_msg="without a stop they are the heads of the page")
    means = [100 * found.mean(axis=1) for found in (third, every)]
    assert [(round(m.min()), round(m.max())) for m in means] == [(96, 100), (99, 100)]
    assert np.min(third - none) > -0.0025, "no head loses more than a quarter of a point"
    assert np.abs((slowest - none).mean(axis=1)).max() < 0.01
    assert np.max((second - none).mean(axis=1)) < -0.05, "the control: all means fall"
    assert np.all(hidden > 0.999)


def test_a_stopped_hand_sees_no_larger_distance_and_the_others_see_every_one():
    """The answers of right_if_stopped, against scores that are added up pair by pair, for heads that learned nothing."""
    params, hands, most, names = page()["train"]("rotary", steps=20), [0, 2], 15, page()
    text, answer, asked = names["sample"](np.random.default_rng(99), 32, 64)
    x = params["token"][names["start"], text]
    Q, K, V = (x @ params[name][:, np.newaxis] for name in "QKV")
    q, k = (array[..., 0::2] + 1j * array[..., 1::2] for array in (Q, K))
    away, scores = np.arange(64)[:, np.newaxis] - np.arange(64), 0
    for hand in range(12):
        sees = np.minimum(away, most) if hand in hands else away
        pairs = np.conj(q[..., :, np.newaxis, hand]) * k[..., np.newaxis, :, hand]
        scores = scores + (pairs * np.exp(-1j * sees * 10000.0 ** (-hand / 12))).real
    weights = names["softmax"](np.where(away >= 0, scores / np.sqrt(24), -np.inf))
    hit = (weights @ V @ params["answer"][:, np.newaxis]).argmax(axis=-1) == answer
    np.testing.assert_allclose(names["right_if_stopped"](params, hands, most), (hit & asked).sum(axis=(1, 2)) / asked.sum(axis=(1, 2)))


@pytest.mark.thorough
@pytest.mark.parametrize("draw", DRAWS)
def test_twenty_more_steps_on_long_texts_are_a_remedy(draw):
    assert np.all(right(draw, 64) < 1), "the control: before them every head makes mistakes"
    assert np.all(page()["right"](trained_on(draw, 20), n=64) > 0.995)


def trained_on(draw, steps):
    """Trained heads after some more steps of Adam on texts of 64 tokens."""
    names, rng, params = page(), np.random.default_rng(1000 + draw), dict(trained("rotary", draw))
    mean, square = ({name: 0 * array for name, array in params.items()} for _ in range(2))
    for step in range(1, steps + 1):
        text, answer, asked = names["sample"](rng, 16, 64)
        answers, saved = names["forward"](params, text, "rotary")
        error = (names["softmax"](answers) - np.eye(8)[answer]) * asked[..., np.newaxis]
        d_answers = error / asked.sum(axis=(1, 2), keepdims=True)[..., np.newaxis]
        for name, g in names["backward"](d_answers, params, text, "rotary", saved).items():
            mean[name], square[name] = 0.9 * mean[name] + 0.1 * g, 0.99 * square[name] + 0.01 * g**2
            params[name] = params[name] - 0.01 * mean[name] / (1 - 0.9**step) / (np.sqrt(square[name] / (1 - 0.99**step)) + 1e-8)
    return params


@pytest.mark.thorough
def test_in_49_of_64_heads_the_mean_score_is_as_high_as_at_3_again_before_distance_400():
    scores = np.concatenate([waves_of_three_back(draw, 400).sum(axis=-1) for draw in DRAWS])
    back = scores[:, 4:] >= scores[:, 3:4]
    assert back.any(axis=1).sum() == 49
    assert not back[:, :12].any(), "the control: never within the distances of the training"


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
def test_with_halves_for_neighbours_heads_are_right_16_to_94_percent_of_the_time():
    def halves(rotate):
        return lambda x, pos: rotary(x, pos, pairs="halves")

    found = np.array([right(draw, change=halves) for draw in DRAWS])
    assert round(100 * found.min()) == 16 and round(100 * found.max()) == 94


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
    assert gain.argmax() == 0, "the draw of the page gains most"
    assert np.sum(slow < plain) == 26, "heads that get worse"
    assert np.all(every < 0.18)
    twelve, control = (np.array([right(draw, 64, back=12, change=squeezed_hands(*hands)) for draw in DRAWS])
                       for hands in (range(12), ()))  # fmt: skip
    assert np.all(np.median(twelve, axis=1) > 0.4) and np.max(control) < 0.25, "squeezed heads look twelve tokens back"


def yarn(rotate):  # the rule of section 3.2 of the paper, for texts four times as long
    speeds = 10000.0 ** (-np.arange(12) / 12)
    kept = np.clip((16 * speeds / (2 * np.pi) - 1) / (32 - 1), 0, 1)  # by the turns of each hand in a text of the training
    assert np.all(kept < 0.06), "even the fast hands are squeezed nearly fully"
    speeds = np.repeat((1 - kept) * speeds / 4 + kept * speeds, 2)

    def turn(x, pos):
        angles, partner = np.multiply.outer(pos, speeds), np.stack([-x[..., 1::2], x[..., 0::2]], axis=-1).reshape(x.shape)
        return (x * np.cos(angles) + partner * np.sin(angles)) * (0.1 * np.log(4) + 1)

    return turn


@pytest.mark.thorough
def test_the_rule_of_yarn_ruins_heads_that_were_trained_on_16_tokens():
    found = np.array([right(draw, 64, change=yarn) for draw in DRAWS])
    assert np.all(found < 0.18), "as right as when all hands are squeezed"


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
