"""What is claimed of a value that was answered, measured anew. Each measurement gets the pairs of which one is the value."""

import numpy as np
from truth_seen import claim


@claim("multiple")
def multiple(seen, pairs, n):
    return np.isclose(pairs[0][0], pairs[0][1] * n, rtol=1e-3)


@claim("part")
def part(seen, pairs, n):
    return np.isclose(pairs[0][0], pairs[0][1] / n, rtol=1e-3)


@claim("side")
def side(seen, pairs, much, told):
    return (much == "large") == bool(pairs[0][0] > pairs[0][1])


@claim("sign")
def sign(seen, pairs):
    return np.isclose(-pairs[0][0], pairs[0][1], rtol=1e-3)


@claim("rounded value")
def rounded(seen, pairs, digits):
    return float(pairs[0][0]) == float(f"%.{digits - 1}e" % float(pairs[0][1]))


@claim("wrong numbers")
def counts(seen, pairs, count, of, at):
    got, want, _ = pairs[0]
    wrong = [place for place, pair in enumerate(zip(got.ravel(), want.ravel(), strict=True), 1) if pair[0] != pair[1]]
    return (len(wrong), want.size) == (count, of) and (not at or list(at) == wrong)


@claim("quantity")
def quantity(seen, pairs, much, n, names):
    """The names begin with their numbers, as in "12 heads"."""
    numbers = [float(name.split()[0]) for name in names]
    ratio = float(pairs[0][0] / pairs[0][1])
    told = numbers[0] if len(numbers) == 1 else numbers[0] / numbers[1]
    return np.isclose(told, n) and np.isclose(ratio if much == "large" else 1 / ratio, n, rtol=1e-3)


@claim("order")
def order(seen, pairs):
    return sorted(pairs[0][0].ravel()) == sorted(pairs[0][1].ravel()) and (pairs[0][0] != pairs[0][1]).any()


@claim("length")
def length(seen, pairs, count, of):
    return (pairs[0][0].size, pairs[0][1].size) == (count, of) and count != of


@claim("word")
def word(seen, pairs, word, words):
    return word == str(pairs[0][0]) and word not in words and str(pairs[0][1]) in words


@claim("bare number")
def bare(seen, pairs):
    return pairs[0][0].shape == (1,) and pairs[0][1].ndim == 0


@claim("one number")
def one(seen, pairs, count):
    return pairs[0][0].size == count != 1 and pairs[0][1].ndim == 0


@claim("tuple")
def several(seen, pairs):
    return pairs[0][1].ndim == 1 and pairs[0][0].ndim == 0


@claim("not finite")
def not_finite(seen, pairs):
    return not np.isfinite(pairs[0][0]).all()
