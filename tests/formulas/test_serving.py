"""The formulas of chapter 11, evaluated as they stand."""

import numpy as np
from formula_cases import D, N, V, agree, softmax


def test_page_table(rng):
    r"""\begin{aligned} K_j = \texttt{pages}[&\texttt{table}[\lfloor j/B\rfloor],\\ &j\bmod B] \end{aligned}"""
    B, table = 3, [1, 5, 0, 6]
    pages, text = np.zeros((7, B, D)), rng.normal(size=(11, D))
    for block, page in enumerate(table):  # the text is cut into blocks, and each is stored in its page
        rows = text[block * B : (block + 1) * B]
        pages[page, : len(rows)] = rows
    for j in range(len(text)):
        agree(pages[table[j // B], j % B], text[j])


def test_checked_guesses(rng):
    r"""\begin{aligned} p_j = {}&\min(p_j,\tilde p_j)\\ &+ \Bigl(1-\sum_i\min(p_i,\tilde p_i)\Bigr)\\
    &\;\times\frac{\max(0,p_j-\tilde p_j)}{\sum_i\max(0,p_i-\tilde p_i)} \end{aligned}"""
    p, draft = softmax(rng.normal(size=N)), softmax(rng.normal(size=N))
    both, missing = np.minimum(p, draft), np.maximum(0, p - draft)
    agree(both + (1 - both.sum()) * missing / missing.sum(), p)
    kept = draft * np.minimum(1, p / draft)  # how often a guess comes and is kept: the first term
    agree(both, kept)


def test_linear_attention(rng):
    r"""\begin{aligned} \Phi_i &= \Phi_{i-1} + \varphi(K_i)^\top V_i\\ u_i &= u_{i-1} + \varphi(K_i)\\ O_i &=
    \frac{\varphi(Q_i)\,\Phi_i}{\varphi(Q_i)\,u_i^\top} \end{aligned}"""
    query, key, value = rng.normal(size=(N, D)), rng.normal(size=(N, D)), rng.normal(size=(N, V))

    def phi(x):
        return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))  # positive, as in the paper

    state, total, formula = np.zeros((D, V)), np.zeros(D), []
    for i in range(N):
        state = state + np.outer(phi(key[i]), value[i])
        total = total + phi(key[i])
        formula.append(phi(query[i]) @ state / (phi(query[i]) @ total))
    products = np.tril(phi(query) @ phi(key).T)  # the same sum, pair by pair
    agree(formula, products @ value / products.sum(axis=1, keepdims=True))
