"""Wrong answers to `softmax`: shifts, sums and axes."""

import math

import numpy as np

from . import wrong
from .parts import softmax as right

ID = "softmax"


@wrong(ID, "a loop that shifts by the smallest score", named=("shift_min",))
def _(x):
    out = []
    for row in x.reshape(-1, x.shape[-1]):
        e = [math.exp(v - min(row)) if v - min(row) < 700 else math.inf for v in row]
        out.append([v / sum(e) for v in e])
    return np.array(out).reshape(x.shape)


wrong(ID, "divides by one more than the sum", named=("one_more",))(
    lambda x: np.exp(x - x.max(-1, keepdims=True)) / (1 + np.exp(x - x.max(-1, keepdims=True)).sum(-1, keepdims=True))
)


@wrong(ID, "an epsilon in the denominator", says=r"epsilon")
def _(x):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return e / (e.sum(axis=-1, keepdims=True) + 1e-8)


wrong(ID, "PyTorch's keepdim as second argument", says=r"stops with TypeError")(
    lambda x: np.exp(x - x.max(-1, keepdims=True)) / np.exp(x - x.max(-1, keepdims=True)).sum(-1, True)
)

wrong(ID, "PyTorch's dim", says=r"unexpected keyword argument 'dim'")(
    lambda x: np.exp(x - x.max(axis=-1, keepdims=True)) / np.exp(x).sum(dim=-1, keepdims=True)
)


@wrong(ID, "PyTorch's max returns a pair: the [0] after it", says=r"case \"(wide rows|one huge|rows far|large)")
def _(x):
    m = x.max(-1, keepdims=True)[0]
    e = np.exp(x - m)
    return e / e.sum(-1, keepdims=True)


wrong(ID, "max() of the whole list", named=("max_global",))(
    lambda x: np.array(
        [[v / sum(r) for v in r] for r in np.exp(x - max(x.flat)).reshape(-1, x.shape[-1])]
    ).reshape(x.shape)
)

wrong(ID, "turned, normalised, turned back", named=("axis_0",))(lambda x: right(x.T).T)


@wrong(ID, "a loop over axis 0, taken for the rows", named=("rows_of_axis_0",))
def _(x):
    out = np.empty(x.shape)
    for i in range(len(x)):
        e = np.exp(x[i] - x[i].max())
        out[i] = e / e.sum()
    return out


wrong(ID, "two to the power of", named=("base_2",))(
    lambda x: np.exp2(x - x.max(-1, keepdims=True)) / np.exp2(x - x.max(-1, keepdims=True)).sum(-1, keepdims=True)
)

wrong(ID, "2.718 for e", says=r"right to about \d digits only")(
    lambda x: 2.718 ** (x - x.max(-1, keepdims=True)) / (2.718 ** (x - x.max(-1, keepdims=True))).sum(-1, keepdims=True)
)

wrong(ID, "one logsumexp for everything", named=("axis_all", "no_max"))(lambda x: np.exp(x - np.log(np.sum(np.exp(x)))))


@wrong(ID, "log-softmax", named=("log",))
def _(x):
    shifted = x - np.amax(x, axis=-1, keepdims=True)
    return shifted - np.log(np.sum(np.exp(shifted), axis=-1, keepdims=True))


@wrong(ID, "normalised to length one", says=r"one factor for each row")
def _(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / np.linalg.norm(e, axis=-1, keepdims=True)


wrong(ID, "a logistic function of each score", named=("sigmoid",))(lambda x: 1 / (1 + np.exp(-x)))


@wrong(ID, "divided by the largest exponential", named=("no_division",))
def _(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return np.divide(e, e.max(-1, keepdims=True))


wrong(ID, "the mean for the sum", named=("mean_total",), says=r"too large by a factor of the number of columns of x")(
    lambda x: np.exp(x - x.max(-1, keepdims=True)) / np.exp(x - x.max(-1, keepdims=True)).mean(-1, keepdims=True)
)

wrong(ID, "one-hot of the largest", named=("hardmax",))(lambda x: np.eye(x.shape[-1])[x.argmax(-1)])

wrong(ID, "scores clipped to be safe", says=r"case \"large scores\"")(
    lambda x: np.exp(np.clip(x, -50, 50)) / np.exp(np.clip(x, -50, 50)).sum(axis=-1, keepdims=True)
)


@wrong(ID, "NaN turned into 0", says=r"case \"large scores\"")
def _(x):
    e = np.exp(x)
    return np.nan_to_num(e / e.sum(-1, keepdims=True))


@wrong(ID, "an error state and a where", says=r"case \"large scores\"")
def _(x):
    with np.errstate(over="ignore"):
        e = np.exp(x)
        e = np.where(np.isinf(e), 1e300, e)
        return e / e.sum(-1, keepdims=True)


wrong(ID, "single precision", says=r"float32")(lambda x: right(x.astype(np.float32)))

wrong(ID, "rounded to three places", says=r"rounded")(lambda x: np.round(right(x * 1.0), 3))

wrong(ID, "a double slash", says=r"one of them sums to 0")(
    lambda x: np.exp(x - x.max(-1, keepdims=True)) // np.exp(x - x.max(-1, keepdims=True)).sum(-1, keepdims=True)
)


@wrong(ID, "exponentials written into x", named=("inplace",))
def _(x):
    np.subtract(x, x.max(-1, keepdims=True), out=x)
    np.exp(x, out=x)
    x /= x.sum(-1, keepdims=True)
    return x


@wrong(ID, "math.exp on an array", says=r"stops with TypeError")
def _(x):
    m = x.max()
    total = sum(math.exp(v - m) for v in x)
    return [math.exp(v - m) / total for v in x]


@wrong(ID, "recursion over the axes, no shift", named=("no_max",))
def _(x):
    def soft(a):
        if a.ndim > 1:
            return np.stack([soft(part) for part in a])
        powers = [np.exp(v) for v in a]
        return np.array(powers) / sum(powers)

    return soft(x)


wrong(ID, "shifted by the largest absolute value", says=r"case \"(rows far apart|wide rows)\": NaN")(
    lambda x: (lambda e: e / e.sum(-1, keepdims=True))(np.exp(x - np.abs(x).max(-1, keepdims=True)))
)


@wrong(ID, "divided by the maximum in place of subtracting it", named=("max_divided",))
def _(x):
    e = np.exp(x / x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


@wrong(ID, "standardised first", named=("standardised",))
def _(x):
    z = (x - x.mean(-1, keepdims=True)) / x.std(-1, keepdims=True)
    return right(z)


@wrong(ID, "from 0 to 1 and no exponential", named=("range_shares",))
def _(x):
    lo, hi = x.min(-1, keepdims=True), x.max(-1, keepdims=True)
    y = (x - lo) / (hi - lo)
    return y / y.sum(-1, keepdims=True)


wrong(ID, "absolute values for exponentials", named=("absolute",))(lambda x: np.abs(x) / np.abs(x).sum(-1, keepdims=True))

wrong(ID, "squares for exponentials", named=("squares",))(lambda x: x**2 / (x**2).sum(axis=-1, keepdims=True))

wrong(ID, "softplus", says=r"sums? to 1")(lambda x: np.log1p(np.exp(x)))


@wrong(ID, "sums in a list, which lie along the columns", named=("sum_no_keepdims",))
def _(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / np.array([sum(row) for row in e.reshape(-1, x.shape[-1])]).reshape(x.shape[:-1])


wrong(ID, "sorted", says=r"in other places")(lambda x: np.sort(right(x)))

wrong(ID, "the first of the batch", says=r"the shape is")(lambda x: right(x[0]))

wrong(ID, "the first of the batch, for all of it", says=r"only the first (batch )?element")(
    lambda x: np.broadcast_to(right(x[:1]), x.shape) if x.ndim > 1 else right(x)
)

wrong(ID, "flattened and shaped back", named=("axis_all", "max_global"))(lambda x: right(x.ravel()).reshape(x.shape))

wrong(ID, "the smallest gets most", named=("shift_reversed",))(
    lambda x: (lambda e: e / e.sum(-1)[..., None])(np.exp(-x + x.min(-1)[..., None]))
)

wrong(ID, "scaled as in attention", named=("scaled",))(lambda x: right(x / math.sqrt(x.shape[-1])))


class Cached:
    total = None

    def __call__(self, x):
        e = np.exp(x - x.max(axis=-1, keepdims=True))
        if self.total is None or self.total.shape[:-1] != x.shape[:-1]:
            self.total = e.sum(axis=-1, keepdims=True)
        self.total = self.total + 0.5
        return e / (self.total - 0.5)


wrong(ID, "a sum that is kept between calls", says=r"called twice")(Cached())


@wrong(ID, "a running sum for the sum", named=("running_sum",))
def _(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.cumsum(-1)


wrong(ID, "exponentials over the sum of the scores", says=r"one factor for each row")(
    lambda x: np.exp(x) / x.sum(axis=-1, keepdims=True)
)


@wrong(ID, "shares first, exponentials then", named=("shares_first",))
def _(x):
    shares = x / x.sum(-1, keepdims=True)
    return np.exp(shares) / np.exp(shares).sum(-1, keepdims=True)


@wrong(ID, "normalised by row, then by everything", says=r"one factor for each row|times too small")
def _(x):
    p = right(x)
    p /= p.sum()
    return p


wrong(ID, "axis 1 because rows are axis 1 of a matrix",
    named=("axis_1",))(lambda x: right(x, axis=1 if x.ndim > 1 else 0))

wrong(ID, "axis -2", says=r"sums? to 1")(lambda x: right(x, axis=-2) if x.ndim > 1 else right(x))

wrong(ID, "one row becomes a matrix", says=r"an axis of size 1 is too many")(lambda x: right(np.atleast_2d(x)))


@wrong(ID, "both in place: the caller's array, its one maximum", named=("inplace",))
def _(x):
    x -= x.max()
    e = np.exp(x)
    return e / e.sum(-1, keepdims=True)


@wrong(ID, "a copy of integers to write into", named=("int_buffer",))
def _(x):
    out = x.copy()
    for where in np.ndindex(x.shape[:-1]):
        e = np.exp(x[where] - x[where].max())
        out[where] = e / e.sum()
    return out


@wrong(ID, "shifted above the line only", says=r"one factor for each row")
def _(x):
    numerator = np.exp(x - x.max(-1, keepdims=True))
    denominator = np.exp(x).sum(-1, keepdims=True)
    return numerator / denominator


wrong(ID, "the maximum taken off after the exponential", named=("shift_after",))(
    lambda x: (lambda e: e / e.sum(-1, keepdims=True))(np.exp(x) - np.exp(x).max(-1, keepdims=True))
)


@wrong(ID, "softmax of the softmax", named=("twice",))
def _(x):
    for _ in range(2):
        x = right(x)
    return x


wrong(ID, "1 + x in the place of exp", says=r"some numbers are negative|sum to 1")(
    lambda x: (1 + x) / (1 + x).sum(-1, keepdims=True)
)

wrong(ID, "the weights and their sums", says=r"returns 2 things")(lambda x: (right(x), right(x).sum(-1)))


@wrong(ID, "the row's own exponential left out of its sum", named=("others_only",))
def _(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    others = e.sum(-1, keepdims=True) - e
    return e / others


@wrong(ID, "the maximum over axis 0, sums in a loop", named=("max_axis_0",))
def _(x):
    e = np.exp(x - np.max(x, axis=0))
    out = np.zeros(e.shape)
    for place in np.ndindex(e.shape):
        out[place] = e[place] / e[place[:-1]].sum()
    return out


wrong(ID, "zeros taken for hidden scores", says=r"case \"zeros among the scores\"")(
    lambda x: right(np.where(x == 0, -np.inf, x * 1.0)) if (x == 0).any() else right(x)
)


@wrong(ID, "exponentials of what is not zero", says=r"case \"zeros among the scores\"")
def _(x):
    e = np.exp(x - x.max(-1, keepdims=True), where=x != 0, out=np.zeros(x.shape))
    return e / np.maximum(e.sum(-1, keepdims=True), 1e-300)


@wrong(ID, "a set of exponentials, which counts equal ones once", says=r"sums? to 1|one factor for each row")
def _(x):
    flat = [[math.exp(v - max(row)) for v in row] for row in x.reshape(-1, x.shape[-1]).tolist()]
    return np.array([[e / sum(set(row)) for e in row] for row in flat]).reshape(x.shape)
