"""The exercise on a ring of workers under a causal mask: who computes how many pairs in which round."""

import numpy as np

from attnexercises.engine.model import Exercise, Mistake, Probe


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


def _sizes(n, workers):
    return lambda rng: (n, workers)


_STRIPED = Exercise(
    title="Stripes for the ring", level="medium", minutes=15, blanks=2, oracle=_oracle, solution=striped_pairs,
    probes=(
        Probe("12 tokens, 4 workers", _sizes(12, 4)),
        Probe("15 tokens, 5 workers", _sizes(15, 5), why="An odd number of workers, an odd number of tokens for each."),
        Probe("one worker", _sizes(7, 1), why="No ring at all: all pairs of a causal mask."),
        Probe("one token each", _sizes(3, 3), why="Blocks of a single pair, visible or not."),
    ),
    mistakes=(
        Mistake("stretches",
            ("where(owner <= worker -> where(owner == worker", "size * (size - 1) // 2 -> np.where(owner < worker, size * size, 0)"),
            "You counted as if a worker had neighbouring tokens; here worker w has w, w + W, w + 2W and so on.", 1, sets="counts"),
        Mistake("no_mask", ("(size + 1) // 2 -> size", "(size - 1) // 2 -> size"),
            "You counted all pairs of the two blocks; the mask hides about half of each.", 1, sets="counts"),
        Mistake("half", ("(size + 1) // 2 -> size / 2", "(size - 1) // 2 -> size / 2"),
            "Half of each block is what it comes to for large blocks; the exact number is a whole one.", 2, sets="counts"),
        Mistake("all_alike", "where(owner <= worker -> where(owner < workers",
            "You counted every round like the first; later a token may not always see the key at its own place.", 2, sets="counts"),
        Mistake("first_round", "where(owner <= worker -> where(turn == 0",
            "Where the keys' worker has the smaller number, equal places are visible as well.", 2, sets="counts"),
        Mistake("strict", "where(owner <= worker -> where(owner < worker",
            "In the first round a token sees itself, too.", 2, sets="counts"),
        Mistake("turned", "where(owner <= worker -> where(owner >= worker",
            "The larger count stands where the keys come later; it belongs where they come no later than the query.", 2,
            sets="counts"),
        Mistake("direction", "worker - turn -> worker + turn",
            "The keys travel the other way: in round 1 worker 1 holds the keys of worker 0.", 3),
        Mistake("transposed", "worker, turn = np -> turn, worker = np",
            "The two axes are swapped: a row is a worker, a column a round.", 3),
        Mistake("none_alike", "where(owner <= worker -> where(owner < 0",
            "Equal places are left out everywhere: they are visible where the keys' worker has no larger number.", 2,
            sets="counts"),
        Mistake("at_the_key", "where(owner <= worker -> where((worker + turn) % workers >= worker",
            "The rows are the workers that had the keys at first; a row belongs to the worker of the queries.", 3,
            sets="owner counts"),
        Mistake("size_workers", "n // workers -> workers",
            "The number of workers was taken for the number of tokens that each of them has.", 1, sets="size"),
        Mistake("size_n", "n // workers -> n",
            "The number of all tokens was taken for the number that each worker has.", 1, sets="size"),
        Mistake("own_alone", ("owner <= worker, size * (size + 1) // 2 -> turn == 0, size", "size * (size - 1) // 2 -> 0"),
            "Each token was counted with itself alone; it sees the tokens before it as well.", 1, sets="counts"),
    ),
    hints=(
        "Write down which tokens two of the workers have, and which pairs of them are visible.",
        "Place s of one stripe and place t of another: for s > t visible, for s < t hidden. Only for s = t does it matter which of "
        "the two workers has the smaller number.",
        "So there are size (size - 1) / 2 pairs, and `size` more if the keys' worker has no larger number. In round t worker w has "
        "the keys that started t places to its left.",
    ),
    why="Each worker has early and late tokens, so any two stripes share about half of their pairs. Only the pairs at equal places "
    "depend on who comes first.",
    insight="In each round the busiest and the idlest worker differ by at most `size` pairs, of about size * size / 2.",
    outputs=("pairs",),
)  # fmt: skip
