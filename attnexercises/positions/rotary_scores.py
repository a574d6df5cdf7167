"""The exercise on scores of rotated queries and keys: only the distance is left."""

import math

import numpy as np

from attnexercises.engine.model import Exercise, Mistake, Probe
from attnexercises.positions import accepts
from attnexercises.positions.rotated_pairs import turned


def rope_scores(q, k, pos_q, pos_k):
    def turned(x, pos):
        d = x.shape[1]
        angles = pos[:, np.newaxis] / 10000 ** (np.arange(0, d, 2) / d)
        cos, sin = np.cos(angles), np.sin(angles)
        out = np.zeros(x.shape)
        out[:, 0::2] = x[:, 0::2] * cos - x[:, 1::2] * sin
        out[:, 1::2] = x[:, 0::2] * sin + x[:, 1::2] * cos
        return out

    return turned(q, pos_q) @ turned(k, pos_k).T


def _oracle(q, k, pos_q, pos_k):
    """By the difference of the positions: the real part of query times conjugate key times one turn."""
    d, out = q.shape[1], np.zeros((len(q), len(k)))
    for i, j in np.ndindex(out.shape):
        terms = []
        for pair in range(d // 2):
            asked = complex(q[i, 2 * pair], q[i, 2 * pair + 1])
            found = complex(k[j, 2 * pair], -k[j, 2 * pair + 1])
            angle = float(pos_q[i] - pos_k[j]) / 10000 ** (2 * pair / d)
            terms.append((asked * found * complex(math.cos(angle), math.sin(angle))).real)
        out[i, j] = math.fsum(terms)
    return out


def _family(bugs):
    def variant(q, k, pos_q, pos_k):
        if "pos_swapped" in bugs:
            pos_q, pos_k = pos_k, pos_q
        if "same_pos" in bugs:
            pos_q = np.arange(len(q))
        if "restart_k" in bugs:
            pos_k = np.arange(len(k))
        if "twice" in bugs:
            pos_q, pos_k = 2 * pos_q, 2 * pos_k
        back = -1 if "both_back" in bugs else 1
        query = q if "k_only" in bugs or "none" in bugs else turned(q, pos_q, bugs, back)
        opposite = -1 if "opposite" in bugs else 1
        key = k if "q_only" in bugs or "none" in bugs else turned(k, pos_k, bugs, opposite * back)
        scores = query @ key.T
        if "scaled" in bugs:
            scores = scores / math.sqrt(q.shape[1])
        if "weights" in bugs:
            powers = np.exp(scores - scores.max(axis=1, keepdims=True))
            scores = powers / powers.sum(axis=1, keepdims=True)
        return scores.T if "turned_round" in bugs else scores

    return variant


def _inputs(queries, keys, d, first_query, first_key=0):
    def make(rng):
        q, k = rng.standard_normal((queries, d)), rng.standard_normal((keys, d))
        return q, k, first_query + np.arange(queries), first_key + np.arange(keys)

    return make


_SCORES = Exercise(
    "rope_scores",
    title="Scores that know the distance",
    chapter="positions",
    level="easy",
    minutes=10,
    blanks=1,
    oracle=_oracle,
    solution=rope_scores,
    family=_family,
    probes=(
        Probe("3 queries at 2 to 4, 5 keys", _inputs(3, 5, 4, 2)),
        Probe("4 queries and 4 keys", _inputs(4, 4, 4, 3), "equal", "Positions that are mixed up run here."),
        Probe("one query at 9, keys 2 to 9", _inputs(1, 8, 6, 9, 2), why="One token after a cache that begins at 2."),
        Probe("one pair of features, far away", _inputs(2, 3, 2, 801, 800), "edge", "The distance is small all the same."),
    ),
    mistakes=(
        Mistake(
            "q_only", "only the queries rotated",
            "Only the queries were turned; what is left depends on the difference of positions only if the keys turn, "
            "too.", 1,
            sets="which",
        ),
        Mistake(
            "opposite", "queries by +angle, keys by -angle",
            "Queries and keys turn in opposite directions, so the scores depend on the sum of the positions.", 2,
            sets="which",
        ),
        Mistake(
            "same_pos", "queries at 0, 1, ...",
            "The queries were turned as if they stood at 0, 1, ...; they have positions of their own.", 1,
            sets="position",
        ),
        Mistake(
            "twice", "rotated twice",
            "The rotation was applied twice, so the scores depend on twice the distance.", 2,
        ),
        Mistake(
            "k_only", "only the keys rotated",
            "Only the keys were turned; what is left depends on the difference of positions only if the queries turn, "
            "too.", 1,
            sets="which",
        ),
        Mistake(
            "none", "q @ k.T",
            "Neither queries nor keys were turned: these scores know no positions.", 1,
            sets="which",
        ),
        Mistake(
            "both_back", "both by -angle",
            "Both turn backwards: before and after have changed places.", 2,
            sets="which",
        ),
        Mistake(
            "restart_k", "keys at 0, 1, ...",
            "The keys were turned as if they stood at 0, 1, ...; a cache may begin later.", 1,
            sets="position",
        ),
        Mistake(
            "pos_swapped", "queries at pos_k, keys at pos_q",
            "The positions have changed places: those of the keys were used for the queries.", 1,
            sets="position",
        ),
        Mistake(
            "half", "pairs (i, i + d/2)",
            "Features half a vector apart were paired; here neighbours are pairs.", 3,
            sets="pairs",
        ),
        Mistake(
            "i_over_d", "10000 ** (-i / d)",
            "The exponent of pair i is i/d in yours; it is 2i/d.", 3,
            sets="speed",
        ),
        Mistake(
            "scaled", "divided by the root of d",
            "The scores were divided by the root of the width; here the plain dot products are asked for.", 3,
            shows="factor",
        ),
        Mistake(
            "weights", "softmax of the scores",
            "You went on to the weights: the scores before the softmax are asked for.", 3,
        ),
        Mistake(
            "turned_round", "K Q^T",
            "Rows belong to keys in yours; a row belongs to a query.", 3,
        ),
    ),
    hints=(
        "Queries and keys each have their own positions, and each meets the function of the exercise before.",
        "Turn queries by pos_q and keys by pos_k, in the same direction. Then a dot product sees only the difference.",
        "The matrix product of the turned queries with the turned keys, transposed: shape (q, k).",
    ),
    why="Two turns meet in a dot product as their difference, so no position has to be compared with another: each row "
    "is turned once, and the product does the rest.",
    insight="Moving all positions by the same amount changes nothing. A key is turned once, whoever asks: a cache may keep it.",
    accepts=accepts.SCORES,
    atol=1e-10,
)  # fmt: skip

EXERCISES = (_SCORES,)
