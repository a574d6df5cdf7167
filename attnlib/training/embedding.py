"""Turn tokens into rows of numbers: a learned table has a row for each token, another a row for each position."""

import numpy as np

from attnlib.checks.arrays import as_float, quiet
from attnlib.training.arguments import as_tokens


@quiet
def embed(table, tokens):
    r"""Look up the row of each token.

    .. math:: out_{nm} = table_{tokens_n,\, m}

    This is the product of a one-hot row for each token with the table, without multiplying by the zeros.

    Parameters
    ----------
    table : array_like of shape (k, m)
        One row for each of the k tokens of the vocabulary.
    tokens : array_like of shape (..., n)
        Integers from 0 to k - 1. (NumPy would take -1 for the last row; here it is refused.)

    Returns
    -------
    out : ndarray of shape (..., n, m)

    Raises
    ------
    TypeError
        If `table` does not hold real numbers or `tokens` no integers.
    ValueError
        If `table` has not two axes, or a token is not among the k.

    Examples
    --------
    >>> embed([[0.0, 1.0], [2.0, 3.0]], [1, 1, 0])
    array([[2., 3.],
           [2., 3.],
           [0., 1.]])
    """
    (table,), dtype = as_float("embed", table=table)
    tokens = _as_rows("embed", table, tokens)
    return table[tokens].astype(dtype, copy=False)


@quiet
def embed_backward(d_out, table, tokens):
    r"""Gradient of `embed` with respect to the table: each row collects what comes back from its tokens.

    .. math:: dtable_{km} = \sum_{n:\, tokens_n = k} dout_{nm}

    ``d_table[tokens] += d_out`` would be wrong, because NumPy adds only once where a token occurs twice.
    `numpy.add.at` adds every time.

    Parameters
    ----------
    d_out : array_like of shape (..., n, m)
        Gradient of the loss with respect to the result of `embed`.
    table : array_like of shape (k, m)
    tokens : array_like of shape (..., n)
        As given to `embed`.

    Returns
    -------
    d_table : ndarray of shape (k, m)
        Zero in the row of a token that does not occur.

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    ValueError
        If the shapes do not fit, or a token is not among the k.

    Examples
    --------
    >>> embed_backward([[1.0], [2.0], [4.0]], [[0.0], [0.0]], [1, 1, 0])
    array([[4.],
           [3.]])
    """
    name = "embed_backward"
    (d_out, table), dtype = as_float(name, d_out=d_out, table=table)
    tokens = _as_rows(name, table, tokens)
    if d_out.shape != (*tokens.shape, table.shape[1]):
        raise ValueError(
            f"{name}: d_out must have the shape (..., n, m) = {(*tokens.shape, table.shape[1])} "
            f"that follows from tokens and table; got {d_out.shape}."
        )
    # forward: out = table[tokens]
    d_table = np.zeros_like(table)
    np.add.at(d_table, tokens, d_out)
    return d_table.astype(dtype, copy=False)


@quiet
def add_positions(x, positions):
    r"""Add the row of its position to each token.

    .. math:: out_{nm} = x_{nm} + positions_{nm}

    Parameters
    ----------
    x : array_like of shape (..., n, m)
    positions : array_like of shape (q, m)
        A row for each of q positions; q is at least n.

    Returns
    -------
    out : ndarray of shape (..., n, m)

    Raises
    ------
    TypeError
        If an argument does not hold real numbers.
    ValueError
        If the widths differ, or `x` has more positions than there are learned rows.

    References
    ----------
    .. [1] Gehring et al. (2017), "Convolutional Sequence to Sequence Learning", section 3.1.

    Examples
    --------
    >>> add_positions([[1.0], [1.0]], [[0.0], [0.5], [0.7]])
    array([[1. ],
           [1.5]])
    """
    (x, positions), dtype = as_float("add_positions", x=x, positions=positions)
    _check_positions("add_positions", "x", x, positions)
    return (x + positions[: x.shape[-2]]).astype(dtype, copy=False)


@quiet
def add_positions_backward(d_out, positions):
    r"""Gradients of `add_positions`: the tokens get `d_out` as it is, a position the sum over the batch.

    .. math:: dx = dout, \qquad dpositions_{nm} = \sum_{b} dout_{bnm}

    Parameters
    ----------
    d_out : array_like of shape (..., n, m)
        Gradient of the loss with respect to the result of `add_positions`.
    positions : array_like of shape (q, m)
        As given to `add_positions`.

    Returns
    -------
    d_x : ndarray of shape (..., n, m)
    d_positions : ndarray of shape (q, m)
        Zero for the positions after the end of x.

    Raises
    ------
    TypeError
        If an argument does not hold real numbers.
    ValueError
        As for `add_positions`.

    Examples
    --------
    >>> d_x, d_positions = add_positions_backward([[[1.0]], [[2.0]]], [[0.0], [0.5]])
    >>> d_positions
    array([[3.],
           [0.]])
    """
    name = "add_positions_backward"
    (d_out, positions), dtype = as_float(name, d_out=d_out, positions=positions)
    _check_positions(name, "d_out", d_out, positions)
    n, m = d_out.shape[-2:]
    # forward: out = x + positions[:n], repeated over the leading axes
    d_positions = np.zeros_like(positions)
    d_positions[:n] = d_out.sum(axis=tuple(range(d_out.ndim - 2)))
    return d_out.astype(dtype, copy=True), d_positions.astype(dtype, copy=False)


def _as_rows(function, table, tokens):
    if table.ndim != 2:
        raise ValueError(f"{function}: table must have the shape (k, m), a row for each token; got {table.shape}.")
    return as_tokens(function, "tokens", tokens, len(table))


def _check_positions(function, name, x, positions):
    if x.ndim < 2 or positions.ndim != 2 or x.shape[-1] != positions.shape[1] or x.shape[-2] > len(positions):
        raise ValueError(
            f"{function}: {name} must have the shape (..., n, m) and positions the shape (q, m), with the same m "
            f"and a row for each of the n positions.\n  {name + ':':<10} {x.shape}\n  positions: {positions.shape}"
        )
