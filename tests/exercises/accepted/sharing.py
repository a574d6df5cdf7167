"""Other right ways to do the exercises on shared work."""

import numpy as np

# --- ring_traffic ---------------------------------------------------------------------------------


def traffic_link_by_link(n, d, v, workers):
    forward, backward = 0, 0
    for _link in range(1, workers):  # each parcel crosses all links but one
        forward += n * d + n * v
        backward += n * d + n * v + n * d + n * v
    return forward, backward


# --- striped_pairs --------------------------------------------------------------------------------


def striped_in_loops(n, workers):
    counts = np.zeros((workers, workers), dtype=int)
    for query in range(n):
        for key in range(query + 1):
            counts[query % workers, (query - key) % workers] += 1
    return counts


def striped_by_einsum(n, workers):
    stripes, turned = np.eye(workers)[np.arange(n) % workers], np.arange(workers)
    by_owner = np.einsum("qk,qw,ko->wo", np.tri(n), stripes, stripes)
    return by_owner[turned[:, None], (turned[:, None] - turned) % workers]


def striped_by_tensordot(n, workers):
    worker = np.arange(n) % workers
    turns = np.eye(workers)[(worker[:, None] - worker) % workers] * np.tri(n)[..., None]
    return np.tensordot(np.eye(workers)[worker], turns.sum(axis=1), axes=([0], [0]))


ACCEPTED = {
    "ring_traffic": {"loops": traffic_link_by_link},
    "striped_pairs": {
        "loops": striped_in_loops,
        "einsum": striped_by_einsum,
        "tensordot": striped_by_tensordot,
    },
}
