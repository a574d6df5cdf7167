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
    "sdpa",
    title="Attention without loops",
    chapter="attention",
    level="medium",
    minutes=15,
    blanks=3,
    oracle=_sdpa_oracle,
    solution=sdpa,
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
    mistakes=(
        Mistake("no_scale", "/ np.sqrt(query.shape[-1]) -> ",
            "The scores are not scaled: divide the dot products by the root of d before the softmax.", 2, sets="scale after"),
        Mistake("scale_d", "np.sqrt(query.shape[-1]) -> query.shape[-1]",
            "You divided by d, not by its root: d terms of variance 1 add up to a standard deviation of sqrt(d).", 2, sets="scale"),
        Mistake("scale_nk", "query.shape[-1] -> key.shape[-2]",
            "You scaled by the number of keys, a sequence length; what counts is the number of features d of a query.", 2, sets="scale"),
        Mistake("scale_times", "/ np.sqrt -> * np.sqrt",
            "You multiplied the scores by the root of d; the factor is one over that root, it makes them smaller.", 2, sets="scale"),
        Mistake("scale_v", "query.shape -> value.shape",
            "You scaled by the number of features of a value; a score is a sum over the features d of query and key.", 2, sets="scale"),
        Mistake("scale_axis_1", "query.shape[-1] -> query.shape[1]",
            "You scaled by the size of axis 1, which is d without a batch only; the features d are always the last axis.", 2, sets="scale"),
        Mistake("scale_axis_0", "query.shape[-1] -> query.shape[0]",
            "You scaled by the size of axis 0, the batch if there is one; the features d are always the last axis.", 2, sets="scale"),
        Mistake("scale_after", ("key.mT / -> key.mT; factor =", "return weights -> return 1 / factor * weights"),
            "You scaled after the softmax; scale the scores before it.", 2, shows="factor", sets="after"),
        Mistake("axis_q", "axis=-1 -> axis=-2", "The softmax ran over the queries; each query has to spread 1 over the keys.", 2, sets="axis"),
        Mistake("axis_0", "axis=-1 -> axis=0",
            "The softmax ran over axis 0 and mixed batch elements (or queries, without a batch); it belongs on the last axis.", 2, sets="axis"),
        Mistake("no_softmax", "exponentials / exponentials.sum(axis=-1, keepdims=True) -> scores",
            "There is no softmax: the raw scores serve as weights.", 2, sets="axis weights mask"),
        Mistake("no_transpose", "key.mT -> key",
            "The keys are not transposed. It runs only where k equals d, and then pairs features with positions.", 1, sets="turned"),
        Mistake("reshape_k", ".mT -> .reshape(*key.shape[:-2], key.shape[-1], -1)",
            "Keys and features got mixed up: `reshape` reads the same numbers in another order; it does not transpose.", 1, sets="turned"),
        Mistake("T_all", "key.mT -> key.T", "`.T` reverses all axes, the batch included; exchange just the last two.", 1, sets="turned"),
        Mistake("roles_swapped", "query @ key.mT -> key @ query.mT",
            "Key and query have changed places in the product: the scores need a row for each query.", 1, sets="roles"),
        Mistake("p_T", "weights @ -> weights.mT @",
            "The weights were transposed before they met the values, so your outputs are sorted by key, not by query.", 3),
        Mistake("values_k", "weights @ value -> weights @ key", "You averaged the keys; the weights are there to average the values.", 3),
        Mistake("return_p", "return weights @ value -> return weights", "You returned the attention weights; use them to average the values.", 3),
        Mistake("first_batch_k", "key.mT / np.sqrt(query.shape[-1]) -> key[: 1 if key.ndim > 2 else None].mT / np.sqrt(query.shape[-1])",
            "All batch elements were compared with the keys of the first.", 1, shows="one_element", sets="roles"),
        Mistake("no_max", "scores - scores.max(axis=-1, keepdims=True) -> scores",
            "Large exponents overflow: the softmax has to measure each row against its maximum.", 2, shows="lost"),
        Mistake("axis_1", "axis=-1 -> axis=1",
            "The softmax ran over axis 1, the keys without a batch only; the keys are always the last axis.", 2, sets="axis"),
        Mistake("axis_both", "axis=-1 -> axis=(-2, -1)",
            "One softmax ran over all scores of a batch element; each query has to spread its own weights over the keys.", 2, sets="axis"),
        Mistake("axis_all", "axis=-1 -> axis=None",
            "One softmax ran over all scores, the batch included; each query has to spread its own weights over the keys.", 2, sets="axis"),
        Mistake("sum_no_keepdims", "exponentials.sum(axis=-1, keepdims=True) -> exponentials.sum(axis=-1)",
            "The sums of the rows lost their axis and met the columns: with `keepdims=True` each stays beside its own row.", 2),
        Mistake("max_axis_q", "scores.max(axis=-1 -> scores.max(axis=-2",
            "The maximum was taken over the queries: that shifts each key by another number; one shift belongs to each row.", 2, sets="axis"),
        Mistake("not_normalised", ("scores - scores.max(axis=-1, keepdims=True) -> scores",
                "exponentials / exponentials.sum(axis=-1, keepdims=True) -> exponentials"),
            "The exponentials met the values as they are; each row of them has to be divided by its sum first.", 2, sets="weights"),
        Mistake("softmax_twice", "return -> weights = np.exp(weights) / np.exp(weights).sum(axis=-1, keepdims=True)\nreturn",
            "The softmax was applied twice: the weights went through it as if they were scores.", 2, sets="weights"),
        Mistake("log_weights", "return -> weights = np.log(weights)\nreturn",
            "The logarithms of the weights met the values; the weights themselves form the average.", 2, sets="weights"),
        Mistake("sigmoid", "exponentials / exponentials.sum(axis=-1, keepdims=True) -> 1 / (1 + np.exp(-scores))",
            "Each score went through a logistic function by itself; the keys of a query have to share one softmax.", 2, sets="weights"),
        Mistake("hardmax", "exponentials / exponentials.sum(axis=-1, keepdims=True) -> np.eye(scores.shape[-1])[scores.argmax(axis=-1)]",
            "You picked the best key; the softmax gives each key a share.", 2, sets="weights"),
        Mistake("negative", "scores = query -> scores = -query",
            "The scores have the wrong sign: the key that fits best has to get most.", 2, sets="scores"),
        Mistake("cosine", "/ np.sqrt(query.shape[-1]) -> "
            "/ np.linalg.norm(query, axis=-1, keepdims=True) / np.linalg.norm(key, axis=-1)[..., np.newaxis, :]",
            "Queries and keys were brought to length one: these scores are cosines, not scaled dot products.", 2, sets="scores"),
        Mistake("causal", "exponentials = -> scores = np.where(np.tri(*scores.shape[-2:], dtype=bool), scores, -np.inf)\nexponentials =",
            "Each query was kept from the keys behind it; no mask is asked for yet, every query sees every key.", 2, sets="mask"),
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
)  # fmt: skip


# spot_attention: the reader sees the weights of `suspect`

suspect = _SDPA.family(frozenset({"axis_q"}))

EXERCISES = (_SDPA,)
