"""attnlib.multihead: is the gradient of each argument and parameter the slope that is measured?"""

import numpy as np
import pytest
from multihead_cases import NAMES, B, K, M, Q, make_params

from attnlib.gradients import check_gradient
from attnlib.multihead import MultiHeadParams, multihead_attention, multihead_attention_backward

BIAS = np.array([[0.5, -1.0, -np.inf], [0.1, 0.0, 2.0], [-np.inf] * 3, [1.0, 2.0, 3.0]])
SETTINGS = {
    "self": dict(),
    "self, causal, shared heads": dict(heads=4, kv_heads=2, causal=True),
    "cross, masked": dict(context="one", mask=BIAS),
    "cross, two widths, one key head": dict(context="two", heads=4, kv_heads=1, mask=BIAS > 0),
}


@pytest.mark.parametrize("what", ["x", "context", *NAMES])
@pytest.mark.parametrize("setting", SETTINGS)
def test_gradient_agrees_with_fourth_order_differences(rng, setting, what):
    setting = dict(SETTINGS[setting])
    kind, heads, kv_heads = setting.pop("context", None), setting.pop("heads", 3), setting.pop("kv_heads", None)
    widths = dict(key_width=5, value_width=8) if kind == "two" else {}
    params, x = make_params(rng, heads, kv_heads, **widths), rng.normal(size=(B, Q, M))
    context = {"one": rng.normal(size=(B, K, M)), "two": (rng.normal(size=(B, K, 5)), rng.normal(size=(B, K, 8)))}.get(kind)
    d_out = rng.normal(size=x.shape)

    def loss(x=x, context=context, **changed):
        arrays = params.arrays() | changed
        moved = MultiHeadParams(heads=params.heads, kv_heads=params.kv_heads, **arrays)
        return (d_out * multihead_attention(x, moved, context=context, **setting)[0]).sum()

    _, saved = multihead_attention(x, params, context=context, **setting)
    d_x, d_context, d_params = multihead_attention_backward(d_out, params, saved)
    checks = {name: [(getattr(params, name), getattr(d_params, name), lambda a, n=name: loss(**{n: a}))] for name in NAMES}
    checks["x"] = [(x, d_x, lambda a: loss(x=a))]
    checks["context"] = []
    if kind == "one":
        checks["context"] = [(context, d_context, lambda a: loss(context=a))]
    if kind == "two":
        checks["context"] = [
            (context[0], d_context[0], lambda a: loss(context=(a, context[1]))),
            (context[1], d_context[1], lambda a: loss(context=(context[0], a))),
        ]
    for array, gradient, function in checks[what]:
        if what == "key_bias":  # zero: a relative error says nothing
            assert np.abs(gradient).max() < 1e-14 and abs(function(array + 1) - function(array)) < 1e-12
        else:
            report = check_gradient(function, array, gradient, tolerance=1e-9)
            assert report, report
