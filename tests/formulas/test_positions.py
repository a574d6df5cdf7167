"""The formulas of chapter 9, evaluated as they stand."""

import numpy as np
from formula_cases import D, K, M, N, agree, agree_with_slope

from attnlib.attention import attention
from attnlib.multihead import init_multihead, multihead_attention
from attnlib.positions import alibi_bias, interpolated_positions, rotary, rotary_backward, sinusoidal

THETA = 10000.0 ** (-2 * np.arange(D // 2) / D)


def turn(p):
    """The matrix of the rotary turn at position p, for columns."""
    return rotary(np.eye(D), np.full(D, p)).T


def test_stack(rng):
    r"""F(\Pi X) = \Pi\,F(X)"""
    layers = [init_multihead(rng, m=M, heads=2) for _ in range(2)]
    order = np.eye(N)[rng.permutation(N)]

    def model(x):
        for params in layers:
            x = x + multihead_attention(x, params)[0]
            x = x + np.tanh(x)  # what works token by token
        return x

    x = rng.normal(size=(N, M))
    agree(order @ model(x), model(order @ x))


def test_waves():
    r"""\begin{aligned} E_{p,\,2i} &= \sin p\,\theta_i\\ E_{p,\,2i+1} &= \cos p\,\theta_i \end{aligned}"""
    formula = np.zeros((N, M))
    for p in range(N):
        for i in range(M // 2):
            theta = 10000.0 ** (-2 * i / M)
            formula[p, 2 * i], formula[p, 2 * i + 1] = np.sin(p * theta), np.cos(p * theta)
    agree(formula, sinusoidal(N, M))


def test_shift():
    r"""\begin{pmatrix}\sin(\alpha+\beta)\\ \cos(\alpha+\beta)\end{pmatrix} = \begin{pmatrix}\cos\beta &
    \sin\beta\\ -\sin\beta & \cos\beta\end{pmatrix} \begin{pmatrix}\sin\alpha\\ \cos\alpha\end{pmatrix}"""
    alpha, beta = 0.7, 1.9
    matrix = np.array([[np.cos(beta), np.sin(beta)], [-np.sin(beta), np.cos(beta)]])
    agree(matrix @ [np.sin(alpha), np.cos(alpha)], [np.sin(alpha + beta), np.cos(alpha + beta)])
    rows, t, theta = sinusoidal(N, 2), 3, 1.0
    matrix = [[np.cos(t * theta), np.sin(t * theta)], [-np.sin(t * theta), np.cos(t * theta)]]
    agree(rows[:-t] @ np.transpose(matrix), rows[t:])


def test_powers():
    r"""A_p = A_1^{\,p},\qquad A_1^\top A_1=\mathbf I"""
    for p in range(N):
        agree(np.linalg.matrix_power(turn(1), p), turn(p))
    agree(turn(1).T @ turn(1), np.eye(D))


def test_rotary(rng):
    r"""\begin{gathered} \begin{pmatrix}y_{2i}\\ y_{2i+1}\end{pmatrix} = \begin{pmatrix}\cos
    p\theta_i & -\sin p\theta_i\\ \sin p\theta_i & \cos p\theta_i\end{pmatrix}\! \begin{pmatrix}
    x_{2i}\\ x_{2i+1}\end{pmatrix}\\[4pt] (A_p\mathbf q)\cdot(A_r\mathbf k) = \mathbf
    q\cdot(A_{r-p}\,\mathbf k) \end{gathered}"""
    x, positions = rng.normal(size=(N, D)), np.arange(N)
    formula = np.zeros_like(x)
    for p in range(N):
        for i in range(D // 2):
            angle = p * THETA[i]
            matrix = [[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]
            formula[p, 2 * i : 2 * i + 2] = matrix @ x[p, 2 * i : 2 * i + 2]
    agree(formula, rotary(x, positions))
    query, key = rng.normal(size=D), rng.normal(size=D)
    for p, r in ((0, 4), (7, 3), (2, 2)):
        agree((turn(p) @ query) @ (turn(r) @ key), query @ (turn(r - p) @ key))


def test_period():
    r"""\frac{2\pi}{\theta_i} = 2\pi\cdot 10000^{2i/d}\ \text{tokens}"""
    for i in range(D // 2):
        pair = np.zeros(D)
        pair[2 * i] = 1  # only the hand i
        turn_takes = 2 * np.pi * 10000 ** (2 * i / D)
        agree(2 * np.pi / THETA[i], turn_takes)
        agree(rotary(pair[np.newaxis], [turn_takes])[0], pair)
        agree(rotary(pair[np.newaxis], [turn_takes / 2])[0], -pair)


def test_rotary_backward(rng):
    r"""d\mathbf x = A_p^\top\,d\mathbf y = A_{-p}\,d\mathbf y"""
    x, d_y = rng.normal(size=(N, D)), rng.normal(size=(N, D))
    formula = np.array([turn(p).T @ d_y[p] for p in range(N)])
    agree(formula, [turn(-p) @ d_y[p] for p in range(N)])
    agree(formula, rotary_backward(d_y, np.arange(N)))
    agree_with_slope(formula, lambda x: np.vdot(d_y, rotary(x, np.arange(N))), x)


def test_alibi(rng):
    r"""\begin{gathered} S_{qk} = c\,Q_qK_k^\top - \text{slope}\,(q-k)\\ \text{slope} =
    2^{-8\,\text{head}/h}\end{gathered}"""
    heads = 8  # for another number the library follows the rule of the paper's authors
    query, key = rng.normal(size=(heads, K, D)), rng.normal(size=(heads, K, D))
    value, scores = rng.normal(size=(heads, K, M)), np.zeros((heads, K, K))
    for head in range(heads):
        slope = 2.0 ** (-8 * (head + 1) / heads)  # the first head is number 1
        for q, k in np.ndindex(K, K):
            scores[head, q, k] = query[head, q] @ key[head, k] / np.sqrt(D) - slope * (q - k) if k <= q else -np.inf
    weights = np.exp(scores) / np.exp(scores).sum(axis=-1, keepdims=True)
    agree(weights, attention(query, key, value, mask=alibi_bias(heads, K, K), causal=True)[1])


def test_interpolation():
    r"""\text{position of token } p \;=\; p\,\frac{n_0}{n}"""
    n, trained = 24, 10
    agree([p * trained / n for p in range(n)], interpolated_positions(n, trained))
