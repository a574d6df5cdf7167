"""Where a head looks, given its two matrices: what the exercises on heads built by hand compare.

A token is a letter at a place, each one hot: x has `letters` features for the letter, then `places` for the place.
"""

import math
from typing import NamedTuple

import numpy as np

from attnexercises.engine.model import Behaviour

#: More than this share of its weight a token has to give to one other.
SHARE = 0.9
TIE = 1e-9


def texts(letters, places):
    """Texts as lists of letter numbers: one letter, all in turn, a mixed one, a shorter one, one with a late letter."""
    turns = [i % letters for i in range(places)]
    mixed = [i * (i + 3) // 2 % letters for i in range(places)]
    return [0] * places, turns, mixed, mixed[::-1][: places - 1], [0] * (places - 2) + [1, 1]


def tokens(text, letters, places):
    """The tokens of a text, one hot, of shape (n, letters + places)."""
    return np.hstack([np.eye(letters)[text], np.eye(places)[: len(text)]])


def weights_of(x, query_weight, key_weight):
    """The weights (n, n) of the head with these matrices."""
    scores = (x @ query_weight) @ (x @ key_weight).T / math.sqrt(query_weight.shape[1])
    exponentials = np.exp(scores - scores.max(axis=1, keepdims=True))
    return exponentials / exponentials.sum(axis=1, keepdims=True)


def behaviour(target, first, cause=None):
    """Compare where the tokens look most, from the token at place `first` on; ``target(text, i)`` is where token i should.

    The outputs to compare are `LOOKS`: which weights are the largest of their row, in all texts, and where such a weight is
    more than `SHARE`. `cause` is that of `Behaviour`.
    """

    def of(arguments, returned):
        letters, places = arguments
        query_weight, key_weight = _matrices(returned, letters + places)
        largest, enough = [], []
        for text in texts(letters, places):
            weights = weights_of(tokens(text, letters, places), query_weight, key_weight)[first:]
            top = weights.max(axis=1, keepdims=True)
            largest.append((weights >= top - TIE).ravel())
            enough.append(top[:, 0] > SHARE)
        return np.concatenate(largest), np.concatenate(enough)

    def differs(arguments, returned):
        letters, places = arguments
        matrices = _matrices(returned, letters + places)
        for text in texts(letters, places):
            weights = weights_of(tokens(text, letters, places), *matrices)
            for i in range(first, len(text)):
                sentence = _row(weights[i], target(text, i))
                if sentence:
                    spelled = "".join(chr(ord("a") + letter) for letter in text)
                    spelled = spelled if len(text) <= 12 else f"{spelled[:12]}..., {len(text)} letters"
                    return f"in the text {spelled}, token {i} {sentence}"
        raise AssertionError("nothing differs")

    return Behaviour(("query_weight", "key_weight"), of, differs, cause=cause)


class Products(NamedTuple):
    """The products of queries and keys in one text, before they are divided by √d, in float64."""

    letters: int
    places: int
    d: int
    of: np.ndarray


def products(arguments, returned, text):
    """The `Products` of a head in a text, a list of letter numbers."""
    letters, places = arguments
    query_weight, key_weight = _matrices(returned, letters + places)
    x = tokens(text, letters, places)
    return Products(letters, places, query_weight.shape[1], (x @ query_weight) @ (x @ key_weight).T)


def alike(numbers):
    """Are they the same numbers, up to what float32 rounds?"""
    return bool(np.allclose(numbers, numbers[0], rtol=1e-5))


LOOKS = ("pattern", "sharpness")


def expected(target, first, letters, places):
    """What a right head does, in loops: the oracle of such an exercise."""
    largest, enough = [], []
    for text in texts(letters, places):
        for i in range(first, len(text)):
            largest += [j == target(text, i) for j in range(len(text))]
            enough.append(True)
    return np.array(largest), np.array(enough)


def _row(weights, right):
    """What is wrong with one token's weights, or ""."""
    if not np.isfinite(weights).all():
        return "has weights that are no numbers."
    top = weights.max()
    if weights[right] < top - TIE:
        return f"looks most at token {weights.argmax()}, and should look at token {right}."
    if (weights >= top - TIE).sum() > 1:
        return f"gives token {right}, where it should look, no more weight than another."
    if top <= SHARE:
        return f"looks most at token {right}, as it should, but with the weight {top:.2f}: more than {SHARE} is asked for."
    return ""


def _matrices(returned, width):
    query_weight, key_weight = (np.asarray(part, dtype=float) for part in returned)
    for name, weight in (("query_weight", query_weight), ("key_weight", key_weight)):
        if weight.ndim != 2 or len(weight) != width:
            raise ValueError(f"returns a {name} of shape {weight.shape}; a matrix with {width} rows is expected")
    if query_weight.shape[1] != key_weight.shape[1]:
        d = query_weight.shape[1], key_weight.shape[1]
        raise ValueError(f"returns matrices that do not fit: queries have {d[0]} features, keys {d[1]}")
    if not query_weight.shape[1]:
        raise ValueError("returns matrices without columns")
    return query_weight, key_weight
