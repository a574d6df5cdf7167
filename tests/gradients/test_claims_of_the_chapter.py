"""What chapter 3 says of its experiments holds for more starts, sizes and rates than the page has room for."""

from pathlib import Path

import nbformat
import numpy as np
import pytest

CHAPTER = Path(__file__).resolve().parents[2] / "chapters/03_gradients.ipynb"
CAT, MAT = 0, 3


@pytest.fixture(scope="module")
def page():
    """The names that the experiments of the chapter define, without its figures and tables."""
    cells = {cell["id"]: cell.source for cell in nbformat.read(CHAPTER, as_version=4).cells}
    names = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("attnpage.plotting.setup", lambda: None)
        for id in ("imports", "learn-words", "learn-start", "learn-gradients"):
            exec(cells[id], names)
        later = ("learn-train", "tiny-slopes", "tiny-example", "loops", "loops-check", "candidates-tests", "library-agrees")
        for id in (*later, "candidates-measured", "steps-methods"):
            exec(cells[id], names)
        exec(cells["training-curves"].partition("settings =")[0], names)
    return names


@pytest.fixture(scope="module")
def runs(page):
    """The eight runs of the chapter, with the right gradient."""
    return [page["train"](page["candidates"][4], seed) for seed in range(8)]


def loss_of_even_weights(x):
    even, names = x.mean(axis=1), x[x[..., 1] == 1][:, 4:]
    best, *_ = np.linalg.lstsq(even, names)
    return np.sum((even @ best - names) ** 2) / len(x)


def results(page, backward, seeds=range(8), **options):
    """For each start: the last loss beside that of even weights, and where *it* looks."""
    found = []
    for seed in seeds:
        with np.errstate(all="ignore"):  # a wrong gradient may run away
            x, test, losses, history = page["train"](backward, seed, **options)
            found.append((losses[-1] / loss_of_even_weights(x), page["look"](test, history[-1])))
    return found


@pytest.mark.parametrize("seed", range(8))
def test_a_score_pulls_the_output_towards_the_value_of_its_key(page, seed):
    """At the speed weight times distance; so a value at the output pulls nowhere."""
    rng = np.random.default_rng(seed)
    scores, values, d_out = rng.standard_normal(5), rng.standard_normal((5, 3)), rng.standard_normal((1, 3))
    p = page["softmax"](scores)
    values[0] = p[1:] @ values[1:] / p[1:].sum()
    measured = page["slopes"](lambda s: page["softmax"](s) @ values @ d_out[0], scores)
    np.testing.assert_allclose(p * ((values - p @ values) @ d_out[0]), measured, atol=1e-9)
    np.testing.assert_allclose(page["softmax_rule"](p[None], d_out @ values.T)[0], measured, atol=1e-9)
    assert abs(measured[0]) < 1e-9


@pytest.mark.parametrize("seed", range(20))
def test_one_line_catches_the_first_three_and_not_the_fifth(page, seed):
    inputs = np.random.default_rng(seed).standard_normal((4, 6, 6))
    for number, backward in page["candidates"].items():
        total, change = page["one_line_tests"](backward, *inputs)
        assert (total < 1e-12 and change < 1e-12) == (number in (4, 5))


def test_one_line_does_not_catch_a_wrong_factor(page):
    right = page["candidates"][4]
    opposite = lambda *inputs: [-gradient for gradient in right(*inputs)]
    inputs = np.random.default_rng(0).standard_normal((4, 6, 6))
    assert max(page["one_line_tests"](opposite, *inputs)) < 1e-12


def test_candidate_5_has_the_right_direction_and_the_wrong_length(page):
    rng = np.random.default_rng(0)
    for d in (2, 6, 7):
        inputs = [rng.standard_normal(shape) for shape in ((3, 2), (3, d), (5, d), (5, 2))]
        for wrong, right in zip(page["candidates"][5](*inputs)[:2], page["candidates"][4](*inputs)[:2], strict=True):
            np.testing.assert_allclose(wrong, right / np.sqrt(d), rtol=1e-12)


def test_a_scale_too_many_shows_only_if_d_is_not_one(page):
    rng, right = np.random.default_rng(0), page["candidates"][4]
    for d in (1, 2, 4):
        inputs = [rng.standard_normal(shape) for shape in ((3, 2), (3, d), (5, d), (5, 2))]
        dQ = right(*inputs)[0]
        assert np.allclose(dQ / np.sqrt(d), dQ) == (d == 1)


def test_the_bug_of_the_exercise_shows_only_if_there_are_several_queries(page):
    from attnexercises.gradients import suspect

    rng, right = np.random.default_rng(0), page["candidates"][4]
    for q in (1, 2, 4):
        for k, d, v in ((5, 4, 2), (1, 4, 2), (5, 1, 2), (5, 4, 1)):
            inputs = [rng.standard_normal(shape) for shape in ((q, v), (q, d), (k, d), (k, v))]
            wrong = [not np.allclose(a, b) for a, b in zip(suspect(*inputs), right(*inputs), strict=True)]
            assert wrong == [q > 1, q > 1, False]


@pytest.mark.thorough
@pytest.mark.parametrize("options", [{}, {"rate": 0.1, "steps": 450}, {"rate": 0.2, "steps": 200}, {"steps": 300}], ids=str)
def test_every_start_finds_cat_and_looks_too_much_at_mat(page, options):
    for loss, weights in results(page, page["candidates"][4], range(16), **options):
        assert loss < 0.05
        assert weights[CAT] > 0.85
        assert weights[1:].argmax() + 1 == MAT


def test_measured_slopes_without_a_batch_do_not_see_a_sum_over_axis_1(page):
    wrong = page["handed_in"](lambda P, dP: P * (dP - np.sum(P * dP, axis=1, keepdims=True)))
    for seed in range(8):
        for batch, right in ((), True), ((2,), False):
            rng = np.random.default_rng(seed)
            d_out, query, key, value = (rng.standard_normal((*batch, *shape)) for shape in ((3, 2), (3, 7), (5, 7), (5, 2)))
            f = lambda x: np.sum(d_out * page["attention"](x, key, value)[0])
            assert page["check_gradient"](f, query, wrong(d_out, query, key, value)[0]).passed == right


def test_an_upstream_gradient_of_ones_hides_rows_that_are_exchanged(page):
    exchanged = lambda d_out, *inputs: page["candidates"][4](d_out[::-1], *inputs)
    rng = np.random.default_rng(0)
    inputs = [rng.standard_normal(shape) for shape in ((3, 7), (5, 7), (5, 2))]
    for d_out, hidden in ((np.ones((3, 2)), True), (rng.standard_normal((3, 2)), False)):
        for wrong, right in zip(exchanged(d_out, *inputs), page["candidates"][4](d_out, *inputs), strict=True):
            assert np.allclose(wrong, right) == hidden


@pytest.mark.parametrize("seed", range(8))
def test_the_key_gradient_of_candidate_3_sums_to_the_row_means_times_the_queries(page, seed):
    rng = np.random.default_rng(seed)
    d_out, query, key, value = inputs = [rng.standard_normal(shape) for shape in ((3, 2), (3, 7), (5, 7), (5, 2))]
    row_mean = np.sum(d_out * page["attention"](query, key, value)[0], axis=1)
    np.testing.assert_allclose(page["candidates"][3](*inputs)[1].sum(axis=0), row_mean @ query / np.sqrt(7), atol=1e-12)
    np.testing.assert_allclose(page["candidates"][4](*inputs)[1].sum(axis=0), 0, atol=1e-12)
    tokens, common = rng.standard_normal((5, 6)), rng.standard_normal(6)  # what all words have in common meets that sum alone
    for number, total in ((3, row_mean @ query / np.sqrt(7)), (4, 0)):
        d_key = page["candidates"][number](*inputs)[1]
        np.testing.assert_allclose((tokens + common).T @ d_key - tokens.T @ d_key, np.outer(common, total * np.ones(7)), atol=1e-12)


FEW = pytest.mark.parametrize("seeds", [range(2), pytest.param(range(2, 16), marks=pytest.mark.thorough)], ids=str)


def rises(page, backward, seed, rate=0.1, mean=0):
    return np.any(np.diff(page["train"](backward, seed, rate=rate, mean=mean)[2]) > 0)


@FEW
def test_the_right_gradient_never_lets_the_loss_rise(page, seeds):
    for seed in seeds:
        for options in ({}, {"rate": 0.3}, {"mean": 1}):
            assert not rises(page, page["candidates"][4], seed, **options)


@FEW
def test_with_names_of_mean_0_the_training_notices_nothing(page, seeds):
    for seed in seeds:
        x, test, losses, _ = page["train"](page["candidates"][3], seed, rate=0.1)
        assert np.all(np.diff(losses) < 0)
        assert losses[-1] < loss_of_even_weights(x) / 50
        assert losses[-1] > page["train"](page["candidates"][4], seed, rate=0.1)[2][-1]


@FEW
def test_with_names_of_mean_1_a_loss_rises(page, seeds):
    for seed in seeds:
        assert rises(page, page["candidates"][3], seed, mean=1)


@pytest.mark.thorough
def test_at_the_higher_rate_most_losses_of_candidate_3_rise(page):
    assert sum(rises(page, page["candidates"][3], seed, rate=0.3) for seed in range(16)) > 12


@pytest.mark.thorough
def test_the_sum_of_the_key_gradient_does_most_of_the_harm(page):
    assert sum(rises(page, page["dk_sums_to_zero"], seed, mean=1) for seed in range(16)) == 1


def test_the_gradient_whose_keys_sum_to_zero_is_still_wrong(page):
    inputs = np.random.default_rng(0).standard_normal((4, 6, 6))
    for wrong, right in zip(page["dk_sums_to_zero"](*inputs)[:2], page["candidates"][4](*inputs)[:2], strict=True):
        assert not np.allclose(wrong, right, atol=0.01)
    assert np.allclose(page["dk_sums_to_zero"](*inputs)[1].sum(axis=0), 0)


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.thorough) for seed in range(1, 16))])
def test_with_the_value_gradient_alone_the_loss_stops_at_even_weights(page, seed):
    def value_alone(*inputs):
        dQ, dK, dV = page["candidates"][4](*inputs)
        return 0 * dQ, 0 * dK, dV

    ((loss, weights),) = results(page, value_alone, [seed], rate=0.1, steps=300)
    assert 1 < loss < 1.02
    assert weights[CAT] < 0.14


def test_every_candidate_has_the_right_value_gradient(page):
    """And no other has the right one of the query, or of the key: one of three arrays proves nothing of the others."""
    for (name, number), accepted in page["passed"].items():
        assert accepted == (8 if name == "dV" or number == 4 else 0)


def test_only_the_row_of_pronoun_counts_for_it(runs):
    for *_, history in runs:
        w_q, w_k, _ = history[-1]
        product = w_q @ w_k.T
        assert np.abs(product[4:]).max() < 0.2  # what the three numbers of a name look for
        assert product[3].argmax() == 1  # alive
        assert product[3, 1] > 5
        assert product[3, 0] > 1.5  # noun


def test_the_weight_of_cat_waits_for_twenty_steps(page, runs):
    for _, test, _, history in runs:
        assert all(0.12 < page["look"](test, matrices)[CAT] < 0.151 for matrices in history[:20])


def test_the_loss_of_even_weights_is_beaten_only_by_looking_at_the_animal(page, runs):
    def weight_of_animal(x, matrices):
        _, weights = page["attention"](*(x @ w for w in matrices))
        return weights[x[..., 3] == 1][x[..., 1] == 1].mean()

    for x, _, losses, history in runs:
        relative = losses / loss_of_even_weights(x)
        assert relative[:16].min() > 1
        assert relative[15] < 1.05
        assert abs(weight_of_animal(x, history[10]) - 1 / 6) < 0.005
        assert weight_of_animal(x, history[(relative < 0.9).argmax()]) > 0.2


@pytest.mark.thorough
def test_with_small_steps_candidate_3_points_downhill_all_the_way(page):
    for seed in range(16):
        x, _, _, history = page["train"](page["candidates"][3], seed, rate=0.1)
        for matrices in history[::5]:
            wrong, right = (np.concatenate([g.ravel() for g in page["gradients"](page["candidates"][n], x, matrices)[1]]) for n in (3, 4))
            assert page["cosine"](wrong, right) > 0


@pytest.mark.parametrize("number", [1, 3])
def test_a_wrong_gradient_does_not_point_downhill_everywhere(page, number):
    """So the angle has to be measured in the training itself."""
    cosines = []
    for seed in range(1000):
        rng = np.random.default_rng(seed)
        inputs = [rng.standard_normal(shape) for shape in ((3, 2), (3, 7), (5, 7), (5, 2))]
        cosines.append(page["cosine"](page["candidates"][number](*inputs)[0], page["candidates"][4](*inputs)[0]))
    assert min(cosines) < 0


@pytest.mark.parametrize("seeds", [range(2), pytest.param(range(2, 8), marks=pytest.mark.thorough)], ids=str)
def test_each_reason_to_wait_costs_steps(page, seeds):
    small, right = page["small_matrices"], page["candidates"][4]
    larger = lambda rng: [factor * w for factor, w in zip((10, 10, 1), small(rng), strict=True)]
    given = lambda rng: [*small(rng)[:2], np.eye(7, 3, -4)]

    def turned(rng):  # the control: values as large as the given ones, which copy no name
        first = small(rng)[:2]
        turn, _ = np.linalg.qr(rng.standard_normal((3, 3)))
        return [*first, np.vstack([np.zeros((4, 3)), turn])]

    both = lambda rng: [*larger(rng)[:2], np.eye(7, 3, -4)]

    def steps(start, seed):
        _, test, _, history = page["train"](right, seed, steps=60, start=start)
        return next(step for step, w in enumerate(history) if page["look"](test, w)[CAT] > 0.5)

    for seed in seeds:
        plain, without_one, without_other, without = (steps(start, seed) for start in (small, given, larger, both))
        assert max(without_one, without_other) < plain
        assert without < min(without_one, without_other)
        assert without_one < steps(turned, seed)


def test_a_large_value_matrix_that_copies_no_name_shortens_one_wait_of_eight(page):
    names = dict(page)
    cells = {cell["id"]: cell.source for cell in nbformat.read(CHAPTER, as_version=4).cells}
    names["yours"] = page["candidates"][4]
    exec(cells["learn-waits"].partition("table(")[0], names)
    sooner = [int(np.sum(np.less(wait, names["waits"][0]))) for wait in names["waits"]]
    assert sooner == [0, 8, 1, 8, 8]


def test_the_best_steps_are_where_the_chapter_says(page):
    errors = page["errors"]
    best = [steps[error.argmin()] for steps, error in errors.values()]
    single, double, fourth = (error.min() for _, error in errors.values())
    assert 5e-4 < best[0] < 5e-2
    assert 6e-7 < best[1] < 6e-5
    assert 7e-5 < best[2] < 7e-3
    assert single < 1e-3
    assert double < 1e-9
    assert fourth < double / 10
    steps, error = errors["central, float64"]
    assert 1e-5 < error[np.abs(steps - 1e-12).argmin()] < 1e-2
