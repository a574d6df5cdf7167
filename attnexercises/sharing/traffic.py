"""The exercise on what the workers of a ring send to each other, forward and backward."""

from attnexercises.engine.model import Exercise, Mistake, Probe


def ring_traffic(n, d, v, workers):
    one_move = n * (d + v)  # all keys and values, each to the next worker
    forward = (workers - 1) * one_move
    backward = 2 * (workers - 1) * one_move  # their gradients make as many moves
    return forward, backward


def _oracle(n, d, v, workers):
    """Follow the parcels of each worker around the ring, link by link."""
    forward, backward = 0, 0
    for owner in range(workers):
        numbers = (n // workers) * (d + v)
        place = owner
        while (place + 1) % workers != owner:  # the next worker has not seen these keys
            place = (place + 1) % workers
            forward += numbers
            backward += numbers
        first = (owner + 1) % workers  # the first worker, apart from the owner, with a part of the gradients
        while first != owner:
            first = (first + 1) % workers
            backward += numbers
    return forward, backward


_RING = Exercise(
    "ring_traffic",
    title="What the ring sends",
    chapter="sharing",
    level="medium",
    minutes=10,
    blanks=3,
    oracle=_oracle,
    solution=ring_traffic,
    probes=(
        Probe("48 tokens, 4 workers", lambda rng: (48, 8, 5, 4)),
        Probe("60 tokens, 5 workers", lambda rng: (60, 3, 7, 5), why="Values that are wider than the keys."),
        Probe("two workers", lambda rng: (4, 3, 2, 2), why="The smallest ring, in which every parcel makes one move."),
        Probe("one worker", lambda rng: (7, 4, 6, 1), "edge", why="Nobody is there to send anything to."),
    ),
    mistakes=(
        Mistake("move_too_many", "forward = (workers - 1) -> forward = workers",
                "Your forward has a move after the last round, when no worker needs these keys any more.", 1, sets="forward"),
        Mistake("back_move_too_many", "2 * (workers - 1) * one_move -> (2 * workers - 1) * one_move",
                "The backward has one move too many: an owner's own part of the sum stays at home, and keys need not come home.", 3, sets="backward"),
        Mistake("back_all_rounds", "2 * (workers - 1) * one_move -> 2 * workers * one_move",
                "In the backward you let everything move in every round, and once more at the end.", 3, sets="backward"),
        Mistake("one_of_two", "2 * (workers - 1) * one_move -> (workers - 1) * one_move",
                "Two kinds of parcels travel in the backward: keys with values, and gradients of both.", 2, sets="backward"),
        Mistake("not_home", "2 * (workers - 1) * one_move -> (2 * workers - 3) * one_move",
                "The parcel of gradients stops one worker short of home; its owner needs the sum.", 3, sets="backward"),
        Mistake("back_three", "2 * (workers - 1) * one_move -> 3 * (workers - 1) * one_move",
                "Three kinds of parcels travel in your backward. Queries, their gradients and outputs stay where they are.", 2, sets="backward"),
        Mistake("no_values", "(d + v) -> d", "Each key travels together with its value.", 1, sets="width"),
        Mistake("keys_alone", "n * (d + v) -> n", "You counted keys; a key is d numbers, and its value v more.", 1, sets="width"),
        Mistake("as_wide", "(d + v) -> (d + d)", "You took the values to be as wide as the keys.", 1, sets="width"),
        Mistake("with_queries", "(d + v) -> (d + d + v)", "Queries stay where they are: only keys and values travel.", 1, sets="width"),
        Mistake("one_worker", "n * (d + v) -> n * (d + v) // workers",
                "You counted what a single worker sends; the question is what all workers send together.", 1, sets="size"),
        Mistake("n_each", "n * (d + v) -> workers * n * (d + v)",
                "Either you gave n tokens to each worker, or you counted each parcel once for every worker. The workers share n tokens.", 1, sets="size"),
        Mistake("swapped", "return forward, backward -> return backward, forward",
                "The two results are in the wrong order: the forward comes first.", 3),
    ),
    hints=(
        "Follow the keys of worker 0 through a ring of three. Which workers need them, and after which move does nobody need them any more?",
        "In the backward each worker needs the keys and values again, so these travel as in the forward. The second "
        "parcel holds their gradients: it is empty until the first worker that does not own the keys adds its part.",
        "The keys of worker 0 go to all other workers, one move for each. The parcel of gradients starts at worker 1, passes "
        "all other workers and ends at worker 0: count the links. One move of all keys and values is n (d + v) numbers.",
    ),
    why="A parcel makes a move only if a worker further on needs it. Keys have to reach all workers but their owner, and "
    "gradients have to come home from all workers but their owner.",
    insight="The backward sends exactly twice what the forward sends, and a ring of one sends nothing.",
    outputs=("forward", "backward"),
    cancelling=(frozenset({"one_worker", "n_each"}),),
)  # fmt: skip

