"""What the prerequisites claim outside their boxes, each beside the mistake or the case that would refute it."""

import itertools

import numpy as np
import pytest

from attnlib.gradients import numerical_gradient

SEEDS = range(16)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_nearest_of_equally_long_vectors_has_the_largest_dot_product(seed):
    rng = np.random.default_rng(seed)
    a, others = rng.normal(size=3), rng.normal(size=(50, 3))
    others /= np.linalg.norm(others, axis=1, keepdims=True)
    assert np.argmax(others @ a) == np.argmin(np.linalg.norm(others - a, axis=1))
    cosines = others @ a / np.linalg.norm(a)
    np.testing.assert_allclose(others @ a, np.linalg.norm(a) * np.cos(np.arccos(cosines)), rtol=1e-9)


def test_it_need_not_have_it_if_lengths_differ():
    missed = 0
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        a, others = rng.normal(size=3), rng.normal(size=(50, 3))
        missed += np.argmax(others @ a) != np.argmin(np.linalg.norm(others - a, axis=1))
    assert missed >= len(SEEDS) / 2


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("n, m, d", [(4, 4, 4), (2, 3, 5), (1, 6, 2)])
def test_the_gradients_of_a_product_fit_and_those_without_a_transpose_do_not(seed, n, m, d):
    rng = np.random.default_rng(seed)
    x, weight, d_out = rng.normal(size=(n, m)), rng.normal(size=(m, d)), rng.normal(size=(n, d))
    d_x = numerical_gradient(lambda x: (d_out * (x @ weight)).sum(), x)
    d_weight = numerical_gradient(lambda weight: (d_out * (x @ weight)).sum(), weight)
    np.testing.assert_allclose(d_out @ weight.mT, d_x, atol=1e-7)
    np.testing.assert_allclose(x.mT @ d_out, d_weight, atol=1e-7)
    if n == m == d:
        assert abs(d_out @ weight - d_x).max() > 0.1
        assert abs(x @ d_out - d_weight).max() > 0.1


def bent(u, v):
    return u**2 * v / (u**2 + v**2) if u or v else 0.0


def test_the_path_rule_needs_continuous_partial_derivatives():
    h = 1e-6
    assert bent(h, 0) == bent(-h, 0) == bent(0, h) == bent(0, -h) == 0  # so both partial derivatives at the origin are 0
    assert (bent(h, h) - bent(-h, -h)) / (2 * h) == pytest.approx(0.5)
    along = [(bent(t + h * t, t) - bent(t - h * t, t)) / (2 * h * t) for t in (1e-1, 1e-3)]
    np.testing.assert_allclose(along, 0.5, rtol=1e-6)  # the slope does not go to 0 with t: it is not continuous


def test_a_product_needs_independence_a_sum_does_not():
    x, y = np.array([(1, 0), (-1, 0), (0, 1), (0, -1)], dtype=float).T
    assert (x * y).mean() == x.mean() * y.mean() == 0
    assert (x + y).var() == x.var() + y.var() == 1
    assert (x * y).var() == 0 and x.var() * y.var() == 0.25


@pytest.mark.parametrize("d", [4, 64])
def test_dot_products_spread_like_the_root_of_d_whatever_the_distribution(d):
    for seed in range(8):
        rng = np.random.default_rng(seed)
        for draw in (rng.normal, lambda size: rng.uniform(-1, 1, size), lambda size: rng.exponential(size=size) - 1):
            a, b = draw(size=(2, 4000, d))
            expected = np.sqrt(d) * a.std() * b.std()
            assert (a * b).sum(axis=1).std() == pytest.approx(expected, rel=0.12)
            assert abs((a * a).sum(axis=1).mean()) > 1.5 * expected  # a vector with itself does not average to 0


def test_the_jacobian_of_a_product_has_equal_blocks_and_zeros():
    rng = np.random.default_rng(0)
    weight = rng.normal(size=(5, 5))
    columns = [(one.reshape(8, 5) @ weight).ravel() for one in np.eye(40)]  # arrays as one long row
    np.testing.assert_array_equal(np.transpose(columns), np.kron(np.eye(8), weight.mT))  # a block for each row: the transpose
    assert not np.array_equal(np.transpose(columns), np.kron(np.eye(8), weight))
    jacobian = np.einsum("ia,bj->ijab", np.eye(8), weight)
    assert np.count_nonzero(jacobian) * 8 == jacobian.size  # one part in n, the number of rows
    assert 8 * (1024 * 512) ** 2 == pytest.approx(2.2e12, rel=0.01)


def test_the_cheap_order_is_that_of_a_single_row():
    def from_the_left(rows):
        return rows * 300 * 400 + rows * 400 * 500

    def matrices_first(rows):
        return 300 * 400 * 500 + rows * 300 * 500

    assert (from_the_left(1), matrices_first(1)) == (320_000, 60_150_000)
    assert from_the_left(1000) > matrices_first(1000)  # many rows: the other order wins


@pytest.mark.parametrize("d", [2, 16])
def test_the_variance_of_a_dot_product_needs_mean_0(d):
    for seed in range(8):
        a, b = np.random.default_rng(seed).normal(size=(2, 20_000, d))
        assert (3 * a * 2 * b).sum(axis=1).var() == pytest.approx(36 * d, rel=0.08)  # each factor of the box counts
        assert ((a + 1) * (b + 1)).sum(axis=1).var() == pytest.approx(3 * d, rel=0.08)  # with mean 1, three times the box


@pytest.mark.parametrize("d", [4, 16])
def test_a_vector_with_itself_can_spread_less_or_more_than_the_box_says(d):
    for seed in range(8):
        rng = np.random.default_rng(seed)
        signs, normal = rng.choice([-1.0, 1.0], size=(40_000, d)), rng.normal(size=(40_000, d))
        few = rng.choice([-2.0, -1.0, 1.0, 2.0], size=(40_000, d))
        assert (signs**2).sum(axis=1).var() == 0  # always d
        assert (few**2).sum(axis=1).var() < 0.5 * d * 2.5**2
        assert (normal**2).sum(axis=1).var() == pytest.approx(2 * d, rel=0.08)
        assert (normal**2).sum(axis=1).mean() == pytest.approx(d, rel=0.05)


@pytest.mark.parametrize("d", [4, 16])
def test_the_variance_of_a_dot_product_needs_independent_features_within_a_vector(d):
    for seed in range(8):
        rng = np.random.default_rng(seed)
        equal_a, equal_b = rng.normal(size=(2, 40_000, 1)) * np.ones(d)
        free = rng.normal(size=(40_000, d))
        assert (equal_a * equal_b).sum(axis=1).var() == pytest.approx(d**2, rel=0.15)  # d times the box, in vectors independent of each other
        assert (equal_a * free).sum(axis=1).var() == pytest.approx(d, rel=0.12)  # one free vector suffices


def equal_products(d):
    """All outcomes of d + 1 coins: a, and a vector b for which all products of features are that of number 0."""
    coins = np.array(list(itertools.product((-1, 1), repeat=d + 1)))
    a, first = coins[:, :d], coins[:, d:]
    return a, a * a[:, :1] * first


def outcomes(*features):
    """How often each combination of values occurs."""
    return sorted(np.unique(np.stack(features), axis=1, return_counts=True)[1].tolist())


@pytest.mark.parametrize("d", [2, 3, 4])
def test_independence_of_every_two_features_does_not_do(d):
    a, b = equal_products(d)
    features = [*a.T, *b.T]
    assert all(feature.mean() == 0 and feature.var() == 1 for feature in features)
    for count in (2, 3):
        for some in itertools.combinations(features, count):
            assert outcomes(*some) == [2 ** (d + 1 - count)] * 2**count  # each combination of values, equally often
    assert (a * b == (a * b)[:, :1]).all()
    assert (a * b).sum(axis=1).var() == d**2 != d
    free = np.array(list(itertools.product((-1, 1), repeat=2 * d)))  # the control: independent all together
    assert (free[:, :d] * free[:, d:]).sum(axis=1).var() == d


@pytest.mark.parametrize("d", [2, 3])
def test_all_but_one_of_the_features_tell_that_one(d):
    """The definition of independence refuses what the one for two numbers lets pass."""
    features = [column for vectors in equal_products(d) for column in vectors.T]
    rest = np.stack(features[:-1], axis=1)
    for known in np.unique(rest, axis=0):
        assert len(set(features[-1][(rest == known).all(axis=1)])) == 1


@pytest.mark.parametrize("seed", range(8))
def test_a_dot_product_mixes_lengths_and_angle(seed):
    a, b = np.random.default_rng(seed).normal(size=(2, 5))
    assert a @ (2 * b) == pytest.approx(2 * (a @ b))
    cosine = (a @ a + b @ b - (a - b) @ (a - b)) / 2 / np.linalg.norm(a) / np.linalg.norm(b)  # the law of cosines
    assert np.sign(a @ b) == np.sign(np.pi / 2 - np.arccos(cosine))


@pytest.mark.parametrize("seed", range(8))
def test_the_three_small_steps(seed):
    rng = np.random.default_rng(seed)
    x, g = rng.normal(size=(2, 6))
    np.testing.assert_allclose(np.exp(x) * g, numerical_gradient(lambda x: g @ np.exp(x), x), atol=1e-7)
    np.testing.assert_allclose(np.full(6, g[0]), numerical_gradient(lambda x: g[0] * x.sum(), x), atol=1e-7)
    np.testing.assert_allclose(g.sum(), numerical_gradient(lambda c: g @ (x + c), np.array(0.3)), atol=1e-7)
