"""Wrong answers to `online_softmax`: the running maximum and the running sum."""

import math

import numpy as np

from . import wrong

ID = "online_softmax"
INF = float("inf")


def blocks(x, block):
    return [x[start : start + block] for start in range(0, len(x), block)]


@wrong(ID, "a while loop that never corrects the old sum", named=("no_rescale",))
def _(x, block):
    m, total, i = -INF, 0.0, 0
    while i < len(x):
        part = x[i : i + block]
        m = np.maximum(m, part.max())
        if m > -INF:
            total += np.exp(part - m).sum()
        i += block
    return m, total


@wrong(ID, "exp(new - old) where the maximum grows", named=("alpha_inv",))
def _(x, block):
    m, total = -INF, 0.0
    for part in blocks(x, block):
        top = part.max()
        if top == -INF:
            continue
        if top > m:
            total = total * np.exp(top - m) if total else 0.0
            m = top
        total += np.exp(part - m).sum()
    return m, total


@wrong(ID, "starts at -10^9", says=r"-inf")
def _(x, block):
    m, total = -1e9, 0.0
    for part in blocks(x, block):
        new = max(m, part.max())
        total = total * np.exp(m - new) + np.exp(part - new).sum()
        m = new
    return m, total


@wrong(ID, "starts at zero", named=("m_init_0",))
def _(x, block):
    m = total = 0.0
    for i in range(-(-len(x) // block)):
        part = x[i * block : i * block + block]
        new = max([m, *part])
        total = math.exp(m - new) * total + sum(math.exp(v - new) for v in part)
        m = new
    return m, total


@wrong(ID, "the first score of a block for its largest", named=("first_of_block",))
def _(x, block):
    m, total = -np.inf, 0.0
    for s in blocks(x, block):
        new = max(m, s[0])
        if new > -np.inf:
            total = total * np.exp(m - new) + np.exp(s - new).sum()
            m = new
    return m, total


@wrong(ID, "one score at a time, a new maximum not counted", named=("maximum_not_counted",))
def _(x, block):
    m, total = -math.inf, 0.0
    for score in x:
        if score > m:
            total *= math.exp(m - score)
            m = score
        elif score > -math.inf:
            total += math.exp(score - m)
    return m, total


@wrong(ID, "added before the maximum is renewed", named=("nan_first",))
def _(x, block):
    m, total = -np.inf, 0.0
    for s in blocks(x, block):
        total += np.exp(s - m).sum()
        new = max(m, s.max())
        total *= np.exp(m - new)
        m = new
    return m, total


@wrong(ID, "old sum and block rescaled together", named=("block_rescaled",))
def _(x, block):
    m, total = -np.inf, 0.0
    for s in blocks(x, block):
        new = max(m, s.max())
        if new == -np.inf:
            continue
        total = (total + np.exp(s - new).sum()) * (np.exp(m - new) if m > -np.inf else 1.0)
        m = new
    return m, total


@wrong(ID, "the block measured against the old maximum", named=("old_maximum",))
def _(x, block):
    m, total = None, 0.0
    for s in blocks(x, block):
        if m is None or m == -np.inf:
            m = s.max()
            total = np.exp(s - m).sum() if m > -np.inf else 0.0
            continue
        new = max(m, s.max())
        total = total * np.exp(m - new) + np.exp(s - m).sum()
        m = new
    return m, total


@wrong(ID, "the total starts at one", named=("l_init_1",))
def _(x, block):
    m, total = -np.inf, 1.0
    for s in blocks(x, block):
        new = np.maximum(m, np.max(s))
        scale = np.exp(m - new) if new > -np.inf else 1.0
        total = scale * total + (np.exp(s - new).sum() if new > -np.inf else 0.0)
        m = new
    return m, total


@wrong(ID, "np.nan_to_num on the scores", says=r"-inf")
def _(x, block):
    m, total = -np.inf, 0.0
    for s in blocks(x, block):
        s = np.nan_to_num(s)
        new = max(m, s.max())
        total = total * np.exp(m - new) + np.exp(s - new).sum()
        m = new
    return m, total


@wrong(ID, "logaddexp for the maximum too")
def _(x, block):
    m = total = -np.inf
    for s in blocks(x, block):
        m = np.logaddexp(m, np.logaddexp.reduce(s))
        total = np.logaddexp(total, np.logaddexp.reduce(s))
    return m, np.exp(total - m) if m > -np.inf else 0.0


@wrong(ID, "a running mean in the place of the maximum")
def _(x, block):
    m, total, seen = 0.0, 0.0, 0
    for s in blocks(x, block):
        new = (m * seen + s.sum()) / (seen + len(s))
        total = total * np.exp(m - new) + np.exp(s - new).sum()
        m, seen = new, seen + len(s)
    return m, total


@wrong(ID, "the mean of the exponentials", named=("mean",))
def _(x, block):
    m, total = -np.inf, 0.0
    for s in blocks(x, block):
        new = max(m, s.max())
        if new > -np.inf:
            total = total * np.exp(m - new) + np.exp(s - new).mean()
            m = new
    return m, total


@wrong(ID, "the sum of scores for the sum of exponentials", named=("scores_added",))
def _(x, block):
    m, total = -np.inf, 0.0
    for s in blocks(x, block):
        new = max(m, s.max())
        if new > -np.inf:
            total = total * np.exp(m - new) + (s - new)[s > -np.inf].sum()
            m = new
    return m, total


@wrong(ID, "the correction by difference, not by exponential", named=("difference",))
def _(x, block):
    m, total = -np.inf, 0.0
    for s in blocks(x, block):
        new = max(m, s.max())
        if new > -np.inf:
            total = (total * (m - new) if m > -np.inf else 0.0) + np.exp(s - new).sum()
            m = new
    return m, total


@wrong(ID, "unshifted exponentials", says=r"large scores|all scores near")
def _(x, block):
    m, total = -np.inf, 0.0
    for s in blocks(x, block):
        m = max(m, s.max())
        total += np.exp(s).sum()
    return m, total / np.exp(m) if m > -np.inf else 0.0


@wrong(ID, "unshifted exponentials, left so", named=("not_shifted",))
def _(x, block):
    m, total = -np.inf, 0.0
    for s in blocks(x, block):
        m = max(m, s.max())
        total += np.exp(s).sum()
    return m, total


@wrong(ID, "the block's sum against its own maximum, old sum untouched", named=("no_rescale", "sum_local"))
def _(x, block):
    m, total = -np.inf, 0.0
    for s in blocks(x, block):
        if s.max() > -np.inf:
            m = max(m, s.max())
            total += np.exp(s - s.max()).sum()
    return m, total


@wrong(ID, "the smallest instead of the largest", named=("smallest",))
def _(x, block):
    m, total = np.inf, 0.0
    for s in blocks(x, block):
        new = min(m, s.min())
        total = total * np.exp(m - new) + np.exp(s - new).sum() if m < np.inf else np.exp(s - new).sum()
        m = new
    return m, total


@wrong(ID, "a maximum of 0 taken for none", says=r"case \"the largest score is 0\"")
def _(x, block):
    m, total = None, 0.0
    for s in blocks(x, block):
        new = max(m, s.max()) if m else s.max()
        if new > -np.inf:
            total = total * np.exp(m - new) + np.exp(s - new).sum() if m and m > -np.inf else np.exp(s - new).sum()
        m = new
    return m, total


@wrong(ID, "a score equal to the maximum falls between if and elif", says=r"case \"the largest score is 0\"")
def _(x, block):
    m, total = -math.inf, 0.0
    for score in x:
        if score > m:
            total = total * math.exp(m - score) + 1
            m = score
        elif score < m:
            total += math.exp(score - m)
    return m, total


@wrong(ID, "a set of scores, which counts equal ones once", says=r"case \"the largest score is 0\"")
def _(x, block):
    m, total = -INF, 0.0
    for part in blocks(x, block):
        scores = {float(v) for v in part}
        new = max(m, max(scores))
        if new > -INF:
            total = total * math.exp(m - new) + sum(math.exp(v - new) for v in scores)
            m = new
    return m, total
