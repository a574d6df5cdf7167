"""Batches to learn from: sequences to reverse, sequences that repeat, invented words, and windows of a text."""

from typing import NamedTuple

import numpy as np

from attnlib.checks.arrays import as_integer
from attnlib.training.arguments import as_generator, as_tokens


class Batch(NamedTuple):
    """Sequences, and the token to predict at each position.

    Attributes
    ----------
    tokens : ndarray of shape (b, n)
    targets : ndarray of shape (b, n)
        The right token for each position.
    keep : ndarray of shape (b, n)
        True where the target can be known; only these positions count.
    """

    tokens: np.ndarray
    targets: np.ndarray
    keep: np.ndarray


def reversal_batch(rng, *, b, n, vocabulary):
    """Random sequences; the target at position i is the token at position n - 1 - i.

    Parameters
    ----------
    rng : numpy.random.Generator
    b, n : int
        Number of sequences, and their length.
    vocabulary : int
        Number of different tokens.

    Returns
    -------
    batch : Batch

    Raises
    ------
    TypeError
        If a size is not an integer or `rng` is not a generator.
    ValueError
        If a size is less than 1.

    Examples
    --------
    >>> batch = reversal_batch(np.random.default_rng(0), b=1, n=5, vocabulary=9)
    >>> print(batch.tokens, batch.targets)
    [[7 5 4 2 2]] [[2 2 4 5 7]]
    """
    b, n, vocabulary = _sizes("reversal_batch", rng, b=b, n=n, vocabulary=vocabulary)
    tokens = rng.integers(vocabulary, size=(b, n), dtype=np.int64)
    return Batch(tokens, tokens[:, ::-1].copy(), np.ones((b, n), bool))


def induction_batch(rng, *, b, n, vocabulary, shortest, longest):
    """Sequences that repeat a random segment of different tokens; the target is the token that comes next.

    From the second round on, each token has been seen before, and what followed it then follows it now. The length
    of the segment differs from sequence to sequence. If it were always the same, a head could look back a fixed number
    of positions, and would not have to compare tokens.

    Parameters
    ----------
    rng : numpy.random.Generator
    b, n : int
        Number of sequences, and their length.
    vocabulary : int
        Number of different tokens, at least `longest`.
    shortest, longest : int
        The length of a segment is drawn evenly from these two and what is between; `longest` is below n.

    Returns
    -------
    batch : Batch
        `keep` is True from the second round on: only there can the target be known.

    Raises
    ------
    TypeError
        If a size is not an integer or `rng` is not a generator.
    ValueError
        If a size is less than 1, or ``shortest <= longest < n`` or ``longest <= vocabulary`` does not hold.

    Examples
    --------
    >>> batch = induction_batch(np.random.default_rng(0), b=1, n=7, vocabulary=9, shortest=3, longest=4)
    >>> print(batch.tokens, batch.targets, batch.keep.astype(int), sep="\\n")
    [[4 5 2 6 4 5 2]]
    [[5 2 6 4 5 2 6]]
    [[0 0 0 0 1 1 1]]
    """
    name = "induction_batch"
    sizes = _sizes(name, rng, b=b, n=n, vocabulary=vocabulary, shortest=shortest, longest=longest)
    b, n, vocabulary, shortest, longest = sizes
    if not shortest <= longest < n or longest > vocabulary:
        raise ValueError(
            f"{name}: shortest <= longest < n and longest <= vocabulary must hold; "
            f"got shortest {shortest}, longest {longest}, n {n}, vocabulary {vocabulary}."
        )
    every = np.broadcast_to(np.arange(vocabulary, dtype=np.int64), (b, vocabulary))
    shuffled = rng.permuted(every, axis=1)  # no token twice in a segment
    length = rng.integers(shortest, longest + 1, size=(b, 1), dtype=np.int64)
    place = np.arange(n + 1, dtype=np.int64)
    sequence = np.take_along_axis(shuffled, place % length, axis=1)
    return Batch(sequence[:, :-1], sequence[:, 1:], place[:-1] >= length)


def words_batch(rng, *, b, n, vocabulary, words, shortest, longest):
    """Texts of invented words that come again in random order; the target is the token that comes next.

    Each text has its own few words, and all their letters are different. So the first letter of a word that was there
    before tells how the word goes on, and nothing tells which word comes next.

    Parameters
    ----------
    rng : numpy.random.Generator
    b, n : int
        Number of texts, and their length. The last word of a text may be cut off.
    vocabulary : int
        Number of different tokens (letters), at least `words` times `longest`.
    words : int
        Number of words of each text.
    shortest, longest : int
        The length of a word is drawn evenly from these two and what is between.

    Returns
    -------
    batch : Batch
        `keep` is True inside a word that was there before: only there can the target be known.

    Raises
    ------
    TypeError
        If a size is not an integer or `rng` is not a generator.
    ValueError
        If a size is less than 1, or ``shortest <= longest`` or ``words * longest <= vocabulary`` does not hold.

    Examples
    --------
    >>> batch = words_batch(np.random.default_rng(4), b=1, n=9, vocabulary=9, words=2, shortest=2, longest=3)
    >>> print(batch.tokens, batch.targets, batch.keep.astype(int), sep="\\n")
    [[8 6 7 0 1 2 8 6 7]]
    [[6 7 0 1 2 8 6 7 8]]
    [[0 0 0 0 0 0 1 1 0]]
    """
    name = "words_batch"
    sizes = dict(b=b, n=n, vocabulary=vocabulary, words=words, shortest=shortest, longest=longest)
    b, n, vocabulary, words, shortest, longest = _sizes(name, rng, **sizes)
    if shortest > longest or words * longest > vocabulary:
        raise ValueError(
            f"{name}: shortest <= longest and words * longest <= vocabulary must hold; "
            f"got shortest {shortest}, longest {longest}, words {words}, vocabulary {vocabulary}."
        )
    every = np.broadcast_to(np.arange(vocabulary, dtype=np.int64), (b, vocabulary))
    letters = rng.permuted(every, axis=1)  # each word takes its letters from here, so no letter is in two words
    length = rng.integers(shortest, longest + 1, size=(b, words), dtype=np.int64)
    drawn = rng.integers(words, size=(b, n + 1), dtype=np.int64)  # more words than fit
    ends = np.take_along_axis(length, drawn, axis=1).cumsum(axis=1)
    place = np.arange(n + 1, dtype=np.int64)
    number = (ends[:, np.newaxis, :] <= place[:, np.newaxis]).sum(axis=2)  # of the drawn word that each place is in
    word = np.take_along_axis(drawn, number, axis=1)
    left = np.take_along_axis(ends, number, axis=1) - place  # letters of the word from here on
    first = length.cumsum(axis=1) - length
    start, size = (np.take_along_axis(array, word, axis=1) for array in (first, length))
    sequence = np.take_along_axis(letters, start + size - left, axis=1)
    earlier = np.tril(drawn[:, :, np.newaxis] == drawn[:, np.newaxis, :], -1).any(axis=2)
    again = np.take_along_axis(earlier, number, axis=1)
    return Batch(sequence[:, :-1], sequence[:, 1:], (again & (left > 1))[:, :-1])


def text_batch(rng, tokens, *, b, n):
    """Windows of a long text, taken at random places; the target is the token that comes next.

    Parameters
    ----------
    rng : numpy.random.Generator
    tokens : array_like of shape (k,)
        The whole text, as integers; longer than n.
    b, n : int
        Number of windows, and their length.

    Returns
    -------
    batch : Batch

    Raises
    ------
    TypeError
        If a size is not an integer, `tokens` holds no integers or `rng` is not a generator.
    ValueError
        If a size is less than 1, or the text is not longer than n.

    Examples
    --------
    >>> batch = text_batch(np.random.default_rng(0), np.arange(100), b=1, n=4)
    >>> print(batch.tokens, batch.targets)
    [[81 82 83 84]] [[82 83 84 85]]
    """
    b, n = _sizes("text_batch", rng, b=b, n=n)
    tokens = as_tokens("text_batch", "tokens", tokens)
    if tokens.ndim != 1 or len(tokens) <= n:
        raise ValueError(f"text_batch: tokens must have one axis, longer than n = {n}; got the shape {tokens.shape}.")
    first = rng.integers(len(tokens) - n, size=(b, 1), dtype=np.int64)
    windows = tokens[first + np.arange(n + 1, dtype=np.int64)]
    return Batch(windows[:, :-1], windows[:, 1:], np.ones((b, n), bool))


def _sizes(function, rng, **sizes):
    as_generator(function, rng)
    return [as_integer(function, name, size, minimum=1) for name, size in sizes.items()]
