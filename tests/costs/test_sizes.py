"""attnlib.costs.sizes: how many numbers are learned, how large is a cache?"""

import numpy as np

from attnlib.costs import count_parameters, kv_cache_bytes, latent_cache_bytes, score_bytes
from attnlib.flash import flash_attention


def test_parameters_of_multi_head_attention():
    assert count_parameters(512, 8, 64) == 4 * 512**2 and count_parameters(1, 1, 1) == 4
    assert count_parameters(512, 8, 64, bias=True) == 4 * 512**2 + 4 * 512
    m, h, g, d, v, a, c = 11, 6, 3, 7, 2, 5, 13
    weights = m * h * d + a * g * d + c * g * v + h * v * m
    assert count_parameters(m, h, d, v, kv_heads=g, key_width=a, value_width=c) == weights
    with_bias = count_parameters(m, h, d, v, kv_heads=g, key_width=a, value_width=c, bias=True)
    assert with_bias == weights + h * d + g * d + g * v + m


def test_bytes_of_a_key_value_cache():
    assert kv_cache_bytes(3, 7, 1000, 4, 80, dtype=np.float32) == 53_760_000
    assert kv_cache_bytes(1, 32, 4096, 32, 128) == 2 * 2**30
    assert kv_cache_bytes(2, 3, 5, 7, 11, 13) == 2 * 3 * 5 * 7 * (11 + 13) * 2


def test_bytes_of_a_latent_cache():
    assert latent_cache_bytes(2, 3, 5, 7) == 2 * 3 * 5 * 7 * 2
    assert latent_cache_bytes(2, 3, 5, 7, 11, dtype="float32") == 2 * 3 * 5 * (7 + 11) * 4


def test_bytes_of_scores_are_those_of_what_is_kept():
    assert score_bytes(5, 7, batch=2, heads=3, dtype="float16") == 2 * 3 * 5 * 7 * 2
    assert score_bytes(5, 7, batch=2, heads=3, method="flash", dtype="float16") == 2 * 3 * 5 * 4  # not less than float32
    x = np.ones((2, 3, 5, 4))
    _, logsumexp = flash_attention(x, x, x)
    assert score_bytes(5, 5, batch=2, heads=3, method="flash", dtype="float64") == logsumexp.nbytes
