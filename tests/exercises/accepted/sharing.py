"""Other right ways to do the exercises on shared work."""

import numpy as np

# --- ring_traffic ---------------------------------------------------------------------------------


def traffic_link_by_link(n, d, v, workers):
    forward, backward = 0, 0
    for _link in range(1, workers):  # each parcel crosses all links but one
        forward += n * d + n * v
        backward += n * d + n * v + n * d + n * v
    return forward, backward


# --- ring_backward --------------------------------------------------------------------------------


def backward_link_by_link(d_out, query, key, value, out, logsumexp, workers):
    """Each worker holds keys and a parcel, and hands both on to its neighbour."""
    size, d = len(query) // workers, query.shape[1]
    sent, c = 0, d**-0.5
    d_query, rows = np.zeros(query.shape), [slice(w * size, (w + 1) * size) for w in range(workers)]
    held = [(key[r], value[r]) for r in rows]
    home = [(np.zeros((size, d)), np.zeros((size, value.shape[1]))) for _ in rows]
    parcels = home
    for turn in range(workers):
        if turn:
            held = [held[w - 1] for w in range(workers)]
            sent += sum(part.size for pair in held for part in pair)
        if turn == 1:
            parcels = [(np.zeros((size, d)), np.zeros((size, value.shape[1]))) for _ in rows]
        for w in range(workers):
            for i in range(w * size, (w + 1) * size):
                for j in range(size):
                    weight = np.exp(c * query[i] @ held[w][0][j] - logsumexp[i])
                    d_score = c * weight * (d_out[i] @ (held[w][1][j] - out[i]))
                    d_query[i] += d_score * held[w][0][j]
                    parcels[w][0][j] += d_score * query[i]
                    parcels[w][1][j] += weight * d_out[i]
        if turn:
            sent += sum(part.size for pair in parcels for part in pair)
            parcels = [parcels[w - 1] for w in range(workers)]
    if workers > 1:
        home = [(home[w][0] + parcels[w][0], home[w][1] + parcels[w][1]) for w in range(workers)]
    return d_query, np.concatenate([pair[0] for pair in home]), np.concatenate([pair[1] for pair in home]), sent


def backward_by_einsum(d_out, query, key, value, out, logsumexp, workers):
    n, d = query.shape
    c, moved = d**-0.5, 0
    mean = np.einsum("nv,nv->n", d_out, out).reshape(workers, -1, 1)
    ell = logsumexp.reshape(workers, -1, 1)
    query, d_out = query.reshape(workers, -1, d), d_out.reshape(workers, n // workers, -1)
    pair = np.concatenate([key, value], axis=1).reshape(workers, n // workers, -1)  # a key and its value are one row
    d_query, parcel = np.zeros_like(query), np.zeros_like(pair)
    for turn in range(workers):
        keys, values = pair[..., :d], pair[..., d:]
        weights = np.exp(c * np.einsum("wqd,wkd->wqk", query, keys) - ell)
        d_scores = c * weights * (np.einsum("wqv,wkv->wqk", d_out, values) - mean)
        d_query += np.einsum("wqk,wkd->wqd", d_scores, keys)
        for_keys, for_values = np.einsum("wqk,wqd->wkd", d_scores, query), np.einsum("wqk,wqv->wkv", weights, d_out)
        mine = np.concatenate([for_keys, for_values], axis=2)
        if turn == 0:
            home = mine
        else:
            parcel = np.roll(parcel + mine, 1, axis=0)
            moved += parcel.size
        if turn < workers - 1:
            pair = np.roll(pair, 1, axis=0)
            moved += pair.size
    both = (home + parcel).reshape(n, -1)
    return d_query.reshape(n, d), both[:, :d], both[:, d:], moved


def backward_by_tensordot(d_out, query, key, value, out, logsumexp, workers):
    sent, c = [], 1 / np.sqrt(query.shape[1])
    query, d_out, out, logsumexp, key, value = (
        np.array(np.split(x, workers)) for x in (query, d_out, out, logsumexp, key, value)
    )

    def left(x):  # the ring may as well turn the other way
        sent.append(x.size)
        return np.concatenate([x[1:], x[:1]])

    def here(key, value):
        d_query, d_key, d_value = np.zeros(query.shape), np.zeros(key.shape), np.zeros(value.shape)
        for w in range(workers):
            weights = np.exp(c * np.tensordot(query[w], key[w], axes=([1], [1])) - logsumexp[w][:, None])
            mean = (d_out[w] * out[w]).sum(axis=1)[:, None]
            d_scores = c * weights * (np.tensordot(d_out[w], value[w], axes=([1], [1])) - mean)
            d_query[w] = np.tensordot(d_scores, key[w], axes=([1], [0]))
            d_key[w] = np.tensordot(d_scores, query[w], axes=([0], [0]))
            d_value[w] = np.tensordot(weights, d_out[w], axes=([0], [0]))
        return d_query, d_key, d_value

    d_query, own_key, own_value = here(key, value)
    d_key, d_value = np.zeros(key.shape), np.zeros(value.shape)
    for _ in range(workers - 1):
        key, value = left(key), left(value)
        more = here(key, value)
        d_query = d_query + more[0]
        d_key, d_value = left(d_key + more[1]), left(d_value + more[2])
    return *(x.reshape(-1, x.shape[2]) for x in (d_query, d_key + own_key, d_value + own_value)), sum(sent)


# --- striped_pairs --------------------------------------------------------------------------------


def striped_in_loops(n, workers):
    counts = np.zeros((workers, workers), dtype=int)
    for query in range(n):
        for key in range(query + 1):
            counts[query % workers, (query - key) % workers] += 1
    return counts


def striped_by_einsum(n, workers):
    stripes, turned = np.eye(workers)[np.arange(n) % workers], np.arange(workers)
    by_owner = np.einsum("qk,qw,ko->wo", np.tri(n), stripes, stripes)
    return by_owner[turned[:, None], (turned[:, None] - turned) % workers]


def striped_by_tensordot(n, workers):
    worker = np.arange(n) % workers
    turns = np.eye(workers)[(worker[:, None] - worker) % workers] * np.tri(n)[..., None]
    return np.tensordot(np.eye(workers)[worker], turns.sum(axis=1), axes=([0], [0]))


ACCEPTED = {
    "ring_traffic": {"loops": traffic_link_by_link},
    "ring_backward": {
        "loops": backward_link_by_link,
        "einsum": backward_by_einsum,
        "tensordot": backward_by_tensordot,
    },
    "striped_pairs": {
        "loops": striped_in_loops,
        "einsum": striped_by_einsum,
        "tensordot": striped_by_tensordot,
    },
}
