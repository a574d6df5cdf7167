"""Other right ways to do the exercises on training."""

import numpy as np

# --- cross_entropy_backward -----------------------------------------------------------------------


def in_loops(weights, targets, keep):
    d_logits = np.zeros(weights.shape)
    count = 0
    for place in np.ndindex(targets.shape):
        if keep[place]:
            count += 1
            for k in range(weights.shape[-1]):
                d_logits[place][k] = weights[place][k] - (k == targets[place])
    return d_logits / count


def one_taken_off(weights, targets, keep):
    d_logits = weights.copy()
    b, n = np.indices(targets.shape)
    d_logits[b, n, targets] -= 1
    return np.where(keep[..., None], d_logits, 0.0) / np.count_nonzero(keep)


def through_the_softmax(weights, targets, keep):
    """The slope in the weights, then the backward pass of softmax."""
    right = np.arange(weights.shape[-1]) == targets[..., None]
    d_weights = np.where(keep[..., None] & right, -1 / weights, 0.0) / keep.sum()
    return weights * (d_weights - np.einsum("bnk,bnk->bn", d_weights, weights)[..., None])


def by_tensordot(weights, targets, keep):
    """A mean over positions as a diagonal matrix of their shares."""
    k = weights.shape[-1]
    shares = np.diag(keep.ravel() / keep.sum())
    right = np.eye(k)[targets.ravel()]
    return np.tensordot(shares, weights.reshape(-1, k) - right, axes=1).reshape(weights.shape)


# --- induction_score ------------------------------------------------------------------------------


def query_by_query(weights, tokens):
    total = count = 0
    for b in range(len(tokens)):
        for q in range(tokens.shape[1]):
            keys = [k + 1 for k in range(q) if tokens[b, k] == tokens[b, q]]
            if keys:
                total += sum(weights[b, q, k] for k in keys)
                count += 1
    return total / count


def padded(weights, tokens):
    place = np.arange(tokens.shape[1])
    copies = (tokens[:, :, None] == tokens[:, None, :]) & (place < place[:, None])
    after = np.pad(copies, ((0, 0), (0, 0), (1, 0)))[:, :, :-1]
    found = np.where(after, weights, 0).sum(axis=2)
    return found[copies.any(axis=2)].mean()


def moved_by_a_matrix(weights, tokens):
    copies = np.tril(tokens[:, :, None] == tokens[:, None, :], -1)
    found = np.einsum("bqk,bqj,jk->bq", weights, copies, np.eye(tokens.shape[1], k=1))
    return found[copies.any(axis=-1)].mean()


def by_tensordot_with_a_shift(weights, tokens):
    copies = np.tril(tokens[:, :, None] == tokens[:, None, :], -1)
    after = np.tensordot(copies, np.eye(tokens.shape[1], k=1), axes=1)
    return (weights * after).sum(axis=-1)[copies.any(axis=-1)].mean()


# --- adam_direction -------------------------------------------------------------------------------


def number_by_number(gradients, beta1, beta2, epsilon):
    out = []
    for column in gradients.T:
        mean = square = 0.0
        for t, g in enumerate(column, start=1):
            mean += (1 - beta1) * (g - mean)
            square += (1 - beta2) * (g * g - square)
        out.append(mean / (1 - beta1**t) / ((square / (1 - beta2**t)) ** 0.5 + epsilon))
    return np.array(out)


def weighted_means(gradients, beta1, beta2, epsilon):
    age = np.arange(len(gradients))[::-1]
    first, second = beta1**age, beta2**age
    mean = np.einsum("t,tp->p", first, gradients) / first.sum()
    return mean / (np.sqrt(np.einsum("t,tp->p", second, gradients**2) / second.sum()) + epsilon)


def averaged(gradients, beta1, beta2, epsilon):
    age = np.arange(len(gradients) - 1, -1, -1)
    mean = np.average(gradients, axis=0, weights=beta1**age)
    return mean / (np.sqrt(np.average(gradients**2, axis=0, weights=beta2**age)) + epsilon)


def by_tensordot_of_ages(gradients, beta1, beta2, epsilon):
    t = len(gradients)
    age = np.arange(t)[::-1]
    shares = [(1 - beta) * beta**age / (1 - beta**t) for beta in (beta1, beta2)]
    mean, square = np.tensordot(shares[0], gradients, axes=1), np.tensordot(shares[1], gradients**2, axes=1)
    return mean / (np.sqrt(square) + epsilon)


ACCEPTED = {
    "cross_entropy_backward": {
        "loops": in_loops, "where": one_taken_off, "einsum": through_the_softmax, "tensordot": by_tensordot,
    },
    "induction_score": {
        "loops": query_by_query, "where": padded, "einsum": moved_by_a_matrix, "tensordot": by_tensordot_with_a_shift,
    },
    "adam_direction": {
        "loops": number_by_number, "einsum": weighted_means, "average": averaged, "tensordot": by_tensordot_of_ages,
    },
}  # fmt: skip
