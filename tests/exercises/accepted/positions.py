"""Other right ways to do the exercises on positions."""

import math

import numpy as np

# --- sinusoidal -----------------------------------------------------------------------------------


def waves_in_loops(n, m):
    rows = []
    for position in range(n):
        row = []
        for column in range(m):
            angle = position * 10000 ** (-(column - column % 2) / m)
            row.append(math.cos(angle) if column % 2 else math.sin(angle))
        rows.append(row)
    return rows


def waves_by_einsum(n, m):
    speeds = np.exp(-np.log(10000) * np.arange(0, m, 2) / m)
    angles = np.einsum("n,i->ni", np.arange(n), speeds)
    return np.stack([np.sin(angles), np.cos(angles)], axis=2).reshape(n, -1)[:, :m]


def waves_by_tensordot(n, m):
    """A cosine is a sine, a quarter of a turn later."""
    angles = np.tensordot(np.arange(n), 10000.0 ** (-(np.arange(m) // 2 * 2) / m), axes=0)
    return np.sin(angles + np.arange(m) % 2 * np.pi / 2)


def waves_by_where(n, m):
    position, column = np.indices((n, m))
    angles = position / 10000 ** (2 * (column // 2) / m)
    return np.where(column % 2 == 0, np.sin(angles), np.cos(angles))


def waves_by_log(n, m):
    out = np.zeros((n, m))  # and not `empty`: a slip that fills half of it is then wrong in the same way each time
    angles = np.arange(n)[:, None] * np.exp(np.arange(0, m, 2) * -(np.log(10000.0) / m))
    out[:, 0::2] = np.sin(angles)
    out[:, 1::2] = np.cos(angles[:, : m // 2])
    return out


# --- rope -----------------------------------------------------------------------------------------


def rope_in_loops(x, pos):
    out, d = np.array(x, dtype=float), x.shape[-1]
    for place in np.ndindex(x.shape[:-1]):
        for i in range(0, d, 2):
            angle = pos[place[-1]] * 10000 ** (-i / d)
            c, s = math.cos(angle), math.sin(angle)
            one, two = x[place][i], x[place][i + 1]
            out[place][i], out[place][i + 1] = c * one - s * two, s * one + c * two
    return out


def rope_by_einsum(x, pos):
    """One 2 by 2 matrix for each position and pair."""
    d = x.shape[-1]
    angles = pos[:, None] * 10000.0 ** (-np.arange(0, d, 2) / d)
    turns = np.array([[np.cos(angles), -np.sin(angles)], [np.sin(angles), np.cos(angles)]])
    return np.einsum("rcni,...nic->...nir", turns, x.reshape(*x.shape[:-1], d // 2, 2)).reshape(x.shape)


def rope_by_tensordot(x, pos):
    """One d by d matrix for each position, with 2 by 2 blocks on its diagonal."""
    d, out = x.shape[-1], np.zeros(x.shape)
    even = np.arange(0, d, 2)
    for row, position in enumerate(pos):
        angles = position * 10000.0 ** (-even / d)
        turn = np.zeros((d, d))
        turn[even, even] = turn[even + 1, even + 1] = np.cos(angles)
        turn[even + 1, even] = np.sin(angles)
        turn[even, even + 1] = -np.sin(angles)
        out[..., row, :] = np.tensordot(x[..., row, :], turn, axes=([-1], [1]))
    return out


def rope_by_where(x, pos):
    feature, d = np.arange(x.shape[-1]), x.shape[-1]
    angles = pos[:, None] / 10000 ** ((feature - feature % 2) / d)
    partner = np.where(feature % 2 == 0, -np.roll(x, -1, axis=-1), np.roll(x, 1, axis=-1))
    return x * np.cos(angles) + partner * np.sin(angles)


def rope_by_complex_numbers(x, pos):
    d = x.shape[-1]
    hands = x[..., 0::2] + 1j * x[..., 1::2]
    hands = hands * np.exp(1j * pos[:, None] * 10000.0 ** (-np.arange(0, d, 2) / d))
    return np.stack([hands.real, hands.imag], axis=-1).reshape(x.shape)


# --- rope_scores ----------------------------------------------------------------------------------


def scores_in_loops(q, k, pos_q, pos_k):
    d, out = q.shape[1], np.zeros((len(q), len(k)))
    for i, asked in enumerate(q):
        for j, found in enumerate(k):
            for pair in range(0, d, 2):
                angle = (pos_q[i] - pos_k[j]) * 10000 ** (-pair / d)
                (a, b), (u, v) = asked[pair : pair + 2], found[pair : pair + 2]
                out[i, j] += math.cos(angle) * (a * u + b * v) + math.sin(angle) * (a * v - b * u)
    return out


def scores_by_einsum(q, k, pos_q, pos_k):
    """Nothing is turned but by the distance."""
    d = q.shape[1]
    query, key = q[:, 0::2] + 1j * q[:, 1::2], k[:, 0::2] - 1j * k[:, 1::2]
    distance = pos_q[:, None] - pos_k
    turns = np.exp(1j * distance[..., None] * 10000.0 ** (-np.arange(0, d, 2) / d))
    return np.einsum("qi,ki,qki->qk", query, key, turns).real


def scores_by_tensordot(q, k, pos_q, pos_k):
    return np.tensordot(rope_by_complex_numbers(q, pos_q), rope_by_complex_numbers(k, pos_k), axes=([1], [1]))


def scores_by_where(q, k, pos_q, pos_k):
    """Both sets of tokens in one array, and the corner of the square that is wanted."""
    both, pos = np.concatenate([q, k]), np.concatenate([pos_q, pos_k])
    feature, d = np.arange(q.shape[1]), q.shape[1]
    angles = pos[:, None] / 10000 ** ((feature - feature % 2) / d)
    partner = np.where(feature % 2 == 0, -np.roll(both, -1, axis=1), np.roll(both, 1, axis=1))
    turned = both * np.cos(angles) + partner * np.sin(angles)
    return (turned @ turned.T)[: len(q), len(q) :]


# --- rope_backward --------------------------------------------------------------------------------


def back_in_loops(d_out, pos):
    d_x, d = np.zeros(d_out.shape), d_out.shape[-1]
    for place in np.ndindex(d_out.shape[:-1]):
        for i in range(0, d, 2):
            angle = pos[place[-1]] * 10000 ** (-i / d)
            c, s = math.cos(angle), math.sin(angle)
            d_x[place][i] += c * d_out[place][i] + s * d_out[place][i + 1]
            d_x[place][i + 1] += c * d_out[place][i + 1] - s * d_out[place][i]
    return d_x


def back_by_einsum(d_out, pos):
    """The forward's matrices, rows and columns exchanged."""
    d = d_out.shape[-1]
    angles = pos[:, None] * 10000.0 ** (-np.arange(0, d, 2) / d)
    turns = np.array([[np.cos(angles), -np.sin(angles)], [np.sin(angles), np.cos(angles)]])
    pairs = d_out.reshape(*d_out.shape[:-1], d // 2, 2)
    return np.einsum("rcni,...nir->...nic", turns, pairs).reshape(d_out.shape)


def back_by_tensordot(d_out, pos):
    d, d_x = d_out.shape[-1], np.zeros(d_out.shape)
    even = np.arange(0, d, 2)
    for row, position in enumerate(pos):
        angles = position * 10000.0 ** (-even / d)
        turn = np.zeros((d, d))
        turn[even, even] = turn[even + 1, even + 1] = np.cos(angles)
        turn[even + 1, even] = np.sin(angles)
        turn[even, even + 1] = -np.sin(angles)
        d_x[..., row, :] = np.tensordot(d_out[..., row, :], turn, axes=([-1], [0]))
    return d_x


def back_by_where(d_out, pos):
    feature, d = np.arange(d_out.shape[-1]), d_out.shape[-1]
    angles = pos[:, None] / 10000 ** ((feature - feature % 2) / d)
    partner = np.where(feature % 2 == 0, np.roll(d_out, -1, axis=-1), -np.roll(d_out, 1, axis=-1))
    return d_out * np.cos(angles) + partner * np.sin(angles)


def back_by_complex_numbers(d_out, pos):
    d = d_out.shape[-1]
    hands = d_out[..., 0::2] + 1j * d_out[..., 1::2]
    hands = hands / np.exp(1j * pos[:, None] * 10000.0 ** (-np.arange(0, d, 2) / d))
    return np.stack([hands.real, hands.imag], axis=-1).reshape(d_out.shape)


# --- alibi ----------------------------------------------------------------------------------------


def alibi_in_loops(h, n):
    bias = [[[-math.inf] * n for _ in range(n)] for _ in range(h)]
    for head in range(h):
        for i in range(n):
            for j in range(i + 1):
                bias[head][i][j] = (j - i) / 256 ** ((head + 1) / h)
    return bias


def alibi_by_einsum(h, n):
    slopes, place = 0.5 ** (8 * np.arange(1, h + 1) / h), np.arange(n)
    bias = np.einsum("h,qk->hqk", slopes, place - place[:, None])
    return bias + np.triu(np.full((n, n), -np.inf), 1)


def alibi_by_tensordot(h, n):
    slopes, place = np.exp2(-8 * np.arange(1, h + 1) / h), np.arange(n)
    bias = np.tensordot(slopes, place - place[:, None], axes=0)
    bias[:, place[:, None] < place] = -np.inf
    return bias


def alibi_by_where(h, n):
    head, i, j = np.indices((h, n, n))
    return np.where(j > i, -np.inf, (j - i) * 2.0 ** (-8 * (head + 1) / h))


ACCEPTED = {
    "sinusoidal": {
        "loops": waves_in_loops, "einsum": waves_by_einsum, "tensordot": waves_by_tensordot, "where": waves_by_where,
        "by logarithm": waves_by_log,
    },
    "rope": {
        "loops": rope_in_loops, "einsum": rope_by_einsum, "tensordot": rope_by_tensordot, "where": rope_by_where,
        "complex numbers": rope_by_complex_numbers,
    },
    "rope_scores": {
        "loops": scores_in_loops, "einsum": scores_by_einsum, "tensordot": scores_by_tensordot, "where": scores_by_where,
    },
    "rope_backward": {
        "loops": back_in_loops, "einsum": back_by_einsum, "tensordot": back_by_tensordot, "where": back_by_where,
        "complex numbers": back_by_complex_numbers,
    },
    "alibi": {
        "loops": alibi_in_loops, "einsum": alibi_by_einsum, "tensordot": alibi_by_tensordot, "where": alibi_by_where,
    },
}  # fmt: skip
