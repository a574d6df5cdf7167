"""benchmarks/interval.py: the interval of a median, against the binomial distribution and against many tries."""

import math

import numpy as np
import pytest
from interval import FEWEST, half_width, interval, settled


@pytest.mark.parametrize("n", range(6, 80))
def test_the_interval_is_the_narrowest_that_covers_the_median_19_times_in_20(n):
    low, high = interval(list(range(n)))
    assert high == n - 1 - low  # as many numbers below as above

    def covers(left_out):
        return 1 - 2 * sum(math.comb(n, heads) for heads in range(left_out + 1)) / 2**n

    assert covers(low) >= 0.95 > covers(low + 1)


def test_known_ranks():
    assert [interval(list(range(1, n + 1))) for n in (6, 8, 9, 20, 100)] == [(1, 6), (1, 8), (2, 8), (6, 15), (40, 61)]


@pytest.mark.parametrize("draw", ["standard_exponential", "standard_cauchy", "standard_normal"])
def test_it_covers_the_median_whatever_the_distribution(draw, rng):
    median = {"standard_exponential": math.log(2)}.get(draw, 0)
    intervals = [interval(list(numbers)) for numbers in getattr(rng, draw)((4000, 25))]
    covered = np.mean([low <= median <= high for low, high in intervals])
    assert 0.94 < covered < 0.98  # 25 numbers: 0.957 in theory


def test_the_order_of_the_numbers_does_not_matter(rng):
    numbers = list(rng.standard_normal(31))
    assert interval(sorted(numbers)) == interval(numbers) == interval(numbers[::-1])


def test_too_few_numbers_say_nothing():
    alike = [1.0] * (FEWEST - 1)
    assert interval(alike) is None and half_width(alike) is None and settled(alike) is False
    assert interval([1.0] * FEWEST) == (1, 1) and settled([1.0] * FEWEST) is True


def test_the_half_width_reaches_to_the_further_end():
    assert half_width([1.0, 1.0, 1.0, 1.0, 1.0, 4.0]) == 3
    assert half_width([-2.0, 1.0, 1.0, 1.0, 1.0, 1.5]) == 3


@pytest.mark.parametrize("scale", [0.1, 1, 10])
def test_settled_means_three_percent_of_the_ratio(scale):
    within, beyond = [0.971, *[1.0] * 4, 1.029], [0.971, *[1.0] * 4, 1.031]
    assert settled([scale * number for number in within]) and not settled([scale * number for number in beyond])
