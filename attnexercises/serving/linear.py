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
            "You computed the output before adding this token. The token sees itself.", 2, sets="read"),
        Mistake("no_division", "/ (query @ total) ->",
            "The sum of values is not divided by the sum of the weights.", 1, shows="factor", sets="divisor"),
        Mistake("overwrite", "state + np.outer -> np.outer",
            "Your state holds this token alone. Add to the old state instead of replacing it.", 2, sets="state"),
        Mistake("total_overwrite", "total + key -> key",
            "Your total holds this token's key alone. Add to the old total instead of replacing it.", 2, sets="total"),
        Mistake("averaged", ("state = state + np.outer(key, value) -> state = (state + np.outer(key, value)) / 2",
            "total = total + key -> total = (total + key) / 2"),
            "You averaged old and new. State and total are sums over all tokens, so add the new term to all of the old ones.", 2, sets="state total"),
        Mistake("total_stays", "total + key -> total", "The total was returned as it came. Add the new key to it.", 2, sets="total"),
        Mistake("counted", "total + key -> total + 1",
            "Your total counts tokens, one for each. A token's weight depends on its key, so add the key.", 2, sets="total"),
        Mistake("query_counted", "total + key -> total + query",
            "You added the query to the total. The total is a sum of keys.", 2, sets="total"),
        Mistake("weight_counted", "return state, total, -> return state, total - key + query @ key,",
            "You added this token's weight to the total. The next query gives it another weight, so add the key.", 2, sets="total"),
        Mistake("value_counted", "total + key -> total + value",
            "You added the value to the total. The total is a sum of keys.", 2, sets="total"),
        Mistake("query_stored", "np.outer(key -> np.outer(query",
            "You stored the query with the value. Later queries have to be compared with this token's key.", 2, sets="state"),
        Mistake("turned", "np.outer(key, value) -> np.outer(value, key)",
            "Rows and columns of the new term are swapped: each row of the state belongs to one feature of the key.", 3, sets="state"),
        Mistake("product", "state + np.outer -> state * np.outer",
            "You multiplied the state by the new term. The state is a sum over tokens, so add the new term.", 2, sets="state"),
        Mistake("read_turned", "query @ state -> query @ state.T",
            "You multiplied the query with the columns of the state. Its features belong to the rows.", 3, sets="read"),
        Mistake("key_asks", "query @ -> key @", "You computed the output from the key. Use the query.", 1, sets="read"),
        Mistake("plain_sum", "(query @ total) -> total.sum()",
            "Your divisor does not depend on the query. The weights of this query have to sum to 1.", 1, shows="factor", sets="divisor"),
        Mistake("own_weight_1", ("value): -> value):\n    counted = total", "(query @ total) -> (query @ counted + 1)"),
            "In your divisor this token counts 1. Its weight is the product of the query and its key.", 2, shows="factor",
            sets="divisor read"),
        Mistake("old_divisor", ("value): -> value):\n    counted = total", "(query @ total) -> (query @ counted)"),
            "Your divisor is the sum of the weights of the past tokens alone. This token's own weight is missing.", 2, shows="factor",
            sets="divisor read"),
        Mistake("root", "(query @ total) -> math.sqrt(len(key))",
            "You divided by the root of the number of features. Divide by the sum of the weights.", 1, shows="factor",
            sets="divisor"),
        Mistake("per_feature", ("query @ state / ->", "(query @ total) -> (query / total) @ state"),
            "You divided each feature by its own total. A weight is a sum over features, so first sum, then divide.", 3, sets="divisor"),
    ),
    hints=(
        "Write the output as one sum over tokens divided by another. The query does not depend on the token. From which sums can you "
        "take it out?",
        "Without the query, the upper sum runs over products of a key feature and a value feature. The lower sum runs over keys.",
        "Add `np.outer(key, value)` to the state and `key` to the total. Multiply the query with each, and divide.",
    ),
    why="A weight is a sum over features, so the query can be taken out of the sum over tokens. What is left does not contain the "
    "query, so it can be summed before the query arrives.",
    insight="This memory never grows: it has d times v numbers and d more, after three tokens and after a million.",
    outputs=("state", "total", "out"),
)  # fmt: skip
