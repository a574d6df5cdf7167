"""The exercise that derives attention by distance: one more feature makes dot products of it."""

import math

import numpy as np

from attnexercises.attention import accepts, distance_mistakes
from attnexercises.engine.model import Exercise, Probe


def _distance_oracle(query, key, value):
    """Distances measured pair by pair, without a single dot product of query and key."""
    out = np.zeros((len(query), value.shape[1]))
    for i, asked in enumerate(query.tolist()):
        scores = [-math.dist(asked, found) ** 2 / 2 for found in key.tolist()]
        powers = [math.exp(score - max(scores)) for score in scores]
        for feature in range(value.shape[1]):
            mixed = math.fsum(power * v[feature] for power, v in zip(powers, value.tolist(), strict=True))
            out[i, feature] = mixed / math.fsum(powers)
    return out


def distance_attention(query, key, value):
    query_feature = np.ones((len(query), 1))
    key_feature = -(key**2).sum(axis=1, keepdims=True) / 2
    longer_query = np.concatenate([query, query_feature], axis=1)
    longer_key = np.concatenate([key, key_feature], axis=1)
    scores = longer_query @ longer_key.mT
    exponentials = np.exp(scores - scores.max(axis=1, keepdims=True))
    weights = exponentials / exponentials.sum(axis=1, keepdims=True)
    return weights @ value


def _distance_family(bugs):
    def key_feature(key):
        squares = key**2
        size = squares.mean(axis=1) if "mean_square" in bugs else squares.sum(axis=1)
        if "length" in bugs or "whole_length" in bugs:
            size = np.sqrt(size)
        if "sum_of_entries" in bugs:
            size = key.sum(axis=1)
        feature = size if "whole_square" in bugs or "whole_length" in bugs else size / 2
        return feature if "sign" in bugs else -feature

    def scores_of(query, key):
        if "root_of_distance" in bugs:
            return -np.linalg.norm(query[:, np.newaxis] - key, axis=2)
        if "unit_keys" in bugs:
            return query @ (key / np.linalg.norm(key, axis=1, keepdims=True)).T
        if "city_block" in bugs:
            return -np.abs(query[:, np.newaxis] - key).sum(axis=2)
        if "cosine" in bugs:
            return query @ key.T / np.linalg.norm(query, axis=1)[:, np.newaxis] / np.linalg.norm(key, axis=1)
        products = query @ key.T
        if "sum_for_difference" in bugs:
            products = -products
        elif "no_two" in bugs:
            products = products / 2
        if "same_for_all" in bugs:
            return products
        query_feature = np.ones(len(query))
        if "both_norms" in bugs:
            query_feature = -(query**2).sum(axis=1) / 2
        if "query_norm" in bugs:
            query_feature = (query**2).sum(axis=1)
        scores = products + np.outer(query_feature, key_feature(key))
        if "far" in bugs:
            scores = -scores
        if "root_d" in bugs:
            scores = scores / math.sqrt(query.shape[1])
        elif "mean_distance" in bugs:
            scores = scores / query.shape[1]
        return 2 * scores if "not_halved" in bugs else scores

    def variant(query, key, value):
        scores = scores_of(query, key)
        if "nearest" in bugs:
            return value[scores.argmax(axis=1)]
        if "axis_queries" in bugs or "not_normalised" in bugs:  # here the query's own length does not cancel
            scores = scores - (query**2).sum(axis=1, keepdims=True) / 2
        if "not_normalised" in bugs:
            return np.exp(scores) @ value
        if "axis_queries" in bugs:
            exponentials = np.exp(scores - scores.max(axis=0))
            return exponentials / exponentials.sum(axis=0) @ value
        largest = 0.0 if "no_max" in bugs else scores.max(axis=1, keepdims=True)
        exponentials = np.exp(scores - largest)
        return exponentials / exponentials.sum(axis=1, keepdims=True) @ value

    return variant


def _inputs(q, k, d, v):
    def make(rng):
        query, key = rng.standard_normal((q, d)), rng.standard_normal((k, d))
        return query, key * np.linspace(0.5, 1.5, k)[:, np.newaxis], rng.standard_normal((k, v))

    return make


def _far_apart(rng):
    """Pairs of a query and a key at 0, 30 and 60: the scores differ by hundreds, within a row and between rows."""
    places = 30.0 * np.arange(3)[:, np.newaxis]
    return tuple(rng.standard_normal((3, 2)) + places for _ in range(2)) + (rng.standard_normal((3, 5)),)


def _same_places(rng):
    query, key, value = _inputs(3, 5, 4, 2)(rng)
    key[1:4] = query
    return query, key, value


_DISTANCE = Exercise(
    "distance_attention",
    title="Attention by distance",
    chapter="attention",
    level="medium",
    minutes=15,
    blanks=2,
    oracle=_distance_oracle,
    solution=distance_attention,
    family=_distance_family,
    probes=(
        Probe("all sizes differ", _inputs(3, 5, 6, 4)),
        Probe("q = k = d = v", _inputs(4, 4, 4, 4), "equal", "square inputs"),
        Probe("one feature", _inputs(2, 6, 1, 3), why="d = 1: a mean over features is their sum"),
        Probe("keys far apart", _far_apart, "edge"),
        Probe("one query, one key", _inputs(1, 1, 3, 2), "edge", "its weight is 1, and no axis is lost"),
        Probe("keys where the queries are", _same_places, "edge", "a distance of 0 is a distance like any other"),
    ),
    mistakes=distance_mistakes.DISTANCE_ATTENTION,
    hints=(
        "Multiply out the square in the score. Which of its three terms differ from key to key?",
        "The term of the query alone is the same for all keys, so it cancels in the softmax. Half the squared length "
        "of each key is left to take off.",
        "A dot product multiplies the new feature of the query by the new feature of the key. Let one of the two be "
        "the number 1, and the other carry the term that is missing.",
    ),
    why="Half the squared distance is half of |q|^2, minus the dot product, plus half of |k|^2. The first is the same "
    "for all keys and cancels; the last becomes a feature of the key, and the query asks for it once.",
    insight="So dot products can measure distance, at the price of one feature.",
    accepts={
        "all differences": lambda query, key, value: _weighted(
            -((query[:, np.newaxis] - key) ** 2).sum(axis=2) / 2, value
        ),
        "with the query's length": lambda query, key, value: _weighted(
            query @ key.T - (query**2).sum(axis=1, keepdims=True) / 2 - (key**2).sum(axis=1) / 2, value
        ),
        "the minus in the query": lambda query, key, value: _weighted(
            np.hstack([query, np.full((len(query), 1), -0.5)]) @ np.vstack([key.T, np.square(key.T).sum(axis=0)]),
            value,
        ),
        **accepts.DISTANCE_ATTENTION,
    },
)  # fmt: skip


def _weighted(scores, value):
    exponentials = np.exp(scores - scores.max(axis=1, keepdims=True))
    return exponentials / exponentials.sum(axis=1, keepdims=True) @ value


EXERCISES = (_DISTANCE,)
