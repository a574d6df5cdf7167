"""A fourth corpus, written from the statements alone, before anything was mended: chapter 6."""

import numpy as np

from . import wrong


def flash(query, key, value, block, causal, *, root=None, tail=True, rescale=True, offset=None, first=0.0,
          empty=(0.0, -np.inf), lse=None, own_max=False):
    (q, d), k = query.shape, len(key)
    acc, m, t = np.zeros((q, value.shape[-1])), np.full((q, 1), -np.inf), np.zeros((q, 1))
    offset = k - q if offset is None else offset
    for s in range(0, k, block):
        if not tail and s + block > k:
            break
        x = query @ key[s : s + block].T / (d**0.5 if root is None else root)
        if causal:
            x = np.where(np.arange(s, min(s + block, k)) <= np.arange(q)[:, None] + offset, x, -np.inf)
        new = x.max(1, keepdims=True) if own_max else np.maximum(m, x.max(1, keepdims=True))
        shift = np.where(new > -np.inf, new, 0)
        with np.errstate(all="ignore"):
            a = np.exp(m - shift) if rescale else 1.0
        p = np.exp(x - shift)
        t = a * t + p.sum(1, keepdims=True)
        acc = a * acc + p @ value[s : s + block]
        m = new
    with np.errstate(all="ignore"):
        out = np.where(t > 0, acc / t, empty[0])
        l = np.where(t > 0, m + np.log(t), empty[1])[:, 0]
    return out, (l if lse is None else lse(m[:, 0], t[:, 0]))


# --- online_softmax --------------------------------------------------------------------------------


@wrong("online_softmax", "no rescaling of the old sum", named=("no_rescale",))
def _(x, block):
    m, t = -np.inf, 0.0
    for s in range(0, len(x), block):
        part = x[s : s + block]
        new = max(m, part.max())
        if new > -np.inf:
            t = t + np.exp(part - new).sum()
            m = new
    return m, t


@wrong("online_softmax", "the factor upside down", named=("alpha_inv",))
def _(x, block):
    m, t = -np.inf, 0.0
    for s in range(0, len(x), block):
        part = x[s : s + block]
        new = max(m, part.max())
        if new > -np.inf:
            t = (t * np.exp(new - m) if m > -np.inf else 0.0) + np.exp(part - new).sum()
            m = new
    return m, t


@wrong("online_softmax", "the new block is measured against its own maximum", named=("sum_local",))
def _(x, block):
    m, t = -np.inf, 0.0
    for s in range(0, len(x), block):
        part = x[s : s + block]
        new = max(m, part.max())
        if new > -np.inf:
            top = part.max() if part.max() > -np.inf else 0.0
            t = t * np.exp(m - new) + np.exp(part - top).sum()
            m = new
    return m, t


@wrong("online_softmax", "returns the sum's logarithm")
def _(x, block):
    m = x.max()
    return m, np.log(np.exp(x - m).sum())


@wrong("online_softmax", "the last, shorter block is left out", named=("drop_tail",))
def _(x, block):
    m, t = -np.inf, 0.0
    for s in range(0, len(x) - block + 1, block):
        part = x[s : s + block]
        new = max(m, part.max())
        if new > -np.inf:
            t = t * np.exp(m - new) + np.exp(part - new).sum()
            m = new
    return m, t


@wrong("online_softmax", "the maximum starts at 0", named=("m_init_0",))
def _(x, block):
    m, t = 0.0, 0.0
    for s in range(0, len(x), block):
        part = x[s : s + block]
        new = max(m, part.max())
        t = t * np.exp(m - new) + np.exp(part - new).sum()
        m = new
    return m, t


@wrong("online_softmax", "the rescaled sum is scaled by the number of scores seen", named=("mean",))
def _(x, block):
    m, t = -np.inf, 0.0
    for s in range(0, len(x), block):
        part = x[s : s + block]
        new = max(m, part.max())
        if new > -np.inf:
            t = t * np.exp(m - new) + np.exp(part - new).mean()
            m = new
    return m, t


# --- one_tile --------------------------------------------------------------------------------------

wrong("one_tile", "old sums not rescaled", named=("no_rescale",))((30 + 50 + 10 * np.exp(-3)) / (1.5 + 1 + np.exp(-3)))
wrong("one_tile", "average of 20 and the tile's output", named=("average",))((20 + (50 * np.e**4 + 10 * np.e) / (np.e**4 + np.e)) / 2)
wrong("one_tile", "the tile alone", named=("tile_alone",))((50 * np.e**3 + 10) / (np.e**3 + 1))
wrong("one_tile", "not divided", named=("no_division",))(30 * np.exp(-1) + 50 + 10 * np.exp(-3))
wrong("one_tile", "the output 20 is taken for the sum a", named=("output_for_a",))((20 * np.exp(-1) + 50 + 10 * np.exp(-3)) / (1.5 * np.exp(-1) + 1 + np.exp(-3)))
wrong("one_tile", "rescaled by e to the +1", named=("inverse",))((30 * np.e + 50 + 10 * np.exp(-3)) / (1.5 * np.e + 1 + np.exp(-3)))
wrong("one_tile", "three keys with scores 3, 4, 1, value 20", named=("old_as_one_key",))((20 * np.exp(-1) + 50 + 10 * np.exp(-3)) / (np.exp(-1) + 1 + np.exp(-3)))

# --- flash_forward ---------------------------------------------------------------------------------


@wrong("flash_forward", "causal aligned at the first key", named=("no_offset",))
def _(query, key, value, block, causal):
    return flash(query, key, value, block, causal, offset=0)


@wrong("flash_forward", "scale by the block", named=("scale_block",))
def _(query, key, value, block, causal):
    return flash(query, key, value, block, causal, root=block**0.5)


@wrong("flash_forward", "a query that sees nothing has logsumexp 0", named=("lse_zero",))
def _(query, key, value, block, causal):
    return flash(query, key, value, block, causal, empty=(0.0, 0.0))


@wrong("flash_forward", "logsumexp without the maximum", named=("lse_log_l",))
def _(query, key, value, block, causal):
    def lse(m, t):
        with np.errstate(all="ignore"):
            return np.log(t)
    return flash(query, key, value, block, causal, lse=lse)


@wrong("flash_forward", "log to base 2", named=("lse_base_2",))
def _(query, key, value, block, causal):
    def lse(m, t):
        with np.errstate(all="ignore"):
            return m + np.log2(t)
    return flash(query, key, value, block, causal, lse=lse)


@wrong("flash_forward", "last, shorter block left out", named=("drop_tail",))
def _(query, key, value, block, causal):
    return flash(query, key, value, block, causal, tail=False)


@wrong("flash_forward", "causal is one too strict", named=("strict",))
def _(query, key, value, block, causal):
    return flash(query, key, value, block, causal, offset=len(key) - len(query) - 1)


@wrong("flash_forward", "the causal mask counts columns within the block", named=("local_cols",))
def _(query, key, value, block, causal):
    (q, d), k = query.shape, len(key)
    acc, m, t = np.zeros((q, value.shape[-1])), np.full((q, 1), -np.inf), np.zeros((q, 1))
    for s in range(0, k, block):
        x = query @ key[s : s + block].T / d**0.5
        if causal:
            x = np.where(np.arange(x.shape[1]) <= np.arange(q)[:, None] + k - q, x, -np.inf)
        new = np.maximum(m, x.max(1, keepdims=True))
        shift = np.where(new > -np.inf, new, 0)
        a, p = np.exp(m - shift), np.exp(x - shift)
        t, acc, m = a * t + p.sum(1, keepdims=True), a * acc + p @ value[s : s + block], new
    with np.errstate(all="ignore"):
        return np.where(t > 0, acc / t, 0), np.where(t > 0, m + np.log(t), -np.inf)[:, 0]


@wrong("flash_forward", "total also rescaled after adding")
def _(query, key, value, block, causal):
    (q, d), k = query.shape, len(key)
    acc, m, t = np.zeros((q, value.shape[-1])), np.full((q, 1), -np.inf), np.zeros((q, 1))
    for s in range(0, k, block):
        x = query @ key[s : s + block].T / d**0.5
        if causal:
            x = np.where(np.arange(s, s + x.shape[1]) <= np.arange(q)[:, None] + k - q, x, -np.inf)
        new = np.maximum(m, x.max(1, keepdims=True))
        shift = np.where(new > -np.inf, new, 0)
        a, p = np.exp(m - shift), np.exp(x - shift)
        if s == 0:
            a = np.ones_like(a)
        t, acc, m = a * (t + p.sum(1, keepdims=True)), a * acc + p @ value[s : s + block], new
    with np.errstate(all="ignore"):
        return np.where(t > 0, acc / t, 0), np.where(t > 0, m + np.log(t), -np.inf)[:, 0]


@wrong("flash_forward", "merges blocks by logaddexp, and a block that hides all keys multiplies zero by an overflow")
def _(query, key, value, block, causal):
    (q, d), k = query.shape, len(key)
    out, l = np.zeros((q, value.shape[1])), np.full(q, -np.inf)
    where = np.arange(q) + k - q
    for lo in range(0, k, block):
        hi = min(lo + block, k)
        x = np.einsum("id,jd->ij", query, key[lo:hi]) / np.sqrt(d)
        if causal:
            x[np.arange(lo, hi) > where[:, None]] = -np.inf
        top = x.max(1)
        safe = np.where(np.isneginf(top), 0, top)
        e = np.exp(x - safe[:, None])
        s = e.sum(1)
        own = np.where(s > 0, safe + np.log(np.where(s > 0, s, 1)), -np.inf)
        new = np.logaddexp(l, own)
        base = np.where(np.isneginf(new), 0, new)
        out = out * np.exp(l - base)[:, None] + e @ value[lo:hi] * np.exp(np.where(s > 0, safe, 0) - base)[:, None]
        l = new
    return out, l


# --- flash_traffic ---------------------------------------------------------------------------------


@wrong("flash_traffic", "passes not rounded up", named=("part_of_a_pass",))
def _(n, d, capacity):
    bq = (capacity - 2 * d) // (2 * d + 3)
    return n * d + n / bq * 2 * n * d + n * d + n


@wrong("flash_traffic", "rounded down passes", named=("drop_tail",))
def _(n, d, capacity):
    bq = (capacity - 2 * d) // (2 * d + 3)
    return n * d + max(1, n // bq) * 2 * n * d + n * d + n


@wrong("flash_traffic", "two running numbers stored for each query", named=("both_stored",))
def _(n, d, capacity):
    bq = (capacity - 2 * d) // (2 * d + 3)
    return n * d + -(-n // bq) * 2 * n * d + n * d + 2 * n


@wrong("flash_traffic", "queries loaded in every pass", named=("queries_again",))
def _(n, d, capacity):
    bq = (capacity - 2 * d) // (2 * d + 3)
    return -(-n // bq) * (n * d + 2 * n * d) + n * d + n


@wrong("flash_traffic", "the output needs no room", named=("no_output",))
def _(n, d, capacity):
    bq = (capacity - 2 * d) // (d + 3)
    return n * d + -(-n // bq) * 2 * n * d + n * d + n


@wrong("flash_traffic", "only stores counted twice and loads once")
def _(n, d, capacity):
    bq = (capacity - 2 * d) // (2 * d + 3)
    return n * d + -(-n // bq) * 2 * n * d + 2 * (n * d + n)


# --- scores_bytes ----------------------------------------------------------------------------------

wrong("scores_bytes", "only the new row", named=("old_keys_only",))(8192 * 32 * 2)
wrong("scores_bytes", "row and column but without the corner", named=("no_corner",))(2 * 8192 * 32 * 2)
wrong("scores_bytes", "one head", named=("no_heads",))((8193**2 - 8192**2) * 2)
wrong("scores_bytes", "numbers instead of bytes", named=("numbers",))((8193**2 - 8192**2) * 32)
wrong("scores_bytes", "the new size altogether", named=("all_after",))(8193**2 * 32 * 2)

# --- attention_flops -------------------------------------------------------------------------------

wrong("attention_flops", "the first product only", named=("scores_only",))(2 * 300 * 700 * 64)
wrong("attention_flops", "self-attention of the keys", named=("k_squared",))(2 * 700 * 700 * 160)
wrong("attention_flops", "an operation for the softmax of each score, too", named=("softmax_1",))(2 * 300 * 700 * 160 + 300 * 700)

# --- causal_tiles ----------------------------------------------------------------------------------

wrong("causal_tiles", "all tiles", named=("all",))(4 * 5)
wrong("causal_tiles", "only whole tiles", named=("half_and_diagonal",))(3 * 4)
wrong("causal_tiles", "one too many at each row")(3 + 4 + 5 + 5)
wrong("causal_tiles", "only tiles with the diagonal")(2 + 2 + 2 + 1)

# --- spot_flash ------------------------------------------------------------------------------------

wrong("spot_flash", "reads the large numbers as a missing division", named=("no_division",))("no division")
wrong("spot_flash", "thinks of the average", named=("average",))("average")
wrong("spot_flash", "misses that tails are right or wrong", named=("drop_tail",))("drop tail")
