"""attnlib.costs.fitting: do the tiles fit, does no other tile that fits move less, and what is refused?"""

import itertools

import numpy as np
import pytest

from attnlib.costs import (
    Memory,
    count_traffic,
    fitting_blocks,
    flash_attention_keys_outer_on,
    flash_attention_on,
    naive_attention_on,
)

LOOPS = {"naive": naive_attention_on, "flash": flash_attention_on, "flash-keys-outer": flash_attention_keys_outer_on}
SIZES = [(2, 2), (3, 1), (1, 4)]
N = 23  # longer than every tile of these tests


def run(method, d, v, blocks, capacity):
    memory = Memory(capacity)
    inputs = [np.zeros((N, features)) for features in (d, d, v)]
    LOOPS[method](memory, *inputs, block_q=blocks[0], block_k=blocks[1])
    return memory


@pytest.mark.parametrize(("d", "v"), SIZES)
@pytest.mark.parametrize("method", LOOPS)
def test_of_all_tiles_that_fit_none_moves_fewer_numbers(method, d, v):
    for capacity in (N, N + 7, 2 * N):  # the naive loops hold a row of N scores, too
        totals = {}
        for blocks in itertools.product(range(1, 13), repeat=2):
            try:
                memory = run(method, d, v, blocks, capacity)
            except MemoryError:
                continue
            totals[blocks] = memory.loads + memory.stores
        best = fitting_blocks(capacity, d, v, method=method)
        memory = run(method, d, v, best, capacity)
        assert max(best) <= N
        assert memory.loads + memory.stores <= min(totals.values())
        predicted = count_traffic(N, N, d, v, method=method, block_q=best[0], block_k=best[1])
        assert (memory.loads, memory.stores) == predicted


@pytest.mark.parametrize(("d", "v"), SIZES)
@pytest.mark.parametrize("method", LOOPS)
def test_one_more_row_in_the_tile_that_stays_does_not_fit(method, d, v):
    for capacity in range(N, N + 12):
        block_q, block_k = fitting_blocks(capacity, d, v, method=method)
        larger = (block_q, block_k + 1) if method == "flash-keys-outer" else (block_q + 1, block_k)
        with pytest.raises(MemoryError):
            run(method, d, v, larger, capacity)


def test_in_the_smallest_memory_there_is_one_query_and_one_key():
    assert fitting_blocks(5, 2, method="naive") == (1, 1)
    assert fitting_blocks(11, 2) == fitting_blocks(11, 2, method="flash-keys-outer") == (1, 1)


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        ((10, 2), {}, ValueError, "one query and one key need 11 numbers; the fast memory holds 10"),
        ((4, 2), {"method": "naive"}, ValueError, "one query and one key need 5 numbers; the fast memory holds 4"),
        ((9, 2), {"method": "Flash"}, ValueError, "one of naive, flash, flash-keys-outer; got 'Flash'"),
        ((0, 2), {}, ValueError, "capacity must be at least 1; got 0"),
        ((9, 2.0), {}, TypeError, "d must be an integer; got 2.0"),
        ((9, 2, 0), {}, ValueError, "v must be at least 1; got 0"),
    ],
)
def test_what_is_refused_is_told(arguments, options, error, message):
    with pytest.raises(error, match=f"^fitting_blocks: .*{message}"):
        fitting_blocks(*arguments, **options)
