"""The arrays of a BERT, from the names and shapes in which they were published to those of this library."""

from typing import NamedTuple

import numpy as np

from attnlib.multihead import MultiHeadParams


class LayerArrays(NamedTuple):
    """What one layer has learned.

    Attributes
    ----------
    attention : MultiHeadParams
    attention_gain, attention_bias : ndarray of shape (m,)
        Of the layer norm after the attention.
    up_weight : ndarray of shape (m, k)
    up_bias : ndarray of shape (k,)
    down_weight : ndarray of shape (k, m)
    down_bias : ndarray of shape (m,)
    mlp_gain, mlp_bias : ndarray of shape (m,)
        Of the layer norm after the feed-forward part.
    """

    attention: MultiHeadParams
    attention_gain: np.ndarray
    attention_bias: np.ndarray
    up_weight: np.ndarray
    up_bias: np.ndarray
    down_weight: np.ndarray
    down_bias: np.ndarray
    mlp_gain: np.ndarray
    mlp_bias: np.ndarray


class BertArrays(NamedTuple):
    """What the whole model has learned.

    Attributes
    ----------
    tokens : ndarray of shape (k, m)
    positions : ndarray of shape (q, m)
    segment : ndarray of shape (m,)
        Added to every token of a first text. (BERT learned a second such row for pairs of texts.)
    gain, bias : ndarray of shape (m,)
        Of the layer norm before the first layer.
    layers : tuple of LayerArrays
    """

    tokens: np.ndarray
    positions: np.ndarray
    segment: np.ndarray
    gain: np.ndarray
    bias: np.ndarray
    layers: tuple[LayerArrays, ...]


def expected_shapes(sizes):
    """The name and the shape of every array that a model of these sizes has in its file.

    A linear layer is published as PyTorch keeps it, (out, in), and computes ``x @ weight.T + bias``.

    Examples
    --------
    >>> from attnlib.pretrained.config import Sizes
    >>> shapes = expected_shapes(Sizes(vocabulary=9, positions=8, segments=2, m=6, hidden=12, heads=2, layers=1, epsilon=1e-12))
    >>> len(shapes), shapes["encoder.layer.0.intermediate.dense.weight"]
    (21, (12, 6))
    """
    m, hidden = sizes.m, sizes.hidden
    shapes = {
        "embeddings.word_embeddings.weight": (sizes.vocabulary, m),
        "embeddings.position_embeddings.weight": (sizes.positions, m),
        "embeddings.token_type_embeddings.weight": (sizes.segments, m),
        **_norm("embeddings", m),
    }
    for layer in range(sizes.layers):
        start = f"encoder.layer.{layer}"
        for which in ("self.query", "self.key", "self.value", "output.dense"):
            shapes |= _linear(f"{start}.attention.{which}", m, m)
        shapes |= _norm(f"{start}.attention.output", m)
        shapes |= _linear(f"{start}.intermediate.dense", hidden, m) | _linear(f"{start}.output.dense", m, hidden)
        shapes |= _norm(f"{start}.output", m)
    return shapes


def as_arrays(published, sizes, dtype):
    """Turn the arrays of the file, already checked, into `BertArrays`: weights transposed, all in one dtype."""
    arrays = {name: published[name].astype(dtype) for name in expected_shapes(sizes)}

    def linear(name):
        # A view, not a copy: where NumPy has no BLAS, as in a page, a product is up to four times faster if the numbers of
        # a column lie side by side.
        return arrays[f"{name}.weight"].T, arrays[f"{name}.bias"]

    def norm(name):
        return arrays[f"{name}.LayerNorm.weight"], arrays[f"{name}.LayerNorm.bias"]

    layers = []
    for layer in range(sizes.layers):
        start = f"encoder.layer.{layer}"
        projections = {}
        for which, name in (("query", "self.query"), ("key", "self.key"), ("value", "self.value"), ("out", "output.dense")):
            projections[f"{which}_weight"], projections[f"{which}_bias"] = linear(f"{start}.attention.{name}")
        layers.append(
            LayerArrays(
                MultiHeadParams(heads=sizes.heads, **projections),
                *norm(f"{start}.attention.output"),
                *linear(f"{start}.intermediate.dense"),
                *linear(f"{start}.output.dense"),
                *norm(f"{start}.output"),
            )
        )
    tables = (arrays[f"embeddings.{which}_embeddings.weight"] for which in ("word", "position", "token_type"))
    tokens, positions, segments = tables
    return BertArrays(tokens, positions, segments[0], *norm("embeddings"), tuple(layers))


def _linear(name, outputs, inputs):
    return {f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)}


def _norm(name, m):
    return {f"{name}.LayerNorm.weight": (m,), f"{name}.LayerNorm.bias": (m,)}
