"""The feed-forward part of a layer (an MLP): two linear layers with an activation between them, for each token alone.

It is a lookup too: a token is compared with the columns of `up_weight`, which act as keys, and gets a sum of the rows
of `down_weight`, which act as values.
"""

import numpy as np

from attnlib.checks.arrays import as_float, quiet


@quiet
def mlp(x, up_weight, up_bias, down_weight, down_bias):
    r"""Project each token to k hidden units, apply the SiLU activation, and project back.

    .. math:: out = \phi(x W^\uparrow + b^\uparrow)\, W^\downarrow + b^\downarrow, \qquad
              \phi(z) = z\,\sigma(z), \quad \sigma(z) = \frac{1}{1 + e^{-z}}

    Parameters
    ----------
    x : array_like of shape (..., n, m)
    up_weight : array_like of shape (m, k)
    up_bias : array_like of shape (k,)
    down_weight : array_like of shape (k, m)
    down_bias : array_like of shape (m,)

    Returns
    -------
    out : ndarray of shape (..., n, m)
    before : ndarray of shape (..., n, k)
        The hidden units before the activation, for `mlp_backward`.

    Raises
    ------
    TypeError
        If an argument does not hold real numbers.
    ValueError
        If the shapes do not fit.

    References
    ----------
    .. [1] Vaswani et al. (2017), "Attention Is All You Need", eq. 2, with another activation:
    .. [2] Hendrycks and Gimpel (2016), "Gaussian Error Linear Units", section 2: the SiLU.
    .. [3] Geva et al. (2021), "Transformer Feed-Forward Layers Are Key-Value Memories".

    Examples
    --------
    >>> out, before = mlp([[1.0, 2.0]], np.ones((2, 3)), np.zeros(3), np.ones((3, 2)), np.zeros(2))
    >>> before.shape, out.round(3)
    ((1, 3), array([[8.573, 8.573]]))
    """
    arrays = dict(x=x, up_weight=up_weight, up_bias=up_bias, down_weight=down_weight, down_bias=down_bias)
    (x, up_weight, up_bias, down_weight, down_bias), dtype = _as_arrays("mlp", arrays)
    before = x @ up_weight + up_bias
    after = before * _sigmoid(before)
    out = after @ down_weight + down_bias
    return out.astype(dtype, copy=False), before.astype(dtype, copy=False)


@quiet
def mlp_backward(d_out, x, up_weight, up_bias, down_weight, down_bias, before):
    r"""Gradients of `mlp`.

    The slope of the activation is :math:`\phi'(z) = \sigma(z)\,(1 + z\,(1 - \sigma(z)))`. The rest are the gradients
    of two linear layers, and those of the weights are summed over all tokens.

    Parameters
    ----------
    d_out : array_like of shape (..., n, m)
        Gradient of the loss with respect to the `out` of `mlp`.
    x, up_weight, up_bias, down_weight, down_bias
        As given to `mlp`.
    before : array_like of shape (..., n, k)
        What `mlp` returned.

    Returns
    -------
    d_x, d_up_weight, d_up_bias, d_down_weight, d_down_bias
        In the shapes of the arguments of `mlp`, as a tuple.

    Raises
    ------
    TypeError
        If an argument does not hold real numbers.
    ValueError
        If the shapes do not fit.

    Examples
    --------
    >>> weights = np.ones((2, 3)), np.zeros(3), np.ones((3, 2)), np.zeros(2)
    >>> out, before = mlp([[1.0, 2.0]], *weights)
    >>> gradients = mlp_backward([[1.0, -1.0]], [[1.0, 2.0]], *weights, before)
    >>> [gradient.shape for gradient in gradients]
    [(1, 2), (2, 3), (3,), (3, 2), (2,)]
    """
    arrays = dict(x=x, up_weight=up_weight, up_bias=up_bias, down_weight=down_weight, down_bias=down_bias)
    arrays |= dict(d_out=d_out, before=before)
    (x, up_weight, up_bias, down_weight, down_bias, d_out, before), dtype = _as_arrays("mlp_backward", arrays)
    sigmoid = _sigmoid(before)
    # forward: out = after @ down_weight + down_bias
    d_after = d_out @ down_weight.mT
    d_down_weight, d_down_bias = _rows(before * sigmoid).mT @ _rows(d_out), _rows(d_out).sum(axis=0)
    # forward: after = before * sigmoid(before)
    d_before = d_after * sigmoid * (1 + before * (1 - sigmoid))
    # forward: before = x @ up_weight + up_bias
    d_x = d_before @ up_weight.mT
    d_up_weight, d_up_bias = _rows(x).mT @ _rows(d_before), _rows(d_before).sum(axis=0)
    gradients = d_x, d_up_weight, d_up_bias, d_down_weight, d_down_bias
    return tuple(gradient.astype(dtype, copy=False) for gradient in gradients)


def _sigmoid(z):
    return 0.5 * (1 + np.tanh(0.5 * z))  # 1 / (1 + exp(-z)), written so that no exponential overflows


def _rows(x):
    return x.reshape(-1, x.shape[-1])  # one row for each token, since all of them share the weights


def _as_arrays(function, arrays):
    converted, dtype = as_float(function, **arrays)
    checked = dict(zip(arrays, converted, strict=True))
    x, up_weight = checked["x"], checked["up_weight"]
    m, k = up_weight.shape if up_weight.ndim == 2 else (None, None)
    expected = {"up_weight": (m, k), "up_bias": (k,), "down_weight": (k, m), "down_bias": (m,)}
    expected |= {"x": (*x.shape[:-1], m), "d_out": (*x.shape[:-1], m), "before": (*x.shape[:-1], k)}
    if x.ndim < 1 or any(array.shape != expected[name] for name, array in checked.items()):
        axes = "x (..., n, m), up_weight (m, k), up_bias (k,), down_weight (k, m), down_bias (m,)"
        shown = "\n".join(f"  {name + ':':<12} {array.shape}" for name, array in checked.items())
        raise ValueError(f"{function}: the shapes must be {axes}.\n{shown}")
    return converted, dtype
