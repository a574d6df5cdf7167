"""What answers by other methods share: who sees whom under a causal mask, and the whole row at once."""

import numpy as np


def hide(scores, first_row, causal, q, k):
    if causal:
        i, j = np.indices(scores.shape)
        scores = np.where(j > i + first_row + k - q, -np.inf, scores)
    return scores


def visible(i, q, k, causal):
    return range(min(k, i + k - q + 1) if causal else k)


def whole_row(x, block):
    return x.max(), np.exp(x - np.where(np.isneginf(x.max()), 0.0, x.max())).sum()
