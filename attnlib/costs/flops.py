"""How many floating-point operations attention takes."""

from typing import NamedTuple

from attnlib.checks.arrays import as_truth
from attnlib.costs.tile_visits import as_case, projections_of, visits


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
    elementwise, naive   6: scale, maximum, subtract, exp,         5: weights × d_weights, sum, subtract,
                         sum, divide                               weights ×, scale
    elementwise, Flash   5: no division                            6: scale, subtract, exp, subtract,
                                                                   weights ×, scale
    with a mask          1: add it                                 0; Flash: 1, add it again
    ===================  ========================================  ====================================

    Flash adds, forward, v + 5 for each row of each tile (new maximum, difference and exp; rescale and add
    the sum; rescale the output) and v + 2 for each query (divide; logsumexp); backward, 2 v for each query
    (the row sum of out × d_out). All of it times batch and heads.

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
        If a size is not an integer, or `backward`, `causal`, `mask` or `bias` neither True nor False.
    ValueError
        If a size is negative, a block less than 1, or `method` unknown.

    Examples
    --------
    With one head, projections and products cost the same when n = 2 m:

    >>> flops = count_flops(1024, 1024, 512, m=512)
    >>> flops.projections == flops.products
    True
    """
    for name, value in (("backward", backward), ("causal", causal), ("mask", mask), ("bias", bias)):
        as_truth("count_flops", name, value)
    case = as_case("count_flops", q, k, d, v, method, block_q, block_k, batch, heads, kv_heads, m)
    q, k, d, v, block_q, block_k, batch, heads, kv_heads, m = case
    pairs, _, query_reads, _ = visits(q, k, block_q, block_k, causal and method == "flash")
    products = 2 * pairs * (d + v) * (2 if backward else 1)
    if method == "naive":
        elementwise = pairs * (5 if backward else 6 + bool(mask))
    elif backward:
        products += 2 * pairs * d
        elementwise = pairs * (6 + bool(mask)) + 2 * q * v
    else:
        elementwise = pairs * (5 + bool(mask)) + query_reads * (v + 5) + q * (v + 2)
    projections = 0
    for rows, width_in, width_out in projections_of(q, k, d, v, heads, kv_heads, m):
        projections += rows * width_out * (2 * width_in * (2 if backward else 1) + bool(bias))
    return Flops(batch * projections, batch * heads * products, batch * heads * elementwise)
