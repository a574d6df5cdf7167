"""What chapter 1 says of its experiments, with other starts, sizes and rates, beside the controls that should fail."""

from pathlib import Path

import nbformat
import numpy as np
import pytest

from attnlib.gradients import numerical_gradient
from attnlib.softmax import log_softmax, logsumexp, softmax, softmax_backward

CHAPTER = Path(__file__).resolve().parents[2] / "chapters/01_softmax.ipynb"
SEEDS = range(8, 24)  # the page itself shows the seeds 0 to 7


@pytest.fixture(scope="module")
def page():
    """The names that the cells with experiments define; the reader's own functions are the book's here."""
    cells = {cell["id"]: cell.source for cell in nbformat.read(CHAPTER, as_version=4).cells}
    names = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("attnpage.plotting.setup", lambda: None)
        exec(cells["imports"], names)
        names |= {"my_softmax": softmax, "my_backward": softmax_backward, "my_step": step, "table": lambda *_, **__: None}
        for id in ("divide", "loops"):
            exec(cells[id], names)
        exec(cells["thresholds"].partition("\nkinds")[0], names)
        names |= {"saturated": np.array([12.0, 1.0, 0.1]), "y": np.array([0.0, 1.0, 0.0])}
        exec(cells["sure-table"].partition("\nsure")[0], names)
        exec(cells["sure-figure"].partition("\nfig, ax")[0], names)
        exec(cells["train"].partition("\n")[2], names)  # the first line asks for the reader's own step
        exec(cells["write"].partition("\nfor T")[0], names)
        exec(cells["saturation-figure"].partition("\nspreads")[0], names)
    return names


def step(scores, now, following, rate):
    gradient = np.zeros_like(scores)
    np.add.at(gradient, now, softmax(scores[now]) - np.eye(len(scores))[following])
    return scores - rate * gradient / len(now)


def trained(page, step, rate, steps=500, start=None):
    """The table and all losses, computed without a weight."""
    now, following = page["now"], page["following"]
    scores, losses = np.zeros((len(page["letters"]),) * 2) if start is None else start, []
    for _ in range(steps):
        losses.append((logsumexp(scores)[now] - scores[now, following]).mean())
        scores = step(scores, now, following, rate)
    return scores, np.array(losses)


def counts_of(page):
    counts = np.zeros((len(page["letters"]),) * 2)
    np.add.at(counts, (page["now"], page["following"]), 1)
    return counts


# Floating point


def test_bfloat16_is_that_of_another_library(page):
    ml_dtypes = pytest.importorskip("ml_dtypes")
    x = np.random.default_rng(0).normal(size=1000) * np.geomspace(1e-30, 1e30, 1000)
    np.testing.assert_array_equal(page["bfloat16"](x), x.astype(np.float32).astype(ml_dtypes.bfloat16).astype(np.float32))


def test_1000_1001_1002_are_one_number_in_bfloat16_only(page):
    scores = np.array([1000.0, 1001.0, 1002.0])
    assert len(np.unique(page["bfloat16"](scores))) == 1
    assert len(np.unique(scores.astype(np.float16))) == 3


def test_a_gap_of_746_and_a_shift_by_ten_to_the_sixteenth():
    assert softmax(np.array([0.0, -746.0]))[1] == 0 < softmax(np.array([0.0, -745.0]))[1]
    np.testing.assert_array_equal(np.array([0.0, 1.0, 2.0]) + 1e16 - 1e16, [0, 0, 2])


def test_the_denominator_of_70_000_equal_scores_is_too_large_for_float16():
    """No exponential overflows, their sum does; 65 504 of them are still right, and so is the library."""
    naive = lambda x: (e := np.exp(x - x.max())) / e.sum()
    scores = np.full(70_000, 3, np.float16)
    with np.errstate(over="ignore"):
        assert np.isinf(np.float16(70_000)) and np.all(naive(scores) == 0)
    assert np.finfo(np.float16).max == 65_504 and np.all(naive(scores[:65_504]) > 0)
    assert np.all(softmax(scores) == np.float16(1 / 70_000)) and softmax(scores)[0] > 0


def test_the_logarithm_of_a_weight_is_lost_and_the_loss_from_the_scores_is_not():
    scores = np.array([2000.0, 0.0])
    with np.errstate(divide="ignore"):
        assert np.isinf(np.log(softmax(scores))[1])
    assert logsumexp(scores) - scores[1] == 2000 == -log_softmax(scores)[1]


# Checks that have to fail


def relative_error(formula, seed):
    """Against finite differences, for the loss sum(p * g) with a random g."""
    x, g = np.random.default_rng(seed).standard_normal((2, 4, 4))
    slopes = numerical_gradient(lambda x: np.sum(softmax(x) * g), x)
    return np.linalg.norm(formula(g, softmax(x)) - slopes) / np.linalg.norm(slopes)


WRONG = {
    "diagonal alone": lambda g, p: p * (1 - p) * g,
    "turned column": lambda g, p: p * (g - (p * g).sum(axis=-1)),
    "double": lambda g, p: 2 * softmax_backward(g, p),
}


@pytest.mark.parametrize("seed", SEEDS)
def test_which_consequence_each_wrong_formula_breaks(seed):
    x, g = np.random.default_rng(seed).standard_normal((2, 4, 4))
    p, own = softmax(x), np.arange(4)[:, np.newaxis]
    found = {}
    for name, formula in {"right": softmax_backward, **WRONG}.items():
        d = formula(g, p)
        moved = [formula(g + constant, p) - d for constant in (own, 1)]
        found[name] = [np.abs(each).max() for each in (d.sum(axis=-1), *moved, formula(np.ones((4, 4)), p))]
    assert max(found["right"]) < 1e-12 and max(found["double"]) < 1e-12, "both consequences let the double pass"
    assert min(found["diagonal alone"]) > 0.04
    row_sum, each_row, everywhere, ones = found["turned column"]
    assert min(row_sum, each_row) > 0.04 and max(everywhere, ones) < 1e-12
    assert relative_error(softmax_backward, seed) < 1e-7 and relative_error(WRONG["double"], seed) > 0.99
    y = np.eye(4)
    assert np.abs(2 * softmax_backward(-y / p, p) - (p - y)).max() > 0.1, "the known answer p - y notices the double, too"


def test_the_turned_column_does_not_run_on_three_by_five():
    weights = softmax(np.zeros((3, 5)))
    with pytest.raises(ValueError, match="broadcast"):
        WRONG["turned column"](weights, weights)


# Saturated, and wrong


@pytest.mark.parametrize("seed", SEEDS)
def test_cross_entropy_cancels_the_small_weight(page, seed):
    x = np.random.default_rng(seed).normal(size=5)
    x[0] += 12
    weights, right = softmax(x), np.eye(5)[np.random.default_rng(seed).integers(1, 5)]
    np.testing.assert_allclose(softmax_backward(-right / weights, weights), weights - right, atol=1e-10)
    assert np.linalg.norm(weights - right) > 1.4, "nearly the square root of 2, the largest length of p - y"
    for ordinary in (-right, 2 * (weights - right)):
        assert np.linalg.norm(softmax_backward(ordinary, weights)) < 1e-3, "the control: the gradient stays small"


@pytest.mark.parametrize("rate", [0.5, 1.0, 3.0])
def test_cross_entropy_needs_far_fewer_steps_at_every_rate(page, rate):
    upstreams, start = page["upstreams"], np.array([9.0, 1.0, 0.1])  # lower than on the page, for the sake of time
    steps = {name: page["steps_until_right"](lambda p, f=f: rate * f(p), start) for name, f in upstreams.items()}
    linear, squared, crossed = steps.values()
    assert crossed * 20 < squared < linear


@pytest.mark.parametrize("name", ["1 − weight of sofa", "squared error"])
def test_each_unit_of_lead_makes_the_way_e_times_as_long(page, name):
    steps = np.array([page["steps_for"](lead, name, 1) for lead in (6, 7, 8, 9)])
    ratios = steps[1:] / steps[:-1]
    assert 2.5 < ratios.min() and ratios.max() < 2.9, ratios


def test_cross_entropy_needs_half_a_step_more_for_a_unit_of_lead(page):
    steps = [page["steps_for"](lead, "cross-entropy", 1) for lead in range(2, 21, 2)]
    assert steps == list(range(2, 12))


@pytest.mark.parametrize("rate", [100, 3_000, 60_000])
def test_a_larger_rate_only_moves_the_line(page, rate):
    """It needs as many steps, but for a few, as rate 1 does for a lead that is shorter by the logarithm of the rate."""
    name = "1 − weight of sofa"
    for lead in (6, 7, 8):
        assert 0.9 < page["steps_for"](lead + np.log(rate), name, rate) / page["steps_for"](lead, name, 1) < 1.02
    assert page["steps_for"](8, "cross-entropy", rate) <= page["steps_for"](8, "cross-entropy", 1), "it harms cross-entropy nowhere here"


def steps_of_adam(upstream, lead, rate):
    x, first, second = np.array([1.0 + lead, 1.0, 0.1]), np.zeros(3), np.zeros(3)
    for step_number in range(1, 1000):
        weights = softmax(x)
        slope = softmax_backward(upstream(weights), weights)
        first, second = 0.9 * first + 0.1 * slope, 0.99 * second + 0.01 * slope**2
        x = x - rate * (first / (1 - 0.9**step_number)) / (np.sqrt(second / (1 - 0.99**step_number)) + 1e-8)
        if x.argmax() == 1:
            return step_number


@pytest.mark.parametrize("rate", [0.03, 0.1, 0.3, 1.0])
def test_adam_hides_the_difference_between_the_losses(page, rate):
    for lead in (8, 11, 15):
        steps = [steps_of_adam(upstream, lead, rate) for upstream in page["upstreams"].values()]
        assert max(steps) < 2 * min(steps), (lead, steps)
    crossed, linear = (page["steps_for"](8, name, 1) for name in ("cross-entropy", "1 − weight of sofa"))
    assert linear > 100 * crossed, "the control: plain descent does not hide it"


def test_a_rate_of_60_000_wins_until_the_lead_is_large(page):
    fast, usual = ([page["steps_for"](lead, name, rate) for lead in range(2, 19)] for name, rate in (("1 − weight of sofa", 60_000), ("cross-entropy", 1)))
    assert [a < b for a, b in zip(fast, usual, strict=True)] == [lead < 14 for lead in range(2, 19)]


def test_the_slope_of_the_weights_becomes_infinite_before_the_weight_is_zero(page):
    assert [page["breaks"](kind) for kind in (np.float16, np.float32, np.float64)] == [12, 89, 710]
    for kind, lead in ((np.float16, 12), (np.float32, 89), (np.float64, 710)):
        exponentials = np.exp(np.array([0, -lead, -lead - 0.9], kind))
        weights = exponentials / exponentials.sum()
        assert weights[1] > 0 and np.isfinite(weights - np.array([0, 1, 0], kind)).all(), "p - y is finite there"


@pytest.mark.parametrize("seed", SEEDS)
def test_no_table_beats_the_frequencies(seed):
    draw = np.random.default_rng(seed)
    f, p = draw.dirichlet(np.ones(5)), draw.dirichlet(np.ones(7))[:5]  # p gives something to letters that never follow
    gap, bound = (f * np.log(f / p)).sum(), (f - p).sum()
    assert gap >= bound >= 0


def test_a_step_that_is_too_long_does_not_arrive(page):
    short, long = (trained(page, step, rate)[1][-1] for rate in (4.0, 200.0))
    assert short < 0.76 and long > 1


def test_the_loss_curves_upwards_along_every_direction():
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        weights, v = softmax(4 * rng.normal(size=6)), rng.normal(size=(100, 6))
        J = np.diag(weights) - np.outer(weights, weights)
        variance = v**2 @ weights - (v @ weights) ** 2
        np.testing.assert_allclose(np.einsum("ni,ij,nj->n", v, J, v), variance, atol=1e-12)
        assert variance.min() >= 0


# The model that writes


@pytest.mark.parametrize("rate", [0.1, 4.0])
def test_the_right_step_never_raises_the_loss(page, rate):
    assert np.all(np.diff(trained(page, step, rate)[1]) < 1e-12)


@pytest.mark.parametrize("seed", SEEDS[:8])
def test_other_starts_end_at_the_same_loss(page, seed):
    start = np.random.default_rng(seed).normal(size=(len(page["letters"]),) * 2)
    losses = trained(page, step, 4.0, start=start)[1]
    counts = counts_of(page)
    best = -np.log(counts[page["now"], page["following"]] / counts[page["now"]].sum(axis=-1)).mean()
    assert best < losses[-1] < best + 0.02
    assert np.all(losses > best)


def test_the_gradient_of_the_table_vanishes_at_the_frequencies_alone(page):
    counts = counts_of(page)
    with np.errstate(divide="ignore"):
        best = np.log(counts / counts.sum(axis=-1, keepdims=True))
    assert np.isneginf(best).any(axis=-1).all(), "every row has a pair that never occurs: the lowest point is infinitely far away"
    now, following = page["now"], page["following"]
    np.testing.assert_allclose(step(np.maximum(best, -800), now, following, 1.0), np.maximum(best, -800), atol=1e-15)
    for steps in (100, 500):
        learned, _ = trained(page, step, 4.0, steps)
        moved = learned - step(learned, now, following, 1.0)
        share = counts.sum(axis=-1, keepdims=True) / counts.sum()
        np.testing.assert_allclose(moved, share * (softmax(learned) - counts / counts.sum(axis=-1, keepdims=True)), atol=1e-15)
    above = [trained(page, step, 4.0, steps)[1][-1] + (counts[counts > 0] * best[counts > 0]).sum() / counts.sum() for steps in (500, 1500)]
    assert above[0] > 2 * above[1] > 0, "and the loss falls on"


def test_a_hotter_model_writes_pairs_that_are_foreign_to_the_text(page):
    """In every row they have the less weight, the colder it is; the page names one of the pairs that it writes at T = 3."""
    learned, foreign = trained(page, step, 4.0)[0], counts_of(page) == 0
    cold, usual, hot = ((softmax(learned / T) * foreign).sum(axis=-1) for T in (0.2, 1.0, 3.0))
    assert np.all(cold < usual) and np.all(usual < hot) and cold.max() < 1e-6 and usual.max() < 0.02 and hot.min() > 0.1
    page["learned"] = learned
    now_and_then = [page["write"](T, 48, seed=0) for T in (0.2, 3.0)]
    assert not foreign[now_and_then[0][:-1], now_and_then[0][1:]].any()
    assert "tt" in "".join(page["letters"][n] for n in now_and_then[1]) and "tt" not in page["text"]


# Saturation


def mean_lengths(page, candidates, spreads, seeds=SEEDS):
    return np.array([[page["lengths_of_gradients"](s, seed, candidates)[0].mean() for s in spreads] for seed in seeds])


@pytest.mark.thorough
@pytest.mark.parametrize("candidates", [2])
def test_with_few_scores_the_gradient_only_gets_shorter(page, candidates):
    lengths = mean_lengths(page, candidates, (0.1, 0.5, 1, 2, 3, 5, 10, 30)).mean(axis=0)
    assert np.all(np.diff(lengths) < 0.005 * lengths[0])


@pytest.mark.thorough
@pytest.mark.parametrize("candidates, least, most", [(32, 0.5, 0.8)])
def test_with_many_it_rises_first(page, candidates, least, most):
    lengths = mean_lengths(page, candidates, (0.1, 1, 1.5, 2, 3)).mean(axis=0)
    assert least < lengths.max() / lengths[0] - 1 < most


@pytest.mark.thorough
@pytest.mark.parametrize("candidates", [8, 32, 128])
def test_the_typical_row_has_decided_and_open_rows_carry_most_of_the_length(page, candidates):
    for seed in SEEDS[:8]:
        length, is_open = page["lengths_of_gradients"](30, seed, candidates)
        assert np.median(length) < 0.02 * length.mean()
        assert is_open.mean() < 0.25 and length[is_open].sum() > 0.7 * length.sum()


def test_with_a_single_upstream_gradient_it_only_gets_shorter(page):
    lengths = np.array([[page["lengths_of_gradients"](s, seed, 32, True)[0].mean() for s in (0.1, 1, 2.1, 5, 10, 30)] for seed in SEEDS[:8]])
    assert np.all(np.diff(lengths.mean(axis=0)) < 0), lengths
    assert np.all(lengths.max(axis=1) < 1.05 * lengths[:, 0]), "no seed rises"


@pytest.mark.parametrize("spread", [2, 5, 10, 20, 30])
def test_an_open_row_keeps_its_length(page, spread):
    lengths = [length[is_open].mean() for length, is_open in (page["lengths_of_gradients"](spread, seed) for seed in SEEDS)]
    assert 0.24 < min(lengths) and max(lengths) < 0.36, lengths
    narrow, is_open = page["lengths_of_gradients"](0.1, SEEDS[0])
    assert narrow[is_open].mean() < 0.2, "not for nearly equal weights"


@pytest.mark.thorough
def test_the_mean_falls_like_one_over_the_spread(page):
    spreads = np.array([30, 100, 300, 1000])
    products = spreads * mean_lengths(page, 32, spreads).mean(axis=0)
    assert products.max() / products.min() < 1.25, products
    opened = [np.mean([page["lengths_of_gradients"](s, seed)[1].mean() for seed in SEEDS]) for s in spreads] * spreads
    assert opened.max() / opened.min() < 1.25, opened
