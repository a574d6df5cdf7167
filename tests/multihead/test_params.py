"""attnlib.multihead.params: do parameters start where they should, and stay as they are?"""

import numpy as np
import pytest
from multihead_cases import D, M, V, make_params

from attnlib.multihead import init_multihead, multihead_attention, split_heads


@pytest.mark.parametrize("sizes", [dict(m=256, heads=4), dict(m=64, heads=2, d=128, kv_heads=1, key_width=300)])
def test_scores_of_unit_variance_inputs_start_with_unit_variance(rng, sizes):
    params = init_multihead(rng, **sizes)
    key_width = params.key_weight.shape[0]
    x, context = rng.normal(size=(300, params.m)), rng.normal(size=(300, key_width))
    scores = split_heads(x @ params.query_weight, params.heads) @ split_heads(context @ params.key_weight, params.kv_heads).mT
    # 90 000 scores of each head, not independent: the standard deviation comes out within some percent of 1.
    assert (scores / np.sqrt(params.d)).std() == pytest.approx(1, abs=0.05)
    assert (x @ params.query_weight).std() == pytest.approx(1, abs=0.05)


def test_each_weight_has_the_variance_one_over_its_fan_in(rng):
    params = init_multihead(rng, m=200, heads=2, d=90, v=150, key_width=400, value_width=80, bias=True)
    for which, fan_in in (("query", 200), ("key", 400), ("value", 80), ("out", 300)):
        weight, bias = getattr(params, f"{which}_weight"), getattr(params, f"{which}_bias")
        assert weight.shape[0] == fan_in
        assert weight.var() * fan_in == pytest.approx(1, abs=0.05) and abs(weight.mean()) < 0.01
        np.testing.assert_array_equal(bias, np.zeros(weight.shape[1]))


def test_every_size_may_be_one(rng):
    params = init_multihead(rng, m=1, heads=1, kv_heads=1, d=1, v=1, key_width=1, value_width=1)
    assert {params.m, params.d, params.v, params.heads, params.kv_heads} == {1}
    assert multihead_attention([[2.0]], params)[0].shape == (1, 1)


def test_initialisation_depends_on_the_generator_only_and_rounds_once():
    one = init_multihead(np.random.default_rng(3), m=8, heads=2)
    other = init_multihead(np.random.default_rng(3), m=8, heads=2, dtype=np.float32)
    for name, array in one.arrays().items():
        np.testing.assert_array_equal(getattr(other, name), array.astype(np.float32))
        assert array.dtype == np.float64
    assert init_multihead(np.random.default_rng(4), m=8, heads=2).query_weight[0, 0] != one.query_weight[0, 0]


def test_parameters_are_frozen_and_map_makes_new_ones(rng):
    params = make_params(rng, 4, 2)
    with pytest.raises(AttributeError):
        params.heads = 3
    doubled = params.map(lambda array: 2 * array)
    summed = params.map(np.add, params)
    for name, array in params.arrays().items():
        np.testing.assert_array_equal(getattr(doubled, name), 2 * array)
        np.testing.assert_array_equal(getattr(summed, name), 2 * array)
    assert (doubled.heads, doubled.kv_heads, doubled.m, doubled.d, doubled.v) == (4, 2, M, D, V)
