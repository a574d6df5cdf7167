"""The formulas of chapter 10, evaluated as they stand."""

import numpy as np
from formula_cases import D, M, N, V, agree, softmax

from attnlib.costs import kv_cache_bytes
from attnlib.decoding import KVCache, attend_with_cache


def test_one_step(rng):
    r"""\begin{aligned} K_{\le t} &= \begin{bmatrix}K_{\le t-1}\\ x_tW^K\end{bmatrix}, \qquad V_{\le t} =
    \begin{bmatrix}V_{\le t-1}\\ x_tW^V\end{bmatrix}\\[2pt] O_t &=
    \operatorname{softmax}\bigl(c\;x_tW^Q\,K_{\le t}^{\top}\bigr)\,V_{\le t} \end{aligned}"""
    x = rng.normal(size=(N, M))
    query_weight, key_weight, value_weight = (rng.normal(size=(M, width)) / np.sqrt(M) for width in (D, D, V))
    cache = KVCache(N, d=D, v=V)
    keys, values = np.zeros((0, D)), np.zeros((0, V))
    for t in range(N):
        query = x[t : t + 1] @ query_weight
        keys = np.concatenate([keys, x[t : t + 1] @ key_weight])
        values = np.concatenate([values, x[t : t + 1] @ value_weight])
        out = softmax(query @ keys.T / np.sqrt(D)) @ values
        agree(out, attend_with_cache(query, keys[t:], values[t:], cache)[0])


def test_bytes():
    r"""\begin{aligned} \text{bytes} = 2 &\times \text{texts} \times \text{layers} \times n\\ &\times \text{key
    heads} \times d\\ &\times \text{bytes of a number} \end{aligned}"""
    texts, layers, n, key_heads, d = 3, 32, 4096, 8, 128
    agree(2 * texts * layers * n * key_heads * d * 2, kv_cache_bytes(texts, layers, n, key_heads, d, dtype="float16"))
    cache = KVCache(N, leading=(texts, key_heads), d=D)
    agree(2 * texts * 1 * N * key_heads * D * 8, cache.nbytes)


def test_latent_cache(rng):
    r"""\begin{aligned} \mathbf q\,K_j^\top &= \mathbf q\,(z_jU^K)^\top = \bigl(\mathbf
    q\,U^{K\top}\bigr)z_j^\top\\ \sum_j P_jV_j &= \Bigl(\sum_j P_jz_j\Bigr)U^V \end{aligned}"""
    width = 3  # of the latent
    query, latent = rng.normal(size=D), rng.normal(size=(N, width))
    to_key, to_value = rng.normal(size=(width, D)), rng.normal(size=(width, V))
    keys, values = latent @ to_key, latent @ to_value
    agree([(query @ to_key.T) @ latent[j] for j in range(N)], query @ keys.T)
    p = softmax(query @ keys.T / np.sqrt(D))
    agree(sum(p[j] * latent[j] for j in range(N)) @ to_value, p @ values)
