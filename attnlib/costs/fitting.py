"""The tiles with which attention moves the fewest numbers through a fast memory of a given size."""

from attnlib.costs.tile_visits import as_integers


def fitting_blocks(capacity, d, v=None, *, method="flash"):
    """The tile sizes (block_q, block_k) that move the fewest numbers, of all that fit into the fast memory.

    A row of tiles is paid for by the tile that stays, not by the one that streams past it. So one key at a time
    streams past the queries, or one query at a time past the keys, and all other room is for the tile that stays.

    Parameters
    ----------
    capacity : int
        How many numbers fit into the fast memory.
    d, v : int
        Features of a query or key, and of a value; v is d if left out.
    method : {"naive", "flash", "flash-keys-outer"}
        Which loops: `naive_attention_on`, `flash_attention_on` or `flash_attention_keys_outer_on`. The naive loops
        also need room for a row of scores, one number for each key.

    Returns
    -------
    block_q, block_k : int

    Raises
    ------
    TypeError
        If a size is not an integer.
    ValueError
        If a size is less than 1, `method` unknown, or the memory too small for one query and one key.

    Notes
    -----
    At its fullest the fast memory holds these numbers:

    =======================  ====================================================================
    method                   numbers
    =======================  ====================================================================
    flash, flash-keys-outer  block_q (d + v + 2) + block_k (d + v) + block_q block_k
    naive                    block_q w + block_k w + block_q block_k, with w the larger of d and v
    =======================  ====================================================================

    Examples
    --------
    >>> [fitting_blocks(100, 4, method=method) for method in ("naive", "flash", "flash-keys-outer")]
    [(19, 1), (8, 1), (1, 10)]
    """
    capacity, d, v = as_integers("fitting_blocks", 1, capacity=capacity, d=d, v=d if v is None else v)
    wider = max(d, v)
    # of a query, of a key: what one of them needs, its score with a single other one not counted
    needs = {"naive": (wider, wider), "flash": (d + v + 2, d + v), "flash-keys-outer": (d + v + 2, d + v)}
    if method not in needs:
        raise ValueError(f"fitting_blocks: method must be one of {', '.join(needs)}; got {method!r}.")
    of_query, of_key = needs[method]
    if capacity < of_query + of_key + 1:
        raise ValueError(
            f"fitting_blocks: one query and one key need {of_query + of_key + 1} numbers; the fast memory holds {capacity}."
        )
    if method == "flash-keys-outer":
        return 1, (capacity - of_query) // (of_key + 1)
    return (capacity - of_key) // (of_query + 1), 1
