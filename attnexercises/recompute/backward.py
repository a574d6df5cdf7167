"""The exercise on the backward pass of Flash attention, in tiles."""

import math

import numpy as np

from attnexercises.method.memory import HELD, bytes_for_each_pair
from attnexercises.engine.model import Exercise, Probe
from attnexercises.method.access import made_for_all, most_at_once, most_waiting
from attnexercises.method.trace import watched
from attnexercises.recompute import accepts, backward_mistakes


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


def _backward_family(bugs):
    def hidden(shape, top, start, offset):
        if "mask_local" in bugs:
            top = start = 0
        i, j = np.indices(shape)
        ahead = ("one_ahead" in bugs) - ("strict" in bugs)
        return start + j > top + i + (0 if "no_offset" in bugs else offset) + ahead

    def scales(d, v):
        if "scale_d" in bugs or "scale_v" in bugs:
            return [1 / d if "scale_d" in bugs else 1 / math.sqrt(v)] * 2
        back = 1 / d if "scale_twice" in bugs else 1.0 if "no_scale" in bugs else 1 / math.sqrt(d)
        return 1.0 if "score_scale" in bugs else 1 / math.sqrt(d), back

    def tiles(n, block, dropped):
        return range(0, n - n % block if dropped else n, block)

    def recomputed(scores, logsumexp):
        if "quotient" in bugs:
            return np.exp(scores) / np.exp(logsumexp)[:, None]
        if "lse_added" in bugs:
            return np.exp(scores + logsumexp[:, None])
        if "no_exp" in bugs:
            return np.where(np.isneginf(scores), 0, scores - logsumexp[:, None])
        if "p_no_lse" in bugs:
            return np.exp(scores)
        if "p_block_softmax" in bugs:
            top = scores.max(axis=1, keepdims=True)
            exponentials = np.exp(scores - np.where(np.isneginf(top), 0, top))
            total = exponentials.sum(axis=1, keepdims=True)
            return exponentials / np.where(total == 0, 1, total)
        return np.exp(scores - logsumexp[:, None])

    def row_means(d_out, out):
        products = (out if "D_oo" in bugs else d_out) * (d_out if "D_gg" in bugs else out)
        if "D_total" in bugs:
            return np.full((len(out), 1), products.sum())
        return products.mean(axis=1, keepdims=True) if "D_mean" in bugs else products.sum(axis=1, keepdims=True)

    def softmax_backward(weights, d_weights, mean):
        if "no_D" in bugs:
            mean = 0.0
        elif "D_block" in bugs:
            mean = (weights * d_weights).sum(axis=1, keepdims=True)
        if "sigmoid" in bugs:
            return weights * (1 - weights) * d_weights
        if "D_plus" in bugs:
            mean = -mean
        if "no_weights" in bugs:
            return d_weights - mean
        return weights * d_weights - mean if "paren" in bugs else weights * (d_weights - mean)

    def variant(d_out, query, key, value, out, logsumexp, block_q, block_k, causal):
        scale, gradient_scale = scales(query.shape[1], value.shape[1])
        row_mean = row_means(d_out, out)
        d_query, d_key, d_value = (np.zeros(array.shape) for array in (query, key, value))
        for top in tiles(len(query), block_q, "drop_q" in bugs):
            for start in tiles(len(key), block_k, "drop_tail" in bugs):
                rows, columns = slice(top, top + block_q), slice(start, start + block_k)
                scores = scale * query[rows] @ key[columns].T
                if causal and "no_mask" not in bugs:
                    fill = 0.0 if "hidden_zero" in bugs else -np.inf
                    scores[hidden(scores.shape, top, start, len(key) - len(query))] = fill
                first = slice(0, len(scores))
                weights = recomputed(scores, logsumexp[first if "lse_first" in bugs else rows])
                d_weights = d_out[rows] @ value[columns].T
                d_scores = softmax_backward(weights, d_weights, row_mean[rows])
                part_q = gradient_scale * d_scores @ key[columns]
                part_k = gradient_scale * d_scores.T @ query[rows]
                part_v = weights.T @ (out if "dv_out" in bugs else d_out)[rows]
                d_query[rows] = part_q if "dq_overwrite" in bugs else d_query[rows] + part_q
                overwrite = "dk_overwrite" in bugs
                d_key[columns] = part_k if overwrite or "dk_only" in bugs else d_key[columns] + part_k
                d_value[columns] = part_v if overwrite or "dv_only" in bugs else d_value[columns] + part_v
        return d_query, d_key, d_value

    return variant


def _backward_method(answer):
    q, k, block_q, block_k = 13, 24, 2, 3
    names = ("d_out", "query", "key", "value", "out", "logsumexp", "block_q", "block_k", "causal")
    cases = [_backward_case(q, k, block_q, block_k, causal, d=4)(np.random.default_rng(0)) for causal in (False, True)]
    books = [watched(answer, dict(zip(names, case, strict=True)), names[:6]) for case in cases]
    held = made_for_all(books, q, k)
    if not held and bytes_for_each_pair(answer, _many, 16, 64) > HELD:
        held = "numbers for all q × k pairs"
    if held:
        return (
            f"the gradients are right, but {held} {'is' if held.startswith(('a ', 'an ')) else 'are'} held at once: recompute "
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
    "flash_backward",
    title="Compute the weights again",
    chapter="recompute",
    level="hard",
    minutes=30,
    blanks=6,
    oracle=_backward_oracle,
    solution=flash_backward,
    consistent=_with_forward,
    family=_backward_family,
    probes=(
        Probe("all sizes differ, ragged tiles", _backward_case(5, 7, 2, 3, d=6)),
        Probe("causal, square", _backward_case(6, 6, 2, 2, True, d=7, v=3), why="Tiles above, on and below the diagonal."),
        Probe("one tile", _backward_case(3, 5, 4, 6, d=3, v=6), why="Nothing to accumulate."),
        Probe(
            "causal, the queries at the end of the keys", _backward_case(5, 7, 2, 3, True, d=4, v=6),
            why="Query i sees keys up to i + k - q, and a tile may be cut anywhere by that line.",
        ),
        Probe(
            "rows 1000 apart", _backward_case(4, 7, 3, 2, d=3, v=2, apart=1000.0), "edge",
            why="exp(scores) and exp(logsumexp) overflow or vanish; only their difference is a number to exponentiate.",
        ),
        Probe(
            "one query, one key, one feature", _backward_case(1, 1, 2, 2, True, d=1, v=1), "edge",
            why="Axes of size 1 stay.",
        ),
        Probe(
            "causal, zeros among the scores", _backward_case(4, 7, 3, 2, True, d=2, zeros=True), "edge",
            why="A score of 0 is a score like any other; and here more queries than keys are in a tile.",
        ),
    ),
    mistakes=backward_mistakes.FLASH_BACKWARD,
    hints=(
        "For one tile: recompute its scores, and get the weights from them and the saved logsumexp. Hide what the "
        "forward hid, with positions counted over the whole matrix.",
        "Inside a tile it is the backward of attention: weights times (d_weights minus the row's mean). The mean is a "
        "sum over all keys, but equally the row sum of d_out times out: compute it before the loops.",
        "Add to d_value the weights transposed times d_out, to d_query d_scores times key, to d_key d_scores "
        "transposed times query, the last two times the scale. All three collect over tiles.",
    ),
    why="Each tile stands on its own once the two numbers of each row, logsumexp and mean, are known. The weights cost "
    "one more product per tile, and are never stored.",
    insight="The backward needs 2 numbers a query that plain attention replaces by a row of k weights.",
    accepts={"keys in the outer loop": accepts.keys_outside, **accepts.FLASH_BACKWARD},
    outputs=("d_query", "d_key", "d_value"),
    cancelling=(frozenset({"strict", "one_ahead"}), frozenset({"D_oo", "D_gg"})),
    atol=1e-10,  # where scores near 1000 are subtracted from their logsumexp, sums that should be 0 are 1e-12
    method=_backward_method,
)  # fmt: skip

EXERCISES = (_BACKWARD,)
