"""The exercise that derives attention by distance: one more feature makes dot products of it."""

import math

import numpy as np

from attnexercises.engine.model import Exercise, Mistake, Probe


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
    title="Attention by distance", level="medium", minutes=15, blanks=2, oracle=_distance_oracle, solution=distance_attention,
    probes=(
        Probe("all sizes differ", _inputs(3, 5, 6, 4)),
        Probe("q = k = d = v", _inputs(4, 4, 4, 4), "equal", "square inputs"),
        Probe("one feature", _inputs(2, 6, 1, 3), why="d = 1: a mean over features is their sum"),
        Probe("keys far apart", _far_apart, "edge"),
        Probe("one query, one key", _inputs(1, 1, 3, 2), "edge", "its weight is 1, and no axis is lost"),
        Probe("keys where the queries are", _same_places, "edge", "a distance of 0 is a distance like any other"),
    ),
    mistakes=(
        Mistake("same_for_all", "-(key**2).sum(axis=1, keepdims=True) / 2 -> np.zeros((len(key), 1))",
            "You added the same number to all scores of a query, and that changes no weight.", 1, sets="score"),
        Mistake("whole_square", "keepdims=True) / 2 -> keepdims=True)",
            "You subtracted the whole squared length of each key. The exercise asks for half the squared distance.", 2, sets="key"),
        Mistake("length", "(key**2).sum(axis=1, keepdims=True) / 2 -> (key**2).sum(axis=1, keepdims=True) ** 0.5 / 2",
            "You used half the length of each key. The expansion contains half of the squared length.", 2, sets="key"),
        Mistake("whole_length", "(key**2).sum(axis=1, keepdims=True) / 2 -> (key**2).sum(axis=1, keepdims=True) ** 0.5",
            "You used the length of each key. The expansion contains half of the squared length.", 2, sets="key"),
        Mistake("sum_of_entries", "key**2 -> key",
            "You summed the entries of each key. The expansion contains the sum of their squares.", 2, sets="key"),
        Mistake("mean_square", "(key**2).sum -> (key**2).mean", "You averaged the squares of a key's features. A squared length is their sum.", 2),
        Mistake("sign", "-(key**2) -> (key**2)", "The term of the keys has the wrong sign. It has to lower the score of a long key.", 2),
        Mistake("both_norms", "np.ones((len(query), 1)) -> -(query**2).sum(axis=1, keepdims=True) / 2",
            "The two new features are multiplied with each other. With a norm in each, the norms are multiplied and not added.", 3, sets="query"),
        Mistake("query_norm", "np.ones((len(query), 1)) -> (query**2).sum(axis=1, keepdims=True)",
            "The length of the query became a factor of the score, because a dot product multiplies the two new features.", 3, sets="query"),
        Mistake("far", "scores = longer_query -> scores = -longer_query",
            "The whole score has the wrong sign. The nearest key has to get the largest weight.", 1, sets="score"),
        Mistake("not_halved", "longer_query @ longer_key.mT -> longer_query @ longer_key.mT * 2",
            "You used the whole squared distance. The exercise asks for half of it.", 2, sets="half"),
        Mistake("root_of_distance", "longer_query @ longer_key.mT -> -np.linalg.norm(query[:, np.newaxis] - key, axis=2)",
            "Your score is minus the distance itself. The exercise asks for minus half its square.", 1),
        Mistake("root_d", "longer_query @ -> longer_query / np.sqrt(query.shape[1]) @",
            "You divided the scores by the root of d. This exercise has no such factor.", 1),
        Mistake("unit_keys", "longer_query @ longer_key.mT -> query @ (key / np.linalg.norm(key, axis=1, keepdims=True)).mT",
            "You scaled all keys to length one. That compares directions and ignores how far away a key is.", 1),
        Mistake("no_max", "scores - scores.max(axis=1, keepdims=True) -> scores",
            "Large exponents overflow. The softmax has to subtract the maximum of each row first.", 3, shows="lost"),
        Mistake("root_d_plus", "longer_query @ -> longer_query / np.sqrt(query.shape[1] + 1) @",
            "You divided the scores by the root of the number of features, d + 1 of them. This exercise has no such factor.", 1),
        Mistake("halved_twice", "longer_query @ longer_key.mT -> longer_query @ longer_key.mT / 2",
            "Your score is a quarter of the squared distance. The exercise asks for half of it.", 2, sets="half"),
        Mistake("half_distance", "longer_query @ longer_key.mT -> -np.linalg.norm(query[:, np.newaxis] - key, axis=2) / 2",
            "Your score is minus half the distance. The exercise asks for minus half its square.", 1, sets="score"),
        Mistake("inverse_distance", "longer_query @ longer_key.mT -> 1 / np.linalg.norm(query[:, np.newaxis] - key, axis=2)",
            "Your score is one over the distance. The exercise asks for minus half its square.", 1, sets="score"),
        Mistake("largest_entry", "(key**2).sum -> (key**2).max",
            "You took the largest squared entry of each key. A squared length is the sum of all.", 2),
        Mistake("lengths_multiplied", "longer_query @ longer_key.mT -> query @ key.mT - np.linalg.norm(query, axis=1, keepdims=True) * np.linalg.norm(key, axis=1)",
            "You subtracted the product of the two lengths. The expansion contains half the squared length of the key.", 2, sets="score"),
        Mistake("quarter_key", "keepdims=True) / 2 -> keepdims=True) / 4",
            "You subtracted a quarter of the squared length of each key. The expansion contains half of it.", 2, sets="key"),
        Mistake("sum_for_difference", "[query, query_feature] -> [-query, query_feature]",
            "This is the length of q + k and not of q - k. In the expansion of the square, the product of the two has a minus.", 2, sets="product"),
        Mistake("no_two", "[query, query_feature] -> [query / 2, query_feature]",
            "In the expansion of |q - k|^2 the product of q and k appears twice. In your score it appears once.", 2, sets="product"),
        Mistake("mean_distance", "longer_query @ -> longer_query / query.shape[1] @",
            "You averaged the squared differences over the features. A squared distance is their sum.", 2),
        Mistake("city_block", "longer_query @ longer_key.mT -> -np.abs(query[:, np.newaxis] - key).sum(axis=2)",
            "You summed the absolute differences. The exercise asks for the squared differences.", 1, sets="score"),
        Mistake("cosine",
            "longer_query @ longer_key.mT -> query @ key.mT / np.linalg.norm(query, axis=1, keepdims=True) / np.linalg.norm(key, axis=1)",
            "You scaled queries and keys to length one. That compares directions and ignores how far apart they are.", 1, sets="score"),
        Mistake("nearest", "weights @ value -> value[scores.argmax(axis=1)]",
            "You picked the nearest key only. A softmax gives every key a share.", 1, sets="weights"),
        Mistake("axis_queries",
            ("exponentials = -> scores = scores - (query**2).sum(axis=1, keepdims=True) / 2\nexponentials =",
             "scores.max(axis=1 -> scores.max(axis=0", "exponentials.sum(axis=1 -> exponentials.sum(axis=0"),
            "The softmax ran over the queries. Each query has to spread its own weights over the keys.", 3, sets="weights"),
        Mistake("not_normalised",
            ("exponentials = -> scores = scores - (query**2).sum(axis=1, keepdims=True) / 2\nexponentials =",
             "scores - scores.max(axis=1, keepdims=True) -> scores", "exponentials / exponentials.sum(axis=1, keepdims=True) -> exponentials"),
            "You multiplied the values by the exponentials. Divide the exponentials of each query by their sum first.", 3, sets="weights"),
    ),
    hints=(
        "Multiply out the square in the score. It has three terms. Which of them differ from key to key?",
        "The term of the query alone is the same for all keys, so it cancels in the softmax. Half the squared length of each key remains, and it has "
        "to be subtracted.",
        "A dot product multiplies the new feature of the query by the new feature of the key. Let one of the two be the number 1, and let the other "
        "carry the missing term.",
    ),
    why="Half the squared distance is half of |q|^2, minus the dot product, plus half of |k|^2. The first term is the same for all keys and cancels. "
    "The last becomes a feature of the key, which the query multiplies by 1.",
    insight="So dot products can measure distance if every vector gets one more feature.",
)  # fmt: skip
