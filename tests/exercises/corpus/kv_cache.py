"""Wrong answers to `kv_cache`, as readers may write them."""

import numpy as np

from . import wrong


def soft(s):
    e = np.exp(s - s.max())
    return e / e.sum()


def row(q, K, V):
    return soft(np.array(K) @ q / np.sqrt(len(q))) @ np.array(V)


@wrong("kv_cache", "reads the cache before the token is in it", named=("attend_before_append",))
def reads_first(x, query_weight, key_weight, value_weight, window):
    K, V, out = np.zeros((0, key_weight.shape[1])), np.zeros((0, value_weight.shape[1])), []
    for t in x:
        out.append(row(t @ query_weight, K, V) if len(K) else np.zeros(value_weight.shape[1]))
        K, V = np.vstack([K, t @ key_weight])[-window:], np.vstack([V, t @ value_weight])[-window:]
    return np.array(out)


@wrong("kv_cache", "x @ value_weight: every token sees itself alone", named=("overwrite",))
def itself(x, query_weight, key_weight, value_weight, window):
    return x @ value_weight


@wrong("kv_cache", "causal attention without the window", named=("no_window",))
def no_window(x, query_weight, key_weight, value_weight, window):
    Q, K, V = x @ query_weight, x @ key_weight, x @ value_weight
    s = np.where(np.tri(len(x), dtype=bool), Q @ K.T / np.sqrt(K.shape[1]), -np.inf)
    e = np.exp(s - s.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True) @ V


@wrong("kv_cache", "no mask at all: tokens see the future", named=("future",))
def future(x, query_weight, key_weight, value_weight, window):
    Q, K, V = x @ query_weight, x @ key_weight, x @ value_weight
    s = Q @ K.T / np.sqrt(K.shape[1])
    e = np.exp(s - s.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True) @ V


@wrong("kv_cache", "a band mask one too wide", named=("window_plus",))
def band_too_wide(x, query_weight, key_weight, value_weight, window):
    Q, K, V = x @ query_weight, x @ key_weight, x @ value_weight
    i, j = np.indices((len(x), len(x)))
    s = np.where((j <= i) & (i - j <= window), Q @ K.T / np.sqrt(K.shape[1]), -np.inf)
    e = np.exp(s - s.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True) @ V


@wrong("kv_cache", "pops the newest when the cache is full", named=("evict_newest",))
def pops_the_newest(x, query_weight, key_weight, value_weight, window):
    K, V, out = [], [], []
    for t in x:
        K.append(t @ key_weight)
        V.append(t @ value_weight)
        if len(K) > window:
            K.pop()
            V.pop()
        out.append(row(t @ query_weight, K, V))
    return np.array(out)


@wrong("kv_cache", "pops the oldest at window, not above it", named=("window_minus",))
def pops_too_early(x, query_weight, key_weight, value_weight, window):
    K, V, out = [], [], []
    for t in x:
        K.append(t @ key_weight)
        V.append(t @ value_weight)
        if len(K) >= window and len(K) > 1:
            K.pop(0)
            V.pop(0)
        out.append(row(t @ query_weight, K, V))
    return np.array(out)


@wrong("kv_cache", "cuts the cache at the end of the step", named=("window_plus",))
def cuts_at_the_end(x, query_weight, key_weight, value_weight, window):
    K, V, out = [], [], []
    for t in x:
        K.append(t @ key_weight)
        V.append(t @ value_weight)
        out.append(row(t @ query_weight, K, V))
        K, V = K[-window:], V[-window:]
    return np.array(out)


@wrong("kv_cache", "arrays of zeros, all of them scored", named=("prealloc",))
def zeros_scored(x, query_weight, key_weight, value_weight, window):
    K, V = np.zeros((len(x), key_weight.shape[1])), np.zeros((len(x), value_weight.shape[1]))
    out = []
    for i, t in enumerate(x):
        K[i], V[i] = t @ key_weight, t @ value_weight
        a = max(0, i - window + 1)
        out.append(row(t @ query_weight, K[a:], V[a:]))
    return np.array(out)


@wrong("kv_cache", "a ring of zeros, all of it scored", says=r"cases right|differ|largest")
def ring_of_zeros(x, query_weight, key_weight, value_weight, window):
    K, V = np.zeros((window, key_weight.shape[1])), np.zeros((window, value_weight.shape[1]))
    out = []
    for i, t in enumerate(x):
        K[i % window], V[i % window] = t @ key_weight, t @ value_weight
        out.append(row(t @ query_weight, K, V))
    return np.array(out)


@wrong("kv_cache", "x[:i + 1] added at every step", named=("prefix_again",))
def prefix_added(x, query_weight, key_weight, value_weight, window):
    K, V, out = [], [], []
    for i, t in enumerate(x):
        K.extend(x[: i + 1] @ key_weight)
        V.extend(x[: i + 1] @ value_weight)
        K, V = K[-window:], V[-window:]
        out.append(row(t @ query_weight, K, V))
    return np.array(out)


@wrong("kv_cache", "values put in front", named=("v_prepend",))
def values_in_front(x, query_weight, key_weight, value_weight, window):
    K, V, out = [], [], []
    for t in x:
        K.append(t @ key_weight)
        V.insert(0, t @ value_weight)
        out.append(row(t @ query_weight, K[-window:], V[:window]))
    return np.array(out)


@wrong("kv_cache", "np.tril on the row of scores", named=("top_left_mask",))
def tril_on_a_row(x, query_weight, key_weight, value_weight, window):
    K, V, out = [], [], []
    for t in x:
        K.append(t @ key_weight)
        V.append(t @ value_weight)
        K, V = K[-window:], V[-window:]
        s = (t @ query_weight)[None] @ np.array(K).T / np.sqrt(key_weight.shape[1])
        s = np.where(np.tril(np.ones_like(s)) > 0, s, -np.inf)
        out.append(soft(s[0]) @ np.array(V))
    return np.array(out)


@wrong("kv_cache", "divided by the root of the token's width", named=("scale_m",))
def root_of_m(x, query_weight, key_weight, value_weight, window):
    K, V, out = [], [], []
    for t in x:
        K, V = [*K, t @ key_weight][-window:], [*V, t @ value_weight][-window:]
        out.append(soft(np.array(K) @ (t @ query_weight) / np.sqrt(len(t))) @ np.array(V))
    return np.array(out)


@wrong("kv_cache", "never scaled", named=("no_scale",))
def never_scaled(x, query_weight, key_weight, value_weight, window):
    K, V, out = [], [], []
    for t in x:
        K, V = [*K, t @ key_weight][-window:], [*V, t @ value_weight][-window:]
        out.append(soft(np.array(K) @ (t @ query_weight)) @ np.array(V))
    return np.array(out)


@wrong("kv_cache", "the exponentials are not shifted", named=("no_max",))
def not_shifted(x, query_weight, key_weight, value_weight, window):
    K, V, out = [], [], []
    for t in x:
        K, V = [*K, t @ key_weight][-window:], [*V, t @ value_weight][-window:]
        e = np.exp(np.array(K) @ (t @ query_weight) / np.sqrt(key_weight.shape[1]))
        out.append(e / e.sum() @ np.array(V))
    return np.array(out)


@wrong("kv_cache", "only the last token's output is returned", says=r"\(3,\); \(6, 3\)")
def last_only(x, query_weight, key_weight, value_weight, window):
    K, V = (x @ key_weight)[-window:], (x @ value_weight)[-window:]
    return row(x[-1] @ query_weight, K, V)


@wrong("kv_cache", "values are taken from the keys", says=r"\(6, 4\); \(6, 3\)")
def keys_for_values(x, query_weight, key_weight, value_weight, window):
    K, out = [], []
    for t in x:
        K = [*K, t @ key_weight][-window:]
        out.append(row(t @ query_weight, K, K))
    return np.array(out)


@wrong("kv_cache", "tokens are cached, and projected with the query's matrix", named=("query_twice",))
def query_weight_twice(x, query_weight, key_weight, value_weight, window):
    out = []
    for i, t in enumerate(x):
        seen = x[max(0, i + 1 - window) : i + 1]
        out.append(row(t @ query_weight, seen @ query_weight, seen @ value_weight))
    return np.array(out)


@wrong("kv_cache", "key and query matrices swapped", named=("swap",))
def swapped(x, query_weight, key_weight, value_weight, window):
    K, V, out = [], [], []
    for t in x:
        K, V = [*K, t @ query_weight][-window:], [*V, t @ value_weight][-window:]
        out.append(row(t @ key_weight, K, V))
    return np.array(out)


@wrong("kv_cache", "tokens inside blocks of the window's length see each other alone", named=("cleared",), says=r"cases right|differ|largest")
def blocks_of_window(x, query_weight, key_weight, value_weight, window):
    K, V, out = [], [], []
    for i, t in enumerate(x):
        if i % window == 0:
            K, V = [], []
        K.append(t @ key_weight)
        V.append(t @ value_weight)
        out.append(row(t @ query_weight, K, V))
    return np.array(out)


@wrong("kv_cache", "only the keys are cut", says=r"shape|match|operand|size")
def keys_cut_alone(x, query_weight, key_weight, value_weight, window):
    K, V, out = [], [], []
    for t in x:
        K.append(t @ key_weight)
        V.append(t @ value_weight)
        K = K[-window:]
        out.append(row(t @ query_weight, K, V))
    return np.array(out)
