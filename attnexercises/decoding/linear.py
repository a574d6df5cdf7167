"""The exercise on linear attention as a recurrence: one token, a state of fixed size."""

import math

import numpy as np

from attnexercises.decoding import accepts
from attnexercises.engine.model import Exercise, Mistake, Probe


def linear_step(state, total, query, key, value):
    state = state + np.outer(key, value)
    total = total + key
    return state, total, query @ state / (query @ total)


def _oracle(state, total, query, key, value):
    d, v = state.shape
    new_state = [[state[f, c] + key[f] * value[c] for c in range(v)] for f in range(d)]
    new_total = [total[f] + key[f] for f in range(d)]
    divisor = math.fsum(query[f] * new_total[f] for f in range(d))
    out = [math.fsum(query[f] * new_state[f][c] for f in range(d)) / divisor for c in range(v)]
    return np.array(new_state), np.array(new_total), np.array(out)


def _family(bugs):
    def variant(state, total, query, key, value):
        added = np.outer(value, key) if "turned" in bugs else np.outer(key, value)
        added = np.outer(query, value) if "query_stored" in bugs else added
        more = query if "query_counted" in bugs else value if "value_counted" in bugs else key
        new_state = added * 1.0 if "overwrite" in bugs else state * added if "product" in bugs else state + added
        new_total = more * 1.0 if "total_overwrite" in bugs else total * 1.0 if "total_stays" in bugs else total + more
        if "counted" in bugs:
            new_total = total + 1
        read, norm = (state, total) if "past_only" in bugs else (new_state, new_total)
        asked = key if "key_asks" in bugs else query
        top = asked @ (read.T if "read_turned" in bugs else read)
        if "no_division" in bugs:
            return new_state, new_total, top
        bottom = asked @ (total if "old_divisor" in bugs else norm)
        if "plain_sum" in bugs or "root" in bugs:
            bottom = norm.sum() if "plain_sum" in bugs else math.sqrt(len(key))
        if "per_feature" in bugs:
            return new_state, new_total, (asked / norm) @ read
        return new_state, new_total, top / bottom

    return variant


def _sizes(d, v, fresh=False):
    def make(rng):
        past = np.zeros((d, v)), np.zeros(d)
        if not fresh:
            keys, values = 0.6 + np.abs(rng.standard_normal((4, d))), rng.standard_normal((4, v))
            past = keys.T @ values, keys.sum(axis=0)
        query, key = 0.6 + np.abs(rng.standard_normal((2, d)))
        return *past, query, key, rng.standard_normal(v)

    return make


_LINEAR = Exercise(
    "linear_step",
    title="A past of fixed size",
    chapter="decoding",
    level="medium",
    minutes=15,
    blanks=3,
    oracle=_oracle,
    solution=linear_step,
    family=_family,
    probes=(
        Probe("4 features, values of 3", _sizes(4, 3)),
        Probe("3 features, values of 3", _sizes(3, 3), "equal"),
        Probe("2 features, values of 5", _sizes(2, 5), why="Values wider than keys."),
        Probe("the first token", _sizes(4, 3, fresh=True), "edge", "State and total are 0 before it."),
        Probe("one feature, values of one", _sizes(1, 1), "edge", "Axes of size 1 stay."),
    ),
    mistakes=(
        Mistake(
            "past_only", "read, then add",
            "The output is read from the past alone; the token belongs to what it sees.", 2,
            sets="read",
        ),
        Mistake(
            "no_division", "query @ state",
            "The sum of values is not divided by the sum of the weights.", 1,
            shows="factor", sets="divisor",
        ),
        Mistake(
            "overwrite", "state = outer(key, value)",
            "The state holds this token alone; what was there has to stay.", 2,
            sets="state",
        ),
        Mistake(
            "total_overwrite", "total = key",
            "The total holds this token's key alone; what was there has to stay.", 2,
            sets="total",
        ),
        Mistake(
            "total_stays", "total",
            "The new key is missing in the total.", 2,
            sets="total",
        ),
        Mistake(
            "counted", "total + 1",
            "Tokens are counted in the total, one for each; a token's weight depends on its key.", 2,
            sets="total",
        ),
        Mistake(
            "query_counted", "total + query",
            "The query was added to the total; what is summed over tokens is made of their keys.", 2,
            sets="total",
        ),
        Mistake(
            "value_counted", "total + value",
            "The value was added to the total; what is summed over tokens is made of their keys.", 2,
            sets="total",
        ),
        Mistake(
            "query_stored", "state + outer(query, value)",
            "The query was stored with the value; later queries have to meet this token's key.", 2,
            sets="state",
        ),
        Mistake(
            "turned", "state + outer(value, key)",
            "Rows and columns of what is added are swapped: a row of the state belongs to a feature of the key.", 3,
            sets="state",
        ),
        Mistake(
            "product", "state * outer(key, value)",
            "State and new token were multiplied; a sum over tokens grows by adding.", 2,
            sets="state",
        ),
        Mistake(
            "read_turned", "state @ query",
            "The query meets the columns of the state; its features belong to the rows.", 3,
            sets="read",
        ),
        Mistake(
            "key_asks", "key @ state / (key @ total)",
            "The output is read with the key; it is the query that asks.", 1,
            sets="read",
        ),
        Mistake(
            "plain_sum", "query @ state / total.sum()",
            "The divisor has no query in it: the weights of this query have to sum to 1.", 1,
            shows="factor", sets="divisor",
        ),
        Mistake(
            "old_divisor", "query @ new state / (query @ old total)",
            "The divisor is the sum of the weights of the past alone; the token's own weight belongs to it.", 2,
            shows="factor", sets="divisor read",
        ),
        Mistake(
            "root", "query @ state / sqrt(d)",
            "The divisor is a scale, not a sum of weights: nothing here is an exponential of a score.", 1,
            shows="factor", sets="divisor",
        ),
        Mistake(
            "per_feature", "(query / total) @ state",
            "Each feature is divided by its own total; it is the sum over features that is one weight.", 3,
            sets="divisor",
        ),
    ),
    hints=(
        "Write the output as a sum over tokens over a sum over tokens. In which of the factors is the query, which does not "
        "depend on the token?",
        "Without the query the upper sum is over key times value, for all pairs of features; the lower one over keys.",
        "Add `np.outer(key, value)` and `key`; then the query meets both, and one is divided by the other.",
    ),
    why="The weights are sums over features, so the query can be taken out of the sum over tokens. What is left does "
    "not know the query and can be summed before it comes.",
    insight="A cache that never grows: d times v numbers and d more, after three tokens or after a million.",
    accepts=accepts.LINEAR_STEP,
    outputs=("state", "total", "out"),
)  # fmt: skip

EXERCISES = (_LINEAR,)
