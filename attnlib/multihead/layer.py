"""Multi-head attention: several attentions side by side, with learned projections, forward and backward."""

import numpy as np

from attnlib.attention import attention_backward
from attnlib.attention.plain import attend
from attnlib.checks.arrays import quiet
from attnlib.checks.inputs import attention_inputs
from attnlib.multihead.heads import merge_heads, split_heads
from attnlib.multihead.inputs import MultiHeadSaved, prepare, prepare_backward
from attnlib.multihead.params import MultiHeadParams
from attnlib.multihead.projections import key_and_value_inputs, project, project_backward, project_heads


@quiet
def multihead_attention(x, params, *, context=None, mask=None, causal=False):
    r"""Let every token of x look at all tokens, or at a context, in several ways at once.

    .. math:: head_i = \operatorname{attention}(x W^Q_i, c\, W^K_i, c\, W^V_i), \qquad
              out = [head_1, \dots, head_h]\, W^O

    where c is the context, or x itself.

    Parameters
    ----------
    x : array_like of shape (..., q, m)
        The tokens that ask.
    params : MultiHeadParams
    context : array_like of shape (..., k, m), or a tuple of two, optional
        The tokens that are looked at (cross-attention). A tuple ``(for_keys, for_values)`` makes keys
        and values from two arrays of shapes (..., k, key_width) and (..., k, value_width). If left
        out, x looks at itself.
    mask : array_like, optional
        As for `attention`: boolean, True = may look at, or added to the scores. Broadcasts to
        (..., heads, q, k), so a mask for each batch element needs a head axis: ``mask[:, np.newaxis]``.
        (`torch.nn.MultiheadAttention` uses True for *ignore*.)
    causal : bool, default False
        Let token i look at the tokens 0 to i only.

    Returns
    -------
    out : ndarray of shape (..., q, m)
        A token that may look at nothing gets the bias of the last projection, or zero.
    saved : MultiHeadSaved
        For `multihead_attention_backward`; ``saved.weights`` to look at.

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    ValueError
        If the shapes do not fit.

    References
    ----------
    .. [1] Vaswani et al. (2017), "Attention Is All You Need", section 3.2.2.
    .. [2] Ainslie et al. (2023), "GQA: Training Generalized Multi-Query Transformer Models from
       Multi-Head Checkpoints", section 2.2: fewer key and value heads.

    Examples
    --------
    >>> from attnlib.multihead import init_multihead
    >>> rng = np.random.default_rng(0)
    >>> params = init_multihead(rng, m=12, heads=3)
    >>> out, saved = multihead_attention(rng.normal(size=(2, 5, 12)), params, causal=True)
    >>> out.shape, saved.weights.shape
    ((2, 5, 12), (2, 3, 5, 5))

    Six heads that share two key heads:

    >>> params = init_multihead(rng, m=12, heads=6, kv_heads=2)
    >>> out, saved = multihead_attention(rng.normal(size=(2, 5, 12)), params, causal=True)
    >>> saved.weights.shape, saved.key.shape
    ((2, 6, 5, 5), (2, 2, 5, 2))

    With a cache, new tokens go through the same layer by `multihead_decode` in `attnlib.decoding`.
    """
    name = "multihead_attention"
    x, context, params, dtype = prepare(name, x, params, context)
    query, key, value = project_heads(x, params, context)
    inputs = attention_inputs(name, query, key, value, mask=mask, causal=causal, axes="(..., heads, q, k)")
    attended, weights = attend(inputs, causal)
    merged = merge_heads(attended)
    out = project(merged, params.out_weight, params.out_bias)
    return out.astype(dtype, copy=False), MultiHeadSaved(x, context, query, key, value, weights, merged)


@quiet
def multihead_attention_backward(d_out, params, saved):
    r"""Gradients of `multihead_attention` with respect to its inputs and everything it learns.

    With one weight :math:`y = x W + b` on the way, :math:`dx = dy\, W^\top`, :math:`dW = x^\top dy` and
    :math:`db = \sum dy`, both summed over every position of every batch element. Where x went into
    several projections, its gradient is the sum of what comes back from each.

    Parameters
    ----------
    d_out : array_like of shape (..., q, m)
        Gradient of the loss with respect to `out`.
    params : MultiHeadParams
        As given to `multihead_attention`.
    saved : MultiHeadSaved
        What `multihead_attention` returned.

    Returns
    -------
    d_x : ndarray of shape (..., q, m)
    d_context : None, ndarray, or tuple of two
        Like `context`: None if x looked at itself, and then `d_x` holds all three contributions.
    d_params : MultiHeadParams
        Each gradient under the name of what it belongs to. That of the key bias is zero up to
        rounding: it adds the same number to all scores of a row, which softmax does not see.

    All of them have the dtype of `d_out` and `params` together.

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    ValueError
        If `d_out` does not have the shape of `out`.

    Examples
    --------
    >>> from attnlib.multihead import init_multihead
    >>> rng = np.random.default_rng(0)
    >>> params, x = init_multihead(rng, m=12, heads=3), rng.normal(size=(2, 5, 12))
    >>> out, saved = multihead_attention(x, params)
    >>> d_x, d_context, d_params = multihead_attention_backward(rng.normal(size=out.shape), params, saved)
    >>> d_x.shape, d_context, d_params.key_weight.shape
    ((2, 5, 12), None, (12, 12))
    """
    d_out, params, dtype = prepare_backward("multihead_attention_backward", d_out, params, saved)
    x, context, query, key, value, weights, merged = saved
    for_keys, for_values = key_and_value_inputs(x, context)
    # forward: out = merged @ out_weight + out_bias
    d_merged, d_out_weight, d_out_bias = project_backward(d_out, merged, params.out_weight)
    # forward: merged = merge_heads(attended)
    d_attended = split_heads(d_merged, params.heads)
    # forward: attended, weights = attention(query, key, value)
    d_query, d_key, d_value = attention_backward(d_attended, query, key, value, weights)
    # forward: value = split_heads(for_values @ value_weight + value_bias)
    d_value = merge_heads(d_value)
    d_for_values, d_value_weight, d_value_bias = project_backward(d_value, for_values, params.value_weight)
    # forward: key = split_heads(for_keys @ key_weight + key_bias)
    d_key = merge_heads(d_key)
    d_for_keys, d_key_weight, d_key_bias = project_backward(d_key, for_keys, params.key_weight)
    # forward: query = split_heads(x @ query_weight + query_bias)
    d_query = merge_heads(d_query)
    d_x, d_query_weight, d_query_bias = project_backward(d_query, x, params.query_weight)
    # forward: for_keys, for_values = context, or x twice
    if context is None:
        d_x, d_context = d_x + d_for_keys + d_for_values, None
    elif isinstance(context, tuple):
        d_context = (d_for_keys.astype(dtype, copy=False), d_for_values.astype(dtype, copy=False))
    else:
        d_context = (d_for_keys + d_for_values).astype(dtype, copy=False)
    gradients = {
        "query_weight": d_query_weight, "key_weight": d_key_weight, "value_weight": d_value_weight,
        "out_weight": d_out_weight, "query_bias": d_query_bias, "key_bias": d_key_bias,
        "value_bias": d_value_bias, "out_bias": d_out_bias,
    }  # fmt: skip
    there = {name: gradients[name].astype(dtype, copy=False) for name in params.arrays()}  # a bias may be missing
    d_params = MultiHeadParams(heads=params.heads, kv_heads=params.kv_heads, **there)
    return d_x.astype(dtype, copy=False), d_context, d_params
