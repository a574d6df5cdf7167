"""Wrong answers to `online_softmax`: how the row is cut into blocks, and what is returned."""

import numpy as np

from . import wrong
from .flash_online import ID, blocks


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


@wrong(ID, "blocks that are one short", named=("block_short",))
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
