"""The formulas of the prerequisites, evaluated as they stand."""

import numpy as np
from formula_cases import D, K, Q, V, agree, agree_with_slope, over_all_pairs, signs

from attnlib.gradients import complex_step_gradient, numerical_gradient


def test_matrix_product(rng):
    r"""Y_{ij} = \sum_f X_{if}\, W_{fj}"""
    x, w = rng.normal(size=(Q, K)), rng.normal(size=(K, V))
    agree([[sum(x[i, f] * w[f, j] for f in range(K)) for j in range(V)] for i in range(Q)], x @ w)


def test_transpose_of_a_product(rng):
    r"""(AB)^\top = B^\top A^\top"""
    a, b = rng.normal(size=(Q, K)), rng.normal(size=(K, V))
    agree(b.T @ a.T, (a @ b).T)


def test_sum_over_paths():
    r"""\frac{\partial L}{\partial x} = \sum_i \frac{\partial L}{\partial y_i}\,\frac{\partial y_i}{\partial x}"""
    x = 0.7
    d_loss = np.array([np.exp(x), np.sin(x), 2 * x**2])  # of the loss below, at y(x)
    d_y = np.array([np.cos(x), np.exp(x), 2 * x])

    def loss(x):
        y = np.sin(x), np.exp(x), x**2
        return y[0] * y[1] + y[2] ** 2

    agree(sum(d_loss[i] * d_y[i] for i in range(3)), complex_step_gradient(loss, x))


def test_kronecker_delta(rng):
    r"""\sum_j \delta_{ij}\, g_j = g_i"""
    g, delta = rng.normal(size=K), np.eye(K)
    agree([sum(delta[i, j] * g[j] for j in range(K)) for i in range(K)], g)


def test_derivative_of_a_product(rng):
    r"""\frac{\partial Y_{ij}}{\partial X_{ab}} = \delta_{ia}\, W_{bj}"""
    x, w = rng.normal(size=(Q, K)), rng.normal(size=(K, V))
    formula = np.einsum("ia,bj->ijab", np.eye(Q), w)
    for i, j in np.ndindex(Q, V):
        agree_with_slope(formula[i, j], lambda x, i=i, j=j: (x @ w)[i, j], x)


def test_gradients_of_a_product(rng):
    r"""dX = dY\,W^\top, \qquad dW = X^\top dY"""
    x, w, d_y = rng.normal(size=(Q, K)), rng.normal(size=(K, V)), rng.normal(size=(Q, V))
    agree_with_slope(d_y @ w.T, lambda x: np.vdot(d_y, x @ w), x)
    agree_with_slope(x.T @ d_y, lambda w: np.vdot(d_y, x @ w), w)


def test_vector_jacobian_product(rng):
    r"""dx_j = \sum_i dy_i\,\frac{\partial y_i}{\partial x_j} = \sum_i dy_i\,J_{ij}"""
    a, x, d_y = rng.normal(size=(Q, D)), rng.normal(size=D), rng.normal(size=Q)
    jacobian = np.array([numerical_gradient(lambda x, i=i: np.tanh(a @ x)[i], x, order=4) for i in range(Q)])
    formula = [sum(d_y[i] * jacobian[i, j] for i in range(Q)) for j in range(D)]
    agree_with_slope(formula, lambda x: np.vdot(d_y, np.tanh(a @ x)), x)


# Two independent numbers, each of mean 0: all their values, alike.
X, Y = over_all_pairs(np.array([-3.0, 1.0, 2.0]), np.array([-1.0, -0.5, 0.5, 1.0]))


def test_variance_of_a_sum():
    r"""\begin{aligned} \operatorname{Var}(x+y) &= \mathbb E[x^2] + 2\,\mathbb E[x]\,\mathbb E[y] + \mathbb
    E[y^2]\\ &= \operatorname{Var}(x)+\operatorname{Var}(y) \end{aligned}"""
    agree((X**2).mean() + 2 * X.mean() * Y.mean() + (Y**2).mean(), X.var() + Y.var())
    agree((X + Y).var(), X.var() + Y.var())


def test_variance_of_a_product():
    r"""\begin{aligned} \operatorname{Var}(xy) = \mathbb E[x^2y^2] &= \mathbb E[x^2]\,\mathbb E[y^2]\\ &=
    \operatorname{Var}(x)\operatorname{Var}(y) \end{aligned}"""
    agree((X**2).mean() * (Y**2).mean(), (X * Y).var())
    agree(X.var() * Y.var(), (X * Y).var())


def test_variance_of_a_dot_product():
    r"""\operatorname{Var}(\mathbf a\cdot\mathbf b) = d\,\operatorname{Var}(\mathbf a_f)\operatorname{Var}(\mathbf
    b_f)"""
    a, b = over_all_pairs(3 * signs(D), 0.5 * signs(D))
    agree(D * a[:, 0].var() * b[:, 0].var(), (a * b).sum(axis=1).var())
