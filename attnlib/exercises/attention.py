"""Exercises of the chapter on attention: the formula, one weight by hand, a bug to spot, a shape."""

import math

import numpy as np

from attnlib.exercises._model import Exercise, Mistake, Probe, value_exercise

# sdpa


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
        axis = -2 if "axis_q" in bugs else 0 if "axis_0" in bugs else -1
        largest = 0.0 if "no_max" in bugs else scores.max(axis=axis, keepdims=True)
        exponentials = np.exp(scores - largest)
        return exponentials / exponentials.sum(axis=axis, keepdims=True)

    def divisor(query, key, value):
        if "no_scale" in bugs:
            return 1.0
        if "scale_d" in bugs:
            return float(query.shape[-1])
        if "scale_times" in bugs:
            return 1 / math.sqrt(query.shape[-1])
        if "scale_v" in bugs:
            return math.sqrt(value.shape[-1])
        if "scale_axis_1" in bugs:
            return math.sqrt(query.shape[1])
        return math.sqrt(key.shape[-2] if "scale_nk" in bugs else query.shape[-1])

    def variant(query, key, value):
        searched = key[:1] if "first_batch_k" in bugs and key.ndim > 2 else key
        scores = searched @ turned(query) if "roles_swapped" in bugs else query @ turned(searched)
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


_SDPA = Exercise(
    "sdpa",
    title="Attention without loops",
    chapter="attention",
    level="medium",
    minutes=15,
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
        Probe("large scores", _inputs((2, 3, 6), (2, 5, 6), (2, 5, 4), size=60.0), "edge"),
    ),
    mistakes=(
        Mistake(
            "no_scale", "softmax(QK^T) V",
            "The scores are not scaled: divide the dot products by the root of d before the softmax.", 2,
        ),
        Mistake(
            "scale_d", "softmax(QK^T / d) V",
            "You divided by d, not by its root: d terms of variance 1 add up to a standard deviation of sqrt(d).",
            2,
        ),
        Mistake(
            "scale_nk", "softmax(QK^T / sqrt(k)) V",
            "You scaled by the number of keys, a sequence length; what counts is the number of features d of a query.",
            2,
        ),
        Mistake(
            "scale_times", "softmax(QK^T * sqrt(d)) V",
            "You multiplied the scores by the root of d; the factor is one over that root, it makes them smaller.", 2,
        ),
        Mistake(
            "scale_v", "softmax(QK^T / sqrt(v)) V",
            "You scaled by the number of features of a value; a score is a sum over the features d of query and key.",
            2,
        ),
        Mistake(
            "scale_axis_1", "softmax(QK^T / sqrt(query.shape[1])) V",
            "You scaled by the size of axis 1: right without a batch only. The features d are always the last axis.",
            2,
        ),
        Mistake(
            "scale_after", "(softmax(QK^T) / sqrt(d)) V",
            "You scaled after the softmax, so the weights of a query sum to 1/sqrt(d); scale the scores before it.", 2,
        ),
        Mistake(
            "axis_q", "softmax over axis -2 (queries)",
            "Each column of your weights sums to 1: the softmax ran over queries; each query has to spread 1 over keys.",
            2,
        ),
        Mistake(
            "axis_0", "softmax over axis 0",
            "The softmax ran over axis 0 and mixed batch elements (or queries, without a batch); it belongs on the last axis.",
            2,
        ),
        Mistake(
            "no_softmax", "(QK^T / sqrt(d)) V",
            "There is no softmax: your weights are raw scores, can be negative and do not sum to 1.", 2,
        ),
        Mistake(
            "no_transpose", "Q @ K",
            "The keys are not transposed. It runs only where k equals d, and then pairs features with positions.", 1,
        ),
        Mistake(
            "reshape_k", "K.reshape(..., d, k) for K^T",
            "Keys and features got mixed up: `reshape` reads the same numbers in another order; it does not transpose.",
            1,
        ),
        Mistake(
            "T_all", "K.T on a batched array",
            "Right without a batch only: `.T` reverses all axes, the batch included; exchange just the last two.", 1,
        ),
        Mistake(
            "roles_swapped", "softmax(KQ^T / sqrt(d)) V",
            "Your scores have a row for each key: key and query have changed places in the product.", 1,
        ),
        Mistake(
            "p_T", "P^T V",
            "The weights were transposed before they met the values, so your outputs are sorted by key, not by query.",
            3,
        ),
        Mistake("values_k", "P K", "You averaged the keys; the weights are there to average the values.", 3),
        Mistake("return_p", "P", "You returned the attention weights; use them to average the values.", 3),
        Mistake(
            "first_batch_k", "K[0] for every batch element",
            "Right for batch element 0 only: all elements were compared with the keys of the first.", 1,
        ),
        Mistake(
            "no_max", "exp(S) / exp(S).sum(-1) without the maximum",
            "Right on ordinary scores, NaN on large ones: the softmax has to measure each row against its maximum.", 2,
        ),
    ),
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
            _softmax(np.einsum("...qd,...kd->...qk", query, key) / np.sqrt(query.shape[-1])),
            value,
        ),
        "query scaled first": lambda query, key, value: (
            _softmax((query / query.shape[-1] ** 0.5) @ key.swapaxes(-1, -2)) @ value
        ),
    },
)


def _softmax(scores):
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def _one_query(query, key, value):
    weights = _softmax((key @ query[..., None])[..., 0] / math.sqrt(query.shape[-1]))
    return (weights[..., None, :] @ value)[..., 0, :]


# two_token_weight: Q, K and V stand in the chapter


def _two_token_weight():
    query, keys = np.array([0.0, 1.0, 0.0]), np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]])
    exponentials = np.exp(keys @ query / np.sqrt(3))
    return exponentials[1] / exponentials.sum()


_ROOT = 1 / math.sqrt(3)

_TWO_TOKENS = value_exercise(
    "two_token_weight",
    title="One weight by hand",
    chapter="attention",
    level="easy",
    minutes=5,
    answer=_two_token_weight,
    oracle=lambda: 1 / (1 + math.exp(-_ROOT)),  # two scores, 0 and the root: a logistic function
    rtol=1e-6,
    atol=6e-4,  # three decimals, rounded
    wrong={
        Mistake(
            "no_scale", "e / (1 + e)",
            "That is the weight for the raw scores 0 and 1; scale them by 1/sqrt(d) first.", 2,
        ): lambda: math.e / (1 + math.e),
        Mistake(
            "scale_d", "softmax of (0, 1/3)",
            "The scores were divided by d = 3; the factor is one over the root of d.", 2,
        ): lambda: 1 / (1 + math.exp(-1 / 3)),
        Mistake(
            "scale_nk", "softmax of (0, 1/sqrt(2))",
            "The scores were divided by the root of the number of keys; it is the number of features that counts.", 2,
        ): lambda: 1 / (1 + math.exp(-1 / math.sqrt(2))),
        Mistake(
            "other_key", "the weight of key 0",
            "That is the weight of key 0, the one that does not match: together the two weights make one.", 1,
        ): lambda: 1 / (1 + math.exp(_ROOT)),
        Mistake(
            "half", "query 0, or softmax along the queries",
            "One half is the weight of query 0, or of a softmax down the column; take row 1 and softmax along it.", 1,
        ): lambda: 0.5,
        Mistake(
            "no_softmax", "1/sqrt(3)", "That is the scaled score; a softmax has to make a weight of it.", 3
        ): lambda: _ROOT,
        Mistake(
            "no_sum", "exp(1/sqrt(3))",
            "A weight cannot exceed one: you have the exponential; divide it by the sum of both exponentials.", 3,
        ): lambda: math.exp(_ROOT),
        Mistake(
            "no_exp", "score over sum of scores",
            "You divided the score by the sum of the scores; each has to pass through the exponential first.", 3,
        ): lambda: 1.0,
    },
    hints=(
        "Row 1 of Q meets each row of K. One of the two dot products is 0.",
        "Divide both dot products by the root of d. How many features does a query have here?",
        "Take the exponential of both scaled scores; that of 0 is 1. The weight of key 1 is the share that its "
        "exponential has in the sum of the two.",
    ),
    why="The scores of query 1 are 0 and 1/sqrt(3). Softmax of two scores is a logistic function of their difference.",
    insight="With two keys, only the difference of the two scores matters.",
)


# spot_attention: the reader sees the weights of `suspect`

suspect = _sdpa_family(frozenset({"axis_q"}))


def _spot_attention():
    # The columns of the map sum to one and the rows do not.
    return "wrong axis"


def _name_of_the_bug():
    """Find out by running: which sums of the suspect's weights are one?"""
    rng = np.random.default_rng(0)
    weights = suspect(rng.standard_normal((3, 6)), rng.standard_normal((5, 6)), np.eye(5))
    return "wrong axis" if np.allclose(weights.sum(axis=0), 1) else "something else"


_SPOT = value_exercise(
    "spot_attention",
    title="Spot the bug",
    chapter="attention",
    level="easy",
    minutes=5,
    answer=_spot_attention,
    oracle=_name_of_the_bug,
    wrong={
        Mistake(
            "no_scale", "scale missing",
            "Without the factor the weights are sharper, but each row would still sum to 1; add up a row here.", 2,
        ): lambda: "no scale",
        Mistake(
            "scale_after", "scale after softmax",
            "Then every row would sum to the same number, 1/sqrt(d); here the rows sum to different numbers.", 2,
        ): lambda: "scale after",
        Mistake(
            "no_softmax", "no softmax",
            "Raw scores of random vectors would be negative in about half of the cells; here none is.", 2,
        ): lambda: "no softmax",
        Mistake(
            "p_T", "transposed",
            "Transposed weights would have 5 rows, one per key; count the rows of the map.",
            3,
        ): lambda: "transposed",
    },
    hints=(
        "Add up the numbers of one row, then of another.",
        "What does each row of weights have to sum to? Where else in the map do you find that sum?",
        "Which step makes things sum to one, and along which axis did it run here?",
    ),
    why="A softmax makes the axis along which it runs sum to one. Here the columns do: it ran along the queries.",
    insight="A test of one line, `weights.sum(axis=-1)`, finds this bug on any input.",
)


# attention_shape


def _attention_shape():
    query, value = (4, 128, 64), (4, 200, 48)
    return (*query[:-1], value[-1])


def _shape_by_running():
    tokens, context = np.zeros((4, 128, 1)), np.zeros((4, 200, 1))
    query, key, value = (rows @ np.zeros((1, size)) for rows, size in ((tokens, 64), (context, 64), (context, 48)))
    return (query @ key.mT @ value).shape


_SHAPE = value_exercise(
    "attention_shape",
    title="Which shape?",
    chapter="attention",
    level="easy",
    minutes=5,
    answer=_attention_shape,
    oracle=_shape_by_running,
    wrong={
        Mistake(
            "weights", "(b, q, k)",
            "That is the shape of the weights; they are not the end, they average the values.", 2,
        ): lambda: (4, 128, 200),
        Mistake(
            "keys", "(b, k, v)",
            "One row per key: but it is the queries that get an answer, one row each.", 1,
        ): lambda: (4, 200, 48),
        Mistake(
            "features_d", "(b, q, d)",
            "The features d of queries and keys are summed over in the scores; the output has those of the values.",
            2,
        ): lambda: (4, 128, 64),
        Mistake(
            "model", "(b, q, m)",
            "512 is the width of a token; the values were projected to fewer features, and nothing changed them back.",
            2,
        ): lambda: (4, 128, 512),
        Mistake(
            "no_batch", "(q, v)",
            "Right for one sequence; the batch of 4 stays in front.", 3,
        ): lambda: (128, 48),
        Mistake(
            "keys_d", "(b, k, d)",
            "That is the shape of the keys; the output has a row for each query and the features of the values.", 1,
        ): lambda: (4, 200, 64),
        Mistake(
            "batch_last", "(q, v, b)",
            "The three sizes are right; the batch comes first, as in every array of the course.", 3,
        ): lambda: (128, 48, 4),
    },
    hints=(
        "Who asks, and how many ask? Each of them gets one row.",
        "Each output row is an average of values, so it has as many features as a value.",
        "(batch, queries, features of a value).",
    ),
    why="The rows of the output are those of the queries, its columns those of the values; the batch stays in front.",
    insight="The number of keys and the features d are both summed over: neither appears in the output's shape.",
)

EXERCISES = (_TWO_TOKENS, _SDPA, _SPOT, _SHAPE)
