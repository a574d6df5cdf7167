"""What attention costs: operations counted, numbers moved, and which of the two a machine waits for.

Every count is exact for the loops in this library. `count_traffic` is what a `Memory` counts when the loops run
on it.
"""

import math
from typing import NamedTuple

import numpy as np

from attnlib._inputs import as_integer
from attnlib._memory import (
    Memory,
    flash_attention_backward_on,
    flash_attention_keys_outer_on,
    flash_attention_on,
    naive_attention_backward_on,
    naive_attention_on,
    tiles,
)

__all__ = [
    "A100",
    "Flops",
    "Machine",
    "Memory",
    "Traffic",
    "arithmetic_intensity",
    "count_bytes",
    "count_flops",
    "count_parameters",
    "count_traffic",
    "flash_attention_backward_on",
    "flash_attention_keys_outer_on",
    "flash_attention_on",
    "kv_cache_bytes",
    "naive_attention_backward_on",
    "naive_attention_on",
    "paper_blocks",
    "roofline",
    "tiles",
]


class Flops(NamedTuple):
    """Floating-point operations by where they are spent; `total` adds them up.

    Attributes
    ----------
    projections : int
        In the products with the four learned weights, and their biases.
    products : int
        In the products of queries, keys, weights and values.
    elementwise : int
        In everything else: softmax, scale, mask.
    """

    projections: int
    products: int
    elementwise: int

    @property
    def total(self):
        """All operations."""
        return sum(self)


class Traffic(NamedTuple):
    """Numbers moved from slow to fast memory and back; `total` adds them up.

    Attributes
    ----------
    loads : int
        Into fast memory.
    stores : int
        Back.
    """

    loads: int
    stores: int

    @property
    def total(self):
        """All numbers moved."""
        return sum(self)


class Machine(NamedTuple):
    """A processor, as far as the roofline knows it.

    Attributes
    ----------
    bandwidth : float
        Bytes per second between slow and fast memory.
    peak_flops : dict from str to float
        Operations per second, at best, for each dtype by name.
    """

    bandwidth: float
    peak_flops: dict


class Roofline(NamedTuple):
    """Where a computation stands under the roof.

    Attributes
    ----------
    intensity : float
        Its operations per byte moved.
    ridge : float
        The intensity from which on the machine waits for its arithmetic.
    seconds : float
        The least it can take.
    bound : str
        What the machine waits for: "memory" or "compute".
    """

    intensity: float
    ridge: float
    seconds: float
    bound: str


#: NVIDIA A100 with 40 GB, from its data sheet (2020): float32 without, float16 with tensor cores.
A100 = Machine(1.555e12, {"float32": 19.5e12, "float16": 312e12})


def count_flops(
    q, k, d, v=None, *, method="naive", backward=False, block_q=None, block_k=None, causal=False, mask=False,
    batch=1, heads=1, kv_heads=None, m=None, bias=False,
):  # fmt: skip
    r"""Count floating-point operations; a multiply-add is two, any other operation on one number is one.

    Per pair of a query and a key that is computed:

    ===================  ========================================  ====================================
    \                    forward                                   backward
    ===================  ========================================  ====================================
    products             2 (d + v)                                 4 (d + v); Flash: 2 d more, for the
                                                                   scores once again
    elementwise, naive   6: scale, maximum, subtract, exp,         5: weights · d_weights, sum, subtract,
                         sum, divide                               weights ·, scale
    elementwise, Flash   5: no division                            6: scale, subtract, exp, subtract,
                                                                   weights ·, scale
    with a mask          1: add it                                 0; Flash: 1, add it again
    ===================  ========================================  ====================================

    Flash adds, forward, v + 5 for each row of each tile (new maximum, difference and exp; rescale and add
    the sum; rescale the output) and v + 2 for each query (divide; logsumexp); backward, 2 v for each query
    (the row sum of out · d_out). All of it times batch and heads.

    Parameters
    ----------
    q, k, d, v : int
        Queries, keys, features of a key and of a value; v is d if left out.
    method : {"naive", "flash"}
        Which loops.
    backward : bool, default False
        Count the backward *instead of* the forward.
    block_q, block_k : int, optional
        Tile sizes for Flash; all rows if left out.
    causal : bool, default False
        Query i sees keys up to i. Flash skips the tiles that this empties; naive computes all pairs.
    mask : bool, default False
        Whether a bias is added to the scores.
    batch, heads : int, default 1
        How many times over.
    kv_heads : int, optional
        Heads of keys and values, for their projections; as many as `heads` if left out.
    m : int, optional
        Width of the tokens. If given, the four projections are counted, else none: 2 operations for each
        input row and weight; backward 4, for the gradients of input and weight.
    bias : bool, default False
        Whether the projections have a bias: one addition for each of their results.

    Returns
    -------
    flops : Flops
        ``(projections, products, elementwise)`` and ``.total``.

    Raises
    ------
    TypeError
        If a size is not an integer.
    ValueError
        If a size is negative, a block less than 1, or `method` unknown.

    Examples
    --------
    With one head, projections and products cost the same when n = 2 m:

    >>> flops = count_flops(1024, 1024, 512, m=512)
    >>> flops.projections == flops.products
    True
    """
    case = _case("count_flops", q, k, d, v, method, block_q, block_k, batch, heads, kv_heads, m)
    q, k, d, v, block_q, block_k, batch, heads, kv_heads, m = case
    pairs, _, query_reads, _ = _visits(q, k, block_q, block_k, causal and method == "flash")
    products = 2 * pairs * (d + v) * (2 if backward else 1)
    if method == "naive":
        elementwise = pairs * (5 if backward else 6 + bool(mask))
    elif backward:
        products += 2 * pairs * d
        elementwise = pairs * (6 + bool(mask)) + 2 * q * v
    else:
        elementwise = pairs * (5 + bool(mask)) + query_reads * (v + 5) + q * (v + 2)
    projections = 0
    for rows, width_in, width_out in _projections(q, k, d, v, heads, kv_heads, m):
        projections += rows * width_out * (2 * width_in * (2 if backward else 1) + bool(bias))
    return Flops(batch * projections, batch * heads * products, batch * heads * elementwise)


def count_traffic(
    q, k, d, v=None, *, method="naive", backward=False, block_q=None, block_k=None, causal=False,
    batch=1, heads=1, kv_heads=None, m=None,
):  # fmt: skip
    r"""Count the numbers that move between slow and fast memory, as the loops of this module move them.

    With :math:`T_q = \lceil q / block_q \rceil` tiles of queries and :math:`T_k` of keys:

    ====================  ==============================================  =====================================
    method                loads                                           stores
    ====================  ==============================================  =====================================
    naive                 2 q k + q d + T_q k (d + v)                     2 q k + q v
    naive, backward       5 q k + q v + T_q k (d + v) + T_k q (d + v)     2 q k + q d + k (d + v)
    flash                 q d + T_q k (d + v)                             q (v + 1)
    flash-keys-outer      k (d + v) + T_k q (d + v + 2)                   T_k q (v + 2)
    flash, backward       2 q v + k (d + v) + T_k q (2 d + v + 2)         q + T_k q d + k (d + v)
    ====================  ==============================================  =====================================

    Naive attention makes four trips through the scores here, the fewest it can: scores out and in, weights
    out and in. Code that scales or masks in a step of its own makes two more for each.

    A causal mask lets Flash skip tiles, so that T_q k and T_k q become sums over what is visited. Naive
    attention moves all scores all the same. Without block sizes there is one tile: the naive count is then the
    most favourable there is, with query, key and value loaded once for each product.

    Each query head runs on its own. Projections (if `m` is given) are counted as if each of their matrices
    moved once, which is the least possible; biases are left out.

    Parameters
    ----------
    q, k, d, v : int
        Queries, keys, features of a key and of a value; v is d if left out.
    method : {"naive", "flash", "flash-keys-outer"}
        Which loops: `naive_attention_on`, `flash_attention_on` or `flash_attention_keys_outer_on`. The two
        Flash forwards share one backward.
    backward : bool, default False
        Count the backward *instead of* the forward.
    block_q, block_k, causal, batch, heads, kv_heads, m
        As in `count_flops`.

    Returns
    -------
    traffic : Traffic
        ``(loads, stores)`` in numbers, and ``.total``.

    Raises
    ------
    TypeError
        If a size is not an integer.
    ValueError
        If a size is negative, a block less than 1, or `method` unknown.

    References
    ----------
    .. [1] Dao, Fu, Ermon, Rudra and Ré (2022), "FlashAttention: Fast and Memory-Efficient Exact Attention
       with IO-Awareness", NeurIPS, theorem 2: with a fast memory of M numbers, Flash moves Θ(n² d² / M),
       naive attention Θ(n d + n²).

    Examples
    --------
    >>> count_traffic(1024, 1024, 64), count_traffic(1024, 1024, 64, method="flash", block_q=128)
    (Traffic(loads=2293760, stores=2162688), Traffic(loads=1114112, stores=66560))
    """
    case = _case("count_traffic", q, k, d, v, method, block_q, block_k, batch, heads, kv_heads, m)
    q, k, d, v, block_q, block_k, batch, heads, kv_heads, m = case
    _, key_reads, query_reads, seen = _visits(q, k, block_q, block_k, causal and method != "naive")
    loads, stores = {
        ("naive", False): (2 * q * k + q * d + key_reads * (d + v), 2 * q * k + q * v),
        ("naive", True): (5 * q * k + q * v + (key_reads + query_reads) * (d + v), 2 * q * k + q * d + k * (d + v)),
        ("flash", False): (q * d + key_reads * (d + v), q * (v + 1)),
        ("flash-keys-outer", False): (seen * (d + v) + query_reads * (d + v + 2), query_reads * (v + 2)),
        ("flash", True): (
            2 * q * v + seen * (d + v) + query_reads * (2 * d + v + 2),
            q + query_reads * d + seen * (d + v),
        ),
    }["flash" if backward and method != "naive" else method, bool(backward)]
    loads, stores = batch * heads * loads, batch * heads * stores
    for rows, width_in, width_out in _projections(q, k, d, v, heads, kv_heads, m):
        x, weight, y = batch * rows * width_in, width_in * width_out, batch * rows * width_out
        loads += 2 * y + weight + x if backward else x + weight
        stores += x + weight if backward else y
    return Traffic(loads, stores)


def count_bytes(*sizes, dtype="float32", **options):
    """Bytes that move between slow and fast memory: `count_traffic` times the size of one number.

    Parameters
    ----------
    *sizes : int
        q, k, d and v, as in `count_traffic`.
    dtype : dtype, default "float32"
        The type of the numbers.
    **options : any
        As in `count_traffic`.

    Returns
    -------
    bytes : int

    Raises
    ------
    TypeError, ValueError
        As `count_traffic`.

    Examples
    --------
    >>> count_bytes(1024, 1024, 64, dtype="float16")
    8912896
    """
    return count_traffic(*sizes, **options).total * np.dtype(dtype).itemsize


def paper_blocks(capacity, d):
    """Tile sizes (block_q, block_k) of the FlashAttention paper for a fast memory of `capacity` numbers.

    The rule is meant up to a constant: with the tile of scores and the running maxima and sums, the loop
    needs up to 1.25 · capacity + 2 · block_q numbers.

    Parameters
    ----------
    capacity : int
        How many numbers fit into the fast memory.
    d : int
        Features of a query, a key and a value.

    Returns
    -------
    block_q, block_k : int

    Raises
    ------
    TypeError
        If an argument is not an integer.
    ValueError
        If an argument is less than 1.

    References
    ----------
    .. [1] Dao et al. (2022), "FlashAttention", algorithm 1, line 1. Their :math:`B_r, B_c`.

    Examples
    --------
    >>> paper_blocks(16384, 128)
    (32, 32)
    """
    capacity, d = _integers("paper_blocks", 1, capacity=capacity, d=d)
    block_k = math.ceil(capacity / (4 * d))
    return min(block_k, d), block_k


def arithmetic_intensity(flops, traffic, *, dtype="float32"):
    """Operations for each byte moved.

    Parameters
    ----------
    flops : Flops or number
        Operations.
    traffic : Traffic or number
        *Numbers* moved, not bytes: `dtype` says how many bytes one has.
    dtype : dtype, default "float32"
        The type of the numbers.

    Returns
    -------
    intensity : float
        Infinite if nothing moves.

    Raises
    ------
    TypeError
        If `flops` or `traffic` is not a count.

    Examples
    --------
    >>> n, d = 1024, 64
    >>> arithmetic_intensity(4 * n * n * d, count_traffic(n, n, d), dtype="float16")
    30.11764705882353
    """
    operations = _amount("arithmetic_intensity", "flops", flops)
    moved = _amount("arithmetic_intensity", "traffic", traffic) * np.dtype(dtype).itemsize
    return operations / moved if moved else math.inf


def roofline(flops, traffic, machine, *, dtype="float32"):
    """Is the machine waiting for its memory or for its arithmetic, and for how long at least?

    One `dtype` decides both the bytes of a number and the peak of the machine, so that float32 bytes
    cannot be held against a float16 peak.

    Parameters
    ----------
    flops : Flops or number
        Operations.
    traffic : Traffic or number
        Numbers moved.
    machine : Machine
        For example `A100`.
    dtype : dtype, default "float32"
        Must be one that the machine has a peak for.

    Returns
    -------
    roofline : Roofline
        ``intensity`` and ``ridge`` in operations per byte: below the ridge the memory is the bottleneck.
        ``seconds`` is the larger of the two times, ``bound`` says which it is.

    Raises
    ------
    TypeError
        If `flops` or `traffic` is not a count.
    ValueError
        If the machine has no peak for `dtype`.

    References
    ----------
    .. [1] Williams, Waterman and Patterson (2009), "Roofline: an insightful visual performance model for
       multicore architectures", Communications of the ACM 52(4).

    Examples
    --------
    >>> n, d = 4096, 64
    >>> roofline(4 * n * n * d, count_traffic(n, n, d), A100, dtype="float16").bound
    'memory'
    """
    name = np.dtype(dtype).name
    if name not in machine.peak_flops:
        raise ValueError(f"roofline: the machine has no peak for {name}; it has {', '.join(machine.peak_flops)}.")
    operations, numbers = _amount("roofline", "flops", flops), _amount("roofline", "traffic", traffic)
    intensity, peak = arithmetic_intensity(operations, numbers, dtype=dtype), machine.peak_flops[name]
    ridge = peak / machine.bandwidth
    seconds = max(operations / peak, numbers * np.dtype(dtype).itemsize / machine.bandwidth)
    return Roofline(intensity, ridge, seconds, "memory" if intensity < ridge else "compute")


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
    m, heads, d = _integers("count_parameters", 1, m=m, heads=heads, d=d)
    v, kv_heads, key_width, value_width = _integers(
        "count_parameters", 1, v=d if v is None else v, kv_heads=heads if kv_heads is None else kv_heads,
        key_width=m if key_width is None else key_width, value_width=m if value_width is None else value_width,
    )  # fmt: skip
    weights = m * heads * d + key_width * kv_heads * d + value_width * kv_heads * v + heads * v * m
    return weights + (heads * d + kv_heads * (d + v) + m if bias else 0)


def kv_cache_bytes(batch, layers, n, kv_heads, d, v=None, *, dtype="float16"):
    """Bytes of all keys and values that decoding keeps: 2 · batch · layers · n · kv_heads · d numbers if v = d.

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
        If a size is not an integer.
    ValueError
        If a size is negative.

    Examples
    --------
    32 layers, 4096 tokens, heads of width 128: with 32 heads of keys and values, and with 8.

    >>> [kv_cache_bytes(1, 32, 4096, heads, 128) / 2**30 for heads in (32, 8)]
    [2.0, 0.5]
    """
    batch, layers, n, kv_heads, d, v = _integers(
        "kv_cache_bytes", 0, batch=batch, layers=layers, n=n, kv_heads=kv_heads, d=d, v=d if v is None else v
    )
    return batch * layers * n * kv_heads * (d + v) * np.dtype(dtype).itemsize


def _case(function, q, k, d, v, method, block_q, block_k, batch, heads, kv_heads, m):
    """Check the arguments that both counters share and fill in what was left out."""
    known = ("naive", "flash") if function == "count_flops" else ("naive", "flash", "flash-keys-outer")
    if method not in known:
        raise ValueError(f"{function}: method must be one of {', '.join(known)}; got {method!r}.")
    sizes = _integers(function, 0, q=q, k=k, d=d, v=d if v is None else v)
    block_q, block_k = max(q, 1) if block_q is None else block_q, max(k, 1) if block_k is None else block_k
    blocks = _integers(function, 1, block_q=block_q, block_k=block_k)
    kv_heads, m = heads if kv_heads is None else kv_heads, 0 if m is None else m
    return *sizes, *blocks, *_integers(function, 0, batch=batch, heads=heads, kv_heads=kv_heads, m=m)


def _integers(function, minimum, **integers):
    return [as_integer(function, name, value, minimum=minimum) for name, value in integers.items()]


def _visits(q, k, block_q, block_k, causal):
    """What the tiles that are not skipped add up to.

    Returns the pairs computed, the keys read (T_q k if nothing is skipped), the queries read (T_k q), and
    how many keys any query sees.
    """
    lengths = [rows.stop - rows.start for rows in tiles(q, block_q)]
    # The last query of a tile sees keys up to itself; the tile of keys that this falls into is read whole.
    seen = [min(k, block_k * math.ceil(rows.stop / block_k)) if causal else k for rows in tiles(q, block_q)]
    pairs = sum(length * keys for length, keys in zip(lengths, seen, strict=True))
    queries_read = sum(length * math.ceil(keys / block_k) for length, keys in zip(lengths, seen, strict=True))
    return pairs, sum(seen), queries_read, max(seen, default=0 if causal else k)


def _projections(q, k, d, v, heads, kv_heads, m):
    """(rows, width in, width out) of the four projections; none if there is no m."""
    if not m:
        return []
    return [(q, m, heads * d), (k, m, kv_heads * d), (k, m, kv_heads * v), (q, heads * v, m)]


def _amount(function, name, amount):
    total = getattr(amount, "total", amount)
    if isinstance(total, (bool, np.bool_)) or not isinstance(total, (int, float, np.integer, np.floating)):
        raise TypeError(f"{function}: {name} must be a count; got {amount!r}.")
    return total
