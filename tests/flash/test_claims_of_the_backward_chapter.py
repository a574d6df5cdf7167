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
from attnlib.multihead import MultiHeadParams, multihead_attention, multihead_attention_backward
from attnlib.softmax import logsumexp

CHAPTER = Path(__file__).resolve().parents[2] / "chapters/07_recompute.ipynb"

STARTS = range(16)
SIZES = ((10, 12, 7, 3), (1, 40, 8, 2), (33, 17, 4, 9))  # q, k, d, v


def case(seed, q, k, d, v):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(size) for size in ((q, v), (q, d), (k, d), (k, v))]


def worst(found, right):
    return max(np.abs(a - b).max() for a, b in zip(found, right, strict=True))


VERSIONS = {  # the largest error is not rounding, and which of four tests passes: sums of dV, of dK, other tiles, zeros
    "right": (True, True, True, True),
    "no D": (True, False, True, True),
    "D without weights": (True, False, True, True),
    "D plus one": (True, False, True, True),
    "ℓ of the tile": (False, False, False, True),
    "D of the tile": (True, True, False, True),
    "no c in dQ, dK": (True, True, True, False),
    "no c in dK": (True, True, True, False),
    "dQ twice as large": (True, True, True, True),
}


def in_tiles(d_out, query, key, value, cut, version):
    """The box (7.1) over two tiles of keys, or a wrong version of it."""
    out, logsumexp = flash_attention(query, key, value)
    c, shares = 1 / np.sqrt(query.shape[1]), []
    for part in (slice(0, cut), slice(cut, None)):
        own_out, own_logsumexp = flash_attention(query, key[part], value[part])
        row_mean = np.sum(d_out * (own_out if version == "D of the tile" else out), axis=1)
        row_mean = {"no D": 0 * row_mean, "D plus one": row_mean + 1, "D without weights": (d_out @ value.T).mean(axis=1)}.get(
            version, row_mean
        )  # fmt: skip
        ell = own_logsumexp if version == "ℓ of the tile" else logsumexp
        weights = np.exp(c * query @ key[part].T - ell[:, None])
        d_scores = weights * (d_out @ value[part].T - row_mean[:, None])
        c_query = {"no c in dQ, dK": 1, "dQ twice as large": 2 * c}.get(version, c)
        c_key = 1 if version in ("no c in dQ, dK", "no c in dK") else c
        shares.append((c_query * d_scores @ key[part], c_key * d_scores.T @ query, weights.T @ d_out))
    d_query, d_key, d_value = zip(*shares, strict=True)
    return sum(d_query), np.concatenate(d_key), np.concatenate(d_value)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("seed", STARTS)
def test_what_each_test_finds_and_that_none_of_them_finds_a_doubled_gradient(seed, size):
    d_out, query, key, value = case(seed, *size)
    right = attention_backward(d_out, query, key, value, attention(query, key, value)[1])
    zeros = lambda array: np.pad(array, ((0, 0), (0, 3 * size[2])))
    for version, passes in VERSIONS.items():
        got = in_tiles(d_out, query, key, value, size[1] // 2, version)
        wide = in_tiles(d_out, zeros(2 * query), zeros(key), value, size[1] // 2, version)
        tests = (
            np.abs(got[2].sum(axis=0) - d_out.sum(axis=0)).max(),
            np.abs(got[1].sum(axis=0)).max(),
            worst(got, in_tiles(d_out, query, key, value, size[1] // 2 - 3, version)),
            worst(got[:2], (2 * wide[0][:, : size[2]], wide[1][:, : size[2]])),
        )
        assert all(off < 1e-12 or off > 1e-5 for off in tests)
        assert tuple(off < 1e-12 for off in tests) == passes, version
        assert (worst(got, right) < 1e-12) == (version == "right")


def test_a_vector_added_to_all_keys_leaves_the_weights():
    for seed in STARTS:
        _, query, key, value = case(seed, *SIZES[0])
        moved = attention(query, key + np.random.default_rng(seed).standard_normal(key.shape[1]), value)[1]
        assert np.abs(moved - attention(query, key, value)[1]).max() < 1e-12
        one = key + np.eye(len(key))[0][:, None]  # not all keys: the weights do change
        assert np.abs(attention(query, one, value)[1] - attention(query, key, value)[1]).max() > 1e-3


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


def queries_outside(memory, d_out, query, key, value, out, logsumexp, block_q):
    """The backward pass with the other loop outside, one key at a time, on a counted memory."""
    c, (q, d), k = 1 / np.sqrt(query.shape[1]), query.shape, len(key)
    grads = np.zeros((q, d)), np.zeros((k, d)), np.zeros(value.shape)
    for top in range(0, q, block_q):
        rows = slice(top, top + block_q)
        stays = [memory.load(array[rows]) for array in (query, d_out, grads[0], logsumexp)]
        row_mean = memory.load((d_out * out).sum(axis=1)[rows])
        for j in range(k):
            passes = [memory.load(array[j : j + 1]) for array in (key, value, grads[1], grads[2])]
            weights = np.exp(c * stays[0] @ passes[0].T - stays[3][:, None])
            d_scores = c * weights * (stays[1] @ passes[1].T - row_mean[:, None])
            stays[2] += d_scores @ passes[0]
            passes[2] += d_scores.T @ stays[0]
            passes[3] += weights.T @ stays[1]
            memory.store(passes[2], grads[1][j : j + 1])
            memory.store(passes[3], grads[2][j : j + 1])
            memory.free(*passes)
        memory.store(stays[2], grads[0][rows])
        memory.free(*stays, row_mean)
    return grads


def test_with_the_queries_outside_the_product_is_18():
    n, d, fast = 360, 16, 576
    d_out, *inputs = np.random.default_rng(0).standard_normal((4, n, d))
    out, logsumexp = flash_attention(*inputs)
    right = flash_attention_backward(d_out, *inputs, out, logsumexp)
    rows, keys = fast // (3 * d), fast // (4 * d)  # 3d of a query stay, or 4d of a key
    count = Memory()
    assert worst(queries_outside(count, d_out, *inputs, out, logsumexp, rows), right) < 1e-12
    assert count.loads + count.stores == pytest.approx(18 * n**2 * d**2 / fast, rel=0.05)
    count = Memory()
    flash_attention_backward_on(count, d_out, *inputs, out, logsumexp, block_q=1, block_k=keys)
    assert count.loads + count.stores == pytest.approx(16 * n**2 * d**2 / fast, rel=0.1)
    assert count.loads + count.stores < 17.5 * n**2 * d**2 / fast


def test_the_forward_and_the_backward_of_gpt2_as_published():
    flash, standard = (75.2, 4.4, 7.3), (66.6, 40.3, 41.7)  # GFLOP, GB, ms: Dao et al. 2022, 64 texts, 16 heads of 64
    arithmetic, moved, took = (one / other for one, other in zip(flash, standard, strict=True))
    assert round(100 * arithmetic) == 113 and round(1 / moved) == 9 and took < 1 / 5
    assert round(40.3e9 / (2 * 64 * 16 * 1024**2)) == 19  # how often each of n² numbers of all heads moved, in float16


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
    def plain(fast):
        rows = (fast - d) // (d + 1)  # that stay in each product, while single rows of the other array pass
        return count_traffic(n, n, d, backward=True, block_q=rows, block_k=rows).total

    assert moved(int(1.8 * d**2)) > plain(int(1.8 * d**2))
    for fast in range(int(1.9 * d**2), 4 * d**2, 50):  # 1.9 by the exact counts, 12/7 by the leading terms
        assert moved(fast) < plain(fast)
    assert moved(2 * d**2) > 7 * n**2  # its streams are not left out
    assert (7 * n**2 + 4 * n**2 / 1.7) / (16 * n**2 / 1.7) == pytest.approx(1, abs=0.01)
    assert 192 * 1024 // 2 == 98_304 == 24 * d**2  # a processor of an A100, in float16


@pytest.mark.parametrize("score", [-30.0, -2.0, 0.0, 0.3, 3.0, 30.0])
def test_all_in_float32_four_equal_hidden_keys_have_the_weight_one_each(score):
    def weights(added, kind):
        scores = (score + np.full(4, added)).astype(kind)
        return np.exp(scores - logsumexp(scores))

    assert (weights(-1e9, np.float32) == 1).all()
    assert np.abs(weights(-1e9, np.float64) - 0.25).max() < 1e-6
    assert 1e-5 < np.abs(weights(-1e4, np.float32) - 0.25).max() < 1e-3  # the damage begins
    assert np.abs(weights(0, np.float32) - 0.25).max() < 1e-5


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


def test_an_output_in_bfloat16_moves_the_terms_of_the_row_mean_by_less_than_half_a_percent():
    for seed in STARTS:
        d_out, out = np.random.default_rng(seed).standard_normal((2, 200, 64))
        off = np.abs(d_out * to_bfloat16(out) - d_out * out)
        assert (off <= 0.004 * np.abs(d_out * out)).all() and (off > 0.003 * np.abs(d_out * out)).any()


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

    def local_of_part(i, ell=1, share=True):
        (a, b), (own, own_logsumexp) = CUTS[i : i + 2], parts[i]
        w = np.exp(own_logsumexp - logsumexp)[:, None]
        d_own, d_ell = (w if share else 1) * d_out, ell * np.sum(w * d_out * (own - out), axis=1)
        return backward_with_logsumexp(d_own, d_ell, query, key[a:b], value[a:b])

    def workers(**wrong):
        shares = [local_of_part(i, **wrong) for i in range(len(parts))]
        d_query, d_key, d_value = zip(*shares, strict=True)
        return sum(d_query), np.concatenate(d_key), np.concatenate(d_value)

    assert worst(workers(), right) < 1e-12
    only = local_of_part(0)  # dK and dV of its keys are complete, and its dQ is not
    assert worst(only[1:], (right[1][: CUTS[1]], right[2][: CUTS[1]])) < 1e-12
    assert np.abs(only[0] - right[0]).max() > 1e-3
    assert worst(workers(ell=0), right) > 1e-4  # the logsumexp as a constant
    assert worst(workers(ell=-1), right) > 1e-4
    assert worst(workers(share=False), right) > 1e-2


def test_the_gradients_of_the_logsumexps_sum_to_zero():
    for seed in STARTS:
        d_out, query, key, value = case(seed, 5, 100, 8, 2)
        out, logsumexp = flash_attention(query, key, value)
        d_ell = [np.sum(np.exp(own - logsumexp)[:, None] * d_out * (o - out), axis=1) for o, own in parts_of(query, key, value)]
        assert np.abs(sum(d_ell)).max() < 1e-12 < min(np.abs(each).max() for each in d_ell)


def test_a_query_that_sees_none_of_the_keys_of_a_part_has_the_weights_zero_with_the_merged_logsumexp():
    _, query, key, value = case(3, 5, 100, 8, 2)
    _, logsumexp = flash_attention(query, key, value)
    hidden = np.full((5, 9), -np.inf)
    assert (np.exp(hidden - logsumexp[:, None]) == 0).all()
    with np.errstate(invalid="ignore"):  # with the part's own logsumexp they are no numbers
        assert np.isnan(np.exp(hidden - np.logaddexp.reduce(hidden, axis=1, keepdims=True))).all()


@pytest.fixture(scope="module")
def page():
    """The names that the cells of the capstone define, with the book's functions, and a layer for them."""
    cells = {cell["id"]: cell.source for cell in nbformat.read(CHAPTER, as_version=4).cells}
    names = {"my_forward": lambda *args: flash_attention(*args[:3], causal=args[4])}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("attnpage.plotting.setup", lambda: None)
        for id in ("imports", "capstone-heads", "capstone-layer"):
            exec(cells[id], names)
    n, m, h, d, v = 37, 24, 4, 6, 5
    rng = np.random.default_rng(7)
    shapes = (m, h * d), (m, h * d), (m, h * v), (h * v, m)
    weights = [rng.standard_normal(shape) / np.sqrt(shape[0]) for shape in shapes]
    names.update(n=n, m=m, h=h, weights=weights, params=MultiHeadParams(*weights, heads=h))
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
