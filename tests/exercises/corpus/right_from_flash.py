"""Right answers in other styles, written from the statements alone: from chapter 6 on."""

import numpy as np

from . import right
from .parts import rope, softmax


# --- online_softmax --------------------------------------------------------------------------------


@right("online_softmax", "two numbers a block, merged by logaddexp at heart")
def _(x, block):
    m, t = -np.inf, 0.0
    for part in (x[s : s + block] for s in range(0, len(x), block)):
        top = part.max()
        if top == -np.inf:
            continue
        own = sum(np.exp(v - top) for v in part)
        if top > m:
            t, m = t * np.exp(m - top) + own, top
        else:
            t = t + own * np.exp(top - m)
    return m, t


# --- one_tile --------------------------------------------------------------------------------------

right("one_tile", "all digits in float32")(np.float32((30 * np.exp(-1) + 50 + 10 * np.exp(-3)) / (1.5 * np.exp(-1) + 1 + np.exp(-3))))

# --- flash_traffic ---------------------------------------------------------------------------------


@right("flash_traffic", "counts pass by pass in a loop")
def _(n, d, capacity):
    fit = 0
    while 2 * d + (fit + 1) * (d + d + 2 + 1) <= capacity:
        fit += 1
    moved, left = 0, n
    while left > 0:
        rows = min(fit, left)
        moved += rows * d + sum(2 * d for _ in range(n)) + rows * (d + 1)
        left -= rows
    return moved


# --- flash_backward --------------------------------------------------------------------------------


@right("flash_backward", "keys outside, ragged tiles by array_split of the places")
def _(d_out, query, key, value, out, logsumexp, block_q, block_k, causal):
    q, k, root = len(query), len(key), np.sqrt(query.shape[1])
    g = [np.zeros(a.shape) for a in (query, key, value)]
    delta = np.einsum("qv,qv->q", d_out, out)
    for s in range(0, k, block_k):
        j = np.arange(s, min(s + block_k, k))
        for t in range(0, q, block_q):
            i = np.arange(t, min(t + block_q, q))
            hidden = (j > i[:, None] + k - q) & bool(causal)
            p = np.exp(query[i] @ key[j].T / root - logsumexp[i, None])
            p[hidden] = 0
            ds = p * (d_out[i] @ value[j].T - delta[i, None]) / root
            np.add.at(g[0], i, ds @ key[j])
            np.add.at(g[1], j, ds.T @ query[i])
            np.add.at(g[2], j, p.T @ d_out[i])
    return tuple(g)


# --- merge_partials --------------------------------------------------------------------------------


@right("merge_partials", "a sigmoid of the difference")
def _(out_a, logsumexp_a, out_b, logsumexp_b):
    with np.errstate(invalid="ignore"):
        gap = np.nan_to_num(logsumexp_b - logsumexp_a, nan=0.0, posinf=np.inf, neginf=-np.inf)
    share = np.where(gap > 0, np.exp(-np.abs(gap)), 1.0) / (1 + np.exp(-np.abs(gap)))
    share = share[:, None]
    return share * out_a + (1 - share) * out_b, np.logaddexp(logsumexp_a, logsumexp_b)


# --- backward_with_logsumexp -----------------------------------------------------------------------


@right("backward_with_logsumexp", "sum of two gradients, each derived on its own")
def _(d_out, d_logsumexp, query, key, value):
    root = query.shape[1] ** 0.5
    p = softmax(query @ key.T / root)
    dp = np.einsum("iv,jv->ij", d_out, value)
    one = p * dp - p * np.einsum("ij,ij->i", p, dp)[:, None]
    two = np.diag(d_logsumexp) @ p
    ds = (one + two) / root
    return ds.dot(key), ds.T.dot(query), p.T.dot(d_out)


# --- ring_traffic ----------------------------------------------------------------------------------


@right("ring_traffic", "the backward costs twice the forward")
def _(n, d, v, workers):
    one = n * (d + v)
    return (workers - 1) * one, 2 * (workers - 1) * one


# --- striped_pairs ---------------------------------------------------------------------------------


@right("striped_pairs", "columns are the owners, not the rounds")
def _(n, workers):
    s = n // workers
    w, o = np.indices((workers, workers))
    return np.where(o <= w, s * (s + 1) // 2, s * (s - 1) // 2)


@right("striped_pairs", "counts pairs of tokens by a comparison")
def _(n, workers):
    tokens = np.arange(n).reshape(-1, workers).T
    return np.array([[(tokens[(w - t) % workers] <= tokens[w][:, None]).sum() for t in range(workers)]
                     for w in range(workers)])


# --- rope ------------------------------------------------------------------------------------------


@right("rope", "complex numbers")
def _(x, pos):
    x = np.ascontiguousarray(x, dtype=float)
    d = x.shape[-1]
    z = x[..., 0::2] + 1j * x[..., 1::2]
    z = z * np.exp(1j * np.outer(pos, 10000.0 ** (-np.arange(0, d, 2) / d)))
    return np.stack([z.real, z.imag], axis=-1).reshape(x.shape)


@right("rope", "a matrix for each pair")
def _(x, pos):
    d = x.shape[-1]
    out = np.array(x, dtype=float)
    for i in range(d // 2):
        a = np.asarray(pos) / 10000 ** (2 * i / d)
        turn = np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]])
        out[..., 2 * i : 2 * i + 2] = np.einsum("abn,...nb->...na", turn, x[..., 2 * i : 2 * i + 2])
    return out


# --- rope_scores -----------------------------------------------------------------------------------


@right("rope_scores", "real part of complex products")
def _(q, k, pos_q, pos_k):
    d = q.shape[1]
    f = 10000.0 ** (-np.arange(0, d, 2) / d)
    a = (q[:, ::2] + 1j * q[:, 1::2]) * np.exp(1j * np.outer(pos_q, f))
    b = (k[:, ::2] + 1j * k[:, 1::2]) * np.exp(1j * np.outer(pos_k, f))
    return (a @ b.conj().T).real


# --- rope_backward ---------------------------------------------------------------------------------


@right("rope_backward", "the turn at negative positions")
def _(d_out, pos):
    return rope(d_out, np.negative(pos))


# --- alibi -----------------------------------------------------------------------------------------


@right("alibi", "a ratio multiplied up, filled by triu_indices")
def _(h, n):
    ratio = 256.0 ** (-1 / h)
    slopes = np.cumprod(np.full(h, ratio))
    steps = np.subtract.outer(np.arange(n), np.arange(n)).astype(float)
    bias = np.multiply.outer(slopes, -steps)
    bias[:, *np.triu_indices(n, 1)] = -np.inf
    return bias


# --- sinusoidal ------------------------------------------------------------------------------------


@right("sinusoidal", "a cosine as a sine a quarter turn later")
def _(n, m):
    c = np.arange(m)
    a = np.outer(np.arange(n), np.exp(-np.log(10000) * (c - c % 2) / m))
    return np.sin(a + np.pi / 2 * (c % 2))


# --- kv_cache --------------------------------------------------------------------------------------


@right("kv_cache", "explicit loops over kept pairs")
def _(x, query_weight, key_weight, value_weight, window, *, cache=None):
    keys, values = cache if cache is not None else ([], [])
    out = []
    for row in np.asarray(x, float):
        q = row.dot(query_weight)
        keys += [row.dot(key_weight)]
        values += [row.dot(value_weight)]
        while len(keys) > window:
            keys.pop(0), values.pop(0)
        s = [float(np.dot(q, k)) / len(q) ** 0.5 for k in keys]
        top = max(s)
        w = [np.exp(a - top) for a in s]
        out.append(sum(a * v for a, v in zip(w, values)) / sum(w))
    return np.stack(out)


# --- paged_lookup ----------------------------------------------------------------------------------


@right("paged_lookup", "joins the text's pages and takes rows")
def _(pages, table, positions):
    text = np.concatenate([pages[p] for p in table])
    return text.take(positions, axis=0)


# --- linear_step -----------------------------------------------------------------------------------


@right("linear_step", "features as a column, einsum")
def _(state, total, query, key, value):
    grown = np.einsum("d,v->dv", key, value) + state
    mass = np.add(total, key)
    return grown, mass, np.einsum("d,dv->v", query, grown) / np.dot(mass, query)


# --- cross_entropy_backward ------------------------------------------------------------------------


@right("cross_entropy_backward", "put_along_axis on a copy")
def _(weights, targets, keep):
    g = np.array(weights, dtype=float)
    at = targets[..., None]
    np.put_along_axis(g, at, np.take_along_axis(g, at, -1) - 1, -1)
    g[~keep] = 0
    return g / np.count_nonzero(keep)


# --- induction_score -------------------------------------------------------------------------------


@right("induction_score", "rolled: a copy is never the last key, so nothing comes round")
def _(weights, tokens):
    copies = np.tril(tokens[:, :, None] == tokens[:, None, :], -1)
    return weights[np.roll(copies, 1, axis=-1)].sum() / np.count_nonzero(copies.any(axis=-1))


@right("induction_score", "the token before each key; the causal weights hide what comes later")
def _(weights, tokens):
    before = np.concatenate([np.full((len(tokens), 1), -1), tokens[:, :-1]], axis=1)
    match = before[:, None, :] == tokens[:, :, None]
    seen = np.array([[t in row[:i] for i, t in enumerate(row)] for row in tokens.tolist()])
    return (weights * match).sum(-1)[seen].mean()


# --- adam_direction --------------------------------------------------------------------------------


@right("adam_direction", "weighted sums in closed form")
def _(gradients, beta1, beta2, epsilon):
    age = np.arange(len(gradients))[::-1]
    w1, w2 = beta1**age, beta2**age
    mean = w1 @ gradients / w1.sum()
    square = w2 @ np.square(gradients) / w2.sum()
    return mean / (np.sqrt(square) + epsilon)


# --- layer_norm ------------------------------------------------------------------------------------


@right("layer_norm", "a length by hypot, token by token")
def _(x, gain, bias, epsilon):
    m = x.shape[-1]
    flat = np.reshape(x, (-1, m))
    done = [gain * (t - t.sum() / m) / np.hypot(np.linalg.norm(t - t.sum() / m) / m**0.5, epsilon**0.5) + bias for t in flat]
    return np.array(done).reshape(x.shape)


# --- gelu ------------------------------------------------------------------------------------------


@right("gelu", "erfc, in a list")
def _(x):
    from math import erfc, sqrt
    x = np.asarray(x, float)
    return np.array([t * erfc(-t / sqrt(2)) / 2 for t in x.ravel().tolist()]).reshape(x.shape)


# --- soft_maximum_slopes ---------------------------------------------------------------------------


@right("soft_maximum_slopes", "the entropy")
def _(x, temperature):
    p = softmax(x / temperature)
    logs = np.log(p, where=p > 0, out=np.zeros_like(p))
    return p, -(p * logs).sum(axis=-1)


# --- expose_shift ----------------------------------------------------------------------------------

right("expose_shift", "very low ones pull the mean down")([0.0] + [-3000.0] * 7)
right("expose_shift", "a NumPy array with integers")(np.array([5000, 0]))

# --- softcap_backward ------------------------------------------------------------------------------


@right("softcap_backward", "cosh and vdot")
def _(d_out, scores, cap):
    u = np.asarray(scores) / cap
    with np.errstate(over="ignore"):
        slope = np.cosh(u) ** -2.0
    return d_out * slope, np.vdot(d_out, np.tanh(u)) - np.vdot(d_out, u * slope)


# --- rms_backward ----------------------------------------------------------------------------------


@right("rms_backward", "a projector for each query")
def _(d_out, query, gain):
    d = query.shape[-1]
    x, g = query.reshape(-1, d), (d_out * gain).reshape(-1, d)
    rows = []
    for a, b in zip(x, g):
        inv = (d / np.dot(a, a)) ** 0.5
        rows.append(inv * (np.eye(d) - np.outer(a, a) / np.dot(a, a)) @ b)
    d_gain = np.einsum("nd,nd->d", d_out.reshape(-1, d), x * np.sqrt(d / (x * x).sum(1))[:, None])
    return np.array(rows).reshape(query.shape), d_gain


# --- expose_fill -----------------------------------------------------------------------------------

right("expose_fill", "the mask the wrong way round")(([-20.0, -20.0, -20.0], [False, True, True]))
right("expose_fill", "many hidden ones against a little better visible one")(([-9.0] + [0.0] * 7, [True] + [False] * 7))

# --- expose_causal ---------------------------------------------------------------------------------

right("expose_causal", "the smallest")([1, 2])

# --- expose_groups ---------------------------------------------------------------------------------

right("expose_groups", "a NumPy pair")(np.array([16, 2]))

# --- expose_skip -----------------------------------------------------------------------------------

right("expose_skip", "ones and zeros in a NumPy array")(np.array([0, 0, 0, 0, 0, 1], dtype=bool))

# --- window_cache ----------------------------------------------------------------------------------

right("window_cache", "one text, a step a line")("\n".join(["token 0", "token 1", "token 2", "token 3", "drop C1", "token 4", "drop C2", "token 5", "drop C3", "token 6"]))
