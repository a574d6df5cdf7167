"""Right values by another method than the exercise is about: `rule` says which rule is broken."""

import math

import numpy as np

from . import wrong

ONE_PASS = "use up one block of keys before the next is looked at, in one pass"


def hidden(i, k, q, causal):
    return np.arange(k) > i + k - q if causal else np.zeros(k, dtype=bool)


@wrong("flash_forward", "plain attention, two queries at a time", rule=ONE_PASS, says=r"keys at once|held")
def two_queries_at_a_time(query, key, value, block, causal):
    q, k = len(query), len(key)
    out, logsumexp = np.zeros((q, value.shape[1])), np.full(q, -np.inf)
    for top in range(0, q, 2):
        scores = query[top : top + 2] @ key.T / math.sqrt(query.shape[1])
        for i in range(len(scores)):
            scores[i, hidden(top + i, k, q, causal)] = -np.inf
            logsumexp[top + i] = np.logaddexp.reduce(scores[i])
            if np.isfinite(logsumexp[top + i]):
                out[top + i] = np.exp(scores[i] - logsumexp[top + i]) @ value
    return out, logsumexp


@wrong("flash_forward", "blocks of queries, all keys", rule=ONE_PASS, says=r"keys at once|held")
def blocks_of_queries(query, key, value, block, causal):
    q, k, d = len(query), len(key), query.shape[1]
    outs, sums = [], []
    for top in range(0, q, block):
        s = query[top : top + block] @ key.T / np.sqrt(d)
        if causal:
            s[np.arange(k) > np.arange(top, top + len(s))[:, None] + k - q] = -np.inf
        lse = np.logaddexp.reduce(s, axis=1)
        outs.append(np.exp(s - np.where(np.isneginf(lse), 0, lse)[:, None]) @ value)
        sums.append(lse)
    return np.concatenate(outs), np.concatenate(sums)


@wrong("flash_forward", "one pass for the logsumexp, one for the output", rule=ONE_PASS, says=r"again|one pass")
def logsumexp_first(query, key, value, block, causal):
    q, k, d = len(query), len(key), query.shape[1]

    def scores(at):
        s = query @ key[at : at + block].T / np.sqrt(d)
        if causal:
            s[np.arange(at, at + s.shape[1]) > np.arange(q)[:, None] + k - q] = -np.inf
        return s

    lse = np.full(q, -np.inf)
    for at in range(0, k, block):
        lse = np.logaddexp(lse, np.logaddexp.reduce(scores(at), axis=1))
    out, shift = np.zeros((q, value.shape[1])), np.where(np.isneginf(lse), 0, lse)[:, None]
    for at in range(0, k, block):
        out += np.exp(scores(at) - shift) @ value[at : at + block]
    return out, lse


@wrong("flash_forward", "a list of all blocks' scores, then the pass", rule=ONE_PASS, says=r"held|again")
def list_of_blocks(query, key, value, block, causal):
    q, k, d = len(query), len(key), query.shape[1]
    blocks = []
    for at in range(0, k, block):
        s = query @ key[at : at + block].T / np.sqrt(d)
        if causal:
            s[np.arange(at, at + s.shape[1]) > np.arange(q)[:, None] + k - q] = -np.inf
        blocks.append((s, value[at : at + block]))
    top = np.max([s.max(axis=1) for s, _ in blocks], axis=0)
    shift = np.where(np.isneginf(top), 0, top)[:, None]
    total = sum(np.exp(s - shift).sum(axis=1) for s, _ in blocks)
    safe = np.where(total == 0, 1, total)
    return sum(np.exp(s - shift) @ v for s, v in blocks) / safe[:, None], top + np.log(safe)


@wrong("flash_forward", "one key and one query at a time, twice over the keys", rule=ONE_PASS, says=r"again|one pass")
def scalars_twice(query, key, value, block, causal):
    q, k, d = len(query), len(key), query.shape[1]
    out, lse = np.zeros((q, value.shape[1])), np.full(q, -np.inf)
    for i in range(q):
        seen = [j for j in range(k) if not causal or j <= i + k - q]
        if seen:
            top = max(float(query[i] @ key[j]) for j in seen) / math.sqrt(d)
            powers = [math.exp(float(query[i] @ key[j]) / math.sqrt(d) - top) for j in seen]
            lse[i] = top + math.log(math.fsum(powers))
            out[i] = sum(p * value[j] for p, j in zip(powers, seen)) / math.fsum(powers)
    return out, lse


@wrong("flash_forward", "the maxima from all keys at once, then the pass", rule=ONE_PASS, says=r"held|at once")
def bound_for_a_maximum(query, key, value, block, causal):
    q, k, d = len(query), len(key), query.shape[1]
    top = (query @ key.T / np.sqrt(d)).max(axis=1) if q else np.zeros(q)
    acc, total = np.zeros((q, value.shape[1])), np.zeros(q)
    for at in range(0, k, block):
        s = query @ key[at : at + block].T / np.sqrt(d)
        if causal:
            s[np.arange(at, at + s.shape[1]) > np.arange(q)[:, None] + k - q] = -np.inf
        p = np.exp(s - top[:, None])
        acc, total = acc + p @ value[at : at + block], total + p.sum(axis=1)
    safe = np.where(total == 0, 1, total)
    return acc / safe[:, None], np.where(total == 0, -np.inf, top + np.log(safe))


TILES = "only one tile of weights may exist at a time"


@wrong("flash_backward", "plain attention's backward", rule=TILES, says=r"held|keys at once")
def plain_backward(d_out, query, key, value, out, logsumexp, block_q, block_k, causal):
    c = query.shape[1] ** -0.5
    s = c * query @ key.T
    if causal:
        s[np.arange(len(key)) > np.arange(len(query))[:, None] + len(key) - len(query)] = -np.inf
    p = np.exp(s - logsumexp[:, None])
    ds = c * p * (d_out @ value.T - (d_out * out).sum(1, keepdims=True))
    return ds @ key, ds.T @ query, p.T @ d_out


@wrong("flash_backward", "tiles of queries, all keys", rule=TILES, says=r"keys at once")
def rows_of_tiles(d_out, query, key, value, out, logsumexp, block_q, block_k, causal):
    c, q, k = query.shape[1] ** -0.5, len(query), len(key)
    d_query, d_key, d_value = np.zeros(query.shape), np.zeros(key.shape), np.zeros(value.shape)
    for top in range(0, q, block_q):
        r = slice(top, top + block_q)
        s = c * query[r] @ key.T
        if causal:
            s[np.arange(k) > np.arange(top, top + len(s))[:, None] + k - q] = -np.inf
        p = np.exp(s - logsumexp[r, None])
        ds = c * p * (d_out[r] @ value.T - (d_out[r] * out[r]).sum(1, keepdims=True))
        d_query[r] = ds @ key
        d_key += ds.T @ query[r]
        d_value += p.T @ d_out[r]
    return d_query, d_key, d_value


@wrong("flash_backward", "tiles of keys, all queries", rule=TILES, says=r"queries at once")
def columns_of_tiles(d_out, query, key, value, out, logsumexp, block_q, block_k, causal):
    c, q, k = query.shape[1] ** -0.5, len(query), len(key)
    d_query, d_key, d_value = np.zeros(query.shape), np.zeros(key.shape), np.zeros(value.shape)
    for start in range(0, k, block_k):
        n = slice(start, start + block_k)
        s = c * query @ key[n].T
        if causal:
            s[np.arange(start, start + s.shape[1]) > np.arange(q)[:, None] + k - q] = -np.inf
        p = np.exp(s - logsumexp[:, None])
        ds = c * p * (d_out @ value[n].T - (d_out * out).sum(1, keepdims=True))
        d_query += ds @ key[n]
        d_key[n], d_value[n] = ds.T @ query, p.T @ d_out
    return d_query, d_key, d_value


@wrong("flash_backward", "all tiles of weights kept in a dict", rule=TILES, says=r"held")
def kept_tiles(d_out, query, key, value, out, logsumexp, block_q, block_k, causal):
    c, q, k = query.shape[1] ** -0.5, len(query), len(key)
    d_query, d_key, d_value = np.zeros(query.shape), np.zeros(key.shape), np.zeros(value.shape)
    tiles = {}
    for top in range(0, q, block_q):
        for start in range(0, k, block_k):
            s = c * query[top : top + block_q] @ key[start : start + block_k].T
            i, j = np.indices(s.shape)
            s[causal & (start + j > top + i + k - q)] = -np.inf
            tiles[top, start] = np.exp(s - logsumexp[top : top + block_q, None])
    mean = (d_out * out).sum(1, keepdims=True)
    for (top, start), p in tiles.items():
        r, n = slice(top, top + block_q), slice(start, start + block_k)
        ds = c * p * (d_out[r] @ value[n].T - mean[r])
        d_query[r] += ds @ key[n]
        d_key[n] += ds.T @ query[r]
        d_value[n] += p.T @ d_out[r]
    return d_query, d_key, d_value


@wrong("flash_backward", "the whole mask before the tiles", rule=TILES, says=r"held|mask")
def whole_mask(d_out, query, key, value, out, logsumexp, block_q, block_k, causal):
    c, q, k = query.shape[1] ** -0.5, len(query), len(key)
    mask = np.where(np.arange(k) > np.arange(q)[:, None] + (k - q if causal else k), -np.inf, 0.0)
    d_query, d_key, d_value = np.zeros(query.shape), np.zeros(key.shape), np.zeros(value.shape)
    mean = (d_out * out).sum(1, keepdims=True)
    for top in range(0, q, block_q):
        for start in range(0, k, block_k):
            r, n = slice(top, top + block_q), slice(start, start + block_k)
            p = np.exp(c * query[r] @ key[n].T + mask[r, n] - logsumexp[r, None])
            ds = c * p * (d_out[r] @ value[n].T - mean[r])
            d_query[r] += ds @ key[n]
            d_key[n] += ds.T @ query[r]
            d_value[n] += p.T @ d_out[r]
    return d_query, d_key, d_value


@wrong("flash_backward", "the logsumexp computed anew from all keys", rule=TILES, says=r"keys at once|held")
def logsumexp_anew(d_out, query, key, value, out, logsumexp, block_q, block_k, causal):
    c, q, k = query.shape[1] ** -0.5, len(query), len(key)
    d_query, d_key, d_value = np.zeros(query.shape), np.zeros(key.shape), np.zeros(value.shape)
    for i in range(q):
        s = c * key @ query[i]
        if causal:
            s[i + k - q + 1 :] = -np.inf
        p = np.exp(s - np.logaddexp.reduce(s))
        dp = value @ d_out[i]
        ds = c * p * (dp - p @ dp)
        d_query[i] = ds @ key
        d_key += np.outer(ds, query[i])
        d_value += np.outer(p, d_out[i])
    return d_query, d_key, d_value
