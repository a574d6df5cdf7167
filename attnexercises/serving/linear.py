"""The exercise on linear attention as a recurrence: one token, a state of fixed size."""

import math

import numpy as np

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
    title="A past of fixed size", level="medium", minutes=15, blanks=3, oracle=_oracle, solution=linear_step,
    probes=(
        Probe("4 features, values of 3", _sizes(4, 3)),
        Probe("3 features, values of 3", _sizes(3, 3), "equal"),
        Probe("2 features, values of 5", _sizes(2, 5), why="Values wider than keys."),
        Probe("the first token", _sizes(4, 3, fresh=True), "edge", "State and total are 0 before it."),
        Probe("one feature, values of one", _sizes(1, 1), "edge", "Axes of size 1 stay."),
    ),
    mistakes=(
        Mistake("past_only",
            ("state = state -> later = state", "total = total -> counted = total", "return state, total -> return later, counted"),
            "The output is read from the past alone; the token belongs to what it sees.", 2, sets="read"),
        Mistake("no_division", "/ (query @ total) ->",
            "The sum of values is not divided by the sum of the weights.", 1, shows="factor", sets="divisor"),
        Mistake("overwrite", "state + np.outer -> np.outer",
            "The state holds this token alone; what was there has to stay.", 2, sets="state"),
        Mistake("total_overwrite", "total + key -> key",
            "The total holds this token's key alone; what was there has to stay.", 2, sets="total"),
        Mistake("total_stays", "total + key -> total", "The new key is missing in the total.", 2, sets="total"),
        Mistake("counted", "total + key -> total + 1",
            "Tokens are counted in the total, one for each; a token's weight depends on its key.", 2, sets="total"),
        Mistake("query_counted", "total + key -> total + query",
            "The query was added to the total; what is summed over tokens is made of their keys.", 2, sets="total"),
        Mistake("value_counted", "total + key -> total + value",
            "The value was added to the total; what is summed over tokens is made of their keys.", 2, sets="total"),
        Mistake("query_stored", "np.outer(key -> np.outer(query",
            "The query was stored with the value; later queries have to meet this token's key.", 2, sets="state"),
        Mistake("turned", "np.outer(key, value) -> np.outer(value, key)",
            "Rows and columns of what is added are swapped: a row of the state belongs to a feature of the key.", 3, sets="state"),
        Mistake("product", "state + np.outer -> state * np.outer",
            "State and new token were multiplied; a sum over tokens grows by adding.", 2, sets="state"),
        Mistake("read_turned", "query @ state -> query @ state.T",
            "The query meets the columns of the state; its features belong to the rows.", 3, sets="read"),
        Mistake("key_asks", "query @ -> key @", "The output is read with the key; it is the query that asks.", 1, sets="read"),
        Mistake("plain_sum", "(query @ total) -> total.sum()",
            "The divisor has no query in it: the weights of this query have to sum to 1.", 1, shows="factor", sets="divisor"),
        Mistake("old_divisor", ("value): -> value):\n    counted = total", "(query @ total) -> (query @ counted)"),
            "The divisor is the sum of the weights of the past alone; the token's own weight belongs to it.", 2, shows="factor",
            sets="divisor read"),
        Mistake("root", "(query @ total) -> math.sqrt(len(key))",
            "The divisor is a scale, not a sum of weights: nothing here is an exponential of a score.", 1, shows="factor",
            sets="divisor"),
        Mistake("per_feature", ("query @ state / ->", "(query @ total) -> (query / total) @ state"),
            "Each feature is divided by its own total; it is the sum over features that is one weight.", 3, sets="divisor"),
    ),
    hints=(
        "Write the output as a sum over tokens over a sum over tokens. In which of the factors is the query, which does not depend "
        "on the token?",
        "Without the query the upper sum is over key times value, for all pairs of features; the lower one over keys.",
        "Add `np.outer(key, value)` and `key`; then the query meets both, and one is divided by the other.",
    ),
    why="The weights are sums over features, so the query can be taken out of the sum over tokens. What is left does not know the "
    "query and can be summed before it comes.",
    insight="A cache that never grows: d times v numbers and d more, after three tokens or after a million.",
    outputs=("state", "total", "out"),
)  # fmt: skip
