"""Wrong answers to `striped_pairs`, as readers may write them."""

import numpy as np

from . import wrong


@wrong("striped_pairs", "stretches, counted in a loop", named=("stretches",))
def stretches(n, workers):
    size = n // workers
    pairs = np.zeros((workers, workers), dtype=int)
    for w in range(workers):
        for t in range(workers):
            owner = (w - t) % workers
            pairs[w, t] = sum(j <= i for i in range(w * size, (w + 1) * size) for j in range(owner * size, (owner + 1) * size))
    return pairs


@wrong("striped_pairs", "all pairs of two stripes", named=("no_mask",))
def all_pairs(n, workers):
    return [[(n // workers) ** 2] * workers for _ in range(workers)]


@wrong("striped_pairs", "half of all pairs, rounded down")
def half_rounded_down(n, workers):
    return np.full((workers, workers), (n // workers) ** 2 // 2)


@wrong("striped_pairs", "half of all pairs", named=("half",))
def half(n, workers):
    return np.ones((workers, workers)) * (n / workers) ** 2 / 2


@wrong("striped_pairs", "the triangle everywhere", named=("all_alike",))
def triangle_everywhere(n, workers):
    size = n // workers
    return np.full((workers, workers), np.tri(size).sum())


@wrong("striped_pairs", "the strict triangle everywhere", named=("none_alike",))
def strict_triangle_everywhere(n, workers):
    size = n // workers
    return np.full((workers, workers), size * (size - 1) // 2)


@wrong("striped_pairs", "the triangle in the first round only", named=("first_round",))
def first_round(n, workers):
    size = n // workers
    pairs = np.full((workers, workers), size * (size - 1) // 2)
    pairs[:, 0] += size
    return pairs


@wrong("striped_pairs", "strictly earlier keys: counted", named=("strict",))
def strictly_earlier(n, workers):
    pairs = np.zeros((workers, workers), dtype=int)
    for w in range(workers):
        for t in range(workers):
            keys = range((w - t) % workers, n, workers)
            pairs[w, t] = sum(j < i for i in range(w, n, workers) for j in keys)
    return pairs


@wrong("striped_pairs", "an owner that is strictly smaller", named=("strict",))
def owner_strictly_smaller(n, workers):
    size = n // workers
    owner = (np.arange(workers)[:, None] - np.arange(workers)) % workers
    return size * (size - 1) // 2 + size * (owner < np.arange(workers)[:, None])


@wrong("striped_pairs", "the comparison turned round", named=("turned",))
def comparison_turned(n, workers):
    size = n // workers
    w, t = np.ogrid[:workers, :workers]
    return size * (size - 1) // 2 + size * ((w - t) % workers >= w)


@wrong("striped_pairs", "keys travel the other way", named=("direction",))
def other_way(n, workers):
    size = n // workers
    return np.array(
        [[size * (size - 1) // 2 + size * ((w + t) % workers <= w) for t in range(workers)] for w in range(workers)]
    )


@wrong("striped_pairs", "without the modulus: the owner may be negative", named=("all_alike",))
def without_modulus(n, workers):
    size = n // workers
    w, t = np.indices((workers, workers))
    return np.where(w - t <= w, size * (size + 1) // 2, size * (size - 1) // 2)


@wrong("striped_pairs", "rounds down, workers across", named=("transposed",))
def rounds_down(n, workers):
    size = n // workers
    pairs = []
    for turn in range(workers):
        pairs.append([size * (size + 1) // 2 if (w - turn) % workers <= w else size * (size - 1) // 2 for w in range(workers)])
    return pairs


@wrong("striped_pairs", "rounds down, keys the other way", named=("transposed", "direction"))
def rounds_down_other_way(n, workers):
    size = n // workers
    t, w = np.indices((workers, workers))
    return np.where((w + t) % workers <= w, size * (size + 1) // 2, size * (size - 1) // 2)


@wrong("striped_pairs", "one entry for each round: the sum over the workers", says=r"\(4,\); \(4, 4\)")
def one_for_each_round(n, workers):
    size = n // workers
    w, t = np.indices((workers, workers))
    return np.where((w - t) % workers <= w, size * (size + 1) // 2, size * (size - 1) // 2).sum(axis=0)


@wrong("striped_pairs", "one entry for each worker", says=r"\(4,\); \(4, 4\)")
def one_for_each_worker(n, workers):
    return np.array([sum(i + 1 for i in range(w, n, workers)) for w in range(workers)])


@wrong("striped_pairs", "the size of a stripe is the number of workers", named=("size_workers",))
def size_is_workers(n, workers):
    size = workers
    w, t = np.indices((workers, workers))
    return np.where((w - t) % workers <= w, size * (size + 1) // 2, size * (size - 1) // 2)


@wrong("striped_pairs", "n in place of the size", named=("size_n",))
def n_for_size(n, workers):
    w, t = np.indices((workers, workers))
    return np.where((w - t) % workers <= w, n * (n + 1) // 2, n * (n - 1) // 2)


@wrong("striped_pairs", "products not halved", says=r"2 times the right one")
def not_halved(n, workers):
    size = n // workers
    w, t = np.indices((workers, workers))
    return np.where((w - t) % workers <= w, size * (size + 1), size * (size - 1))


@wrong("striped_pairs", "the size without rounding, halves kept", named=())
def size_plus_one_both(n, workers):
    size = n // workers
    w, t = np.indices((workers, workers))
    return np.where((w - t) % workers <= w, (size + 1) * (size + 2) // 2, size * (size + 1) // 2)


@wrong("striped_pairs", "shares of all pairs, not numbers", named=())
def shares(n, workers):
    size = n // workers
    w, t = np.indices((workers, workers))
    return np.where((w - t) % workers <= w, size + 1, size - 1) / (2 * size)


@wrong("striped_pairs", "an owner by division: stretches as owners of stripes", named=("stretches",))
def owner_by_division(n, workers):
    pairs = np.zeros((workers, workers), dtype=int)
    size = n // workers
    for i in range(n):
        for j in range(i + 1):
            pairs[i // size, (i // size - j // size) % workers] += 1
    return pairs


@wrong("striped_pairs", "the round from the distance of the tokens, the other way", named=("direction",))
def round_other_way(n, workers):
    pairs = np.zeros((workers, workers), dtype=int)
    for i in range(n):
        for j in range(i + 1):
            pairs[i % workers, (j - i) % workers] += 1
    return pairs


@wrong("striped_pairs", "counted at the owner of the key, not of the query", named=("at_the_key",))
def at_the_owner(n, workers):
    pairs = np.zeros((workers, workers), dtype=int)
    for i in range(n):
        for j in range(i + 1):
            pairs[j % workers, (i - j) % workers] += 1
    return pairs


@wrong("striped_pairs", "only each token with itself", named=("own_alone",))
def itself_only(n, workers):
    pairs = np.zeros((workers, workers), dtype=int)
    pairs[:, 0] = n // workers
    return pairs


@wrong("striped_pairs", "np.add by index adds repeated places once", named=())
def fancy_plus(n, workers):
    i, j = np.tril_indices(n)
    pairs = np.zeros((workers, workers), dtype=int)
    pairs[i % workers, (i - j) % workers] += 1
    return pairs


@wrong("striped_pairs", "the mask of the future", named=("turned",))
def future(n, workers):
    pairs = np.zeros((workers, workers), dtype=int)
    for i in range(n):
        for j in range(i, n):
            pairs[i % workers, (i - j) % workers] += 1
    return pairs
