"""Wrong answers to `merge_partials`, as readers may write them."""

import numpy as np

from . import wrong


def masses(la, lb):
    m = np.maximum(la, lb)
    f = np.where(np.isneginf(m), 0.0, m)
    return m, np.exp(la - f), np.exp(lb - f)


def safe(x):
    return np.where(x == 0, 1, x)


def mean(wa, oa, wb, ob):
    return (wa[:, None] * oa + wb[:, None] * ob) / safe(wa + wb)[:, None]


@wrong("merge_partials", "the plain mean", named=("average",))
def plain_mean(oa, la, ob, lb):
    return np.mean([oa, ob], axis=0), np.logaddexp(la, lb)


@wrong("merge_partials", "the sum of the outputs", named=("added",))
def plain_sum(oa, la, ob, lb):
    return oa + ob, np.logaddexp(la, lb)


@wrong("merge_partials", "everything averaged", named=("average", "lse_averaged"))
def everything_averaged(oa, la, ob, lb):
    return (oa + ob) / 2, (la + lb) / 2


@wrong("merge_partials", "everything added", named=("added", "lse_added"))
def everything_added(oa, la, ob, lb):
    return oa + ob, la + lb


@wrong("merge_partials", "the logsumexps added, out right", named=("lse_added",))
def logs_added(oa, la, ob, lb):
    m, wa, wb = masses(la, lb)
    return mean(wa, oa, wb, ob), la + lb


@wrong("merge_partials", "the larger logsumexp returned, out right", named=("lse_larger",))
def larger_log(oa, la, ob, lb):
    m, wa, wb = masses(la, lb)
    return mean(wa, oa, wb, ob), m


@wrong("merge_partials", "the total without a logarithm", named=("no_log",))
def total_without_log(oa, la, ob, lb):
    m, wa, wb = masses(la, lb)
    return mean(wa, oa, wb, ob), m + wa + wb


@wrong("merge_partials", "the logarithm of the total, the maximum forgotten", named=("unit_forgotten",))
def maximum_forgotten(oa, la, ob, lb):
    m, wa, wb = masses(la, lb)
    return mean(wa, oa, wb, ob), np.log(wa + wb)


@wrong("merge_partials", "the total itself", named=("lse_total",))
def total_itself(oa, la, ob, lb):
    m, wa, wb = masses(la, lb)
    return mean(wa, oa, wb, ob), wa + wb


@wrong("merge_partials", "the logarithm of the mean", named=("mean_lse",))
def log_of_the_mean(oa, la, ob, lb):
    m, wa, wb = masses(la, lb)
    return mean(wa, oa, wb, ob), np.logaddexp(la, lb) - np.log(2)


@wrong("merge_partials", "the logsumexps as weights", named=("no_exponential",))
def logs_as_weights(oa, la, ob, lb):
    return mean(la, oa, lb, ob), np.logaddexp(la, lb)


@wrong("merge_partials", "masses times outputs, never divided", named=("not_divided",))
def never_divided(oa, la, ob, lb):
    m, wa, wb = masses(la, lb)
    return wa[:, None] * oa + wb[:, None] * ob, np.logaddexp(la, lb)


@wrong("merge_partials", "the factors upside down", named=("factor_inv",))
def factors_upside_down(oa, la, ob, lb):
    m = np.maximum(la, lb)
    f = np.where(np.isneginf(m), 0, m)
    wa, wb = np.exp(f - la), np.exp(f - lb)
    t = wa + wb
    return (wa / t)[:, None] * oa + (wb / t)[:, None] * ob, m + np.log(t)


@wrong("merge_partials", "no maximum: the exponentials as they are", named=("no_shift",))
def no_shift(oa, la, ob, lb):
    wa, wb = np.exp(la), np.exp(lb)
    return mean(wa, oa, wb, ob), np.log(wa + wb)


@wrong("merge_partials", "the common maximum is the sum", named=())
def maxima_added(oa, la, ob, lb):
    m = la + lb
    wa, wb = np.exp(la - m), np.exp(lb - m)
    return (wa[:, None] * oa + wb[:, None] * ob) / (wa + wb)[:, None], m + np.log(wa + wb)


@wrong("merge_partials", "measured against the second part", named=("second",))
def second_maximum(oa, la, ob, lb):
    f = np.where(np.isneginf(lb), 0, lb)
    wa, wb = np.exp(la - f), np.exp(lb - f)
    return mean(wa, oa, wb, ob), lb + np.log(safe(wa + wb))


@wrong("merge_partials", "measured against the smaller of the two", named=("smaller",))
def smaller_maximum(oa, la, ob, lb):
    m = np.minimum(la, lb)
    f = np.where(np.isneginf(m), 0, m)
    wa, wb = np.exp(la - f), np.exp(lb - f)
    return mean(wa, oa, wb, ob), m + np.log(safe(wa + wb))


@wrong("merge_partials", "each output with the other's share", named=("swapped",))
def other_share(oa, la, ob, lb):
    m, wa, wb = masses(la, lb)
    return mean(wb, oa, wa, ob), np.logaddexp(la, lb)


@wrong("merge_partials", "NaN where neither sees a key", named=("nan_rows",))
def careless(oa, la, ob, lb):
    m = np.maximum(la, lb)
    wa, wb = np.exp(la - m), np.exp(lb - m)
    t = wa + wb
    return (wa[:, None] * oa + wb[:, None] * ob) / t[:, None], m + np.log(t)


@wrong("merge_partials", "0 / 0 where neither sees a key, no -inf - (-inf)", named=("nan_division",))
def careless_division(oa, la, ob, lb):
    m, wa, wb = masses(la, lb)
    t = wa + wb
    return (wa[:, None] * oa + wb[:, None] * ob) / t[:, None], m + np.log(t)


@wrong("merge_partials", "by logaddexp, careless", named=("nan_division",), says=r"NaN")
def careless_logaddexp(oa, la, ob, lb):
    both = np.logaddexp(la, lb)
    return np.exp(la - both)[:, None] * oa + np.exp(lb - both)[:, None] * ob, both


@wrong("merge_partials", "one maximum for all queries", named=("one_for_all",))
def one_maximum(oa, la, ob, lb):
    m = max(la.max(), lb.max())
    wa, wb = np.exp(la - m), np.exp(lb - m)
    return mean(wa, oa, wb, ob), m + np.log(wa + wb)


@wrong("merge_partials", "the part with the larger logsumexp takes all", named=("larger_alone", "lse_larger"))
def larger_takes_all(oa, la, ob, lb):
    first = la >= lb
    return np.where(first[:, None], oa, ob), np.where(first, la, lb)


@wrong("merge_partials", "only the first part is measured: wrong if its logsumexp is larger", named=("first_only",))
def only_the_first_rescaled(oa, la, ob, lb):
    m, wa, _ = masses(la, lb)
    wb = np.ones_like(wa)
    return mean(wa, oa, wb, ob), m + np.log(wa + wb)


@wrong("merge_partials", "the logsumexp first", says=r"order of the outputs")
def logsumexp_first(oa, la, ob, lb):
    m, wa, wb = masses(la, lb)
    return np.logaddexp(la, lb), mean(wa, oa, wb, ob)


@wrong("merge_partials", "no axis for the features: broadcast along them", says=r"\(4,\) \(4,2\)")
def no_axis_for_features(oa, la, ob, lb):
    m, wa, wb = masses(la, lb)
    return (wa * oa + wb * ob) / safe(wa + wb), np.logaddexp(la, lb)


@wrong("merge_partials", "columns returned", says=r"axis of size 1 is too many")
def columns_returned(oa, la, ob, lb):
    m, wa, wb = masses(la, lb)
    return mean(wa, oa, wb, ob), np.logaddexp(la, lb)[:, None]


@wrong("merge_partials", "hidden rows by -1e9, and so counted", says=r"some rows see nothing in a part, or at all.*logsumexp")
def minus_1e9_for_minus_infinity(oa, la, ob, lb):
    la, lb = np.maximum(la, -1e9), np.maximum(lb, -1e9)
    m = np.maximum(la, lb)
    wa, wb = np.exp(la - m), np.exp(lb - m)
    return mean(wa, oa, wb, ob), m + np.log(wa + wb)


@wrong("merge_partials", "empty rows: the other part is thrown away", says=r"some rows see nothing in a part, or at all")
def branch_for_the_whole(oa, la, ob, lb):
    if np.isneginf(lb).any():
        return oa, la
    m, wa, wb = masses(la, lb)
    return mean(wa, oa, wb, ob), m + np.log(wa + wb)
