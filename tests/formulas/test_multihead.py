"""The formulas of chapter 5, evaluated as they stand."""

import numpy as np
from formula_cases import D, H, K, M, Q, V, agree, rowsum, softmax

from attnlib.attention import attention
from attnlib.multihead import init_multihead, multihead_attention, multihead_attention_backward

C = 1 / np.sqrt(D)
G = 2  # key heads, where they are shared


def blocks(weight, axis):
    """The part of a weight that each head owns."""
    return np.split(weight, H, axis=axis)


def layer(rng, bias=False):
    """A layer with a context, its tokens, and the arrays of each head."""
    params = init_multihead(rng, m=M, heads=H, d=D, v=V, bias=bias)
    params = params.map(lambda array: rng.normal(size=array.shape) / np.sqrt(M))
    return params, rng.normal(size=(Q, M)), rng.normal(size=(K, M))


def test_layer(rng):
    r"""\begin{gathered} Q_i = \underset{(n,m)}{X}\,\underset{(m,d)}{W^Q_i},\quad K_i = X\,\underset{(m,d)}{W^K_i}\\[4pt]
    V_i = X\,\underset{(m,v)}{W^V_i}\\[4pt] O_i = \operatorname{attention}(Q_i, K_i, V_i) \quad (n,v)\\[4pt]
    \underset{(n,m)}{Y} = \underset{(n,\,h\cdot v)}{\bigl[\,O_0\cdots O_{h-1}\,\bigr]}\;\underset{(h\cdot
    v,\,m)}{W^O} \end{gathered}"""
    params, x, other = layer(rng)
    for context in (x, other):  # self-attention, and another text in place of X
        outs = []
        for of_query, of_key, of_value in zip(
            blocks(params.query_weight, 1), blocks(params.key_weight, 1), blocks(params.value_weight, 1), strict=True
        ):
            query, key, value = x @ of_query, context @ of_key, context @ of_value
            outs.append(softmax(C * query @ key.T) @ value)
        formula = np.concatenate(outs, axis=1) @ params.out_weight
        agree(formula, multihead_attention(x, params, context=context)[0])
    agree(multihead_attention(x, params)[0], multihead_attention(x, params, context=x)[0])


def test_layer_backward(rng):
    r"""\begin{gathered} dW^O = H^\top dY\\ [\,dO_0\cdots dO_{h-1}\,] = dY\,{W^O}^\top\\[6pt]
    dQ_i,\, dK_i,\, dV_i \text{ from } dO_i \text{ by (3.6)}\\ dQ = [\,dQ_0\cdots dQ_{h-1}\,]\\
    dK \text{ and } dV \text{ likewise}\\[6pt] dW^Q = X^\top dQ\\ dW^K = C^\top dK,\quad dW^V = C^\top dV\\[6pt]
    dX_{\text{asking}} = dQ\,{W^Q}^\top\\ dC = dK\,{W^K}^\top + dV\,{W^V}^\top \end{gathered}"""
    params, x, context = layer(rng, bias=True)
    query, key = x @ params.query_weight + params.query_bias, context @ params.key_weight + params.key_bias
    value, d_y = context @ params.value_weight + params.value_bias, rng.normal(size=(Q, M))
    outs, d_parts = [], []
    d_outs = blocks(d_y @ params.out_weight.T, 1)
    for query_i, key_i, value_i, d_out in zip(blocks(query, 1), blocks(key, 1), blocks(value, 1), d_outs, strict=True):
        p = softmax(C * query_i @ key_i.T)
        d_p = d_out @ value_i.T
        d_scores = p * (d_p - rowsum(p * d_p))
        outs.append(p @ value_i)
        d_parts.append((C * d_scores @ key_i, C * d_scores.T @ query_i, p.T @ d_out))
    d_query, d_key, d_value = (np.concatenate(parts, axis=1) for parts in zip(*d_parts, strict=True))
    formula = {
        "out_weight": np.concatenate(outs, axis=1).T @ d_y, "out_bias": d_y.sum(axis=0),
        "query_weight": x.T @ d_query, "query_bias": d_query.sum(axis=0),
        "key_weight": context.T @ d_key, "key_bias": d_key.sum(axis=0),
        "value_weight": context.T @ d_value, "value_bias": d_value.sum(axis=0),
    }  # fmt: skip
    _, saved = multihead_attention(x, params, context=context)
    d_x, d_context, library = multihead_attention_backward(d_y, params, saved)
    assert formula.keys() == library.arrays().keys()
    for name, array in library.arrays().items():
        agree(formula[name], array)
    agree(d_query @ params.query_weight.T, d_x)
    agree(d_key @ params.key_weight.T + d_value @ params.value_weight.T, d_context)


def shared(rng):
    """Six query heads over two key heads: queries, keys, values, and the key head of each query head."""
    query, key, value = rng.normal(size=(H, Q, D)), rng.normal(size=(G, K, D)), rng.normal(size=(G, K, V))
    return query, key, value, [int(np.floor(i / (H / G))) for i in range(H)]


def test_shared_heads(rng):
    r"""g(i) = \Bigl\lfloor \frac{i}{h/G} \Bigr\rfloor"""
    query, key, value, g = shared(rng)
    formula = [softmax(C * query[i] @ key[g[i]].T) @ value[g[i]] for i in range(H)]
    agree(formula, attention(query, key, value)[0])


def test_circuits(rng):
    r"""\begin{aligned} S_i &= X\,\bigl(W^Q_i{W^K_i}^{\top}\bigr)\,C^\top/\sqrt d\\[4pt] Y &= \sum_i
    P_i\,C\,\bigl(W^V_iW^O_i\bigr) \end{aligned}"""
    params, x, context = layer(rng)
    of_query, of_key, of_value = (blocks(params.arrays()[f"{name}_weight"], 1) for name in ("query", "key", "value"))
    of_out, formula = blocks(params.out_weight, 0), 0
    for i in range(H):
        scores = C * x @ (of_query[i] @ of_key[i].T) @ context.T
        formula = formula + softmax(scores) @ context @ (of_value[i] @ of_out[i])
    agree(formula, multihead_attention(x, params, context=context)[0])
