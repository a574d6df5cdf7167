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

STARTS = range(8)
SIZES = ((10, 12, 7, 3), (1, 40, 8, 2), (33, 17, 4, 9))  # q, k, d, v


def case(seed, q, k, d, v):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(size) for size in ((q, v), (q, d), (k, d), (k, v))]


def worst(found, right):
    return max(np.abs(a - b).max() for a, b in zip(found, right, strict=True))


VERSIONS = {  # which of three tests passes: the sums of dV, the sums of dK, other tiles
    "right": (True, True, True),
    "no D": (True, False, True),
    "ℓ of the tile": (False, False, False),
    "D of the tile": (True, True, False),
    "no c in dQ, dK": (True, True, True),
}


def in_tiles(d_out, query, key, value, cut, version):
    """The box (7.1) over two tiles of keys, or a wrong version of it."""
    out, logsumexp = flash_attention(query, key, value)
    c, shares = 1 / np.sqrt(query.shape[1]), []
    for part in (slice(0, cut), slice(cut, None)):
        own_out, own_logsumexp = flash_attention(query, key[part], value[part])
        row_mean = np.sum(d_out * (own_out if version == "D of the tile" else out), axis=1) * (version != "no D")
        ell = own_logsumexp if version == "ℓ of the tile" else logsumexp
        weights = np.exp(c * query @ key[part].T - ell[:, None])
        d_scores = weights * (d_out @ value[part].T - row_mean[:, None])
        scale = 1 if version == "no c in dQ, dK" else c
        shares.append((scale * d_scores @ key[part], scale * d_scores.T @ query, weights.T @ d_out))
    d_query, d_key, d_value = zip(*shares, strict=True)
    return sum(d_query), np.concatenate(d_key), np.concatenate(d_value)


@pytest.mark.parametrize("size", SIZES)
def test_what_each_test_finds_and_that_none_of_them_finds_a_forgotten_scale(size):
    for seed in STARTS:
        d_out, query, key, value = case(seed, *size)
        right = attention_backward(d_out, query, key, value, attention(query, key, value)[1])
        for version, passes in VERSIONS.items():
            got = in_tiles(d_out, query, key, value, size[1] // 2, version)
            tests = (
                np.abs(got[2].sum(axis=0) - d_out.sum(axis=0)).max(),
                np.abs(got[1].sum(axis=0)).max(),
                worst(got, in_tiles(d_out, query, key, value, size[1] // 2 - 3, version)),
            )
            assert all(off < 1e-12 or off > 1e-5 for off in tests)
            assert tuple(off < 1e-12 for off in tests) == passes, version
            assert (worst(got, right) < 1e-12) == (version == "right")
            if version == "no c in dQ, dK":  # both are too large by the same factor, and dV is right
                root = np.sqrt(size[2])
                assert worst(got, (root * right[0], root * right[1], right[2])) < 1e-12


def test_with_a_row_mean_of_its_own_the_scores_of_each_tile_get_gradients_that_sum_to_zero():
    for seed in STARTS:
        d_out, query, key, value = case(seed, *SIZES[0])
        d_key = in_tiles(d_out, query, key, value, 5, "D of the tile")[1]
        right = in_tiles(d_out, query, key, value, 5, "right")[1]
        assert np.abs(d_key[:5].sum(axis=0)).max() < 1e-12 < 1e-3 < np.abs(right[:5].sum(axis=0)).max()


def test_a_vector_added_to_all_keys_leaves_the_weights():
    for seed in STARTS:
        _, query, key, value = case(seed, *SIZES[0])
        moved = attention(query, key + np.random.default_rng(seed).standard_normal(key.shape[1]), value)[1]
        assert np.abs(moved - attention(query, key, value)[1]).max() < 1e-12
        one = key + np.eye(len(key))[0][:, None]  # not all keys: the weights do change
        assert np.abs(attention(query, one, value)[1] - attention(query, key, value)[1]).max() > 1e-3


def test_what_is_kept_beyond_what_every_layer_keeps():
    layers, heads, d, n = 32, 32, 64, 32768
    queries = layers * heads * n
    assert queries * 4 * d * 2 == 16 * 2**30  # Q, K, V and O
    assert queries * n * 2 == 2048 * 2**30
    assert queries * 4 == 2**30 / 8  # one float32 a query


def test_the_forward_and_the_backward_of_gpt2_as_published():
    flash, standard = (75.2, 4.4, 7.3), (66.6, 40.3, 41.7)  # GFLOP, GB, ms: Dao et al. 2022, 64 texts, 16 heads of 64
    arithmetic, moved, took = (one / other for one, other in zip(flash, standard, strict=True))
    assert round(100 * arithmetic) == 113 and round(1 / moved) == 9 and took < 1 / 5
    assert round(40.3e9 / (2 * 64 * 16 * 1024**2)) == 19  # how often each of n² numbers of all heads moved, in float16


def predicted(n, d, fast):
    """(7.4): the numbers that Flash moves."""
    return (4 * d + 2) * n * -(-n // ((fast - 3 * d - 2) // (4 * d + 2))) + 6 * n * d + n


@pytest.mark.parametrize(("n", "d", "fast"), [(97, 4, 300), (97, 4, 700), (60, 8, 300), (60, 8, 1500), (37, 16, 300)])
def test_counted_is_predicted(n, d, fast):
    d_out, *inputs = np.random.default_rng(n).standard_normal((4, n, d))
    block_k, memory = (fast - 3 * d - 2) // (4 * d + 2), Memory(fast)
    flash_attention_backward_on(memory, d_out, *inputs, *flash_attention(*inputs), block_q=1, block_k=block_k)
    assert memory.loads + memory.stores == predicted(n, d, fast)
    assert count_traffic(n, n, d, method="flash", backward=True, block_q=1, block_k=block_k).total == predicted(n, d, fast)
    with pytest.raises(MemoryError):  # one key more does not find room, unless the text is short
        flash_attention_backward_on(Memory(fast), d_out, *inputs, *flash_attention(*inputs), block_q=1, block_k=block_k + 1)


def test_the_traffic_halves_where_the_memory_doubles_and_is_a_ninth_of_the_plain_one():
    n, d, fast = 2 * 10**6, 64, 83_456
    for memory in (10**4, 3 * 10**4, 10**5):
        assert 0.47 < predicted(n, d, 2 * memory) / predicted(n, d, memory) < 0.53
    assert 163 * 1024 // 2 == fast and 20 < fast / d**2 < 20.5  # what a program claims on an A100, in float16
    rows = (20 * d**2 - d) // (d + 1)  # that stay in each product, while single rows of the other array pass
    plain = count_traffic(n, n, d, backward=True, block_q=rows, block_k=rows).total
    flash = predicted(n, d, 20 * d**2)
    assert round(plain / n**2, 1) == 7.2 and round(flash / n**2, 1) == 0.8 and 8.7 < plain / flash < 9.3


def test_with_chapter_6s_limit_of_128_the_quotient_stays_below_five():
    rows = {most: (min((83_456 - 64) // 65, most), min((83_456 - 194) // 258, most)) for most in (128, 10**6)}
    assert rows[10**6][1] == 322
    quotients = {
        most: [
            count_traffic(n, n, 64, backward=True, block_q=plain, block_k=plain).total
            / count_traffic(n, n, 64, method="flash", backward=True, block_q=1, block_k=keys).total
            for n in (512, 1024, 4096, 32768)
        ]
        for most, (plain, keys) in rows.items()
    }
    assert max(quotients[128]) < 5 < quotients[10**6][1]
    assert all(a < b for most in rows for a, b in zip(quotients[most], quotients[most][1:], strict=False))


@pytest.mark.parametrize("score", [-30.0, -2.0, 0.0, 0.3, 3.0, 30.0])
def test_all_in_float32_four_equal_hidden_keys_have_the_weight_one_each(score):
    def weights(added, kind):
        scores = (score + np.full(4, added)).astype(kind)
        return np.exp(scores - logsumexp(scores))

    assert (weights(-1e9, np.float32) == 1).all()
    assert np.abs(weights(-1e9, np.float64) - 0.25).max() < 1e-6
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


@pytest.mark.parametrize("shared, output_is_worse", [(0, False), (1, False), (10, True), (100, True)])
def test_a_rounded_output_is_worse_than_a_rounded_logsumexp_where_all_values_share_a_large_part(shared, output_is_worse):
    def relative(seed, **rounded):
        d_out, query, key, value = case(seed, 32, 200, 64, 64)
        value = value + shared
        out, logsumexp = flash_attention(query, key, value)
        gradient = lambda out, ell: flash_attention_backward(d_out, query, key, value, out, ell)[0]
        right = gradient(out, logsumexp)
        found = gradient(to_bfloat16(out) if rounded.get("out") else out, to_bfloat16(logsumexp) if rounded.get("ell") else logsumexp)
        return (np.linalg.norm(found - right, axis=1) / np.linalg.norm(right, axis=1)).mean()

    for seed in STARTS:
        of_out, of_ell = relative(seed, out=True), relative(seed, ell=True)
        assert (of_out > 1.5 * of_ell) if output_is_worse else (1.5 * of_out < of_ell), (of_out, of_ell)


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
        for _ in range(8):
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


def workers(d_out, query, key, value, whole, parts, ell=1, share=True):
    """What each part finds with the two gradients of (7.3), or with wrong ones."""
    for a, b, (own, own_logsumexp) in zip(CUTS, CUTS[1:], parts, strict=False):
        w = np.exp(own_logsumexp - whole[1])[:, None]
        d_own, d_ell = (w if share else 1) * d_out, ell * np.sum(w * d_out * (own - whole[0]), axis=1)
        yield backward_with_logsumexp(d_own, d_ell, query, key[a:b], value[a:b])


@pytest.mark.parametrize("size", [(1, 2), (7, 6)])  # queries, features of a value
@pytest.mark.parametrize("seed", STARTS)
def test_the_local_backward_is_the_global_one(seed, size):
    d_out, query, key, value = case(seed, size[0], 100, 8, size[1])
    whole, parts = flash_attention(query, key, value), parts_of(query, key, value)
    right = flash_attention_backward(d_out, query, key, value, *whole)

    def off(**wrong):
        d_query, d_key, d_value = zip(*workers(d_out, query, key, value, whole, parts, **wrong), strict=True)
        return worst((sum(d_query), np.concatenate(d_key), np.concatenate(d_value)), right)

    assert off() < 1e-12
    only = next(workers(d_out, query, key, value, whole, parts))  # dK and dV of its keys are complete, and its dQ is not
    assert worst(only[1:], (right[1][: CUTS[1]], right[2][: CUTS[1]])) < 1e-12
    assert np.abs(only[0] - right[0]).max() > 1e-3
    assert off(ell=0) > 1e-4  # the logsumexp as a constant
    d_query, d_key, d_value = zip(*workers(d_out, query, key, value, whole, parts, ell=0), strict=True)
    assert np.abs(np.concatenate(d_value) - right[2]).max() < 1e-12 < 1e-4 < np.abs(np.concatenate(d_key) - right[1]).max()  # dV is right all the same
    assert off(ell=-1) > 1e-4
    assert off(share=False) > 1e-2


def test_the_merged_output_moves_towards_the_worker_whose_logsumexp_grows():
    """The prediction, and the numbers of the four keys: exponentials 3, 2, 2, 1 and values 4, 0, 0, 4."""
    outs, logs = np.array([[12 / 5], [4 / 3]]), np.log([[5.0], [3.0]])
    merge = lambda step: merge_partials(outs[:1], logs[0] + step, outs[1:], logs[1])[0].item()
    assert merge(0) == pytest.approx(2) and merge(1e-3) > merge(0) > merge(-1e-3)
    assert (merge(1e-6) - merge(-1e-6)) / 2e-6 == pytest.approx(1 / 4)
    for exponentials, values, out, share, d_ell, right in (
        ((3, 2), (4, 0), 12 / 5, 5 / 8, 1 / 4, (3 / 4, -1 / 2)), ((2, 1), (0, 4), 4 / 3, 3 / 8, -1 / 4, (-1 / 2, 1 / 4))
    ):  # fmt: skip
        assert share * (out - 2) == pytest.approx(d_ell)
        args = (np.array([[share]]), np.array([d_ell]), np.ones((1, 1)), np.log(exponentials)[:, None], np.array(values)[:, None])
        assert backward_with_logsumexp(*args)[1].ravel() == pytest.approx(right)  # with d = 1 and a query of 1, dK is dS
    assert 5 * (12 / 5 - 2) == pytest.approx(3 * (2 - 4 / 3))  # the beam balances


def test_the_gradients_of_the_logsumexps_sum_to_zero():
    for seed in STARTS:
        d_out, query, key, value = case(seed, 5, 100, 8, 2)
        out, logsumexp = flash_attention(query, key, value)
        d_ell = [np.sum(np.exp(own - logsumexp)[:, None] * d_out * (o - out), axis=1) for o, own in parts_of(query, key, value)]
        assert np.abs(sum(d_ell)).max() < 1e-12 < min(np.abs(each).max() for each in d_ell)


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
