"""A fourth corpus, written from the statements alone, before anything was mended: chapters 10 and 11."""

import numpy as np

from . import wrong
from .parts import softmax


def cached(x, wq, wk, wv, window, cache, attend, cut=True):
    keys, values = cache or ([], [])
    out = []
    for token in x:
        keys.append(token @ wk)
        values.append(token @ wv)
        if cut:
            del keys[:-window], values[:-window]
        out.append(attend(token @ wq, np.array(keys), np.array(values)))
    return np.array(out)


def attends(q, k, v, root=None):
    return softmax(k @ q / (np.sqrt(len(q)) if root is None else root)) @ v


def q_over(query, state, total):
    return query @ state / (query @ total)


# --- kv_cache --------------------------------------------------------------------------------------


@wrong("kv_cache", "no scale", named=("no_scale",))
def _(x, query_weight, key_weight, value_weight, window, *, cache=None):
    return cached(x, query_weight, key_weight, value_weight, window, cache, lambda q, k, v: softmax(k @ q) @ v)


@wrong("kv_cache", "no shift of the large scores", named=("no_max",))
def _(x, query_weight, key_weight, value_weight, window, *, cache=None):
    def attend(q, k, v):
        with np.errstate(all="ignore"):
            e = np.exp(k @ q / np.sqrt(len(q)))
            return e / e.sum() @ v
    return cached(x, query_weight, key_weight, value_weight, window, cache, attend)


@wrong("kv_cache", "window ignored", named=("no_window",))
def _(x, query_weight, key_weight, value_weight, window, *, cache=None):
    return cached(x, query_weight, key_weight, value_weight, window, cache, attends, cut=False)


@wrong("kv_cache", "cache ignored", rule="goes on with what an earlier call has kept")
def _(x, query_weight, key_weight, value_weight, window, *, cache=None):
    return cached(x, query_weight, key_weight, value_weight, window, None, attends)


@wrong("kv_cache", "keys and values kept from the key weight alone", named=("key_asks",))
def _(x, query_weight, key_weight, value_weight, window, *, cache=None):
    keys, values = cache or ([], [])
    out = []
    for token in x:
        keys.append(token @ key_weight)
        values.append(token @ value_weight)
        del keys[:-window], values[:-window]
        scores = np.array(keys) @ (token @ key_weight) / np.sqrt(key_weight.shape[1])
        out.append(softmax(scores) @ np.array(values))
    return np.array(out)


@wrong("kv_cache", "scale by the root of the number of kept keys", named=("scale_k",))
def _(x, query_weight, key_weight, value_weight, window, *, cache=None):
    return cached(x, query_weight, key_weight, value_weight, window, cache, lambda q, k, v: attends(q, k, v, len(k) ** 0.5))


@wrong("kv_cache", "scale by the features of the tokens", named=("scale_m",))
def _(x, query_weight, key_weight, value_weight, window, *, cache=None):
    return cached(x, query_weight, key_weight, value_weight, window, cache, lambda q, k, v: attends(q, k, v, x.shape[1] ** 0.5))


@wrong("kv_cache", "a token does not see itself but in its first step")
def _(x, query_weight, key_weight, value_weight, window, *, cache=None):
    def attend(q, k, v):
        return attends(q, k[:-1], v[:-1]) if len(k) > 1 else attends(q, k, v)
    return cached(x, query_weight, key_weight, value_weight, window, cache, attend)


# --- kv_cache_bytes --------------------------------------------------------------------------------

wrong("kv_cache_bytes", "bits", named=("bits",))(2 * 3 * 7 * 4 * 1000 * 80 * 32)
wrong("kv_cache_bytes", "MB")(53.76 * 2)
wrong("kv_cache_bytes", "squares of the length")(2 * 3 * 7 * 4 * 1000**2 * 4)

# --- paged_lookup ----------------------------------------------------------------------------------


@wrong("paged_lookup", "size from the number of pages")
def _(pages, table, positions):
    size = len(pages)
    return pages[np.asarray(table)[np.minimum(positions // size, len(table) - 1)], positions % pages.shape[1]]


@wrong("paged_lookup", "division and remainder exchanged")
def _(pages, table, positions):
    size = pages.shape[1]
    return pages[np.asarray(table)[positions % size % len(table)], np.minimum(positions // size, size - 1)]


@wrong("paged_lookup", "positions sorted first", named=("sorted_positions",))
def _(pages, table, positions):
    size = pages.shape[1]
    positions = np.sort(positions)
    return pages[np.asarray(table)[positions // size], positions % size]


@wrong("paged_lookup", "positions counted from 1", named=("from_one",))
def _(pages, table, positions):
    size = pages.shape[1]
    p = np.asarray(positions) - 1
    return pages[np.asarray(table)[p // size], p % size]


@wrong("paged_lookup", "searches the block's page in the table the other way round", named=("inverse",))
def _(pages, table, positions):
    size = pages.shape[1]
    where = np.argsort(table)
    return pages[where[positions // size], positions % size]


# --- shared_blocks ---------------------------------------------------------------------------------

wrong("shared_blocks", "all tokens packed", named=("tokens_packed",))(-(-110 // 16))
wrong("shared_blocks", "answers on pages of their own, the prompt's last page held once")(4 + 1 + 2 + 2 + 1)
wrong("shared_blocks", "the three share 4 pages and copy one each")(4 + 1 + 2 + 2 + 3)
wrong("shared_blocks", "counts tokens", named=("tokens",))(110)

# --- linear_step -----------------------------------------------------------------------------------


@wrong("linear_step", "output from the state before the token", named=("past_only",))
def _(state, total, query, key, value):
    new_state, new_total = state + np.outer(key, value), total + key
    denominator = query @ total
    out = query @ state / denominator if denominator > 0 else np.zeros(len(value))
    return new_state, new_total, out


@wrong("linear_step", "not divided", named=("no_division",))
def _(state, total, query, key, value):
    state = state + np.outer(key, value)
    total = total + key
    return state, total, query @ state


@wrong("linear_step", "divided by the sum of the total", named=("plain_sum",))
def _(state, total, query, key, value):
    state = state + np.outer(key, value)
    total = total + key
    return state, total, query @ state / total.sum()


@wrong("linear_step", "the query is stored instead of the key")
def _(state, total, query, key, value):
    state = state + np.outer(query, value)
    total = total + query
    return state, total, key @ state / (key @ total)


@wrong("linear_step", "exponentials of the features")
def _(state, total, query, key, value):
    q, k = np.exp(query), np.exp(key)
    state, total = state + np.outer(k, value), total + k
    return state, total, q @ state / (q @ total)


@wrong("linear_step", "decays the old state by a half")
def _(state, total, query, key, value):
    state, total = 0.5 * state + np.outer(key, value), 0.5 * total + key
    return state, total, q_over(query, state, total)


@wrong("linear_step", "total counts tokens: the sum of the key on every entry")
def _(state, total, query, key, value):
    state = state + key[:, None] * value
    total = total + key.sum()
    return state, total, query @ state / (query @ total)
