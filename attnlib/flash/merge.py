"""Partial results of attention over parts of the keys, merged into the result for all."""

import numpy as np

from attnlib.checks.arrays import as_float, quiet


@quiet
def merge_partials(out_a, logsumexp_a, out_b, logsumexp_b):
    r"""Attention over two sets of keys, from the results for each set.

    .. math:: \ell = \log\bigl(e^{\ell_a} + e^{\ell_b}\bigr), \qquad
              out = \frac{e^{\ell_a - \mu}\, out_a + e^{\ell_b - \mu}\, out_b}{e^{\ell_a - \mu} + e^{\ell_b - \mu}}, \qquad
              \mu = \max(\ell_a, \ell_b)

    Each part is weighted by its share of the softmax's denominator. The two shares sum to one whatever
    has been rounded away, so the result lies between the parts. That makes it possible to split the keys
    over several workers or in time, and to merge in any order.

    Parameters
    ----------
    out_a, out_b : array_like of shape (..., q, v)
    logsumexp_a, logsumexp_b : array_like of shape (..., q)
        What `flash_attention` returned for the same queries and different keys.

    Returns
    -------
    out : ndarray of shape (..., q, v)
    logsumexp : ndarray of shape (..., q)
        As if `flash_attention` had seen the keys of both parts at once, float64 like its own. A part in
        which a query may look at nothing leaves that query's other part as it is.

    Raises
    ------
    TypeError
        If an argument does not hold real numbers.
    ValueError
        If the shapes do not fit.

    Notes
    -----
    float64 keeps a `logsumexp` to within ``1e-16 * abs(logsumexp)``, and a share is no more exact than that. Beyond
    1e18 nothing is left of the sums: two parts in which a query's scores are all -1e30 get the share 1/2 each,
    whatever their numbers of keys.

    References
    ----------
    .. [1] Liu, Zaharia and Abbeel (2023), "Ring Attention with Blockwise Transformers for
       Near-Infinite Context", arXiv:2310.01889, section 3.

    Examples
    --------
    >>> from attnlib.flash import flash_attention
    >>> query, key, value = np.ones((1, 2)), np.ones((3, 2)), np.array([[0.0], [3.0], [6.0]])
    >>> first, rest = flash_attention(query, key[:1], value[:1]), flash_attention(query, key[1:], value[1:])
    >>> merge_partials(*first, *rest)[0].round(12)
    array([[3.]])

    A batch of 2 texts, 6 query heads that share 3 key heads; the first 2 keys and the last 3 apart:

    >>> rng = np.random.default_rng(0)
    >>> query, key, value = (rng.normal(size=(2, heads, 5, 4)) for heads in (6, 3, 3))
    >>> first, rest = (flash_attention(query, key[..., part, :], value[..., part, :]) for part in np.s_[:2, 2:])
    >>> out, logsumexp = merge_partials(*first, *rest)
    >>> np.allclose(out, flash_attention(query, key, value)[0])
    True
    """
    function = "merge_partials"
    (out_a, out_b), dtype = as_float(function, out_a=out_a, out_b=out_b)
    (logsumexp_a, logsumexp_b), _ = as_float(function, logsumexp_a=logsumexp_a, logsumexp_b=logsumexp_b)
    if out_a.shape != out_b.shape or out_a.ndim < 2 or {logsumexp_a.shape, logsumexp_b.shape} != {out_a.shape[:-1]}:
        raise ValueError(
            f"{function}: both parts must have the same shapes, and logsumexp the shape of out without its last axis.\n"
            f"  out_a       (..., q, v): {out_a.shape}\n  logsumexp_a (..., q):    {logsumexp_a.shape}\n"
            f"  out_b       (..., q, v): {out_b.shape}\n  logsumexp_b (..., q):    {logsumexp_b.shape}"
        )
    logsumexp_a = logsumexp_a.astype(np.result_type(logsumexp_a, np.float64), copy=False)
    maximum = np.maximum(logsumexp_a, logsumexp_b)
    finite = np.where(np.isneginf(maximum), 0, maximum)  # no keys in either part: both shares are 0
    mass_a, mass_b = np.exp(logsumexp_a - finite), np.exp(logsumexp_b - finite)
    total = mass_a + mass_b
    logsumexp = maximum + np.log(total)
    total[total == 0] = 1
    share_a, share_b = ((mass / total)[..., np.newaxis].astype(out_a.dtype) for mass in (mass_a, mass_b))
    return (share_a * out_a + share_b * out_b).astype(dtype, copy=False), logsumexp
