"""The exercise on the forward pass of Flash attention, and a wrong one for `flash_spot`."""

import math

import numpy as np

from attnexercises.engine.model import Exercise, Probe
from attnexercises.method.access import HELD_AT_ONCE, held_at_once, meets_again, most_at_once, most_waiting
from attnexercises.method.trace import watched
from attnexercises.flash import forward_mistakes


def flash_forward(query, key, value, block, causal):
    (q, d), k, dtype = query.shape, len(key), query.dtype
    accumulated = np.zeros((q, value.shape[1]), dtype)
    maximum, total = np.full((q, 1), -np.inf, dtype), np.zeros((q, 1), dtype)
    for start in range(0, k, block):
        columns = slice(start, start + block)
        scores = query @ key[columns].T / d**0.5
        if causal:
            positions = np.arange(start, start + scores.shape[1])
            last_visible = np.arange(q)[:, np.newaxis] + k - q
            scores = np.where(positions > last_visible, -np.inf, scores)
        new_maximum = np.maximum(maximum, scores.max(axis=1, keepdims=True))
        finite = np.where(np.isneginf(new_maximum), 0.0, new_maximum)  # nothing visible so far
        rescale = np.exp(maximum - finite)
        exponentials = np.exp(scores - finite)
        total = rescale * total + exponentials.sum(axis=1, keepdims=True)
        accumulated = rescale * accumulated + exponentials @ value[columns]
        maximum = new_maximum
    total = np.where(total == 0, 1.0, total)
    logsumexp = maximum + np.log(total)
    return accumulated / total, logsumexp[:, 0]


# The edits of some known mistakes call these. The mistake `nan_rows` forgets every guard, so it takes the first two away.


def _finite(maximum):
    return np.where(np.isneginf(maximum), 0.0, maximum)


def _or_one(total):
    return np.where(total == 0, 1.0, total)


def _softmax(scores):
    exponentials = np.exp(scores - _finite(scores.max(axis=1, keepdims=True)))
    return exponentials / _or_one(exponentials.sum(axis=1, keepdims=True))


def _forward_oracle(query, key, value, block, causal):
    q, k = len(query), len(key)
    out, logsumexp = np.zeros((q, value.shape[-1])), np.full(q, -math.inf)
    for i in range(q):
        visible = [j for j in range(k) if not causal or j <= i + k - q]
        pairs = [zip(query[i].tolist(), key[j].tolist(), strict=True) for j in visible]
        scores = [sum(a * b for a, b in pair) / math.sqrt(query.shape[-1]) for pair in pairs]
        if not visible:
            continue
        powers = [math.exp(score - max(scores)) for score in scores]
        logsumexp[i] = max(scores) + math.log(math.fsum(powers))
        for feature in range(value.shape[-1]):
            mixed = math.fsum(power * value[j, feature] for power, j in zip(powers, visible, strict=True))
            out[i, feature] = mixed / math.fsum(powers)
    return out, logsumexp


def _method(answer):
    q, k, block = 13, 24, 3
    names = ("query", "key", "value", "block", "causal")
    arguments = [dict(zip(names, _case(q, k, block, c, v=5)(np.random.default_rng(0)), strict=True)) for c in (False, True)]
    books = [watched(answer, named, ("query", "key", "value")) for named in arguments]
    held = held_at_once(answer, books, _many, q, k)
    if held:
        sizes = f" ({q} queries, {k} keys)" if held == "scores" else ""
        return (
            f"the values are right, but {HELD_AT_ONCE[held].format(q=q, k=k, pairs=q * k)} held at once, as in plain "
            f"attention{sizes}: make what one block of keys needs, and use it up before the next."
        )
    rows = most_at_once(books[0], ("key", "value"))
    if rows > block:
        return (
            f"the values are right, but it looks at {rows} keys at once where a block has {block}: "
            "walk through the keys one block at a time."
        )
    if meets_again(books[0], block):
        return (
            "the values are right, but the same queries meet a block of keys again after other blocks: one pass is "
            "enough, if what was collected is corrected when the maximum grows."
        )
    waiting = most_waiting(books[0], lambda step: step.meets("value"))
    if waiting > block:
        return (
            f"the values are right, but {waiting} keys have met a query before the value of the first is used, so that "
            f"all their scores are kept; a block has {block} keys: use up one block before the next."
        )
    return ""


def _many(q, k):
    return _case(q, k, 4, True, d=1, v=1)(np.random.default_rng(0))


def _case(q, k, block, causal=False, *, d=4, v=3, change=None):
    def make(rng):
        query, key, value = (rng.standard_normal(shape) for shape in ((q, d), (k, d), (k, v)))
        if change is not None:
            query, key = change(query, key)
        return query, key, value, block, causal

    return make


def _growing(query, key):
    """The scores of every query rise from key to key."""
    return np.abs(query), np.arange(1, len(key) + 1)[:, None] * 0.5 * np.ones_like(key)


def _far_below_zero(query, key):
    query, key = np.abs(query) + 30, np.abs(key)
    return query, -key - 30


def _rows_apart(query, key):
    return query * np.geomspace(0.1, 200, len(query))[:, None], key


def _rows_1000_apart(query, key):
    """Whole rows of scores are moved up and down."""
    query, key = query.copy(), key.copy()
    query[:, 0], key[:, 0] = 1000 * np.array([1.0, 0.0, -1.0, 0.5]), math.sqrt(key.shape[1])
    return query, key


def _rising(query, key):
    """Each block lies 900 above the one before."""
    query, key = query.copy(), key.copy()
    query[:, 0], key[:, 0] = 10.0, np.arange(len(key)) // 2 * 90 * math.sqrt(key.shape[1])
    return query, key


def _zero_scores(query, key):
    """Half of the scores are exactly 0."""
    query, key = query.copy(), key.copy()
    query[::2, 0], query[1::2, 1], key[::2, 0], key[1::2, 1] = 0.0, 0.0, 0.0, 0.0
    return query, key


def _below_every_fill(query, key):
    """Whole numbers: every score is exact, near -4e9, and hundreds from the next."""
    query, key = np.zeros_like(query), np.zeros_like(key)
    query[:, 0], query[:, 1], key[:, 0] = 2.0**16, 2.0, -(2.0**17)
    key[:, 1] = 256.0 * (np.arange(len(key)) * 3 % len(key))
    return query, key


def _a_peak(query, key):
    """The keys of the second block, in blocks of 2, lie 2000 above the others."""
    query, key = query.copy(), key.copy()
    query[:, 0], key[:, 0] = 10.0, np.where(np.arange(len(key)) // 2 == 1, 1, -1) * 100 * math.sqrt(key.shape[1])
    return query, key


def _wide(query, key):
    """One key of any four, the second, lies 2000 above the others."""
    query, key = query.copy(), key.copy()
    query[:, 0], key[:, 0] = 10.0, np.where(np.arange(len(key)) % 4 == 1, 3, 1) * 100 * math.sqrt(key.shape[1])
    return query, key


_FORWARD = Exercise(
    title="One pass over the keys", level="hard", minutes=30, blanks=7, oracle=_forward_oracle, solution=flash_forward,
    probes=(
        Probe("all sizes differ, the last block shorter", _case(5, 7, 3, v=6)),
        Probe("causal, square", _case(6, 6, 2, True, d=7, v=5), why="Blocks above, on and below the diagonal."),
        Probe("causal, two queries at the end of seven keys", _case(2, 7, 3, True, d=6, v=5),
            why="As when text is generated: the queries are the last positions."),
        Probe("growing scores", _case(5, 8, 2, change=_growing),
            why="Every block raises the maximum, so everything is rescaled each time."),
        Probe("scores far below zero", _case(4, 6, 3, change=_far_below_zero), "edge",
            why="A maximum that starts at 0 makes every exponential vanish."),
        Probe("one block", _case(3, 5, 5, d=6, v=2), why="There is nothing to rescale."),
        Probe("causal, block does not divide k", _case(7, 7, 3, True), why="A cut block that is shorter, too."),
        Probe("rows far apart", _case(5, 7, 3, change=_rows_apart), why="Each row has its own maximum."),
        Probe("causal, more queries than keys", _case(5, 3, 2, True), "edge", why="A whole block of queries sees nothing."),
        Probe("rows 1000 apart", _case(4, 7, 3, d=3, v=2, change=_rows_1000_apart), "edge",
            why="With one maximum for several rows, the lower ones vanish."),
        Probe("the second block 2000 above the others", _case(3, 8, 2, d=5, v=4, change=_a_peak), "edge",
            why="The maximum must not go down again, in whichever direction one walks: the factor would overflow."),
        Probe("one query, one key, one feature", _case(1, 1, 2, True, d=1, v=1), "edge",
            why="Axes of size 1 stay, and the block is longer than all keys."),
        Probe("one query", _case(1, 6, 4, d=2, v=3), "edge", why="As when text is generated, without a mask."),
        Probe("scores 2000 apart in every block", _case(3, 8, 4, d=5, v=2, change=_wide), "edge",
            why="Only the largest score is a safe shift, not the smallest, the first or the last of the block."),
        Probe("causal, one query more than keys", _case(5, 4, 2, True, d=3, v=2), "edge",
            why="The first query sees nothing while others of its tile see something."),
        Probe("each block 900 above the one before", _case(3, 7, 2, d=2, v=5, change=_rising), "edge",
            why="The maximum has to follow, in a tail of one key as well."),
        Probe("causal, zeros among the scores", _case(4, 7, 3, True, d=2, v=5, change=_zero_scores), "edge",
            why="A score of 0 is a score like any other."),
        Probe("causal, scores near -4e9", _case(5, 7, 2, True, v=2, change=_below_every_fill), "edge",
            why="No finite number hides a key."),
    ),
    mistakes=forward_mistakes.FLASH_FORWARD,
    hints=(
        "Keep three things for every query: the maximum, the total and the accumulated values. For the mask, "
                "number the keys over all blocks. Query i stands at position i + k - q.",
        "The total and the accumulated values are sums whose exponentials are measured against the maximum "
                "so far. When the maximum of a row rises, both sums are too large by the same factor. Divide once, "
                "at the end.",
        "The factor is exp(old maximum - new maximum), which is at most 1. Where the new maximum is still "
                "-inf, subtract 0. In the end the logsumexp is the maximum plus the logarithm of the total. Put 1 "
                "for a total of 0.",
    ),
    why="After each block the two sums are right for the keys seen so far, so a shorter last block and "
                "masked blocks need no special case. The guard is for rows in which no key has been visible so far.",
    insight="For each query you carried v + 2 numbers, however many keys there were. The score matrix never "
                "existed.",
    outputs=("out", "logsumexp"),
    cancelling=(frozenset({"strict", "one_ahead"}),),
    method=_method,
)  # fmt: skip


# spot_flash: the reader sees how wrong `suspect` is for each block size

suspect = _FORWARD.family(frozenset({"pad_zero_keys"}))
