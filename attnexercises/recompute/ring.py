"""The exercise on a ring of workers under a causal mask: who computes how many pairs in which round."""

import numpy as np

from attnexercises.engine.model import Exercise, Mistake, Probe
from attnexercises.recompute import accepts


def striped_pairs(n, workers):
    size = n // workers
    worker, turn = np.indices((workers, workers))
    owner = (worker - turn) % workers
    # token `owner + workers * t` comes no later than `worker + workers * t` if owner <= worker
    return np.where(owner <= worker, size * (size + 1) // 2, size * (size - 1) // 2)


def _oracle(n, workers):
    """Every pair of tokens is handed to its worker and its round, one by one."""
    counts = [[0] * workers for _ in range(workers)]
    for query in range(n):
        for key in range(query + 1):
            steps = 0  # until the key has come to the worker of the query
            while (key + steps) % workers != query % workers:
                steps += 1
            counts[query % workers][steps] += 1
    return np.array(counts)


def _family(bugs):
    def variant(n, workers):
        size = workers if "size_workers" in bugs else n if "size_n" in bugs else n // workers
        worker, turn = np.meshgrid(range(workers), range(workers), indexing="ij")
        owner = (worker + turn if "direction" in bugs else worker - turn) % workers
        with_own, without = size * (size + 1) // 2, size * (size - 1) // 2
        if "stretches" in bugs:
            pairs = np.select([owner == worker, owner < worker], [with_own, size * size], 0)
        elif "no_mask" in bugs:
            pairs = np.full((workers, workers), size * size)
        elif "half" in bugs:
            pairs = np.full((workers, workers), size * size / 2)
        elif "all_alike" in bugs:
            pairs = np.full((workers, workers), with_own)
        elif "none_alike" in bugs or "own_alone" in bugs:
            pairs = np.where(turn == 0, size, 0) if "own_alone" in bugs else np.full((workers, workers), without)
        elif "at_the_key" in bugs:
            pairs = np.where((worker + turn) % workers >= worker, with_own, without)
        elif "first_round" in bugs:
            pairs = np.where(turn == 0, with_own, without)
        elif "strict" in bugs:
            pairs = np.where(owner < worker, with_own, without)
        elif "turned" in bugs:
            pairs = np.where(owner >= worker, with_own, without)
        else:
            pairs = np.where(owner <= worker, with_own, without)
        return pairs.T if "transposed" in bugs else pairs

    return variant


def _sizes(n, workers):
    return lambda rng: (n, workers)


_STRIPED = Exercise(
    "striped_pairs",
    title="Stripes for the ring",
    chapter="recompute",
    level="medium",
    minutes=15,
    blanks=2,
    oracle=_oracle,
    solution=striped_pairs,
    family=_family,
    probes=(
        Probe("12 tokens, 4 workers", _sizes(12, 4)),
        Probe("15 tokens, 5 workers", _sizes(15, 5), why="An odd number of workers, an odd number of tokens for each."),
        Probe("one worker", _sizes(7, 1), why="No ring at all: all pairs of a causal mask."),
        Probe("one token each", _sizes(3, 3), why="Blocks of a single pair, visible or not."),
    ),
    mistakes=(
        Mistake(
            "stretches", "size (size + 1) / 2, size * size or 0",
            "You counted as if a worker had neighbouring tokens; here worker w has w, w + W, w + 2W and so on.", 1,
        ),
        Mistake("no_mask", "size * size", "You counted all pairs of the two blocks; the mask hides about half of each.", 1),
        Mistake(
            "half", "size * size / 2",
            "Half of each block is what it comes to for large blocks; the exact number is a whole one.", 2,
        ),
        Mistake(
            "all_alike", "size (size + 1) / 2 everywhere",
            "You counted every round like the first; later a token may not always see the key at its own place.", 2,
        ),
        Mistake(
            "first_round", "size (size - 1) / 2 from the second round on",
            "Where the keys' worker has the smaller number, equal places are visible as well.", 2,
        ),
        Mistake(
            "strict", "owner < worker",
            "In the first round a token sees itself, too.", 2,
        ),
        Mistake(
            "turned", "owner >= worker",
            "The larger count stands where the keys come later; it belongs where they come no later than the query.", 2,
        ),
        Mistake(
            "direction", "owner = worker + turn",
            "The keys travel the other way: in round 1 worker 1 holds the keys of worker 0.", 3,
        ),
        Mistake(
            "transposed", "[turn, worker]",
            "The two axes are swapped: a row is a worker, a column a round.", 3,
        ),
        Mistake(
            "none_alike", "size (size - 1) / 2 everywhere",
            "Equal places are left out everywhere: they are visible where the keys' worker has no larger number.", 2,
            sets="counts",
        ),
        Mistake(
            "at_the_key", "row = worker that had the keys first",
            "The rows are the workers that had the keys at first; a row belongs to the worker of the queries.", 3,
            sets="owner",
        ),
        Mistake(
            "size_workers", "size = workers",
            "The number of workers was taken for the number of tokens that each of them has.", 1,
            sets="size",
        ),
        Mistake(
            "size_n", "size = n",
            "The number of all tokens was taken for the number that each worker has.", 1,
            sets="size",
        ),
        Mistake(
            "own_alone", "size in the first round",
            "Each token was counted with itself alone; it sees the tokens before it as well.", 1,
            sets="counts",
        ),
    ),
    hints=(
        "Write down which tokens two of the workers have, and which pairs of them are visible.",
        "Place s of one stripe and place t of another: for s > t visible, for s < t hidden. Only for s = t does it "
        "matter which of the two workers has the smaller number.",
        "So there are size (size - 1) / 2 pairs, and `size` more if the keys' worker has no larger number. In round t worker w has "
        "the keys that started t places to its left.",
    ),
    why="Each worker has early and late tokens, so any two stripes share about half of their pairs. Only the pairs at "
    "equal places depend on who comes first.",
    insight="In each round the busiest and the idlest worker differ by at most `size` pairs, of about size * size / 2.",
    accepts=accepts.STRIPED_PAIRS,
    outputs=("pairs",),
)  # fmt: skip

EXERCISES = (_STRIPED,)
