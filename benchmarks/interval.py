"""How sure a measured ratio is: an interval for its median that supposes nothing about how times are distributed."""

import math
import statistics

FEWEST = 6  # with five numbers not even the smallest and the largest enclose the median 19 times in 20
WANTED = 0.03  # of the ratio, on each side


def interval(numbers):
    """The 95 % interval of the median, between two of the numbers; None if they are fewer than 6.

    Each number is above the median or below it like a tossed coin, independently of the others. So the k-th smallest
    and the k-th largest fail to enclose it with the probability that of n coins fewer than k show heads, twice.
    """
    n = len(numbers)
    if n < FEWEST:
        return None
    left_out, tail = 0, 1  # tail: in how many of the 2^n outcomes at most `left_out` coins show heads
    while 2 * 20 * (tail := tail + math.comb(n, left_out + 1)) <= 2**n:
        left_out += 1
    ordered = sorted(numbers)
    return ordered[left_out], ordered[-1 - left_out]


def half_width(numbers):
    """How far the interval reaches from the median, at its further end; None without an interval."""
    ends = interval(numbers)
    return None if ends is None else max(abs(end - statistics.median(numbers)) for end in ends)


def settled(numbers):
    """Whether the interval lies within 3 % of the median."""
    half = half_width(numbers)
    return half is not None and half <= WANTED * statistics.median(numbers)
