"""The formulas of chapter 10, evaluated as they stand."""

import numpy as np
from formula_cases import D, M, N, V, agree, softmax

from attnlib.attention import attention
from attnlib.costs import A100, count_model_flops, count_model_parameters, kv_cache_bytes
from attnlib.decoding import KVCache, SlidingKVCache, attend_with_cache
from attnlib.masks import sliding_window_mask


def test_one_step(rng):
    r"""\begin{aligned} K &\leftarrow \begin{bmatrix}K\\ x_tW^K\end{bmatrix}\\[2pt]
    V &\leftarrow \begin{bmatrix}V\\ x_tW^V\end{bmatrix}\\[2pt] O_t &=
    \operatorname{softmax}\bigl(c\;x_tW^Q\,K^{\top}\bigr)\,V \end{aligned}"""
    x = rng.normal(size=(N, M))
    query_weight, key_weight, value_weight = (rng.normal(size=(M, width)) / np.sqrt(M) for width in (D, D, V))
    for w in (N, 1, 3, N + 2):  # the formula, and the same with a window
        keys, values, cache = np.zeros((0, D)), np.zeros((0, V)), SlidingKVCache(w, d=D, v=V)
        mask = sliding_window_mask(N, N, w)
        expected, _ = attention(x @ query_weight, x @ key_weight, x @ value_weight, mask=mask)
        for t in range(N):
            query = x[t : t + 1] @ query_weight
            keys = np.concatenate([keys, x[t : t + 1] @ key_weight])[-w:]
            values = np.concatenate([values, x[t : t + 1] @ value_weight])[-w:]
            out = softmax(query @ keys.T / np.sqrt(D)) @ values
            agree(out, attend_with_cache(query, keys[-1:], values[-1:], cache)[0])
            agree(out, expected[t : t + 1])


def test_call_time():
    r"""\begin{aligned} \text{time} &\ge \frac{\text{bytes to read}}{\text{bytes read per second}}\\[6pt]
    \text{time} &\ge \frac{2\times\text{tokens}\times\text{weights}}{\text{operations per second}} \end{aligned}"""
    layers, m, heads, d, hidden, tokens = 3, 64, 4, 16, 256, 5
    weights = layers * (4 * m * m + 2 * m * hidden)  # what each token passes through
    assert weights == count_model_parameters(layers, m, heads, d, hidden=hidden).total
    flops = count_model_flops(tokens, layers, m, heads, d, hidden=hidden)
    agree(2 * tokens * weights, flops.projections + flops.mlp)
    seconds = 2 * weights / A100.bandwidth, 2 * weights / A100.peak_flops["float16"]  # read once in float16, used once
    assert 200 * seconds[1] < seconds[0] < 201 * seconds[1]


def test_bytes():
    r"""\begin{aligned} \text{bytes} = {}& 2 \times \text{texts} \times \text{layers}\\ &\times \text{tokens} \times \text{key
    heads}\\ &\times d \times \text{bytes of a number} \end{aligned}"""
    texts, layers, n, key_heads, d = 3, 32, 4096, 8, 128
    agree(2 * texts * layers * n * key_heads * d * 2, kv_cache_bytes(texts, layers, n, key_heads, d, dtype="float16"))
    cache = KVCache(N, leading=(texts, key_heads), d=D)
    agree(2 * texts * 1 * N * key_heads * D * 8, cache.nbytes)


def test_latent_cache(rng):
    r"""\begin{aligned} \mathbf q\,K_j^\top &= \mathbf q\,(z_jU^K)^\top\\ &= \bigl(\mathbf
    q\,U^{K\top}\bigr)z_j^\top\\ \sum_j P_jV_j &= \Bigl(\sum_j P_jz_j\Bigr)U^V \end{aligned}"""
    width = 3  # of the latent
    query, latent = rng.normal(size=D), rng.normal(size=(N, width))
    to_key, to_value = rng.normal(size=(width, D)), rng.normal(size=(width, V))
    keys, values = latent @ to_key, latent @ to_value
    agree([(query @ to_key.T) @ latent[j] for j in range(N)], query @ keys.T)
    p = softmax(query @ keys.T / np.sqrt(D))
    agree(sum(p[j] * latent[j] for j in range(N)) @ to_value, p @ values)
