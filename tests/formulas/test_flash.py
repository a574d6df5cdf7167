"""The formulas of chapters 6 and 7, evaluated as they stand."""

import math

import numpy as np
from formula_cases import D, K, Q, V, agree, heads_of, rowsum, softmax

from attnlib.costs import A100, count_flops, count_traffic, fitting_blocks, roofline
from attnlib.flash import flash_attention, flash_attention_backward, merge_partials
from attnlib.softmax import OnlineSoftmax

C = 1 / np.sqrt(D)
BLOCKS = (slice(0, 2), slice(2, 4), slice(4, 5))  # five keys, the last tile a ragged one


def test_one_score_at_a_time(rng):
    r"""\begin{gathered} \mu_t = \max(\mu_{t-1}, x_t)\\ s_t = s_{t-1}\,e^{\mu_{t-1} - \mu_t} + e^{x_t - \mu_t}
    \end{gathered}"""
    x = rng.normal(size=K)
    mu, s, state = -np.inf, 0.0, OnlineSoftmax.start()
    for score in x:
        larger = max(mu, score)
        mu, s = larger, s * np.exp(mu - larger) + np.exp(score - larger)
        state = state.update([score])
        agree([mu, s], [state.maximum, state.total])
    agree(s, np.exp(x - x.max()).sum())


def test_operations():
    r"""\text{operations} = 2\,qk\,(d+v)"""
    q, k, d, v = 300, 700, 64, 96
    agree(2 * q * k * (d + v), count_flops(q, k, d, v).products)
    agree(2 * q * k * (d + v), count_flops(q, k, d, v, method="flash", block_q=64, block_k=32).products)


def test_roofline():
    r"""\begin{aligned} \text{time} &\ge \frac{\text{operations}}{\text{peak}}\\[6pt] \text{time} &\ge
    \frac{\text{bytes}}{\text{bandwidth}}\\[6pt] \text{intensity} &=
    \frac{\text{operations}}{\text{bytes}}\\[6pt] \text{ridge} &= \frac{\text{peak}}{\text{bandwidth}}
    \end{aligned}"""
    for operations, numbers in ((1e9, 1e9), (1e12, 1e6)):  # one waits for its memory, the other for its arithmetic
        found = roofline(operations, numbers, A100, dtype="float16")
        moved, peak = 2 * numbers, A100.peak_flops["float16"]
        agree(max(operations / peak, moved / A100.bandwidth), found.seconds)
        agree(operations / moved, found.intensity)
        agree(peak / A100.bandwidth, found.ridge)


def test_running_sums(rng):
    r"""\begin{aligned} \mu &= \max_{j\ \text{seen}} S_j, \qquad s = \sum_{j\ \text{seen}} e^{S_j - \mu},\\ a &=
    \sum_{j\ \text{seen}} e^{S_j - \mu}\,V_j \end{aligned}"""
    query, key, value, _ = heads_of(rng)
    for seen in (2, K):
        scores = C * query @ key[:seen].T
        mu = scores.max(axis=1, keepdims=True)
        s = rowsum(np.exp(scores - mu))
        a = np.exp(scores - mu) @ value[:seen]
        out, logsumexp = flash_attention(query, key[:seen], value[:seen], block_k=2)
        agree(a / s, out)
        agree((mu + np.log(s))[:, 0], logsumexp)


def test_one_tile_more(rng):
    r"""\begin{aligned} \alpha &= e^{\mu-\mu'} \\ s' &= \alpha\, s + \sum_{j\in\mathcal C} e^{S_j-\mu'}, \\ a' &=
    \alpha\, a + \sum_{j\in\mathcal C} e^{S_j-\mu'}\,V_j; \\ O &= \frac as, \quad \ell = \mu + \log s
    \end{aligned}"""
    query, key, value, _ = heads_of(rng)
    mu, s, a = np.full((Q, 1), -np.inf), np.zeros((Q, 1)), np.zeros((Q, V))
    for columns in BLOCKS:
        scores = C * query @ key[columns].T
        larger = np.maximum(mu, scores.max(axis=1, keepdims=True))
        alpha = np.exp(mu - larger)
        s = alpha * s + rowsum(np.exp(scores - larger))
        a = alpha * a + np.exp(scores - larger) @ value[columns]
        mu = larger
    out, logsumexp = flash_attention(query, key, value, block_q=2, block_k=2)
    agree(a / s, out)
    agree((mu + np.log(s))[:, 0], logsumexp)


def test_forward_traffic():
    r"""\begin{aligned} &\text{Flash, about, for } d \ll M \ll nd\text{:}\\ &\quad \frac{2nd}{M}\cdot 2nd = \frac{4\,n^2d^2}{M}\\[4pt]
    &\text{Plain, at least:}\\ &\quad 4n^2 \end{aligned}"""
    n, d, fast = 10**5, 50, 2 * 10**4  # 1 far below d, d below M, M below nd: what the formulas leave out is small
    passes, closed = 2 * n * d / fast * 2 * n * d, 4 * n**2 * d**2 / fast
    agree(passes, closed)
    block_q, block_k = fitting_blocks(fast, d, method="flash")
    agree(closed, count_traffic(n, n, d, method="flash", block_q=block_q, block_k=block_k).total, rtol=0.05)
    for fast in (2 * 10**4, 10**6, 10**7):  # plain attention needs room for a row of scores as well: n below M
        n = 10**4
        block_q, block_k = fitting_blocks(fast, d, method="naive")
        plain = count_traffic(n, n, d, method="naive", block_q=block_q, block_k=block_k).total
        assert 4 * n**2 < plain
    agree(4 * n**2, plain, rtol=0.05)  # and little more where the memory is large


def test_backward(rng):
    r"""\begin{aligned} D &= \operatorname{rowsum}(dO\odot O)\\ S &= c\,Q_{\mathcal R}K_{\mathcal C}^{\top}\\ P &=
    e^{S-\ell_{\mathcal R}}\\ dP &= dO_{\mathcal R}\,V_{\mathcal C}^{\top}\\ dS &= P\odot(dP - D_{\mathcal R})\\ dV_{\mathcal C} &\mathrel{+}= P^{\top}dO_{\mathcal
    R}\\ dQ_{\mathcal R} &\mathrel{+}= c\,dS\,K_{\mathcal C}\\ dK_{\mathcal C} &\mathrel{+}=
    c\,dS^{\top}Q_{\mathcal R} \end{aligned}"""
    query, key, value, d_out = heads_of(rng)
    out, logsumexp = flash_attention(query, key, value)
    d_query, d_key, d_value = (np.zeros_like(array) for array in (query, key, value))
    row_mean = rowsum(d_out * out)
    for rows in (slice(0, 2), slice(2, 3)):
        for columns in BLOCKS:
            scores = C * query[rows] @ key[columns].T
            p = np.exp(scores - logsumexp[rows, np.newaxis])
            d_p = d_out[rows] @ value[columns].T
            d_scores = p * (d_p - row_mean[rows])
            d_value[columns] += p.T @ d_out[rows]
            d_query[rows] += C * d_scores @ key[columns]
            d_key[columns] += C * d_scores.T @ query[rows]
    library = flash_attention_backward(d_out, query, key, value, out, logsumexp, block_q=2, block_k=3)
    for formula, found in zip((d_query, d_key, d_value), library, strict=True):
        agree(formula, found)


def test_backward_traffic():
    r"""\begin{aligned} &\text{Flash, keys outside, } B_k = \tfrac{M-3d-2}{4d+2}:\\ &\quad
    (4d+2)\,n\,\bigl\lceil\tfrac n{B_k}\bigr\rceil + 6nd + n\\ &\quad \approx\; 16\,n^2d^2/M\\[4pt]
    &\text{plain:}\quad \approx\; 7n^2 + 4\,n^2d^2/M \end{aligned}"""
    n, d, fast = 10**5, 50, 2 * 10**4
    block_k = (fast - 3 * d - 2) // (4 * d + 2)
    exact = (4 * d + 2) * n * math.ceil(n / block_k) + 6 * n * d + n
    agree(exact, count_traffic(n, n, d, method="flash", backward=True, block_q=1, block_k=block_k).total)
    agree(16 * n**2 * d**2 / fast, exact, rtol=0.05)
    n, d, fast = 10**6, 500, 10**6  # few numbers a row, so that the passes are seen beside the seven matrices
    rows = (fast - d) // (d + 1)  # one row of the other array and its numbers in one row of scores beside them
    plain = count_traffic(n, n, d, backward=True, block_q=rows, block_k=rows).total
    agree(4 * n**2 * d**2 / fast, plain - 7 * n**2, rtol=0.05)


def test_merge(rng):
    r"""\begin{aligned} \mu &= \max(\ell_a,\ell_b)\\ \ell &= \mu + \log\bigl(e^{\ell_a-\mu} + e^{\ell_b-\mu}\bigr)\\ w_a
    &= e^{\ell_a-\ell}, \quad w_b = e^{\ell_b-\ell}\\ O &= w_a\,O_a + w_b\,O_b \end{aligned}"""
    query, key, value, _ = heads_of(rng)
    (out_a, lse_a), (out_b, lse_b) = parts_of(query, key, value)
    mu = np.maximum(lse_a, lse_b)
    lse = mu + np.log(np.exp(lse_a - mu) + np.exp(lse_b - mu))
    w_a, w_b = np.exp(lse_a - lse), np.exp(lse_b - lse)
    out, logsumexp = merge_partials(out_a, lse_a[:, 0], out_b, lse_b[:, 0])
    agree(w_a * out_a + w_b * out_b, out)
    agree(lse[:, 0], logsumexp)
    agree(out, softmax(C * query @ key.T) @ value)


def test_local_backward(rng):
    r"""\begin{gathered} dO_a = w_a\,dO\\ d\ell_a = w_a\,dO\cdot(O_a-O)\\[4pt] D_a - d\ell_a = w_a\,dO\cdot O = w_a
    D\\[4pt] P_a\odot(w_a\,dP - w_aD)\\ = P\odot(dP-D) \end{gathered}"""
    query, key, value, d_out = heads_of(rng)
    (out_a, lse_a), (out_b, lse_b) = parts_of(query, key, value)
    merged = lambda out, lse: merge_partials(out, lse, out_b, lse_b[:, 0])[0]
    out = merged(out_a, lse_a[:, 0])
    lse = np.logaddexp(lse_a, lse_b)
    w_a = np.exp(lse_a - lse)
    d_out_a, d_lse_a = w_a * d_out, rowsum(w_a * d_out * (out_a - out))
    # both gradients by finite differences of the merge
    step, rows = 1e-6, range(Q)
    for i in rows:
        raised = lse_a[:, 0] + step * (np.arange(Q) == i)
        lowered = lse_a[:, 0] - step * (np.arange(Q) == i)
        slope = np.sum(d_out * (merged(out_a, raised) - merged(out_a, lowered))) / (2 * step)
        agree(slope, d_lse_a[i, 0], rtol=1e-6)
        for f in range(V):
            move = np.zeros((Q, V))
            move[i, f] = step
            slope = np.sum(d_out * (merged(out_a + move, lse_a[:, 0]) - merged(out_a - move, lse_a[:, 0]))) / (2 * step)
            agree(slope, d_out_a[i, f], rtol=1e-6)
    row_mean = rowsum(d_out * out)
    agree(rowsum(d_out_a * out_a) - d_lse_a, w_a * row_mean)
    columns = slice(0, 2)
    scores = C * query @ key[columns].T
    own, whole = np.exp(scores - lse_a), softmax(C * query @ key.T)[:, columns]
    d_weights = d_out @ value[columns].T
    agree(own * (w_a * d_weights - w_a * row_mean), whole * (d_weights - row_mean))


def parts_of(query, key, value):
    """Output and logsumexp, a column, over the first two keys and over the rest."""
    parts = []
    for columns in (slice(0, 2), slice(2, K)):
        scores = C * query @ key[columns].T
        parts.append((softmax(scores) @ value[columns], np.logaddexp.reduce(scores, axis=1, keepdims=True)))
    return parts
