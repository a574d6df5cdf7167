"""The formulas of chapter 4, evaluated as they stand."""

import numpy as np
from formula_cases import D, K, Q, agree, heads_of, softmax

from attnlib.attention import attention
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
    r"""\begin{gathered} \text{query } i \text{ sees key } j \Leftrightarrow j \le i + \text{offset}\\[2pt] \text{offset} =
    \begin{cases} 0 & \text{top-left}\\ k - q & \text{bottom-right} \end{cases} \end{gathered}"""
    for offset in (0, K - Q):
        agree([[j <= i + offset for j in range(K)] for i in range(Q)], causal_mask(Q, K, offset=offset))
    assert causal_mask(Q, K)[0].tolist() == [True] + [False] * (K - 1)  # top-left, unless said otherwise
