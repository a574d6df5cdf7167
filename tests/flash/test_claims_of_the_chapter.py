"""What chapter 6 says of Flash attention, with more starts and sizes than its cells have, and with the control of each claim."""

import inspect
import math
import tracemalloc
from pathlib import Path

import nbformat
import numpy as np
import pytest

from attnexercises.flash.forward import flash_forward
from attnlib.costs import (
    A100, Memory, count_flops, count_traffic, fitting_blocks, flash_attention_keys_outer_on, flash_attention_on,
    naive_attention_on,
)  # fmt: skip
from attnlib.flash import flash_attention, forward
from attnlib.flash.tiles import plan_tiles

SEEDS = range(20)
FACTORS = {
    "right": lambda alpha: alpha,
    "forgotten": lambda alpha: 1.0,
    "inverse": lambda alpha: 1 / alpha if alpha > 0 else 0.0,
}


def one_query(scores, values, cuts, of_s="right", of_a="right"):
    """The state after each tile of one query."""
    maximum, s, a, states = -np.inf, 0.0, np.zeros(values.shape[1]), []
    for start, stop in zip([0, *cuts], [*cuts, len(scores)], strict=True):
        raised = max(maximum, scores[start:stop].max())
        alpha, powers = np.exp(maximum - raised), np.exp(scores[start:stop] - raised)
        s = FACTORS[of_s](alpha) * s + powers.sum()
        a = FACTORS[of_a](alpha) * a + powers @ values[start:stop]
        maximum = raised
        states.append((stop, maximum, s, a))
    return states


def drawn(seed):
    rng = np.random.default_rng(seed)
    k = int(rng.integers(4, 30))
    cuts = sorted(rng.choice(np.arange(1, k), size=int(rng.integers(1, min(k, 6))), replace=False).tolist())
    return rng.normal(scale=5, size=k), rng.standard_normal((k, 3)), cuts


@pytest.mark.parametrize("seed", SEEDS)
def test_the_sums_are_right_after_every_tile(seed):
    scores, values, cuts = drawn(seed)
    for stop, maximum, s, a in one_query(scores, values, cuts):
        exact = np.exp(scores[:stop] - scores[:stop].max())
        assert maximum == scores[:stop].max()
        np.testing.assert_allclose(s, exact.sum())
        np.testing.assert_allclose(a, exact @ values[:stop], atol=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("wrong", [("forgotten", "forgotten"), ("right", "forgotten"), ("forgotten", "right"), ("right", "inverse")])
def test_a_wrong_factor_shows_only_when_the_maximum_rises_after_the_first_tile(seed, wrong):
    scores, values, cuts = drawn(seed)
    for order, harmless in ((np.sort(scores)[::-1], True), (np.sort(scores), False)):
        right, found = ((state := one_query(order, values, cuts, *kind)[-1])[3] / state[2] for kind in ((), wrong))
        assert np.allclose(right, found, atol=1e-9) == harmless


@pytest.mark.parametrize("seed", SEEDS)
def test_values_of_one_see_a_factor_that_is_missing_from_one_sum_but_not_from_both(seed):
    scores, values, cuts = drawn(seed)
    rising = np.sort(scores)
    off = {}
    for wrong in (("right", "forgotten"), ("forgotten", "right"), ("forgotten", "forgotten")):
        *_, s, a = one_query(rising, np.ones_like(values), cuts, *wrong)[-1]
        off[wrong] = np.abs(a / s - 1).max()
    assert off.pop(("forgotten", "forgotten")) < 1e-12
    assert min(off.values()) > 1e-9
    right, found = ((state := one_query(rising, values, cuts, *kind)[-1])[3] / state[2] for kind in ((), ("forgotten", "forgotten")))
    assert not np.allclose(right, found, atol=1e-9)  # though the output is wrong


def test_a_hidden_first_tile_needs_a_factor_of_zero():
    scores, values = np.array([-np.inf, -np.inf, 1.0, 2.0]), np.arange(4.0)[:, np.newaxis]
    with np.errstate(invalid="ignore"):
        as_written = one_query(scores, values, [2])[-1]
        assert np.isnan(as_written[2])
        assert np.isnan(as_written[3]).all()
    guarded, s, a = -np.inf, 0.0, 0.0
    for tile in (slice(0, 2), slice(2, 4)):
        raised = max(guarded, scores[tile].max())
        shift = raised if raised > -np.inf else 0.0
        alpha, powers = np.exp(guarded - shift) if guarded > -np.inf else 0.0, np.exp(scores[tile] - shift)
        guarded, s, a = raised, alpha * s + powers.sum(), alpha * a + powers @ values[tile]
    exact = np.exp(scores[2:] - 2)
    np.testing.assert_allclose(a / s, exact @ values[2:] / exact.sum())


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_overflows(seed):
    scores, values, cuts = drawn(seed)
    with np.errstate(over="raise", invalid="raise"):
        for shift in (-1e4, 0, 1e4):
            for _, _, s, a in one_query(300 * scores + shift, np.ones_like(values), cuts):
                assert 1 <= s <= len(scores)
                np.testing.assert_allclose(a, s)  # values of 1 give a = s


def test_an_inverse_does_overflow():
    with np.errstate(all="ignore"):  # not "raise": the Python of the pages has no flag for an overflow
        *_, a = one_query(np.array([0.0, 700.0, 1400.0]), np.ones((3, 1)), [1, 2], of_a="inverse")[-1]
    assert not np.isfinite(a).all()


def textbook(query, key, value):
    scale = query.dtype.type(query.shape[-1] ** -0.5)
    scores = (scale * query) @ key.T
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = powers / powers.sum(axis=-1, keepdims=True)
    return weights @ value


def peak(function, *arguments):
    tracemalloc.start()
    function(*arguments)
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return found


def in_strips(query, key, value, rows=32):
    """The control: a few queries at a time, with the ordinary softmax."""
    return np.concatenate([textbook(query[top : top + rows], key, value) for top in range(0, len(query), rows)])


def in_tiles(query, key, value, rows=32, causal=False):
    """The loop of the exercise with a few queries at a time; causal, with the keys up to the last of them."""
    out = np.empty((len(query), value.shape[1]), query.dtype)
    for top in range(0, len(query), rows):
        seen = top + rows if causal else len(key)
        out[top : top + rows], _ = flash_forward(query[top : top + rows], key[:seen], value[:seen], 32, causal)
    return out


def large_scores(seed, n, d):
    """The inputs of the chapter's table: so large that the library cannot leave out the maximum."""
    inputs = np.random.default_rng(seed).standard_normal((3, n, d)).astype(np.float32)
    inputs[:2] *= 3
    return inputs


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("n", [512, 1024])
def test_the_inputs_of_the_table_can_tell_that_the_factor_is_missing(monkeypatch, seed, n):
    """With a third of them the library takes no maximum, and nobody would notice."""
    source = inspect.getsource(forward._one_pass)
    assert source.count("shrink = np.exp(maximum - raised)") == 1
    mutant = dict(vars(forward))
    exec(source.replace("shrink = np.exp(maximum - raised)", "shrink = 1.0"), mutant)
    inputs = large_scores(seed, n, 64)
    small = np.stack([inputs[0] / 3, inputs[1] / 3, inputs[2]])
    right = [flash_attention(*each, block_q=32, block_k=32)[0] for each in (inputs, small)]
    monkeypatch.setattr(forward, "_one_pass", mutant["_one_pass"])
    wrong = [flash_attention(*each, block_q=32, block_k=32)[0] for each in (inputs, small)]
    assert np.abs(right[0] - textbook(*inputs)).max() < 1e-4
    assert np.abs(wrong[0] - right[0]).max() > 1
    assert np.abs(wrong[1] - right[1]).max() < 1e-5


@pytest.mark.parametrize("d", [16, pytest.param(64, marks=pytest.mark.thorough), 128])
def test_only_tiles_with_the_update_work_in_a_room_that_does_not_grow(d):
    """Strips of queries with the ordinary softmax grow as n does; the loop over blocks of keys for all queries does, too, and needs more."""
    ways = {
        "textbook": textbook,
        "strips": in_strips,
        "loop": lambda q, k, v: flash_forward(q, k, v, 32, False),
        "in tiles": lambda q, k, v: in_tiles(q, k, v),
        "library": lambda q, k, v: flash_attention(q, k, v, block_q=32, block_k=32),
    }
    flash_attention(*np.ones((3, 1, d), np.float32))  # what is imported late is not counted
    room = {name: [] for name in ways}
    sizes = (1024, 2048, 4096) if d == 64 else (1024, 2048)
    for n in sizes:
        inputs = large_scores(n, n, d)
        for name, way in ways.items():
            room[name].append(peak(way, *inputs) - 4 * n * d)  # besides the output
    growth = {name: np.divide(found[1:], found[:-1]) for name, found in room.items()}
    assert np.all(growth["textbook"] > 3.8)
    for name in ("strips", "loop"):
        assert np.all(growth[name] > 1.4)
        assert np.all(growth[name] < 2.1)
    a_token = np.diff(room["library"]) / np.diff(sizes)  # 8 bytes of the logsumexp, 4 of a vector of ones; no two numbers more
    assert np.all(abs(a_token - 12) < 0.5)
    assert room["strips"][-1] > 4 * room["library"][-1]
    assert np.ptp(room["in tiles"]) < 1024
    assert room["loop"][-1] > room["strips"][-1] > 4 * room["in tiles"][-1]
    if d == 64:  # what the first page says
        assert [round(room[name][-1] / 2**20, 1) for name in ("textbook", "strips", "library")] == [192, 1.5, 0.1]


def test_three_quarters_of_the_room_of_the_loop_are_copies_of_the_unfinished_output():
    """With a single score for each query, about 3 of the 4.1 MiB are left: the scores are not what fills them."""
    n, d = 4096, 64

    class Kept(np.ndarray):  # NumPy never computes in the place of a subclass
        pass

    inputs = large_scores(2, n, d).view(Kept)
    room = [peak(lambda block=block: flash_forward(*inputs, block, False)[0]) - 4 * n * d for block in (1, 32, 128)]
    assert [round(bytes_ / 2**20, 1) for bytes_ in room] == [3.1, 4.1, 8.1]


@pytest.mark.parametrize("seed", range(8))
def test_a_tile_of_queries_needs_only_the_keys_up_to_its_last_query(seed):
    rng = np.random.default_rng(seed)
    n, rows = int(rng.integers(40, 200)), int(rng.integers(3, 50))
    inputs = rng.standard_normal((3, n, 8))
    expected, _ = flash_forward(*inputs, 32, True)
    np.testing.assert_allclose(in_tiles(*inputs, rows, causal=True), expected, atol=1e-12)
    shifted = [flash_forward(inputs[0, top : top + rows], *inputs[1:, : top + rows + 1], 32, True)[0] for top in range(0, n, rows)]
    assert not np.allclose(np.concatenate(shifted), expected)  # one key too many, and the corner is wrong


@pytest.mark.parametrize("seed", range(8))
def test_plain_and_flash_count_the_same_products(seed):
    q, k, d, v, block_q, block_k = (int(x) for x in np.random.default_rng(seed).integers(1, 300, size=6))
    plain = count_flops(q, k, d, v)
    flash = count_flops(q, k, d, v, method="flash", block_q=block_q, block_k=block_k)
    assert plain.products == flash.products == 2 * q * k * (d + v)


def counted(loop, M, inputs, **blocks):
    memory = Memory(M)
    out, *_ = loop(memory, *inputs, **blocks)
    np.testing.assert_allclose(out, textbook(*inputs), rtol=1e-8, atol=1e-10)
    return memory.loads + memory.stores


@pytest.mark.parametrize("seed", range(8))
def test_counted_is_predicted_in_both_orders(seed):
    rng = np.random.default_rng(seed)
    n, d, M = int(rng.integers(20, 90)), int(rng.integers(2, 9)), int(rng.integers(150, 600))
    inputs = rng.standard_normal((3, n, d))
    for method, loop in (("flash", flash_attention_on), ("flash-keys-outer", flash_attention_keys_outer_on), ("naive", naive_attention_on)):
        block_q, block_k = fitting_blocks(M, d, method=method)
        found = counted(loop, M, inputs, block_q=block_q, block_k=block_k)
        assert found == count_traffic(n, n, d, method=method, block_q=block_q, block_k=block_k).total
        with pytest.raises(MemoryError):  # the room is used to the last query or key
            more = (block_q, block_k + 1) if method == "flash-keys-outer" else (block_q + 1, block_k)
            counted(loop, M, rng.standard_normal((3, max(more) + 1, d)), block_q=more[0], block_k=more[1])


def total(method, n, d, M):
    block_q, block_k = fitting_blocks(M, d, method=method)
    return count_traffic(n, n, d, method=method, block_q=block_q, block_k=block_k).total


@pytest.mark.parametrize("d", [32, 64, 128, 256])
def test_flash_wins_from_about_half_of_d_squared(d):
    """The best tiles of both; plain attention also needs room for a row, so n lies below M."""
    n = d * d // 4
    assert total("flash", n, d, d * d * 3 // 8) > total("naive", n, d, d * d * 3 // 8)
    assert total("flash", n, d, d * d) < total("naive", n, d, d * d)


def test_where_flash_begins_to_win_depends_on_whole_queries():
    """No single size of the memory: between 2355 and 2486 numbers, more than with the largest terms only."""
    for n in (512, 1024, 2048, 4096, 65_536):
        wins = [total("flash", n, 64, M) < total("naive", n, 64, M) for M in range(2048, 2800)]
        assert not any(wins[: 2355 - 2048])
        assert all(wins[2486 - 2048 :])
        assert not wins[2485 - 2048]
    assert total("flash", 1024, 64, 2355) < total("naive", 1024, 64, 2355)


def test_doubling_the_memory_halves_the_traffic():
    n, d = 10**6, 64

    def queries_outside(M):
        return count_traffic(n, n, d, method="flash", block_q=fitting_blocks(M, d)[0]).total

    def keys_outside(M):
        _, block_k = fitting_blocks(M, d, method="flash-keys-outer")
        return count_traffic(n, n, d, method="flash-keys-outer", block_k=block_k).total

    for M in (2**13, 2**14, 2**15):
        assert math.isclose(queries_outside(M) / queries_outside(2 * M), 2, rel_tol=0.03)
        assert math.isclose(keys_outside(M) / queries_outside(M), 1.5, rel_tol=0.03)
        assert math.isclose(queries_outside(M), 4 * n**2 * d**2 / M, rel_tol=0.05)


def share(n, block_q, block_k):
    """Of the pairs, with every tile computed whole."""
    sizes = {"method": "flash", "block_q": block_q, "block_k": block_k}
    return count_flops(n, n, 1, causal=True, **sizes).products / count_flops(n, n, 1, **sizes).products


@pytest.mark.parametrize("tile", [(256, 16), (16, 256), (128, 128), (128, 64), (64, 64), (1, 512)])
def test_under_a_causal_mask_the_longer_side_counts(tile):
    assert share(4096, *tile) == 0.5 + max(tile) / (2 * 4096)
    assert [round(share(4096, *sides), 3) for sides in ((256, 16), (128, 128))] == [0.531, 0.516]


def test_the_condition_is_needed():
    """Where the shorter side does not divide the longer one, more is computed."""
    assert share(4608, 96, 64) > 0.5 + 96 / (2 * 4608)


@pytest.mark.parametrize("block_k", [16, 64, 256])
def test_the_library_stops_at_the_last_key_of_a_tile(block_k):
    """So for the library the number of queries alone decides."""
    plan = plan_tiles("tiles", 4096, 4096, causal=True, window=None, offset=0, block_q=64, block_k=block_k)
    tiles = [tile for rows in plan.query_blocks() for tile in plan.along(rows)]
    pairs = sum((t.rows.stop - t.rows.start) * (t.columns.stop - t.columns.start) for t in tiles)
    assert pairs / 4096**2 == 0.5 + 64 / (2 * 4096)


def test_one_key_a_tile_rescales_longer_than_the_products_take():
    rest = {k: count_flops(4096, 4096, 64, method="flash", block_q=128, block_k=k).elementwise for k in (1, 64, 128)}
    products = count_flops(4096, 4096, 64).products / A100.peak_flops["float16"]
    seconds = {k: found / (A100.peak_flops["float32"] / 2) for k, found in rest.items()}  # single operations: half the peak
    assert 9 < seconds[1] / products < 9.5
    assert seconds[64] < products
    assert [round(seconds[k] * 1e6) for k in (1, 64)] == [127, 10]
    assert seconds[128] < seconds[64]


@pytest.mark.parametrize("seed", range(8))
def test_only_the_rounding_differs(seed):
    inputs = np.random.default_rng(seed).standard_normal((3, 512, 64)).astype(np.float32)
    out, _ = flash_attention(*inputs, block_q=32, block_k=32)
    plain = textbook(*inputs)
    assert not np.array_equal(out, plain)
    np.testing.assert_allclose(out, plain, atol=1e-6)


def test_the_scores_of_a_layer_fit_no_cache_of_the_a100_but_those_of_a_head_do():
    cache, of_a_head = 40e6, 4096**2 * 2
    assert of_a_head < cache < 32 * of_a_head / 25
    products = 32 * count_flops(4096, 4096, 64).products / A100.peak_flops["float16"]
    assert 6 < 4 * 32 * of_a_head / A100.bandwidth / products < 7


def loops_of_the_page():
    """`strips_on` and `two_passes_on`, as the chapter counts them."""
    cells = nbformat.read(Path(__file__).parents[2] / "chapters" / "06_flash.ipynb", as_version=4).cells
    (source,) = (cell.source for cell in cells if cell.id == "ideas-run")
    found = {"np": np}
    exec(source[: source.index("def moved")], found)
    return {"strip": found["strips_on"], "two": found["two_passes_on"]}


def moved_in_walks(n, d, M, walks):
    rows = (M - d) // (n + d) if walks == "strip" else fitting_blocks(M, d)[0]
    return rows, math.ceil(n / rows) * (2 if walks == "strip" else 3) * n * d + 2 * n * d


@pytest.mark.parametrize("seed", range(8))
def test_strips_and_two_walks_count_what_their_formulas_say(seed):
    rng = np.random.default_rng(seed)
    n, d, M = int(rng.integers(20, 90)), int(rng.integers(2, 9)), int(rng.integers(300, 900))
    for walks, loop in loops_of_the_page().items():
        rows, expected = moved_in_walks(n, d, M, walks)
        inputs = rng.standard_normal((3, n, d))
        assert counted(lambda *of_one, loop=loop, rows=rows: [loop(*of_one, rows)], M, inputs) == expected
        with pytest.raises(MemoryError):
            loop(Memory(M), *rng.standard_normal((3, max(n, rows + 1), d)), rows + 1)


def counts_of_the_ideas(n, M=163 * 1024 // 2, d=64, most=128):
    """Numbers moved by plain attention, strips, two walks and Flash; at most 128 queries stay."""
    assert fitting_blocks(M, d)[0] > most  # without rows, 128 queries fit at any length
    strip = min((M - d) // (n + d), most)
    plain, flash = (count_traffic(n, n, d, method=method, block_q=most).total for method in ("naive", "flash"))
    return strip, [plain, *(math.ceil(n / rows) * walks * n * d + 2 * n * d for rows, walks in ((strip, 2), (most, 3))), flash]


def test_tiles_of_keys_save_more_in_long_texts_and_the_update_in_short_ones():
    """One head in what a program can claim of the fast memory of an A100's multiprocessor, 163 KB, in float16."""
    assert 163 * 1024 // 2 == 83_456
    found = {n: counts_of_the_ideas(n) for n in (1024, 4096)}
    assert found[1024][0] == 76
    assert found[4096][0] == 20
    assert [math.ceil(4096 / rows) for rows in (20, 128)] == [205, 32]
    assert [[round(numbers / 1e6, 1) for numbers in moved] for _, moved in found.values()] == [[5.4, 2.0, 1.7, 1.2], [84.4, 108.0, 25.7, 17.3]]
    plain, strips, two, flash = found[4096][1]
    assert strips > 4 * two
    assert round(two / flash, 1) == 1.5
    plain, strips, two, flash = found[1024][1]
    assert two - flash > strips - two  # the other way round
    larger_tiles = math.ceil(1024 / 128) * 2 * 1024 * 64 + 2 * 1024 * 64  # if no second walk were needed
    assert (two - larger_tiles) / (strips - larger_tiles) > 0.6  # it takes back most of what they bring
    assert (plain - strips) / (plain - flash) > 0.8  # most of the saving is that of strips
    for n in (4096, 6000, 8192, 16_384):
        _, (_, strips, two, flash) = counts_of_the_ideas(n)
        assert strips - two > two - flash
    assert (83_456 - 64) // (131_072 + 64) == 0  # not one row of scores fits


def test_the_cache_would_serve_strips_as_well():
    """The keys and values of all 32 heads fill 32 MiB; the cache of an A100 has 40 MB."""
    assert 32 * 2 * 4096 * 64 * 2 == 32 * 2**20 < 40e6


@pytest.mark.parametrize("dtype, waits", [("float32", ["arithmetic", "memory", "arithmetic"]), ("float16", ["memory"] * 2 + ["arithmetic"])])
def test_each_step_of_plain_attention_has_its_own_bound(dtype, waits):
    n, d, size = 4096, 64, np.dtype(dtype).itemsize
    flops = count_flops(n, n, d)
    steps = [
        (flops.products / 2 / A100.peak_flops[dtype], n * n + 2 * n * d),
        (flops.elementwise / (A100.peak_flops["float32"] / 2), 2 * n * n),  # single operations
        (flops.products / A100.peak_flops[dtype], 4 * n * d),  # no scores moved
    ]
    for (compute, numbers), expected in zip(steps, waits, strict=True):
        assert ("memory" if numbers * size / A100.bandwidth > compute else "arithmetic") == expected


@pytest.mark.parametrize("seed", range(8))
def test_sums_in_float16_lose_what_sums_in_float32_keep(seed):
    query, key, value = np.random.default_rng(seed).standard_normal((3, 4096, 16)).astype(np.float16)
    scores = (query[:8].astype(np.float32) @ key.T.astype(np.float32)) / 4
    exact = textbook(query[:8].astype(np.float64), key.astype(np.float64), value.astype(np.float64))
    off = {}
    for dtype in (np.float16, np.float32):
        powers = np.exp(scores - scores.max(axis=1, keepdims=True)).astype(dtype)
        s, a = np.zeros((8, 1), dtype), np.zeros((8, 16), dtype)
        for start in range(0, 4096, 64):
            tile = powers[:, start : start + 64].astype(np.float32)
            s += tile.sum(axis=1, keepdims=True).astype(dtype)
            a += (tile @ value[start : start + 64].astype(np.float32)).astype(dtype)
        off[dtype] = np.abs(a.astype(np.float64) / s - exact).max()
    assert off[np.float16] > 50 * off[np.float32]
    one, ones = np.float16(1), np.float16(0)
    for _ in range(4096):
        ones += one
    assert ones == 2048


@pytest.mark.parametrize("M", [4096, 8192, 16384])
def test_from_d_squared_on_the_largest_terms_are_within_a_tenth(M):
    assert 1 < total("flash", 4096, 64, M) / (4 * 4096**2 * 64**2 / M) < 1.1
    assert total("flash", 4096, 64, 1024) / (4 * 4096**2 * 64**2 / 1024) > 1.3  # below, few queries fit


def test_flash_with_128_queries_moves_a_quarter_of_the_four_matrices():
    moved = count_traffic(4096, 4096, 64, method="flash", block_q=128).total
    assert round(32 * 2 * moved / A100.bandwidth * 1e3, 1) == 0.7
    assert math.isclose(moved, 4096**2, rel_tol=0.05)
    assert round(32 * 2 * 4 * 4096 * 64 / A100.bandwidth * 1e3, 2) == 0.04  # inputs and outputs alone: with a cache, less is enough


def test_the_loop_keeps_float32_and_the_root_of_numpy_would_not():
    query, key, value = np.random.default_rng(0).standard_normal((3, 2048, 64)).astype(np.float32)
    assert [array.dtype for array in flash_forward(query, key, value, 32, True)] == [np.float32, np.float32]
    assert (query / np.sqrt(64)).dtype == np.float64  # what the exercise warns of
    single = peak(lambda: flash_forward(query, key, value, 32, False))
    double = peak(lambda: flash_forward(*(array.astype(np.float64) for array in (query, key, value)), 32, False))
    assert double > 1.8 * single
