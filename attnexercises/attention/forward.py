"""The exercise on the formula of attention, and a wrong attention for `attention_spot`."""

import math

import numpy as np

from attnexercises.engine.model import Exercise, Mistake, Probe


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
    title="Attention without loops", level="medium", minutes=15, blanks=3, oracle=_sdpa_oracle, solution=sdpa,
    probes=(
        Probe("all sizes differ", _inputs((2, 3, 6), (2, 5, 6), (2, 5, 4))),
        Probe("no batch", _inputs((3, 6), (5, 6), (5, 4)), why="no leading axis at all"),
        Probe("other sizes, fewer queries", _inputs((2, 2, 9), (2, 7, 9), (2, 7, 5)), why="a second look at all sizes"),
        Probe("q = k = d = v", _inputs((2, 4, 4), (2, 4, 4), (2, 4, 4)), "equal", "square, but with another batch"),
        Probe("all sizes equal", _inputs((4, 4, 4), (4, 4, 4), (4, 4, 4)), "equal"),
        Probe("two leading axes", _inputs((2, 3, 4, 6), (2, 3, 5, 6), (2, 3, 5, 7)), why="batch and head"),
        Probe("large scores", _inputs((2, 3, 6), (2, 5, 6), (2, 5, 4), size=60.0), "edge", "their exponentials overflow"),
        Probe("three leading axes, one of size 1, one query", _inputs((2, 1, 3, 1, 5), (2, 1, 3, 4, 5), (2, 1, 3, 4, 2)), "edge",
            "every axis stays, whatever its size, and any number of them may stand in front"),
        Probe("one key, one feature", _inputs((3, 2), (1, 2), (1, 1)), "edge", "its weight is 1, and no axis is lost"),
        Probe("rows far apart", _rows_apart, "edge", "each row needs its own maximum, and no other shift"),
        Probe("a query of zeros", _query_of_zeros, "edge", "all its scores are 0, so that it takes the mean of the values"),
    ),
    mistakes=(
        Mistake("no_scale", "/ np.sqrt(query.shape[-1]) -> ",
            "The scores are not scaled. Divide the dot products by the root of d before the softmax.", 2, sets="scale after"),
        Mistake("scale_d", "np.sqrt(query.shape[-1]) -> query.shape[-1]",
            "You divided by d and not by its root. A sum of d terms of variance 1 has a standard deviation of sqrt(d).", 2, sets="scale"),
        Mistake("fourth_root", "np.sqrt(query.shape[-1]) -> query.shape[-1] ** 0.25",
            "You divided by the fourth root of d. Divide the dot products by the square root.", 2, sets="scale"),
        Mistake("scale_nk", "query.shape[-1] -> key.shape[-2]",
            "You scaled by the number of keys. What counts is d, the number of features of a query.", 2, sets="scale"),
        Mistake("scale_times", "/ np.sqrt -> * np.sqrt",
            "You multiplied the scores by the root of d. They have to be divided by it.", 2, sets="scale"),
        Mistake("scale_v", "query.shape -> value.shape",
            "You scaled by the number of features of a value. A score is a sum over the d features of query and key.", 2, sets="scale"),
        Mistake("scale_axis_1", "query.shape[-1] -> query.shape[1]",
            "You scaled by the size of axis 1. That is d only if there is no batch. The features are always the last axis.", 2, sets="scale"),
        Mistake("scale_axis_0", "query.shape[-1] -> query.shape[0]",
            "You scaled by the size of axis 0, which is the batch if there is one. The features are always the last axis.", 2, sets="scale"),
        Mistake("scale_after", ("key.mT / -> key.mT; factor =", "return weights -> return 1 / factor * weights"),
            "You scaled after the softmax. Scale the scores before it.", 2, shows="factor", sets="after"),
        Mistake("axis_q", "axis=-1 -> axis=-2",
            "The softmax ran over the queries. The weights of each query have to sum to 1 over the keys.", 2, sets="axis"),
        Mistake("axis_0", "axis=-1 -> axis=0",
            "The softmax ran over axis 0, which is the batch, or the queries if there is none. It belongs on the last axis.", 2, sets="axis"),
        Mistake("no_softmax", "exponentials / exponentials.sum(axis=-1, keepdims=True) -> scores",
            "There is no softmax. You used the scores themselves as weights.", 2, sets="axis weights mask"),
        Mistake("no_transpose", "key.mT -> key",
            "The keys are not transposed. This runs only if k equals d, and then it pairs features with positions.", 1, sets="turned"),
        Mistake("reshape_k", ".mT -> .reshape(*key.shape[:-2], key.shape[-1], -1)",
            "Keys and features are mixed up. `reshape` keeps the order of the numbers, so it does not transpose.", 1, sets="turned"),
        Mistake("T_all", "key.mT -> key.T", "`.T` reverses all axes, including the batch. Swap only the last two.", 1, sets="turned"),
        Mistake("roles_swapped", "query @ key.mT -> key @ query.mT",
            "Key and query have changed places in the product. The scores need one row for each query.", 1, sets="roles"),
        Mistake("p_T", "weights @ -> weights.mT @",
            "You transposed the weights before you used them, so your outputs have one row per key and not per query.", 3),
        Mistake("values_k", "weights @ value -> weights @ key", "You averaged the keys. The weights have to average the values.", 3),
        Mistake("return_p", "return weights @ value -> return weights", "You returned the weights. Use them to average the values.", 3),
        Mistake("first_batch_k", "key.mT / np.sqrt(query.shape[-1]) -> key[: 1 if key.ndim > 2 else None].mT / np.sqrt(query.shape[-1])",
            "You compared all batch elements with the keys of the first one.", 1, shows="one_element", sets="roles"),
        Mistake("no_max", "scores - scores.max(axis=-1, keepdims=True) -> scores",
            "Large exponents overflow. The softmax has to subtract the maximum of each row first.", 2, shows="lost"),
        Mistake("axis_1", "axis=-1 -> axis=1",
            "The softmax ran over axis 1. Those are the keys only if there is no batch. The keys are always the last axis.", 2, sets="axis"),
        Mistake("axis_both", "axis=-1 -> axis=(-2, -1)",
            "One softmax ran over all scores of a batch element. Each query needs a softmax of its own over the keys.", 2, sets="axis"),
        Mistake("axis_all", "axis=-1 -> axis=None",
            "One softmax ran over all scores, including the batch. Each query needs a softmax of its own over the keys.", 2, sets="axis"),
        Mistake("sum_no_keepdims", "exponentials.sum(axis=-1, keepdims=True) -> exponentials.sum(axis=-1)",
            "The row sums lost their axis and were lined up with the columns. With `keepdims=True` each stays with its row.", 2),
        Mistake("max_axis_q", "scores.max(axis=-1 -> scores.max(axis=-2",
            "You took the maximum over the queries, which shifts each key by a different number. Each row needs one shift.", 2, sets="axis"),
        Mistake("not_normalised",
            ("scores - scores.max(axis=-1, keepdims=True) -> scores", "exponentials / exponentials.sum(axis=-1, keepdims=True) -> exponentials"),
            "You multiplied the values by the exponentials. Divide each row of exponentials by its sum first.", 2, sets="weights"),
        Mistake("softmax_twice", "return -> weights = np.exp(weights) / np.exp(weights).sum(axis=-1, keepdims=True)\nreturn",
            "You applied the softmax twice. The weights went through it as if they were scores.", 2, sets="weights"),
        Mistake("log_weights", "return -> weights = np.log(weights)\nreturn",
            "You averaged with the logarithms of the weights. Use the weights themselves.", 2, sets="weights"),
        Mistake("sigmoid", "exponentials / exponentials.sum(axis=-1, keepdims=True) -> 1 / (1 + np.exp(-scores))",
            "Each score went through a logistic function by itself. The keys of a query have to share one softmax.", 2, sets="weights"),
        Mistake("hardmax", "exponentials / exponentials.sum(axis=-1, keepdims=True) -> np.eye(scores.shape[-1])[scores.argmax(axis=-1)]",
            "You picked the best key only. A softmax gives every key a share.", 2, sets="weights"),
        Mistake("scale_64", "np.sqrt(query.shape[-1]) -> 8.0",
            "You divided by 8, the root of the 64 features of the paper. Take the number of features of this query.", 2, sets="scale"),
        Mistake("scale_len_key", "query.shape[-1] -> len(key)",
            "You scaled by `len` of the keys, which is the size of axis 0. The number of features is the last axis of the "
            "query.", 2, sets="scale"),
        Mistake("int_root", "np.sqrt(query.shape[-1]) -> int(np.sqrt(query.shape[-1]))",
            "You rounded the root of d down to a whole number. Divide by the root itself.", 2, sets="scale"),
        Mistake("scale_one_more", "query.shape[-1] -> (query.shape[-1] + 1)",
            "You scaled by the root of d + 1. A query has d features.", 2, sets="scale"),
        Mistake("scale_one_less", "query.shape[-1] -> max(query.shape[-1] - 1, 1)",
            "You scaled by the root of d - 1. A query has d features.", 2, sets="scale"),
        Mistake("score_shares", "exponentials / exponentials.sum(axis=-1, keepdims=True) -> scores / scores.sum(axis=-1, keepdims=True)",
            "You divided the scores by their sum. Take exponentials first, so that no weight is negative.", 2, sets="weights"),
        Mistake("uniform", "exponentials / exponentials.sum(axis=-1, keepdims=True) -> 0 * scores + 1 / scores.shape[-1]",
            "Every key gets the same weight. The scores have to decide how much each key counts.", 2, sets="weights"),
        Mistake("distance", "query @ key.mT -> -((query[..., :, np.newaxis, :] - key[..., np.newaxis, :, :]) ** 2).sum(axis=-1)",
            "Your scores are squared distances with a minus. Here a score is the dot product of query and key.", 1, sets="roles"),
        Mistake("half_d", "query.shape[-1] -> (query.shape[-1] / 2)",
            "You scaled by the root of half of d. There is one head only, with all d features.", 2, sets="scale"),
        Mistake("negative", "scores = query -> scores = -query",
            "The scores have the wrong sign. The key that matches best has to get the largest weight.", 2, sets="scores"),
        Mistake("cosine",
            "/ np.sqrt(query.shape[-1]) -> / np.linalg.norm(query, axis=-1, keepdims=True) / np.linalg.norm(key, axis=-1)[..., np.newaxis, :]",
            "You scaled queries and keys to length one. These scores are cosines and not scaled dot products.", 2, sets="scores"),
        Mistake("zero_hidden", "exponentials = -> scores = np.where(scores == 0, -np.inf, scores)\nexponentials =",
            "A score of 0 counts as hidden. The exercise has no mask: every query sees every key.", 2, sets="mask"),
        Mistake("causal", "exponentials = -> scores = np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)\nexponentials =",
            "You hid the later keys from each query. The exercise has no mask: every query sees every key.", 2, sets="mask"),
    ),
    hints=(
        "Each row of the scores belongs to a query and each column to a key. For that you have to swap the last two axes of the keys, and no others.",
        "Scale first: divide the dot products by the root of the number of features. Then give each row, which belongs to one query, a softmax of "
        "its own, along the last axis.",
        "The scores are the queries times the transposed keys, divided by the root of `query.shape[-1]`. The weights are the `softmax` of the "
        "scores. The output is the weights times the values.",
    ),
    why="`key.mT` swaps the last two axes only, so the function works with any number of leading axes. The softmax is written out here. With "
    "`softmax` from the first cell of the chapter the function has three lines.",
    insight="The rest of the book is built around this function.",
)  # fmt: skip


# spot_attention: the reader sees the weights of `suspect`

suspect = _SDPA.family(frozenset({"axis_q"}))
