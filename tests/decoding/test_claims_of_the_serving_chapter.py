"""What chapter 11 says of serving many readers, with more starts than its cells have, and with the control of each claim."""

from itertools import permutations
from pathlib import Path

import nbformat
import numpy as np
import pytest

from attnlib.attention import attention
from attnlib.costs import A100, count_model_parameters, kv_cache_bytes
from attnlib.flash import flash_attention, merge_partials
from attnlib.positions import rotary
from attnlib.softmax import softmax

CHAPTERS = Path(__file__).parents[2] / "chapters"
SEEDS = range(8)


@pytest.fixture(scope="module")
def chapter():
    """What the cells of the chapter define that its experiments are made of."""
    cells = {cell.id: cell.source for cell in nbformat.read(CHAPTERS / "11_serving.ipynb", as_version=4).cells}
    names = {}
    for cell in ("imports", "writer", "draft-code", "guess-run", "linear-recall", "pages-figure", "guess-table"):
        source = cells[cell].replace('"data/', f'"{CHAPTERS.as_posix()}/data/').replace("stepped_figure(draw", "(lambda *_, **__: None)(draw")
        exec(compile(source.split("expected = ")[0], cell, "exec"), names)
    exec(next(line for line in cells["linear-run"].splitlines() if line.startswith("features = ")), names)
    exec(cells["pages-code"].split("\n", 1)[1], names)
    exec(cells["swap-run"].split("start_of_tenth = ")[0] + cells["bits-run"].split("more = ")[0], names)
    exec(cells["delta-run"].split("one_key = ")[0] + cells["delta-changed"].split("counts = ")[0], names)
    return names


# --- memory ---------------------------------------------------------------------------------------


def test_how_many_readers_fit():
    of_a_token = 2 * 32 * 4096 * 2  # keys and values, layers, width, float16
    assert of_a_token == 2**19
    tokens = (40e9 - 13.5e9) / of_a_token
    assert 49_000 < tokens < 51_000
    assert int(tokens / 4096) == 12
    assert round(tokens / 500, -1) == 100
    assert 1024 + 100 * 50 == 6024
    assert 100 * (1024 + 50) == 107_400
    lengths = np.arange(1, 1000)
    assert lengths.mean() == 500
    reached = (lengths * lengths).sum() / lengths.sum()  # a text of n tokens is in memory for n steps
    assert round(reached) == 666 and int(tokens / reached) == 75
    so_far = np.concatenate([np.arange(1, n + 1) for n in lengths])  # each text at each of its steps
    assert round(so_far.mean()) == 334
    needs = {size: (-(-so_far // size) * size).mean() for size in (1, 16, 256, 4096)} | {"longest": 999}
    assert {size: int(tokens / rows) for size, rows in needs.items()} == {1: 151, 16: 148, 256: 107, 4096: 12, "longest": 50}


@pytest.mark.parametrize("seed", SEEDS)
def test_how_often_a_memory_of_growing_texts_overflows(seed):
    """At a random moment, each reader's text has a length that it passes through; the control draws final lengths."""
    rng, tokens = np.random.default_rng(seed), int((40e9 - 13.5e9) / 2**19)
    share = np.arange(999, 0, -1) / (999 * 1000 / 2)  # of the texts with 1, 2, ... tokens
    pages = lambda rows: (-(-rows // 16) * 16).sum(axis=1)  # noqa: E731
    overflows = {n: (pages(rng.choice(np.arange(1, 1000), p=share, size=(5000, n))) > tokens).mean() for n in (130, 148)}
    assert 0.005 < overflows[130] < 0.02
    assert 0.45 < overflows[148] < 0.53
    assert (pages(rng.integers(1, 1000, (5000, 130))) > tokens).mean() > 0.99


@pytest.mark.parametrize("seed", range(3))
def test_a_running_server_overflows_as_often_as_the_random_moments_say(seed):
    rng, tokens, overflows, steps = np.random.default_rng(seed), int((40e9 - 13.5e9) / 2**19), 0, 30_000
    final, so_far = rng.integers(1, 1000, 130), np.ones(130, int)
    for step in range(3000 + steps):
        ended = so_far >= final
        so_far = np.where(ended, 1, so_far + 1)
        final[ended] = rng.integers(1, 1000, ended.sum())
        overflows += step >= 3000 and (-(-so_far // 16) * 16).sum() > tokens
    assert 0.001 < overflows / steps < 0.04


def lookup(pages, table, positions):
    return pages[table[positions // pages.shape[1]], positions % pages.shape[1]]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_text_comes_back_by_its_table_and_not_by_the_order_of_its_pages(chapter, monkeypatch, seed):
    rows = np.random.default_rng(seed).standard_normal((2, 11, 4))
    monkeypatch.setitem(chapter, "lookup", lookup)
    store = chapter["Pages"](8, 3, 4)
    store.free = [1, 5, 0, 6]
    for key, value in zip(*rows, strict=True):
        store.append("b", key, value)
    assert store.tables["b"] == [1, 5, 0, 6] and store.free == []
    for stored, whole in zip(store.read("b"), rows, strict=True):
        np.testing.assert_array_equal(stored, whole)
    for order in permutations([1, 5, 0, 6]):
        same = np.array_equal(lookup(store.keys, np.array(order), np.arange(11)), rows[0])
        assert same is (order == (1, 5, 0, 6))
    store.finish("b")
    assert store.free == [1, 5, 0, 6] and not store.tables and not store.lengths


def test_five_rows_for_each_of_64_readers_are_more_than_the_ridge():
    """A weight of two bytes is used by each row, for a product and a sum."""
    operations = 2 * 64 * 5 / 2
    assert operations == 320
    assert round(A100.peak_flops["float16"] / A100.bandwidth) == 201
    assert operations > 201 > 2 * 64 / 2  # without guesses 64 readers still wait for the memory


def test_guesses_gain_less_with_many_readers_if_the_caches_are_loaded_after_the_weights():
    weights, gained = count_model_parameters(32, 4096, 32, 128, hidden=11008, mlp_matrices=3, vocabulary=32000, embeddings=2).total, {}
    for readers in (1, 40, 64, 100):
        for cached in (0, 500):
            cache = kv_cache_bytes(readers, 32, cached, 32, 128) / A100.bandwidth if cached else 0
            step, chunk = (max(2 * weights / A100.bandwidth, 2 * weights * readers * rows / A100.peak_flops["float16"]) + cache for rows in (1, 5))
            gained[readers, cached] = (0.8 ** np.arange(5)).sum() / (chunk / step + 0.4)
    assert [round(gained[readers, 500], 2) for readers in (1, 40, 64, 100)] == [2.4, 2.4, 2.02, 1.76]
    assert all(gained[readers, 0] < gained[readers, 500] for readers in (64, 100))
    assert 1 < gained[100, 0] < gained[64, 0] < 1.75
    for readers in (1, 40, 64, 100, 200):  # with all loading beside all computing, nothing is lost up to 100 readers
        loads = (2 * weights + kv_cache_bytes(readers, 32, 500, 32, 128)) / A100.bandwidth
        step, chunk = (max(loads, 2 * weights * readers * rows / A100.peak_flops["float16"]) for rows in (1, 5))
        assert (chunk == step) is (readers <= 100)


@pytest.mark.parametrize("seed", SEEDS)
def test_pages_may_be_read_in_any_order_but_not_from_another_text(seed):
    rng = np.random.default_rng(seed)
    query, key, value = rng.standard_normal((3, 12, 4))
    key, last = rotary(key, np.arange(12)), rotary(query[-1:], np.array([11]))
    right, _ = attention(last, key, value)
    pages = [(key[at : at + 3], value[at : at + 3]) for at in range(0, 12, 3)]
    order = rng.permutation(4)
    shuffled, _ = attention(last, *(np.concatenate([pages[page][which] for page in order]) for which in (0, 1)))
    np.testing.assert_allclose(shuffled, right)
    states = [flash_attention(last, *page) for page in pages]
    merged = states[order[0]]
    for page in order[1:]:
        merged = merge_partials(*merged, *states[page])
    np.testing.assert_allclose(merged[0], right)
    foreign = [*pages[:3], tuple(rng.standard_normal((2, 3, 4)))]
    wrong, _ = attention(last, *(np.concatenate([page[which] for page in foreign]) for which in (0, 1)))
    assert not np.allclose(wrong, right, atol=1e-3)
    assert not np.allclose(np.mean([out for out, _ in states], axis=0), right, atol=1e-3)
    unturned, _ = attention(query[-1:], rng.permutation(key), value)  # keys without their values do depend on the order
    assert not np.allclose(unturned, right, atol=1e-3)


@pytest.mark.parametrize("seed", SEEDS)
def test_keys_that_are_turned_only_after_reading_depend_on_the_order_of_the_pages(seed):
    query, key, value = np.random.default_rng(seed).standard_normal((3, 12, 4))
    last = rotary(query[-1:], np.array([11]))
    right, _ = attention(last, rotary(key, np.arange(12)), value)
    for order in permutations(range(4)):
        rows = np.concatenate([np.arange(3 * page, 3 * page + 3) for page in order])
        late, _ = attention(last, rotary(key[rows], np.arange(12)), value[rows])
        assert np.allclose(late, right, atol=1e-6) is (order == (0, 1, 2, 3))


def test_the_drawing_ends_with_the_tables_of_the_text(chapter):
    tables, slots = chapter["memory_after"](11)
    assert tables == {"b": [1, 5, 0, 6], "d": [3, 2, 4, 7]}
    assert slots[0, 1] == ("b", 7)
    for _, used in tables.items():
        assert used != sorted(used)


@pytest.mark.parametrize("size", [1, 3, 16, 256])
def test_a_text_leaves_fewer_rows_unused_than_a_page_has(size):
    for n in range(1, 600):
        assert 0 <= -(-n // size) * size - n < size


# --- beginnings -----------------------------------------------------------------------------------

SENTENCE = "every key is compared with the query"


@pytest.mark.parametrize(("one", "other"), [("the mask. ", "the loss. "), ("a", "b"), ("softmax ", "weights "), ("x. ", "no ")])
def test_only_a_beginning_has_the_same_keys_in_all_layers(chapter, one, other):
    read, empty = chapter["read"], chapter["empty"]
    first, second = (read(words + SENTENCE, empty)[1] for words in (one, other))
    behind = slice(len(one), None)
    np.testing.assert_array_equal(first[0][:, behind], second[0][:, behind])
    assert np.abs(first[2][:, behind] - second[2][:, behind]).max() > 0.1
    first, second = (read(SENTENCE + words, empty)[1] for words in (one, other))
    for i in range(4):
        np.testing.assert_allclose(first[i][:, : len(SENTENCE)], second[i][:, : len(SENTENCE)], atol=1e-12)


# --- guesses --------------------------------------------------------------------------------------


@pytest.mark.thorough
@pytest.mark.parametrize("noise", SEEDS)
def test_the_circles_lie_near_the_curve_with_any_noise(chapter, monkeypatch, noise):
    """The curve takes the guesses as independent, which they are not: both ways it may be off by an eighth."""
    monkeypatch.setitem(chapter, "noise", np.random.default_rng(noise).gumbel(size=(8, 600, 30)))

    def letters_per_call(guesses):
        calls = [
            chapter["speculative"](prompt, len(prompt) + 80, chapter["counting"], guesses, seeded(chapter, seed))[1]
            for seed, prompt in enumerate(chapter["prompts"])
        ]
        return 8 * 80 / sum(calls)

    right = letters_per_call(1) - 1
    assert 0.655 < right < 0.765
    for guesses in (2, 6):
        assert abs(letters_per_call(guesses) / (right ** np.arange(guesses + 1)).sum() - 1) < 1 / 8


def seeded(chapter, seed, masked=True, first_row=False):
    def read(letters, past):
        own, cache = chapter["read"](letters, past, seed=seed, masked=masked or past is chapter["empty"])
        return (own[0] * len(own) if first_row else own), cache

    return read


def anew(read, empty, text, n):
    while len(text) < n:
        text += read(text, empty)[0][-1]
    return text


@pytest.mark.thorough
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("prompt", ["in this chapter ", "one row "])
def test_checked_guesses_leave_the_text_and_mistakes_do_not(chapter, seed, prompt):
    speculative, counting, empty, n = chapter["speculative"], chapter["counting"], chapter["empty"], len(prompt) + 100
    expected = anew(seeded(chapter, seed), empty, prompt, n)
    assert len(set(expected)) >= 12  # it varies
    for guesses in (0, 1, 4, 9):
        text, calls = speculative(prompt, n, counting, guesses, seeded(chapter, seed))
        assert text == expected
        assert calls <= 100
    _, calls = speculative(prompt, n, counting, 4, seeded(chapter, seed))
    assert calls < 55
    perfect = lambda text, guesses: (expected + " " * guesses)[len(text) : len(text) + guesses]  # noqa: E731
    assert speculative(prompt, n, perfect, 4, seeded(chapter, seed)) == (expected, 20)
    for mistake in ({"masked": False}, {"first_row": True}):
        assert speculative(prompt, n, counting, 4, seeded(chapter, seed, **mistake))[0] != expected
    assert speculative(prompt, n, counting, 4, seeded(chapter, seed), False)[0] != expected


def test_the_likeliest_letters_write_in_circles(chapter, monkeypatch):
    monkeypatch.setitem(chapter, "noise", np.zeros_like(chapter["noise"]))
    assert "the same the same the same" in anew(chapter["read"], chapter["empty"], "the query ", 100)


def test_the_noise_makes_each_letter_win_as_often_as_the_softmax_says():
    rng = np.random.default_rng(0)
    logits = rng.standard_normal(6)
    won = np.bincount((logits / 0.5 + rng.gumbel(size=(200_000, 6))).argmax(axis=1), minlength=6) / 200_000
    np.testing.assert_allclose(won, softmax(logits / 0.5), atol=0.005)
    uniform = np.bincount((logits / 0.5 + rng.random((200_000, 6))).argmax(axis=1), minlength=6) / 200_000
    assert np.abs(uniform - softmax(logits / 0.5)).max() > 0.05


def test_the_best_number_of_guesses():
    def speed(share, guesses, cost=0.1):
        return (share ** np.arange(guesses + 1)).sum() / (1 + cost * guesses)

    best = {share: int(np.argmax([speed(share, g) for g in range(60)])) for share in (0.5, 0.8, 0.9)}
    assert best == {0.5: 2, 0.8: 6, 0.9: 10}
    assert all(speed(0.1, g) <= 1 + 1e-12 for g in range(60))
    assert all(2.39 < speed(0.8, g) < 2.48 for g in range(4, 9)) and speed(0.8, 2) < 2.1 and speed(0.8, 12) < 2.2
    # a further guess pays exactly if it adds more than its price brings now
    for share in (0.5, 0.8, 0.9):
        for g in range(20):
            assert (share ** (g + 1) > 0.1 * speed(share, g)) == (speed(share, g + 1) > speed(share, g))
    drawn = np.random.default_rng(0).random((100_000, 4)) < 0.8
    assert abs(1 + np.cumprod(drawn, axis=1).sum(axis=1).mean() - 3.36) < 0.02


@pytest.mark.parametrize("seed", range(20))
def test_a_redrawn_token_must_fill_in_what_is_missing(seed):
    rng = np.random.default_rng(seed)
    p, draft = rng.dirichlet(np.ones(6), size=2)
    agreed, missing = np.minimum(p, draft), np.maximum(0, p - draft)
    np.testing.assert_allclose(agreed + (1 - agreed.sum()) * missing / missing.sum(), p)
    redrawn = agreed + (1 - agreed.sum()) * p
    assert np.all(redrawn[draft > p] > p[draft > p])
    assert not np.allclose(redrawn, p, atol=1e-3)


# --- a state of fixed size ------------------------------------------------------------------------


@pytest.mark.parametrize("d", [16, 32, 48])
@pytest.mark.parametrize("seed", SEEDS)
def test_the_best_state_is_exact_up_to_as_many_pairs_as_it_has_features(chapter, d, seed):
    features, best_error = chapter["features"], chapter["best_error"]

    def errors(n):  # with d features, and with twice as many
        keys, values = np.random.default_rng(seed).standard_normal((2, n, d))
        return [best_error(rows, values) for rows in (features(keys), np.hstack([features(keys), features(-keys)]))]

    for n in (d // 2, d):
        assert errors(n)[0] < 1e-12
    assert errors(d + 1)[0] > 1e-4
    for n in (d + 1, 2 * d):
        assert errors(n)[1] < 1e-12
    assert errors(4 * d)[1] > 0.3
    for n in (2 * d, 4 * d):
        assert abs(errors(n)[0] - (1 - d / n)) < 0.1


@pytest.mark.parametrize("seed", range(100, 108))
def test_linear_attention_errs_long_before_its_state_is_full(chapter, seed):
    features, weights_of = chapter["features"], chapter["weights_of"]
    for n in (8, 16, 32, 64):
        run = chapter["errors"](n, seed)
        assert run["best state"] <= run["random keys"] < 1
        assert run["softmax"] < 0.01
        assert 1.35 < run["own weight"] < 1.65
        assert run["random keys"] > (0.8 if n >= 16 else 0.5)
        keys, values = np.random.default_rng(seed).standard_normal((2, n, 32))
        longer = ((weights_of(features(4 * keys))[0] @ values - values) ** 2).sum() / (values**2).sum()
        assert longer < run["random keys"]  # the softmax gets longer keys; they would not help linear attention much
        assert longer > {8: 0.4, 16: 0.7, 32: 0.8, 64: 0.9}[n]
    assert 64 * 64 == 4 * 32 * 32  # numbers in the cache of 64 pairs, and in four states


def test_keys_with_a_place_of_their_own_are_exact_where_gradient_descent_gets_stuck(chapter):
    features, trained, weights_of = chapter["features"], chapter["trained"], chapter["weights_of"]
    away = lambda keys: ((weights_of(features(keys))[0] - np.eye(32)) ** 2).sum() / 32  # noqa: E731
    assert away(100 * np.eye(32) - 50) < 1e-20
    for seed in range(100, 108):
        keys = np.random.default_rng(seed).standard_normal((32, 32))
        assert min(away(trained(keys, steps, rate)) for steps, rate in ((200, 100), (200, 1000), (2000, 100))) > 0.01


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(100, 108))
def test_the_writer_with_linear_attention_put_in_is_worse_than_letter_frequencies(chapter, seed):
    starts = np.random.default_rng(seed).integers(0, 9000, 6)
    assert chapter["loss"](starts, chapter["softmax_weights"]) < 1.6
    assert chapter["loss"](starts, chapter["feature_weights"]) > 3.1 > 2.9


@pytest.mark.parametrize("rate", [30, 100, 300])
@pytest.mark.parametrize("d", [16, 32])
def test_trained_keys_follow_the_best_state_and_have_its_knee(chapter, d, rate):
    """Keys that gradient descent moved answer exactly up to about d pairs; no features in d numbers go beyond 1 - d/n."""
    features, trained, weights_of = chapter["features"], chapter["trained"], chapter["weights_of"]
    for seed in range(100, 108):
        for n in (d // 2, d, 2 * d):
            keys, values = np.random.default_rng(seed).standard_normal((2, n, d))
            moved = weights_of(features(trained(keys, rate=rate)))[0]
            error = ((moved @ values - values) ** 2).sum() / (values**2).sum()
            unmoved = weights_of(features(keys))[0]
            away = ((moved - np.eye(n)) ** 2).sum() / n  # the error that random values have on average
            assert max(0, 1 - d / n) - 1e-9 < away < ((unmoved - np.eye(n)) ** 2).sum() / n - 0.2
            assert away < {d // 2: 0.005, d: 0.25, 2 * d: 0.51}[n]
            assert abs(error - away) < 0.1


@pytest.mark.parametrize("d", [16, 32])
@pytest.mark.parametrize("seed", range(100, 108))
def test_twice_the_features_do_not_help_linear_attention_with_random_keys(chapter, d, seed):
    """They help the best state only: the features of different keys overlap as before."""
    features, weights_of = chapter["features"], chapter["weights_of"]
    for n in (d // 2, d, 2 * d):
        keys, values = np.random.default_rng(seed).standard_normal((2, n, d))
        errors = []
        for told in (features(keys), np.hstack([features(keys), features(-keys)])):
            errors.append(((weights_of(told)[0] @ values - values) ** 2).sum() / (values**2).sum())
        assert errors[1] > errors[0] - 0.05


def test_the_slope_by_which_keys_are_trained(chapter):
    features, trained, weights_of = chapter["features"], chapter["trained"], chapter["weights_of"]
    keys, way = np.random.default_rng(0).standard_normal((2, 6, 4))
    loss = lambda moved: ((weights_of(features(moved))[0] - np.eye(6)) ** 2).sum() / 2  # noqa: E731
    slope = (keys - trained(keys, steps=1, rate=1e-3)) / 1e-3
    measured = (loss(keys + 1e-6 * way) - loss(keys - 1e-6 * way)) / 2e-6
    assert (slope * way).sum() == pytest.approx(measured, rel=1e-6)


@pytest.mark.parametrize("seed", SEEDS)
def test_with_plain_features_the_answers_are_close_to_the_mean_and_with_sharp_scores_not(chapter, seed):
    keys, values = np.random.default_rng(seed).standard_normal((2, 64, 32))
    features = chapter["features"](keys)
    answers = features @ (features.T @ values) / (features @ features.sum(axis=0))[:, np.newaxis]
    mean = values.mean(axis=0)
    sharp, _ = attention(4 * keys, keys, values)
    for out, close in ((answers, True), (sharp, False)):
        assert (((out - mean) ** 2).sum() < 0.05 * (values**2).sum()) == close


@pytest.mark.parametrize("d", [16, 32])
def test_no_other_matrix_beats_the_best_state(chapter, d):
    rng = np.random.default_rng(d)
    keys, values = rng.standard_normal((2, 3 * d, d))
    features = chapter["features"](keys)
    asked = features / (features @ features.sum(axis=0))[:, np.newaxis]
    best = np.linalg.lstsq(asked, values, rcond=None)[0]
    error = ((asked @ best - values) ** 2).sum()
    for _ in range(20):
        other = best + 0.01 * np.abs(best).max() * rng.standard_normal(best.shape)
        assert ((asked @ other - values) ** 2).sum() > error


def test_a_value_stored_twice():
    key = np.array([0.6, 0.8])
    both, values = np.stack([key, key]), np.array([[10.0], [50.0]])
    assert attention(key[np.newaxis], both, values)[0].item() == pytest.approx(30)
    linear = (key @ both.T @ values / (key @ both.T).sum()).item()
    assert linear == pytest.approx(30)
    state = np.zeros((2, 1))
    for value in values:
        state = state + np.outer(key, value - key @ state)
    assert (key @ state).item() == pytest.approx(50)
    np.testing.assert_allclose(state[:, 0], [30, 40])
    assert 32 * 128 < 64 * 64 + 64 < 33 * 128


def test_the_two_tokens_on_paper():
    keys, values, query = np.array([[1, 2], [2, 1]]), np.array([10, 40]), np.array([1, 0])
    assert (keys.T @ values).tolist() == [90, 60] and keys.sum(axis=0).tolist() == [3, 3]
    weights = keys @ query / (keys @ query).sum()
    assert weights @ values == pytest.approx(query @ (keys.T @ values) / (query @ keys.sum(axis=0))) == 30


def test_the_delta_rule_keeps_the_new_value_where_adding_mixes_it_with_the_old_one(chapter):
    """Against adding with the divisor that suits it best; where nothing changes, the rule gains little or loses."""
    error_after, add, delta = chapter["error_after"], chapter["add_step"], chapter["delta_step"]
    mean = {}
    for n in (2, 4, 8, 16, 32):
        for rounds in (1, 2):
            found = np.array([[error_after(rounds, n, seed, rule) for rule in (add, delta)] for seed in range(100, 116)])
            mean[n, rounds] = found.mean(axis=0)
            if rounds == 2:
                assert found[:, 0].min() > 0.3
                if n <= 16:
                    assert np.all(found[:, 1] < found[:, 0])
        assert (mean[n, 2][0] - mean[n, 2][1] > 0.2) == (n <= 16)
        assert mean[n, 1][0] - mean[n, 1][1] < 0.06
    assert mean[8, 2][1] < 0.3
    assert mean[16, 1][1] < mean[16, 1][0] and mean[32, 1][0] < mean[32, 1][1], "stored once, it gains with few keys and loses with many"


def test_from_two_thirds_of_d_on_the_delta_rule_loses_where_nothing_changes(chapter):
    error_after, add, delta = chapter["error_after"], chapter["add_step"], chapter["delta_step"]
    gained = {}
    for n in (18, 24):
        gained[n] = np.mean([error_after(1, n, seed, add) - error_after(1, n, seed, delta) for seed in range(100, 132)])
    assert gained[18] > 0.005 and gained[24] < -0.01


def test_what_the_two_numbers_of_a_row_add_to_its_bits():
    assert [2 * 16 / row for row in (16, 128)] == [2, 0.25]


# --- fewer bits -----------------------------------------------------------------------------------


@pytest.mark.parametrize("bits", [2, 3, 4, 8])
def test_b_bits_have_two_to_the_b_levels(bits):
    cells = {cell.id: cell.source for cell in nbformat.read(CHAPTERS / "11_serving.ipynb", as_version=4).cells}
    names = {"np": np}
    exec(cells["bits-run"].split("def fewer")[0], names)
    rows = np.random.default_rng(bits).random((3, 20_000)) - 0.5
    stored = names["rounded"](rows, bits)
    assert [len(np.unique(row)) for row in np.round(stored, 9)] == [2**bits] * 3
    step = (rows.max(axis=1) - rows.min(axis=1)) / (2**bits - 1)
    assert np.all(np.abs(stored - rows).max(axis=1) <= step / 2 + 1e-12)
    by_its_largest = np.round(rows / np.abs(rows).max(axis=1, keepdims=True) * (2 ** (bits - 1) - 1))
    assert len(np.unique(by_its_largest)) < 2**bits  # a unit without an offset loses a level


@pytest.mark.thorough
def test_two_bits_hurt_the_writer_and_eight_do_not(chapter):
    prose, alphabet, loss, fewer = chapter["prose"], chapter["writer"].alphabet, chapter["loss"], chapter["fewer"]
    cut = len(prose) * 9 // 10
    often = -np.mean([np.log(prose[:cut].count(letter) / cut) * prose[cut:].count(letter) for letter in alphabet if letter in prose[:cut]])
    often *= sum(letter in prose[:cut] for letter in alphabet) / len(prose[cut:])
    assert 2.85 < often < 2.95  # letter frequencies alone
    for seed in range(100, 108):
        starts = np.random.default_rng(seed).integers(0, 9000, 6)
        whole = loss(starts, chapter["softmax_weights"])
        assert abs(loss(starts, fewer(8)) - whole) < 0.01
        assert 0.4 < loss(starts, fewer(2)) - whole < 1.2
        assert loss(starts, fewer(2)) < often - 0.3
