"""Other right ways to write the functions of the chapter on softmax."""

import math

import numpy as np

from attnexercises.softmax.stable import plain_softmax

# --- softmax --------------------------------------------------------------------------------------


def softmax_in_loops(x):
    out = np.zeros(x.shape)
    for row in np.ndindex(x.shape[:-1]):
        exponentials = np.exp(x[row] - max(x[row]))
        out[row] = exponentials / sum(exponentials)
    return out


def softmax_by_einsum(x):
    exponentials = np.exp(x - x.max(axis=-1, keepdims=True))
    return np.einsum("...k,...->...k", exponentials, 1 / np.einsum("...k->...", exponentials))


def softmax_by_tensordot(x):
    exponentials = np.exp(x - x.max(axis=-1, keepdims=True))
    return exponentials / np.tensordot(exponentials, np.ones((x.shape[-1], 1)), axes=1)


def softmax_by_logsumexp(x):
    return np.exp(x - np.logaddexp.reduce(x, axis=-1, keepdims=True))


# --- softmax_backward -----------------------------------------------------------------------------


def backward_in_loops(d_weights, weights):
    d_x = np.zeros(weights.shape)
    for place in np.ndindex(weights.shape):
        row = place[:-1]
        shared = sum(d_weights[row][k] * weights[row][k] for k in range(weights.shape[-1]))
        d_x[place] = weights[place] * (d_weights[place] - shared)
    return d_x


def backward_by_tensordot(d_weights, weights):
    products, k = weights * d_weights, weights.shape[-1]
    return products - weights * np.tensordot(products, np.ones((k, k)), axes=1)


def backward_by_where(d_weights, weights):
    """The entries of the Jacobian: p (1 - p) on the diagonal, - p p' beside it."""
    here, there = weights[..., :, None], weights[..., None, :]
    jacobian = np.where(np.eye(weights.shape[-1], dtype=bool), here * (1 - there), -here * there)
    return (jacobian * d_weights[..., None, :]).sum(axis=-1)


# --- temperature_gradient -------------------------------------------------------------------------


def temperature_in_loops(d_weights, scores, temperature):
    total = 0.0
    for row in np.ndindex(scores.shape[:-1]):
        top = max(scores[row])
        powers = [math.exp((score - top) / temperature) for score in scores[row]]
        weights = [power / sum(powers) for power in powers]
        mean = sum(p * g for p, g in zip(weights, d_weights[row]))
        for p, g, score in zip(weights, d_weights[row], scores[row]):
            total -= p * (g - mean) * score / temperature**2
    return total


def temperature_by_einsum(d_weights, scores, temperature):
    weights = plain_softmax(scores / temperature)
    mean = np.einsum("...k,...k->...", weights, d_weights)[..., None]
    return np.einsum("...k,...k,...k->...", weights, d_weights - mean, scores).sum() / -(temperature**2)


def temperature_by_tensordot(d_weights, scores, temperature):
    weights = plain_softmax(scores / temperature)
    d_scaled = weights * (d_weights - (weights * d_weights).sum(axis=-1, keepdims=True))
    return np.tensordot(d_scaled, scores, axes=scores.ndim) / -(temperature**2)


def temperature_by_where(d_weights, scores, temperature):
    weights = plain_softmax(scores / temperature)
    here, there = weights[..., :, None], weights[..., None, :]
    jacobian = np.where(np.eye(weights.shape[-1], dtype=bool), here * (1 - here), -here * there)
    return -(d_weights[..., None, :] @ jacobian @ scores[..., None]).sum() / temperature**2


# --- score_table_step -----------------------------------------------------------------------------


def table_step_in_loops(scores, now, following, rate):
    after = scores.copy()
    for here, there in zip(now, following):
        push = plain_softmax(scores[here])
        push[there] -= 1
        after[here] -= rate * push / len(now)
    return after


def table_step_by_einsum(scores, now, following, rate):
    read, right = np.eye(len(scores))[now], np.eye(len(scores))[following]
    return scores - rate / len(now) * np.einsum("ni,nj->ij", read, plain_softmax(scores)[now] - right)


def table_step_by_tensordot(scores, now, following, rate):
    read, right = np.eye(len(scores))[now], np.eye(len(scores))[following]
    return scores - rate * np.tensordot(read, (plain_softmax(scores[now]) - right) / len(now), axes=(0, 0))


def table_step_by_where(scores, now, following, rate):
    letters = np.arange(len(scores))
    right = np.where(following[:, None] == letters, 1.0, 0.0)
    each = np.where((now[:, None] == letters)[:, :, None], (plain_softmax(scores[now]) - right)[:, None, :], 0.0)
    return scores - rate * each.mean(axis=0)


def table_step_by_counting(scores, now, following, rate):
    """A row is pushed by its weights as often as its letter was read, less the letters that came."""
    counts = np.zeros(scores.shape)
    for pair in zip(now, following):
        counts[pair] += 1
    return scores - rate * (counts.sum(axis=1, keepdims=True) * plain_softmax(scores) - counts) / len(now)


def table_step_by_a_product(scores, now, following, rate):
    d_rows = plain_softmax(scores[now])
    d_rows[np.arange(len(now)), following] -= 1
    return scores - rate * np.eye(len(scores))[now].T @ d_rows / len(now)


def table_step_letter_by_letter(scores, now, following, rate):
    d_scores = np.zeros(scores.shape)
    for letter in np.unique(now):
        came = np.bincount(following[now == letter], minlength=len(scores))
        d_scores[letter] = (came.sum() * plain_softmax(scores[letter]) - came) / len(now)
    return scores - rate * d_scores


def table_step_on_a_copy(scores, now, following, rate):
    after = scores.copy()
    d_rows = (plain_softmax(scores[now]) - np.eye(len(scores))[following]) / len(now)
    np.subtract.at(after, now, rate * d_rows)
    return after


def table_step_by_bincount(scores, now, following, rate):
    k = len(scores)
    counts = np.bincount(now * k + following, minlength=k * k).reshape(k, k)
    share = counts / len(now)
    return scores + rate * (share - share.sum(axis=1, keepdims=True) * plain_softmax(scores))


def _softmax_logsumexp(x):
    largest = x.max(axis=-1, keepdims=True)
    return np.exp(x - largest - np.log(np.exp(x - largest).sum(axis=-1, keepdims=True)))


def _softmax_backward_jacobian(d_weights, weights):
    identity = np.eye(weights.shape[-1])
    jacobian = weights[..., :, None] * (identity - weights[..., None, :])
    return (d_weights[..., None, :] @ jacobian)[..., 0, :]


def _softmax_backward_einsum(d_weights, weights):
    return weights * d_weights - weights * np.einsum("...i,...i->...", weights, d_weights)[..., None]


def _softmax(scaled):
    exponentials = np.exp(scaled - scaled.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def _covariance(d_weights, scores, temperature):
    p = _softmax(scores / temperature)
    g_mean, x_mean = ((p * part).sum(axis=-1, keepdims=True) for part in (d_weights, scores))
    return -np.sum(p * (d_weights - g_mean) * (scores - x_mean)) / temperature**2


def _one_step_of_the_chain_after_the_other(d_weights, scores, temperature):
    total = 0.0
    for row in np.ndindex(scores.shape[:-1]):
        p, g = _softmax(scores[row] / temperature), d_weights[row]
        jacobian = np.diag(p) - np.outer(p, p)
        total += g @ jacobian @ (-scores[row] / temperature**2)
    return total


ACCEPTED = {
    "softmax": {
        "logsumexp": _softmax_logsumexp,
        "loops": softmax_in_loops,
        "einsum": softmax_by_einsum,
        "tensordot": softmax_by_tensordot,
        "logaddexp": softmax_by_logsumexp,
    },
    "softmax_backward": {
        "explicit jacobian": _softmax_backward_jacobian,
        "einsum": _softmax_backward_einsum,
        "loops": backward_in_loops,
        "tensordot": backward_by_tensordot,
        "where": backward_by_where,
    },
    "temperature_gradient": {
        "covariance": _covariance,
        "with the Jacobian": _one_step_of_the_chain_after_the_other,
        "loops": temperature_in_loops,
        "einsum": temperature_by_einsum,
        "tensordot": temperature_by_tensordot,
        "where": temperature_by_where,
    },
    "score_table_step": {
        "loops": table_step_in_loops,
        "einsum": table_step_by_einsum,
        "tensordot": table_step_by_tensordot,
        "where": table_step_by_where,
        "counts": table_step_by_counting,
        "a product": table_step_by_a_product,
        "letter by letter": table_step_letter_by_letter,
        "on a copy": table_step_on_a_copy,
        "bincount": table_step_by_bincount,
    },
}
