"""A softmax denominator one block of scores at a time."""

from typing import NamedTuple

import numpy as np

from attnlib.checks.arrays import as_float, as_float_dtype, quiet
from attnlib.softmax.shift import finite, finite_maximum, shift


class OnlineSoftmax(NamedTuple):
    r"""Running maximum and running sum: a softmax denominator that never sees the whole row.

    After any number of blocks, `maximum` is the largest score so far and `total`
    the sum of ``exp(score - maximum)`` over all of them. A new block may raise the
    maximum; then the old sum, measured against the old maximum, is rescaled:

    .. math:: \mu' = \max(\mu, \max_j x_j), \qquad s' = s\, e^{\mu - \mu'} + \sum_j e^{x_j - \mu'}

    An `OnlineSoftmax` is a value: `update` and `merge` return a new one.

    Attributes
    ----------
    maximum : ndarray of shape (...)
        Largest score so far, ``-inf`` before the first.
    total : ndarray of shape (...)
        Sum of ``exp(score - maximum)`` so far, 0 before the first.

    References
    ----------
    .. [1] Milakov and Gimelshein (2018), "Online normalizer calculation for
       softmax", arXiv:1805.02867, algorithm 3 (`update`) and eq. 4 (`merge`).

    Examples
    --------
    >>> from attnlib.softmax import logsumexp
    >>> x = np.array([1.0, 3.0, 2.0, 5.0])
    >>> running = OnlineSoftmax.start().update(x[:3]).update(x[3:])
    >>> bool(np.isclose(running.logsumexp, logsumexp(x)))
    True
    """

    maximum: np.ndarray
    total: np.ndarray

    @classmethod
    def start(cls, shape=(), dtype=np.float64):
        """Before the first score: maximum ``-inf``, sum 0.

        Parameters
        ----------
        shape : tuple of int, default ()
            The shape (...) of the rows: that of the scores without their last axis.
        dtype : dtype, default float64
            float32 or float64; float16 becomes float32.

        Returns
        -------
        state : OnlineSoftmax

        Raises
        ------
        TypeError
            If `dtype` is not a float dtype.
        """
        dtype = np.result_type(as_float_dtype("OnlineSoftmax.start", dtype), np.float32)
        return cls(np.full(shape, -np.inf, dtype), np.zeros(shape, dtype))

    @quiet
    def update(self, scores):
        """Take in a block of scores and return the new state.

        Parameters
        ----------
        scores : array_like of shape (..., k)
            The next scores of every row; k may change from block to block and be 0.

        Returns
        -------
        state : OnlineSoftmax
            In the wider dtype of state and scores.

        Raises
        ------
        TypeError
            If `scores` does not hold real numbers.
        ValueError
            If the leading axes of `scores` are not those of the state.
        """
        (scores,), _ = as_float("OnlineSoftmax.update", scores=scores)
        if scores.ndim == 0 or scores.shape[:-1] != self.maximum.shape:
            raise ValueError(
                "OnlineSoftmax.update: scores must have the state's axes and one more, k: "
                f"expected {(*self.maximum.shape, 'k')}, got {scores.shape}."
            )
        maximum = finite_maximum(scores, -1)
        total = np.exp(shift(scores, maximum)).sum(axis=-1)
        maximum = np.where(total == 0, -np.inf, maximum.squeeze(-1))
        return self.merge(OnlineSoftmax(maximum, total))

    @quiet
    def merge(self, other):
        """Combine with the state of other scores, in any order, and return the new state.

        Parameters
        ----------
        other : OnlineSoftmax
            The state of other scores of the same rows.

        Returns
        -------
        state : OnlineSoftmax

        Raises
        ------
        TypeError
            If `other` is not an `OnlineSoftmax`.
        ValueError
            If the two states have different shapes.
        """
        if not isinstance(other, OnlineSoftmax):
            raise TypeError(f"OnlineSoftmax.merge: other must be an OnlineSoftmax; got {type(other).__name__}.")
        if other.maximum.shape != self.maximum.shape:
            raise ValueError(
                "OnlineSoftmax.merge: both states must have one shape (...); "
                f"got {self.maximum.shape} and {other.maximum.shape}."
            )
        maximum = np.maximum(self.maximum, other.maximum)
        safe = finite(maximum)  # both empty: -inf - (-inf) would be NaN
        total = self.total * np.exp(shift(self.maximum, safe)) + other.total * np.exp(shift(other.maximum, safe))
        return OnlineSoftmax(maximum, total)

    @property
    @quiet
    def logsumexp(self):
        """The logsumexp of all scores so far, of shape (...): ``-inf`` before the first."""
        return self.maximum + np.log(self.total)
