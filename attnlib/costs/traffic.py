"""How many numbers attention moves between slow and fast memory."""

from typing import NamedTuple

from attnlib.checks.arrays import as_dtype, as_truth
from attnlib.costs.tile_visits import as_case, projections_of, visits


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


def count_traffic(
    q, k, d, v=None, *, method="naive", backward=False, block_q=None, block_k=None, causal=False,
    batch=1, heads=1, kv_heads=None, m=None,
):  # fmt: skip
    r"""Count the numbers that move between slow and fast memory, as the loops of this module move them.

    With :math:`N_q = \lceil q / block_q \rceil` tiles of queries and :math:`N_k` of keys:

    ====================  ==============================================  =====================================
    method                loads                                           stores
    ====================  ==============================================  =====================================
    naive                 2 q k + q d + N_q k (d + v)                     2 q k + q v
    naive, backward       5 q k + q v + N_q k (d + v) + N_k q (d + v)     2 q k + q d + k (d + v)
    flash                 q d + N_q k (d + v)                             q (v + 1)
    flash-keys-outer      k (d + v) + N_k q (d + v + 2)                   N_k q (v + 2)
    flash, backward       2 q v + k (d + v) + N_k q (2 d + v + 2)         q + N_k q d + k (d + v)
    ====================  ==============================================  =====================================

    Naive attention makes four trips through the scores here, the fewest it can: scores out and in, weights
    out and in. Code that scales or masks in a step of its own makes two more for each.

    A causal mask lets Flash skip tiles, so that N_q k and N_k q become sums over what is visited. Naive
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
        If a size is not an integer, or `backward` or `causal` neither True nor False.
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
    options = {"method": method, "backward": backward, "block_q": block_q, "block_k": block_k, "causal": causal}
    options |= {"batch": batch, "heads": heads, "kv_heads": kv_heads, "m": m}
    return _traffic("count_traffic", q, k, d, v, **options)


def _traffic(
    function, q, k, d, v=None, *, method="naive", backward=False, block_q=None, block_k=None, causal=False,
    batch=1, heads=1, kv_heads=None, m=None,
):  # fmt: skip
    """What `count_traffic` counts, with errors in the name of the function that was called."""
    as_truth(function, "backward", backward)
    as_truth(function, "causal", causal)
    case = as_case(function, q, k, d, v, method, block_q, block_k, batch, heads, kv_heads, m)
    q, k, d, v, block_q, block_k, batch, heads, kv_heads, m = case
    _, key_reads, query_reads, seen = visits(q, k, block_q, block_k, causal and method != "naive")
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
    for rows, width_in, width_out in projections_of(q, k, d, v, heads, kv_heads, m):
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
        As `count_traffic`; TypeError also if `dtype` is not a dtype.

    Examples
    --------
    >>> count_bytes(1024, 1024, 64, dtype="float16")
    8912896
    """
    return _traffic("count_bytes", *sizes, **options).total * as_dtype("count_bytes", dtype).itemsize
