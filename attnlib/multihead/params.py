"""What multi-head attention learns: its parameters, and where they start."""

import math
from dataclasses import dataclass, fields

import numpy as np

from attnlib.checks.arrays import as_float, as_float_dtype, as_integer


@dataclass(frozen=True, eq=False)
class MultiHeadParams:
    """What multi-head attention learns. The gradients come in the same class, each under the name of its array.

    A projection is ``y = x @ weight + bias``: a weight has one row for each input feature. (PyTorch
    stores the transpose; see `from_torch`.) Head i owns the i-th block of d neighbouring columns.

    Attributes
    ----------
    query_weight : ndarray of shape (m, h·d)
    key_weight : ndarray of shape (m, kv_heads·d)
    value_weight : ndarray of shape (m, kv_heads·v)
        What keys and values are made from may have a width of its own instead of m.
    out_weight : ndarray of shape (h·v, m)
    heads : int
        Number h of query heads.
    kv_heads : int
        Number of key and value heads, a divisor of `heads`; as many if left out. With fewer,
        neighbouring query heads share (grouped-query attention; with one, multi-query attention).
    query_bias, key_bias, value_bias, out_bias : ndarray or None
        One number for each column of `query_weight`, `key_weight` and so on.

    Raises
    ------
    TypeError
        If a number of heads is not an integer, or an array does not hold real numbers.
    ValueError
        If the shapes do not fit together.

    Examples
    --------
    >>> params = MultiHeadParams(*np.ones((4, 6, 6)), heads=3)
    >>> params.m, params.d, params.v
    (6, 2, 2)
    """

    query_weight: np.ndarray
    key_weight: np.ndarray
    value_weight: np.ndarray
    out_weight: np.ndarray
    heads: int
    kv_heads: int | None = None
    query_bias: np.ndarray | None = None
    key_bias: np.ndarray | None = None
    value_bias: np.ndarray | None = None
    out_bias: np.ndarray | None = None

    def __post_init__(self):
        name = "MultiHeadParams"
        arrays, dtype = as_float(name, **self.arrays())
        arrays = {field: array.astype(dtype, copy=False) for field, array in zip(self.arrays(), arrays, strict=True)}
        kv_heads = self.heads if self.kv_heads is None else self.kv_heads
        counts = _head_counts(name, self.heads, kv_heads)
        for field, value in {**arrays, **counts}.items():
            object.__setattr__(self, field, value)  # the dataclass is frozen from here on
        if any(array.ndim != (2 if field.endswith("weight") else 1) for field, array in self.arrays().items()):
            self._refuse("weights have two axes and biases have one")
        if any(0 in array.shape for array in self.arrays().values()):
            self._refuse("every weight must have at least one row and one column")
        columns = [self.query_weight.shape[1], self.key_weight.shape[1], self.value_weight.shape[1]]
        if columns[0] % self.heads or columns[1] % self.kv_heads or columns[2] % self.kv_heads:
            self._refuse("the columns of a weight must be a multiple of its number of heads")
        if columns[0] // self.heads != columns[1] // self.kv_heads:
            self._refuse("queries and keys must have the same number of features d in each head")
        if self.out_weight.shape != (self.heads * self.v, self.m):
            self._refuse(f"out_weight must have the shape (heads · v, m) = {(self.heads * self.v, self.m)}")
        for field in ("query", "key", "value", "out"):
            weight, bias = getattr(self, f"{field}_weight"), getattr(self, f"{field}_bias")
            if bias is not None and bias.shape != weight.shape[1:]:
                self._refuse(f"{field}_bias must have one number for each column of {field}_weight")

    @property
    def m(self):
        """Width of a token."""
        return self.query_weight.shape[0]

    @property
    def d(self):
        """Features of a query or key in one head."""
        return self.query_weight.shape[1] // self.heads

    @property
    def v(self):
        """Features of a value in one head."""
        return self.value_weight.shape[1] // self.kv_heads

    def arrays(self):
        """The weights and those biases that there are, by name."""
        named = {field.name: getattr(self, field.name) for field in fields(self) if "heads" not in field.name}
        return {name: array for name, array in named.items() if array is not None or name.endswith("weight")}

    def map(self, function, *others):
        """Apply a function to each array (and to those of the same name in `others`): new parameters.

        Examples
        --------
        One step of gradient descent:

        >>> params = init_multihead(np.random.default_rng(0), m=6, heads=2)
        >>> d_params = params.map(np.sign)
        >>> stepped = params.map(lambda weight, d_weight: weight - 0.1 * d_weight, d_params)
        """
        mapped = {
            name: function(array, *(getattr(other, name) for other in others)) for name, array in self.arrays().items()
        }
        return MultiHeadParams(heads=self.heads, kv_heads=self.kv_heads, **mapped)

    def _refuse(self, reason):
        shapes = "\n".join(f"  {name + ':':<13} {array.shape}" for name, array in self.arrays().items())
        raise ValueError(f"MultiHeadParams: {reason}.\n{shapes}\n  heads: {self.heads}, kv_heads: {self.kv_heads}")


def init_multihead(
    rng, *, m, heads, kv_heads=None, d=None, v=None, key_width=None, value_width=None, bias=False, dtype=np.float64
):
    r"""Random parameters for which scores start out with variance 1.

    Let the features of x be independent with mean 0 and variance 1. A projected feature
    :math:`\sum_{i=1}^{m} x_i w_i` then has variance :math:`m \operatorname{Var}(w)`, which is 1 for
    :math:`\operatorname{Var}(w) = 1/m`: one over the number of inputs that are summed ("fan in"). A score
    :math:`\sum_{j=1}^{d} \mathbf q_j \mathbf k_j / \sqrt d` of such queries and keys has variance
    :math:`d / d = 1`: no row of weights is saturated before training starts. The other weights
    follow the same rule with their own number of inputs. Biases start at 0.

    Parameters
    ----------
    rng : numpy.random.Generator
        Where the random numbers come from.
    m : int
        Width of a token.
    heads : int
        Number of query heads.
    kv_heads : int, optional
        Number of key and value heads, a divisor of `heads`; as many if left out.
    d, v : int, optional
        Features of a query or key, and of a value, in one head. By default d is m / heads and v is d.
    key_width, value_width : int, optional
        Width of what keys and values are made from, if it is not m.
    bias : bool, default False
        Whether the four projections have biases.
    dtype : dtype, default float64
        Drawn in float64 and rounded once, so that the numbers are the same ones.

    Returns
    -------
    params : MultiHeadParams

    Raises
    ------
    TypeError
        If a size is not an integer, `rng` is not a generator, or `dtype` is not a float dtype.
    ValueError
        If a size is less than 1, `kv_heads` does not divide `heads`, or `d` is left out and `heads`
        does not divide `m`.

    References
    ----------
    .. [1] LeCun, Bottou, Orr and Müller (1998), "Efficient BackProp", eq. 16.

    Examples
    --------
    >>> params = init_multihead(np.random.default_rng(0), m=512, heads=8, kv_heads=2)
    >>> params.query_weight.shape, params.key_weight.shape, params.d
    ((512, 512), (512, 128), 64)
    """
    name = "init_multihead"
    if not isinstance(rng, np.random.Generator):
        raise TypeError(f"{name}: rng must be a numpy.random.Generator; got {type(rng).__name__}.")
    m = as_integer(name, "m", m, minimum=1)
    counts = _head_counts(name, heads, heads if kv_heads is None else kv_heads)
    heads, kv_heads = counts["heads"], counts["kv_heads"]
    if d is None and m % heads:
        raise ValueError(f"{name}: m must be a multiple of heads, or give d; got m {m} and heads {heads}.")
    d = as_integer(name, "d", m // heads if d is None else d, minimum=1)
    v = as_integer(name, "v", d if v is None else v, minimum=1)
    key_width = as_integer(name, "key_width", m if key_width is None else key_width, minimum=1)
    value_width = as_integer(name, "value_width", m if value_width is None else value_width, minimum=1)
    dtype = as_float_dtype(name, dtype)
    shapes = {
        "query": (m, heads * d),
        "key": (key_width, kv_heads * d),
        "value": (value_width, kv_heads * v),
        "out": (heads * v, m),
    }
    arrays = {}
    for which, (fan_in, columns) in shapes.items():
        arrays[f"{which}_weight"] = (rng.standard_normal((fan_in, columns)) / math.sqrt(fan_in)).astype(dtype)
        arrays[f"{which}_bias"] = np.zeros(columns, dtype) if bias else None
    return MultiHeadParams(heads=heads, kv_heads=kv_heads, **arrays)


def _head_counts(function, heads, kv_heads):
    heads = as_integer(function, "heads", heads, minimum=1)
    kv_heads = as_integer(function, "kv_heads", kv_heads, minimum=1)
    if heads % kv_heads:
        raise ValueError(f"{function}: heads must be a multiple of kv_heads; got {heads} and {kv_heads}.")
    return {"heads": heads, "kv_heads": kv_heads}
