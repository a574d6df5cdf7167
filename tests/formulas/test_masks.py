"""The formulas of chapter 4, evaluated as they stand."""

import numpy as np
from formula_cases import D, K, Q, agree, agree_with_slope, heads_of, rowsum, softmax

from attnlib.attention import attention, attention_backward, attention_mask_backward
from attnlib.masks import causal_mask

C = 1 / np.sqrt(D)
VISIBLE = np.array([[1, 0, 1, 1, 0], [0, 1, 0, 0, 0], [1, 1, 1, 0, 1]], bool)


def test_additive_mask(rng):
    r"""\begin{gathered} S = c\,QK^\top + M\\[2pt] M_{ij} = \begin{cases} 0 & i \text{ may look at } j\\ -\infty &
    i \text{ may not} \end{cases} \end{gathered}"""
    query, key, value, _ = heads_of(rng)
    mask = np.array([[0 if VISIBLE[i, j] else -np.inf for j in range(K)] for i in range(Q)])
    agree(softmax(C * query @ key.T + mask), attention(query, key, value, mask=VISIBLE)[1])


def test_masked_softmax(rng):
    r"""P_{ij} = \begin{cases} e^{cR_{ij}} \Big/ \sum\limits_{t \text{ visible}} e^{cR_{it}} & j \text{
    visible}\\[4pt] 0 & j \text{ hidden} \end{cases}"""
    query, key, value, _ = heads_of(rng)
    raw = query @ key.T
    formula = np.zeros((Q, K))
    for i, j in zip(*VISIBLE.nonzero(), strict=True):
        formula[i, j] = np.exp(C * raw[i, j]) / sum(np.exp(C * raw[i, t]) for t in range(K) if VISIBLE[i, t])
    agree(formula, attention(query, key, value, mask=VISIBLE)[1])


def test_offset():
    r"""\begin{gathered} \text{query } i \text{ sees key } j \iff j \le i + \text{offset}\\[2pt] \text{offset} =
    \begin{cases} 0 & \text{top-left}\\ k - q & \text{bottom-right} \end{cases} \end{gathered}"""
    for offset in (0, K - Q):
        agree([[j <= i + offset for j in range(K)] for i in range(Q)], causal_mask(Q, K, offset=offset))
    assert causal_mask(Q, K)[0].tolist() == [True] + [False] * (K - 1)  # top-left, unless said otherwise


def test_gradient_of_a_mask(rng):
    r"""\begin{gathered} dM_{ij} = dS_{ij} = P_{ij}\,(dP_{ij} - D_i)\\ dS_{ij} = 0 \ \text{ where } j \text{ is
    hidden} \end{gathered}"""
    query, key, value, d_out = heads_of(rng)
    mask = np.where(VISIBLE, rng.normal(size=(Q, K)), -np.inf)
    _, p = attention(query, key, value, mask=mask)
    d_p = d_out @ value.T
    d_mask = p * (d_p - rowsum(p * d_p))
    agree(d_mask, attention_mask_backward(d_out, value, p, mask))
    assert not d_mask[~VISIBLE].any()
    shown = np.where(VISIBLE, mask, 0)

    def loss(bias):
        return np.vdot(d_out, attention(query, key, value, mask=np.where(VISIBLE, bias, -np.inf))[0])

    agree_with_slope(d_mask, loss, shown)
    d_query, _, _ = attention_backward(d_out, query, key, value, p)
    agree(C * d_mask @ key, d_query)
