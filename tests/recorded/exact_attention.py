"""An 80-bit evaluation of attention, to measure the rounding errors of others."""

import numpy as np
from recorded_inputs import causal


def exact_attention(c):
    """The textbook formulas in extended precision, as (out, logsumexp, d_query, d_key, d_value) by name."""
    real = np.longdouble
    query, key, value, d_out = (c[name].astype(real) for name in ("query", "key", "value", "d_out"))
    h = query.shape[-3] if query.ndim > 2 else 1
    group = h // key.shape[-3] if query.ndim > 2 and key.shape[-3] else 1
    scale = 1 / np.sqrt(real(query.shape[-1])) if c["scale"] is None else real(c["scale"])
    repeat = (lambda x: np.repeat(x, group, axis=-3)) if group > 1 else (lambda x: x)
    keys, values = repeat(key), repeat(value)
    scores = scale * np.einsum("...qd,...kd->...qk", query, keys)
    mask = c["mask"]
    if mask is not None and mask.dtype == bool:
        scores = np.where(mask, scores, -np.inf)
    elif mask is not None:
        scores = scores + mask.astype(real)
    if c["causal"]:
        scores = np.where(causal(*scores.shape[-2:]), scores, -np.inf)
    largest = scores.max(axis=-1, keepdims=True, initial=-np.inf)
    largest = np.where(np.isneginf(largest), 0, largest)
    exponentials = np.exp(scores - largest)
    total = exponentials.sum(axis=-1, keepdims=True)
    weights = exponentials / np.where(total == 0, 1, total)
    with np.errstate(divide="ignore"):
        logsumexp = (largest + np.log(total))[..., 0]
    d_weights = np.einsum("...qv,...kv->...qk", d_out, values)
    d_scores = weights * (d_weights - (weights * d_weights).sum(axis=-1, keepdims=True))
    d_keys = scale * np.einsum("...qk,...qd->...kd", d_scores, query)
    d_values = np.einsum("...qk,...qv->...kv", weights, d_out)

    def collect(x):
        return x.reshape(*x.shape[:-3], x.shape[-3] // group, group, *x.shape[-2:]).sum(axis=-3) if group > 1 else x

    exact = {
        "out": np.einsum("...qk,...kv->...qv", weights, values),
        "logsumexp": logsumexp,
        "weights": weights,
        "d_query": scale * np.einsum("...qk,...kd->...qd", d_scores, keys),
        "d_key": collect(d_keys),
        "d_value": collect(d_values),
    }
    if mask is not None and mask.dtype != bool:
        added = d_scores.ndim - mask.ndim
        d_mask = d_scores.sum(axis=tuple(range(added)))
        axes = tuple(axis for axis, size in enumerate(mask.shape) if size == 1)
        exact["d_mask"] = d_mask.sum(axis=axes, keepdims=True)
    return exact


def largest_errors(answer, exact):
    """The largest absolute difference of each array; infinities must agree."""
    errors = {}
    for name, array in answer.items():
        same = array == exact[name]  # also where both are -inf
        difference = np.where(same, 0, array) - np.where(same, 0, exact[name])
        errors[name] = float(np.abs(difference).max(initial=0))
    return errors
