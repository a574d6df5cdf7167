"""The exercise on decoding one token at a time, with a cache of keys and values and a window."""

import math

import numpy as np

from attnexercises.decoding import accepts
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


def _family(bugs):
    def remembered(old, new, t, prefix):
        """What is kept of `old` rows and the `new` one after token t."""
        if "overwrite" in bugs:
            return [new]
        return [*old, *prefix] if "prefix_again" in bugs else [*old, new]

    def cut(rows, window):
        if "no_window" in bugs:
            return rows
        if "evict_newest" in bugs:
            return rows[:window]
        return rows[-(window + 1 if "window_plus" in bugs else window - 1 if "window_minus" in bugs else window) :]

    def softmax(scores):
        if "top_left_mask" in bugs:
            scores = np.where(np.arange(len(scores)) == 0, scores, -np.inf)
        exponentials = np.exp(scores - (0 if "no_max" in bugs else scores.max()))
        return exponentials if "no_division" in bugs else exponentials / exponentials.sum()

    def variant(x, query_weight, key_weight, value_weight, window):
        n, d, v = len(x), key_weight.shape[1], value_weight.shape[1]
        wq, wk = (key_weight, query_weight) if "swap" in bugs else (query_weight, key_weight)
        wk = query_weight if "query_twice" in bugs else wk
        size = x.shape[1] if "scale_m" in bugs else 1 if "no_scale" in bugs else d * d if "scale_d" in bugs else d
        keys, values, out = [], [], []
        for t, token in enumerate(x):
            all_keys = remembered(keys, token @ wk, t, list(x[: t + 1] @ wk))
            all_values = remembered(values, token @ value_weight, t, list(x[: t + 1] @ value_weight))
            if "v_prepend" in bugs:
                all_values = [all_values[-1], *all_values[:-1]]
            new_keys, new_values = cut(all_keys, window), cut(all_values, window)
            if "v_prepend" in bugs and len(all_values) > window:
                new_values = all_values[:window]
            seen_keys, seen_values = (keys, values) if "attend_before_append" in bugs else (new_keys, new_values)
            keys, values = new_keys, new_values
            if "future" in bugs:
                seen_keys, seen_values = list(x @ wk), list(x @ value_weight)
            if "prealloc" in bugs:
                unused = max(0, n - t - 1)
                seen_keys, seen_values = [*seen_keys, *np.zeros((unused, d))], [*seen_values, *np.zeros((unused, v))]
            if not seen_keys:
                out.append(np.zeros(v))
                continue
            query = x[0] @ wq if "first_query" in bugs else token @ wq
            scores = np.array(seen_keys) @ query / math.sqrt(len(seen_keys) if "scale_k" in bugs else size)
            weights = np.full(len(scores), 1 / len(scores)) if "mean" in bugs else softmax(scores)
            out.append(weights @ np.array(seen_values))
        return np.array(out)

    return variant


def _sizes(n, m, d, v, window, size=1.0):
    def make(rng):
        weights = [rng.standard_normal((m, width)) for width in (d, d, v)]
        return size * rng.standard_normal((n, m)), *weights, window

    return make


_CACHE = Exercise(
    "kv_cache",
    title="One token at a time",
    chapter="decoding",
    level="medium",
    minutes=20,
    blanks=5,
    oracle=_oracle,
    solution=kv_cache,
    family=_family,
    probes=(
        Probe("6 tokens, a window that never fills", _sizes(6, 5, 4, 3, 9)),
        Probe("4 tokens of width 4", _sizes(4, 4, 4, 4, 4), "equal", "With all sizes alike, mixed-up axes run."),
        Probe("7 tokens, window 3", _sizes(7, 5, 4, 2, 3), why="The window is full from the third token on."),
        Probe("large scores", _sizes(6, 5, 4, 3, 9, size=30.0), "edge", "Their exponentials overflow."),
        Probe("window 1", _sizes(4, 3, 2, 5, 1), "edge", "Each token sees itself alone."),
        Probe("one token, one feature", _sizes(1, 3, 1, 1, 2), "edge", "Axes of size 1 stay."),
    ),
    mistakes=(
        Mistake(
            "attend_before_append", "attend, then append",
            "The new token does not see itself: its key and value have to be in the cache before it attends.", 1,
            sets="seen",
        ),
        Mistake(
            "overwrite", "cache = current token",
            "Only the current token is in the cache, so each output is its own value: the past has to stay.", 1,
            sets="seen",
        ),
        Mistake(
            "v_prepend", "key appended, value prepended",
            "Keys and values are kept in different orders: a weight has to meet the value of its own key.", 2,
            sets="seen",
        ),
        Mistake(
            "prefix_again", "the whole prefix appended at each step",
            "The whole prefix is appended at every step, so that tokens count several times; only the new one is new.", 1,
            sets="seen",
        ),
        Mistake(
            "prealloc", "unused slots take part in the softmax",
            "Slots that nothing was written to yet take part in the softmax, each with score 0: leave them out.", 2,
            sets="seen",
        ),
        Mistake(
            "future", "softmax(Q K^T) V without a mask",
            "A token looks at those that come after it; while it is decoded they do not exist.", 1,
            sets="seen window",
        ),
        Mistake(
            "top_left_mask", "np.tril on one row of scores",
            "A causal mask aligned at the top left leaves a single query its first key alone; no mask is needed here.", 2,
            sets="weights",
        ),
        Mistake(
            "evict_newest", "keys[:window]",
            "The oldest tokens are kept and the newest dropped; a window keeps the last ones.", 3,
            sets="window",
        ),
        Mistake(
            "window_plus", "window + 1 tokens",
            "A token that has left the window is still seen: the window counts the current token, too.", 3,
            sets="window",
        ),
        Mistake(
            "window_minus", "window - 1 tokens",
            "The window is one token short: it counts the current token and those before it.", 3,
            sets="window",
        ),
        Mistake(
            "no_window", "the cache only grows",
            "Nothing is ever dropped: a token sees the last `window` ones, itself among them.", 3,
            sets="window",
        ),
        Mistake(
            "no_scale", "exp(q · k)",
            "The scores are not scaled: divide them by the root of d.", 2,
            sets="scale",
        ),
        Mistake(
            "scale_m", "scores / sqrt(m)",
            "The scores are divided by the root of the model's width; a key has d features.", 2,
            sets="scale",
        ),
        Mistake(
            "scale_d", "scores / d",
            "The scores are divided by d, not by its root.", 2,
            sets="scale",
        ),
        Mistake(
            "scale_k", "scores / sqrt(number of keys)",
            "The scores are divided by the root of the number of keys; it is the features that count.", 2,
            sets="scale",
        ),
        Mistake(
            "swap", "queries from key_weight, keys from query_weight",
            "The matrices of queries and keys have changed places.", 2,
            sets="keys",
        ),
        Mistake(
            "query_twice", "keys from query_weight",
            "The keys are made with the matrix of the queries; they have one of their own.", 2,
            sets="keys",
        ),
        Mistake(
            "first_query", "the query of token 0 at each step",
            "The query of the first token is used throughout; each token asks with its own.", 2,
        ),
        Mistake(
            "mean", "the mean of the cached values",
            "All cached values count alike: they have to be weighted by how well their keys match.", 2,
            sets="weights scale",
        ),
        Mistake(
            "no_division", "exp without its sum",
            "The exponentials are not divided by their sum over the cache.", 2,
            shows="row_factor", sets="weights",
        ),
        Mistake(
            "no_max", "exp without the maximum",
            "Large exponents overflow: measure the scores of a token against their maximum.", 2,
            shows="lost", sets="weights",
        ),
    ),
    hints=(
        "What does the new token need from the tokens before it, and what from itself? Write down what is in the cache "
        "before and after it.",
        "With its own key and value in the cache, one query meets all keys: one row of scores, scaled by the root of d, "
        "one softmax, one mean of the values.",
        "Append `token @ key_weight` and `token @ value_weight`, keep the last `window` of both, and only then score.",
    ),
    why="Nothing that was computed for an earlier token depends on a later one, so its key and value stay what they "
    "were. No mask is needed: the future is not in the cache yet.",
    insight="Over a whole text these are the rows of causal attention; a token costs one row, and no product of the past "
    "is done twice.",
    accepts=accepts.KV_CACHE,
)  # fmt: skip

EXERCISES = (_CACHE,)
