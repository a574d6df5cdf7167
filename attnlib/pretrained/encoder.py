"""The encoder of BERT: tokens in, states out, one layer after the other.

It differs from the transformer of `attnlib.training` in four points: no mask of the future, so that every token looks
at all; layer norm for RMS norm; the norm comes *after* a part and its residual ("post-norm"); GELU for SiLU.
"""

from typing import NamedTuple

import numpy as np

from attnlib.multihead import merge_heads, split_heads
from attnlib.multihead.projections import project
from attnlib.pretrained.attending import returned, through_mha
from attnlib.training.ablation import ablate


class Functions(NamedTuple):
    """The functions that do the work.

    Attributes
    ----------
    attend : callable
        A door of `attending`.
    mha : callable or None
    layer_norm, gelu : callable
    """

    attend: object
    mha: object
    layer_norm: object
    gelu: object


class Inside(NamedTuple):
    """What happened in the model, layer by layer.

    Attributes
    ----------
    states : ndarray
        (..., layers + 1, n, m): the tokens before the first layer and after each.
    weights : ndarray
        (..., layers, h, n, n)
    values : ndarray
        (..., layers, h, n, v)
    outputs : ndarray
        (..., layers, h, n, v): what each head hands on, the mean of its values; for a head that was taken out, what stands
        in for it.
    """

    states: np.ndarray
    weights: np.ndarray
    values: np.ndarray
    outputs: np.ndarray


def run_layers(rows, arrays, sizes, functions, mask, replaced, look):
    """Run the tokens of these rows of the table through all layers; `look` tells whether to keep what is inside.

    Returns
    -------
    x : ndarray of shape (..., n, m)
    inside : Inside or None
    """
    x = arrays.tokens[rows] + arrays.positions[: rows.shape[-1]] + arrays.segment
    x = _norm(x, arrays.gain, arrays.bias, sizes, functions)
    kept = [[x], [], [], []]
    for number, layer in enumerate(arrays.layers):
        here = {place: array for place, array in replaced.items() if place[0] == number}
        added, *looked = _attend(x, layer.attention, number, functions, mask, here, look)
        x = _norm(x + added, layer.attention_gain, layer.attention_bias, sizes, functions)
        hidden = _project(x, layer.up_weight, layer.up_bias)
        hidden = returned("gelu", functions.gelu(hidden), hidden.shape, x.dtype)
        x = _norm(x + _project(hidden, layer.down_weight, layer.down_bias), layer.mlp_gain, layer.mlp_bias, sizes, functions)
        for column, array in zip(kept, (x, *looked), strict=True):
            column.append(array)
    if not look:
        return x, None
    return x, Inside(np.stack(kept[0], axis=-3), *(np.stack(column, axis=-4) for column in kept[1:]))


def _attend(x, params, number, functions, mask, replaced, look):
    # What the heads of one layer add to the tokens; and, to look at, their weights, values and outputs.
    weights = value = outputs = None
    if functions.mha is None or look:
        query = split_heads(_project(x, params.query_weight, params.query_bias), params.heads)
        key = split_heads(_project(x, params.key_weight, params.key_bias), params.heads)
        value = split_heads(_project(x, params.value_weight, params.value_bias), params.heads)
        outputs, weights = functions.attend(query, key, value, mask, look)
        merged = ablate("run", merge_heads(outputs), number, params.heads, replaced)
        outputs = split_heads(merged, params.heads)
    if functions.mha is None:
        added = _project(merged, params.out_weight, params.out_bias)
    else:
        added = _by_mha(x, params, number, functions.mha, replaced)
    return added, weights, value, outputs


def _by_mha(x, params, number, mha, replaced):
    # What a function hides cannot be replaced there. So a head that is taken out loses its rows of the last weight, and
    # what stands in for it goes through these rows beside the function.
    width = len(params.out_weight)
    rows = np.arange(width).reshape(params.heads, -1)[[head for _, head in replaced]].ravel()
    instead = ablate("run", np.zeros((*x.shape[:-1], width), x.dtype), number, params.heads, replaced)
    return through_mha(mha, x, params, rows) + instead @ params.out_weight


def _project(x, weight, bias):
    # All tokens of all texts in one product: with an axis for the texts NumPy computes one product for each of them,
    # which takes three times as long.
    return project(x.reshape(-1, x.shape[-1]), weight, bias).reshape(*x.shape[:-1], -1)


def _norm(x, gain, bias, sizes, functions):
    return returned("layer_norm", functions.layer_norm(x, gain, bias, sizes.epsilon), x.shape, x.dtype)
