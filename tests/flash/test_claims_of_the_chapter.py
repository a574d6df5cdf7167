"""What chapter 6 says of Flash attention, with more starts and sizes than its cells have, and with the control of each claim."""

import math
import tracemalloc
from pathlib import Path

import nbformat
import numpy as np
import pytest

from attnexercises.flash.forward import flash_forward
from attnlib.costs import A100, Memory, count_flops, count_traffic, fitting_blocks, flash_attention_on, naive_attention_on
from attnlib.flash import flash_attention

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


def test_the_smallest_example_of_both_sums():
    scores, values = np.array([1.0, 3.0, 2.0, 4.0]), np.array([[10.0], [20.0], [30.0], [40.0]])
    (_, maximum, s, a), (_, _, last_s, last_a) = one_query(scores, values, [3])
    assert [maximum, round(s, 3), round(a[0], 2), round(a[0] / s, 2)] == [3, 1.503, 32.39, 21.55]
    exact = np.exp(scores) @ values / np.exp(scores).sum()
    np.testing.assert_allclose(last_a / last_s, exact)
    *_, s, a = one_query(scores, values, [3], "right", "forgotten")[-1]
    assert a / s > exact  # the old keys count too much


def test_a_hidden_first_tile_leaves_both_sums_at_zero():
    scores, values = np.array([-np.inf, -np.inf, 1.0, 2.0]), np.arange(4.0)[:, np.newaxis]
    with np.errstate(invalid="ignore"):
        as_written = one_query(scores, values, [2])[-1]
        assert np.isnan(as_written[2])
        assert np.isnan(as_written[3]).all()
        assert np.isnan(0 * as_written[2] + np.exp(scores[:2] - scores[:2].max())).all()  # a factor of zero is not enough
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


@pytest.mark.parametrize("d", [16, pytest.param(64, marks=pytest.mark.thorough)])
def test_only_tiles_with_the_update_work_in_a_room_that_does_not_grow(d):
    """Strips of queries with the ordinary softmax grow as n does; the loop over blocks of keys for all queries does, too, and as it is written needs more."""
    ways = {
        "textbook": textbook,
        "strips": in_strips,
        "loop": lambda q, k, v: flash_forward(q, k, v, 32, False),
        "in tiles": lambda q, k, v: in_tiles(q, k, v),
        "library": lambda q, k, v: flash_attention(q, k, v, block_q=32, block_k=32),
    }
    flash_attention(*np.ones((3, 1, d), np.float32))  # what is imported late is not counted
    room = {name: [] for name in ways}
    sizes = (1024, 2048, 4096) if d == 64 else (512, 1024)
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
def test_counted_is_predicted(seed):
    rng = np.random.default_rng(seed)
    n, d, M = int(rng.integers(20, 90)), int(rng.integers(2, 9)), int(rng.integers(150, 600))
    inputs = rng.standard_normal((3, n, d))
    for method, loop in (("flash", flash_attention_on), ("naive", naive_attention_on)):
        block_q, block_k = fitting_blocks(M, d, method=method)
        found = counted(loop, M, inputs, block_q=block_q, block_k=block_k)
        assert found == count_traffic(n, n, d, method=method, block_q=block_q, block_k=block_k).total
        with pytest.raises(MemoryError):  # the room is used to the last query
            counted(loop, M, rng.standard_normal((3, block_q + 2, d)), block_q=block_q + 1, block_k=block_k)


def total(method, n, d, M):
    block_q, block_k = fitting_blocks(M, d, method=method)
    return count_traffic(n, n, d, method=method, block_q=block_q, block_k=block_k).total


@pytest.mark.parametrize("d", [32, 64, 128, 256])
def test_flash_moves_less_from_d_squared_on_and_more_in_a_small_memory(d):
    """The best tiles of both; plain attention also needs room for a row, so n lies below M."""
    n = d * d // 8
    assert total("flash", n, d, d * d // 4) > total("naive", n, d, d * d // 4)
    for M in (d * d, 2 * d * d, 4 * d * d):
        assert total("flash", n, d, M) < total("naive", n, d, M)
        assert total("naive", n, d, M) > 4 * n**2  # never less than its four matrices


@pytest.mark.parametrize("d", [32, 64, 128])
def test_flash_falls_below_plain_attention_first_and_below_its_four_matrices_behind_d_squared(d):
    """By the formula it passes 4n² at d²; the exact count does so a little later, and passes plain attention in the same memory sooner."""
    n, step = 1024, d * d // 64
    sizes = np.arange(d * d // 2, 2 * d * d, step)
    flash, plain = (np.array([total(method, n, d, int(M)) for M in sizes]) for method in ("flash", "naive"))
    assert np.all(flash[sizes <= d * d] > 4 * n**2)
    assert 1.1 < sizes[flash < 4 * n**2][0] / d**2 < 1.25
    assert 0.5 < sizes[flash < plain][0] / d**2 < 0.7
    assert 0.5 < sizes[flash >= plain].max(initial=d * d // 2) / d**2 + step / d**2 < 0.7


def test_where_the_figure_has_its_diamonds():
    n, d = 1024, 64
    assert total("flash", n, d, 4712) > 4 * n**2 > total("flash", n, d, 4713)
    flash, plain = (np.array([total(method, n, d, M) for M in range(2048, 8192)]) for method in ("flash", "naive"))
    assert np.flatnonzero(flash >= plain)[-1] + 2048 == 2485  # both counts are staircases and cross three times
    assert total("flash", n, d, 2400) < total("naive", n, d, 2400)  # so the first size where Flash moves less is not the answer
    over = [total("flash", n, d, M) * M / (4 * n**2 * d**2) - 1 for M in (1024, 2048, 3072, 4096, 8192, 16384)]
    assert [round(100 * share) for share in (min(over), max(over))] == [13, 34]


def test_in_one_layer_flash_moves_a_quarter():
    n, d, heads = 4096, 64, 32
    moved = {rows: count_traffic(n, n, d, method="flash", block_q=rows).total for rows in (32, 33, 128)}
    milliseconds = {name: 1e3 * heads * 2 * numbers / A100.bandwidth for name, numbers in (("four", 4 * n**2), ("flash", moved[128]), ("once", 4 * n * d))}
    assert [f"{found:.1g}" for found in milliseconds.values()] == ["3", "0.7", "0.04"]
    assert round(milliseconds["four"], 1) == 2.8
    assert 32 * 2 * n * d == n**2  # the passes together
    assert moved[32] > 4 * n**2 > moved[33]  # more than 2.8 ms takes tiles of at most 32 queries
    assert heads * 2 * n * d * 2 < 40e6  # the keys and values of all heads fit into the cache


def test_doubling_the_memory_halves_the_traffic():
    n, d = 10**6, 64
    for M in (2**13, 2**14, 2**15):
        assert math.isclose(total("flash", n, d, M) / total("flash", n, d, 2 * M), 2, rel_tol=0.03)
        assert math.isclose(total("flash", n, d, M), 4 * n**2 * d**2 / M, rel_tol=0.05)


def share(n, block_q, block_k):
    """Of the pairs, with every tile computed whole."""
    sizes = {"method": "flash", "block_q": block_q, "block_k": block_k}
    return count_flops(n, n, 1, causal=True, **sizes).products / count_flops(n, n, 1, **sizes).products


@pytest.mark.parametrize("tile", [(256, 16), (16, 256), (128, 128), (128, 64), (64, 64), (1, 512)])
def test_under_a_causal_mask_the_longer_side_counts_if_the_other_divides_it(tile):
    assert share(4096, *tile) == 0.5 + max(tile) / (2 * 4096)
    assert [round(share(4096, *sides), 3) for sides in ((256, 16), (128, 128))] == [0.531, 0.516]


@pytest.mark.parametrize("tile", [(4, 3), (4, 6), (6, 4), (7, 8), (6, 6), (12, 12)])
def test_under_a_causal_mask_a_tile_whose_sides_do_not_divide_each_other_wastes_more(tile):
    n = 168
    assert math.isclose(share(n, *tile), 0.5 + (sum(tile) - math.gcd(*tile)) / (2 * n))
    assert math.isclose(share(n, 4, 3), share(n, 6, 6))  # as 6.7 says
    assert share(12, 4, 6) > share(12, 6, 6) == share(12, 6, 2)  # as in the figure


def test_one_key_a_tile_rescales_longer_than_the_products_take():
    rest = {k: count_flops(4096, 4096, 64, method="flash", block_q=128, block_k=k).elementwise for k in (1, 64, 128)}
    products = count_flops(4096, 4096, 64).products / A100.peak_flops["float16"]
    seconds = {k: found / (A100.peak_flops["float32"] / 2) for k, found in rest.items()}  # single operations: half the peak
    assert 9 < seconds[1] / products < 9.5
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
    _, strips, two, flash = found[4096][1]
    assert strips > 4 * two
    assert round(two / flash, 1) == 1.5
    assert strips - two > two - flash
    _, strips, two, flash = found[1024][1]
    assert two - flash > strips - two  # the other way round
    _, (_, strips, two, flash) = counts_of_the_ideas(1024, most=256)
    assert strips - two > two - flash  # but not if 256 queries may stay
    assert (83_456 - 64) // (131_072 + 64) == 0  # not one row of scores fits


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


@pytest.mark.parametrize("M", [4096, 8192, 16384])
def test_from_d_squared_on_the_largest_terms_are_within_a_tenth(M):
    assert 1 < total("flash", 4096, 64, M) / (4 * 4096**2 * 64**2 / M) < 1.1
    assert total("flash", 4096, 64, 1024) / (4 * 4096**2 * 64**2 / 1024) > 1.3  # below, few queries fit


def test_the_loop_keeps_float32_and_the_root_of_numpy_would_not():
    query, key, value = np.random.default_rng(0).standard_normal((3, 2048, 64)).astype(np.float32)
    assert [array.dtype for array in flash_forward(query, key, value, 32, True)] == [np.float32, np.float32]
    assert (query / np.sqrt(64)).dtype == np.float64  # what the exercise warns of
    single = peak(lambda: flash_forward(query, key, value, 32, False))
    double = peak(lambda: flash_forward(*(array.astype(np.float64) for array in (query, key, value)), 32, False))
    assert double > 1.8 * single
