"""The formulas of the room `attnlib.training`, evaluated as they stand."""

import numpy as np
from formula_cases import K, M, N, agree, agree_with_slope, softmax

from attnlib.training import adam_start, adam_step, cross_entropy, cross_entropy_backward, rms_norm, rms_norm_backward


def test_cross_entropy(rng):
    r"""L = \frac1n \sum_i \Bigl(\ell_i - \sum_k y_{ik}\,x_{ik}\Bigr)"""
    x, targets = rng.normal(size=(N, K)), rng.integers(K, size=N)
    y, logsumexp = np.eye(K)[targets], np.log(np.exp(x).sum(axis=1))
    formula = sum(logsumexp[i] - sum(y[i, k] * x[i, k] for k in range(K)) for i in range(N)) / N
    agree(formula, cross_entropy(x, targets)[0])


def test_cross_entropy_backward(rng):
    r"""dx_{ik} = \tfrac1n\,(p_{ik} - y_{ik})"""
    x, targets = rng.normal(size=(N, K)), rng.integers(K, size=N)
    y, p = np.eye(K)[targets], softmax(x)
    agree((p - y) / N, cross_entropy_backward(1.0, targets, p))
    agree_with_slope((p - y) / N, lambda x: cross_entropy(x, targets)[0], x)


def test_rms_norm(rng):
    r"""\begin{gathered} \mathbf y = \text{gain}\odot\hat{\mathbf x}, \qquad \hat{\mathbf x} = \mathbf x /
    \text{root}\\ \text{root} = \sqrt{\tfrac1m\textstyle\sum_i \mathbf x_i^2 + 10^{-5}} \end{gathered}"""
    x, gain = rng.normal(size=(N, M)), rng.normal(size=M)
    formula = [gain * x[n] / np.sqrt((x[n] ** 2).sum() / M + 1e-5) for n in range(N)]
    agree(formula, rms_norm(x, gain))


def test_rms_norm_backward(rng):
    r"""\begin{gathered} d\hat{\mathbf x} = \text{gain}\odot d\mathbf y\\ d\mathbf x =
    \frac{1}{\text{root}}\Bigl(d\hat{\mathbf x} - \hat{\mathbf x}\;\tfrac1m\textstyle\sum_i \hat{\mathbf
    x}_i\,d\hat{\mathbf x}_i\Bigr)\\ d\,\text{gain} = \textstyle\sum \hat{\mathbf x}\odot d\mathbf y
    \end{gathered}"""
    x, gain, d_out = rng.normal(size=(N, M)), rng.normal(size=M), rng.normal(size=(N, M))
    root = np.sqrt((x**2).sum(axis=1, keepdims=True) / M + 1e-5)
    unit, d_unit = x / root, gain * d_out
    formula = (d_unit - unit * (unit * d_unit).sum(axis=1, keepdims=True) / M) / root
    agree(formula, rms_norm_backward(d_out, x, gain)[0])
    agree((unit * d_out).sum(axis=0), rms_norm_backward(d_out, x, gain)[1])
    agree_with_slope(formula, lambda x: np.vdot(d_out, rms_norm(x, gain)), x)


def test_adam(rng):
    r"""\begin{gathered} \overline{dW} \leftarrow \beta_1\,\overline{dW} + (1-\beta_1)\,dW\\ \overline{dW^2}
    \leftarrow \beta_2\,\overline{dW^2} + (1-\beta_2)\,dW^2\\ W \leftarrow W -
    \text{rate}\;\frac{\overline{dW}\,/\,(1-\beta_1^t)}{\sqrt{\overline{dW^2}\,/\,(1-\beta_2^t)} +
    \varepsilon} \end{gathered}"""
    params = {"slope": rng.normal(size=M)}
    state, rate, beta1, beta2, epsilon = adam_start(params), 0.1, 0.8, 0.95, 1e-6
    weight, mean, square = params["slope"], np.zeros(M), np.zeros(M)
    for t in range(1, 5):
        gradient = rng.normal(size=M)
        mean = beta1 * mean + (1 - beta1) * gradient
        square = beta2 * square + (1 - beta2) * gradient**2
        weight = weight - rate * (mean / (1 - beta1**t)) / (np.sqrt(square / (1 - beta2**t)) + epsilon)
        params, state = adam_step(
            params, {"slope": gradient}, state, rate=rate, beta1=beta1, beta2=beta2, epsilon=epsilon
        )
        agree(weight, params["slope"])
