"""How many numbers attention learns, and how many bytes its scores and its cache take."""

import numpy as np

from attnlib.checks.arrays import as_dtype
from attnlib.costs.tile_visits import as_integers


def count_parameters(m, heads, d, v=None, *, kv_heads=None, key_width=None, value_width=None, bias=False):
    """Numbers that multi-head attention learns.

    Parameters
    ----------
    m : int
        Width of a token.
    heads : int
        Number of query heads.
    d, v : int
        Features of a query or key, and of a value, in one head; v is d if left out.
    kv_heads : int, optional
        Number of key and value heads; as many as `heads` if left out.
    key_width, value_width : int, optional
        Width of what keys and values are made from; m if left out.
    bias : bool, default False
        Whether the four projections have biases.

    Returns
    -------
    parameters : int

    Raises
    ------
    TypeError
        If a size is not an integer.
    ValueError
        If a size is less than 1.

    Examples
    --------
    >>> count_parameters(512, 8, 64), count_parameters(512, 8, 64, kv_heads=2)
    (1048576, 655360)
    """
    m, heads, d = as_integers("count_parameters", 1, m=m, heads=heads, d=d)
    v, kv_heads, key_width, value_width = as_integers(
        "count_parameters", 1, v=d if v is None else v, kv_heads=heads if kv_heads is None else kv_heads,
        key_width=m if key_width is None else key_width, value_width=m if value_width is None else value_width,
    )  # fmt: skip
    weights = m * heads * d + key_width * kv_heads * d + value_width * kv_heads * v + heads * v * m
    return weights + (heads * d + kv_heads * (d + v) + m if bias else 0)


def kv_cache_bytes(batch, layers, n, kv_heads, d, v=None, *, dtype="float16"):
    """Bytes of all keys and values that decoding keeps: 2 × batch × layers × n × kv_heads × d numbers if v = d.

    Parameters
    ----------
    batch, layers : int
        How many texts, and how many layers, each of which has its own cache.
    n : int
        Positions kept.
    kv_heads : int
        Number of key and value heads.
    d, v : int
        Features of a key and of a value in one head; v is d if left out.
    dtype : dtype, default "float16"
        What the cache stores.

    Returns
    -------
    bytes : int

    Raises
    ------
    TypeError
        If a size is not an integer, or `dtype` is not a dtype.
    ValueError
        If a size is negative.

    Examples
    --------
    32 layers, 4096 tokens, heads of width 128: with 32 heads of keys and values, and with 8.

    >>> [kv_cache_bytes(1, 32, 4096, heads, 128) / 2**30 for heads in (32, 8)]
    [2.0, 0.5]
    """
    batch, layers, n, kv_heads, d, v = as_integers(
        "kv_cache_bytes", 0, batch=batch, layers=layers, n=n, kv_heads=kv_heads, d=d, v=d if v is None else v
    )
    return batch * layers * n * kv_heads * (d + v) * as_dtype("kv_cache_bytes", dtype).itemsize


def latent_cache_bytes(batch, layers, n, latent, rotary=0, *, dtype="float16"):
    """Bytes of a latent cache: batch × layers × n × (latent + rotary) numbers, however many heads there are.

    Parameters
    ----------
    batch, layers, n : int
        As in `kv_cache_bytes`.
    latent : int
        Width of the row that keys and values of all heads are made from.
    rotary : int, default 0
        Rotated features of a key that all heads share, kept beside the row.
    dtype : dtype, default "float16"
        What the cache stores.

    Returns
    -------
    bytes : int

    Raises
    ------
    TypeError
        If a size is not an integer, or `dtype` is not a dtype.
    ValueError
        If a size is negative.

    References
    ----------
    .. [1] DeepSeek-AI (2024), "DeepSeek-V2", arXiv:2405.04434, section 2.1.

    Examples
    --------
    One token of one layer with 128 heads of width 128: keys and values, and the latent row of the paper.

    >>> kv_cache_bytes(1, 1, 1, 128, 128), latent_cache_bytes(1, 1, 1, 512, 64)
    (65536, 1152)
    """
    batch, layers, n, latent, rotary = as_integers(
        "latent_cache_bytes", 0, batch=batch, layers=layers, n=n, latent=latent, rotary=rotary
    )
    return batch * layers * n * (latent + rotary) * as_dtype("latent_cache_bytes", dtype).itemsize


def score_bytes(q, k, *, method="naive", batch=1, heads=1, dtype="float16"):
    """Bytes that the forward of one layer keeps of its scores for the backward.

    Plain attention keeps all weights, batch × heads × q × k numbers. Flash keeps one logsumexp for each query and
    head; a kernel stores it with at least four bytes, whatever the dtype of the rest.

    Parameters
    ----------
    q, k : int
        Queries and keys.
    method : {"naive", "flash"}
        Which attention.
    batch, heads : int, default 1
        How many times over; `heads` are query heads.
    dtype : dtype, default "float16"
        What the weights are stored in.

    Returns
    -------
    bytes : int

    Raises
    ------
    TypeError
        If a size is not an integer, or `dtype` is not a dtype.
    ValueError
        If a size is negative or `method` unknown.

    Examples
    --------
    >>> score_bytes(4096, 4096, heads=32) / 2**20, score_bytes(4096, 4096, heads=32, method="flash") / 2**20
    (1024.0, 0.5)
    """
    if method not in ("naive", "flash"):
        raise ValueError(f"score_bytes: method must be one of naive, flash; got {method!r}.")
    q, k, batch, heads = as_integers("score_bytes", 0, q=q, k=k, batch=batch, heads=heads)
    stored = as_dtype("score_bytes", dtype)
    if method == "flash":
        return batch * heads * q * max(stored.itemsize, np.dtype(np.float32).itemsize)
    return batch * heads * q * k * stored.itemsize
