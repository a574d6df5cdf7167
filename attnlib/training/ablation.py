"""Take heads out of a model (ablation): replace what they hand on by zero or by their mean."""

from collections.abc import Mapping

from attnlib.checks.arrays import as_float, as_integer
from attnlib.multihead import merge_heads, split_heads
from attnlib.training.transformer_layer import TransformerSaved


def head_means(saved):
    """The mean output of every head at every position, to put in its place instead of zero.

    The parts after a head have learned to expect roughly what it always says. Zero takes that away too, and can do
    more harm than the loss of what the head found in this sequence; the mean takes away only what the head found.

    Parameters
    ----------
    saved : TransformerSaved
        What `transformer` returned for many sequences.

    Returns
    -------
    means : dict from (layer, head) to ndarray of shape (n, v)
        Choose the heads to replace: ``without={place: means[place]}``.

    Raises
    ------
    TypeError
        If `saved` is not a `TransformerSaved`.

    References
    ----------
    .. [1] Wang et al. (2023), "Interpretability in the Wild", section 2: mean ablation.

    Examples
    --------
    >>> import numpy as np
    >>> from attnlib.training import init_transformer, transformer
    >>> rng = np.random.default_rng(0)
    >>> params = init_transformer(rng, vocabulary=5, n=7, m=6, heads=2, layers=1)
    >>> _, saved = transformer(rng.integers(5, size=(9, 4)), params, heads=2)
    >>> means = head_means(saved)
    >>> sorted(means), means[0, 1].shape
    ([(0, 0), (0, 1)], (4, 3))
    """
    if not isinstance(saved, TransformerSaved):
        raise TypeError(f"head_means: saved must be a TransformerSaved; got {type(saved).__name__}.")
    means = {}
    for layer, inside in enumerate(saved.layers):
        outputs = split_heads(inside.attention.merged, inside.attention.weights.shape[-3])  # (..., h, n, v)
        of_heads = outputs.mean(axis=tuple(range(outputs.ndim - 3)))
        means |= {(layer, head): array for head, array in enumerate(of_heads)}
    return means


def as_ablation(function, without, layers, heads):
    """The array that stands in for each head that is taken out, checked: a dict from (layer, head).

    Examples
    --------
    >>> as_ablation("transformer", {(0, 1)}, layers=1, heads=2)
    {(0, 1): 0.0}
    """
    if isinstance(without, (str, bytes)) or not hasattr(without, "__iter__"):
        raise TypeError(f"{function}: without must be a set of pairs (layer, head); got {without!r}.")
    replaced = dict(without) if isinstance(without, Mapping) else {}
    for place in without:
        if not isinstance(place, tuple) or len(place) != 2:
            raise TypeError(f"{function}: without must hold pairs (layer, head); got {place!r}.")
        layer = as_integer(function, "a layer in without", place[0], minimum=0)
        head = as_integer(function, "a head in without", place[1], minimum=0)
        if layer >= layers or head >= heads:
            raise ValueError(f"{function}: without names {place}; there are {layers} layers of {heads} heads, from 0.")
        replaced.setdefault(place, 0.0)
    return replaced


def ablate(function, merged, layer, heads, replaced):
    """Write the arrays of `replaced` over the outputs of their heads in `merged`, (..., n, h·v), and return it.

    Examples
    --------
    >>> import numpy as np
    >>> ablate("transformer", np.ones((1, 4)), 0, 2, {(0, 1): 5.0, (1, 0): 7.0})
    array([[1., 1., 5., 5.]])
    """
    outputs = split_heads(merged, heads)  # a view
    for (of_layer, head), array in replaced.items():
        if of_layer == layer:
            (array,), _ = as_float(function, **{f"without[{of_layer}, {head}]": array})
            place = outputs[..., head, :, :]
            try:
                place[...] = array
            except ValueError:
                raise ValueError(
                    f"{function}: without[{of_layer}, {head}] must broadcast to the output of a head, "
                    f"(..., n, v) = {place.shape}; got {array.shape}."
                ) from None
    return merge_heads(outputs)
