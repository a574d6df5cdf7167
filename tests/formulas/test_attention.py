"""The formulas of chapter 2, evaluated as they stand."""

import numpy as np
from formula_cases import D, K, N, Q, M, agree, heads_of, over_all_pairs, rowsum, signs, softmax

from attnlib.attention import attention


def test_distance(rng):
    r"""-\frac{|\mathbf q-\mathbf k|^2}{2T} = \frac{\mathbf q\cdot \mathbf k}{T} - \frac{|\mathbf q|^2}{2T} -
    \frac{|\mathbf k|^2}{2T}"""
    q, k, temperature = rng.normal(size=D), rng.normal(size=D), 0.3
    length = np.linalg.norm
    formula = q @ k / temperature - length(q) ** 2 / (2 * temperature) - length(k) ** 2 / (2 * temperature)
    agree(formula, -(length(q - k) ** 2) / (2 * temperature))


def test_attention(rng):
    r"""O \;=\; \operatorname{softmax}\Bigl(\frac{QK^{\top}}{\sqrt d}\Bigr)\,V"""
    query, key, value, _ = heads_of(rng)
    scores = query @ key.T / np.sqrt(D)
    agree(np.exp(scores) / rowsum(np.exp(scores)) @ value, attention(query, key, value)[0])


def test_projections(rng):
    r"""\begin{gathered} Q = XW^Q, \quad K = XW^K, \\ V = XW^V, \\[2pt] \underset{(n,n)}{QK^\top} =
    X\,\underset{(m,m)}{W^Q {W^K}^{\top}}\,X^\top \end{gathered}"""
    x, query_weight, key_weight = rng.normal(size=(N, M)), rng.normal(size=(M, D)), rng.normal(size=(M, D))
    agree(x @ (query_weight @ key_weight.T) @ x.T, (x @ query_weight) @ (x @ key_weight).T)


def test_variance_of_a_score(rng):
    r"""\begin{gathered} \operatorname{Var}(\mathbf q\cdot \mathbf k) = \sum_f \operatorname{Var}(\mathbf q_f\mathbf k_f) =
    d\\[4pt] \operatorname{Var}\Bigl(\frac{\mathbf q\cdot \mathbf k}{\sqrt d}\Bigr) = 1 \end{gathered}"""
    query, key = over_all_pairs(signs(D), signs(D))  # independent features of mean 0 and variance 1
    agree((query * key).var(axis=0).sum(), (query * key).sum(axis=1).var())
    agree(D, (query * key).sum(axis=1).var())
    agree(1, ((query * key).sum(axis=1) / np.sqrt(D)).var())


def test_initial_scores():
    r"""\operatorname{std}(S_{ij}) = \sqrt{\frac{d\;(m\sigma^2)^2}{d}} = m\sigma^2"""
    m, d, sigma = 3, 2, 0.4  # small enough for all tokens and weights of +1 and -1
    cases = signs(2 * m + 2 * m * d)
    query_token, key_token, query_weight, key_weight = np.split(cases, np.cumsum([m, m, m * d]), axis=1)
    query = np.einsum("nm,nmd->nd", query_token, sigma * query_weight.reshape(-1, m, d))
    key = np.einsum("nm,nmd->nd", key_token, sigma * key_weight.reshape(-1, m, d))
    scores = (query * key).sum(axis=1) / np.sqrt(d)
    agree(np.sqrt(d * (m * sigma**2) ** 2 / d), scores.std())
    agree(m * sigma**2, scores.std())


def test_order(rng):
    r"""\begin{gathered} O(\Pi Q,\,K,\,V) = \Pi\,O(Q,K,V)\\ O(Q,\,\Pi K,\,\Pi V) = O(Q,K,V) \end{gathered}"""
    query, key, value, _ = heads_of(rng)
    queries, keys = np.eye(Q)[rng.permutation(Q)], np.eye(K)[[1, 2, 3, 4, 0]]
    out, _ = attention(query, key, value)
    agree(queries @ out, attention(queries @ query, key, value)[0])
    agree(out, attention(query, keys @ key, keys @ value)[0])
    agree(softmax(query @ key.T / np.sqrt(D)) @ value, out)
