"""attnlib.costs.sizes: how many numbers are learned, how large is a cache?"""

import numpy as np

from attnlib.costs import count_parameters, kv_cache_bytes


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
