"""What chapter 12 says of the model that writes, with other places, other windows, and counts as its rival."""

import inspect
import json
from pathlib import Path

import numpy as np
import pytest

from attnlib.training import (
    accuracy,
    alphabet_of,
    cross_entropy,
    encode,
    induction_score,
    load_trained,
    text_batch,
    transformer,
)
from tools.recorded import trained_models
from tools.recorded.training_starts import BLOCK, composed_rows, copies_of_prose, rounded, written_twice

DATA = Path(__file__).resolve().parents[2] / "chapters" / "data"


@pytest.fixture(scope="module")
def writer():
    return load_trained(DATA / "trained.npz", "text")


@pytest.fixture(scope="module")
def prose(writer):
    text = (DATA / "prose.txt").read_text(encoding="ascii")
    assert alphabet_of(text) == writer.alphabet
    return np.split(encode(text, writer.alphabet), [len(text) * 9 // 10])


def counted(seen, held_out, length, discount=0.9, kneser_ney=True, k=30):
    """The mean loss of counts with contexts of up to `length` characters, with dicts. Not Kneser and Ney: Witten and Bell."""
    tables = []
    for n in range(length + 1):
        if n < length and kneser_ney:  # each gram once for each different character before it
            grams = [gram[1:] for gram in {tuple(seen[i - n - 1 : i + 1]) for i in range(n + 1, len(seen))}]
        else:
            grams = [tuple(seen[i - n : i + 1]) for i in range(n, len(seen))]
        found = {}
        for gram in grams:
            context = found.setdefault(gram[:-1], {})
            context[gram[-1]] = context.get(gram[-1], 0) + 1
        tables.append(found)
    losses = []
    for i in range(128, len(held_out)):
        weight = 1 / k
        for n, found in enumerate(tables):
            context = found.get(tuple(held_out[i - n : i]), {})
            if context:
                total, times = sum(context.values()), context.get(held_out[i], 0)
                if kneser_ney:
                    weight = (max(times - discount, 0) + discount * len(context) * weight) / total
                else:
                    weight = (times + len(context) * weight) / (total + len(context))
        losses.append(-np.log(weight))
    return np.mean(losses)


def test_the_mixed_counts_are_probabilities():
    """Over all characters that may come next they sum to 1."""
    seen = np.random.default_rng(0).integers(3, size=60).tolist()
    for length in (0, 1, 3):
        sums = sum(np.exp(-counted(seen, [0, 1, 2, 1] * 32 + [last], length, k=3)) for last in range(3))
        assert np.isclose(sums, 1)


def from_last(writer, held_out, length, step):
    places = np.arange(128, len(held_out), step)
    losses = []
    for ends in np.array_split(places, 40):
        logits, _ = transformer(held_out[ends[:, np.newaxis] - np.arange(length, 0, -1)], writer.params, **BLOCK)
        losses.append(cross_entropy(logits[:, -1], held_out[ends])[0] * len(ends))
    return sum(losses) / len(places)


@pytest.mark.thorough
def test_counts_do_better_than_the_writer(writer, prose):
    seen, held_out = (part.tolist() for part in prose)
    whole, eight = (from_last(writer, prose[1], length, step=5) for length in (64, 8))
    for discount in (0.75, 0.9):
        counts = {length: counted(seen, held_out, length, discount) for length in (2, 3, 4, 5, 6)}
        assert counts[2] > 1.7 and counts[3] > whole, "the control: two or three are not enough"
        assert counts[4] < whole - 0.03 and max(counts[5], counts[6]) < whole - 0.05
    assert abs(counted(seen, held_out, 4, kneser_ney=False) - whole) < 0.06, "the control: mixed simply, counts are no better"
    assert 0 < eight - whole < 0.04 and whole < np.log(30) / 2
    assert from_last(writer, prose[1], 3, step=5) > whole + 0.3  # three are not enough for the model


def test_seven_other_writers_are_as_good():
    rows = json.loads((DATA / "writer_starts.json").read_text(encoding="ascii"))
    found = [np.mean(row["caches"]["the last 64"]["loss"][2:]) for row in rows]
    assert len(found) == 8 and np.ptp(found) < 0.025


@pytest.mark.parametrize("seed", range(8))
def test_the_writer_has_no_induction_head(writer, seed):
    letters = encode("abcdefghijklmnopqrstuvwxyz", writer.alphabet)
    once = np.random.default_rng(seed).permuted(np.tile(letters, (32, 1)), axis=1)
    twice = np.concatenate([once, once], axis=1)
    logits, saved = transformer(twice[:, :-1], writer.params, **BLOCK)
    assert accuracy(logits[:, 26:], twice[:, 27:]) < 0.06
    even = np.broadcast_to(np.tri(51) / np.arange(1, 52)[:, np.newaxis], (32, 1, 51, 51))
    assert max(induction_score(P, twice[:, :-1]).max() for P in saved.weights) < induction_score(even, twice[:, :-1])[0] + 0.01
    twelve = letters[written_twice(b=64, seed=seed)]  # those of the chapter
    logits, saved = transformer(twelve[:, :-1], writer.params, **BLOCK)
    assert accuracy(logits[:, 12:], twelve[:, 13:]) < 1 / 12
    assert max(induction_score(P, twelve[:, :-1]).max() for P in saved.weights) < 0.05


def test_the_writer_has_no_composed_circuit(writer):
    params = writer.params
    assert max(composed_rows(params)) <= 0.07, "the note of layer 1, with each head of layer 2"


def test_no_start_on_prose_grows_an_induction_head_and_every_start_on_words_does():
    starts = json.loads((DATA / "training_starts.json").read_text(encoding="ascii"))
    on_prose, on_words = starts["writer"], starts["block"]
    assert len(on_prose) == len(on_words) == 8
    for name, limit, least in (("copied", 1 / 12, 0.85), ("copying", 0.06, 0.6), ("rows", 0.2, 0.85)):
        assert max(np.max(row[name]) for row in on_prose) < limit and min(np.max(row[name]) for row in on_words) > least, name


def test_a_passage_of_prose_costs_as_much_after_its_own_copy_as_after_another_passage(writer):
    """Random letters are strange to this model, so the same is asked of prose."""
    again, other = copies_of_prose(writer)
    assert abs(again - other) < 0.02 and 1.2 < other < 1.8
    letters = encode("abcdefghijklmnopqrst", writer.alphabet)[written_twice()]
    logits, _ = transformer(letters[:, :-1], writer.params, **BLOCK)
    assert cross_entropy(logits[:, 12:], letters[:, 13:])[0] > np.log(len(writer.alphabet)) + 3, "strange: far worse than an even guess"
    rows = json.loads((DATA / "training_starts.json").read_text(encoding="ascii"))["writer"]
    assert len(rows) == 8 and max(row["prose"][1] - row["prose"][0] for row in rows) < 0.01, "none gains from the copy"
    assert max(row["prose"][0] - row["prose"][1] for row in rows) < 0.02


def test_the_tests_on_prose_find_less_than_a_guess_and_even_weights():
    twice = written_twice()
    even = np.broadcast_to(np.tri(23) / np.arange(1, 24)[:, np.newaxis], (64, 1, 23, 23))
    chance = induction_score(even, twice[:, :-1])[0]
    starts = json.loads((DATA / "training_starts.json").read_text(encoding="ascii"))
    assert 0.055 < chance < 0.06 and max(max(row["copying"]) for row in starts["writer"]) < chance
    assert max(row["copied"] for row in starts["writer"]) < 1 / 20 < min(row["copied"] for row in starts["block"])


def test_how_long_the_writer_was_trained_as_the_chapter_says():
    asked = inspect.signature(trained_models.text).parameters
    assert (asked["steps"].default, asked["n"].default) == (1600, 128)
    assert "text_batch(rng, learned, b=12, n=n)" in inspect.getsource(trained_models.text)
    learned = len((DATA / "prose.txt").read_text(encoding="utf-8")) * 9 // 10
    assert round(learned, -3) == 86_000 and 28 < 1600 * 12 * 128 / learned < 29


def test_percentages_are_not_rounded_twice():
    """0.16547 is 17 percent; written with three digits first, it became 16."""
    assert rounded([0.16547, 3, None]) == [0.16547, 3, None]
    starts = json.loads((DATA / "training_starts.json").read_text(encoding="ascii"))
    assert f"{100 * max(row['without'][1] for row in starts['two']):.0f}" == "17"
    assert f"{100 * max(row['copied'] for row in starts['writer']):.0f}" == "5"


@pytest.mark.parametrize("seed", range(8))
def test_a_window_keeps_the_writer_level(writer, prose, seed):
    long = text_batch(np.random.default_rng(seed), prose[1], b=8, n=256)

    def late(**more):
        logits, _ = transformer(long.tokens, writer.params, **BLOCK, **more)
        return [
            cross_entropy(logits, long.targets, keep=np.broadcast_to(within, (8, 256)))[0]
            for within in (np.arange(256) // 64 == 1, np.arange(256) // 64 == 3)
        ]

    (before, beyond), (_, repaired) = late(), late(window=128)
    assert beyond > before + 1.5 and repaired < before + 0.35
