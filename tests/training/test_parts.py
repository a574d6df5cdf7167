"""attnlib.training: embedding, positions, norm and MLP against plain formulas, and their gradients."""

import math

import numpy as np
import pytest
from array_tools import close
from dtype_spy import spied
from training_cases import HIDDEN, LEARNED, B, K, M, N, close_gradients, right

from attnlib.training import (
    add_positions,
    add_positions_backward,
    embed,
    embed_backward,
    mlp,
    mlp_backward,
    rms_norm,
    rms_norm_backward,
)

MLP = ("x", "up_weight", "up_bias", "down_weight", "down_bias")


def mlp_arrays(rng, dtype=np.float64):
    shapes = (B, N, M), (M, HIDDEN), (HIDDEN,), (HIDDEN, M), (M,)
    return {name: rng.normal(size=shape).astype(dtype) for name, shape in zip(MLP, shapes, strict=True)}


def norm_arrays(rng, dtype=np.float64):
    return {"x": rng.normal(size=(B, N, M)).astype(dtype), "gain": rng.normal(size=M).astype(dtype)}


def test_embedding_is_a_one_hot_product(rng):
    table, tokens = rng.normal(size=(K, M)), rng.integers(K, size=(B, N))
    close(embed(table, tokens), np.eye(K)[tokens] @ table)
    np.testing.assert_array_equal(embed(table, tokens[0, 0]), table[tokens[0, 0]])
    assert embed(table, np.empty((B, 0), int)).shape == (B, 0, M)


def test_gradient_of_the_table_counts_a_repeated_token_each_time(rng):
    table, tokens = rng.normal(size=(K, M)), np.array([[1, 1, 3, 1], [0, 3, 1, 1]])  # 2 and 4 do not occur
    d_out = rng.normal(size=(B, N, M))
    d_table = embed_backward(d_out, table, tokens)
    right(lambda a: (d_out * embed(a["table"], tokens)).sum(), {"table": table}, {"table": d_table})
    assert not d_table[[2, 4]].any()


def test_gradients_of_positions(rng):
    arrays = {"x": rng.normal(size=(B, 3, N, M)), "positions": rng.normal(size=(LEARNED, M))}
    out, d_out = add_positions(**arrays), rng.normal(size=(B, 3, N, M))
    close(out[1, 2], arrays["x"][1, 2] + arrays["positions"][:N])
    gradients = dict(zip(arrays, add_positions_backward(d_out, arrays["positions"]), strict=True))
    right(lambda a: (d_out * add_positions(**a)).sum(), arrays, gradients)
    gradients["x"][...] = 0  # the caller may do with it what he wants
    assert d_out.all()


def test_norm_against_its_formula(rng):
    arrays = norm_arrays(rng)
    root = np.sqrt((arrays["x"] ** 2).mean(axis=-1, keepdims=True) + 1e-5)
    close(rms_norm(**arrays), arrays["x"] / root * arrays["gain"])
    np.testing.assert_array_equal(rms_norm(np.zeros((N, M)), np.ones(M)), np.zeros((N, M)))


def test_gradients_of_the_norm(rng):
    arrays, d_out = norm_arrays(rng), rng.normal(size=(B, N, M))
    arrays["x"][0, 1] *= 1e-3  # as small as the constant under the root, which then counts
    gradients = dict(zip(arrays, rms_norm_backward(d_out, **arrays), strict=True))
    right(lambda a: (d_out * rms_norm(**a)).sum(), arrays, gradients)


def test_mlp_against_a_loop(rng):
    arrays = mlp_arrays(rng)
    out, before = mlp(**arrays)
    for place in np.ndindex(B, N):
        hidden = [arrays["x"][place] @ arrays["up_weight"][:, i] + arrays["up_bias"][i] for i in range(HIDDEN)]
        close(before[place], hidden)
        after = [z / (1 + math.exp(-z)) for z in hidden]
        close(out[place], np.array(after) @ arrays["down_weight"] + arrays["down_bias"])


def test_gradients_of_the_mlp(rng):
    arrays, d_out = mlp_arrays(rng), rng.normal(size=(B, N, M))
    _, before = mlp(**arrays)
    gradients = dict(zip(arrays, mlp_backward(d_out, *arrays.values(), before), strict=True))
    right(lambda a: (d_out * mlp(**a)[0]).sum(), arrays, gradients)


def test_the_bend_does_not_overflow():
    ones = np.ones((1, 1))
    for dtype in (np.float32, np.float64):
        x = np.array([[-1e4], [1e4]], dtype)
        arrays = x, ones.astype(dtype), np.zeros(1, dtype), ones.astype(dtype), np.zeros(1, dtype)
        out, before = mlp(*arrays)
        np.testing.assert_array_equal(out, [[0], [1e4]])
        np.testing.assert_array_equal(mlp_backward(np.ones_like(x), *arrays, before)[0], [[0], [1]])


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_narrow_dtypes_are_kept_and_agree_with_float64(rng, dtype):
    tolerance = {np.float16: 1e-2, np.float32: 1e-5}[dtype]
    narrow, d_out = mlp_arrays(rng, dtype), rng.normal(size=(B, N, M)).astype(dtype)
    wide = {name: array.astype(float) for name, array in narrow.items()}
    results = []
    for arrays, d in ((narrow, d_out), (wide, d_out.astype(float))):
        out, before = mlp(**arrays)
        d_mlp = mlp_backward(d, *arrays.values(), before)
        normal = rms_norm(arrays["x"], arrays["down_bias"])
        d_norm = rms_norm_backward(d, arrays["x"], arrays["down_bias"])
        results.append(dict(enumerate([out, before, *d_mlp, normal, *d_norm])))
    assert {array.dtype for array in results[0].values()} == {np.dtype(dtype)}
    close_gradients(*results, tolerance)
    table = rng.normal(size=(K, M)).astype(dtype)
    assert embed(table, [1]).dtype == embed_backward(table[:1], table, [1]).dtype == add_positions(table, table).dtype == dtype


def test_float32_makes_no_float64_on_the_way(rng):
    arrays, d_out = mlp_arrays(rng, np.float32), rng.normal(size=(B, N, M)).astype(np.float32)
    norm = norm_arrays(rng, np.float32)
    before = mlp(**arrays)[1]
    only = {np.dtype(np.float32)}
    assert spied(mlp, **arrays) == spied(mlp_backward, d_out, *arrays.values(), before) == only
    assert spied(rms_norm, **norm) == spied(rms_norm_backward, d_out, **norm) == only
    table = norm["x"][0]
    assert spied(embed, table, [[1]]) == spied(embed_backward, table[:1], table, [1]) == only
