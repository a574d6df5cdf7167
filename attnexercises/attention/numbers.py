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
    title="One weight by hand",
    level="easy",
    minutes=5,
    answer=_two_token_weight,
    oracle=lambda: 1 / (1 + math.exp(-_ROOT)),  # two scores, 0 and the root: a logistic function
    rtol=1e-6,
    atol=6e-4,  # three decimals, rounded
    mistakes=(
        Mistake("no_scale", lambda: math.e / (1 + math.e),
            "That is the weight for the raw scores 0 and 1. Divide them by sqrt(d) first.", 2),
        Mistake("scale_d", lambda: 1 / (1 + math.exp(-1 / 3)), "You divided the scores by d = 3. Divide them by the root of d.", 2),
        Mistake("scale_nk", lambda: 1 / (1 + math.exp(-1 / math.sqrt(2))),
            "You divided the scores by the root of the number of keys. What counts is the number of features.", 2),
        Mistake("scale_4", lambda: 1 / (1 + math.exp(-0.5)),
            "You divided by 2, the root of 4. How many features does a query have?", 2),
        Mistake("percent", lambda: 100 / (1 + math.exp(-_ROOT)),
            "That is the weight in percent. Give it as a part of 1.", 3),
        Mistake("times_root", lambda: 1 / (1 + math.exp(-math.sqrt(3))),
            "You multiplied the scores by sqrt(d). They are divided by it.", 2),
        Mistake("other_key", lambda: 1 / (1 + math.exp(_ROOT)),
            "That is the weight of key 0, which does not match. The two weights sum to one.", 1),
        Mistake("half", lambda: 0.5,
            "Query 0 gives both keys one half. Take row 1 of the scores, and let the softmax run along the row.", 1),
        Mistake("no_softmax", lambda: _ROOT, "That is the scaled score. The softmax still has to turn the scores into weights.", 3),
        Mistake("no_sum", lambda: math.exp(_ROOT),
            "A weight cannot exceed one. You have the exponential. Divide it by the sum of both exponentials.", 3),
        Mistake("no_exp", lambda: 1.0,
            "You divided the score by the sum of the scores. Take the exponential of each score first.", 3),
    ),
    hints=(
        "Take the dot product of row 1 of Q with each row of K. One of the two is 0.",
        "Divide both dot products by the root of d. How many features does a query have here?",
        "Take the exponential of both scaled scores. The exponential of 0 is 1. Divide the exponential of key 1 by the "
        "sum of the two.",
    ),
    why="The scores of query 1 are 0 and 1/sqrt(3). The softmax of two scores is a logistic function of their difference.",
    insight="With two keys, only the difference of the two scores matters.",
)  # fmt: skip


# attention_shape


def _attention_shape():
    query_shape, value_shape = (4, 128, 64), (4, 200, 48)
    return (*query_shape[:-1], value_shape[-1])


def _shape_by_running():
    tokens, context = np.zeros((4, 128, 1)), np.zeros((4, 200, 1))
    query, key, value = (rows @ np.zeros((1, size)) for rows, size in ((tokens, 64), (context, 64), (context, 48)))
    return (query @ key.mT @ value).shape


_SHAPE = value_exercise(
    title="Which shape?", level="easy", minutes=5, answer=_attention_shape, oracle=_shape_by_running,
    mistakes=(
        Mistake("weights", lambda: (4, 128, 200), "That is the shape of the weights. They still have to average the values.", 2),
        Mistake("keys", lambda: (4, 200, 48), "Your shape has one row per key. But the queries get the answers, one row each.", 1),
        Mistake("features_d", lambda: (4, 128, 64),
            "The sum in the scores removes the features d of queries and keys. The output has the features of the values.", 2),
        Mistake("model", lambda: (4, 128, 512),
            "512 is the width of a token. The values have been projected to fewer features, and nothing maps them back.", 2),
        Mistake("no_batch", lambda: (128, 48), "This is right for one sequence. The batch of 4 stays in front.", 3),
        Mistake("keys_d", lambda: (4, 200, 64),
            "That is the shape of the keys. The output has one row for each query and the features of the values.", 1),
        Mistake("batch_last", lambda: (128, 48, 4),
            "The three sizes are right, but the batch comes first, as in every array of the course.", 3),
    ),
    hints=(
        "How many queries are there? Each of them gets one row of the output.",
        "Each output row is an average of values, so it has as many features as a value.",
        "The shape is (batch, queries, features of a value).",
    ),
    why="The output has one row for each query and one column for each feature of a value. The batch stays in front.",
    insight="Attention sums over the keys and over the features d, so neither appears in the output's shape.",
)  # fmt: skip
