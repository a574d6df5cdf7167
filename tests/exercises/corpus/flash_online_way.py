"""Answers to `online_softmax` with the right values, found in a way that is not asked for."""

import math

import numpy as np

from . import wrong
from .flash_online import ID, INF, blocks


@wrong(ID, "block taken for the number of blocks", says=r"at once", rule="never more than one block at a time")
def _(x, block):
    m, total = -np.inf, 0.0
    for s in np.array_split(x, block):
        if not s.size:
            continue
        new = max(m, s.max())
        if new > -np.inf:
            total = total * np.exp(m - new) + np.exp(s - new).sum()
            m = new
    return m, total


wrong(ID, "the whole row in one expression", says=r"at once", rule="never more than one block at a time")(
    lambda x, block: (x.max(), np.exp(x - x.max()).sum() if x.max() > -np.inf else 0.0)
)


@wrong(ID, "a loop for the maximum, a loop for the sum", says=r"goes back", rule="each score is seen once")
def _(x, block):
    m = -INF
    for s in blocks(x, block):
        m = max(m, *s)
    total = 0.0
    for s in blocks(x, block):
        total += sum(np.exp(s - (m if m > -INF else 0.0)))
    return m, total


@wrong(ID, "sorted first", says=r"at once", rule="never more than one block at a time")
def _(x, block):
    x = np.sort(x)[::-1]
    m, total = x[0], 0.0
    if m == -np.inf:
        return m, 0.0
    for s in blocks(x, block):
        total += np.exp(s - m).sum()
    return m, total


@wrong(ID, "a list of Python numbers, and its max", says=r"at once|goes back", rule="each score is seen once")
def _(x, block):
    numbers = x.tolist()
    m = max(numbers)
    if m == -INF:
        return m, 0.0
    return m, math.fsum(math.exp(v - m) for v in numbers)


@wrong(ID, "maximum.accumulate over the row", says=r"at once", rule="never more than one block at a time")
def _(x, block):
    m, total = -np.inf, 0.0
    peaks = np.maximum.accumulate(x)
    for start in range(0, len(x), block):
        s, new = x[start : start + block], peaks[min(start + block, len(x)) - 1]
        if new > -np.inf:
            total = total * np.exp(m - new) + np.exp(s - new).sum()
            m = new
    return m, total


@wrong(ID, "blocks of three, whatever is asked", says=r"at once", rule="never more than one block at a time")
def _(x, block):
    m, total = -np.inf, 0.0
    for start in range(0, len(x), 3):
        s = x[start : start + 3]
        new = max(m, s.max())
        if new > -np.inf:
            total = total * np.exp(m - new) + np.exp(s - new).sum()
            m = new
    return m, total
