"""The projections of multi-head attention: from the width of a token to heads of queries, keys and values, and back."""

from attnlib.multihead.heads import split_heads


def project_heads(x, params, context=None):
    for_keys, for_values = key_and_value_inputs(x, context)
    query = split_heads(project(x, params.query_weight, params.query_bias), params.heads)
    key = split_heads(project(for_keys, params.key_weight, params.key_bias), params.kv_heads)
    value = split_heads(project(for_values, params.value_weight, params.value_bias), params.kv_heads)
    return query, key, value


def project(x, weight, bias):
    return x @ weight if bias is None else x @ weight + bias


def project_backward(d_y, x, weight):
    # One row for each position of each batch element: the weight is shared by all of them.
    rows, d_rows = x.reshape(-1, x.shape[-1]), d_y.reshape(-1, d_y.shape[-1])
    # forward: y = x @ weight + bias
    d_bias = d_rows.sum(axis=0)
    d_weight = rows.mT @ d_rows
    d_x = d_y @ weight.mT
    return d_x, d_weight, d_bias


def key_and_value_inputs(x, context):
    if context is None:
        return x, x
    return context if isinstance(context, tuple) else (context, context)
