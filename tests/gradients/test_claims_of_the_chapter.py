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
        for id in ("imports", "candidates", "candidates-tests", "learn-words", "learn-start", "learn-gradients"):
            exec(cells[id], names)
        exec(cells["learn-train"].partition("yours =")[0], names)
        for id in ("tiny-slopes", "tiny-example", "loops", "loops-check", "library-agrees", "candidates-measured", "steps-methods"):
            exec(cells[id], names)
    return names


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


PATIENT = {"rate": 0.1, "steps": 300}


@pytest.mark.thorough
def test_two_wrong_gradients_learn_and_no_loss_rises(page):
    for number in (1, 3, 4):
        for seed in range(16):
            x, test, losses, history = page["train"](page["candidates"][number], seed, **PATIENT)
            assert np.all(np.diff(losses) < 0)
            assert losses[-1] < loss_of_even_weights(x) / 10
            assert page["look"](test, history[-1])[CAT] > 0.7


@pytest.mark.thorough
def test_at_the_higher_rate_only_candidate_3_jitters(page):
    for number in (1, 3, 4):
        rises = [np.any(np.diff(page["train"](page["candidates"][number], seed)[2]) > 0) for seed in range(16)]
        assert sum(rises) >= 12 if number == 3 else not any(rises)


@pytest.mark.thorough
def test_at_the_lower_rate_the_right_gradient_ends_lowest(page):
    """In bands that do not overlap: what somebody with a single curve cannot see."""
    ends = {number: [loss for loss, _ in results(page, page["candidates"][number], range(16), **PATIENT)] for number in (4, 3, 1)}
    assert max(ends[4]) < min(ends[3])
    assert max(ends[3]) < min(ends[1])


@pytest.mark.thorough
def test_where_training_fails_one_word_gets_nearly_all_the_weight(page):
    for loss, weights in results(page, page["candidates"][3], range(16), common=5.0, **PATIENT):
        assert loss > 0.5
        assert weights.max() > 0.95


@pytest.mark.thorough
@pytest.mark.parametrize("options", [PATIENT, {"rate": 0.05, "steps": 600}], ids=str)
def test_an_offset_stops_candidate_3_and_sometimes_candidate_1(page, options):
    def learn(number, common):
        return sum(loss < 0.5 for loss, _ in results(page, page["candidates"][number], common=common, **options))

    assert [learn(4, common) for common in (0.0, 2.0, 5.0)] == [8, 8, 8]
    assert learn(3, 5.0) == 0
    assert learn(3, 2.0) >= 6
    assert learn(1, 2.0) == 8
    assert 0 < learn(1, 5.0) < 8


@pytest.mark.thorough
def test_shorter_steps_do_not_help_candidate_3(page):
    """A fifth of the rate, and as long a way: the steps of the wrong gradient are not merely too long."""
    for number, learned in ((3, 0), (4, 8)):
        found = results(page, page["candidates"][number], common=5.0, rate=0.02, steps=1500)
        assert sum(loss < 0.5 for loss, _ in found) == learned


def test_every_candidate_has_the_right_value_gradient(page):
    """And no other has the right one of the query, or of the key: one of three arrays proves nothing of the others."""
    for (name, number), accepted in page["passed"].items():
        assert accepted == (8 if name == "dV" or number == 4 else 0)


@pytest.mark.parametrize("start", range(0, 16, 8))
def test_only_the_row_of_pronoun_counts_for_it(page, start):
    for seed in range(start, start + 8):
        (w_q, w_k, _) = page["train"](page["candidates"][4], seed)[3][-1]
        product = w_q @ w_k.T
        assert np.abs(product[4:]).max() < 0.2  # what the three numbers of a name look for
        assert np.abs(product[3]).max() > 5


def test_the_right_gradient_takes_the_same_steps_with_the_offset(page):
    right = page["candidates"][4]
    for seed in range(8):
        plain, moved = (page["train"](right, seed, steps=60, common=common)[3][-1] for common in (0.0, 5.0))
        for a, b in zip(plain, moved, strict=True):
            np.testing.assert_allclose(a, b, atol=1e-8)


@pytest.mark.thorough
def test_the_right_gradient_fails_at_a_rate_of_one(page):
    for rate, learn in ((0.1, 16), (0.3, 16), (1.0, 0)):
        assert sum(loss < 0.5 for loss, _ in results(page, page["candidates"][4], range(16), rate=rate)) == learn


@pytest.mark.thorough
def test_each_reason_to_wait_costs_steps(page):
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

    for seed in range(16):
        plain, without_one, without_other, without = (steps(start, seed) for start in (small, given, larger, both))
        assert max(without_one, without_other) < plain
        assert without < max(without_one, without_other)
        assert without_one < steps(turned, seed)


def test_the_best_steps_are_where_the_chapter_says(page):
    errors = page["errors"]
    best = [steps[error.argmin()] for steps, error in errors.values()]
    single, double, fourth = (error.min() for _, error in errors.values())
    assert 5e-4 < best[0] < 5e-2
    assert 6e-7 < best[1] < 6e-5
    assert single < 1e-3
    assert double < 1e-9
    assert fourth < double / 10
    steps, error = errors["central, float64"]
    assert 1e-5 < error[np.abs(steps - 1e-12).argmin()] < 1e-2
