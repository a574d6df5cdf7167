"""Other right ways to do the exercises on the trained model."""

import math

import numpy as np

# --- layer_norm -----------------------------------------------------------------------------------


def norm_in_loops(x, gain, bias, epsilon):
    rows = []
    for token in x.reshape(-1, x.shape[-1]):
        mean = sum(token) / len(token)
        left = [number - mean for number in token]
        size = (sum(number * number for number in left) / len(left) + epsilon) ** 0.5
        rows.append([gain[f] * left[f] / size + bias[f] for f in range(len(left))])
    return np.array(rows).reshape(x.shape)


def norm_by_einsum(x, gain, bias, epsilon):
    centred = x - np.einsum("...m->...", x)[..., None] / x.shape[-1]
    variance = np.einsum("...m,...m->...", centred, centred)[..., None] / x.shape[-1]
    return np.einsum("...m,m->...m", centred / np.sqrt(variance + epsilon), gain) + bias


def norm_by_tensordot(x, gain, bias, epsilon):
    """Centring as a matrix: the identity minus a share of everything."""
    m = x.shape[-1]
    centred = np.tensordot(x, np.eye(m) - 1 / m, axes=1)
    variance = np.tensordot(centred**2, np.full((m, 1), 1 / m), axes=1)
    return np.tensordot(centred / np.sqrt(variance + epsilon), np.diag(gain), axes=1) + bias


def norm_by_var(x, gain, bias, epsilon):
    return (x - x.mean(-1)[..., None]) * (gain / np.sqrt(x.var(-1)[..., None] + epsilon)) + bias


def norm_with_where(x, gain, bias, epsilon):
    rows = x.reshape(-1, x.shape[-1])
    left = rows - np.average(rows, axis=1)[:, None]
    size = np.linalg.norm(left, axis=1) / rows.shape[1] ** 0.5
    scaled = np.where(left == 0, 0.0, left) / np.hypot(size, epsilon**0.5)[:, None]
    return (scaled * gain + bias).reshape(x.shape)


# --- gelu -----------------------------------------------------------------------------------------


def gelu_in_loops(x):
    out = np.empty(x.shape)
    for place in np.ndindex(x.shape):
        out[place] = x[place] / 2 * (1 + math.erf(x[place] / 2**0.5))
    return out


def gelu_by_erfc(x):
    return x * np.array([math.erfc(-number / math.sqrt(2)) / 2 for number in x.ravel()]).reshape(x.shape)


def gelu_by_statistics(x):
    from statistics import NormalDist

    return x * np.vectorize(NormalDist().cdf)(x)


def gelu_by_einsum(x):
    below = 0.5 + 0.5 * np.frompyfunc(math.erf, 1, 1)(x * 0.5**0.5).astype(float)
    return np.einsum("...,...->...", x, below)


def gelu_with_where(x):
    area = np.vectorize(math.erf)(np.abs(x) / np.sqrt(2)) / 2
    return x * np.where(x < 0, 0.5 - area, 0.5 + area)


def gelu_by_tensordot(x):
    flat = x.ravel()
    below = np.array([[0.5 + math.erf(number / math.sqrt(2)) / 2] for number in flat])
    return np.tensordot(flat[:, None] * below, np.ones(1), axes=1).reshape(x.shape)


ACCEPTED = {
    "layer_norm": {
        "loops": norm_in_loops, "einsum": norm_by_einsum, "tensordot": norm_by_tensordot, "var": norm_by_var, "where": norm_with_where,
    },
    "gelu": {
        "loops": gelu_in_loops, "erfc": gelu_by_erfc, "statistics": gelu_by_statistics, "einsum": gelu_by_einsum,
        "where": gelu_with_where, "tensordot": gelu_by_tensordot,
    },
}  # fmt: skip
