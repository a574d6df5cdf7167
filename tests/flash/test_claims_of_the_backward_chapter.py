"""What chapter 7 says of the backward pass in tiles, with more starts and other sizes than its cells, and with controls."""

from pathlib import Path

import nbformat
import numpy as np
import pytest

from attnexercises.recompute.derive import backward_with_logsumexp
from attnexercises.recompute.merge import merge_partials as readers_merge
from attnlib.attention import attention, attention_backward
from attnlib.costs import Memory, count_traffic, flash_attention_backward_on
from attnlib.flash import flash_attention, flash_attention_backward, merge_partials
from attnlib.multihead import multihead_attention, multihead_attention_backward

CHAPTER = Path(__file__).resolve().parents[2] / "chapters/07_recompute.ipynb"

STARTS = range(16)
SIZES = ((10, 12, 7, 3), (1, 40, 8, 2), (33, 17, 4, 9))  # q, k, d, v


def case(seed, q, k, d, v):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(size) for size in ((q, v), (q, d), (k, d), (k, v))]


def worst(found, right):
    return max(np.abs(a - b).max() for a, b in zip(found, right, strict=True))


def in_tiles(d_out, query, key, value, cut, version):
    """The box (7.1) over two tiles of keys, or one of the wrong versions of the chapter."""
    out, logsumexp = flash_attention(query, key, value)
    c, shares = 1 / np.sqrt(query.shape[1]), []
    for part in (slice(0, cut), slice(cut, None)):
        own_out, own_logsumexp = flash_attention(query, key[part], value[part])
        row_mean = {"no D": 0 * out, "D of the tile": own_out}.get(version, out) * d_out
        ell = own_logsumexp if version == "ℓ of the tile" else logsumexp
        weights = np.exp(c * query @ key[part].T - ell[:, None])
        d_scores = weights * (d_out @ value[part].T - row_mean.sum(axis=1, keepdims=True))
        c_again = 1 if version == "no c in dQ, dK" else c
        shares.append((c_again * d_scores @ key[part], c_again * d_scores.T @ query, weights.T @ d_out))
    d_query, d_key, d_value = zip(*shares, strict=True)
    return sum(d_query), np.concatenate(d_key), np.concatenate(d_value)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("seed", STARTS)
def test_what_each_test_finds_and_that_none_of_them_finds_a_forgotten_scale(seed, size):
    d_out, query, key, value = case(seed, *size)
    added = np.random.default_rng(seed + 100).standard_normal(size[3])
    right = attention_backward(d_out, query, key, value, attention(query, key, value)[1])
    passes = {}
    for version in ("right", "no D", "D of the tile", "ℓ of the tile", "no c in dQ, dK"):
        got = in_tiles(d_out, query, key, value, size[1] // 2, version)
        moved = in_tiles(d_out, query, key, value + added, size[1] // 2, version)
        tests = worst(got[:2], moved[:2]) < 1e-12, np.abs(got[2].sum(axis=0) - d_out.sum(axis=0)).max() < 1e-12
        elsewhere = in_tiles(d_out, query, key, value, size[1] // 2 - 3, version)
        passes[version] = *tests, worst(got, elsewhere) < 1e-12, worst(got, right) < 1e-12
    assert passes == {
        "right": (True, True, True, True),
        "no D": (False, True, True, False),
        "D of the tile": (True, True, False, False),
        "ℓ of the tile": (True, False, False, False),
        "no c in dQ, dK": (True, True, True, False),
    }


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("seed", STARTS)
def test_a_difference_quotient_finds_the_forgotten_scale(seed, size):
    d_out, query, key, value = case(seed, *size)
    step = 1e-6 * np.random.default_rng(seed + 100).standard_normal(query.shape)
    loss = lambda moved: (d_out * attention(moved, key, value)[0]).sum()
    quotient = (loss(query + step) - loss(query - step)) / 2
    slope = {each: (in_tiles(d_out, query, key, value, 5, each)[0] * step).sum() for each in ("right", "no c in dQ, dK")}
    assert abs(quotient - slope["right"]) < 1e-4 * abs(slope["right"])
    assert slope["no c in dQ, dK"] == pytest.approx(np.sqrt(size[2]) * slope["right"])


def test_what_is_kept_beyond_what_every_layer_keeps():
    layers, heads, d, n = 32, 32, 64, 32768
    queries = layers * heads * n
    assert queries * 4 * d * 2 == 16 * 2**30  # Q, K, V and O
    assert queries * n * 2 == 2048 * 2**30
    assert queries * 4 == 2**30 / 8  # one float32 a query


@pytest.mark.parametrize(("n", "d"), [(97, 4), (100, 8), (37, 16)])
@pytest.mark.parametrize("fast", [300, 700, 1500])
def test_counted_is_predicted(n, d, fast):
    d_out, *inputs = np.random.default_rng(n).standard_normal((4, n, d))
    block_k, memory = (fast - 3 * d - 2) // (4 * d + 2), Memory(fast)
    flash_attention_backward_on(memory, d_out, *inputs, *flash_attention(*inputs), block_q=1, block_k=block_k)
    assert memory.loads + memory.stores == (4 * d + 2) * n * -(-n // block_k) + 6 * n * d + n
    with pytest.raises(MemoryError):  # one key more does not find room, unless the text is short
        flash_attention_backward_on(Memory(fast), d_out, *inputs, *flash_attention(*inputs), block_q=1, block_k=block_k + 1)


def test_the_traffic_halves_where_the_memory_doubles_and_crosses_the_plain_one():
    n, d = 2 * 10**4, 64
    moved = lambda fast: count_traffic(
        n, n, d, method="flash", backward=True, block_q=1, block_k=(fast - 3 * d - 2) // (4 * d + 2)
    ).total  # fmt: skip
    for fast in (10**4, 3 * 10**4, 10**5):
        assert 0.47 < moved(2 * fast) / moved(fast) < 0.53
    assert moved(int(2.3 * d**2)) > 7 * n**2 > moved(int(2.45 * d**2))
    assert 192 * 1024 // 2 == 98_304 == 24 * d**2  # a processor of an A100, in float16


def test_the_damage_of_a_rounded_logsumexp_needs_a_row_that_is_hidden_altogether():
    def total(scores):
        top = scores.max()
        saved = np.float32(top + np.log(np.exp(scores - top).sum())).astype(float)
        return np.exp(scores - saved).sum()

    for seed in STARTS:
        visible = np.random.default_rng(seed).normal(0, 3, 8)
        assert abs(total(visible) - 1) < 1e-5
        for seen in range(1, 8):  # any number of visible keys protects the row
            row = visible + np.where(np.arange(8) < seen, 0, -1e9)
            assert abs(total(row) - 1) < 1e-5
        assert total(visible - 1e9) > 1.5  # none visible
        with np.errstate(all="ignore"):
            hidden = visible + np.where(np.arange(8) < 3, 0, -np.inf)
        assert abs(total(hidden) - 1) < 1e-5


def to_bfloat16(x):
    bits = np.asarray(x, np.float32).view(np.uint32)
    bits = (bits + 0x7FFF + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)
    return bits.view(np.float32).astype(np.float64)


def test_a_logsumexp_in_bfloat16_moves_the_weights_of_its_row_by_three_percent():
    saved = np.linspace(8, 16, 4001)
    assert set(np.diff(np.unique(to_bfloat16(saved)))) == {1 / 16}
    off = np.exp(saved - to_bfloat16(saved)) - 1
    assert round(100 * off.max()) == round(-100 * off.min()) == 3


CUTS = np.array([0, 9, 21, 40, 47, 60, 61, 83, 100])


def parts_of(query, key, value):
    return [flash_attention(query, key[a:b], value[a:b]) for a, b in zip(CUTS, CUTS[1:], strict=False)]


def at_random(parts, merge, rng):
    parts = list(parts)
    while len(parts) > 1:
        a, b = (parts.pop(rng.integers(len(parts))) for _ in range(2))
        parts.append(merge(*a, *b))
    return parts[0]


@pytest.mark.parametrize("merge", [readers_merge, merge_partials])
def test_every_tree_of_merges_gives_the_whole_and_no_tree_of_plain_means_does(merge):
    for seed in STARTS:
        _, query, key, value = case(seed, 5, 100, 8, 2)
        whole, parts = flash_attention(query, key, value), parts_of(query, key, value)
        rng = np.random.default_rng(seed)
        for _ in range(20):
            assert worst(at_random(parts, merge, rng), whole) < 1e-12
            plain = at_random(parts, lambda o_a, l_a, o_b, l_b: ((o_a + o_b) / 2, np.logaddexp(l_a, l_b)), rng)
            assert np.abs(plain[0] - whole[0]).max() > 1e-3
    empty = np.zeros((5, 2)), np.full(5, -np.inf)
    for pair in ((parts[0], empty), (empty, parts[0])):
        assert worst(merge(*pair[0], *pair[1]), parts[0]) < 1e-15
    both = merge(*empty, *empty)
    assert (both[0] == 0).all() and np.isneginf(both[1]).all()


def test_the_reader_merges_as_the_library_does():
    for seed in STARTS:
        _, query, key, value = case(seed, 5, 100, 8, 2)
        a, b, *_ = parts_of(query, 30 * key, value)
        assert worst(readers_merge(*a, *b), merge_partials(*a, *b)) < 1e-12


def test_a_merge_is_the_update_of_the_forward_pass():
    for seed in STARTS:
        _, query, key, value = case(seed, 5, 100, 8, 2)
        parts, totals, top = parts_of(query, key, value)[:2], [], query @ key[:21].T / np.sqrt(8)
        for (_, logsumexp), (a, b) in zip(parts, ((0, 9), (9, 21)), strict=True):
            own = top[:, a:b].max(axis=1)
            totals.append(np.exp(logsumexp - own) * np.exp(own - top.max(axis=1)))
        out, logsumexp = merge_partials(*parts[0], *parts[1])
        whole = np.exp(logsumexp - top.max(axis=1))
        assert np.abs(sum(totals) - whole).max() < 1e-12
        sums = sum(total[:, None] * part[0] for total, part in zip(totals, parts, strict=True))
        assert np.abs(sums - whole[:, None] * out).max() < 1e-12


@pytest.mark.parametrize("size", [(1, 2), (5, 2), (7, 6)])  # queries, features of a value
@pytest.mark.parametrize("seed", STARTS)
def test_the_local_backward_is_the_global_one(seed, size):
    d_out, query, key, value = case(seed, size[0], 100, 8, size[1])
    (out, logsumexp), parts = flash_attention(query, key, value), parts_of(query, key, value)
    right = flash_attention_backward(d_out, query, key, value, out, logsumexp)

    def workers(ell=1, share=True):
        shares = []
        for a, b, (own, own_logsumexp) in zip(CUTS, CUTS[1:], parts, strict=False):
            w = np.exp(own_logsumexp - logsumexp)[:, None]
            d_own, d_ell = (w if share else 1) * d_out, ell * np.sum(w * d_out * (own - out), axis=1)
            shares.append(backward_with_logsumexp(d_own, d_ell, query, key[a:b], value[a:b]))
        d_query, d_key, d_value = zip(*shares, strict=True)
        return sum(d_query), np.concatenate(d_key), np.concatenate(d_value)

    assert worst(workers(), right) < 1e-12
    assert worst(workers(ell=0), right) > 1e-4  # the logsumexp as a constant
    assert worst(workers(ell=-1), right) > 1e-4
    assert worst(workers(share=False), right) > 1e-2


def test_the_gradients_of_the_logsumexps_sum_to_zero():
    for seed in STARTS:
        d_out, query, key, value = case(seed, 5, 100, 8, 2)
        out, logsumexp = flash_attention(query, key, value)
        d_ell = [np.sum(np.exp(own - logsumexp)[:, None] * d_out * (o - out), axis=1) for o, own in parts_of(query, key, value)]
        assert np.abs(sum(d_ell)).max() < 1e-12 < min(np.abs(each).max() for each in d_ell)


@pytest.fixture(scope="module")
def page():
    """The names that the cells of the capstone define, with the book's functions."""
    cells = {cell["id"]: cell.source for cell in nbformat.read(CHAPTER, as_version=4).cells}
    names = {"my_forward": lambda *args: flash_attention(*args[:3], causal=args[4])}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("attnpage.plotting.setup", lambda: None)
        for id in ("imports", "capstone-heads", "capstone-layer"):
            exec(cells[id], names)
    return names


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("seed", range(8))
def test_the_layer_with_flash_is_the_librarys_and_needs_both_saved_arrays(page, seed, causal):
    x, d_out = np.random.default_rng(seed).standard_normal((2, page["n"], page["m"]))
    weights, heads = page["weights"], page["h"]
    out, saved = multihead_attention(x, page["params"], causal=causal)
    d_x, _, d_params = multihead_attention_backward(d_out, page["params"], saved)
    right = d_x, *d_params.arrays().values()

    def gradients(out=1.0, logsumexp=0.0):
        page["my_backward"] = lambda *args: flash_attention_backward(
            *args[:4], out * args[4], args[5] + logsumexp, causal=args[8]
        )  # fmt: skip
        return page["flash_layer_backward"](d_out, x, weights, heads, 8, kept, causal)

    got, kept = page["flash_layer"](x, weights, heads, 8, causal)
    assert np.abs(got - out).max() < 1e-12 and worst(gradients(), right) < 1e-12
    assert worst(gradients(out=0.0), right) > 1e-3  # D would be zero
    assert worst(gradients(logsumexp=0.1), right) > 1e-3


def test_large_visible_scores_do_the_damage_too():
    for seed in STARTS:
        scores = 1e8 + np.random.default_rng(seed).standard_normal(4)
        top = scores.max()
        saved = float(np.float32(top + np.log(np.exp(scores - top).sum())))
        assert abs(np.exp(scores - saved).sum() - 1) > 0.02
