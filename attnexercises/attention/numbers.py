"""Two questions of the chapter on attention: one weight by hand, one shape."""

import math

import numpy as np

from attnexercises.engine.model import Mistake, value_exercise

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
    mistakes=(
        Mistake("no_scale", lambda: math.e / (1 + math.e), "That is the weight for the raw scores 0 and 1; scale them by 1/sqrt(d) first.", 2),
        Mistake("scale_d", lambda: 1 / (1 + math.exp(-1 / 3)), "The scores were divided by d = 3; the factor is one over the root of d.", 2),
        Mistake("scale_nk", lambda: 1 / (1 + math.exp(-1 / math.sqrt(2))),
            "The scores were divided by the root of the number of keys; it is the number of features that counts.", 2),
        Mistake("other_key", lambda: 1 / (1 + math.exp(_ROOT)),
            "That is the weight of key 0, the one that does not match: together the two weights make one.", 1),
        Mistake("half", lambda: 0.5, "One half is the weight of query 0, or of a softmax down the column; take row 1 and softmax along it.", 1),
        Mistake("no_softmax", lambda: _ROOT, "That is the scaled score; a softmax has to make a weight of it.", 3),
        Mistake("no_sum", lambda: math.exp(_ROOT),
            "A weight cannot exceed one: you have the exponential; divide it by the sum of both exponentials.", 3),
        Mistake("no_exp", lambda: 1.0, "You divided the score by the sum of the scores; each has to pass through the exponential first.", 3),
    ),
    hints=(
        "Row 1 of Q meets each row of K. One of the two dot products is 0.",
        "Divide both dot products by the root of d. How many features does a query have here?",
        "Take the exponential of both scaled scores; that of 0 is 1. The weight of key 1 is the share that its "
        "exponential has in the sum of the two.",
    ),
    why="The scores of query 1 are 0 and 1/sqrt(3). Softmax of two scores is a logistic function of their difference.",
    insight="With two keys, only the difference of the two scores matters.",
)  # fmt: skip


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
    mistakes=(
        Mistake("weights", lambda: (4, 128, 200), "That is the shape of the weights; they are not the end, they average the values.", 2),
        Mistake("keys", lambda: (4, 200, 48), "One row per key: but it is the queries that get an answer, one row each.", 1),
        Mistake("features_d", lambda: (4, 128, 64),
            "The features d of queries and keys are summed over in the scores; the output has those of the values.", 2),
        Mistake("model", lambda: (4, 128, 512),
            "512 is the width of a token; the values were projected to fewer features, and nothing changed them back.", 2),
        Mistake("no_batch", lambda: (128, 48), "Right for one sequence; the batch of 4 stays in front.", 3),
        Mistake("keys_d", lambda: (4, 200, 64),
            "That is the shape of the keys; the output has a row for each query and the features of the values.", 1),
        Mistake("batch_last", lambda: (128, 48, 4), "The three sizes are right; the batch comes first, as in every array of the course.", 3),
    ),
    hints=(
        "Who asks, and how many ask? Each of them gets one row.",
        "Each output row is an average of values, so it has as many features as a value.",
        "(batch, queries, features of a value).",
    ),
    why="The rows of the output are those of the queries, its columns those of the values; the batch stays in front.",
    insight="The number of keys and the features d are both summed over: neither appears in the output's shape.",
)  # fmt: skip

EXERCISES = (_TWO_TOKENS, _SHAPE)
