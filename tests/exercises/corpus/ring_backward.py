"""Wrong answers to `ring_backward`, as readers may write them: what moves, when, how often, and where it ends."""

import numpy as np

from . import wrong


class Ring:
    """What the stub gives: the arrays shared out, `right` and `here`."""

    def __init__(self, d_out, query, key, value, out, logsumexp, workers):
        arrays = d_out, query, key, value, out, logsumexp
        self.d_out, self.query, self.key, self.value, self.out, self.ell = (np.stack(np.split(x, workers)) for x in arrays)
        self.workers, self.sent = workers, 0

    def right(self, x):
        self.sent += x.size
        return np.roll(x, 1, axis=0)

    def here(self, key, value):
        c = 1 / np.sqrt(self.query.shape[-1])
        p = np.exp(c * self.query @ key.mT - self.ell[..., None])
        ds = c * p * (self.d_out @ value.mT - (self.d_out * self.out).sum(-1, keepdims=True))
        return ds @ key, ds.mT @ self.query, p.mT @ self.d_out

    def home(self, d_query, d_key, d_value):
        return *map(np.concatenate, (d_query, d_key, d_value)), self.sent


@wrong("ring_backward", "parcels begin with the own part and move with the keys, W times", named=("every_round",))
def own_part_goes_round(*arguments):
    r = Ring(*arguments)
    key, value, dq, dk, dv = r.key, r.value, 0, np.zeros_like(r.key), np.zeros_like(r.value)
    for _ in range(r.workers):
        a, b, c = r.here(key, value)
        dq, dk, dv = dq + a, r.right(dk + b), r.right(dv + c)
        key, value = r.right(key), r.right(value)
    return r.home(dq, dk, dv)


@wrong("ring_backward", "the own part goes round, the keys stop in time", named=("move_too_many",))
def own_part_goes_round_alone(*arguments):
    r = Ring(*arguments)
    key, value = r.key, r.value
    dq, dk, dv = r.here(key, value)
    for _ in range(r.workers - 1):
        dk, dv, key, value = (r.right(x) for x in (dk, dv, key, value))
        a, b, c = r.here(key, value)
        dq, dk, dv = dq + a, dk + b, dv + c
    if r.workers > 1:
        dk, dv = r.right(dk), r.right(dv)
    return r.home(dq, dk, dv)


@wrong("ring_backward", "empty parcels make a first move", named=("move_too_many",))
def empty_parcel_moves(*arguments):
    r = Ring(*arguments)
    key, value, (dq, own_k, own_v) = r.key, r.value, r.here(r.key, r.value)
    dk, dv = np.zeros_like(key), np.zeros_like(value)
    for _ in range(1, r.workers):
        key, value, dk, dv = r.right(key), r.right(value), r.right(dk), r.right(dv)
        a, b, c = r.here(key, value)
        dq, dk, dv = dq + a, dk + b, dv + c
    return r.home(dq, r.right(dk) + own_k, r.right(dv) + own_v)


@wrong("ring_backward", "keys move before they are tested for the last round: they come home", named=("move_too_many",))
def keys_come_home(*arguments):
    r = Ring(*arguments)
    dq, own_k, own_v = r.here(r.key, r.value)
    key, value = r.right(r.key), r.right(r.value)
    dk, dv = 0 * key, 0 * value
    for _ in range(r.workers - 1):
        a, b, c = r.here(key, value)
        dq, dk, dv = dq + a, r.right(dk + b), r.right(dv + c)
        key, value = r.right(key), r.right(value)
    return r.home(dq, dk + own_k, dv + own_v)


@wrong("ring_backward", "the parcel moves first and is added to after it", named=("not_home",))
def moved_first(*arguments):
    r = Ring(*arguments)
    key, value, (dq, own_k, own_v) = r.key, r.value, r.here(r.key, r.value)
    dk, dv = np.zeros(key.shape), np.zeros(value.shape)
    for _ in range(1, r.workers):
        key, value, dk, dv = map(r.right, (key, value, dk, dv))
        a, b, c = r.here(key, value)
        dq, dk, dv = dq + a, dk + b, dv + c
    return r.home(dq, dk + own_k, dv + own_v)


@wrong("ring_backward", "no move after the last round", named=("last_move",))
def no_last_move(*arguments):
    r = Ring(*arguments)
    key, value, (dq, own_k, own_v) = r.key, r.value, r.here(r.key, r.value)
    dk, dv = np.zeros(key.shape), np.zeros(value.shape)
    for turn in range(1, r.workers):
        key, value = r.right(key), r.right(value)
        a, b, c = r.here(key, value)
        dq, dk, dv = dq + a, dk + b, dv + c
        if turn < r.workers - 1:
            dk, dv = r.right(dk), r.right(dv)
    return r.home(dq, dk + own_k, dv + own_v)


@wrong("ring_backward", "one sum for a worker, of all keys that come by", named=("parcel_stays",))
def sums_stay(*arguments):
    r = Ring(*arguments)
    key, value, dq, dk, dv = r.key, r.value, *r.here(r.key, r.value)
    for _ in range(1, r.workers):
        key, value = r.right(key), r.right(value)
        a, b, c = r.here(key, value)
        dq, dk, dv = dq + a, dk + b, dv + c
    return r.home(dq, dk, dv)


def loop(arguments, start="zeros", body="add", end="own", rounds=0, keys=True):
    """The stub with one place changed."""
    r = Ring(*arguments)
    key, value, (dq, own_k, own_v) = r.key, r.value, r.here(r.key, r.value)
    dk, dv = (own_k, own_v) if start == "own" else (np.zeros(key.shape), np.zeros(value.shape))
    for _ in range(1, r.workers + rounds):
        if keys:
            key, value = r.right(key), r.right(value)
        more, for_k, for_v = r.here(key, value)
        dq = dq + more
        if body == "add":
            dk, dv = r.right(dk + for_k), r.right(dv + for_v)
        if body == "replace":
            dk, dv = r.right(for_k), r.right(for_v)
        if body == "twice":
            dk, dv = r.right(r.right(dk + for_k)), r.right(r.right(dv + for_v))
        if body == "move late":
            dk, dv = r.right(dk) + r.right(for_k), r.right(dv) + r.right(for_v)
        if body == "swapped":
            dk, dv = r.right(dk - for_k), r.right(dv - for_v)
    if end == "own":
        dk, dv = dk + own_k, dv + own_v
    if end == "move":
        dk, dv = r.right(dk) + own_k, r.right(dv) + own_v
    if end == "mean":
        dk, dv = (dk + own_k) / r.workers, (dv + own_v) / r.workers
    return r.home(dq, dk, dv)


@wrong("ring_backward", "parcels begin with the own part, which is added again at home", named=("own_at_start",))
def own_twice(*arguments):
    return loop(arguments, start="own")


@wrong("ring_backward", "parcels begin with the own part and nothing is added at home", named=("own_at_start", "no_own"))
def own_misplaced(*arguments):
    return loop(arguments, start="own", end="")


@wrong("ring_backward", "the own part is forgotten", named=("no_own",))
def own_forgotten(*arguments):
    return loop(arguments, end="")


@wrong("ring_backward", "the contribution replaces the parcel", named=("dropped",))
def replaced(*arguments):
    return loop(arguments, body="replace")


@wrong("ring_backward", "parcels jump over a worker")
def jumps(*arguments):
    return loop(arguments, body="twice")


@wrong("ring_backward", "a contribution is sent beside the parcel and not in it")
def beside(*arguments):
    return loop(arguments, body="move late")


@wrong("ring_backward", "contributions are subtracted from the parcel")
def subtracted(*arguments):
    return loop(arguments, body="swapped")


@wrong("ring_backward", "home, and one move more", named=("past_home",))
def past_home(*arguments):
    return loop(arguments, end="move")


@wrong("ring_backward", "averaged over the workers, as in data parallelism", named=("averaged",))
def averaged(*arguments):
    return loop(arguments, end="mean")


@wrong("ring_backward", "one round too few", named=("round_short",))
def short(*arguments):
    return loop(arguments, rounds=-1)


@wrong("ring_backward", "one round too many", named=("round_more",))
def long(*arguments):
    return loop(arguments, rounds=1)


@wrong("ring_backward", "the keys are forgotten in the loop", named=("keys_stay",))
def keys_stay(*arguments):
    return loop(arguments, keys=False)


@wrong("ring_backward", "contributions travel home one by one", named=("one_by_one",))
def one_by_one(*arguments):
    r = Ring(*arguments)
    key, value, (dq, dk, dv) = r.key, r.value, r.here(r.key, r.value)
    for turn in range(1, r.workers):
        key, value = r.right(key), r.right(value)
        more, for_k, for_v = r.here(key, value)
        for _ in range(r.workers - turn):
            for_k, for_v = r.right(for_k), r.right(for_v)
        dq, dk, dv = dq + more, dk + for_k, dv + for_v
    return r.home(dq, dk, dv)


@wrong("ring_backward", "keys are fetched from their owner anew in each round", named=("one_by_one",))
def fetched_anew(*arguments):
    r = Ring(*arguments)
    dq, own_k, own_v = r.here(r.key, r.value)
    dk, dv = np.zeros_like(own_k), np.zeros_like(own_v)
    for turn in range(1, r.workers):
        key, value = r.key, r.value
        for _ in range(turn):
            key, value = r.right(key), r.right(value)
        more, for_k, for_v = r.here(key, value)
        dq, dk, dv = dq + more, r.right(dk + for_k), r.right(dv + for_v)
    return r.home(dq, dk + own_k, dv + own_v)


@wrong("ring_backward", "np.roll by hand in place of `right`: nothing is counted", named=("not_counted",))
def rolled(*arguments):
    r = Ring(*arguments)
    key, value, (dq, own_k, own_v) = r.key, r.value, r.here(r.key, r.value)
    dk, dv = np.zeros(key.shape), np.zeros(value.shape)
    for _ in range(1, r.workers):
        key, value = np.roll(key, 1, 0), np.roll(value, 1, 0)
        more, for_k, for_v = r.here(key, value)
        dq, dk, dv = dq + more, np.roll(dk + for_k, 1, 0), np.roll(dv + for_v, 1, 0)
    return r.home(dq, dk + own_k, dv + own_v)


@wrong("ring_backward", "the own slices are rolled by hand: parcels are not counted", named=("keys_not_counted",))
def parcels_rolled(*arguments):
    r = Ring(*arguments)
    key, value, (dq, own_k, own_v) = r.key, r.value, r.here(r.key, r.value)
    dk, dv = np.zeros(key.shape), np.zeros(value.shape)
    for _ in range(1, r.workers):
        key, value = r.right(key), r.right(value)
        more, for_k, for_v = r.here(key, value)
        dq, dk, dv = dq + more, np.roll(dk + for_k, 1, 0), np.roll(dv + for_v, 1, 0)
    return r.home(dq, dk + own_k, dv + own_v)


@wrong("ring_backward", "parcels go back the way the keys came, to the left")
def against_the_ring(*arguments):
    r = Ring(*arguments)
    key, value, (dq, own_k, own_v) = r.key, r.value, r.here(r.key, r.value)
    dk, dv = np.zeros(key.shape), np.zeros(value.shape)
    for _ in range(1, r.workers):
        key, value = r.right(key), r.right(value)
        more, for_k, for_v = r.here(key, value)
        r.sent += key.size + value.size
        dq, dk, dv = dq + more, np.roll(dk + for_k, -1, 0), np.roll(dv + for_v, -1, 0)
    return r.home(dq, dk + own_k, dv + own_v)


@wrong("ring_backward", "d_query goes with the parcel", named=("d_query_moves",))
def d_query_travels(*arguments):
    r = Ring(*arguments)
    key, value, (dq, own_k, own_v) = r.key, r.value, r.here(r.key, r.value)
    dk, dv = np.zeros(key.shape), np.zeros(value.shape)
    for _ in range(1, r.workers):
        key, value = r.right(key), r.right(value)
        more, for_k, for_v = r.here(key, value)
        dq, dk, dv = r.right(dq + more), r.right(dk + for_k), r.right(dv + for_v)
    return r.home(dq, dk + own_k, dv + own_v)


@wrong("ring_backward", "d_query is that of the last round", named=("d_query_last",))
def d_query_overwritten(*arguments):
    r = Ring(*arguments)
    key, value, (dq, own_k, own_v) = r.key, r.value, r.here(r.key, r.value)
    dk, dv = np.zeros(key.shape), np.zeros(value.shape)
    for _ in range(1, r.workers):
        key, value = r.right(key), r.right(value)
        dq, for_k, for_v = r.here(key, value)
        dk, dv = r.right(dk + for_k), r.right(dv + for_v)
    return r.home(dq, dk + own_k, dv + own_v)


@wrong("ring_backward", "a worker normalises over the keys that are here", named=("own_logsumexp",))
def own_softmax(*arguments):
    r = Ring(*arguments)

    def here(key, value):
        c = 1 / np.sqrt(r.query.shape[-1])
        e = np.exp(c * r.query @ key.mT)
        p = e / e.sum(-1, keepdims=True)
        ds = c * p * (r.d_out @ value.mT - (r.d_out * r.out).sum(-1, keepdims=True))
        return ds @ key, ds.mT @ r.query, p.mT @ r.d_out

    r.here = here
    key, value, (dq, own_k, own_v) = r.key, r.value, r.here(r.key, r.value)
    dk, dv = np.zeros(key.shape), np.zeros(value.shape)
    for _ in range(1, r.workers):
        key, value = r.right(key), r.right(value)
        more, for_k, for_v = r.here(key, value)
        dq, dk, dv = dq + more, r.right(dk + for_k), r.right(dv + for_v)
    return r.home(dq, dk + own_k, dv + own_v)


@wrong("ring_backward", "each worker's gradients from its own keys alone, and nothing is sent")
def alone(*arguments):
    r = Ring(*arguments)
    return r.home(*r.here(r.key, r.value))


@wrong("ring_backward", "counts what one worker sends")
def one_worker(*arguments):
    *grads, sent = loop(arguments)
    return *grads, sent // arguments[-1]


@wrong("ring_backward", "the arrays stay shared out")
def not_joined(*arguments):
    *grads, sent = loop(arguments)
    return *(np.stack(np.split(x, arguments[-1])) for x in grads), sent


@wrong("ring_backward", "gradients of values and keys in the wrong order")
def wrong_order(*arguments):
    dq, dk, dv, sent = loop(arguments)
    return dq, dv, dk, sent
