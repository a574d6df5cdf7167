"""The exercise on a ring of workers under a causal mask: who computes how many pairs in which round."""

import numpy as np

from attnexercises.engine.model import Exercise, Mistake, Probe


def striped_pairs(n, workers):
    size = n // workers
    worker, turn = np.indices((workers, workers))
    owner = (worker - turn) % workers
    # token `owner + workers * a` comes no later than `worker + workers * a` if owner <= worker
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
                "Half of each block is only an approximation for large blocks; the exact count is a whole number.", 2, sets="counts"),
        Mistake("all_alike", "where(owner <= worker -> where(owner < workers",
                "You gave every round the larger count. Keys do not always come from a smaller number: to the left of worker 0 is the last "
                "worker.", 2, sets="counts"),
        Mistake("first_round", "where(owner <= worker -> where(turn == 0",
                "If the owner of the keys has the smaller number, a token also sees the key at its own place.", 2, sets="counts"),
        Mistake("strict", "where(owner <= worker -> where(owner < worker",
                "In the first round a token also sees itself.", 2, sets="counts"),
        Mistake("turned", "where(owner <= worker -> where(owner >= worker",
                "You gave the larger count to keys that come later than the query; it belongs to keys that come no later.", 2, sets="counts"),
        Mistake("direction", "worker - turn -> worker + turn",
            "The keys travel the other way: in round 1 worker 1 holds the keys of worker 0.", 3),
        Mistake("transposed", "worker, turn = np -> turn, worker = np",
                "The two axes are swapped: a row belongs to a worker, and a column to a round.", 3),
        Mistake("none_alike", "where(owner <= worker -> where(owner < 0",
                "You left out equal places everywhere; they are visible if the owner of the keys has no larger number.", 2, sets="counts"),
        Mistake("at_the_key", "where(owner <= worker -> where((worker + turn) % workers >= worker",
                "Your rows belong to the owners of the keys; a row should belong to the worker of the queries.", 3, sets="owner counts"),
        Mistake("size_workers", "n // workers -> workers",
                "You took the number of workers for the number of tokens that each of them has.", 1, sets="size"),
        Mistake("size_n", "n // workers -> n",
                "You took the number of all tokens for the number that each worker has.", 1, sets="size"),
        Mistake("own_alone", ("owner <= worker, size * (size + 1) // 2 -> turn == 0, size", "size * (size - 1) // 2 -> 0"),
                "You counted each token with itself alone; it also sees the tokens before it.", 1, sets="counts"),
    ),
    hints=(
        "Write down the tokens of two workers, for instance of workers 0 and 1 out of four. Which pairs of them are visible?",
        "Compare place a of the queries' stripe with place b of the keys' stripe. If a > b, the pair is visible; if a < b, it is "
        "hidden. Only for a = b does it matter which of the two workers has the smaller number.",
        "There are size (size - 1) / 2 pairs with a > b. Add `size` pairs if the owner of the keys has no larger number. In round "
        "`turn`, a worker holds the keys of the worker `turn` places to its left, counted around the ring.",
    ),
    why="Each worker has early and late tokens, so about half of the pairs of any two stripes are visible. Only the pairs at "
    "equal places depend on who comes first.",
    insight="In each round the busiest and the idlest worker differ by at most `size` pairs, of about size * size / 2.",
    outputs=("pairs",),
)  # fmt: skip
