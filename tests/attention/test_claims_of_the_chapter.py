"""What chapter 2 says about random numbers, with more starts and other sizes than fit into a cell, and what would refute it."""

import numpy as np
import pytest

from attnlib.softmax import softmax, softmax_backward

STARTS = range(16)


def at_the_scores(n, d, seed, batch, draw="standard_normal", middle=np.median):
    """The median (or mean) length of a query's gradient of the scores, without the factor and with it."""
    rng = np.random.default_rng(seed)
    query, key = rng.standard_normal((2, batch, n, d))
    if draw == "signs":
        query, key = np.sign(query), np.sign(key)
    value, d_out = rng.standard_normal((2, batch, n, 16))
    weights = [softmax(scale * query @ key.mT) for scale in (1, d**-0.5)]
    return [middle(np.linalg.norm(softmax_backward(d_out @ value.mT, P), axis=-1)) for P in weights]


@pytest.mark.parametrize("draw", ["standard_normal", "signs"])
def test_without_the_factor_the_typical_gradient_at_the_scores_collapses_with_few_keys_of_many_features(draw):
    without, scaled = np.transpose([at_the_scores(32, 1024, seed, 32, draw) for seed in range(8, 16)])
    assert (without < scaled / 1000).all()
    narrow = np.array([at_the_scores(32, 64, seed, 16, draw) for seed in range(8, 16)])
    assert (narrow[:, 0] > scaled / 4).all()  # the control: with few features it does not
    assert np.allclose(scaled, 0.85, atol=0.06) and np.allclose(narrow[:, 1], 0.85, atol=0.06)  # with the factor, d does not matter


def test_the_mean_gradient_of_the_scores_falls_far_less_than_the_median_because_a_few_queries_keep_large_ones():
    both = np.array([at_the_scores(32, 1024, seed, 32, middle=lambda length: (length.mean(), np.quantile(length, 0.95))) for seed in range(8, 16)])
    fall = both[:, 1, 0] / both[:, 0, 0]
    assert (3 < fall).all() and (fall < 6.5).all()
    assert (both[:, 0, 1] > 0.9).all()  # one query in twenty has a longer gradient than the median query has with the factor


def test_with_512_keys_of_64_features_the_typical_gradient_is_twice_as_long_without_the_factor():
    without, scaled = np.transpose([at_the_scores(512, 64, seed, 1) for seed in STARTS])
    assert (1.7 < without / scaled).all() and (without / scaled < 2.6).all()


def by_chance_and_by_match(d, scale, seed):
    """The largest weights of 512 queries on 32 unrelated keys, and the weights of keys that equal the query; both drawn anew."""
    query, key = np.random.default_rng(seed).standard_normal((2, 16, 32, d))
    return softmax(scale * query @ key.mT).max(axis=-1), softmax(scale * key @ key.mT).diagonal(axis1=-2, axis2=-1)


def test_a_typical_query_gives_one_of_32_unrelated_keys_nine_tenths_without_the_factor():
    for seed in STARTS:
        assert 0.83 < np.median(by_chance_and_by_match(64, 1, seed)[0]) < 0.94
        assert 0.12 < np.median(by_chance_and_by_match(64, 1 / 8, seed)[0]) < 0.17


def test_the_mean_is_lower_because_in_about_one_query_of_ten_no_key_gets_half():
    for seed in STARTS:
        largest = by_chance_and_by_match(64, 1, seed)[0]
        assert 0.78 < largest.mean() < 0.85 and 0.05 < (largest < 0.5).mean() < 0.14


@pytest.mark.parametrize("d", [64, 1024])
def test_the_root_lets_a_match_win_and_chance_not_and_neither_other_divisor_does_both(d):
    for seed in range(8, 16):
        (none, none_match), (root, root_match), (_, d_match) = (
            [found.mean() for found in by_chance_and_by_match(d, scale, seed)] for scale in (1, d**-0.5, 1 / d))
        assert none > 0.75 and none_match > 0.99
        assert 0.14 < root < 0.18 and root_match > 0.95
        assert 0.07 < d_match < 0.1


def test_with_few_features_a_match_does_not_win():
    """The control: below 64 features the root is not enough."""
    for seed in range(8, 16):
        assert by_chance_and_by_match(16, 1 / 4, seed)[1].mean() < 0.6
        chance, match = by_chance_and_by_match(4, 1 / 2, seed)
        assert match.mean() < 1.4 * chance.mean()


@pytest.mark.parametrize(("keys", "low", "high"), [(32, 0.95, 0.98), (1024, 0.56, 0.64), (4096, 0.3, 0.37)])
def test_among_more_keys_of_64_features_a_match_gets_less(keys, low, high):
    for seed in range(8):
        key = np.random.default_rng(seed).standard_normal((keys, 64))
        few = min(keys, 128)
        assert low < softmax(key[:few] @ key.T / 8).diagonal().mean() < high


def test_the_figure_does_not_single_out_the_root():
    """Another power passes it as well; the spread of the scores does single out the root."""
    for seed in range(8):
        chance, match = by_chance_and_by_match(256, 256**-0.6, seed)
        assert chance.mean() < 0.1 and match.mean() > 0.98
        query, key = np.random.default_rng(seed).standard_normal((2, 4000, 256))
        assert abs((query * key).sum(axis=1).std() / 256**0.6 - 1) > 0.3


def test_the_best_of_32_unrelated_scores_is_about_two_spreads():
    for seed in range(8):
        query, key = np.random.default_rng(seed).standard_normal((2, 16, 32, 64))
        assert abs((query @ key.mT / 8).max(axis=-1).mean() - 2) < 0.2


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


@pytest.mark.parametrize(("related", "spread"), [(0.0, 1.0), (0.1, 1.28), (0.5, 4.1)])
def test_the_spread_stays_at_one_for_independent_features_only(related, spread):
    """Queries and keys whose 64 features have mean 0 and variance 1, and share a part."""
    assert abs(np.sqrt(1 + 63 * related**2) - spread) < 0.01
    rng = np.random.default_rng(0)
    query, key = (np.sqrt(1 - related) * rng.standard_normal((4000, 64)) + np.sqrt(related) * rng.standard_normal((4000, 1)) for _ in range(2))
    assert np.isclose((query * key).sum(axis=1).std() / 8, spread, rtol=0.1)


def test_a_longer_query_chooses_more_sharply_and_a_shorter_one_less():
    raw = np.array([2.0, 1, 0, 0, 0, 0, 0, 0]) / np.sqrt(2)  # it, with one feature of the query being 1
    cat = [softmax(length * raw)[0] for length in (1, 2, 4)]
    assert np.allclose(cat, [0.34, 0.63, 0.93], atol=0.005)
    assert np.allclose(softmax(2 * raw), softmax(raw / 0.5))  # half the temperature
