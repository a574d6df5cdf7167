"""What takes minutes in chapter 13: every head taken out in turn, random sets of heads, and sentences in random order.

    python -m tools.recorded.pronoun_heads

reads the model of `make model` and writes chapters/data/pronoun_heads.npz, in about half an hour on one core:

- out (2, 72, 12): without one head, by zero and by its mean, how many of the four pairs of each gender template are right;
- moved (2, 72): the mean cosine between the vectors of these sentences with and without it;
- none (12,), six (2, 12), sets (8, 6, 2), random (2, 8, 12): the same without any, without six, without random six;
- shuffled (8, 72, 48): of each template, the pairs right by the map when the words stand in one of eight random orders.

`tests/pretrained/test_claims_of_the_chapter.py` computes some of it again.
"""

import csv
from pathlib import Path

import numpy as np

from attnlib.pretrained import load_pretrained

ROOT = Path(__file__).resolve().parents[2]
PAIRS = ROOT / "chapters" / "data" / "pronoun_pairs.csv"
FILE = ROOT / "chapters" / "data" / "pronoun_heads.npz"
MODEL = ROOT / "_vendor" / "minilm"
SIX = [(1, 3), (4, 5), (1, 0), (1, 1), (2, 4), (3, 3)]  # right on the most gender pairs, by the map


def pairs(kind=None):
    """The rows of the file, of one kind or of all."""
    with open(PAIRS, encoding="ascii", newline="") as file:
        return [row for row in csv.DictReader(file) if kind in (None, row["kind"])]


def finds(model, rows, order=None):
    """For each row and each of all heads: is the weight from the pronoun to the right noun the larger one?

    `order(words, row)` may put the words of a sentence into another order.
    """
    found = []
    for row in rows:
        text = row["sentence"]
        if order is not None:
            text = " ".join(order(text.rstrip(".").replace(",", "").split(), row)) + "."
        ids = model.tokenize(text)
        words, weights = model.words(ids), model.run(ids)[1]
        pronoun, right, wrong = (words.index(row[name]) for name in ("pronoun", "right", "wrong"))
        found.append((weights[..., pronoun, right] > weights[..., pronoun, wrong]).ravel())
    return np.array(found)


def answers(model, rows, without=()):
    """For each row: is its sentence nearer to what is said of the right noun? And the vectors of the sentences."""
    asked = [row["answer"].format(noun=row[which]) for row in rows for which in ("right", "wrong")]
    texts = sorted({row["sentence"] for row in rows} | set(asked))
    vectors = dict(zip(texts, model.embed(texts, without=without), strict=True))
    sentences = np.array([vectors[row["sentence"]] for row in rows])
    right, wrong = (np.array([vectors[text] for text in asked[start::2]]) for start in (0, 1))
    return np.vecdot(sentences, right - wrong) > 0, sentences


def by_template(right):
    """Of each template's four pairs, how many have both sentences right."""
    return right.reshape(-1, 4, 2, *right.shape[1:]).all(axis=2).sum(axis=1)


def shuffled(seed):
    def order(words, row):
        rng = np.random.default_rng([seed, ("property", "gender", "number").index(row["kind"]), int(row["template"])])
        return [words[i] for i in rng.permutation(len(words))]

    return order


def random_six(seed):
    """Six other heads, from the same layers."""
    rng, chosen = np.random.default_rng(seed), []
    for layer, _ in SIX:
        free = [head for head in range(12) if (layer, head) not in SIX + chosen]
        chosen.append((layer, int(rng.choice(free))))
    return chosen


def record():
    model, rows, people = load_pretrained(MODEL), pairs(), pairs("gender")
    means = model.head_means([row["sentence"] for row in people])
    right, whole = answers(model, people)

    def without(heads):
        found = [answers(model, people, ways) for ways in (set(heads), {head: means[head] for head in heads})]
        return [by_template(right) for right, _ in found], [np.vecdot(whole, vectors).mean() for _, vectors in found]

    arrays = {"none": by_template(right), "six": without(SIX)[0]}
    sets = [random_six(seed) for seed in range(8)]
    arrays |= {"sets": sets, "random": np.swapaxes([without(heads)[0] for heads in sets], 0, 1)}
    single = []
    for head in np.ndindex(6, 12):
        single.append(without([head]))
        print(head, [int(way.sum()) for way in single[-1][0]], flush=True)
    arrays |= {"out": np.swapaxes([out for out, _ in single], 0, 1), "moved": np.swapaxes([moved for _, moved in single], 0, 1)}
    arrays["shuffled"] = np.array([by_template(finds(model, rows, shuffled(seed))).T for seed in range(8)])
    np.savez_compressed(
        FILE, **{name: np.asarray(array, np.float32 if name == "moved" else np.int8) for name, array in arrays.items()}
    )


if __name__ == "__main__":
    record()
