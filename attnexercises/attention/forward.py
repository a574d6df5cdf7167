"""The exercise on the formula of attention, and a wrong attention for `attention_spot`."""

import math

import numpy as np

from attnexercises.attention import accepts, forward_mistakes
from attnexercises.engine.model import Exercise, Probe
from attnexercises.softmax.stable import plain_softmax


def _sdpa_oracle(query, key, value):
    out = np.zeros((*query.shape[:-1], value.shape[-1]))
    for *lead, i in np.ndindex(query.shape[:-1]):
        lead = tuple(lead)
        keys, values, wanted = key[lead].tolist(), value[lead].tolist(), query[lead][i].tolist()
        scores = [sum(a * b for a, b in zip(wanted, k, strict=True)) / math.sqrt(len(wanted)) for k in keys]
        powers = [math.exp(score - max(scores)) for score in scores]
        for feature in range(value.shape[-1]):
            mixed = sum(power * v[feature] for power, v in zip(powers, values, strict=True))
            out[(*lead, i, feature)] = mixed / sum(powers)
    return out


def sdpa(query, key, value):
    scores = query @ key.mT / np.sqrt(query.shape[-1])
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    return weights @ value


def _sdpa_family(bugs):
    def turned(key):
        if "no_transpose" in bugs:
            return key
        if "reshape_k" in bugs:
            return key.reshape(*key.shape[:-2], key.shape[-1], key.shape[-2])
        if "T_all" in bugs:
            return key.T
        return key.mT

    def softmax(scores):
        if "no_softmax" in bugs:
            return scores
        axis = -2 if "axis_q" in bugs else 0 if "axis_0" in bugs else 1 if "axis_1" in bugs else -1
        if "axis_both" in bugs:
            axis = (-2, -1)
        elif "axis_all" in bugs:
            axis = None
        if "causal" in bugs:
            scores = np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)
        if "sigmoid" in bugs:
            return 1 / (1 + np.exp(-scores))
        if "hardmax" in bugs:
            return np.eye(scores.shape[-1])[scores.argmax(axis=-1)]
        largest = 0.0 if "no_max" in bugs else scores.max(axis=axis, keepdims=True)
        if "max_axis_q" in bugs:
            largest = scores.max(axis=-2, keepdims=True)
        exponentials = np.exp(scores - largest)
        if "not_normalised" in bugs:
            return np.exp(scores)
        weights = exponentials / exponentials.sum(axis=axis, keepdims="sum_no_keepdims" not in bugs)
        if "log_weights" in bugs:
            return np.log(weights)
        return plain_softmax(weights) if "softmax_twice" in bugs else weights

    def turned_to_cosines(products, query, key):
        lengths = np.linalg.norm(key, axis=-1)[..., np.newaxis, :]
        return products / np.linalg.norm(query, axis=-1, keepdims=True) / lengths * divisor(query, key, query)

    def divisor(query, key, value):
        if "no_scale" in bugs:
            return 1.0
        if "scale_d" in bugs:
            return float(query.shape[-1])
        if "scale_times" in bugs:
            return 1 / math.sqrt(query.shape[-1])
        if "scale_v" in bugs:
            return math.sqrt(value.shape[-1])
        if "scale_axis_0" in bugs or "scale_axis_1" in bugs:
            return math.sqrt(query.shape["scale_axis_1" in bugs])
        return math.sqrt(key.shape[-2] if "scale_nk" in bugs else query.shape[-1])

    def variant(query, key, value):
        searched = key[:1] if "first_batch_k" in bugs and key.ndim > 2 else key
        scores = searched @ turned(query) if "roles_swapped" in bugs else query @ turned(searched)
        if "negative" in bugs:
            scores = -scores
        elif "cosine" in bugs:
            scores = turned_to_cosines(scores, query, searched)
        if "scale_after" in bugs:
            weights = softmax(scores) / divisor(query, key, value)
        else:
            weights = softmax(scores / divisor(query, key, value))
        if "return_p" in bugs:
            return weights
        return (weights.mT if "p_T" in bugs else weights) @ (key if "values_k" in bugs else value)

    return variant


def _inputs(query, key, value, size=1.0):
    def make(rng):
        return tuple(size * rng.standard_normal(shape) for shape in (query, key)) + (rng.standard_normal(value),)

    return make


def _rows_apart(rng):
    """The first feature adds 1000 to all scores of one row and takes 1000 from all of another, and from a key's."""
    query, key, value = _inputs((4, 4), (5, 4), (5, 2))(rng)
    query[:, 0], key[:, 0] = [40.0, 0.0, -40.0, 1.0], [50.0, 50.0, 50.0, 50.0, 10.0]
    return query, key, value


def _query_of_zeros(rng):
    query, key, value = _inputs((3, 6), (5, 6), (5, 4))(rng)
    query[1], key[2] = 0.0, 0.0
    return query, key, value


_SDPA = Exercise(
    "sdpa",
    title="Attention without loops",
    chapter="attention",
    level="medium",
    minutes=15,
    blanks=3,
    oracle=_sdpa_oracle,
    solution=sdpa,
    family=_sdpa_family,
    probes=(
        Probe("all sizes differ", _inputs((2, 3, 6), (2, 5, 6), (2, 5, 4))),
        Probe("no batch", _inputs((3, 6), (5, 6), (5, 4)), why="no leading axis at all"),
        Probe("other sizes, fewer queries", _inputs((2, 2, 9), (2, 7, 9), (2, 7, 5)), why="a second look at all sizes"),
        Probe("q = k = d = v", _inputs((2, 4, 4), (2, 4, 4), (2, 4, 4)), "equal", "square, but with another batch"),
        Probe("all sizes equal", _inputs((4, 4, 4), (4, 4, 4), (4, 4, 4)), "equal"),
        Probe("two leading axes", _inputs((2, 3, 4, 6), (2, 3, 5, 6), (2, 3, 5, 7)), why="batch and head"),
        Probe("large scores", _inputs((2, 3, 6), (2, 5, 6), (2, 5, 4), size=60.0), "edge", "their exponentials overflow"),
        Probe(
            "three leading axes, one of size 1, one query", _inputs((2, 1, 3, 1, 5), (2, 1, 3, 4, 5), (2, 1, 3, 4, 2)),
            "edge", "every axis stays, whatever its size, and any number of them may stand in front",
        ),
        Probe("one key, one feature", _inputs((3, 2), (1, 2), (1, 1)), "edge", "its weight is 1, and no axis is lost"),
        Probe("rows far apart", _rows_apart, "edge", "each row needs its own maximum, and no other shift"),
        Probe("a query of zeros", _query_of_zeros, "edge", "all its scores are 0, so that it takes the mean of the values"),
    ),
    mistakes=forward_mistakes.SDPA,
    hints=(
        "Each row of the scores belongs to a query and each column to a key. For that the last two axes of the keys, "
        "and no others, have to change places.",
        "Scale first: the dot products are divided by the root of the number of features. Then each row, that is each "
        "query, gets a softmax of its own, along the last axis.",
        "Three matrix steps. Scores: queries times transposed keys, over the root of `query.shape[-1]`. Weights: "
        "`softmax` of the scores. Output: weights times values.",
    ),
    why="`key.mT` exchanges the last two axes only, so any number of leading axes works. The softmax is written out "
    "here; with the one from the first cell of the chapter the function is three lines.",
    insight="Three lines, and q, k, d and v may all differ: everything later in the book is built around them.",
    accepts={
        "loop over queries": lambda query, key, value: np.stack(
            [_one_query(query[..., i, :], key, value) for i in range(query.shape[-2])], axis=-2
        ),
        "einsum": lambda query, key, value: np.einsum(
            "...qk,...kv->...qv",
            plain_softmax(np.einsum("...qd,...kd->...qk", query, key) / np.sqrt(query.shape[-1])),
            value,
        ),
        "query scaled first": lambda query, key, value: (
            plain_softmax((query / query.shape[-1] ** 0.5) @ key.swapaxes(-1, -2)) @ value
        ),
        **accepts.SDPA,
    },
)  # fmt: skip


def _one_query(query, key, value):
    weights = plain_softmax((key @ query[..., None])[..., 0] / math.sqrt(query.shape[-1]))
    return (weights[..., None, :] @ value)[..., 0, :]


# spot_attention: the reader sees the weights of `suspect`

suspect = _sdpa_family(frozenset({"axis_q"}))

EXERCISES = (_SDPA,)
