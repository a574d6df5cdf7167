"""The counted loops refuse what does not fit before anything moves, and take whatever can be read as numbers."""

import re

import numpy as np
import pytest

from attnlib.costs import (
    Memory,
    flash_attention_backward_on,
    flash_attention_keys_outer_on,
    flash_attention_on,
    naive_attention_backward_on,
    naive_attention_on,
)

Q, K, D, V = 5, 7, 3, 2
INPUTS = {"query": (Q, D), "key": (K, D), "value": (K, V)}
SAVED = {
    naive_attention_backward_on: {"d_out": "(..., q, v) = (5, 2)", "weights": "(..., q, k) = (5, 7)"},
    flash_attention_backward_on: {
        "d_out": "(..., q, v) = (5, 2)", "out": "(..., q, v) = (5, 2)", "logsumexp": "(..., q) = (5,)"
    },
}  # fmt: skip
BACKWARDS = list(SAVED)
FLASH = [flash_attention_on, flash_attention_keys_outer_on, flash_attention_backward_on]
FORWARDS = {naive_attention_backward_on: naive_attention_on, flash_attention_backward_on: flash_attention_on}
EACH_SAVED = [(backward, name) for backward in BACKWARDS for name in SAVED[backward]]


def arguments_of(loops, rng):
    """Arguments that fit, by name."""
    arguments = {name: rng.normal(size=shape) for name, shape in INPUTS.items()}
    if loops in SAVED:
        out, saved = FORWARDS[loops](Memory(), **arguments)
        arguments |= {"d_out": rng.normal(size=(Q, V))}
        arguments |= {"weights": saved} if loops is naive_attention_backward_on else {"out": out, "logsumexp": saved}
    return arguments


def refused(loops, error, message, **arguments):
    memory = Memory()
    with pytest.raises(error, match=re.escape(f"{loops.__name__}: {message}")):
        loops(memory, **arguments)
    assert (memory.loads, memory.stores, memory.peak) == (0, 0, 0)


@pytest.mark.parametrize("backward, name", EACH_SAVED)
@pytest.mark.parametrize(
    "change",
    [
        lambda array: np.concatenate([array, array]),
        lambda array: array[:-1],
        lambda array: array[..., :1],
        lambda array: array[None],
        lambda array: array[0],
        lambda array: array.T[..., None],
    ],
    ids=["twice too long", "too short", "one column", "an axis more", "an axis less", "turned"],
)
def test_a_backward_names_the_array_that_does_not_fit_and_the_shape_it_expects(rng, backward, name, change):
    arguments = arguments_of(backward, rng)
    arguments[name] = change(arguments[name])
    message = (
        f"{name} must have the shape {SAVED[backward][name]}, which follows from query, key and value; "
        f"got {arguments[name].shape}."
    )
    refused(backward, ValueError, message, **arguments)


@pytest.mark.parametrize("backward, name", EACH_SAVED)
@pytest.mark.parametrize(
    "change, came",
    [
        (lambda array: array > 0, "got bool"),
        (lambda array: array * 1j, "got complex128"),
        (lambda array: array.astype(str), "got <U"),
        (lambda array: None, "got None"),
        (lambda array: [[1.0], [1.0, 2.0]], "got nested sequences of unequal length"),
        (np.ma.masked_array, "got a masked array"),
    ],
    ids=["bool", "complex", "str", "None", "ragged", "masked"],
)
def test_a_backward_refuses_what_are_no_real_numbers(rng, backward, name, change, came):
    arguments = arguments_of(backward, rng)
    arguments[name] = change(arguments[name])
    message = f"{name} must be an array of real numbers (float16, float32, float64 or integers); {came}"
    refused(backward, TypeError, message, **arguments)


@pytest.mark.parametrize("backward", BACKWARDS)
def test_a_backward_takes_lists(rng, backward):
    arguments = arguments_of(backward, rng)
    memory, same = Memory(), Memory()
    expected = backward(memory, **arguments)
    gradients = backward(same, **{name: array.tolist() for name, array in arguments.items()})
    for ours, gradient in zip(gradients, expected, strict=True):
        np.testing.assert_array_equal(ours, gradient)
    assert (same.loads, same.stores, same.peak) == (memory.loads, memory.stores, memory.peak)


@pytest.mark.parametrize("backward", BACKWARDS)
def test_a_backward_writes_to_none_of_its_arguments_and_keeps_float32(rng, backward):
    arguments = {name: array.astype(np.float32) for name, array in arguments_of(backward, rng).items()}
    before = {name: array.copy() for name, array in arguments.items()}
    gradients = backward(Memory(), **arguments, block_q=2, block_k=3)
    assert [gradient.dtype for gradient in gradients] == [np.float32] * 3
    for name, array in arguments.items():
        np.testing.assert_array_equal(array, before[name])


@pytest.mark.parametrize("loops", [naive_attention_on, *FLASH, naive_attention_backward_on])
def test_every_loop_takes_one_head_only(rng, loops):
    arguments = arguments_of(loops, rng)
    heads = {name: np.stack([array, array]) for name, array in arguments.items()}
    message = "expected query (q, d), key (k, d) and value (k, v) of one head"
    refused(loops, ValueError, message, **heads)
    refused(loops, ValueError, message, **arguments | {"value": arguments["value"][:3]})
    featureless = {name: arguments[name][:, :0] for name in ("query", "key")}
    refused(loops, ValueError, f"{message}, with at least one key and one feature", **arguments | featureless)


@pytest.mark.parametrize("loops", [naive_attention_on, *FLASH, naive_attention_backward_on])
@pytest.mark.parametrize("memory, came", [(None, "NoneType"), (np.ones((5, 3)), "ndarray"), (Memory, "type")])
def test_every_loop_refuses_what_is_no_memory(rng, loops, memory, came):
    message = rf"^{loops.__name__}: memory must be a Memory; got {came}\.$"
    with pytest.raises(TypeError, match=message):
        loops(memory, **arguments_of(loops, rng))


@pytest.mark.parametrize("loops", [naive_attention_on, *FLASH, naive_attention_backward_on])
def test_every_loop_refuses_blocks_that_are_no_size(rng, loops):
    arguments = arguments_of(loops, rng)
    refused(loops, ValueError, "block_q must be at least 1; got 0", **arguments, block_q=0)
    refused(loops, TypeError, "block_k must be an integer; got 2.0", **arguments, block_k=2.0)


@pytest.mark.parametrize("loops", FLASH)
def test_the_flash_loops_take_a_truth_value_for_causal_and_nothing_else(rng, loops):
    arguments = arguments_of(loops, rng)
    refused(loops, TypeError, "causal must be True or False; got 'no'", **arguments, causal="no")
    for one, other in zip(
        loops(Memory(), **arguments, causal=np.True_), loops(Memory(), **arguments, causal=True), strict=True
    ):
        np.testing.assert_array_equal(one, other)
