"""What a whole model costs: layers of attention and an MLP, between an embedding and the scores of the vocabulary."""

from typing import NamedTuple

from attnlib.costs.flops import count_flops
from attnlib.costs.sizes import count_parameters
from attnlib.costs.tile_visits import as_integers


class ModelParameters(NamedTuple):
    """Numbers that a model learns, by where they are; `total` adds them up.

    Attributes
    ----------
    attention : int
        In the four projections of all layers.
    mlp : int
        In the matrices of all MLPs.
    vocabulary : int
        In the embedding, and in the matrix that makes scores of the vocabulary if it is another one.
    """

    attention: int
    mlp: int
    vocabulary: int

    @property
    def total(self):
        """All of them."""
        return sum(self)


class ModelFlops(NamedTuple):
    """Floating-point operations of a model's forward, by where they are spent; `total` adds them up.

    Attributes
    ----------
    projections, products, elementwise : int
        In attention, as in `count_flops`, for all layers.
    mlp : int
        In the products with the matrices of all MLPs.
    vocabulary : int
        In the scores of the vocabulary, at every position.
    """

    projections: int
    products: int
    elementwise: int
    mlp: int
    vocabulary: int

    @property
    def total(self):
        """All operations."""
        return sum(self)


def count_model_parameters(layers, m, heads, d, *, kv_heads=None, hidden=0, mlp_matrices=2, vocabulary=0, embeddings=1):
    """Count the numbers that a decoder learns in its matrices; biases, norms and learned positions are left out.

    Parameters
    ----------
    layers, m, heads, d, kv_heads : int
        How many layers; the rest as in `count_parameters`.
    hidden : int, default 0
        Hidden width of the MLP; 0 for attention alone.
    mlp_matrices : int, default 2
        Matrices of m × hidden numbers in an MLP: 2, or 3 if it has a gate.
    vocabulary : int, default 0
        Number of different tokens.
    embeddings : int, default 1
        Matrices of vocabulary × m numbers: 1 if the scores of the vocabulary are made with the embedding, else 2.

    Returns
    -------
    parameters : ModelParameters
        ``(attention, mlp, vocabulary)`` and ``.total``.

    Raises
    ------
    TypeError
        If a size is not an integer.
    ValueError
        If a size of attention is less than 1, or another one negative.

    Examples
    --------
    GPT-3, published as 175 billion:

    >>> count_model_parameters(96, 12288, 96, 128, hidden=4 * 12288, vocabulary=50257).total
    174563733504
    """
    sizes = {"layers": layers, "m": m, "heads": heads, "d": d, "kv_heads": heads if kv_heads is None else kv_heads}
    layers, m, heads, d, kv_heads = as_integers("count_model_parameters", 1, **sizes)
    others = {"hidden": hidden, "mlp_matrices": mlp_matrices, "vocabulary": vocabulary, "embeddings": embeddings}
    hidden, mlp_matrices, vocabulary, embeddings = as_integers("count_model_parameters", 0, **others)
    attention = count_parameters(m, heads, d, kv_heads=kv_heads)
    return ModelParameters(layers * attention, layers * mlp_matrices * m * hidden, embeddings * vocabulary * m)


def count_model_flops(
    n, layers, m, heads, d, *, kv_heads=None, hidden=0, mlp_matrices=2, vocabulary=0, batch=1, method="naive"
):  # fmt: skip
    """Count the operations of a forward over texts of n tokens: twice for each weight and token, and the attention.

    Attention computes all n² pairs, as without a causal mask. What an MLP does between its matrices, norms, and
    the look-up in the embedding are left out.

    Parameters
    ----------
    n : int
        Tokens of a text.
    layers, m, heads, d, kv_heads, hidden, mlp_matrices, vocabulary : int
        As in `count_model_parameters`.
    batch : int, default 1
        Number of texts.
    method : {"naive", "flash"}
        Which attention; Flash in one tile.

    Returns
    -------
    flops : ModelFlops
        ``(projections, products, elementwise, mlp, vocabulary)`` and ``.total``.

    Raises
    ------
    TypeError
        If a size is not an integer.
    ValueError
        If a size is negative, or `method` unknown.

    Examples
    --------
    >>> flops = count_model_flops(2048, 96, 12288, 96, 128, hidden=4 * 12288, vocabulary=50257)
    >>> print(f"{flops.total:.3g}, of which {flops.products / flops.total:.1%} are products of attention")
    7.35e+14, of which 2.7% are products of attention
    """
    if method not in ("naive", "flash"):
        raise ValueError(f"count_model_flops: method must be one of naive, flash; got {method!r}.")
    sizes = {"n": n, "layers": layers, "m": m, "heads": heads, "d": d}
    sizes |= {"kv_heads": heads if kv_heads is None else kv_heads, "hidden": hidden, "mlp_matrices": mlp_matrices}
    sizes |= {"vocabulary": vocabulary, "batch": batch}
    n, layers, m, heads, d, kv_heads, hidden, mlp_matrices, vocabulary, batch = as_integers(
        "count_model_flops", 0, **sizes
    )
    attention = count_flops(n, n, d, heads=heads, kv_heads=kv_heads, m=m, batch=batch, method=method)
    rows = 2 * batch * n  # a multiply-add is two, for each token and weight
    return ModelFlops(
        *(layers * part for part in attention), rows * layers * mlp_matrices * m * hidden, rows * vocabulary * m
    )
