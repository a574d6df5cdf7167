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
        for id in ("imports", "candidates", "candidates-tests", "learn-words", "learn-start"):
            exec(cells[id], names)
        exec(cells["learn-train"].partition("yours =")[0], names)
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
def test_one_line_catches_the_first_three(page, seed):
    inputs = np.random.default_rng(seed).standard_normal((4, 6, 6))
    for number, backward in page["candidates"].items():
        total, change = page["one_line_tests"](backward, *inputs)
        assert (total < 1e-12 and change < 1e-12) == (number == 4)


def test_one_line_does_not_catch_a_wrong_factor(page):
    right = page["candidates"][4]
    opposite = lambda *inputs: [-gradient for gradient in right(*inputs)]
    inputs = np.random.default_rng(0).standard_normal((4, 6, 6))
    assert max(page["one_line_tests"](opposite, *inputs)) < 1e-12


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


@pytest.mark.thorough
def test_two_wrong_gradients_learn_too(page):
    for number in (1, 3):
        for loss, weights in results(page, page["candidates"][number]):
            assert loss < 0.5
            assert weights.argmax() == CAT


@pytest.mark.thorough
@pytest.mark.parametrize("options", [{"steps": 150, "rate": 0.3}, {"steps": 600, "rate": 0.05}], ids=str)
def test_an_offset_stops_them_and_not_the_right_one(page, options):
    learned = {
        number: sum(loss < 0.5 for loss, _ in results(page, page["candidates"][number], common=5.0, **options))
        for number in (1, 3, 4)
    }
    assert 0 < learned[1] < 8
    assert learned[3] == 0
    assert learned[4] == 8


@pytest.mark.thorough
def test_with_steps_of_the_right_length_some_starts_learn_and_others_do_not(page):
    right, wrong = page["candidates"][4], page["candidates"][3]
    tokens = []

    def lengthened(d_out, query, key, value):
        x = tokens[-1]
        ways = [[np.einsum("bnm,bnd->md", x, part) for part in way(d_out, query, key, value)[:2]] for way in (wrong, right)]
        length, wanted = (np.sqrt(sum(np.sum(part**2) for part in way)) for way in ways)
        d_query, d_key, d_value = wrong(d_out, query, key, value)
        return d_query * wanted / length, d_key * wanted / length, d_value

    learned = 0
    for seed in range(8):
        tokens.append(page["sentences"](np.random.default_rng(seed)))  # as `train` draws them
        learned += results(page, lengthened, [seed], common=5.0, steps=300)[0][0] < 0.5
    assert 0 < learned < 8
