"""The exercise on the backward pass of a ring: keys and values travel, and a parcel of their gradients follows them."""

import math

import numpy as np

from attnexercises.engine.model import Exercise, Mistake, Probe


def ring_backward(d_out, query, key, value, out, logsumexp, workers):
    arrays, sent = (d_out, query, key, value, out, logsumexp), []
    d_out, query, key, value, out, logsumexp = (np.stack(np.split(x, workers)) for x in arrays)

    def right(x):  # worker w gets what worker w - 1 had
        sent.append(x.size)
        return np.roll(x, 1, axis=0)

    def here(key, value):  # gradients from the keys that are here
        scale = 1 / np.sqrt(query.shape[-1])
        weights = np.exp(scale * query @ key.mT - logsumexp[..., np.newaxis])
        row_mean = (d_out * out).sum(axis=-1, keepdims=True)
        d_scores = scale * weights * (d_out @ value.mT - row_mean)
        return d_scores @ key, d_scores.mT @ query, weights.mT @ d_out

    d_query, own_key, own_value = here(key, value)  # round 0: these stay at home
    d_key, d_value = np.zeros(key.shape), np.zeros(value.shape)
    for turn in range(1, workers):
        key, value = right(key), right(value)
        more, for_key, for_value = here(key, value)
        d_query = d_query + more
        # the parcel for the keys that are here: add to it, pass it on
        d_key, d_value = right(d_key + for_key), right(d_value + for_value)
    d_key, d_value = d_key + own_key, d_value + own_value
    return *map(np.concatenate, (d_query, d_key, d_value)), sum(sent)


def _oracle(d_out, query, key, value, out, logsumexp, workers):
    """Every query meets every key, one pair at a time; and every parcel is followed from link to link."""
    n, d = query.shape
    d_query, d_key, d_value = np.zeros(query.shape), np.zeros(key.shape), np.zeros(value.shape)
    for i in range(n):
        scores = [math.fsum((query[i] * key[j]).tolist()) / math.sqrt(d) for j in range(n)]
        weights = [math.exp(score - logsumexp[i]) for score in scores]
        d_weights = [math.fsum((d_out[i] * value[j]).tolist()) for j in range(n)]
        mean = math.fsum((d_out[i] * out[i]).tolist())
        for j, weight, d_weight in zip(range(n), weights, d_weights, strict=True):
            d_value[j] += weight * d_out[i]
            d_query[i] += weight * (d_weight - mean) * key[j] / math.sqrt(d)
            d_key[j] += weight * (d_weight - mean) * query[i] / math.sqrt(d)
    sent = 0
    for owner in range(workers):
        numbers = n // workers * (d + value.shape[1])
        for _worker in (w for w in range(workers) if w != owner):
            sent += numbers  # keys and values, on the link into this worker
            sent += numbers  # their gradients, on the link out of it
    return d_query, d_key, d_value, sent


def _ring(workers, size, d, v):
    def make(rng):
        query, key = rng.standard_normal((workers * size, d)), rng.standard_normal((workers * size, d))
        value, d_out = rng.standard_normal((workers * size, v)), rng.standard_normal((workers * size, v))
        return _with_forward((d_out, query, key, value, None, None, workers))

    return make


def _with_forward(arguments):
    """The same arguments with `out` and `logsumexp` as the ring's forward gives them: over the keys of all workers."""
    d_out, query, key, value, _, _, workers = arguments
    if len(query) % workers:
        raise ValueError("the tokens cannot be shared evenly")
    scores = query @ key.T / math.sqrt(query.shape[1])
    logsumexp = np.logaddexp.reduce(scores, axis=1)
    out = np.exp(scores - logsumexp[:, np.newaxis]) @ value
    return d_out, query, key, value, out, logsumexp, workers


_ALONE = (
    "d_key, d_value = right(d_key + for_key), right(d_value + for_value) -> for _ in range(turn, workers):\n"
    "    for_key, for_value = right(for_key), right(for_value)\n"
    "d_key, d_value = d_key + for_key, d_value + for_value"
)
_MISTAKES = (
    Mistake("move_too_many", "return *map( -> key, value = right(key), right(value)\nreturn *map(",
        "One thing makes a move too many: the owner's own contribution can stay at home, and after the last round no worker needs the "
        "keys.", 3, sets="sent"),
    Mistake("every_round",
        "return *map( -> key, value, own_key, own_value = right(key), right(value), np.roll(right(own_key), -1, 0), np.roll(right(own_value), -1, 0)\nreturn *map(",
        "Keys and parcels both make a move too many: after the last round no worker needs the keys, and the owner's own contribution "
        "can stay at home.", 3, sets="sent"),
    Mistake("one_by_one", _ALONE,
        "Something starts its way anew in each round. Keys move on from where they are, and a single parcel collects all contributions.",
        2, sets="parcel sent"),
    Mistake("not_counted", "sent.append(x.size) ->",
        "Your moves are not counted. What a worker gets from its neighbour has to go through `right`.", 1, sets="sent"),
    Mistake("keys_not_counted", "right(key), right(value) -> np.roll(key, 1, axis=0), np.roll(value, 1, axis=0)",
        "The moves of keys and values, or those of their gradients, are not counted. Everything that moves has to go through `right`.",
        1, sets="keys sent"),
    Mistake("moves_counted", "x.size -> 1", "You counted moves. `sent` counts the numbers that move.", 1, sets="sent"),
    Mistake("tokens_counted", "x.size -> x.shape[0] * x.shape[1]",
        "You counted tokens. `sent` counts the numbers that move, and a key or a value is several numbers.", 1, sets="sent"),
    Mistake("not_home", ("right(d_key + for_key) -> right(d_key) + for_key", "right(d_value + for_value) -> right(d_value) + for_value"),
        "A parcel moves before a worker adds to it, and not afterwards. So at the end it lies with its owner's left neighbour.",
        3, sets="parcel"),
    Mistake("last_move",
        ("right(d_key + for_key) -> (right if turn < workers - 1 else np.copy)(d_key + for_key)",
         "right(d_value + for_value) -> (right if turn < workers - 1 else np.copy)(d_value + for_value)"),
        "The parcels lack their last move, from the last worker that adds something to the owner.", 3, sets="parcel sent"),
    Mistake("past_home", ("d_key + own_key -> right(d_key) + own_key", "d_value + own_value -> right(d_value) + own_value"),
        "The parcels move once more after they are home. So at the end each lies with its owner's right neighbour.", 3, sets="own sent"),
    Mistake("parcel_stays", ("right(d_key + for_key) -> d_key + for_key", "right(d_value + for_value) -> d_value + for_value"),
        "The sums d_key and d_value stay where they are while the keys move on, so one sum collects contributions to the keys of many "
        "workers.", 2, sets="parcel sent"),
    Mistake("d_key_stays", "right(d_key + for_key) -> d_key + for_key",
        "In your parcel only d_value travels. d_key has to follow the keys as well.", 2, sets="parcel sent"),
    Mistake("d_value_stays", "right(d_value + for_value) -> d_value + for_value",
        "In your parcel only d_key travels. d_value has to follow the values as well.", 2, sets="parcel sent"),
    Mistake("dropped", ("right(d_key + for_key) -> right(for_key)", "right(d_value + for_value) -> right(for_value)"),
        "The parcel that arrives is replaced by the worker's contribution. The contribution has to be added to it.", 2, sets="parcel"),
    Mistake("no_own", ("d_key + own_key -> d_key", "d_value + own_value -> d_value"),
        "The contribution of the owner itself, from round 0, is never added.", 3, sets="own"),
    Mistake("own_at_start", "np.zeros(key.shape), np.zeros(value.shape) -> own_key, own_value",
        "A parcel starts with a worker's contribution to its own keys. But in round 1 it is the parcel of the keys that have just "
        "arrived.", 3, sets="start"),
    Mistake("keys_stay", "key, value = right(key), right(value) ->",
        "The keys and values never move, so the queries of a worker meet the same keys in every round.", 1, sets="keys sent"),
    Mistake("values_stay", "key, value = right(key), right(value) -> key = right(key)",
        "The keys move without their values. A value has to travel with its key.", 1, sets="keys sent"),
    Mistake("values_alone", "key, value = right(key), right(value) -> value = right(value)",
        "The values move without their keys. A key has to travel with its value.", 1, sets="keys sent"),
    Mistake("keys_late",
        ("key, value = right(key), right(value) ->",
         "more, for_key, for_value = here(key, value) -> more, for_key, for_value = here(key, value)\nkey, value = right(key), right(value)"),
        "The gradients of a round are computed before its keys arrive. So the worker's own keys are used twice.", 1, sets="keys"),
    Mistake("queries_move", "key, value = right(key), right(value) -> query, key, value = right(query), right(key), right(value)",
        "The queries move together with the keys, so they meet the same keys in every round. Queries have to stay.", 1, sets="keys sent"),
    Mistake("d_query_last", "d_query + more -> more",
        "d_query holds the last round alone. It is a sum over the keys of all rounds.", 1, sets="query"),
    Mistake("d_query_first", "d_query = d_query + more ->",
        "d_query holds round 0 alone. It is a sum over the keys of all rounds.", 1, sets="query"),
    Mistake("d_query_moves", "d_query + more -> right(d_query + more)",
        "The sum d_query moves. Queries stay where they are, so their gradient stays with them.", 1, sets="query sent"),
    Mistake("round_short", "range(1, workers) -> range(1, workers - 1)",
        "The loop ends one round too early. With round 0 there are as many rounds as workers.", 1, sets="rounds"),
    Mistake("round_more", "range(1, workers) -> range(workers)",
        "The loop has one round too many, and in the last one the keys are home again. Round 0 stands before the loop.", 1, sets="rounds"),
    Mistake("averaged", ("d_key + own_key, d_value + own_value -> (d_key + own_key) / workers, (d_value + own_value) / workers",),
        "The contributions of the workers were averaged. The gradient of a key is their sum.", 2, sets="own"),
    Mistake("own_logsumexp", "logsumexp[..., np.newaxis] -> np.log(np.exp(scale * query @ key.mT).sum(axis=-1, keepdims=True))",
        "The weights are normalised over the keys that are here. The saved logsumexp is over the keys of all workers.", 1, sets="weights"),
    Mistake("own_mean", "(d_out * out).sum(axis=-1, keepdims=True) -> (weights * (d_out @ value.mT)).sum(axis=-1, keepdims=True)",
        "The row's mean D is taken over the keys that are here. It has to cover the keys of all workers, and d_out and out give it.",
        1, sets="D"),
)  # fmt: skip

_BACKWARD = Exercise(
    title="Write the backward of a ring", level="medium", minutes=20, blanks=5, oracle=_oracle, solution=ring_backward,
    consistent=_with_forward,
    probes=(
        Probe("12 tokens, 4 workers", _ring(4, 3, 5, 2)),
        Probe("9 tokens of width 3, 3 workers", _ring(3, 3, 3, 3), "equal", why="Mixed-up axes raise no error here."),
        Probe("2 tokens, two workers", _ring(2, 1, 4, 3), why="The smallest ring, in which every parcel makes one move."),
        Probe("10 tokens, 5 workers", _ring(5, 2, 3, 4), why="An odd ring, and values that are wider than the keys."),
        Probe("one worker", _ring(1, 5, 4, 2), "edge", why="Nobody is there to send anything to."),
    ),
    mistakes=_MISTAKES,
    hints=(
        "In each round the keys and values move first. Then `here` gives three things: one is for the queries, which stay, and "
        "two are for the keys that are here now. Whose keys are these?",
        "Follow the parcel of worker 0 through a ring of three. Worker 1 starts it and passes it on, worker 2 adds its contribution "
        "to what has come and passes it on, and then the parcel is at home.",
        "Begin with parcels of zeros. In each round add `for_key` and `for_value` to the parcel that lies here, and only then pass "
        "it to the right. After the loop each parcel is home, and the owner adds its own contribution from round 0.",
    ),
    why="In round `turn` a worker holds the keys that started `turn` workers to its left, and the parcel of the same keys. So the parcel "
    "needs no address: it moves whenever its keys move on, and one last time to come home.",
    insight="No worker ever sees a query of another, and yet each key has the gradient of the whole text.",
    outputs=("d_query", "d_key", "d_value", "sent"),
    cancelling=(frozenset({"round_short", "round_more"}),),
)  # fmt: skip
