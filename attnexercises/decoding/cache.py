"""The exercise on decoding one token at a time, with a cache of keys and values and a window."""

import inspect
import math

import numpy as np

from attnexercises.engine.calls import TIME_LIMIT
from attnexercises.engine.model import Exercise, Mistake, Probe
from attnexercises.engine.timelimit import TimeUp, call_within


def kv_cache(x, query_weight, key_weight, value_weight, window, *, cache=None):
    keys, values = cache or ([], [])
    out = []
    for token in x:
        keys.append(token @ key_weight)
        values.append(token @ value_weight)
        del keys[:-window], values[:-window]
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


def _goes_on(answer):
    """An objection if an answer that takes a cache does not go on with what an earlier call has kept there, otherwise ""."""
    try:
        if "cache" not in inspect.signature(answer).parameters:
            return ""  # the course's own lists are in the stub; a function without them is right as far as it goes
    except (TypeError, ValueError):
        return ""
    x, *weights, window = _sizes(5, 4, 3, 2, 3)(np.random.default_rng(7))
    kept = [], []
    try:
        parts = [call_within(TIME_LIMIT, lambda part=part: answer(part, *weights, window, cache=kept)) for part in (x[:1], x[1:2], x[2:])]
        goes_on = np.allclose(np.concatenate(parts).astype(float), _oracle(x, *weights, window))
    except (TimeUp, Exception) as error:
        return f"the values are right, but not with `cache=`: given the lists of an earlier call, your function stops with {type(error).__name__}."
    return "" if goes_on else "the values are right, but not with `cache=`: a second call does not go on where the first one ended."


_CACHE = Exercise(
    title="One token at a time", level="medium", minutes=20, blanks=5, oracle=_oracle, solution=kv_cache,
    method=_goes_on,
    probes=(
        Probe("6 tokens, a window that never fills", _sizes(6, 5, 4, 3, 9)),
        Probe("4 tokens of width 4", _sizes(4, 4, 4, 4, 4), "equal", "All sizes are equal here, so mixed-up axes raise no error."),
        Probe("7 tokens, window 3", _sizes(7, 5, 3, 2, 3), why="The window is full from the third token on."),
        Probe("large scores", _sizes(6, 5, 4, 3, 9, size=30.0), "edge", "Their exponentials overflow."),
        Probe("window 1", _sizes(4, 3, 2, 5, 1), "edge", "Each token sees itself alone."),
        Probe("one token, one feature", _sizes(1, 3, 1, 1, 2), "edge", "Axes of size 1 must not disappear."),
    ),
    mistakes=(
        Mistake("attend_before_append",
            ("out = [] -> out = [np.zeros(value_weight.shape[1])]",
             "for token in x -> for before, token in zip(x, x[1:])", "token @ key_weight -> before @ key_weight",
             "token @ value_weight -> before @ value_weight"),
            "The new token does not see itself. Append its key and value first, and let its query look afterwards.",
            1, sets="seen"),
        Mistake("overwrite", "keys[:-window], values[:-window] -> keys[:-1], values[:-1]",
            "Only the current token is in the cache, so it sees nothing but itself. Keep the keys and values of the earlier tokens.",
            1,
            sets="seen window"),
        Mistake("v_prepend", "np.array(values) -> np.array(values)[::-1]",
            "The keys and the values are kept in different orders, so a weight meets the value of another key.", 2, sets="seen"),
        Mistake("prefix_again",
            ("keys.append(token -> keys.extend(x[: len(out) + 1]", "values.append(token -> values.extend(x[: len(out) + 1]"),
            "The whole text so far is appended in every step, so the old tokens count several times. Append only the new token.",
            1,
            sets="seen"),
        Mistake("prealloc",
            ("np.array(keys) -> np.array([*keys, *np.zeros((len(x) - len(out) - 1, key_weight.shape[1]))])",
             "np.array(values) -> np.array([*values, *np.zeros((len(x) - len(out) - 1, value_weight.shape[1]))])"),
            "Rows into which nothing has been written yet take part in the softmax, with the score 0. Leave them out.",
            2, sets="seen"),
        Mistake("future", ("np.array(keys) -> (x @ key_weight)", "np.array(values) -> (x @ value_weight)"),
            "A token sees tokens that come after it. While it is being decoded, those tokens do not exist yet.",
            1, sets="seen window"),
        Mistake("top_left_mask", "exponentials / exponentials.sum() -> np.eye(len(scores))[0]",
            "Each query sees only the first key that is kept, as under a causal mask that starts at the top left. No mask is needed here.",
            2,
            sets="weights"),
        Mistake("evict_newest", "keys[:-window], values[:-window] -> keys[window:], values[window:]",
            "Your cache keeps the oldest tokens and drops the newest. A window keeps the newest.", 3, sets="window"),
        Mistake("window_plus", "[:-window] -> [: -window - 1]",
            "A token that has left the window is still seen. The window holds the current token, too, so cut after you append.",
            3, sets="window"),
        Mistake("window_minus", "[:-window] -> [: -window + 1]",
            "The window is one token short. It holds `window` tokens, and the current token is one of them.",
            3, sets="window"),
        Mistake("cleared",
            "del keys[:-window], values[:-window] -> if len(out) % window == 0:\n    del keys[:-1], values[:-1]",
            "Your cache is emptied when it is full. Only its oldest row has to leave when a new token arrives.", 2, sets="window seen"),
        Mistake("no_window", "del keys[:-window], values[:-window] ->",
            "Nothing is ever dropped. A token may only see the last `window` tokens, itself among them.", 3, sets="window"),
        Mistake("no_scale", "/ np.sqrt(key_weight.shape[1]) ->",
            "The scores are not scaled. Divide them by the square root of d.", 2, sets="scale"),
        Mistake("scale_m", "np.sqrt(key_weight.shape[1]) -> np.sqrt(x.shape[1])",
            "The scores are divided by the square root of the width of x. Use d, the number of features of a key.",
            2, sets="scale"),
        Mistake("scale_times", "/ np.sqrt(key_weight.shape[1]) -> * np.sqrt(key_weight.shape[1])",
            "The scores are multiplied by the square root of d. Divide them by it.", 2, sets="scale"),
        Mistake("scale_v", "np.sqrt(key_weight.shape[1]) -> np.sqrt(value_weight.shape[1])",
            "You scaled by the width of the values. A score is a sum over the d features of query and key.", 2, sets="scale"),
        Mistake("scale_d", "np.sqrt(key_weight.shape[1]) -> key_weight.shape[1]",
            "The scores are divided by d. Divide them by the square root of d.", 2, sets="scale"),
        Mistake("scale_k",
            ("/ np.sqrt(key_weight.shape[1]) ->", "exponentials = np -> scores = scores / np.sqrt(len(scores))\nexponentials = np"),
            "The scores are divided by the square root of the number of keys. Use d, the number of features of a key.",
            2, sets="scale"),
        Mistake("swap", "cache=None): -> cache=None):\n    query_weight, key_weight = key_weight, query_weight",
            "The query was made with the matrix of the keys, and the keys with the matrix of the queries.", 2, sets="keys"),
        Mistake("key_asks", "token @ query_weight -> token @ key_weight",
            "The key of the new token asks. Its query has to.", 2),
        Mistake("query_twice", "cache=None): -> cache=None):\n    key_weight = query_weight",
            "The keys are made with `query_weight`. They need `key_weight`.", 2, sets="keys"),
        Mistake("first_query", "token @ query_weight -> x[0] @ query_weight",
            "Every step uses the query of the first token. Each token needs a query of its own.", 2),
        Mistake("mean", "exponentials / exponentials.sum() -> np.full(len(scores), 1 / len(scores))",
            "All values in the cache count the same. Weight each value by how well its key matches the query.",
            2, sets="weights scale"),
        Mistake("no_division", "/ exponentials.sum() ->",
            "The exponentials are not divided by their sum over the keys in the cache.", 2, shows="row_factor", sets="weights"),
        Mistake("no_max", "scores - scores.max() -> scores",
            "The exponentials of large scores overflow. Subtract the largest score of the token first.",
            2, shows="lost", sets="weights"),
    ),
    hints=(
        "What does the output of the new token need from the earlier tokens, and what from the token itself? Write down what is in "
        "the cache before and after the step.",
        "Once the new key and value are in the cache, one query meets all keys that are kept. That makes one row of scores (scaled "
        "by the square root of d), one softmax, and one weighted average of the values.",
        "Append `token @ key_weight` and `token @ value_weight`. After the cut, the scores are `np.array(keys) @ (token @ "
        "query_weight)`, divided by the square root of d.",
    ),
    why="Nothing that was computed for an earlier token depends on a later token, so its key and value never change. No mask is "
    "needed, because the future is not in the cache yet.",
    insight="With a window of at least n these are the rows of causal attention. Each token costs one row, and no old key or value "
    "is computed again.",
)  # fmt: skip
