"""attnlib.costs.machine: what does a machine wait for?"""

import math

import numpy as np
import pytest

from attnlib.costs import A100, Flops, Machine, Traffic, arithmetic_intensity, count_flops, count_traffic, roofline


def test_intensity_depends_on_the_dtype_and_takes_counts_or_numbers():
    flops, traffic = Flops(1, 700, 99), Traffic(30, 10)
    assert arithmetic_intensity(flops, traffic) == 800 / 160
    assert arithmetic_intensity(800, 40, dtype="float16") == 800 / 80
    assert arithmetic_intensity(np.int64(800), np.float64(40)) == 5.0
    assert arithmetic_intensity(800, 0) == math.inf


def test_naive_attention_waits_for_memory_in_both_dtypes_and_fused_attention_does_not_in_float32():
    n, d = 4096, 64
    flops = count_flops(n, n, d)
    for dtype in ("float32", "float16"):
        assert roofline(flops, count_traffic(n, n, d, method="naive", block_q=64), A100, dtype=dtype).bound == "memory"
    fused = count_traffic(n, n, d, method="flash", block_q=n)
    assert roofline(flops, fused, A100, dtype="float32").bound == "compute"


def test_the_roofline_compares_bytes_and_peak_of_one_dtype():
    machine = Machine(bandwidth=100.0, peak_flops={"float32": 1000.0, "float16": 8000.0})
    single = roofline(10_000, 200, machine, dtype=np.float32)
    assert single == (12.5, 10.0, 10.0, "compute")
    half = roofline(10_000, 200, machine, dtype="float16")
    assert half == (25.0, 80.0, 4.0, "memory")
    assert roofline(2000, 50, machine).bound == "compute"  # on the ridge: nothing waits


def test_the_ridges_of_the_a100_are_not_mixed():
    assert roofline(1, 1, A100, dtype="float32").ridge == pytest.approx(12.5, abs=0.1)
    assert roofline(1, 1, A100, dtype="float16").ridge == pytest.approx(201, abs=0.5)
    assert A100.bandwidth == 1555 * 10**9 and A100.peak_flops["float16"] == 16 * A100.peak_flops["float32"] == 312e12
