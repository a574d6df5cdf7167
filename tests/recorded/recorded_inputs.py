"""What the recorded cases of attention put in: sizes, masks, scales, extremes."""

import itertools

import numpy as np

FLOAT32_MIN = float(np.finfo(np.float32).min)


def numbers(rng, *shape, largest=7.0):
    """Multiples of 1/256 from a normal distribution, at most `largest` in size."""
    return np.clip(np.round(rng.standard_normal(shape) * 256) / 256, -largest, largest)


def case(group, rng, q=4, k=5, d=7, v=3, leading=(2,), heads=None, mask=None, causal=False, scale=None, **other):
    """One case as a dictionary. `leading` are the axes before q; `heads` those that key and value have instead."""
    key_leading = leading if heads is None else (*leading[:-1], heads)
    made = {
        "query": numbers(rng, *leading, q, d),
        "key": numbers(rng, *key_leading, k, d),
        "value": numbers(rng, *key_leading, k, v),
        "d_out": numbers(rng, *leading, q, v),
    }
    return {"group": group, "causal": causal, "scale": scale, "mask": mask, **made, **other}


def causal(q, k, offset=0):
    return np.tri(q, k, offset, dtype=bool)


def broadcast_shapes(full):
    """Every shape of at least one axis that broadcasts to `full`."""
    for rank in range(1, len(full) + 1):
        yield from itertools.product(*((1, size) for size in full[len(full) - rank :]))


def attention_cases():
    rng = np.random.default_rng(17)
    sizes = [(1, 1), (1, 2), (2, 1), (3, 5), (1, 130), (130, 1), (15, 17), (16, 16), (31, 33), (33, 31), (63, 65)]
    sizes += [(64, 64), (65, 63), (97, 113), (113, 97), (127, 129), (128, 128), (129, 127), (130, 130)]
    for q, k in sizes:
        yield f"q{q}_k{k}", case("sizes", rng, q, k, 5, 3, ())
    for d, v in [(1, 1), (1, 4), (4, 1), (16, 9), (64, 64)]:
        yield f"d{d}_v{v}", case("sizes", rng, 3, 5, d, v)
    for leading in [(), (2,), (2, 3), (2, 1, 3), (1, 1)]:
        yield "leading_" + "x".join(map(str, leading)), case("sizes", rng, leading=leading)

    for q, k in [(1, 1), (4, 4), (3, 5), (5, 3), (1, 7), (7, 1), (17, 33), (33, 17), (65, 130), (130, 65)]:
        leading = (2, 3) if q * k < 100 else ()
        yield f"top_left_q{q}_k{k}", case("causal", rng, q, k, leading=leading, causal=True)
        lower = case("causal", rng, q, k, leading=leading, mask=causal(q, k, k - q), offset=k - q, lower_right=True)
        yield f"bottom_right_q{q}_k{k}", lower
    for q, k in [(4, 4), (3, 5), (5, 3)]:
        keep = rng.random((2, 1, q, k)) < 0.7
        yield f"with_boolean_q{q}_k{k}", case("causal", rng, q, k, leading=(2, 3), mask=keep, causal=True)
        bias = np.where(rng.random((3, q, k)) < 0.8, numbers(rng, 3, q, k), -np.inf)
        yield f"with_additive_q{q}_k{k}", case("causal", rng, q, k, leading=(2, 3), mask=bias, causal=True)

    b, h, q, k = 2, 3, 4, 5
    for shape in broadcast_shapes((b, h, q, k)):
        keep = rng.random(shape) < 0.7
        name = "x".join(map(str, shape))
        yield f"boolean_{name}", case("boolean masks", rng, q, k, leading=(b, h), mask=keep)
        bias = np.where(rng.random(shape) < 0.8, numbers(rng, *shape), -np.inf)
        yield f"additive_{name}", case("additive masks", rng, q, k, leading=(b, h), mask=bias)

    for h, heads in [(2, 2), (4, 1), (6, 2), (6, 3), (8, 4)]:
        name = f"{h}_over_{heads}"
        yield name, case("grouped heads", rng, leading=(2, h), heads=heads)
        yield f"{name}_causal", case("grouped heads", rng, 5, 3, leading=(2, h), heads=heads, causal=True)
        keep = rng.random((h, 4, 5)) < 0.7
        yield f"{name}_boolean", case("grouped heads", rng, leading=(2, h), heads=heads, mask=keep)
        bias = numbers(rng, h, 1, 5)
        yield f"{name}_additive", case("grouped heads", rng, leading=(2, h), heads=heads, mask=bias)
    yield "unbatched_6_over_2", case("grouped heads", rng, leading=(6,), heads=2)

    for scale in [0.0, -1.0, -0.125, 0.3, 1.0, 2.0, 100.0]:
        yield f"scale_{scale}", case("scales", rng, scale=scale)
        yield f"scale_{scale}_causal", case("scales", rng, 5, 5, scale=scale, causal=True)

    for scale in [1e2, 1e4, 1e7, -1e7]:
        yield f"logits_{scale:.0e}", case("extreme logits", rng, scale=scale)
    for shift in [-65536.0, 65504.0, -1e4]:
        yield f"shift_{shift:.0f}", case("extreme logits", rng, mask=np.full((4, 5), shift))
    ramp = np.arange(33.0) * 8
    spike = np.where(np.arange(33) == 31, 300.0, 0.0)
    for name, row in [("rising", ramp), ("falling", ramp[::-1]), ("late_spike", spike), ("early_spike", spike[::-1])]:
        yield name, case("extreme logits", rng, 6, 33, 5, 3, (), mask=row.copy())
    for fill in [-1e4, -1e9, FLOAT32_MIN]:
        name = "lowest" if fill == FLOAT32_MIN else f"{fill:.0e}"
        yield f"fill_{name}", case("extreme logits", rng, mask=np.where(causal(4, 5), 0.0, fill))
    flat = case("extreme logits", rng)
    yield "ties", flat | {"key": np.repeat(flat["key"][:, :1], 5, axis=1)}
    yield "zero_query", flat | {"query": flat["query"] * 0}
    yield "tiny_logits", flat | {"query": np.sign(flat["query"]) / 256}
    outlier = flat["key"] / 4
    outlier[:, 2] = np.clip(outlier[:, 2] * 128, -448, 448)
    yield "outlier_key", flat | {"key": np.round(outlier * 256) / 256}

    dead = causal(4, 5, -2)
    for kind, make in [("boolean", lambda m: m), ("additive", lambda m: np.where(m, 0.0, -np.inf))]:
        yield f"{kind}_first_two", case("empty rows", rng, mask=make(dead))
        yield f"{kind}_all", case("empty rows", rng, mask=make(np.zeros((4, 5), bool)))
        one_head = np.ones((3, 4, 5), bool)
        one_head[1, 2] = False
        yield f"{kind}_one_row_of_one_head", case("empty rows", rng, leading=(2, 3), mask=make(one_head))
        sample = np.array([True, False])[:, None, None]
        yield f"{kind}_whole_sample", case("empty rows", rng, mask=make(sample))
        long = np.tri(33, 65, -9, dtype=bool)
        yield f"{kind}_long", case("empty rows", rng, 33, 65, 5, 3, (), mask=make(long))
        shared = case("empty rows", rng, leading=(2, 6), heads=2, mask=make(dead))
        yield f"{kind}_grouped_heads", shared
    keep = np.ones((5, 5), bool)
    keep[:, :2] = False
    yield "left_padding_and_causal", case("empty rows", rng, 5, 5, mask=keep, causal=True)

    for q, k, b in [(0, 5, 2), (4, 0, 2), (0, 0, 2), (4, 5, 0)]:
        yield f"q{q}_k{k}_b{b}", case("empty sequences", rng, q, k, leading=(b, 3))
        yield f"q{q}_k{k}_b{b}_causal", case("empty sequences", rng, q, k, leading=(b, 3), causal=True)
        keep = np.ones((q, k), bool)
        yield f"q{q}_k{k}_b{b}_boolean", case("empty sequences", rng, q, k, leading=(b, 3), mask=keep)
        bias = np.zeros((q, k))
        yield f"q{q}_k{k}_b{b}_additive", case("empty sequences", rng, q, k, leading=(b, 3), mask=bias)
    yield "no_keys_grouped_heads", case("empty sequences", rng, 4, 0, leading=(2, 6), heads=2)

    position = np.arange(9)
    distance = position[:, None] - position
    lengths = np.array([9, 1])
    alibi = np.where(distance >= 0, -np.array([0.5, 0.25, 0.125])[:, None, None] * distance, -np.inf)
    patterns = {
        "window_3": (distance >= 0) & (distance < 3),
        "window_symmetric": abs(distance) <= 2,
        "prefix_4": (distance >= 0) | (position < 4),
        "segments": np.repeat([0, 1, 2], [4, 2, 3])[:, None] == np.repeat([0, 1, 2], [4, 2, 3]),
        "padding_right": position < lengths[:, None, None, None],
        "padding_left": position >= 9 - lengths[:, None, None, None],
        "alibi": alibi,
    }
    for name, mask in patterns.items():
        yield name, case("patterns", rng, 9, 9, leading=(2, 3), mask=mask)
    long = np.arange(130)[:, None] - np.arange(130)
    yield "window_17_long", case("patterns", rng, 130, 130, 5, 3, (), mask=(long >= 0) & (long < 17))


def jax_cases():
    """Within what JAX takes: layout (b, q, h, d), v = d, no empty rows (it returns the mean of the values there)."""
    rng = np.random.default_rng(18)
    for q, k in [(1, 1), (3, 5), (5, 3), (1, 9), (17, 33)]:
        yield f"plain_q{q}_k{k}", case("plain", rng, q, k, 6, 6, (2, 3))
        yield f"causal_q{q}_k{k}", case("causal", rng, q, k, 6, 6, (2, 3), causal=True)
    for shape in broadcast_shapes((2, 3, 4, 5)):
        if len(shape) == 4:
            keep = rng.random(shape) < 0.6
            keep[..., 0] = True
            yield "boolean_" + "x".join(map(str, shape)), case("boolean masks", rng, 4, 5, 6, 6, (2, 3), mask=keep)
            bias = numbers(rng, *shape)
            yield "additive_" + "x".join(map(str, shape)), case("additive masks", rng, 4, 5, 6, 6, (2, 3), mask=bias)
    for h, heads in [(4, 1), (6, 2), (6, 3)]:
        yield f"{h}_over_{heads}", case("grouped heads", rng, 4, 5, 6, 6, (2, h), heads=heads)
        yield f"{h}_over_{heads}_causal", case("grouped heads", rng, 4, 5, 6, 6, (2, h), heads=heads, causal=True)
    for scale in [0.0, -1.0, 0.3, 100.0]:
        yield f"scale_{scale}", case("scales", rng, 4, 5, 6, 6, (2, 3), scale=scale)
    distance = np.arange(9)[:, None] - np.arange(9)
    for left, right in [(2, 0), (0, 2), (3, 1)]:
        mask = (distance <= left) & (-distance <= right)
        yield f"window_{left}_{right}", case("patterns", rng, 9, 9, 6, 6, (2, 3), mask=mask, window=(left, right))
    mask = np.arange(5) < np.array([5, 2])[:, None, None, None]
    yield "key_lengths", case("patterns", rng, 4, 5, 6, 6, (2, 3), mask=mask, lengths=[5, 2])
