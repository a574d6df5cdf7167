"""What chapter 11 says of serving many readers, with more starts than its cells have, and with the control of each claim."""

from itertools import permutations
from pathlib import Path

import nbformat
import numpy as np
import pytest

from attnlib.attention import attention
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
    assert int(tokens / 4096) == 12 and int(tokens / 999) == 50  # room for the longest text
    assert 1024 + 100 * 50 == 6024
    assert 100 * (1024 + 50) == 107_400
    lengths = np.arange(1, 1000)
    assert lengths.mean() == 500
    reached = (lengths * lengths).sum() / lengths.sum()  # a text of n tokens is in memory for n steps
    assert round(reached) == 666 and int(tokens / reached) == 75
    so_far = np.concatenate([np.arange(1, n + 1) for n in lengths])  # each text at each of its steps
    assert round(so_far.mean()) == 334
    assert int(tokens / (-(-so_far // 16) * 16).mean()) == 148


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


@pytest.mark.thorough
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


@pytest.mark.parametrize("seed", SEEDS)
def test_pages_may_be_read_in_any_order(seed):
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
    change = np.sqrt(np.mean((first[2][:, behind] - second[2][:, behind]) ** 2) / np.mean(first[2][:, behind] ** 2))
    assert 0.005 < change < 0.2  # other words before move the keys of layer 2 by a few per cent
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
    said = {1: [], 4: []}  # was the first guess of each call right?
    for guesses, of_first in said.items():
        for seed, prompt in enumerate(chapter["prompts"]):
            read = watched(seeded(chapter, seed), chapter["empty"], of_first)
            chapter["speculative"](prompt, len(prompt) + 80, chapter["counting"], guesses, read)
    assert np.mean(said[4]) < np.mean(said[1])  # a call begins where the last guess was wrong
    for guesses in (2, 6):
        assert abs(letters_per_call(guesses) / (right ** np.arange(guesses + 1)).sum() - 1) < 1 / 8


def watched(read, empty, said):
    def read_and_compare(letters, past):
        own, cache = read(letters, past)
        if past is not empty:
            said.append(letters[1] == own[0])
        return own, cache

    return read_and_compare


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

    def error(n):
        keys, values = np.random.default_rng(seed).standard_normal((2, n, d))
        return chapter["best_error"](chapter["features"](keys), values)

    for n in (d // 2, d):
        assert error(n) < 1e-12
    assert error(d + 1) > 1e-4
    assert abs(error(2 * d) - 1 / 2) < 0.1


@pytest.mark.parametrize("seed", range(100, 108))
def test_linear_attention_errs_long_before_its_state_is_full(chapter, seed):
    features, weights_of = chapter["features"], chapter["weights_of"]
    for n in (8, 16, 32, 64):
        run = chapter["errors"](n, seed)
        assert run["best state"] <= run["linear attention"] < 1
        assert run["softmax"] < 0.01
        assert 1.35 < run["own weight"] < 1.65
        assert run["linear attention"] > (0.8 if n >= 16 else 0.5)
        keys, values = np.random.default_rng(seed).standard_normal((2, n, 32))
        longer = ((weights_of(features(4 * keys))[0] @ values - values) ** 2).sum() / (values**2).sum()
        assert longer < run["linear attention"]  # the softmax gets longer keys; they would not help linear attention much
        assert longer > {8: 0.4, 16: 0.7, 32: 0.8, 64: 0.9}[n]
    assert 64 * 64 == 4 * 32 * 32  # numbers in the cache of 64 pairs, and in four states


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(100, 108))
def test_the_writer_with_linear_attention_put_in_is_worse_than_letter_frequencies(chapter, seed):
    starts = np.random.default_rng(seed).integers(0, 9000, 6)
    assert chapter["loss"](starts, chapter["softmax_weights"]) < 1.6
    features, even, nothing = (chapter["loss"](starts, chapter[name]) for name in ("feature_weights", "plain_mean", "nothing"))
    assert features > 3.1 > 2.9
    assert abs(features - even) < 0.4 and abs(features - nothing) < 0.4  # the features choose nothing


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
    """Both with the factor that suits them best; with twice as many keys as numbers in a key, neither remembers much."""
    error_after, add, delta = chapter["error_after"], chapter["add_step"], chapter["delta_step"]
    mean = {}
    for n in (2, 4, 8, 16, 32, 64):
        found = np.array([[error_after(n, seed, rule) for rule in (add, delta)] for seed in range(100, 116)])
        mean[n] = found.mean(axis=0)
        assert found[:, 0].min() > 0.3
        assert n == 64 or np.all(found[:, 1] < found[:, 0])
    assert 0.15 < mean[8][1] < 0.25 < 0.55 < mean[8][0] < 0.65
    assert 0.78 < mean[64].min() and np.ptp(mean[64]) < 0.05


def test_what_the_two_numbers_of_a_row_add_to_its_bits(chapter):
    width = chapter["empty"][0].shape[-1]
    assert 2 * 16 / width == 2


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
