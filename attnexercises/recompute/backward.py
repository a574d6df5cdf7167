"""The exercise on the backward pass of Flash attention, in tiles."""

import math

import numpy as np

from attnexercises.engine.model import Exercise, Probe
from attnexercises.method.access import HELD_AT_ONCE, held_at_once, most_at_once, most_waiting
from attnexercises.method.trace import watched
from attnexercises.recompute import backward_mistakes


def flash_backward(d_out, query, key, value, out, logsumexp, block_q, block_k, causal):
    scale, offset = 1 / np.sqrt(query.shape[1]), len(key) - len(query)
    row_mean = (d_out * out).sum(axis=1, keepdims=True)
    d_query, d_key, d_value = np.zeros(query.shape), np.zeros(key.shape), np.zeros(value.shape)
    for top in range(0, len(query), block_q):
        rows = slice(top, top + block_q)
        for start in range(0, len(key), block_k):
            columns = slice(start, start + block_k)
            # forward: weights = softmax(scores) = exp(scores - logsumexp)
            scores = scale * (query[rows] @ key[columns].T)
            weights = np.exp(scores - logsumexp[rows, np.newaxis])
            if causal:
                i, j = np.indices(weights.shape)
                weights = np.where(start + j > top + i + offset, 0.0, weights)
            # forward: out = weights @ value
            d_value[columns] += weights.T @ d_out[rows]
            d_weights = d_out[rows] @ value[columns].T
            # forward: weights = softmax(scores)
            d_scores = weights * (d_weights - row_mean[rows])
            # forward: scores = scale * query @ key.T
            d_query[rows] += scale * (d_scores @ key[columns])
            d_key[columns] += scale * (d_scores.T @ query[rows])
    return d_query, d_key, d_value


def _backward_oracle(d_out, query, key, value, out, logsumexp, block_q, block_k, causal):
    """One pair of query and key at a time; the row's mean from the weights, not from `out`."""
    scale = 1 / math.sqrt(query.shape[1])
    d_query, d_key, d_value = np.zeros(query.shape), np.zeros(key.shape), np.zeros(value.shape)
    for i in range(len(query)):
        visible = [j for j in range(len(key)) if not causal or j <= i + len(key) - len(query)]
        scores = {j: scale * math.fsum((query[i] * key[j]).tolist()) for j in visible}
        top = max(scores.values())
        bottom = math.fsum(math.exp(score - top) for score in scores.values())
        weights = {j: math.exp(score - top) / bottom for j, score in scores.items()}
        d_weights = {j: math.fsum((d_out[i] * value[j]).tolist()) for j in visible}
        mean = math.fsum(weights[j] * d_weights[j] for j in visible)
        for j in visible:
            d_value[j] += weights[j] * d_out[i]
            d_score = weights[j] * (d_weights[j] - mean)
            d_query[i] += scale * d_score * key[j]
            d_key[j] += scale * d_score * query[i]
    return d_query, d_key, d_value


def _backward_method(answer):
    q, k, block_q, block_k = 13, 24, 2, 3
    names = ("d_out", "query", "key", "value", "out", "logsumexp", "block_q", "block_k", "causal")
    cases = [_backward_case(q, k, block_q, block_k, causal, d=4)(np.random.default_rng(0)) for causal in (False, True)]
    books = [watched(answer, dict(zip(names, case, strict=True)), names[:6]) for case in cases]
    held = held_at_once(answer, books, _many, q, k)
    if held:
        return (
            f"the gradients are right, but {HELD_AT_ONCE[held].format(q=q, k=k, pairs=q * k)} held at once: recompute "
            "the weights of one tile, use them up, and forget them."
        )
    rows = most_at_once(books[0], ("key", "value"))
    if rows > block_k:
        return (
            f"the gradients are right, but it looks at {rows} keys at once where a tile has {block_k}: "
            "walk through the keys in tiles of block_k."
        )
    rows = max((len(step.rows["query"]) for step in books[0].steps if "query" in step.rows and step.meets("key")), default=0)
    if rows > block_q:
        return (
            f"the gradients are right, but {rows} queries at once meet a block of keys where a tile has {block_q}: "
            "walk through the queries in tiles of block_q, too."
        )
    waiting = most_waiting(books[0], _used_up)
    if waiting > block_k:
        return (
            f"the gradients are right, but {waiting} keys have met a query before any of their weights is used, so that "
            f"all of these are kept; a tile has {block_k} keys: use up one tile before the next."
        )
    return ""


def _many(q, k):
    return _backward_case(q, k, 4, 4, True, d=1, v=1)(np.random.default_rng(0))


def _used_up(step):
    """None, for all keys, if a step multiplies an argument by numbers that are computed: the weights or their gradient."""
    met = [name for name in ("d_out", "query", "key") if step.meets(name)]
    return None if len(met) == len(step.rows) == 1 and step.partner else frozenset()


def _backward_case(q, k, block_q, block_k, causal=False, *, d=5, v=4, apart=0.0, zeros=False):
    def make(rng):
        query, key = rng.standard_normal((q, d)), rng.standard_normal((k, d))
        if zeros:  # half of the scores are exactly 0
            query[::2, 0], query[1::2, 1], key[::2, 0], key[1::2, 1] = 0.0, 0.0, 0.0, 0.0
        if apart:  # whole rows of scores are moved, one up, the next down
            query[:, 0], key[:, 0] = apart * (np.arange(q) % 3 - 1), math.sqrt(d)
        value, d_out = rng.standard_normal((k, v)), rng.standard_normal((q, v))
        return _with_forward((d_out, query, key, value, None, None, block_q, block_k, causal))

    return make


def _with_forward(arguments):
    """The same arguments with `out` and `logsumexp` as the forward pass gives them."""
    d_out, query, key, value, _, _, block_q, block_k, causal = arguments
    (q, d), k = query.shape, len(key)
    scores = query @ key.T / math.sqrt(d)
    if causal:
        if q > k:
            raise ValueError("a query would see nothing, and nothing could come back from it")
        scores = np.where(np.arange(k) > np.arange(q)[:, None] + k - q, -np.inf, scores)
    logsumexp = np.logaddexp.reduce(scores, axis=1)
    out = np.exp(scores - logsumexp[:, None]) @ value
    return d_out, query, key, value, out, logsumexp, block_q, block_k, causal


_BACKWARD = Exercise(
    title="Compute the weights again",
    level="hard",
    minutes=30,
    blanks=9,
    oracle=_backward_oracle,
    solution=flash_backward,
    consistent=_with_forward,
    probes=(
        Probe("all sizes differ, ragged tiles", _backward_case(5, 7, 2, 3, d=6)),
        Probe("causal, square", _backward_case(6, 6, 2, 2, True, d=7, v=3), why="Tiles above, on and below the diagonal."),
        Probe("one tile", _backward_case(3, 5, 4, 6, d=3, v=6), why="Nothing to accumulate."),
        Probe("causal, the queries at the end of the keys", _backward_case(5, 7, 2, 3, True, d=4, v=6),
            why="Query i sees keys up to i + k - q, and a tile may be cut anywhere by that line."),
        Probe("rows 1000 apart", _backward_case(4, 7, 3, 2, d=3, v=2, apart=1000.0), "edge",
            why="exp(scores) and exp(logsumexp) overflow or vanish; only their difference is a number to exponentiate."),
        Probe("one query, one key, one feature", _backward_case(1, 1, 2, 2, True, d=1, v=1), "edge", why="Axes of size 1 stay."),
        Probe("causal, zeros among the scores", _backward_case(4, 7, 3, 2, True, d=2, zeros=True), "edge",
            why="A score of 0 is a score like any other; and here more queries than keys are in a tile."),
    ),
    mistakes=backward_mistakes.FLASH_BACKWARD,
    hints=(
        "Begin with the weights of one tile: recompute its scores, and combine them with the saved logsumexp. Hide what "
        "the forward pass hid, with positions counted over the whole matrix.",
        "Inside a tile, use the backward pass of attention: weights times (d_weights minus the row's mean). The mean is "
        "a sum over all keys, but it is also the row sum of d_out times out. Compute it before the loops.",
        "Add the transposed weights times d_out to d_value. Add d_scores times key to d_query and the transposed "
        "d_scores times query to d_key, both times the scale. All three are sums over tiles.",
    ),
    why="Once the two numbers of each row are known, its logsumexp and its mean, every tile can be computed on its own. "
    "The weights cost one more product for each tile, and they are never stored.",
    insight="Plain attention keeps a row of k weights for each query. One saved number per query does the same work.",
    outputs=("d_query", "d_key", "d_value"),
    cancelling=(frozenset({"strict", "one_ahead"}), frozenset({"D_oo", "D_gg"})),
    atol=1e-10,  # where scores near 1000 are subtracted from their logsumexp, sums that should be 0 are 1e-12
    method=_backward_method,
)  # fmt: skip
