"""What chapter 2 says about random numbers, with more starts and other sizes than fit into a cell, and what would refute it."""

import numpy as np
import pytest

from attnlib.attention import attention
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


def shorter_without_the_factor(n, d, seed, middle, lose=True):
    """The length of a query's dQ without the factor, divided by its length with it; or what it is if dQ kept the factor (`lose` False)."""
    rng = np.random.default_rng(seed)
    query, key = rng.standard_normal((2, 1024 // n, n, d))
    value, d_out = rng.standard_normal((2, 1024 // n, n, 16))
    lengths = []
    for scale in (1, d**-0.5):
        d_scores = softmax_backward(d_out @ value.mT, softmax(scale * query @ key.mT))
        lengths.append(middle(np.linalg.norm((scale if lose else d**-0.5) * d_scores @ key, axis=-1)))
    return lengths[0] / lengths[1]


@pytest.mark.parametrize(("n", "d"), [(32, 64), (32, 1024), (512, 64), (512, 1024)])
def test_without_the_factor_the_gradient_of_a_query_is_longer_on_average(n, d):
    for seed in range(8, 16):
        assert shorter_without_the_factor(n, d, seed, np.mean) > 4
    of_most = [shorter_without_the_factor(n, d, seed, np.median) for seed in range(8, 16)]
    assert min(of_most) > 2 if d == 64 else max(of_most) < (0.02 if n == 32 else 1.2)
    # the control: it is the factor on the way to the query that makes it so
    assert shorter_without_the_factor(32, d, 0, np.mean, lose=False) < 1


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


@pytest.mark.parametrize("multiple", [0.5, 1, 2])
def test_every_multiple_of_the_root_keeps_the_spread_and_twice_the_root_passes_the_figure_from_256_features_on(multiple):
    for seed in range(8):
        for d in (16, 256):
            query, key = np.random.default_rng(seed).standard_normal((2, 4000, d))
            assert np.isclose((query * key).sum(axis=1).std() / (multiple * d**0.5), 1 / multiple, rtol=0.06)
    for d, passes in ((64, multiple == 1), (256, multiple > 0.5), (1024, multiple > 0.5)):
        for seed in range(8):
            chance, match = by_chance_and_by_match(d, 1 / (multiple * d**0.5), seed)
            assert (chance.mean() < 0.2 and match.mean() > 0.95) == passes


@pytest.mark.parametrize("d", [4, 64])
def test_the_scores_of_one_query_have_the_spread_of_its_length(d):
    for seed in range(8):
        rng = np.random.default_rng(seed)
        query, key = rng.standard_normal((300, d)), rng.standard_normal((4000, d))
        rows, lengths = (query @ key.T / d**0.5).std(axis=1), np.linalg.norm(query, axis=1) / d**0.5
        assert np.allclose(rows, lengths, rtol=0.08)
        assert not np.allclose(rows, 1, rtol=0.08)  # the control: they do not all have the spread 1


def trained(d, folded, seed, of_query=1.0, steps=40, rate=0.3):
    """The losses of 40 steps of gradient descent on a lookup that can be learned; `folded`: c = 1 and W_Q is divided by the root."""
    rng = np.random.default_rng(seed)
    W_Q, W_K = rng.standard_normal((2, 32, d)) / 32**0.5
    x, wanted = rng.standard_normal((64, 8, 32)), rng.standard_normal((32, 32)) / 32**0.5
    target = np.eye(8)[(x @ wanted @ x.mT).argmax(axis=-1)]
    W_Q, c = (W_Q / d**0.5, 1.0) if folded else (W_Q, d**-0.5)
    losses = []
    for _ in range(steps + 1):
        query, key = x @ W_Q, x @ W_K
        weights = softmax(c * query @ key.mT)
        losses.append(-(target * np.log(weights + 1e-300)).sum(axis=-1).mean())
        d_scores = c * (weights - target) / target[..., 0].size
        d_W_Q, d_W_K = (x.mT @ (d_scores @ key)).sum(axis=0), (x.mT @ (d_scores.mT @ query)).sum(axis=0)
        W_Q, W_K = W_Q - of_query * rate * d_W_Q, W_K - rate * d_W_K
    return np.array(losses)


@pytest.mark.parametrize("d", [16, 64, 256])
def test_the_factor_in_the_matrix_starts_the_same_and_steps_d_times_as_far(d):
    for seed in range(8):
        with_factor, folded = trained(d, False, seed), trained(d, True, seed)
        assert np.isclose(folded[0], with_factor[0], rtol=1e-12)
        assert folded[-1] < with_factor[-1] / 3
        # the control: with a learning rate d times smaller for this matrix nothing is left of the difference
        assert np.allclose(trained(d, True, seed, of_query=1 / d), with_factor, rtol=1e-9)


def test_dog_is_the_same_in_both_sentences_unless_the_tokens_carry_positions():
    for seed in range(8):
        words, places, *weights = np.random.default_rng(seed).standard_normal((5, 4, 4))
        words, places = words[:3], places[:3]
        dog = lambda x, at: attention(*(x @ w for w in weights))[0][at]
        assert np.allclose(dog(words, 0), dog(words[::-1], 2), atol=1e-12)
        assert np.abs(dog(words + places, 0) - dog(words[::-1] + places, 2)).max() > 0.01


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


@pytest.mark.parametrize(("strength", "enough"), [(4.0, True), (2.0, False)])
def test_the_solution_of_set_them_yourself_does_what_is_asked(strength, enough):
    """The nouns ask for a verb with 4, and both verbs answer with 1; the control asks with less."""
    noun, verb = np.zeros((2, 8, 2))
    noun[[0, 3], 0], verb[[1, 6], 0] = strength, 1  # cat sat on mat because it was tired
    weights = attention(noun, verb, verb)[1]
    assert (weights[np.ix_([0, 3], [1, 6])] > 0.4).all() == enough
    assert np.allclose(np.delete(weights, [0, 3], axis=0), 1 / 8)
