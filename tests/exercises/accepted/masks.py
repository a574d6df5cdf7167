"""Other right ways to do the exercises on masks."""

import math

import numpy as np

from attnexercises.softmax.stable import plain_softmax


def careful_softmax(scores):
    """Softmax of a row in which some scores, or all of them, are hidden by -inf."""
    largest = scores.max(axis=-1, keepdims=True)
    exponentials = np.exp(scores - np.where(np.isneginf(largest), 0, largest))
    total = exponentials.sum(axis=-1, keepdims=True)
    return exponentials / np.where(total == 0, 1, total)


# --- causal_mask ----------------------------------------------------------------------------------


def mask_in_loops(q, k):
    return [[j <= i + k - q for j in range(k)] for i in range(q)]


def mask_by_where(q, k):
    return np.where(np.subtract.outer(np.arange(q) + k - q, np.arange(k)) >= 0, True, False)


def mask_by_tri(q, k):
    return np.tri(q, k, k - q, dtype=bool)


# --- masked_softmax -------------------------------------------------------------------------------


def masked_in_loops(scores, keep):
    weights = np.zeros(scores.shape)
    for row in np.ndindex(scores.shape[:-1]):
        seen = [j for j, may in enumerate(keep[row]) if may]
        largest = max((scores[row][j] for j in seen), default=0.0)
        total = sum(math.exp(scores[row][j] - largest) for j in seen)
        for j in seen:
            weights[row][j] = math.exp(scores[row][j] - largest) / total
    return weights


def masked_by_einsum(scores, keep):
    visible = np.where(keep, scores, -np.inf)
    top = visible.max(axis=-1, keepdims=True)
    powers = np.exp(visible - np.where(np.isneginf(top), 0, top))
    total = np.einsum("...k->...", powers)
    return np.einsum("...k,...->...k", powers, 1 / np.where(total == 0, 1, total))


def masked_by_tensordot(scores, keep):
    visible = np.where(keep, scores, -np.inf)
    top = visible.max(axis=-1, keepdims=True)
    powers = np.exp(visible - np.where(np.isneginf(top), 0, top))
    return powers / np.maximum(np.tensordot(powers, np.ones((scores.shape[-1], 1)), axes=1), 1e-300)


def masked_by_logsumexp(scores, keep):
    visible = np.where(keep, scores, -np.inf)
    total = np.logaddexp.reduce(visible, axis=-1, keepdims=True)
    return np.exp(visible - np.where(np.isneginf(total), 0, total))


def exponential_then_zero(scores, keep):
    largest = scores.max(axis=-1, keepdims=True, where=keep, initial=-1e300)
    powers = np.zeros_like(scores)
    np.exp(scores - largest, out=powers, where=keep)
    total = powers.sum(axis=-1, keepdims=True)
    return np.divide(powers, total, out=np.zeros_like(powers), where=total > 0)


def row_by_row(scores, keep):
    weights = np.zeros(scores.shape)
    for row in np.ndindex(scores.shape[:-1]):
        seen = keep[row]
        if seen.any():
            powers = np.exp(scores[row][seen] - scores[row][seen].max())
            weights[row][seen] = powers / powers.sum()
    return weights


# --- padded_causal_attention ----------------------------------------------------------------------


def padded_in_loops(query, key, value, real):
    out = np.zeros((*query.shape[:2], value.shape[2]))
    for b, i in np.ndindex(query.shape[:2]):
        seen = [j for j in range(i + 1) if real[b, j]]
        if seen:
            scores = np.array([query[b, i] @ key[b, j] for j in seen]) / math.sqrt(query.shape[2])
            out[b, i] = plain_softmax(scores) @ value[b, seen]
    return out


def sentence_by_sentence(query, key, value, real):
    out = np.zeros((*query.shape[:2], value.shape[2]))
    for sentence, (asked, found, rows, words) in enumerate(zip(query, key, value, real)):
        for i in range(len(asked)):
            seen = np.flatnonzero(words[: i + 1])
            if seen.size:
                scores = found[seen] @ asked[i] / np.sqrt(asked.shape[1])
                out[sentence, i] = careful_softmax(scores) @ rows[seen]
    return out


def padded_by_einsum(query, key, value, real):
    n, c = query.shape[1], 1 / math.sqrt(query.shape[2])
    keep = np.einsum("qk,bk->bqk", np.tri(n, dtype=bool), real)
    scores = np.where(keep, np.einsum("bqd,bkd->bqk", c * query, key), -np.inf)
    return np.einsum("bqk,bkv->bqv", careful_softmax(scores), value)


def padded_by_tensordot(query, key, value, real):
    out = []
    for asked, found, rows, words in zip(query, key, value, real):
        scores = np.tensordot(asked, found, axes=([1], [1])) / np.sqrt(asked.shape[1])
        scores[~(np.tri(len(words), dtype=bool) & words)] = -np.inf
        out.append(np.tensordot(careful_softmax(scores), rows, axes=([1], [0])))
    return np.array(out)


# --- paper_mask -----------------------------------------------------------------------------------


def rule_in_loops(i, j, window, has_global):
    mask = np.zeros((i.shape[0], j.shape[0]), dtype=bool)
    for row in range(i.shape[0]):
        for column in range(j.shape[0]):
            query, key = i[row, 0], j[column]
            mask[row, column] = abs(query - key) * 2 <= window or has_global[query] or has_global[key]
    return mask


def rule_by_where(i, j, window, has_global):
    near = np.where(np.abs(i - j) <= window / 2, True, False)
    return np.where(has_global[i], True, np.where(has_global[j], True, near))


def rule_row_by_row(i, j, window, has_global):
    rows = []
    for query in i.ravel():
        if has_global[query]:
            rows.append(np.ones(len(j), dtype=bool))
        else:
            rows.append(has_global[j] | ((j >= query - window // 2) & (j <= query + window // 2)))
    return np.array(rows)


def rule_with_two_bounds(i, j, window, has_global):
    half = window // 2
    return np.logical_or.reduce(np.broadcast_arrays((i - half <= j) & (j <= i + half), has_global[i], has_global[j]))


def rule_as_nested_lists(i, j, window, has_global):
    def may_look(query, key):
        if has_global[query] or has_global[key]:
            return True
        return -window <= 2 * (query - key) <= window

    return [[bool(may_look(query, key)) for key in j] for query in i[:, 0]]


def rule_by_writing_into_it(i, j, window, has_global):
    mask = (i - j) ** 2 <= (window // 2) ** 2
    mask[has_global[i[:, 0]]] = True
    mask[:, has_global[j]] = True
    return mask


def rule_by_what_is_hidden(i, j, window, has_global):
    local = ~has_global
    return ~((np.abs(i - j) > window // 2) & local[i] & local[j])


def rule_as_a_block_of_the_whole(i, j, window, has_global):
    place = np.arange(len(has_global))
    whole = np.abs(np.subtract.outer(place, place)) <= window // 2
    whole |= has_global | has_global[:, np.newaxis]
    return whole[i, j]


# --- distance_bias_backward -----------------------------------------------------------------------


def bias_in_loops(d_out, value, weights):
    d_bias = [0.0] * weights.shape[-1]
    for *lead, i in np.ndindex(weights.shape[:-1]):
        lead = tuple(lead)
        d_weights = [sum(d_out[lead][i] * row) for row in value[lead]]
        mean = sum(p * g for p, g in zip(weights[lead][i], d_weights))
        for j in range(i + 1):
            d_bias[i - j] += weights[lead][i, j] * (d_weights[j] - mean)
    return d_bias


def bias_by_tensordot(d_out, value, weights):
    n = weights.shape[-1]
    d_weights = d_out @ value.mT
    d_scores = (weights * (d_weights - (weights * d_weights).sum(axis=-1, keepdims=True))).reshape(-1, n, n)
    distance = np.arange(n)[:, None] - np.arange(n)
    return np.tensordot(d_scores.sum(axis=0), distance[..., None] == np.arange(n), axes=2)


def bias_by_where(d_out, value, weights):
    n = weights.shape[-1]
    d_weights = d_out @ value.mT
    d_scores = weights * (d_weights - (weights * d_weights).sum(axis=-1, keepdims=True))
    distance = np.subtract.outer(np.arange(n), np.arange(n))
    return np.array([np.where(distance == r, d_scores, 0).sum() for r in range(n)])


def by_distance(d_out, value, weights):
    """All pairs at once, each counted for its distance; the row mean from the output."""
    n = weights.shape[-1]
    d_scores = weights * (d_out @ value.mT - np.sum(d_out * (weights @ value), axis=-1, keepdims=True))
    total = d_scores.reshape(-1, n, n).sum(axis=0)
    distance = np.arange(n)[:, None] - np.arange(n)
    return np.array([total[distance == r].sum() for r in range(n)])


def as_a_product(d_out, value, weights):
    """Hidden pairs have no gradient, so it does not matter to which bias they are counted."""
    n = weights.shape[-1]
    d_weights = d_out @ value.mT
    d_scores = weights * (d_weights - np.vecdot(weights, d_weights)[..., None])
    distance = np.eye(n)[(np.arange(n)[:, None] - np.arange(n)) % n]
    return np.einsum("bqk,qkr->r", d_scores.reshape(-1, n, n), distance)



ACCEPTED = {
    "causal_mask": {
        "lower triangle": lambda q, k: np.tril(np.ones((q, k), dtype=bool), k=k - q),
        "not the upper triangle": lambda q, k: ~np.triu(np.ones((q, k), dtype=bool), 1 + k - q),
        "the last rows of a square": lambda q, k: (
            np.tril(np.ones((max(q, k), max(q, k)), dtype=bool))[-q:, max(q, k) - k :]
        ),
        "indices": lambda q, k: np.fromfunction(lambda i, j: j - i <= k - q, (q, k)),
        "loops": mask_in_loops, "where": mask_by_where, "np.tri": mask_by_tri,
    },
    "masked_softmax": {
        "maximum replaced": lambda scores, keep: careful_softmax(np.where(keep, scores, -np.inf)),
        "loops": masked_in_loops, "einsum": masked_by_einsum, "tensordot": masked_by_tensordot,
        "logaddexp": masked_by_logsumexp, "exponential, then zero": exponential_then_zero, "row by row": row_by_row,
    },
    "padded_causal_attention": {
        "additive": lambda query, key, value, real: (
            careful_softmax(
                query @ key.mT / np.sqrt(query.shape[-1])
                + np.where(real, 0, -np.inf)[:, None, :]
                + np.triu(np.full((real.shape[1],) * 2, -np.inf), k=1)
            )
            @ value
        ),
        "loops": padded_in_loops, "einsum": padded_by_einsum, "tensordot": padded_by_tensordot,
        "sentence by sentence": sentence_by_sentence,
    },
    "paper_mask": {
        "loops": rule_in_loops, "where": rule_by_where, "row by row": rule_row_by_row,
        "two bounds": rule_with_two_bounds, "nested lists": rule_as_nested_lists,
        "writing into it": rule_by_writing_into_it, "what is hidden": rule_by_what_is_hidden,
        "a block of the whole": rule_as_a_block_of_the_whole,
    },
    "distance_bias_backward": {
        "each pair by its distance": by_distance, "einsum": as_a_product, "loops": bias_in_loops,
        "tensordot": bias_by_tensordot, "where": bias_by_where,
    },
}  # fmt: skip
