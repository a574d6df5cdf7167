"""Wrong answers to `flash_backward`, as readers may write them: the weights again, the row's mean, the mask, the sums."""

import numpy as np

from . import wrong


def hidden(top, start, shape, q, k):
    i, j = np.indices(shape)
    return start + j > top + i + k - q


def backward(
    d_out, query, key, value, out, logsumexp, block_q, block_k, causal, *, scale=None, mean=None, again=None, inside=None,
    mask=hidden, back=None, add_q=True, add_k=True, add_v=True, d_v=None, rows=None, columns=None, fill=-np.inf,
):  # fmt: skip
    """A right backward in tiles; each piece can be replaced by a wrong one."""
    q, k, d = len(query), len(key), query.shape[1]
    scale = 1 / np.sqrt(d) if scale is None else scale
    back = scale if back is None else back
    term = (d_out * out).sum(axis=1, keepdims=True) if mean is None else mean(d_out, out)
    grads = np.zeros(query.shape), np.zeros(key.shape), np.zeros(value.shape)
    for top in rows(q, block_q) if rows else range(0, q, block_q):
        r = slice(top, top + block_q)
        for start in columns(k, block_k) if columns else range(0, k, block_k):
            c = slice(start, start + block_k)
            scores = scale * (query[r] @ key[c].T)
            if causal:
                scores = np.where(mask(top, start, scores.shape, q, k), fill, scores)
            p = again(scores, logsumexp[r]) if again else np.exp(scores - logsumexp[r][:, None])
            dp = d_out[r] @ value[c].T
            ds = inside(p, dp, term[r]) if inside else p * (dp - term[r])
            parts = back * (ds @ key[c]), back * (ds.T @ query[r]), d_v(p, d_out[r], out[r]) if d_v else p.T @ d_out[r]
            for grad, place, part, add in zip(grads, (r, c, c), parts, (add_q, add_k, add_v)):
                grad[place] = grad[place] * add + part
    return grads


@wrong("flash_backward", "the logarithm is missing: exp(S) / L", named=())
def divided_by_the_logsumexp(*args):
    return backward(*args, again=lambda s, lse: np.exp(s) / lse[:, None])


@wrong("flash_backward", "exp(S)", named=("p_no_lse",))
def exponentials_alone(*args):
    return backward(*args, again=lambda s, lse: np.exp(s))


@wrong("flash_backward", "exp(S + L)", named=("lse_added",))
def logsumexp_added(*args):
    return backward(*args, again=lambda s, lse: np.exp(s + lse[:, None]))


@wrong("flash_backward", "exp(S) divided by exp(L)", named=("quotient",))
def quotient_of_exponentials(*args):
    return backward(*args, again=lambda s, lse: np.exp(s) / np.exp(lse)[:, None])


@wrong("flash_backward", "S - L: the exponential is missing", named=("no_exp",))
def no_exponential(*args):
    return backward(*args, again=lambda s, lse: np.where(np.isneginf(s), 0, s - lse[:, None]))


@wrong("flash_backward", "a softmax of the tile", named=("p_block_softmax",))
def softmax_of_the_tile(*args):
    def softmax(s, lse):
        top = s.max(axis=1, keepdims=True)
        e = np.exp(s - np.where(np.isneginf(top), 0, top))
        total = e.sum(axis=1, keepdims=True)
        return e / np.where(total == 0, 1, total)

    return backward(*args, again=softmax)


@wrong("flash_backward", "a softmax of the tile, NaN where it is hidden", says=r"causal, square.*NaN")
def careless_softmax_of_the_tile(*args):
    def softmax(s, lse):
        e = np.exp(s - s.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)

    return backward(*args, again=softmax)


@wrong("flash_backward", "the logsumexp of other rows: always the first tile's", named=("lse_first",))
def logsumexp_of_the_first_tile(d_out, query, key, value, out, logsumexp, *rest):
    return backward(
        d_out, query, key, value, out, logsumexp, *rest, again=lambda s, lse: np.exp(s - logsumexp[: len(s), None])
    )


@wrong("flash_backward", "the logsumexp broadcast along the keys", says=r"\(2,3\) \(2,\)")
def logsumexp_along_the_keys(*args):
    return backward(*args, again=lambda s, lse: np.exp(s - lse))


@wrong("flash_backward", "the scores without the scale", named=("score_scale",))
def scores_without_scale(d_out, query, *rest):
    return backward(d_out, query, *rest, scale=1.0, back=query.shape[1] ** -0.5)


@wrong("flash_backward", "no scale at all", named=("score_scale", "no_scale"))
def no_scale_at_all(*args):
    return backward(*args, scale=1.0)


@wrong("flash_backward", "the gradients without the scale", named=("no_scale",))
def gradients_without_scale(*args):
    return backward(*args, back=1.0)


@wrong("flash_backward", "the scale twice in the gradients", named=("scale_twice",))
def scale_twice(d_out, query, *rest):
    return backward(d_out, query, *rest, back=1 / query.shape[1])


@wrong("flash_backward", "the scale is 1 / d", named=("scale_d",))
def scale_one_over_d(d_out, query, *rest):
    return backward(d_out, query, *rest, scale=1 / query.shape[1])


@wrong("flash_backward", "the scale from the width of the values", named=("scale_v",))
def scale_of_the_values(d_out, query, key, value, *rest):
    return backward(d_out, query, key, value, *rest, scale=value.shape[1] ** -0.5)


@wrong("flash_backward", "no row term", named=("no_D",))
def no_row_term(*args):
    return backward(*args, inside=lambda p, dp, term: np.multiply(p, dp))


@wrong("flash_backward", "the row term of the tile", named=("D_block",))
def row_term_of_the_tile(*args):
    return backward(*args, inside=lambda p, dp, _: p * (dp - np.einsum("qk,qk->q", p, dp)[:, None]))


@wrong("flash_backward", "the row term from out and out", named=("D_oo",))
def out_twice(*args):
    return backward(*args, mean=lambda g, o: np.square(o).sum(1)[:, None])


@wrong("flash_backward", "the row term from d_out and d_out", named=("D_gg",))
def d_out_twice(*args):
    return backward(*args, mean=lambda g, o: (g * g).sum(1)[:, None])


@wrong("flash_backward", "the row term is a mean", named=("D_mean",))
def row_term_a_mean(*args):
    return backward(*args, mean=lambda g, o: np.mean(g * o, -1, keepdims=True))


@wrong("flash_backward", "the row term added", named=("D_plus",))
def row_term_added(*args):
    return backward(*args, inside=lambda p, dp, term: p * (dp + term))


@wrong("flash_backward", "the row term outside of the bracket", named=("paren",))
def row_term_outside(*args):
    return backward(*args, inside=lambda p, dp, term: p * dp - term)


@wrong("flash_backward", "p (1 - p) dp", named=("sigmoid",))
def sigmoid_rule(*args):
    return backward(*args, inside=lambda p, dp, term: p * (1 - p) * dp)


@wrong("flash_backward", "dp goes on as it is", named=("no_weights",))
def softmax_left_out(*args):
    return backward(*args, inside=lambda p, dp, term: dp - term)


@wrong("flash_backward", "one number for all rows", named=("D_total",))
def one_term_for_all(*args):
    return backward(*args, mean=lambda g, o: np.full((len(g), 1), (g * o).sum()))


@wrong("flash_backward", "the column sums of d_out out, where a row's are wanted", named=())
def column_sums(d_out, query, key, value, out, logsumexp, block_q, block_k, causal):
    def wide(g, o):
        sums = (g * o).sum(axis=0)
        return np.resize(sums, len(g))[:, None]

    return backward(d_out, query, key, value, out, logsumexp, block_q, block_k, causal, mean=wide)


@wrong("flash_backward", "no mask", named=("no_mask",))
def no_mask(*args):
    return backward(*args[:-1], False)


@wrong("flash_backward", "the mask of the tile", named=("mask_local",))
def mask_of_the_tile(*args):
    return backward(*args, mask=lambda top, start, shape, q, k: ~np.tri(*shape, k - q, dtype=bool))


@wrong("flash_backward", "the mask of the tile, from the first corner", named=("mask_local", "no_offset"))
def mask_of_the_tile_first_corner(*args):
    return backward(*args, mask=lambda top, start, shape, q, k: ~np.tri(*shape, dtype=bool))


@wrong("flash_backward", "the mask as if q = k", named=("no_offset",))
def mask_as_if_square(*args):
    return backward(*args, mask=lambda top, start, shape, q, k: hidden(top, start, shape, 0, 0))


@wrong("flash_backward", "the mask hides the own place", named=("strict",))
def own_place_hidden(*args):
    return backward(*args, mask=lambda top, start, shape, q, k: hidden(top, start + 1, shape, q, k))


@wrong("flash_backward", "the mask lets one key of the future through", named=("one_ahead",))
def one_ahead(*args):
    return backward(*args, mask=lambda top, start, shape, q, k: hidden(top + 1, start, shape, q, k))


@wrong("flash_backward", "the row offset of the tile is forgotten in the mask, not its column offset", named=("row_offset",))
def row_offset_forgotten(*args):
    return backward(*args, mask=lambda top, start, shape, q, k: hidden(0, start, shape, q, k))


@wrong("flash_backward", "hidden scores are 0", named=("hidden_zero",))
def hidden_zero(*args):
    return backward(*args, fill=0.0)


@wrong("flash_backward", "hidden scores are -10", named=())
def hidden_minus_ten(*args):
    return backward(*args, fill=-10.0)


@wrong("flash_backward", "d_query assigned", named=("dq_overwrite",))
def d_query_assigned(*args):
    return backward(*args, add_q=False)


@wrong("flash_backward", "d_key and d_value assigned", named=("dk_overwrite",))
def d_key_and_value_assigned(*args):
    return backward(*args, add_k=False, add_v=False)


@wrong("flash_backward", "only d_value assigned", named=("dv_only",))
def d_value_assigned(*args):
    return backward(*args, add_v=False)


@wrong("flash_backward", "only d_key assigned", named=("dk_only",))
def d_key_assigned(*args):
    return backward(*args, add_k=False)


@wrong("flash_backward", "all three assigned", named=("dq_overwrite", "dk_overwrite"))
def all_assigned(*args):
    return backward(*args, add_q=False, add_k=False, add_v=False)


@wrong("flash_backward", "d_value from out", named=("dv_out",))
def d_value_from_out(*args):
    return backward(*args, d_v=lambda p, g, o: np.einsum("qk,qv->kv", p, o))


@wrong("flash_backward", "the tail of the keys is left out", named=("drop_tail",))
def tail_of_keys(*args):
    return backward(*args, columns=lambda k, block: range(0, k - block + 1, block))


@wrong("flash_backward", "the tail of the queries is left out", named=("drop_q",))
def tail_of_queries(*args):
    return backward(*args, rows=lambda q, block: range(0, q - block + 1, block))


@wrong("flash_backward", "both tails are left out", named=("drop_tail", "drop_q"))
def both_tails(*args):
    return backward(
        *args,
        rows=lambda q, block: [i * block for i in range(q // block)],
        columns=lambda k, block: [i * block for i in range(k // block)],
    )


@wrong("flash_backward", "block_q and block_k change places: steps of one, slices of the other", named=())
def blocks_swapped(*args):
    *others, block_q, block_k, causal = args
    return backward(
        *others, block_k, block_q, causal, rows=lambda q, _: range(0, q, block_q), columns=lambda k, _: range(0, k, block_k)
    )


@wrong("flash_backward", "the gradients as d_key, d_query, d_value", says=r"order of the outputs")
def key_before_query(*args):
    d_query, d_key, d_value = backward(*args)
    return d_key, d_query, d_value


@wrong("flash_backward", "the gradients as d_value, d_key, d_query", says=r"order of the outputs")
def value_first(*args):
    return backward(*args)[::-1]


@wrong("flash_backward", "minus the gradients of the scores", says=r"d_query: exactly minus")
def sign(*args):
    return backward(*args, inside=lambda p, dp, term: p * (term - dp))


@wrong("flash_backward", "each tile walks both loops once: zip for a nested loop", named=("diagonal_tiles",))
def tiles_on_the_diagonal(*args):
    d_out, query, key, value, out, logsumexp, block_q, block_k, causal = args
    grads = np.zeros(query.shape), np.zeros(key.shape), np.zeros(value.shape)
    term, offset = (d_out * out).sum(1, keepdims=True), len(key) - len(query)
    for top, start in zip(range(0, len(query), block_q), range(0, len(key), block_k)):
        r, c = slice(top, top + block_q), slice(start, start + block_k)
        p = np.exp(query[r] @ key[c].T / query.shape[1] ** 0.5 - logsumexp[r, None])
        if causal:
            i, j = np.indices(p.shape)
            p[start + j > top + i + offset] = 0
        ds = p * (d_out[r] @ value[c].T - term[r]) / query.shape[1] ** 0.5
        grads[0][r] += ds @ key[c]
        grads[1][c] += ds.T @ query[r]
        grads[2][c] += p.T @ d_out[r]
    return grads


@wrong("flash_backward", "the loop over keys breaks at the diagonal's first tile", named=("break_early",))
def breaks_too_early(*args):
    d_out, query, key, value, out, logsumexp, block_q, block_k, causal = args
    grads = np.zeros(query.shape), np.zeros(key.shape), np.zeros(value.shape)
    term, offset = (d_out * out).sum(1, keepdims=True), len(key) - len(query)
    for top in range(0, len(query), block_q):
        r = slice(top, top + block_q)
        for start in range(0, len(key), block_k):
            if causal and start > top + offset:
                break
            c = slice(start, start + block_k)
            p = np.exp(query[r] @ key[c].T / query.shape[1] ** 0.5 - logsumexp[r, None])
            if causal:
                i, j = np.indices(p.shape)
                p[start + j > top + i + offset] = 0
            ds = p * (d_out[r] @ value[c].T - term[r]) / query.shape[1] ** 0.5
            grads[0][r] += ds @ key[c]
            grads[1][c] += ds.T @ query[r]
            grads[2][c] += p.T @ d_out[r]
    return grads
