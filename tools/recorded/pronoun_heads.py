"""What takes minutes in chapter 13: every head taken out in turn, and sets of six heads.

    python -m tools.recorded.pronoun_heads

reads the model of `make model` and writes chapters/data/pronoun_heads.npz, in some minutes on one core. Heads are
taken out of the sentences with a pronoun and never out of the answers that these are compared with. The *pull* of a pronoun
is how far the sentence moves from one answer to the other when *he* takes the place of *she*:

- none (12,): the pull with all heads, the mean of each gender template's four pairs;
- out (2, 72): without one head, by zero and by its mean, the mean of all pairs;
- six (2,), sets (8, 6, 2), random (2, 8): without the six heads with the best maps, and without six others from the same layers.

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


def finds(model, rows):
    """For each row and each of all heads: is the weight from the pronoun to the right noun the larger one?"""
    found = []
    for row in rows:
        ids = model.tokenize(row["sentence"])
        words, weights = model.words(ids), model.run(ids)[1]
        pronoun, right, wrong = (words.index(row[name]) for name in ("pronoun", "right", "wrong"))
        found.append((weights[..., pronoun, right] > weights[..., pronoun, wrong]).ravel())
    return np.array(found)


def answers(model, rows):
    """For each row, the vector of its right answer minus that of its wrong one."""
    right, wrong = ([row["answer"].format(noun=row[which]) for row in rows] for which in ("right", "wrong"))
    return model.embed(right) - model.embed(wrong)


def pulls(vectors, toward):
    """For each pair: how far its two sentences move toward their right answers when the pronoun changes."""
    return np.vecdot(vectors, toward).reshape(-1, 2).sum(axis=1)


def by_template(right):
    """Of each template's four pairs, how many have both sentences right."""
    return right.reshape(-1, 4, 2, *right.shape[1:]).all(axis=2).sum(axis=1)


def random_six(seed):
    """Six other heads, from the same layers."""
    rng, chosen = np.random.default_rng(seed), []
    for layer, _ in SIX:
        free = [head for head in range(12) if (layer, head) not in SIX + chosen]
        chosen.append((layer, int(rng.choice(free))))
    return chosen


def record():
    model, people = load_pretrained(MODEL), pairs("gender")
    texts, toward = [row["sentence"] for row in people], answers(model, people)
    means = model.head_means(texts)

    def pull(heads):  # by zero and by the mean
        return [pulls(model.embed(texts, without=ways), toward).mean() for ways in (set(heads), {head: means[head] for head in heads})]

    sets = [random_six(seed) for seed in range(8)]
    arrays = {"none": pulls(model.embed(texts), toward).reshape(12, 4).mean(axis=1), "sets": np.array(sets, np.int8)}
    arrays |= {"six": pull(SIX), "random": np.transpose([pull(heads) for heads in sets])}
    arrays["out"] = np.transpose([pull([head]) for head in np.ndindex(6, 12)])
    np.savez_compressed(FILE, **{name: np.asarray(array) for name, array in arrays.items()})


if __name__ == "__main__":
    record()
