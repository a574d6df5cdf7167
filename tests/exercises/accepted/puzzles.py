"""Other right ways to solve the puzzles that ask for a derivative."""

import math

import numpy as np

# --- soft_maximum_slopes ----------------------------------------------------------------------------


def soft_maximum_in_loops(x, temperature):
    weights, d_temperature = np.zeros(x.shape), np.zeros(x.shape[:-1])
    for row in np.ndindex(x.shape[:-1]):
        top = max(x[row])
        powers = [math.exp((value - top) / temperature) for value in x[row]]
        for k, power in enumerate(powers):
            weights[row][k] = power / sum(powers)
            d_temperature[row] -= weights[row][k] * (x[row][k] - top) / temperature
        d_temperature[row] += math.log(sum(powers))
    return weights, d_temperature[()]  # of one row a number


def soft_maximum_by_einsum(x, temperature):
    z = x / temperature
    logsumexp = np.logaddexp.reduce(z, axis=-1)
    weights = np.exp(z - logsumexp[..., None])
    return weights, logsumexp - np.einsum("...k,...k->...", weights, z)


def soft_maximum_by_tensordot(x, temperature):
    each = np.ones(x.shape[-1])
    z = (x - x.max(axis=-1, keepdims=True)) / temperature
    powers = np.exp(z)
    total = np.tensordot(powers, each, axes=(-1, 0))
    return powers / total[..., None], np.log(total) - np.tensordot(powers * z, each, axes=(-1, 0)) / total


def soft_maximum_by_where(x, temperature):
    """The entropy; a weight of zero adds nothing to it."""
    powers = np.exp((x - x.max(axis=-1, keepdims=True)) / temperature)
    weights = powers / powers.sum(axis=-1, keepdims=True)
    return weights, -(weights * np.log(np.where(weights == 0, 1, weights))).sum(axis=-1)


def soft_maximum_by_entropy(x, temperature):
    log_weights = x / temperature - np.logaddexp.reduce(x / temperature, axis=-1, keepdims=True)
    return np.exp(log_weights), -(np.exp(log_weights) * log_weights).sum(axis=-1)


# --- softcap_backward -------------------------------------------------------------------------------


def softcap_in_loops(d_out, scores, cap):
    d_scores, d_cap = np.zeros(scores.shape), 0.0
    for place in np.ndindex(scores.shape):
        share = math.tanh(scores[place] / cap)
        d_scores[place] = d_out[place] * (1 + share) * (1 - share)
        d_cap += d_out[place] * share - d_scores[place] * scores[place] / cap
    return d_scores, d_cap


def softcap_by_einsum(d_out, scores, cap):
    shares = np.tanh(scores / cap)
    d_scores = d_out * (1 - shares**2)
    d_cap = np.einsum("i,i->", d_out.ravel(), shares.ravel())
    return d_scores, d_cap - np.einsum("i,i->", d_scores.ravel(), scores.ravel()) / cap


def softcap_by_tensordot(d_out, scores, cap):
    shares = np.tanh(scores / cap)
    d_scores, axes = d_out * (1 - shares**2), scores.ndim
    return d_scores, np.tensordot(d_out, shares, axes) - np.tensordot(d_scores, scores / cap, axes)


def softcap_by_where(d_out, scores, cap):
    """The tanh from exponentials of negative numbers alone."""
    powers = np.exp(-2 * np.abs(scores) / cap)
    shares = np.where(scores < 0, -1, 1) * (1 - powers) / (1 + powers)
    slope = 4 * powers / (1 + powers) ** 2
    return d_out * slope, (d_out * (shares - slope * scores / cap)).sum()


def softcap_by_cosh(d_out, scores, cap):
    slope = np.cosh(scores / cap) ** -2
    return d_out * slope, np.sum(d_out * np.tanh(scores / cap)) - np.sum(d_out * slope * scores) / cap


# --- rms_backward -----------------------------------------------------------------------------------


def rms_in_loops(d_out, query, gain):
    d, d_query, d_gain = len(gain), np.zeros(query.shape), np.zeros(len(gain))
    for row in np.ndindex(query.shape[:-1]):
        rms = math.sqrt(sum(x * x for x in query[row]) / d)
        along = sum(g * factor * x for g, factor, x in zip(d_out[row], gain, query[row])) / d
        for j in range(d):
            d_query[row][j] = d_out[row][j] * gain[j] / rms - query[row][j] * along / rms**3
            d_gain[j] += d_out[row][j] * query[row][j] / rms
    return d_query, d_gain


def rms_by_einsum(d_out, query, gain):
    d = len(gain)
    square = np.einsum("...d,...d->...", query, query)[..., None] / d
    along = np.einsum("...d,...d,d->...", d_out, query, gain)[..., None] / d
    d_query = (d_out * gain - query * along / square) / np.sqrt(square)
    return d_query, np.einsum("nd,nd->d", d_out.reshape(-1, d), (query / np.sqrt(square)).reshape(-1, d))


def rms_by_tensordot(d_out, query, gain):
    d = len(gain)
    rms = np.sqrt(np.tensordot(query**2, np.ones(d), axes=(-1, 0)) / d)[..., None]
    row_mean = np.tensordot(d_out * query, gain, axes=(-1, 0))[..., None] / rms / d
    d_gain = (d_out * query / rms).sum(axis=tuple(range(query.ndim - 1)))
    return (d_out * gain - query / rms * row_mean) / rms, d_gain


def rms_by_jacobian(d_out, query, gain):
    d = query.shape[-1]
    rms = np.sqrt(np.mean(query**2, axis=-1))[..., None, None]
    scaled = query / rms[..., 0]
    jacobian = (np.eye(d) - scaled[..., :, None] * scaled[..., None, :] / d) / rms
    d_query = ((d_out * gain)[..., None, :] @ jacobian)[..., 0, :]
    return d_query, (d_out * scaled).reshape(-1, d).sum(axis=0)


ACCEPTED = {
    "soft_maximum_slopes": {
        "loops": soft_maximum_in_loops,
        "einsum": soft_maximum_by_einsum,
        "tensordot": soft_maximum_by_tensordot,
        "where": soft_maximum_by_where,
        "as the entropy": soft_maximum_by_entropy,
    },
    "softcap_backward": {
        "loops": softcap_in_loops,
        "einsum": softcap_by_einsum,
        "tensordot": softcap_by_tensordot,
        "where": softcap_by_where,
        "with cosh": softcap_by_cosh,
    },
    "rms_backward": {
        "loops": rms_in_loops,
        "einsum": rms_by_einsum,
        "tensordot": rms_by_tensordot,
        "with the Jacobian": rms_by_jacobian,
    },
}
