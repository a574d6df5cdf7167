"""How sure a measured ratio is: an interval for its median that supposes nothing about how times are distributed."""

import functools
import statistics

FEWEST = 6  # with five numbers not even the smallest and the largest enclose the median 19 times in 20
WANTED = 0.03  # of the ratio, on each side


def interval(numbers):
    """The 95 % interval of the median, between two of the numbers; None if they are fewer than 6."""
    if len(numbers) < FEWEST:
        return None
    ordered, outside = sorted(numbers), left_out(len(numbers))
    return ordered[outside], ordered[-1 - outside]


@functools.cache
def left_out(n):
    """How many of n sorted numbers lie outside the interval, at each end.

    Each number is above the median or below it like a tossed coin, independently of the others. So the interval fails
    to enclose the median when of n coins at most so many show heads, or tails: at most once in 20 times.
    """
    outside, ways, fewer = 0, 1, 1  # of the 2^n outcomes: with exactly, and with at most so many heads
    while True:
        ways = ways * (n - outside) // (outside + 1)
        fewer += ways
        if 2 * 20 * fewer > 2**n:
            return outside
        outside += 1


def half_width(numbers):
    """How far the interval reaches from the median, at its further end; None without an interval."""
    ends = interval(numbers)
    return None if ends is None else max(abs(end - statistics.median(numbers)) for end in ends)


def settled(numbers):
    """Whether the interval lies within 3 % of the median."""
    half = half_width(numbers)
    return half is not None and half <= WANTED * statistics.median(numbers)
