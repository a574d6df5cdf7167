"""What chapter 10 says of decoding, with other sizes and starts than its cells have, and with the controls that its claims need."""

import json
from pathlib import Path

import nbformat
import numpy as np
import pytest

from attnexercises.decoding.cache import kv_cache
from attnlib.attention import attention
from attnlib.costs import A100, count_model_parameters, kv_cache_bytes
from attnlib.decoding import KVCache, attend_with_cache
from attnlib.masks import causal_mask
from attnlib.positions import rotary
from attnlib.softmax import softmax
from attnlib.training import generate, init_transformer, load_trained, transformer
from tools.recorded import trained_models
from tools.recorded.writer_starts import CACHES, FILE, long_texts, losses, measured, read_text

ROOT = Path(__file__).resolve().parents[2]
CHAPTER = ROOT / "chapters/10_decoding.ipynb"
SEEDS = range(8)
LLAMA = dict(hidden=11008, mlp_matrices=3, vocabulary=32000, embeddings=2)


def drawn(seed, *shapes):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(shape) for shape in shapes]


def alike(one, other):
    return np.allclose(one, other, rtol=0, atol=1e-10)


def run(ids):
    """The names that cells of the chapter define."""
    cells = {cell["id"]: cell.source for cell in nbformat.read(CHAPTER, as_version=4).cells}
    names = {}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("attnpage.plotting.setup", lambda: None)
        patch.chdir(CHAPTER.parent)
        for id in ids:
            exec(cells[id], names)
    return names


# --- the old rows ---------------------------------------------------------------------------------


@pytest.mark.parametrize("layers", [1, 2, 4])
@pytest.mark.parametrize("seed", SEEDS)
def test_old_rows_stay_in_every_layer_under_a_causal_mask_and_only_there(seed, layers):
    parts = dict(heads=2, positions="rotary")
    params = init_transformer(np.random.default_rng(seed), vocabulary=9, m=8, layers=layers, norm=True, hidden=16, **parts)
    tokens = np.random.default_rng(seed).integers(9, size=8)
    for causal in (True, False):
        (short, kept), (long, grown) = (transformer(tokens[:k], params, causal=causal, **parts) for k in (7, 8))
        assert alike(short, long[:7]) is causal
        for before, after in zip(kept.layers, grown.layers, strict=True):
            assert alike(before.attention.key, after.attention.key[..., :7, :]) is (causal or before is kept.layers[0])


@pytest.mark.parametrize("seed", SEEDS)
def test_the_new_row_needs_keys_and_values_and_nothing_else_of_the_past(seed):
    query, key, value = drawn(seed, (7, 4), (7, 4), (7, 3))
    expected = attention(query, key, value, causal=True)[0][-1:]
    assert alike(attention(query[-1:], key, value)[0], expected)
    for changed in range(2):  # each of the two is needed
        past = [key.copy(), value.copy()]
        past[changed][0] += 1
        assert not alike(attention(query[-1:], *past)[0], expected)


@pytest.mark.parametrize("n", [2, 7, 41, 128])
def test_one_character_more_changes_no_old_logit_of_the_writer_under_the_mask_and_all_without(n):
    writer = load_trained(ROOT / "chapters/data/trained.npz", "text")
    for piece in long_texts(writer.alphabet)[:8, :n]:
        for causal in (True, False):
            parts = dict(heads=writer.heads, positions="rotary", causal=causal)
            before, after = (transformer(tokens, writer.params, **parts)[0] for tokens in (piece[:-1], piece))
            changed = np.abs(after[:-1] - before).max(axis=1)
            assert np.all(changed < 1e-12) if causal else np.all(changed > 1e-6)


def test_rows_that_the_loop_computes():
    assert sum(range(10, 110)) == 5950  # a prompt of ten characters, and one hundred more
    assert sum(range(1, 1001)) == 500_500
    for n in (1, 7, 100):
        assert sum(range(1, n + 1)) == n * (n + 1) // 2


@pytest.mark.parametrize("kept", [0, 1, 2])
def test_the_step_by_hand_needs_its_own_key_and_the_old_ones(kept):
    keys, values, scaled_query = np.array([[1, 0], [0, 1], [1, 1]]), np.array([10, 20, 40]), np.array([np.log(2), 0])
    assert alike(softmax(keys @ scaled_query) @ values, 24)
    assert alike(softmax(keys[:2] @ scaled_query) @ values[:2], 40 / 3)  # the new token left out
    assert alike(values.mean(), 70 / 3)
    others = np.delete(np.arange(3), kept)
    assert not alike(softmax(keys[others] @ scaled_query) @ values[others], 24)  # the control: each of the three is needed


# --- chunks ---------------------------------------------------------------------------------------


def top_left(query, key, value, cache):
    cache.append(key, value)
    return attention(query, cache.keys, cache.values, causal=True)


@pytest.mark.parametrize("sizes", [[5, 1, 1, 1], [3, 3, 2], [1] * 8, [8], [1, 7], [4, 4]])
@pytest.mark.parametrize("seed", SEEDS)
def test_all_cuts_give_the_full_forward_pass_and_the_top_left_corner_only_one_call(seed, sizes):
    query, key, value = drawn(seed, (8, 4), (8, 4), (8, 3))
    whole, _ = attention(query, key, value, causal=True)
    for attend in (attend_with_cache, top_left):
        cache, outs = KVCache(8, d=4, v=3), []
        for rows in np.split(np.arange(8), np.cumsum(sizes)[:-1]):
            outs.append(attend(query[rows], key[rows], value[rows], cache)[0])
        assert alike(np.concatenate(outs), whole) is (attend is attend_with_cache or len(sizes) == 1)


def test_under_a_mask_from_the_top_left_a_single_query_sees_key_0_alone():
    query, key, value = drawn(0, (1, 4), (6, 4), (6, 3))
    assert alike(attention(query, key, value, causal=True)[0], value[:1])
    assert not alike(attention(query, key, value, mask=causal_mask(1, 6, offset=5))[0], value[:1])


# --- what a call costs ----------------------------------------------------------------------------


def llama_with(key_heads):
    """Bytes of all weights, of those in the layers, and of a cache of 4096 tokens."""
    parts = count_model_parameters(32, 4096, 32, 128, kv_heads=key_heads, **LLAMA)
    return 2 * parts.total, 2 * (parts.attention + parts.mlp), kv_cache_bytes(1, 32, 4096, key_heads, 128)


def test_llama_2_on_an_a100():
    parts = count_model_parameters(32, 4096, 32, 128, **LLAMA)
    weights = 32 * (4 * 4096**2 + 3 * 4096 * 11008)
    assert weights == parts.attention + parts.mlp
    assert f"{1 - weights / parts.total:.0%}" == "4%"
    reading, computing = 2000 * weights / A100.bandwidth, 2000 * weights / A100.peak_flops["float16"]
    assert f"{reading:.1f} {computing:.2f} {100 * computing:.1f} {2048 * computing / reading:.1f}" == "8.3 0.04 4.2 10.2"
    assert 200 * computing < reading < 201 * computing
    assert 100 * computing < reading / 2 < 101 * computing  # a memory that is twice as fast


def test_a_full_memory_takes_as_long_to_read_with_few_large_caches_as_with_many_small_ones():
    found = {}
    for key_heads in (32, 8):
        total, in_layers, cache = llama_with(key_heads)
        fit = int((40e9 - total) // cache)
        for texts in (1, 12, fit):
            step = 1000 * (in_layers + texts * cache) / A100.bandwidth
            found[key_heads, texts] = f"{step:.1f} {step / texts:.1f}"
    assert f"{llama_with(32)[0] / 1e9:.1f} {llama_with(32)[2] / 1e9:.2f}" == "13.5 2.15"
    assert found == {(32, 1): "9.7 9.7", (32, 12): "24.9 2.1", (8, 1): "7.6 7.6", (8, 12): "11.4 1.0", (8, 52): "25.2 0.5"}
    assert (llama_with(8)[1] + 52 * llama_with(8)[2]) / 52 < (llama_with(32)[1] + 12 * llama_with(32)[2]) / 12 / 4  # less than a quarter
    assert f"{1000 * 52 * llama_with(8)[1] / A100.peak_flops['float16']:.1f}" == "1.9"  # computing, ms
    unshared_weights = (40e9 - llama_with(32)[0]) // llama_with(8)[2]
    assert unshared_weights == 49  # the control: the matrices of keys and values are smaller, too
    in_the_quick_check = kv_cache_bytes(8, 32, 4000, 32, 128)
    assert in_the_quick_check > llama_with(32)[1]  # most of a step goes into the caches
    assert in_the_quick_check + llama_with(32)[0] < 40e9 < kv_cache_bytes(8, 32, 8000, 32, 128) + llama_with(32)[0]


def test_the_bounds_count_no_more_than_a_call_needs():
    parts = count_model_parameters(32, 4096, 32, 128, **LLAMA)
    layers, table = parts.attention + parts.mlp, parts.vocabulary // 2
    needed_for_a_step = layers + table  # the other table gives one row
    assert layers < needed_for_a_step < parts.total  # all weights would be no lower bound
    for tokens in (200, 2048):  # in a prefill only the last token needs the scores of the vocabulary
        assert tokens * layers < tokens * layers + table < tokens * parts.total


def test_what_a_cached_token_costs_with_and_without_sharing():
    heads, keys, values, found = 128, 128 + 64, 128, {}
    of_head = keys + values
    assert heads * of_head == 40_960
    for name, kept, keys, values in (
        ("own", heads * of_head, keys, values), ("8", 8 * of_head, keys, values), ("1", of_head, keys, values), ("latent", 576, 576, 512)
    ):  # fmt: skip
        reading, computing = 2 * kept / A100.bandwidth, 2 * heads * (keys + values) / A100.peak_flops["float16"]
        found[name] = f"{1e9 * max(reading, computing):.2g}", "memory" if reading >= computing else "arithmetic"
    assert found == {"own": ("53", "memory"), "8": ("3.3", "memory"), "1": ("0.41", "memory"), "latent": ("0.89", "arithmetic")}
    of_a_byte = {name: round(2 * heads * computed / (2 * kept)) for name, kept, computed in
                 (("own", heads * of_head, of_head), ("8", 8 * of_head, of_head), ("1", of_head, of_head), ("latent", 576, 576 + 512))}  # fmt: skip
    assert of_a_byte == {"own": 1, "8": 16, "1": 128, "latent": 242}
    assert round(A100.peak_flops["float16"] / A100.bandwidth) == 201 < 242


def test_the_smallest_of_three_models_keeps_the_largest_cache():
    kept = {name: layers * kv * d for name, layers, kv, d in (("PaLM", 118, 1, 256), ("7B", 32, 32, 128), ("70B", 80, 8, 128))}
    assert sorted(kept, key=kept.get, reverse=True) == ["7B", "70B", "PaLM"]
    assert list(kept.values()) == [30208, 131072, 81920]
    assert [round(2 * 2 * numbers / 1000) for numbers in kept.values()] == [121, 524, 328]  # kB


@pytest.mark.parametrize("seed", SEEDS)
def test_rotating_the_rows_of_a_matrix_rotates_its_product_with_a_token(seed):
    x, matrix = drawn(seed, (1, 6), (6, 8))
    for t in (0, 1, 17, 350):
        assert alike(x @ rotary(matrix, [t]), rotary(x @ matrix, [t]))


@pytest.mark.parametrize("window", [9, 3, 1])
@pytest.mark.parametrize("seed", SEEDS)
def test_the_readers_function_goes_on_with_the_lists_of_an_earlier_call(seed, window):
    x, *matrices = drawn(seed, (8, 5), (5, 4), (5, 4), (5, 3))
    whole, kept = kv_cache(x, *matrices, window), ([], [])
    parts = [kv_cache(rows, *matrices, window, cache=kept) for rows in np.split(x, [1, 2, 5])]
    assert alike(np.concatenate(parts), whole)
    assert len(kept[0]) == len(kept[1]) == min(8, window)
    forgetful = np.concatenate([kv_cache(rows, *matrices, window) for rows in np.split(x, [1, 2, 5])])
    assert alike(forgetful, whole) is (window == 1)  # the control: a call that begins anew


# --- latents and rings ----------------------------------------------------------------------------


@pytest.mark.parametrize("seed", SEEDS)
def test_a_query_is_carried_to_the_latent_unless_each_key_is_rotated_by_its_position(seed):
    k, d, width = 40, 6, 5
    Z, up, q = drawn(seed, (k, width), (width, d), (d,))
    for turned in (False, True):
        keys = rotary(Z @ up, np.arange(k)) if turned else Z @ up
        # Is there one vector in the latent space whose products with all rows of Z are the scores?
        carried, *_ = np.linalg.lstsq(Z, keys @ q, rcond=None)
        assert alike(Z @ carried, keys @ q) is not turned
    assert alike(Z @ (up @ q), (Z @ up) @ q)


@pytest.mark.parametrize("w", [1, 5, 12])
def test_a_ring_is_a_window_and_a_bias_follows_the_positions_in_it(w):
    names = run(["imports", "window-run-ring"])
    in_a_ring, mask = names["in_a_ring"], names["sliding_window_mask"]
    by_text, by_rows = (names["biases"][name][1] for name in ("ALiBi, by the distance in the text", "ALiBi, by the order of the rows"))
    for seed in SEEDS:
        query, key, value = drawn(seed, (12, 4), (12, 4), (12, 4))
        window, distance = mask(12, 12, w), np.subtract.outer(np.arange(12), np.arange(12))
        plain, with_bias = (attention(query, key, value, mask=np.where(window, -slope * distance, -np.inf))[0] for slope in (0, 0.5))
        assert alike(in_a_ring(query, key, value, w, lambda rows, distances: 0), plain)
        assert alike(in_a_ring(query, key, value, w, by_text), with_bias)
        assert alike(in_a_ring(query, key, value, w, by_rows), with_bias) is (w in (1, 12))  # a ring that never turns


@pytest.mark.parametrize("seed", SEEDS)
def test_the_order_of_the_rows_does_not_matter_without_a_bias_for_distances(seed):
    query, key, value = drawn(seed, (1, 4), (9, 4), (9, 3))
    order, bias = np.random.default_rng(seed).permutation(9), -0.5 * np.arange(9)[::-1]
    assert alike(attention(query, key[order], value[order])[0], attention(query, key, value)[0])
    with_bias = [softmax(query @ rows.T / 2 + bias) @ values for rows, values in ((key, value), (key[order], value[order]))]
    assert not alike(*with_bias)


# --- the small writer -----------------------------------------------------------------------------


@pytest.mark.thorough
def test_a_cache_changes_no_text_if_the_new_token_has_its_own_position():
    names = run(["imports", "old-rows-run", "ex-cache-stub", "writer-parts", "writer-step", "writer-run", "writer-check"])
    texts = [names["with_cache"](seed) for seed in SEEDS]
    params, heads = names["writer"].params, names["writer"].heads
    for seed, text in zip(SEEDS, texts, strict=True):
        assert np.array_equal(text, names["from_scratch"](seed))
        rng = np.random.default_rng(seed)
        of_library = generate(names["prompt"], params, heads=heads, positions="rotary", steps=100, temperature=0.5, rng=rng)
        assert np.array_equal(text, of_library)
        assert not np.array_equal(text, names["with_cache"](seed, lambda t: 0))  # the control
        for shift in (7, 1000):  # only distances count
            assert np.array_equal(text, names["with_cache"](seed, lambda t, shift=shift: t + shift))
    assert len({tuple(text) for text in texts}) == 8  # the texts differ, so their agreement says something
    assert min(len(set(text[10:].tolist())) for text in texts) > 10


@pytest.fixture(scope="module")
def writer():
    return load_trained(ROOT / "chapters/data/trained.npz", "text")


def late_loss(writer, *cache, start=256):
    """The mean loss of each of the texts from a character on."""
    return np.array([losses(writer, text, *cache)[start:].mean() for text in long_texts(writer.alphabet)])


def recorded(what):
    """(starts, blocks of 16 characters) for each cache, from the file that the chapter reads."""
    starts = json.loads(FILE.read_text(encoding="ascii"))
    assert [start["start"] for start in starts] == list(SEEDS)
    return {name: np.array([start["caches"][name][what] for start in starts]) for name in CACHES}


def test_the_reading_of_long_texts_is_the_forward_pass_of_the_library(writer):
    tokens = long_texts(writer.alphabet)[0][:200]
    for window in (None, 16):
        expected, _ = transformer(tokens, writer.params, heads=writer.heads, positions="rotary", window=window)
        assert alike(read_text(writer, tokens, window or 200), expected)


def test_in_all_starts_a_window_keeps_the_loss_and_old_keys_spoil_it_unless_positions_are_within_the_cache():
    loss = recorded("loss")
    early, late = ({name: rows[:, part].mean(axis=1) for name, rows in loss.items()} for part in (slice(4, 8), slice(16, 24)))
    assert min(late["everything"]) > 3.7 > np.log(30) > 3.4
    assert np.all(np.abs(late["the last 64"] - early["the last 64"]) < 0.1)
    assert np.all(np.abs(loss["4 + 60, positions in the cache"] - loss["the last 64"])[:, 8:] < 0.1)
    for low in ("the last 64", "4 + 60, positions in the cache"):
        assert np.all(late["4 + 60, positions in the text"] > late[low] + 0.5)
    in_text, in_cache = (early[f"4 + 60, positions in the {where}"] for where in ("text", "cache"))
    assert np.all(np.abs(in_text - in_cache) < 0.01)  # the control: all distances are known from the training
    assert f"{min(late['4 + 60, positions in the text']):.2f} {max(late['4 + 60, positions in the text']):.2f}" == "1.90 2.57"
    assert np.all(late["4 + 60, positions in the text"] < late["everything"] - 1)  # sixty known distances are better than none
    assert np.all(np.abs(late["4 + 60, positions in the cache"] - late["the last 64"]) < 0.01)  # the first four are of no use


def test_positions_in_the_text_cost_much_then_little_then_much_again():
    loss = recorded("loss")
    cost = loss["4 + 60, positions in the text"] - loss["4 + 60, positions in the cache"]  # (starts, blocks of 16)
    assert cost[:, 180 // 16].min() > 0.6 and np.abs(cost[:, 215 // 16]).max() < 0.05 and cost[:, -1].min() > 2


def test_the_latent_cache_costs_arithmetic_and_its_bound_is_far_lower_all_the_same():
    seconds = lambda operations, numbers: max(operations / A100.peak_flops["float16"], 2 * numbers / A100.bandwidth)
    own_keys, latent = seconds(128 * 2 * (192 + 128), 40_960), seconds(128 * 2 * (576 + 512), 576)
    assert round(own_keys / latent) == 59


@pytest.mark.thorough
def test_the_recorded_file_is_what_the_stored_writer_does(writer):
    stored = json.loads(FILE.read_text(encoding="ascii"))[0]
    for name, found in measured(writer).items():
        for what, values in found.items():
            np.testing.assert_allclose(values, stored["caches"][name][what], atol=0.002)


@pytest.mark.thorough
def test_a_writer_that_is_trained_anew_and_for_a_shorter_time_says_the_same():
    writer = trained_models.text(start=11, steps=300)
    window, everything = late_loss(writer, 64), late_loss(writer, 384)
    assert everything.mean() > window.mean() + 1
    assert abs(late_loss(writer, 60, 4, True).mean() - window.mean()) < 0.05


@pytest.mark.parametrize("seed", SEEDS)
def test_positions_within_the_cache_need_keys_unrotated_or_a_query_rotated_twice(seed):
    query, first, last = drawn(seed, (1, 8), (4, 8), (60, 8))
    in_cache = np.concatenate([rotary(first, np.arange(4)), rotary(last, np.arange(4, 64))])
    rotated_each_step = rotary(query, np.array([63])) @ in_cache.T
    kept = rotary(first, np.arange(4)), rotary(last, np.arange(291, 351))  # rotated once, at positions in the text
    twice = np.concatenate([rotary(query, np.array([at])) @ keys.T for at, keys in zip((63, 350), kept, strict=True)], axis=1)
    assert alike(twice, rotated_each_step)
    assert not alike(rotary(query, np.array([350])) @ np.concatenate(kept).T, rotated_each_step)


@pytest.mark.thorough
@pytest.mark.parametrize(("last", "first"), [(28, 4), (60, 1), (112, 8)])
def test_other_windows_and_other_numbers_of_first_tokens_say_the_same(writer, last, first):
    window, in_text, in_cache = late_loss(writer, last + first), late_loss(writer, last, first), late_loss(writer, last, first, True)
    assert np.sum(in_text > window + 0.1) >= 23 and in_text.mean() > window.mean() + 0.2
    assert np.all(np.abs(in_cache - window) < 0.15) and abs(in_cache.mean() - window.mean()) < 0.03
