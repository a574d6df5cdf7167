"""What chapter 12 says of the model that writes, with other places, other windows, and counts as its rival."""

import itertools
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
    rms_norm,
    text_batch,
    transformer,
)
from tools.recorded.training_starts import BLOCK, composed_rows, written_twice

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


@pytest.mark.thorough
def test_copies_would_help_the_writer_by_little(writer, prose):
    """What followed the longest match in the last 128 characters, mixed in, at all places. The control copies from elsewhere."""
    held_out = prose[1]
    places, text = np.arange(127, len(held_out) - 1), "".join(writer.alphabet[i] for i in held_out)
    weights = []
    for ends in np.array_split(places, 40):
        logits, _ = transformer(held_out[ends[:, np.newaxis] - np.arange(64)[::-1]], writer.params, **BLOCK)
        p = cross_entropy(logits[:, -1], held_out[ends + 1])[1]
        weights.append(p[np.arange(len(ends)), held_out[ends + 1]])
    weights, matches = np.concatenate(weights), []
    for i in places:
        window, length, place = text[i - 127 : i + 1], 8, -1
        while length > 1 and place < 0:
            place, length = window.rfind(window[-length:], 0, -1), length - 1
        matches.append((length + 1, text[i - 127 + place + length + 1]) if place >= 0 else (0, None))

    def gain(copies):
        hit, lengths = np.array([copy == text[i + 1] for i, copy in zip(places, copies, strict=True)]), np.array([m[0] for m in matches])
        early, mixed = np.arange(len(places)) < len(places) // 2, weights.copy()
        for length, half in itertools.product(range(2, 9), (early, ~early)):
            fit, here = (lengths == length) & ~half, (lengths == length) & half
            best = max(np.linspace(0, 0.9, 91), key=lambda share: np.log((1 - share) * weights[fit] + share * hit[fit]).sum())
            mixed[here] = (1 - best) * weights[here] + best * hit[here]
        return np.log(mixed).mean() - np.log(weights).mean()

    copies = [copy for _, copy in matches]
    assert 0.012 < gain(copies) < 0.025
    assert gain(np.random.default_rng(0).permutation(np.array(copies, object))) < 0.003


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


@pytest.mark.parametrize("length", [16, 32, 60])
def test_the_writer_gains_nothing_from_a_passage_that_it_has_just_read(writer, prose, length):
    begins = np.random.default_rng(length).integers(len(prose[1]) - length, size=200)
    passages = prose[1][begins[:, np.newaxis] + np.arange(length)]
    twice = np.concatenate([passages, passages], axis=1)
    logits, _ = transformer(twice[:, :-1], writer.params, **BLOCK)
    first, second = (
        cross_entropy(logits[:, part], twice[:, 1:][:, part])[0]
        for part in (slice(8, length - 1), slice(length + 8, 2 * length - 1))
    )
    assert abs(first - second) < 0.06, "a head that copies would bring the second near zero"


def test_the_writer_has_no_composed_circuit(writer):
    params = writer.params
    assert max(composed_rows(params)) <= 0.07, "each head of layer 1, or all four, with each of layer 2"


def test_no_start_on_prose_grows_an_induction_head_and_every_start_on_words_does():
    starts = json.loads((DATA / "training_starts.json").read_text(encoding="ascii"))
    on_prose, on_words = starts["writer"], starts["block"]
    assert len(on_prose) == len(on_words) == 8
    for name, limit, least in (("copied", 1 / 12, 0.85), ("copying", 0.06, 0.6), ("rows", 0.2, 0.85)):
        assert max(np.max(row[name]) for row in on_prose) < limit and min(np.max(row[name]) for row in on_words) > least, name


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


@pytest.mark.parametrize("seed", range(8))
def test_capped_distances_keep_the_writer_level_with_all_keys(writer, prose, seed):
    """The cell's own function; the control: with no cap it computes what the library computes, and gets lost."""
    cell = next(cell for cell in json.loads((DATA.parent / "12_training.ipynb").read_text(encoding="utf-8"))["cells"] if cell["id"] == "beyond-figure")
    source = "".join(cell["source"]).partition("def by_place")[0].replace("long = text_batch", "_ = text_batch")
    names = dict(np=np, writer=writer.params, text_batch=text_batch, held_out=prose[1], rms_norm=rms_norm)
    exec(source, names)
    long = text_batch(np.random.default_rng(seed), prose[1], b=8, n=256)

    def late(logits):
        return cross_entropy(logits, long.targets, keep=np.broadcast_to(np.arange(256) // 64 == 3, (8, 256)))[0]

    windowed, _ = transformer(long.tokens, writer.params, **BLOCK, window=128)
    assert abs(late(names["capped"](long.tokens, 127)) - late(windowed)) < 0.05
    assert late(names["capped"](long.tokens, 300)) > late(windowed) + 1.5


def test_the_writer_knows_its_text_better_than_others(writer, prose):
    def loss(text):
        batch = text_batch(np.random.default_rng(0), text, b=64, n=128)
        return cross_entropy(transformer(batch.tokens, writer.params, **BLOCK)[0], batch.targets)[0]

    assert loss(prose[1]) - loss(prose[0]) > 0.15
