"""Other right ways to do the exercises on decoding."""

import math

import numpy as np

from attnexercises.softmax.stable import plain_softmax

# --- kv_cache -------------------------------------------------------------------------------------


def full_causal_matrix(x, query_weight, key_weight, value_weight, window):
    query, key, value = x @ query_weight, x @ key_weight, x @ value_weight
    place = np.arange(len(x))
    behind = place[:, None] - place
    scores = np.where((behind >= 0) & (behind < window), query @ key.T / math.sqrt(query.shape[1]), -np.inf)
    return plain_softmax(scores) @ value


def written_into_place(x, query_weight, key_weight, value_weight, window):
    keys, values = np.zeros((len(x), key_weight.shape[1])), np.zeros((len(x), value_weight.shape[1]))
    out = np.zeros(values.shape)
    for t in range(len(x)):
        keys[t], values[t] = x[t] @ key_weight, x[t] @ value_weight
        start = max(0, t + 1 - window)
        scores = keys[start : t + 1] @ (x[t] @ query_weight) / math.sqrt(keys.shape[1])
        out[t] = plain_softmax(scores) @ values[start : t + 1]
    return out


def written_over_the_oldest(x, query_weight, key_weight, value_weight, window):
    """The rows of a full cache are in no order; attention does not mind."""
    size = min(window, len(x))
    keys, values = np.zeros((size, key_weight.shape[1])), np.zeros((size, value_weight.shape[1]))
    out = np.zeros((len(x), values.shape[1]))
    for t in range(len(x)):
        keys[t % size], values[t % size] = x[t] @ key_weight, x[t] @ value_weight
        used = min(t + 1, size)
        weights = plain_softmax(np.einsum("kd,d->k", keys[:used], x[t] @ query_weight) / math.sqrt(keys.shape[1]))
        out[t] = np.einsum("k,kv->v", weights, values[:used])
    return out


def stacked(x, query_weight, key_weight, value_weight, window):
    keys, values = x[:0] @ key_weight, x[:0] @ value_weight
    rows = []
    for token in x:
        keys = np.concatenate([keys, (token @ key_weight)[None]])[-window:]
        values = np.concatenate([values, (token @ value_weight)[None]])[-window:]
        scores = np.tensordot(keys, token @ query_weight, axes=1) * len(query_weight[0]) ** -0.5
        rows.append(np.tensordot(plain_softmax(scores), values, axes=1))
    return np.stack(rows)


# --- paged_lookup ---------------------------------------------------------------------------------


def looked_up_in_loops(pages, table, positions):
    size = len(pages[0])
    return np.array([pages[table[position // size]][position % size] for position in positions])


def by_row_number(pages, table, positions):
    block, slot = np.divmod(positions, pages.shape[1])
    return pages.reshape(-1, pages.shape[2])[table[block] * pages.shape[1] + slot]


def picked_by_einsum(pages, table, positions):
    block, slot = np.divmod(positions, pages.shape[1])
    return np.einsum("np,ns,psd->nd", np.eye(len(pages))[table[block]], np.eye(pages.shape[1])[slot], pages)


def picked_by_tensordot(pages, table, positions):
    picks = np.eye(len(table) * pages.shape[1])[positions]
    return np.tensordot(picks, np.concatenate(pages[table]), axes=1)


# --- linear_step ----------------------------------------------------------------------------------


def stepped_in_loops(state, total, query, key, value):
    state, total = state.copy(), total.copy()
    for f in range(len(key)):
        total[f] += key[f]
        for c in range(len(value)):
            state[f, c] += key[f] * value[c]
    divisor = sum(query[f] * total[f] for f in range(len(query)))
    return state, total, np.array([sum(query * state[:, c]) / divisor for c in range(len(value))])


def stepped_by_einsum(state, total, query, key, value):
    state = state + np.einsum("d,v->dv", key, value)
    total = total + key
    return state, total, np.einsum("d,dv->v", query, state) / np.einsum("d,d->", query, total)


def stepped_with_ones(state, total, query, key, value):
    """The total as one more column of the state: the sum of keys times a value of 1."""
    both = np.column_stack([state, total]) + key[:, None] * np.append(value, 1.0)
    out = both.T @ query
    return both[:, :-1], both[:, -1], out[:-1] / out[-1]


def stepped_by_tensordot(state, total, query, key, value):
    state, total = state + np.tensordot(key[:, None], value[None], axes=1), total + key
    return state, total, np.tensordot(query, state, axes=1) / np.tensordot(query, total, axes=1)


ACCEPTED = {
    "kv_cache": {
        "where": full_causal_matrix,
        "loops": written_into_place,
        "einsum": written_over_the_oldest,
        "tensordot": stacked,
    },
    "paged_lookup": {
        "loops": looked_up_in_loops,
        "row numbers": by_row_number,
        "einsum": picked_by_einsum,
        "tensordot": picked_by_tensordot,
    },
    "linear_step": {
        "loops": stepped_in_loops,
        "einsum": stepped_by_einsum,
        "a column of ones": stepped_with_ones,
        "tensordot": stepped_by_tensordot,
    },
}
