"""The formulas of chapter 3, evaluated as they stand."""

import numpy as np
from formula_cases import D, K, M, N, Q, V, agree, agree_with_slope, heads_of, rowsum, softmax

from attnlib.attention import attention, attention_backward
from attnlib.multihead import init_multihead, multihead_attention, multihead_attention_backward

C = 1 / np.sqrt(D)


def weights_of(query, key):
    return softmax(C * query @ key.T)


def test_to_the_values(rng):
    r"""\begin{aligned} (dV)_{jf} &= \sum_i P_{ij}\,(dO)_{if}\\ \underset{(k,v)}{dV} &=
    \underset{(k,q)}{P^\top}\;\underset{(q,v)}{dO} \end{aligned}"""
    query, key, value, d_out = heads_of(rng)
    p = weights_of(query, key)
    entries = [[sum(p[q, k] * d_out[q, v] for q in range(Q)) for v in range(V)] for k in range(K)]
    agree(p.T @ d_out, entries)
    agree_with_slope(entries, lambda value: np.vdot(d_out, p @ value), value)


def test_to_the_weights(rng):
    r"""\begin{aligned} (dP)_{ij} &= \sum_f (dO)_{if}\,V_{jf}\\ \underset{(q,k)}{dP} &=
    \underset{(q,v)}{dO}\;\underset{(v,k)}{V^\top} \end{aligned}"""
    query, key, value, d_out = heads_of(rng)
    entries = [[sum(d_out[q, v] * value[k, v] for v in range(V)) for k in range(K)] for q in range(Q)]
    agree(d_out @ value.T, entries)
    agree_with_slope(entries, lambda p: np.vdot(d_out, p @ value), weights_of(query, key))


def test_to_the_scores(rng):
    r"""\begin{aligned} (dS)_{ij} &= P_{ij}\bigl((dP)_{ij} - D_i\bigr)\\ D_i &= \sum_r P_{ir}\,(dP)_{ir} \end{aligned}"""
    query, key, value, d_out = heads_of(rng)
    scores, delta = C * query @ key.T, np.eye(K)
    p, d_p = softmax(scores), d_out @ value.T
    in_full = np.einsum("qj,qj,qjk->qk", d_p, p, delta - p[:, np.newaxis, :])
    row_mean = np.array([sum(p[q, j] * d_p[q, j] for j in range(K)) for q in range(Q)])
    agree(p * (d_p - row_mean[:, np.newaxis]), in_full)
    agree_with_slope(in_full, lambda scores: np.vdot(d_out, softmax(scores) @ value), scores)


def test_row_mean(rng):
    r"""\begin{aligned} D_i &= \sum_f (dO)_{if}\sum_r P_{ir}V_{rf}\\ &= \sum_f (dO)_{if}\,O_{if} \end{aligned}"""
    query, key, value, d_out = heads_of(rng)
    p = weights_of(query, key)
    out, d_p = p @ value, d_out @ value.T
    nested = [sum(d_out[q, v] * sum(p[q, j] * value[j, v] for j in range(K)) for v in range(V)) for q in range(Q)]
    agree(nested, (p * d_p).sum(axis=1))
    agree([sum(d_out[q, v] * out[q, v] for v in range(V)) for q in range(Q)], (p * d_p).sum(axis=1))


def test_to_query_and_key(rng):
    r"""\begin{aligned} (dQ)_{if} &= c\sum_j (dS)_{ij}\,K_{jf}\\ (dK)_{jf} &= c\sum_i (dS)_{ij}\,Q_{if}
    \end{aligned}"""
    query, key, _, _ = heads_of(rng)
    d_scores = rng.normal(size=(Q, K))
    d_query = [[C * sum(d_scores[q, k] * key[k, d] for k in range(K)) for d in range(D)] for q in range(Q)]
    d_key = [[C * sum(d_scores[q, k] * query[q, d] for q in range(Q)) for d in range(D)] for k in range(K)]
    agree_with_slope(d_query, lambda query: np.vdot(d_scores, C * query @ key.T), query)
    agree_with_slope(d_key, lambda key: np.vdot(d_scores, C * query @ key.T), key)


def test_attention_backward(rng):
    r"""\begin{aligned} dV &= P^\top dO\\ dP &= dO\,V^\top\\ D &= \operatorname{rowsum}(P\odot dP)\\ dS &=
    P\odot(dP - D)\\ dQ &= c\,dS\,K\\ dK &= c\,dS^\top Q \end{aligned}"""
    query, key, value, d_out = heads_of(rng)
    _, p = attention(query, key, value)
    d_value = p.T @ d_out
    d_p = d_out @ value.T
    row_mean = rowsum(p * d_p)
    d_scores = p * (d_p - row_mean)
    d_query = C * d_scores @ key
    d_key = C * d_scores.T @ query
    for formula, library in zip((d_query, d_key, d_value), attention_backward(d_out, query, key, value, p), strict=True):
        agree(formula, library)
    agree_with_slope(d_key, lambda key: np.vdot(d_out, attention(query, key, value)[0]), key)


def test_central_difference():
    r"""\begin{aligned} &\frac{f(x+h)-f(x-h)}{2h}\\[4pt] &\quad= f'(x) + \underbrace{\tfrac{1}{6}h^2f'''(x) +
    \dots}_{\text{truncation}}\\ &\qquad +
    \underbrace{O\!\Bigl(\frac{\varepsilon|f|}{h}\Bigr)}_{\text{rounding}} \end{aligned}"""
    x = 1.0
    for h in (1e-2, 1e-3):  # the next term of the truncation is h²/20 of this one
        truncation = (np.exp(x + h) - np.exp(x - h)) / (2 * h) - np.exp(x)
        agree(h**2 / 6 * np.exp(x), truncation, rtol=1e-4, atol=1e-11)
    h, epsilon = 2.0**-27, np.finfo(float).eps  # x ± h is exact: what is left is the rounding of f
    rounding = (np.exp(x + h) - np.exp(x - h)) / (2 * h) - np.exp(x)
    assert abs(rounding) < 2 * epsilon * np.exp(x) / h


def test_best_step():
    r"""h \approx \varepsilon^{1/3}, \qquad \text{error} \approx \varepsilon^{2/3}"""
    for epsilon in (np.finfo(np.float32).eps, np.finfo(float).eps):
        steps = np.geomspace(epsilon, 1, 5000)
        errors = steps**2 / 6 + epsilon / steps  # of (3.9), where f and its derivatives are near 1
        agree(np.log10(epsilon ** (1 / 3)), np.log10(steps[errors.argmin()]), rtol=0, atol=0.3)  # a factor of 2
        agree(np.log10(epsilon ** (2 / 3)), np.log10(errors.min()), rtol=0, atol=0.3)


def layer(rng):
    """A layer with one head, by name: its inputs, its arrays on the way, its gradients by (3.7) and the library's."""
    params = init_multihead(rng, m=M, heads=1, d=D, v=V)
    x, d_y = rng.normal(size=(N, M)), rng.normal(size=(N, M))
    query, key, value = x @ params.query_weight, x @ params.key_weight, x @ params.value_weight
    p = weights_of(query, key)
    out = p @ value
    d_out, d_out_weight = d_y @ params.out_weight.T, out.T @ d_y
    d_p, d_value = d_out @ value.T, p.T @ d_out
    d_scores = p * (d_p - rowsum(p * d_p))
    d_raw = C * d_scores
    d_query, d_key = d_raw @ key, d_raw.T @ query
    _, saved = multihead_attention(x, params)
    d_x, _, library = multihead_attention_backward(d_y, params, saved)
    return x, params, d_query, d_key, d_value, d_out_weight, d_x, library


def test_layer_backward(rng):
    r"""\begin{aligned} dO &= dY\,{W^O}^\top,\quad dW^O = O^\top dY\\ dP &= dO\,V^\top,\quad dV = P^\top dO\\ dS
    &= P\odot(dP - D)\\ dR &= c\,dS\\ dQ &= dR\,K,\quad dK = dR^\top Q\\ dW^Q &= X^\top dQ \end{aligned}"""
    x, _, d_query, d_key, d_value, d_out_weight, _, library = layer(rng)
    agree(d_out_weight, library.out_weight)
    agree(x.T @ d_query, library.query_weight)
    agree(x.T @ d_key, library.key_weight)
    agree(x.T @ d_value, library.value_weight)


def test_layer_input(rng):
    r"""\begin{aligned} dX = dQ\,{W^Q}^\top &+ dK\,{W^K}^\top\\ &+ dV\,{W^V}^\top \end{aligned}"""
    _, params, d_query, d_key, d_value, _, d_x, _ = layer(rng)
    agree(d_query @ params.query_weight.T + d_key @ params.key_weight.T + d_value @ params.value_weight.T, d_x)
