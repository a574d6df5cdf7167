"""The exercise on scores of rotated queries and keys: only the distance is left."""

import math

import numpy as np

from attnexercises.engine.model import Exercise, Mistake, Probe


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


def _inputs(queries, keys, d, first_query, first_key=0):
    def make(rng):
        q, k = rng.standard_normal((queries, d)), rng.standard_normal((keys, d))
        return q, k, first_query + np.arange(queries), first_key + np.arange(keys)

    return make


_SCORES = Exercise(
    title="Scores that know the distance", level="easy", minutes=5, blanks=1, oracle=_oracle, solution=rope_scores,
    probes=(
        Probe("3 queries at 2 to 4, 5 keys", _inputs(3, 5, 4, 2)),
        Probe("4 queries and 4 keys", _inputs(4, 4, 4, 3), "equal", "If positions are mixed up, their shapes still fit here."),
        Probe("one query at 9, keys 2 to 9", _inputs(1, 8, 6, 9, 2), why="This is one new token and a cache that begins at 2."),
        Probe("one pair of features, far away", _inputs(2, 3, 2, 801, 800), "edge", "The positions are large, and the distances are small."),
    ),
    mistakes=(
        Mistake("q_only", "turned(k, pos_k) -> k",
            "Only the queries are turned. The scores depend on the distance only if the keys are turned, too.", 1,
            sets="which"),
        Mistake("opposite", "turned(k, pos_k) -> turned(k, -pos_k)",
            "Queries and keys turn in opposite directions, so the scores depend on the sum of the positions.", 2, sets="which"),
        Mistake("same_pos", "return turned(q, pos_q) @ -> return turned(q, np.arange(len(q))) @",
            "The queries are turned as if they stood at 0, 1, and so on. Use their own positions.", 1, sets="position"),
        Mistake("twice", "pos[:, -> (2 * pos)[:,",
            "The rotation is applied twice, so the scores depend on twice the distance.", 2),
        Mistake("k_only", "turned(q, pos_q) -> q",
            "Only the keys are turned. The scores depend on the distance only if the queries are turned, too.", 1,
            sets="which"),
        Mistake("none", "turned(q, pos_q) @ turned(k, pos_k).T -> q @ k.T",
            "Neither queries nor keys are turned, so these scores do not depend on positions.", 1, sets="which"),
        Mistake("both_back", "np.sin(angles) -> -np.sin(angles)",
            "Both turn backwards, or sine and cosine are exchanged in both. So before and after are exchanged.", 2, sets="which"),
        Mistake("keys_at_one", "turned(k, pos_k).T -> turned(k, np.full(len(k), pos_q[0])).T",
            "All keys were turned alike, by the position of the first query. Each key has a position of its own.", 1, sets="which position"),
        Mistake("restart_k", "turned(k, pos_k).T -> turned(k, np.arange(len(k))).T",
            "The keys are turned as if they stood at 0, 1, and so on. Use their own positions: a cache may begin later.", 1, sets="position"),
        Mistake("both_from_0", "return -> pos_q, pos_k = np.arange(len(q)), np.arange(len(k))\nreturn",
            "Both were turned by positions that start at 0. Use pos_q for the queries and pos_k for the keys.", 1, sets="which position"),
        Mistake("pos_swapped", "turned(q, pos_q) @ turned(k, pos_k) -> turned(q, pos_k) @ turned(k, pos_q)",
            "The positions are exchanged: the queries are turned by those of the keys.", 1, sets="position"),
        Mistake("half", ("[:, 0::2] -> [:, : d // 2]", "[:, 1::2] -> [:, d // 2 :]"),
            "Features half a vector apart are paired. Here neighbours are pairs.", 3, sets="pairs"),
        Mistake("one_speed", "10000 -> 1",
            "All pairs turn at the same speed. The power of 10000 is missing, or its exponent was rounded down to 0.", 3, sets="speed"),
        Mistake("times", "/ 10000 -> * 10000",
            "The angle is multiplied by the power. Divide by it, so that later pairs turn more slowly.", 3, sets="speed"),
        Mistake("base_1000", "/ 10000 -> / 1000",
            "The base is 1000 in yours. It is 10000.", 3, sets="speed"),
        Mistake("pairs_from_1", "np.arange(0, d, 2) -> np.arange(2, d + 2, 2)",
            "You counted the pairs from 1. The first pair is number 0, so its angle is the position itself.", 3, sets="speed"),
        Mistake("exponent_twice", "np.arange(0, d, 2) / d -> np.arange(0, 2 * d, 4) / d",
            "Your exponents have the factor 2 twice. If you count the columns in steps of two, the 2 of the formula is already there.", 3, sets="speed"),
        Mistake("no_minus", "cos - x[:, 1::2] * sin -> cos + x[:, 1::2] * sin",
            "Both components add their sine. A rotation has a minus in the first one.", 3, sets="turn"),
        Mistake("i_over_d", "np.arange(0, d, 2) -> np.arange(d // 2)",
            "Your exponent of pair i is i/d. It should be 2i/d.", 3, sets="speed"),
        Mistake("scaled", "@ turned(k, pos_k).T -> / np.sqrt(q.shape[1]) @ turned(k, pos_k).T",
            "The scores are divided by the root of the width. The exercise asks for the plain dot products.", 3, shows="factor"),
        Mistake("weights",
            ("return turned(q -> scores = turned(q",
             ".T -> .T\npowers = np.exp(scores - scores.max(axis=1, keepdims=True))\n"
             "return powers / powers.sum(axis=1, keepdims=True)"),
            "These are the weights. The exercise asks for the scores before the softmax.", 3, sets="result"),
        Mistake("turned_round", ("return turned(q -> return (turned(q", ".T -> .T).T"),
            "Your rows belong to keys. Each row should belong to a query.", 3, sets="result"),
    ),
    hints=(
        "Queries and keys have positions of their own. Apply the function of the exercise before to each of them.",
        "Turn the queries by pos_q and the keys by pos_k, in the same direction. Then take dot products.",
        "Multiply the turned queries by the transposed turned keys. The shape is (q, k).",
    ),
    why="In a dot product, only the difference of two turns is left. So no position has to be compared with another: each row is "
    "turned once, and the product does the rest.",
    insight="If all positions are moved by the same number, no score changes. A key is turned once for all queries, so a cache may keep it turned.",
    atol=1e-10,
)  # fmt: skip
