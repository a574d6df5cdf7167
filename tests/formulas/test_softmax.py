"""The formulas of chapter 1, evaluated as they stand."""

import numpy as np
from formula_cases import K, Q, agree, agree_with_slope, rowsum

from attnlib.softmax import log_softmax, logsumexp, softmax, softmax_backward, softmax_jacobian


def test_softmax(rng):
    r"""p_i = \operatorname{softmax}(x)_i = \frac{e^{x_i}}{\sum_j e^{x_j}}"""
    x = rng.normal(size=(Q, K))
    agree(np.exp(x) / np.exp(x).sum(axis=-1, keepdims=True), softmax(x))


def test_temperature(rng):
    r"""p_i(T) = \frac{e^{x_i/T}}{\sum_j e^{x_j/T}}"""
    x, temperature = rng.normal(size=(Q, K)), 0.3
    agree(np.exp(x / temperature) / rowsum(np.exp(x / temperature)), softmax(x / temperature))


def test_shifted_softmax(rng):
    r"""p_i = \frac{e^{x_i - \mu}}{\sum_j e^{x_j - \mu}}, \qquad \mu = \max_j x_j"""
    x = rng.normal(size=(Q, K))
    mu = x.max(axis=-1, keepdims=True)
    agree(np.exp(x - mu) / rowsum(np.exp(x - mu)), np.exp(x) / rowsum(np.exp(x)))
    x = x + 1000  # where e^x is no number any more
    mu = x.max(axis=-1, keepdims=True)
    agree(np.exp(x - mu) / rowsum(np.exp(x - mu)), softmax(x))


def test_logsumexp(rng):
    r"""\begin{gathered} \ell = \log\sum_j e^{x_j} = \mu + \log\sum_j e^{x_j - \mu}\\ p_i = e^{x_i - \ell}, \qquad
    \log p_i = x_i - \ell \end{gathered}"""
    x = rng.normal(size=K)
    mu = x.max()
    agree(np.log(np.exp(x).sum()), logsumexp(x))
    agree(mu + np.log(np.exp(x - mu).sum()), logsumexp(x))
    agree(np.exp(x - logsumexp(x)), softmax(x))
    agree(x - logsumexp(x), log_softmax(x))


def test_gradient_of_logsumexp(rng):
    r"""\frac{\partial \ell}{\partial x_j} = \frac{e^{x_j}}{\sum_i e^{x_i}} = p_j"""
    x = rng.normal(size=K)
    agree(np.exp(x) / np.exp(x).sum(), softmax(x))
    agree_with_slope(np.exp(x) / np.exp(x).sum(), logsumexp, x)


def test_jacobian(rng):
    r"""\begin{gathered} J_{ij} = \frac{\partial p_i}{\partial x_j} = p_i(\delta_{ij} - p_j)\\ J =
    \operatorname{diag}(p) - p\,p^{\top} \end{gathered}"""
    x = rng.normal(size=K)
    p, delta = softmax(x), np.eye(K)
    entries = np.array([[p[i] * (delta[i, j] - p[j]) for j in range(K)] for i in range(K)])
    agree(entries, softmax_jacobian(p))
    agree(np.diag(p) - np.outer(p, p), softmax_jacobian(p))
    for i in range(K):
        agree_with_slope(entries[i], lambda x, i=i: softmax(x)[i], x)


def test_backward(rng):
    r"""\begin{gathered} \frac{\partial L}{\partial x_j} = p_j\Bigl(g_j - \sum_i p_i\,g_i\Bigr)\\ dx = p \odot
    \bigl(g - (p\cdot g)\,\mathbf 1\bigr) \end{gathered}"""
    x, g = rng.normal(size=K), rng.normal(size=K)
    p = softmax(x)
    entries = [p[j] * (g[j] - sum(p[i] * g[i] for i in range(K))) for j in range(K)]
    agree(entries, softmax_backward(g, p))
    agree(p * (g - np.dot(p, g) * np.ones(K)), softmax_backward(g, p))
    agree_with_slope(entries, lambda x: np.vdot(g, softmax(x)), x)


def test_cross_entropy(rng):
    r"""\frac{\partial L}{\partial x} = \frac{\partial \ell}{\partial x} - y = p - y"""
    x, y = rng.normal(size=K), np.eye(K)[2]
    p = softmax(x)
    agree_with_slope(p - y, lambda x: -np.vdot(y, log_softmax(x)), x)
