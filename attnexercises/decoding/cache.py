"""The exercise on decoding one token at a time, with a cache of keys and values and a window."""

import math

import numpy as np

from attnexercises.engine.model import Exercise, Mistake, Probe


def kv_cache(x, query_weight, key_weight, value_weight, window):
    keys, values, out = [], [], []
    for token in x:
        keys.append(token @ key_weight)
        values.append(token @ value_weight)
        keys, values = keys[-window:], values[-window:]
        scores = np.array(keys) @ (token @ query_weight) / np.sqrt(key_weight.shape[1])
        exponentials = np.exp(scores - scores.max())
        weights = exponentials / exponentials.sum()
        out.append(weights @ np.array(values))
    return np.array(out)


def _oracle(x, query_weight, key_weight, value_weight, window):
    """Each query meets, one by one, the keys of the window that ends with it."""
    d, v = key_weight.shape[1], value_weight.shape[1]
    out = np.zeros((len(x), v))
    for i in range(len(x)):
        seen = [j for j in range(i + 1) if i - j < window]
        scores = []
        for j in seen:
            query = [sum(x[i, m] * query_weight[m, f] for m in range(x.shape[1])) for f in range(d)]
            key = [sum(x[j, m] * key_weight[m, f] for m in range(x.shape[1])) for f in range(d)]
            scores.append(math.fsum(a * b for a, b in zip(query, key, strict=True)) / math.sqrt(d))
        masses = [math.exp(score - max(scores)) for score in scores]
        for mass, j in zip(masses, seen, strict=True):
            out[i] += mass / math.fsum(masses) * (x[j] @ value_weight)
    return out


def _sizes(n, m, d, v, window, size=1.0):
    def make(rng):
        weights = [rng.standard_normal((m, width)) for width in (d, d, v)]
        return size * rng.standard_normal((n, m)), *weights, window

    return make


_CACHE = Exercise(
    title="One token at a time", level="medium", minutes=20, blanks=5, oracle=_oracle, solution=kv_cache,
    probes=(
        Probe("6 tokens, a window that never fills", _sizes(6, 5, 4, 3, 9)),
        Probe("4 tokens of width 4", _sizes(4, 4, 4, 4, 4), "equal", "With all sizes alike, mixed-up axes run."),
        Probe("7 tokens, window 3", _sizes(7, 5, 4, 2, 3), why="The window is full from the third token on."),
        Probe("large scores", _sizes(6, 5, 4, 3, 9, size=30.0), "edge", "Their exponentials overflow."),
        Probe("window 1", _sizes(4, 3, 2, 5, 1), "edge", "Each token sees itself alone."),
        Probe("one token, one feature", _sizes(1, 3, 1, 1, 2), "edge", "Axes of size 1 stay."),
    ),
    mistakes=(
        Mistake("attend_before_append",
            ("out = [], [], [] -> out = [], [], [np.zeros(value_weight.shape[1])]",
             "for token in x -> for before, token in zip(x, x[1:])", "token @ key_weight -> before @ key_weight",
             "token @ value_weight -> before @ value_weight"),
            "The new token does not see itself: its key and value have to be in the cache before it attends.", 1, sets="seen"),
        Mistake("overwrite", "keys[-window:], values[-window:] -> keys[-1:], values[-1:]",
            "Only the current token is in the cache, so each output is its own value: the past has to stay.", 1,
            sets="seen window"),
        Mistake("v_prepend", "np.array(values) -> np.array(values)[::-1]",
            "Keys and values are kept in different orders: a weight has to meet the value of its own key.", 2, sets="seen"),
        Mistake("prefix_again",
            ("keys.append(token -> keys.extend(x[: len(out) + 1]", "values.append(token -> values.extend(x[: len(out) + 1]"),
            "The whole prefix is appended at every step, so that tokens count several times; only the new one is new.", 1,
            sets="seen"),
        Mistake("prealloc",
            ("np.array(keys) -> np.array([*keys, *np.zeros((len(x) - len(out) - 1, key_weight.shape[1]))])",
             "np.array(values) -> np.array([*values, *np.zeros((len(x) - len(out) - 1, value_weight.shape[1]))])"),
            "Slots that nothing was written to yet take part in the softmax, each with score 0: leave them out.", 2, sets="seen"),
        Mistake("future", ("np.array(keys) -> (x @ key_weight)", "np.array(values) -> (x @ value_weight)"),
            "A token looks at those that come after it; while it is decoded they do not exist.", 1, sets="seen window"),
        Mistake("top_left_mask", "exponentials / exponentials.sum() -> np.eye(len(scores))[0]",
            "A causal mask aligned at the top left leaves a single query its first key alone; no mask is needed here.", 2,
            sets="weights"),
        Mistake("evict_newest", "keys[-window:], values[-window:] -> keys[:window], values[:window]",
            "The oldest tokens are kept and the newest dropped; a window keeps the last ones.", 3, sets="window"),
        Mistake("window_plus", "[-window:] -> [-window - 1 :]",
            "A token that has left the window is still seen: the window counts the current token, too.", 3, sets="window"),
        Mistake("window_minus", "[-window:] -> [-window + 1 :]",
            "The window is one token short: it counts the current token and those before it.", 3, sets="window"),
        Mistake("no_window", "keys, values = keys[-window:], values[-window:] ->",
            "Nothing is ever dropped: a token sees the last `window` ones, itself among them.", 3, sets="window"),
        Mistake("no_scale", "/ np.sqrt(key_weight.shape[1]) ->",
            "The scores are not scaled: divide them by the root of d.", 2, sets="scale"),
        Mistake("scale_m", "np.sqrt(key_weight.shape[1]) -> np.sqrt(x.shape[1])",
            "The scores are divided by the root of the model's width; a key has d features.", 2, sets="scale"),
        Mistake("scale_d", "np.sqrt(key_weight.shape[1]) -> key_weight.shape[1]",
            "The scores are divided by d, not by its root.", 2, sets="scale"),
        Mistake("scale_k",
            ("/ np.sqrt(key_weight.shape[1]) ->", "exponentials = np -> scores = scores / np.sqrt(len(scores))\nexponentials = np"),
            "The scores are divided by the root of the number of keys; it is the features that count.", 2, sets="scale"),
        Mistake("swap", "window): -> window):\n    query_weight, key_weight = key_weight, query_weight",
            "The matrices of queries and keys have changed places.", 2, sets="keys"),
        Mistake("key_asks", "token @ query_weight -> token @ key_weight",
            "The key of the new token asks. Its query has to.", 2),
        Mistake("query_twice", "window): -> window):\n    key_weight = query_weight",
            "The keys are made with the matrix of the queries; they have one of their own.", 2, sets="keys"),
        Mistake("first_query", "token @ query_weight -> x[0] @ query_weight",
            "The query of the first token is used throughout; each token asks with its own.", 2),
        Mistake("mean", "exponentials / exponentials.sum() -> np.full(len(scores), 1 / len(scores))",
            "All cached values count alike: they have to be weighted by how well their keys match.", 2, sets="weights scale"),
        Mistake("no_division", "/ exponentials.sum() ->",
            "The exponentials are not divided by their sum over the cache.", 2, shows="row_factor", sets="weights"),
        Mistake("no_max", "scores - scores.max() -> scores",
            "Large exponents overflow: measure the scores of a token against their maximum.", 2, shows="lost", sets="weights"),
    ),
    hints=(
        "What does the new token need from the tokens before it, and what from itself? Write down what is in the cache before and "
        "after it.",
        "With its own key and value in the cache, one query meets all keys: one row of scores, scaled by the root of d, one "
        "softmax, one mean of the values.",
        "Append `token @ key_weight` and `token @ value_weight`, keep the last `window` of both, and only then score.",
    ),
    why="Nothing that was computed for an earlier token depends on a later one, so its key and value stay what they were. No mask "
    "is needed: the future is not in the cache yet.",
    insight="Over a whole text these are the rows of causal attention; a token costs one row, and no product of the past is done "
    "twice.",
)  # fmt: skip
