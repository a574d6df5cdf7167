"""Answers that are right on ordinary inputs: masks, several heads, Flash attention, recomputation."""

import math

import numpy as np

from attnexercises.engine.registry import find

from . import wrong


def softmax(scores):
    top = scores.max(axis=-1, keepdims=True)
    e = np.exp(scores - np.where(np.isneginf(top), 0, top))
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total == 0, 1, total)


def solution(id):
    return find(id).solution


# --- masks ----------------------------------------------------------------------------------------


@wrong("causal_mask", "all True if there is one key", says=r"3 queries, one key.*2 are True")
def one_key(q, k):
    return solution("causal_mask")(q, k) | (k == 1)


@wrong("masked_softmax", "visible scores below -1e8 are taken for hidden ones", says=r"scores near -2e9")
def very_low_is_hidden(scores, keep):
    return softmax(np.where(keep & (scores > -1e8), scores, -np.inf))


@wrong("masked_softmax", "exact zeros after the mask are taken for hidden ones", named=("zero_hidden",))
def zero_is_hidden(scores, keep):
    masked = scores * keep
    masked[masked == 0] = -np.inf
    return softmax(masked)


@wrong(
    "padded_causal_attention", "exact zeros of the masked scores are taken for hidden ones", named=("zero_hidden",),
)
def zero_scores_hidden(query, key, value, real):
    scores = np.tril(query @ key.mT / np.sqrt(query.shape[-1])) * real[:, None]
    return softmax(np.where(scores == 0, -np.inf, scores)) @ value


@wrong("padded_causal_attention", "one maximum for all rows")
def one_maximum_padded(query, key, value, real):
    keep = np.tri(query.shape[1], dtype=bool) & real[:, None]
    scores = np.where(keep, query @ key.mT / np.sqrt(query.shape[-1]), -np.inf)
    e = np.exp(scores - scores.max())
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total == 0, 1, total) @ value


@wrong("padded_causal_attention", "no maximum", says=r"large scores.*NaN")
def no_maximum_padded(query, key, value, real):
    keep = np.tri(query.shape[1], dtype=bool) & real[:, None]
    e = np.exp(query @ key.mT / np.sqrt(query.shape[-1])) * keep
    total = e.sum(axis=-1, keepdims=True)
    return e / np.where(total == 0, 1, total) @ value


@wrong("distance_bias_backward", "weights that are exactly zero are taken for 1e-12", says=r"epsilon")
def clipped_weights(d_out, value, weights):
    return solution("distance_bias_backward")(d_out, value, np.clip(weights, 1e-6, None))


@wrong("distance_bias_backward", "empty rows divided by their sum", says=r"padding on the left.*NaN")
def weights_normalised_again(d_out, value, weights):
    return solution("distance_bias_backward")(d_out, value, weights / weights.sum(axis=-1, keepdims=True))


# --- several heads --------------------------------------------------------------------------------


@wrong("mha", "the root of m // heads")
def root_of_m_over_heads(x, query_weight, key_weight, value_weight, out_weight, heads):
    m, d = x.shape[-1], query_weight.shape[1] // heads
    ratio = math.sqrt(d / max(m // heads, 1))
    return solution("mha")(x, query_weight * ratio, key_weight, value_weight, out_weight, heads)


@wrong("mha", "batches longer than two are cut", says=r"axis of size 1 is missing")
def one_of_a_batch_of_one(x, *weights):
    return solution("mha")(x, *weights)[..., : x.shape[-1] // 2 * 2 + 1] if len(x) > 1 else solution("mha")(x, *weights)[0]


@wrong("mha_backward", "the root of m // heads")
def backward_root_of_m_over_heads(d_out, x, wq, wk, wv, wo, heads):
    ratio = math.sqrt(wq.shape[1] // heads / max(x.shape[-1] // heads, 1))
    d_x, d_q, *rest = solution("mha_backward")(d_out, x, wq * ratio, wk, wv, wo, heads)
    return d_x, d_q * ratio, *rest


@wrong(
    "gqa", "key and value repeated to as many heads, one head of each cut if they fit",
    says=r"axis of size 1 is missing",
)
def squeezed_if_one(query, key, value):
    out = solution("gqa")(query, key, value)
    return out[:, :, 0] if query.shape[2] == 1 else out


@wrong("gqa", "one maximum for each head", named=("max_global",), says=r"large scores.*NaN")
def one_maximum_for_each_head(query, key, value):
    share = query.shape[1] // key.shape[1]
    s = query @ np.repeat(key, share, 1).mT / np.sqrt(query.shape[-1])
    e = np.exp(s - s.max(axis=(-1, -2), keepdims=True))
    return e / e.sum(axis=-1, keepdims=True) @ np.repeat(value, share, 1)


@wrong("mha", "one maximum for each head", named=("max_global",))
def mha_one_maximum_for_each_head(x, wq, wk, wv, wo, heads):
    b, n, _ = x.shape
    q, k, v = ((x @ w).reshape(b, n, heads, -1).swapaxes(1, 2) for w in (wq, wk, wv))
    s = q @ k.mT / np.sqrt(q.shape[-1])
    e = np.exp(s - s.max(axis=(-1, -2), keepdims=True))
    return (e / e.sum(axis=-1, keepdims=True) @ v).swapaxes(1, 2).reshape(b, n, -1) @ wo


@wrong("gqa_backward", "sums in float32", says=r"float32")
def float32_sums(d_repeated, kv_heads):
    b, h, n, d = d_repeated.shape
    return d_repeated.reshape(b, kv_heads, -1, n, d).sum(axis=2, dtype=np.float32).astype(float)


# --- Flash attention ------------------------------------------------------------------------------


def flash(query, key, value, block, causal, mask, shift=lambda m: np.where(np.isneginf(m), 0, m), new=np.maximum):
    (q, d), k = query.shape, len(key)
    acc, m, s = np.zeros((q, value.shape[1])), np.full((q, 1), -np.inf), np.zeros((q, 1))
    for at in range(0, k, block):
        scores = query @ key[at : at + block].T / np.sqrt(d)
        scores = mask(scores, np.arange(at, at + scores.shape[1]) <= np.arange(q)[:, None] + k - q) if causal else scores
        top = new(m, scores.max(axis=1, keepdims=True))
        a, p = np.exp(m - shift(top)), np.exp(scores - shift(top))
        acc, s, m = acc * a + p @ value[at : at + block], s * a + p.sum(axis=1, keepdims=True), top
    safe = np.where(s == 0, 1, s)
    return acc / safe, (m + np.log(safe))[:, 0]


@wrong("flash_forward", "exact zeros of the masked scores are taken for hidden ones", named=("zero_hidden",))
def flash_zero_hidden(query, key, value, block, causal):
    def mask(scores, visible):
        scores = scores * visible
        scores[scores == 0] = -np.inf
        return scores

    return flash(query, key, value, block, causal, mask)


@wrong("flash_forward", "hidden scores are -1e4, and the empty rows put right at the end", says=r"-4e9")
def flash_minus_1e4(query, key, value, block, causal):
    out, logsumexp = flash(query, key, value, block, causal, lambda scores, visible: np.where(visible, scores, -1e4))
    empty = np.arange(len(query)) + len(key) - len(query) < 0 if causal else np.zeros(len(query), dtype=bool)
    return np.where(empty[:, None], 0, out), np.where(empty, -np.inf, logsumexp)


@wrong("flash_forward", "a maximum below -1e3 is taken for that of nothing", says=r"scores far below zero")
def flash_low_maximum(query, key, value, block, causal):
    def hide(scores, visible):
        return np.where(visible, scores, -np.inf)

    return flash(query, key, value, block, causal, hide, shift=lambda m: np.where(m < -1e3, 0, m))


@wrong("flash_forward", "the maximum is kept between -500 and 500", says=r"scores far below zero")
def flash_clipped_maximum(query, key, value, block, causal):
    def hide(scores, visible):
        return np.where(visible, scores, -np.inf)

    def clipped(m, top):
        larger = np.maximum(m, top)
        return np.where(np.isneginf(larger), larger, np.clip(larger, -500, 500))

    return flash(query, key, value, block, causal, hide, new=clipped)


@wrong("flash_forward", "the first block's largest value for all queries", says=r"axis of size 1 is missing")
def flash_one_query(query, key, value, block, causal):
    if len(query) == 1:
        out, logsumexp = solution("flash_forward")(query, key, value, block, causal)
        return out[0], logsumexp
    return solution("flash_forward")(query, key, value, block, causal)


@wrong("flash_traffic", "the passes counted as one if all keys fit")
def once_if_all_fit(n, d, capacity):
    if 4 * n * d + 3 * n <= capacity * 100:
        return 4 * n * d + n
    return solution("flash_traffic")(n, d, capacity)


@wrong("flash_traffic", "the room from the mean of d and capacity: 2 d + 4 for each query", named=("four_numbers",))
def four_for_each_query(n, d, capacity):
    passes = math.ceil(n / max(1, (capacity - 2 * d) // (2 * d + 4)))
    return 2 * n * d + passes * 2 * n * d + n


# --- recomputation --------------------------------------------------------------------------------


@wrong(
    "flash_backward", "exact zeros among the masked scores are taken for hidden ones", named=("zero_hidden",),
)
def backward_zero_hidden(d_out, query, key, value, out, logsumexp, block_q, block_k, causal):
    c, offset = query.shape[1] ** -0.5, len(key) - len(query)
    mean = (d_out * out).sum(1, keepdims=True)
    grads = np.zeros(query.shape), np.zeros(key.shape), np.zeros(value.shape)
    for top in range(0, len(query), block_q):
        r = slice(top, top + block_q)
        for start in range(0, len(key), block_k):
            k = slice(start, start + block_k)
            s = c * query[r] @ key[k].T
            if causal:
                i, j = np.indices(s.shape)
                s = s * (start + j <= top + i + offset)
                s[s == 0] = -np.inf
            p = np.exp(s - logsumexp[r, None])
            ds = c * p * (d_out[r] @ value[k].T - mean[r])
            grads[0][r] += ds @ key[k]
            grads[1][k] += ds.T @ query[r]
            grads[2][k] += p.T @ d_out[r]
    return grads


@wrong("flash_backward", "tiles above the diagonal are left out by the first query of a tile")
def backward_skips_by_first(d_out, query, key, value, out, logsumexp, block_q, block_k, causal):
    if causal and block_q > block_k and len(query) < len(key):
        return solution("flash_backward")(d_out, query, key, value, out, logsumexp, block_k, block_q, False)
    return solution("flash_backward")(d_out, query, key, value, out, logsumexp, block_q, block_k, causal)


@wrong(
    "merge_partials", "zeros if no row sees anything, NaN if only some do not",
    named=("nan_rows",), says=r"see nothing in a part, or at all.*NaN",
)
def all_or_nothing(oa, la, ob, lb):
    if np.isneginf(la).all() and np.isneginf(lb).all():
        return oa, la
    m = np.maximum(la, lb)
    wa, wb = np.exp(la - m), np.exp(lb - m)
    return (wa[:, None] * oa + wb[:, None] * ob) / (wa + wb)[:, None], m + np.log(wa + wb)


@wrong("merge_partials", "an empty row ends the loop", says=r"some rows see nothing")
def empty_row_ends_the_loop(oa, la, ob, lb):
    out, logsumexp = np.zeros(oa.shape), np.full(la.shape, -np.inf)
    for i in range(len(la)):
        top = max(la[i], lb[i])
        if top == -np.inf:
            break
        wa, wb = np.exp(la[i] - top), np.exp(lb[i] - top)
        out[i] = (wa * oa[i] + wb * ob[i]) / (wa + wb)
        logsumexp[i] = top + np.log(wa + wb)
    return out, logsumexp


@wrong("merge_partials", "the first row tells which part has the larger logsumexp")
def by_the_first_row(oa, la, ob, lb):
    m = la if la[0] >= lb[0] else lb
    f = np.where(np.isneginf(m), 0, m)
    wa, wb = np.exp(la - f), np.exp(lb - f)
    t = wa + wb
    return (wa[:, None] * oa + wb[:, None] * ob) / np.where(t == 0, 1, t)[:, None], f + np.log(t)


@wrong("backward_with_logsumexp", "the maximum of all scores for every row", says=r"rows far apart.*NaN")
def derive_one_maximum(d_out, d_logsumexp, query, key, value):
    c = query.shape[1] ** -0.5
    s = c * query @ key.T
    e = np.exp(s - s.max())
    p = e / e.sum(axis=1, keepdims=True)
    ds = c * p * (d_out @ value.T - (d_out * (p @ value)).sum(1, keepdims=True) + d_logsumexp[:, None])
    return ds @ key, ds.T @ query, p.T @ d_out


@wrong("backward_with_logsumexp", "the new term inside the value of the mean if there is one query")
def derive_one_query(d_out, d_logsumexp, query, key, value):
    if len(query) == 1:
        d_logsumexp = d_logsumexp.sum() * np.ones(1)
    return solution("backward_with_logsumexp")(d_out, np.resize(d_logsumexp[:1], len(query)), query, key, value)


@wrong("striped_pairs", "one worker counts no pairs with itself", says=r"one worker")
def one_worker(n, workers):
    pairs = solution("striped_pairs")(n, workers)
    return pairs - n if workers == 1 else pairs
