"""What chapter 2 says about random numbers, with more starts and other sizes than fit into a cell, and what would refute it."""

import numpy as np
import pytest

from attnlib.attention import attention, attention_backward
from attnlib.softmax import softmax, softmax_backward

STARTS = range(16)


def at_the_scores(d, seed, n=32, batch=8, draw="standard_normal", gradient="weights"):
    """Median and mean length of the gradient at the scores, without the factor and with it."""
    rng = np.random.default_rng(seed)
    query, key = rng.standard_normal((2, batch, n, d))
    if draw == "signs":
        query, key = np.sign(query), np.sign(key)
    d_weights = rng.standard_normal((batch, n, n))
    if gradient == "output":  # as it comes from values of 16 features
        value, d_out = rng.standard_normal((2, batch, n, 16))
        d_weights = d_out @ value.mT
    found = []
    for scale in (1.0, d**-0.5):
        length = np.linalg.norm(softmax_backward(d_weights, softmax(scale * query @ key.mT)), axis=-1)
        found += [np.median(length), length.mean()]
    return found


@pytest.mark.thorough
@pytest.mark.parametrize("draw", ["standard_normal", "signs"])
@pytest.mark.parametrize("gradient", ["weights", "output"])
@pytest.mark.parametrize("n", [16, 32, 64])
def test_without_the_factor_the_typical_gradient_at_the_scores_collapses(n, gradient, draw):
    narrow, wide = (np.array([at_the_scores(d, seed, n, draw=draw, gradient=gradient) for seed in STARTS]) for d in (64, 512))
    median, mean, scaled_median, scaled_mean = wide.T
    assert (median < scaled_median / 25).all()
    assert (mean > 10 * median).all()  # a few undecided queries keep the mean up
    assert (mean > scaled_mean / 10).all()
    # at 64 features it depends on the number of keys: with more of them, more rows are undecided
    assert (narrow[:, 0] < (0.6 if n <= 32 else 0.9) * narrow[:, 2]).all()
    assert n <= 32 or narrow[:, 0].mean() > 0.5 * narrow[:, 2].mean()
    # the control: with the factor nothing depends on the width
    assert np.allclose(scaled_median, narrow[:, 2].mean(), rtol=0.2)
    assert np.allclose(scaled_median, scaled_mean, rtol=0.2)


def test_the_numbers_of_the_text_at_the_scores():
    at_64, at_1024 = (np.array([at_the_scores(d, seed, batch=16) for seed in STARTS]) for d in (64, 1024))
    assert (at_64[:, 0] < at_64[:, 2] / 2).all()
    assert (at_1024[:, 0] < at_1024[:, 2] / 1000).all()


def test_at_64_features_the_comparison_turns_over_between_32_and_512_keys():
    for n, batch, lowest, highest in ((32, 8, 2, 7), (128, 4, 0.6, 1.9), (512, 1, 0.25, 0.75)):
        found = np.array([at_the_scores(64, seed, n, batch) for seed in range(8)])
        ratio = found[:, 2] / found[:, 0]  # with the factor, in terms of without it
        assert lowest < ratio.min() and ratio.max() < highest
    at_256 = np.array([at_the_scores(256, seed, 512, 1) for seed in range(8)])
    assert np.allclose(at_256[:, 2], found[:, 2].mean(), rtol=0.1)  # with it, the width does not matter, for 512 keys either


def test_with_values_in_the_way_the_numbers_are_those_of_the_review():
    for d, without, scaled in ((64, 0.3, 0.85), (1024, 0.0002, 0.84)):
        found = np.median([at_the_scores(d, seed, batch=16, gradient="output") for seed in STARTS], axis=0)
        assert without / 2 < found[0] < without * 2
        assert abs(found[2] - scaled) < 0.05


@pytest.mark.parametrize(("n", "batch", "lowest", "highest"), [(32, 16, 3.5, 7.5), (512, 1, 0.8, 1.35)])
def test_the_mean_at_the_scores_falls_much_less_than_the_median(n, batch, lowest, highest):
    """With 1024 features: about five times shorter than with the factor for 32 keys, about as long for 512."""
    found = np.array([at_the_scores(1024, seed, n, batch) for seed in range(8)])
    ratio = found[:, 3] / found[:, 1]
    assert lowest < ratio.min() and ratio.max() < highest, ratio
    assert (found[:, 2] / found[:, 0] > 20 * ratio).all()  # the control: the median says something else


def test_the_long_gradients_belong_to_queries_whose_best_scores_nearly_tie():
    for seed in range(8):
        rng = np.random.default_rng(seed)
        query, key = rng.standard_normal((2, 16, 32, 1024))
        scores = (query @ key.mT).reshape(-1, 32)
        length = np.linalg.norm(softmax_backward(rng.standard_normal(scores.shape), softmax(scores)), axis=-1)
        second, best = np.sort(scores, axis=-1)[:, -2:].T
        long = length > np.quantile(length, 0.95)
        assert np.median((best - second)[long]) < np.median(best - second) / 4


def test_at_the_queries_the_mean_grows_and_the_median_falls_late():
    def lengths(d, scale, seed):
        rng = np.random.default_rng(seed)
        query, key = rng.standard_normal((2, 8, 32, d))
        value, d_out = rng.standard_normal((2, 8, 32, 16))
        _, weights = attention(query, key, value, scale=scale)
        d_query, _, _ = attention_backward(d_out, query, key, value, weights, scale=scale)
        length = np.linalg.norm(d_query, axis=-1)
        return np.median(length), length.mean()

    for d in (64, 256, 1024):
        bare, fair = (np.array([lengths(d, scale, seed) for seed in STARTS]) for scale in (1, None))
        ratio = bare / fair
        assert (ratio[:, 1] > 4).all() and (ratio[:, 1] < 12).all(), ratio[:, 1]
        assert 5 < ratio[:, 1].mean() < 8
        assert d > 64 or (ratio[:, 0] > 1.5).all(), ratio[:, 0]
        assert d < 1024 or (ratio[:, 0] < 0.1).all(), ratio[:, 0]


@pytest.mark.parametrize(("n", "d", "lowest", "highest"), [(32, 64, 0.6, 0.8), (32, 1024, 0.15, 0.3), (512, 64, 2.5, 3.1), (512, 256, 1.4, 2)])
def test_shorter_queries_are_the_control_of_the_lengths_at_the_queries(n, d, lowest, highest):
    """Queries shorter by √d have the outputs that the factor gives. With 32 keys their gradients are longer than those without the factor."""
    for seed in range(8, 16):
        rng = np.random.default_rng(seed)
        query, key = rng.standard_normal((2, 1024 // n, n, d))
        value, d_out = rng.standard_normal((2, 1024 // n, n, 16))
        outs, lengths = [], []
        for asked, scale in ((query, None), (query, 1), (query / np.sqrt(d), 1)):
            out, weights = attention(asked, key, value, scale=scale)
            d_query = attention_backward(d_out, asked, key, value, weights, scale=scale)[0]
            outs.append(out)
            lengths.append(np.linalg.norm(d_query, axis=-1).mean())
        assert np.allclose(outs[0], outs[2]) and not np.allclose(outs[0], outs[1])
        assert np.isclose(lengths[2], np.sqrt(d) * lengths[0])
        assert lengths[1] > 4 * lengths[0]
        assert lowest < lengths[1] / lengths[2] < highest


def test_the_variance_of_a_score_with_correlated_features_is_a_trace(rng):
    queries, keys = rng.normal(size=(6, 4)), rng.normal(size=(5, 4))
    queries, keys = queries - queries.mean(axis=0), keys - keys.mean(axis=0)
    covariances = np.cov(queries.T, bias=True) @ np.cov(keys.T, bias=True)
    assert np.isclose(np.trace(covariances), (queries @ keys.T).var())  # over all pairs, so they are independent
    assert not np.isclose(np.trace(np.diag(np.diag(covariances))) * 2, (queries @ keys.T).var())
    d, related = 7, 0.8 * np.eye(7) + 0.2
    assert np.isclose(np.trace(related @ related), d + 0.04 * d * (d - 1))


@pytest.mark.parametrize(("rule", "spread"), [("MultiheadAttention", 0.5), ("Linear", 1 / 3)])
@pytest.mark.parametrize("m", [128, 512])
def test_what_the_layers_of_pytorch_start_with(rule, spread, m):
    """Drawn evenly, as PyTorch does: Glorot's rule for the packed matrix of (3m, m), and 1/√m for a linear layer."""
    bound = (6 / (3 * m + m)) ** 0.5 if rule == "MultiheadAttention" else m**-0.5
    for seed in STARTS:
        rng = np.random.default_rng(seed)
        x, weights = rng.standard_normal((64, m)), rng.uniform(-bound, bound, size=(2, m, 64))
        scores = (x @ weights[0]) @ (x @ weights[1]).T / 8
        assert abs(scores.std() / spread - 1) < 0.12


@pytest.mark.parametrize(("d", "spread"), [(16, 1.94), (64, 1.78), (256, 1.33), (512, 1.0)])
def test_one_head_drawn_by_the_rule_of_glorot(d, spread):
    m, sigma = 512, (2 / (512 + d)) ** 0.5
    assert abs(m * sigma**2 - spread) < 0.005
    for seed in STARTS:
        rng = np.random.default_rng(seed)
        x, weights = rng.standard_normal((64, m)), sigma * rng.standard_normal((2, m, d))
        scores = (x @ weights[0]) @ (x @ weights[1]).T / np.sqrt(d)
        assert abs(scores.std() / spread - 1) < 0.2


@pytest.mark.parametrize("half", [0.0, 1.0, -3.0])
def test_a_wrong_half_in_the_distance_is_seen_with_keys_of_unequal_length_only(half):
    def weights(keys, half):
        return softmax(keys @ keys.T - half * (keys**2).sum(axis=1))

    signs = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, -1.0]])
    for keys, seen in ((signs, False), ((signs + 1) / 2, True)):
        squares = ((keys[:, np.newaxis] - keys) ** 2).sum(axis=-1)
        assert np.allclose(weights(keys, 0.5), softmax(-squares / 2))
        assert np.allclose(weights(keys, half), softmax(-squares / 2)) is not seen


@pytest.mark.parametrize("n", [32, 512])
def test_the_largest_weight_of_a_row_as_the_chapter_says(n):
    for d, bare in ((64, {32: 0.8, 512: 0.7}[n]), (1024, {32: 0.95, 512: 0.92}[n])):
        for seed in STARTS:
            query, key = np.random.default_rng(seed).standard_normal((2, 512 // n, n, d))
            raw = query @ key.mT
            assert bare - 0.03 < softmax(raw).max(axis=-1).mean() < bare + 0.06
            assert softmax(raw / np.sqrt(d)).max(axis=-1).mean() < (0.2 if n == 32 else 0.04)


@pytest.mark.parametrize("seed", range(8, 16))
def test_the_root_lets_a_match_win_and_chance_not_and_neither_other_scale_does_both(seed):
    """One of 32 keys equals the query; and 32 that have nothing to do with it."""
    d = 1024
    query, key = np.random.default_rng(seed).standard_normal((2, 16, 32, d))
    found = {}
    for name, scale in (("none", 1.0), ("root", 1 / np.sqrt(d)), ("d", 1 / d)):
        _, match = attention(query, query, query, scale=scale)
        _, chance = attention(query, key, key, scale=scale)
        assert (match.argmax(axis=-1) == np.arange(32)).all()  # under every scale
        found[name] = match.diagonal(axis1=-2, axis2=-1).mean(), chance.max(axis=-1).mean()
    assert found["root"][0] > 0.95 and found["root"][1] < 0.25
    assert found["none"][1] > 0.9  # chance wins
    assert 0.07 < found["d"][0] < 0.1  # the match leads, with 8 % of the weight


def weight_of_a_match(n, d, seed, cosine=1.0, scale=None, batch=32):
    """The mean weight of a key that has this cosine with its query, among n random keys."""
    rng = np.random.default_rng(seed)
    key = rng.standard_normal((max(512 // n, 1), n, d))
    match = key[:, :batch]
    query = cosine * match + np.sqrt(1 - cosine**2) * rng.standard_normal(match.shape)
    weights = softmax((scale or d**-0.5) * query @ key.mT)
    return weights.diagonal(axis1=-2, axis2=-1).mean()


@pytest.mark.parametrize("n", [32, 256, 2048])
def test_a_copy_gets_half_of_the_weight_where_the_root_of_d_is_the_logarithm_of_n_and_a_half(n):
    d = round((np.log(n) + 0.5) ** 2)
    runs = {times: np.array([weight_of_a_match(n, round(times * d), seed) for seed in range(8, 16)]) for times in (0.5, 1, 2)}
    assert abs(runs[1].mean() - 0.5) < 0.06 and np.ptp(runs[1]) < 0.15
    assert (runs[0.5] < 0.35).all() and (runs[2] > 0.75).all()


@pytest.mark.parametrize("n", [32, 2048])
def test_at_the_rule_one_match_in_two_wins_and_nearly_all_do_two_above_it(n):
    """The rule is about the middle: the score of a match, |q|² / √d, varies by √2."""
    share = {}
    for above in (0, 2):
        d = round((np.log(n) + 0.5 + above) ** 2)
        own = []
        for seed in range(8):
            key = np.random.default_rng(seed).standard_normal((512 // min(n, 256), n, d))
            scores = key[:, :128] @ key.mT / np.sqrt(d)
            assert abs(scores.diagonal(axis1=-2, axis2=-1).std() - np.sqrt(2)) < 0.4
            own.append(softmax(scores).diagonal(axis1=-2, axis2=-1))
        share[above] = np.mean(np.array(own) > 0.5)
    assert 0.4 < share[0] < 0.6
    assert share[2] > 0.9


@pytest.mark.parametrize(("d", "share"), [(16, 2 / 3), (64, 0.9)])
def test_without_the_factor_one_key_usually_gets_most_of_the_weight_and_not_always(d, share):
    for seed in range(8):
        query, key = np.random.default_rng(seed).standard_normal((2, 16, 32, d))
        raw = query @ key.mT
        assert abs((softmax(raw).max(axis=-1) > 0.5).mean() - share) < 0.07
        assert (softmax(raw / np.sqrt(d)).max(axis=-1) > 0.5).mean() < 0.02  # the control
        assert np.isclose((raw - raw.mean(axis=-1, keepdims=True)).std(), np.sqrt(d), rtol=0.1)


def test_a_power_between_the_root_and_d_passes_with_many_features_too():
    """So the experiment alone does not single out the root."""
    for d, passes in ((1024, True), (16, False)):
        query, key = np.random.default_rng(8).standard_normal((2, 16, 32, d))
        scale = d ** (-2 / 3)
        match, chance = softmax(scale * key @ key.mT).diagonal(axis1=-2, axis2=-1), softmax(scale * query @ key.mT).max(axis=-1)
        assert bool(match.mean() > 0.95) is passes
        assert chance.mean() < 0.2


def test_how_many_features_a_match_needs_depends_on_the_number_of_keys():
    """The control of the rule: no number of features is enough for every number of keys."""
    few, many = (np.array([weight_of_a_match(n, 32, seed) for seed in range(8, 16)]) for n in (32, 2048))
    assert (few > 0.75).all() and (many < 0.2).all()


@pytest.mark.parametrize("n", [32, 256])
def test_a_key_with_a_cosine_of_a_half_needs_four_times_as_many_features(n):
    d = 4 * round((np.log(n) + 0.5) ** 2)
    half, full = (np.array([weight_of_a_match(n, d, seed, cosine) for seed in range(8, 16)]) for cosine in (0.5, 1.0))
    assert (abs(half - 0.5) < 0.1).all() and (full > 0.95).all()


@pytest.mark.parametrize("d", [16, 64, 1024])
def test_without_the_factor_a_match_wins_too(d):
    runs = np.array([(weight_of_a_match(32, d, seed, scale=1.0), weight_of_a_match(32, d, seed)) for seed in range(8, 16)])
    assert (runs[:, 0] > 0.9).all() and (runs[:, 0] >= runs[:, 1]).all()


@pytest.mark.parametrize(("n", "reach"), [(32, 2.1), (512, 3.1), (8192, 3.8)])
def test_how_far_the_best_unrelated_score_reaches(n, reach):
    for seed in range(8):
        rng = np.random.default_rng(seed)
        best = (rng.standard_normal((64, 64)) @ rng.standard_normal((n, 64)).T / 8).max(axis=1)
        assert abs(best.mean() - reach) < 0.15


@pytest.mark.parametrize(("related", "spread"), [(0.0, 1.0), (0.1, 1.28), (0.5, 4.1)])
def test_the_spread_stays_at_one_for_independent_features_only(related, spread):
    """Queries and keys whose 64 features have mean 0 and variance 1, and share a part."""
    assert abs(np.sqrt(1 + 63 * related**2) - spread) < 0.01
    rng = np.random.default_rng(0)
    query, key = (np.sqrt(1 - related) * rng.standard_normal((4000, 64)) + np.sqrt(related) * rng.standard_normal((4000, 1)) for _ in range(2))
    assert np.isclose((query * key).sum(axis=1).std() / 8, spread, rtol=0.1)


@pytest.mark.parametrize("rule", [1.0, 0.5, 1 / 3])
def test_what_all_tokens_share_does_not_spread_the_scores_of_a_row(rule):
    m, d, shared = 512, 64, 0.5
    found = []
    for seed in STARTS:
        rng = np.random.default_rng(seed)
        own, common = rng.standard_normal((64, m)), rng.standard_normal(m)
        w_query, w_key = rng.uniform(-1, 1, size=(2, m, d)) * np.sqrt(3 * rule / m)
        tokens = np.sqrt(1 - shared) * own + np.sqrt(shared) * common
        scores = (tokens @ w_query) @ (tokens @ w_key).T / np.sqrt(d)
        without = (tokens @ w_query) @ (np.sqrt(1 - shared) * own @ w_key).T / np.sqrt(d)
        assert np.allclose(softmax(scores), softmax(without))  # the shared part of the keys shifts the row
        found.append(scores.std(axis=1).mean())
    assert abs(np.mean(found) / (rule * np.sqrt(1 - shared)) - 1) < 0.05
    assert (np.array(found) < 0.85 * rule).all()


def test_a_longer_query_chooses_more_sharply_and_a_shorter_one_less():
    raw = np.array([2.0, 1, 0, 0, 0, 0, 0, 0]) / np.sqrt(2)  # it, with one feature of the query being 1
    cat = [softmax(length * raw)[0] for length in (1, 2, 4)]
    assert np.allclose(cat, [0.34, 0.63, 0.93], atol=0.005)
    assert np.allclose(softmax(2 * raw), softmax(raw / 0.5))  # half the temperature


def test_what_the_projections_cost_beside_attention():
    n, m, d = 1000, 512, 64
    assert round(4 * n * m * d / 1e6) == 131 and round(2 * n**2 * d / 1e6) == 128
    assert all((2 * n**2 * d > 4 * n * m * d) == (n > 2 * m) for n in (1000, 1024, 1025))
