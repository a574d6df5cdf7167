"""What both counters of `attnlib.costs` need: checked sizes, the tiles that are visited, the projections."""

import math

from attnlib.checks.arrays import as_integer
from attnlib.costs.memory import tiles


def as_case(function, q, k, d, v, method, block_q, block_k, batch, heads, kv_heads, m):
    """Check the arguments that both counters share and fill in what was left out."""
    known = ("naive", "flash") if function == "count_flops" else ("naive", "flash", "flash-keys-outer")
    if method not in known:
        raise ValueError(f"{function}: method must be one of {', '.join(known)}; got {method!r}.")
    sizes = as_integers(function, 0, q=q, k=k, d=d, v=d if v is None else v)
    block_q, block_k = max(q, 1) if block_q is None else block_q, max(k, 1) if block_k is None else block_k
    blocks = as_integers(function, 1, block_q=block_q, block_k=block_k)
    kv_heads, m = heads if kv_heads is None else kv_heads, 0 if m is None else m
    return *sizes, *blocks, *as_integers(function, 0, batch=batch, heads=heads, kv_heads=kv_heads, m=m)


def as_integers(function, minimum, **integers):
    return [as_integer(function, name, value, minimum=minimum) for name, value in integers.items()]


def visits(q, k, block_q, block_k, causal):
    """What the tiles that are not skipped add up to.

    Returns the pairs computed, the keys read (N_q k if nothing is skipped), the queries read (N_k q), and
    how many keys any query sees.
    """
    lengths = [rows.stop - rows.start for rows in tiles(q, block_q)]
    # The last query of a tile sees keys up to itself; the tile of keys that this falls into is read whole.
    seen = [min(k, block_k * math.ceil(rows.stop / block_k)) if causal else k for rows in tiles(q, block_q)]
    pairs = sum(length * keys for length, keys in zip(lengths, seen, strict=True))
    queries_read = sum(length * math.ceil(keys / block_k) for length, keys in zip(lengths, seen, strict=True))
    return pairs, sum(seen), queries_read, max(seen, default=0 if causal else k)


def projections_of(q, k, d, v, heads, kv_heads, m):
    """(rows, width in, width out) of the four projections; none if there is no m."""
    if not m:
        return []
    return [(q, m, heads * d), (k, m, kv_heads * d), (k, m, kv_heads * v), (q, heads * v, m)]
