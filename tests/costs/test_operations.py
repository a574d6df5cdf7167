"""attnlib.costs: do the counted loops do as many operations as `count_flops` says, and need as much room as is said?"""

import copy
import pickle

import numpy as np
import pytest
from costs_cases import paper_blocks
from hypothesis import given
from hypothesis import strategies as st

from attnlib.costs import (
    Memory,
    count_flops,
    flash_attention_backward_on,
    flash_attention_keys_outer_on,
    flash_attention_on,
    naive_attention_backward_on,
    naive_attention_on,
)


class Counting(np.ndarray):
    """An array in fast memory that counts the operations on it: products of matrices, and all others."""

    products = elementwise = 0
    is_product = False  # adding it to what is there belongs to its multiply-adds

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **options):
        plain = [array.view(np.ndarray) if isinstance(array, Counting) else array for array in inputs]
        if out is not None:
            options["out"] = tuple(array.view(np.ndarray) for array in out)
        result = getattr(ufunc, method)(*plain, **options)
        if ufunc is np.matmul and plain[0].ndim == plain[1].ndim == 2:
            Counting.products += 2 * plain[0].size * plain[1].shape[1]
            result = result.view(Counting)
            result.is_product = True
            return result
        elif ufunc is np.matmul:
            Counting.elementwise += 2 * plain[0].size
        elif not (ufunc is np.add and any(getattr(array, "is_product", False) for array in inputs)):
            Counting.elementwise += plain[0].size if method == "reduce" else np.size(result)
        return np.asarray(result).view(Counting) if out is None else out[0]


class CountingMemory(Memory):
    """A memory whose fast arrays count."""

    def keep(self, result):
        return super().keep(np.asarray(result).view(Counting))


SIZES = [
    {"q": 30, "k": 41, "d": 5, "v": 3, "block_q": 7, "block_k": 6},
    {"q": 8, "k": 12, "d": 4, "v": 2, "block_q": 4, "block_k": 6},
    {"q": 9, "k": 5, "d": 1, "v": 6},
]


def counted(loop, *arguments, **options):
    Counting.products = Counting.elementwise = 0
    loop(CountingMemory(), *arguments, **options)
    return Counting.products, Counting.elementwise


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("method", ["naive", "flash", "flash, causal"])
def test_the_loops_do_the_operations_that_are_counted(rng, size, method):
    q, k, d, v = (size[name] for name in "qkdv")
    inputs, d_out = [rng.normal(size=shape) for shape in ((q, d), (k, d), (k, v))], rng.normal(size=(q, v))
    blocks = {name: size[name] for name in size if name.startswith("block")}
    causal = {"causal": True} if "causal" in method else {}
    options = {"v": v, "method": method.partition(",")[0]} | blocks | causal
    forward = naive_attention_on if method == "naive" else flash_attention_on
    backward = naive_attention_backward_on if method == "naive" else flash_attention_backward_on
    saved = forward(Memory(), *inputs, **blocks, **causal)
    saved = saved[1:] if method == "naive" else saved
    expected = count_flops(q, k, d, **options)
    assert counted(forward, *inputs, **blocks, **causal) == expected[1:]
    expected = count_flops(q, k, d, **options, backward=True)
    assert counted(backward, d_out, *inputs, *saved, **blocks, **causal) == expected[1:]


@given(st.integers(1, 400), st.integers(1, 40), st.booleans())
def test_the_tiles_of_the_paper_fit_into_the_room_that_is_said(capacity, d, keys_outside):
    block_q, block_k = paper_blocks(capacity, d)
    memory, x = Memory(), np.zeros((2 * max(block_q, block_k) + 1, d))
    loop = flash_attention_keys_outer_on if keys_outside else flash_attention_on
    loop(memory, x, x, x, block_q=block_q, block_k=block_k)
    assert memory.peak <= 1.25 * capacity + 5 * d + 2 * block_q


def test_the_room_for_the_tiles_of_the_paper_is_needed():
    memory, x = Memory(), np.zeros((6, 34))
    flash_attention_on(memory, x, x, x, block_q=2, block_k=2)
    assert paper_blocks(139, 34) == (2, 2) and memory.peak == 280 > 1.25 * 139 + 2 * 2


@pytest.mark.parametrize("duplicate", [lambda both: pickle.loads(pickle.dumps(both)), copy.deepcopy])
def test_a_copy_of_a_memory_frees_the_copies_of_its_arrays(duplicate):
    memory = Memory(capacity=10)
    arrays = [memory.load(np.arange(3.0)), memory.load(np.arange(3.0))]
    twin, (first, second) = duplicate((memory, arrays))
    twin.free(first)
    assert (twin.used, memory.used) == (3, 6)
    twin.store(second, np.empty(3))
    with pytest.raises(ValueError, match="not in fast memory"):
        twin.free(first)
    with pytest.raises(ValueError, match="not in fast memory"):
        memory.free(second)
