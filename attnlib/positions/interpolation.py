"""Position interpolation: a longer text squeezed into the positions that a model has seen."""

import numpy as np

from attnlib.checks.arrays import as_integer


def interpolated_positions(n, trained):
    r"""Positions for n tokens, squeezed into the range of the `trained` ones.

    .. math:: position_i = i \cdot \min(1,\; trained / n)

    Hand them to `rotary`, which takes fractions. Distances shrink by the same factor, so a
    head that looks for an exact distance has to be trained again.

    Parameters
    ----------
    n : int
        Number of tokens.
    trained : int
        How many tokens the texts had in training.

    Returns
    -------
    positions : ndarray of shape (n,)
        In float64. As they are, 0, 1, 2, ..., if the text is not longer.

    Raises
    ------
    TypeError
        If an argument is not an integer.
    ValueError
        If `n` is negative, or `trained` less than 1.

    References
    ----------
    .. [1] Chen et al. (2023), "Extending Context Window of Large Language Models via Positional
       Interpolation", arXiv:2306.15595, eq. 4. Their L is our `trained`, their L' our n.

    Examples
    --------
    >>> interpolated_positions(4, 2)
    array([0. , 0.5, 1. , 1.5])
    """
    n = as_integer("interpolated_positions", "n", n, minimum=0)
    trained = as_integer("interpolated_positions", "trained", trained, minimum=1)
    return np.arange(n, dtype=np.float64) * min(1.0, trained / max(n, 1))
