"""Wrong answers to `merge_partials`, as readers may write them."""

import numpy as np

from . import wrong


def masses(ma, la, mb, lb):
    m = np.maximum(ma, mb)
    f = np.where(np.isneginf(m), 0.0, m)
    return m, la * np.exp(ma - f), lb * np.exp(mb - f)


def safe(x):
    return np.where(x == 0, 1, x)


@wrong("merge_partials", "the plain mean", named=("average",))
def plain_mean(ma, la, oa, mb, lb, ob):
    m, wa, wb = masses(ma, la, mb, lb)
    return m, wa + wb, np.mean([oa, ob], axis=0)


@wrong("merge_partials", "the sum of the outputs", named=("added",))
def plain_sum(ma, la, oa, mb, lb, ob):
    m, wa, wb = masses(ma, la, mb, lb)
    return m, wa + wb, oa + ob


@wrong("merge_partials", "everything averaged")
def everything_averaged(ma, la, oa, mb, lb, ob):
    return (ma + mb) / 2, (la + lb) / 2, (oa + ob) / 2


@wrong("merge_partials", "shares of the totals as they are", named=("l_only",))
def shares_of_totals(ma, la, oa, mb, lb, ob):
    t = la + lb
    return np.maximum(ma, mb), t, (la / safe(t))[:, None] * oa + (lb / safe(t))[:, None] * ob


@wrong("merge_partials", "shares of the totals as they are, the total right", named=("shares_l_only",))
def shares_of_totals_total_right(ma, la, oa, mb, lb, ob):
    m, wa, wb = masses(ma, la, mb, lb)
    t = safe(la + lb)
    return m, wa + wb, (la[:, None] * oa + lb[:, None] * ob) / t[:, None]


@wrong("merge_partials", "shares of exp(m) alone", named=("a_only",))
def shares_without_totals(ma, la, oa, mb, lb, ob):
    m, wa, wb = masses(ma, la, mb, lb)
    f = np.where(np.isneginf(m), 0, m)
    ea, eb = np.exp(ma - f)[:, None], np.exp(mb - f)[:, None]
    return m, wa + wb, (ea * oa + eb * ob) / safe(ea + eb)


@wrong("merge_partials", "shares of exp(m) alone, also in the total")
def no_totals_at_all(ma, la, oa, mb, lb, ob):
    m, ea, eb = masses(ma, np.ones_like(la), mb, np.ones_like(lb))
    t = ea + eb
    return m, t, (ea[:, None] * oa + eb[:, None] * ob) / safe(t)[:, None]


@wrong("merge_partials", "unnormalised outputs are expected, then divided", named=("sums_divided",))
def sums_divided(ma, la, oa, mb, lb, ob):
    m, wa, wb = masses(ma, la, mb, lb)
    f = np.where(np.isneginf(m), 0, m)
    out = np.exp(ma - f)[:, None] * oa + np.exp(mb - f)[:, None] * ob
    return m, wa + wb, out / safe(wa + wb)[:, None]


@wrong("merge_partials", "unnormalised outputs are expected", named=("unnormalised",))
def sums_added(ma, la, oa, mb, lb, ob):
    m, wa, wb = masses(ma, la, mb, lb)
    f = np.where(np.isneginf(m), 0, m)
    return m, wa + wb, np.exp(ma - f)[:, None] * oa + np.exp(mb - f)[:, None] * ob


@wrong("merge_partials", "masses times outputs, never divided", named=("no_division",))
def never_divided(ma, la, oa, mb, lb, ob):
    m, wa, wb = masses(ma, la, mb, lb)
    return m, wa + wb, wa[:, None] * oa + wb[:, None] * ob


@wrong("merge_partials", "the totals added, out right", named=("totals_added",))
def totals_added(ma, la, oa, mb, lb, ob):
    m, wa, wb = masses(ma, la, mb, lb)
    t = safe(wa + wb)[:, None]
    return m, la + lb, wa[:, None] / t * oa + wb[:, None] / t * ob


@wrong("merge_partials", "divided by the totals added", named=("total_unscaled",))
def divided_by_totals_added(ma, la, oa, mb, lb, ob):
    m, wa, wb = masses(ma, la, mb, lb)
    t = la + lb
    return m, t, (wa[:, None] * oa + wb[:, None] * ob) / safe(t)[:, None]


@wrong("merge_partials", "divided by the totals added, the total itself right", named=("over_totals",))
def out_divided_by_totals_added(ma, la, oa, mb, lb, ob):
    m, wa, wb = masses(ma, la, mb, lb)
    return m, wa + wb, (wa[:, None] * oa + wb[:, None] * ob) / safe(la + lb)[:, None]


@wrong("merge_partials", "the factors upside down", named=("factor_inv",))
def factors_upside_down(ma, la, oa, mb, lb, ob):
    m = np.maximum(ma, mb)
    f = np.where(np.isneginf(m), 0, m)
    wa, wb = la * np.exp(f - ma), lb * np.exp(f - mb)
    t = wa + wb
    return m, t, (wa[:, None] * oa + wb[:, None] * ob) / safe(t)[:, None]


@wrong("merge_partials", "no maximum: exp(m) times the total", named=("no_shift",))
def no_shift(ma, la, oa, mb, lb, ob):
    wa, wb = la * np.exp(ma), lb * np.exp(mb)
    m = np.maximum(ma, mb)
    t = wa + wb
    out = (wa[:, None] * oa + wb[:, None] * ob) / safe(t)[:, None]
    return m, t * np.exp(-np.where(np.isneginf(m), 0, m)), out


@wrong("merge_partials", "the total measured against 0", named=("against_zero",))
def total_against_zero(ma, la, oa, mb, lb, ob):
    wa, wb = la * np.exp(ma), lb * np.exp(mb)
    t = wa + wb
    return np.maximum(ma, mb), t, (wa[:, None] * oa + wb[:, None] * ob) / safe(t)[:, None]


@wrong("merge_partials", "the common maximum is the sum", named=())
def maxima_added(ma, la, oa, mb, lb, ob):
    m = ma + mb
    wa, wb = la * np.exp(ma - m), lb * np.exp(mb - m)
    return m, wa + wb, (wa[:, None] * oa + wb[:, None] * ob) / (wa + wb)[:, None]


@wrong("merge_partials", "the maximum of the second part", named=("second",))
def second_maximum(ma, la, oa, mb, lb, ob):
    f = np.where(np.isneginf(mb), 0, mb)
    wa, wb = la * np.exp(ma - f), lb * np.exp(mb - f)
    return mb, wa + wb, (wa[:, None] * oa + wb[:, None] * ob) / safe(wa + wb)[:, None]


@wrong("merge_partials", "the smaller of the two maxima", named=("smaller",))
def smaller_maximum(ma, la, oa, mb, lb, ob):
    m = np.minimum(ma, mb)
    wa, wb = la * np.exp(ma - m), lb * np.exp(mb - m)
    return m, wa + wb, (wa[:, None] * oa + wb[:, None] * ob) / (wa + wb)[:, None]


@wrong("merge_partials", "the logsumexp in place of the maximum, the total 1", named=())
def logsumexp_and_one(ma, la, oa, mb, lb, ob):
    a, b = ma + np.log(la), mb + np.log(lb)
    both = np.logaddexp(a, b)
    f = np.where(np.isneginf(both), 0, both)
    return both, np.where(np.isneginf(both), 0.0, 1.0), np.exp(a - f)[:, None] * oa + np.exp(b - f)[:, None] * ob


@wrong("merge_partials", "the logsumexp as the total", named=("total_is_lse",))
def logsumexp_as_total(ma, la, oa, mb, lb, ob):
    m, wa, wb = masses(ma, la, mb, lb)
    t = wa + wb
    return m, m + np.log(safe(t)), (wa[:, None] * oa + wb[:, None] * ob) / safe(t)[:, None]


@wrong("merge_partials", "each output with the other's share", named=("swapped",))
def other_share(ma, la, oa, mb, lb, ob):
    m, wa, wb = masses(ma, la, mb, lb)
    t = wa + wb
    share = (wa / safe(t))[:, None]
    return m, t, np.where((t > 0)[:, None], share * ob + (1 - share) * oa, 0)


@wrong("merge_partials", "NaN where neither sees a key", named=("nan_rows",))
def careless(ma, la, oa, mb, lb, ob):
    m = np.maximum(ma, mb)
    wa, wb = la * np.exp(ma - m), lb * np.exp(mb - m)
    t = wa + wb
    return m, t, (wa[:, None] * oa + wb[:, None] * ob) / t[:, None]


@wrong("merge_partials", "0 / 0 where neither sees a key, no -inf - (-inf)", named=("nan_division",))
def careless_division(ma, la, oa, mb, lb, ob):
    m, wa, wb = masses(ma, la, mb, lb)
    t = wa + wb
    return m, t, (wa[:, None] * oa + wb[:, None] * ob) / t[:, None]


@wrong("merge_partials", "by logsumexp, careless", named=("nan_rows",))
def careless_logsumexp(ma, la, oa, mb, lb, ob):
    a, b = ma + np.log(la), mb + np.log(lb)
    both = np.logaddexp(a, b)
    m = np.maximum(ma, mb)
    return m, np.exp(both - m), np.exp(a - both)[:, None] * oa + np.exp(b - both)[:, None] * ob


@wrong("merge_partials", "one maximum for all queries", named=("one_for_all",))
def one_maximum(ma, la, oa, mb, lb, ob):
    m = max(ma.max(), mb.max())
    wa, wb = la * np.exp(ma - m), lb * np.exp(mb - m)
    return np.maximum(ma, mb), wa + wb, (wa[:, None] * oa + wb[:, None] * ob) / safe(wa + wb)[:, None]


@wrong("merge_partials", "the part with the larger maximum takes all", named=())
def larger_takes_all(ma, la, oa, mb, lb, ob):
    first = ma >= mb
    return np.where(first, ma, mb), np.where(first, la, lb), np.where(first[:, None], oa, ob)


@wrong("merge_partials", "only the first part is rescaled: wrong if its maximum is larger", named=("first_only",))
def only_the_first_rescaled(ma, la, oa, mb, lb, ob):
    m, wa, _ = masses(ma, la, mb, lb)
    t = wa + lb
    return m, t, (wa[:, None] * oa + lb[:, None] * ob) / safe(t)[:, None]


@wrong("merge_partials", "out first", says=r"order of the outputs")
def out_first(ma, la, oa, mb, lb, ob):
    m, wa, wb = masses(ma, la, mb, lb)
    t = wa + wb
    return (wa[:, None] * oa + wb[:, None] * ob) / safe(t)[:, None], m, t


@wrong("merge_partials", "no axis for the features: broadcast along them", says=r"\(4,\) \(4,2\)")
def no_axis_for_features(ma, la, oa, mb, lb, ob):
    m, wa, wb = masses(ma, la, mb, lb)
    t = wa + wb
    return m, t, (wa * oa + wb * ob) / safe(t)


@wrong("merge_partials", "columns returned", says=r"axis of size 1 is too many")
def columns_returned(ma, la, oa, mb, lb, ob):
    m, wa, wb = (x[:, None] for x in masses(ma, la, mb, lb))
    return m, wa + wb, (wa * oa + wb * ob) / safe(wa + wb)


@wrong(
    "merge_partials", "hidden rows by -1e9, and so counted",
    says=r"some rows see nothing in a part, or at all.*maximum",
)
def minus_1e9_for_minus_infinity(ma, la, oa, mb, lb, ob):
    ma, mb = np.maximum(ma, -1e9), np.maximum(mb, -1e9)
    m = np.maximum(ma, mb)
    wa, wb = la * np.exp(ma - m), lb * np.exp(mb - m)
    return m, wa + wb, (wa[:, None] * oa + wb[:, None] * ob) / safe(wa + wb)[:, None]


@wrong(
    "merge_partials", "empty rows: out of the first part is divided away",
    says=r"some rows see nothing in a part, or at all.*maximum",
)
def branch_for_the_whole(ma, la, oa, mb, lb, ob):
    if np.isneginf(mb).any():
        return ma, la, oa
    m, wa, wb = masses(ma, la, mb, lb)
    return m, wa + wb, (wa[:, None] * oa + wb[:, None] * ob) / safe(wa + wb)[:, None]
