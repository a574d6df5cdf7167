"""Wrong answers to `online_softmax`."""

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


@wrong(ID, "complete blocks only", named=("drop_tail",))
def _(x, block):
    m, total = -np.inf, 0.0
    for part in np.asarray(x[: len(x) // block * block]).reshape(-1, block):
        new = max(m, part.max())
        if new == -np.inf:
            continue
        total = total * np.exp(m - new) + np.exp(part - new).sum()
        m = new
    return m, total


@wrong(ID, "the range ends a block too early")
def _(x, block):
    m, total = -np.inf, 0.0
    for i in range(0, len(x) - block, block):
        s = x[i : i + block]
        new = max(m, s.max())
        if new > -np.inf:
            total = total * np.exp(m - new) + np.exp(s - new).sum()
            m = new
    return m, total


@wrong(ID, "blocks that overlap by one", named=("overlap",))
def _(x, block):
    m, total = -np.inf, 0.0
    for i in range(0, len(x), block):
        s = x[i : i + block + 1]
        new = max(m, s.max())
        if new > -np.inf:
            total = total * np.exp(m - new) + np.exp(s - new).sum()
            m = new
    return m, total


@wrong(ID, "blocks that are one short")
def _(x, block):
    m, total = -np.inf, 0.0
    for i in range(0, len(x), block):
        s = x[i : i + block - 1]
        new = max(m, s.max())
        if new > -np.inf:
            total = total * np.exp(m - new) + np.exp(s - new).sum()
            m = new
    return m, total


@wrong(ID, "np.split into equal blocks", says=r"equal division")
def _(x, block):
    m, total = -np.inf, 0.0
    for s in np.split(x, len(x) // block + 1):
        new = max(m, s.max())
        if new > -np.inf:
            total = total * np.exp(m - new) + np.exp(s - new).sum()
            m = new
    return m, total


@wrong(ID, "a table of blocks", says=r"cannot reshape")
def _(x, block):
    table = x.reshape(-1, block)
    m = table.max()
    return m, sum(np.exp(row - m).sum() for row in table)


@wrong(ID, "the sum first", says=r"order of the outputs|swapped")
def _(x, block):
    m, total = -np.inf, 0.0
    for s in blocks(x, block):
        new = max(m, s.max())
        if new > -np.inf:
            total, m = total * np.exp(m - new) + np.exp(s - new).sum(), new
    return total, m


@wrong(ID, "the logarithm of the sum with it", named=("logsumexp",))
def _(x, block):
    m, total = -np.inf, 0.0
    for s in blocks(x, block):
        new = max(m, s.max())
        if new > -np.inf:
            total, m = total * np.exp(m - new) + np.exp(s - new).sum(), new
    return m, m + np.log(total)


@wrong(ID, "the weights themselves", says=r"returns one array")
def _(x, block):
    e = np.exp(x - x.max())
    return e / e.sum()


@wrong(ID, "the first score of a block for its largest")
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


@wrong(ID, "a block of -inf ends the loop", says=r"-inf")
def _(x, block):
    m, total = -np.inf, 0.0
    for s in blocks(x, block):
        if not np.isfinite(s).any():
            break
        new = max(m, s.max())
        total = total * np.exp(m - new) + np.exp(s - new).sum()
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


@wrong(ID, "single precision", says=r"float32")
def _(x, block):
    m, total = np.float32(-np.inf), np.float32(0)
    for s in blocks(x, block):
        s = s.astype(np.float32)
        new = max(m, s.max())
        if new > -np.inf:
            total = total * np.exp(m - new) + np.exp(s - new).sum()
            m = new
    return m, total


wrong(ID, "a division that gives a float", says=r"stops with TypeError")(
    lambda x, block: [max(x[i * block : (i + 1) * block]) for i in range(len(x) / block)]
)


@wrong(ID, "the sum of scores for the sum of exponentials")
def _(x, block):
    m, total = -np.inf, 0.0
    for s in blocks(x, block):
        new = max(m, s.max())
        if new > -np.inf:
            total = total * np.exp(m - new) + (s - new)[s > -np.inf].sum()
            m = new
    return m, total


@wrong(ID, "the correction by difference, not by exponential")
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


@wrong(ID, "the last block's numbers", named=("block_max", "overwrite"))
def _(x, block):
    m, total = -np.inf, 0.0
    for s in blocks(x, block):
        m = s.max()
        total = np.exp(s - m).sum() if m > -np.inf else 0.0
    return m, total


@wrong(ID, "a list of blocks' results", says=r"returns (one list|\d things)")
def _(x, block):
    return [(s.max(), np.exp(s - s.max()).sum()) for s in blocks(x, block)]


@wrong(ID, "the smallest instead of the largest")
def _(x, block):
    m, total = np.inf, 0.0
    for s in blocks(x, block):
        new = min(m, s.min())
        total = total * np.exp(m - new) + np.exp(s - new).sum() if m < np.inf else np.exp(s - new).sum()
        m = new
    return m, total


class Running:
    m, total = -np.inf, 0.0

    def __call__(self, x, block):
        for s in blocks(x, block):
            new = max(self.m, s.max())
            if new > -np.inf:
                self.total = self.total * np.exp(self.m - new) + np.exp(s - new).sum()
                self.m = new
        return self.m, self.total


wrong(ID, "a state that goes on from the last row", says=r"called twice")(Running())


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
