"""The formulas of chapter 12, evaluated as they stand."""

import numpy as np
from formula_cases import D, K, M, N, agree, agree_with_slope, softmax

from attnlib.attention import attention
from attnlib.positions import rotary
from attnlib.training import (
    adam_start,
    adam_step,
    cross_entropy,
    cross_entropy_backward,
    init_transformer,
    rms_norm,
    rms_norm_backward,
    transformer,
)


def test_cross_entropy(rng):
    r"""L = \frac1N\sum_{\text{kept}} \Bigl(\log\sum_i e^{z_i} - z_{\text{right}}\Bigr)"""
    z, right, kept = rng.normal(size=(N, K)), rng.integers(K, size=N), np.arange(N) % 3 != 0
    surprise = [np.log(np.exp(z[n]).sum()) - z[n, right[n]] for n in range(N) if kept[n]]
    agree(sum(surprise) / kept.sum(), cross_entropy(z, right, keep=kept)[0])


def test_cross_entropy_backward(rng):
    r"""\frac{\partial L}{\partial z_i} = \frac1N\,\bigl(p_i - [\,i = \text{right}\,]\bigr)"""
    z, right, kept = rng.normal(size=(N, K)), rng.integers(K, size=N), np.arange(N) % 3 != 0
    p = softmax(z)
    formula = (p - np.eye(K)[right]) * kept[:, np.newaxis] / kept.sum()
    agree(formula, cross_entropy_backward(1.0, right, p, keep=kept))
    agree_with_slope(formula, lambda z: cross_entropy(z, right, keep=kept)[0], z)


def test_attention_only(rng):
    r"""\begin{aligned} x^0 &= W^E_{\text{tokens}} + W^P\\ x^{i} &= x^{i-1} + \operatorname{attention}_i(x^{i-1})\\ z
    &= x^{\text{last}}\,W^U \end{aligned}"""
    params = init_transformer(rng, vocabulary=K, n=N, m=M, heads=1, layers=2)
    tokens = rng.integers(K, size=N)
    x = params["tokens"][tokens] + params["positions"]
    for layer in range(2):
        query, key, value, out = (params[f"{layer}.{which}_weight"] for which in ("query", "key", "value", "out"))
        scores = np.where(np.tri(N, dtype=bool), x @ query @ (x @ key).T / np.sqrt(M), -np.inf)
        x = x + softmax(scores) @ x @ value @ out
    agree(x @ params["unembedding"], transformer(tokens, params, heads=1)[0])


def test_composition(rng):
    r"""\begin{aligned} \Gamma = c\;&\underbrace{W^E W^Q_2}_{\text{own token}}\\ &\bigl(\underbrace{W^E W^V_1 W^O_1
    W^K_2}_{\text{token before the key}}\bigr)^{\!\top} \end{aligned}"""
    tokens = rng.normal(size=(K, M))
    query, key, value, out = rng.normal(size=(4, M, M)) / np.sqrt(M)
    formula = (tokens @ query) @ (tokens @ value @ out @ key).T / np.sqrt(M)
    scores = np.zeros((K, K))
    for own in range(K):
        for before in range(K):  # the key's token is nothing but the note of a head that looks at `before`
            note = attention(np.ones((1, 1)), np.ones((1, 1)), tokens[before : before + 1] @ value)[0] @ out
            scores[own, before] = (tokens[own] @ query) @ (note[0] @ key) / np.sqrt(M)
    agree(formula, scores)


def test_block(rng):
    r"""\begin{aligned} y &= x + \operatorname{attention}\bigl(\operatorname{norm}(x)\bigr)\\ \text{out} &= y +
    \operatorname{mlp}\bigl(\operatorname{norm}(y)\bigr) \end{aligned}"""
    model = init_transformer(rng, vocabulary=N, m=M, heads=1, layers=1, positions="rotary", norm=True, hidden=D)
    x, params = model["tokens"], {name.removeprefix("0."): array for name, array in model.items()}
    normal = rms_norm(x, params["attention_gain"])
    query, key = (rotary(normal @ params[f"{which}_weight"], np.arange(N)) for which in ("query", "key"))
    scores = np.where(np.tri(N, dtype=bool), query @ key.T / np.sqrt(M), -np.inf)
    y = x + softmax(scores) @ normal @ params["value_weight"] @ params["out_weight"]
    hidden = rms_norm(y, params["mlp_gain"]) @ params["up_weight"] + params["up_bias"]
    out = y + hidden / (1 + np.exp(-hidden)) @ params["down_weight"] + params["down_bias"]
    logits, saved = transformer(np.arange(N), model, heads=1, positions="rotary")
    agree(out, saved.x)
    agree(rms_norm(out, params["gain"]) @ params["unembedding"], logits)


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


def test_running_means(rng):
    r"""\begin{aligned} \bar g &\leftarrow \beta_1\,\bar g + (1-\beta_1)\,g\\ \overline{g^2} &\leftarrow
    \beta_2\,\overline{g^2} + (1-\beta_2)\,g^2 \end{aligned}"""
    params = {"slope": rng.normal(size=M)}
    state, beta1, beta2 = adam_start(params), 0.8, 0.95
    mean, square = np.zeros(M), np.zeros(M)
    for _ in range(4):
        g = rng.normal(size=M)
        mean, square = beta1 * mean + (1 - beta1) * g, beta2 * square + (1 - beta2) * g**2
        _, state = adam_step(params, {"slope": g}, state, rate=0.1, beta1=beta1, beta2=beta2)
        agree(mean, state.mean["slope"])
        agree(square, state.square["slope"])


def test_adam(rng):
    r"""\begin{aligned} W \leftarrow{} &W\\ &-
    \text{rate}\;\frac{\bar g/(1-\beta_1^t)}{\sqrt{\overline{g^2}/(1-\beta_2^t)}+\epsilon} \end{aligned}"""
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
