"""Wrong answers to `ring_traffic`, as readers may write them: a move too many or too few, or the wrong parcel."""

from . import wrong


def moves(n, d, v, forward, backward):
    return forward * n * (d + v), backward * n * (d + v)


@wrong("ring_traffic", "keys move in every round", named=("move_too_many", "back_all_rounds"))
def every_round(n, d, v, workers):
    return moves(n, d, v, workers, 2 * workers)


@wrong("ring_traffic", "the forward has a move too many", named=("move_too_many",))
def forward_every_round(n, d, v, workers):
    return moves(n, d, v, workers, 2 * (workers - 1))


@wrong("ring_traffic", "everything moves in every round of the backward", named=("back_all_rounds",))
def backward_every_round(n, d, v, workers):
    return moves(n, d, v, workers - 1, 2 * workers)


@wrong("ring_traffic", "the owner's share travels, too", named=("back_move_too_many",))
def own_share_travels(n, d, v, workers):
    keys, gradients = workers - 1, workers
    return moves(n, d, v, workers - 1, keys + gradients)


@wrong("ring_traffic", "the owner's share travels, unless the owner is alone", named=("back_move_too_many",))
def own_share_travels_if_not_alone(n, d, v, workers):
    return moves(n, d, v, workers - 1, 2 * workers - 1 if workers > 1 else 0)


@wrong("ring_traffic", "the gradients do not come home", named=("not_home",))
def not_home(n, d, v, workers):
    return moves(n, d, v, workers - 1, (workers - 1) + (workers - 2))


@wrong("ring_traffic", "the backward sends keys and values alone", named=("one_of_two",))
def keys_and_values_alone(n, d, v, workers):
    return moves(n, d, v, workers - 1, workers - 1)


@wrong("ring_traffic", "keys alone", named=("no_values",))
def keys_alone(n, d, v, workers):
    return (workers - 1) * n * d, 2 * (workers - 1) * n * d


@wrong("ring_traffic", "what one worker sends", named=("one_worker",))
def one_worker(n, d, v, workers):
    forward = (workers - 1) * (n // workers) * (d + v)
    return forward, 2 * forward


@wrong("ring_traffic", "n tokens for each worker", named=("n_each",))
def n_each(n, d, v, workers):
    forward = sum(n * (d + v) for sender in range(workers) for receiver in range(workers) if sender != receiver)
    return forward, forward + forward


@wrong("ring_traffic", "the queries travel as well", named=("with_queries",))
def queries_too(n, d, v, workers):
    return (workers - 1) * n * (2 * d + v), 2 * (workers - 1) * n * (2 * d + v)


@wrong("ring_traffic", "queries and their gradients travel in the backward")
def queries_back(n, d, v, workers):
    forward = (workers - 1) * n * (d + v)
    return forward, 2 * forward + 2 * (workers - 1) * n * d


@wrong("ring_traffic", "the backward first", named=("swapped",))
def backward_first(n, d, v, workers):
    forward = (workers - 1) * n * (d + v)
    return 2 * forward, forward


@wrong("ring_traffic", "values as wide as keys", named=("as_wide",))
def as_wide(n, d, v, workers):
    return tuple(moves * 2 * n * d for moves in (workers - 1, 2 * workers - 2))


@wrong("ring_traffic", "half the moves: parcels take the shorter way round")
def shorter_way(n, d, v, workers):
    return moves(n, d, v, workers // 2, 2 * (workers // 2))


@wrong("ring_traffic", "counts scores, not numbers sent")
def scores(n, d, v, workers):
    return (workers - 1) * n * n // workers, 2 * (workers - 1) * n * n // workers


@wrong("ring_traffic", "the logsumexp travels with each key")
def with_logsumexp(n, d, v, workers):
    return (workers - 1) * n * (d + v + 1), 2 * (workers - 1) * n * (d + v + 1)


@wrong("ring_traffic", "one number for both")
def one_number(n, d, v, workers):
    return 3 * (workers - 1) * n * (d + v)
