"""Record what PyTorch and JAX answer, so that the tests can compare with them without installing either.

Run by hand, where torch and jax are installed (attnlib is not needed):

    python tests/recorded/make_cases.py

It writes three files beside itself. `tests/recorded_cases.py` reads them with NumPy alone.

========================  ================================================================================
``attention_torch.npz``   `torch.nn.functional.scaled_dot_product_attention` in float64, values and gradients
``attention_jax.npz``     `jax.nn.dot_product_attention`, which is float32 inside, values and gradients
``multihead_torch.npz``   `torch.nn.MultiheadAttention` in float64, values, gradients and one SGD step
========================  ================================================================================

Every file holds one text, ``meta``, in JSON: ``{"versions": {...}, "cases": {case: {option: value}}}``. An array
is stored as ``case/name``. All inputs are multiples of 1/256 of at most 7 (the same numbers in float16, float32
and float64) and stored as float16, unless a case is about larger ones.

Attention: ``query, key, value, d_out`` and, if the case has one, ``mask`` (True = may look at, or additive) go in;
``out, logsumexp, d_query, d_key, d_value, d_mask`` (of an additive mask) and, for small cases, ``weights`` come out.
Options: ``group``, ``causal``, ``scale`` (null = 1/sqrt(d)), ``offset`` (``mask`` is the causal mask with this
offset), and the library's own rounding error, the largest absolute one of each result:
``float64_error`` against an 80-bit evaluation, ``float32_error`` the same for its float32 answer.

Multi-head: ``x`` (b, q, m) and, if the case has it, ``context`` (b, k, m), or ``key`` (b, k, kdim) and ``value``
(b, k, vdim) where the two differ; ``mask`` (True = may look at, or additive) of shape (b, h or 1, q or 1, k), which is
all of the torch masks in one: ``attn_mask_torch`` and ``key_padding_mask_torch`` are what torch was given
(True = may *not* look at). Parameters ``param/NAME`` by torch's state-dict names. Out come ``out`` (b, q, m),
``weights`` (b, h, q, k), ``d_x, d_context, d_key, d_value, d_param/NAME, d_mask`` (if additive: of the shape of
``mask``), all from the upstream gradient ``d_out``, and ``step/NAME``: the parameters after one step of SGD with
learning rate ``lr`` on the loss ``(out * d_out).sum()``. Options: ``group``, ``heads``, ``causal``, ``lr``.
"""

import itertools
import json
import math
import pathlib
import warnings

import numpy as np

HERE = pathlib.Path(__file__).parent
FLOAT32_MIN = float(np.finfo(np.float32).min)


def numbers(rng, *shape, largest=7.0):
    """Multiples of 1/256 from a normal distribution, at most `largest` in size."""
    return np.clip(np.round(rng.standard_normal(shape) * 256) / 256, -largest, largest)


# ---------------------------------------------------------------- the cases of attention


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


# ---------------------------------------------------------------- an 80-bit evaluation, to measure rounding errors


def exact_attention(c):
    """The textbook formulas in extended precision, as (out, logsumexp, d_query, d_key, d_value) by name."""
    real = np.longdouble
    query, key, value, d_out = (c[name].astype(real) for name in ("query", "key", "value", "d_out"))
    h = query.shape[-3] if query.ndim > 2 else 1
    group = h // key.shape[-3] if query.ndim > 2 and key.shape[-3] else 1
    scale = 1 / np.sqrt(real(query.shape[-1])) if c["scale"] is None else real(c["scale"])
    repeat = (lambda x: np.repeat(x, group, axis=-3)) if group > 1 else (lambda x: x)
    keys, values = repeat(key), repeat(value)
    scores = scale * np.einsum("...qd,...kd->...qk", query, keys)
    mask = c["mask"]
    if mask is not None and mask.dtype == bool:
        scores = np.where(mask, scores, -np.inf)
    elif mask is not None:
        scores = scores + mask.astype(real)
    if c["causal"]:
        scores = np.where(causal(*scores.shape[-2:]), scores, -np.inf)
    largest = scores.max(axis=-1, keepdims=True, initial=-np.inf)
    largest = np.where(np.isneginf(largest), 0, largest)
    exponentials = np.exp(scores - largest)
    total = exponentials.sum(axis=-1, keepdims=True)
    weights = exponentials / np.where(total == 0, 1, total)
    with np.errstate(divide="ignore"):
        logsumexp = (largest + np.log(total))[..., 0]
    d_weights = np.einsum("...qv,...kv->...qk", d_out, values)
    d_scores = weights * (d_weights - (weights * d_weights).sum(axis=-1, keepdims=True))
    d_keys = scale * np.einsum("...qk,...qd->...kd", d_scores, query)
    d_values = np.einsum("...qk,...qv->...kv", weights, d_out)

    def collect(x):
        return x.reshape(*x.shape[:-3], x.shape[-3] // group, group, *x.shape[-2:]).sum(axis=-3) if group > 1 else x

    exact = {
        "out": np.einsum("...qk,...kv->...qv", weights, values),
        "logsumexp": logsumexp,
        "weights": weights,
        "d_query": scale * np.einsum("...qk,...kd->...qd", d_scores, keys),
        "d_key": collect(d_keys),
        "d_value": collect(d_values),
    }
    if mask is not None and mask.dtype != bool:
        added = d_scores.ndim - mask.ndim
        d_mask = d_scores.sum(axis=tuple(range(added)))
        axes = tuple(axis for axis, size in enumerate(mask.shape) if size == 1)
        exact["d_mask"] = d_mask.sum(axis=axes, keepdims=True)
    return exact


def largest_errors(answer, exact):
    """The largest absolute difference of each array; infinities must agree."""
    errors = {}
    for name, array in answer.items():
        same = array == exact[name]  # also where both are -inf
        difference = np.where(same, 0, array) - np.where(same, 0, exact[name])
        errors[name] = float(np.abs(difference).max(initial=0))
    return errors


# ---------------------------------------------------------------- PyTorch


def torch_attention(c, dtype, math_only):
    import torch
    from torch.nn.attention import SDPBackend, bias, sdpa_kernel

    given = {name: torch.tensor(c[name], dtype=dtype, requires_grad=True) for name in ("query", "key", "value")}
    mask = c["mask"]
    attn_mask, is_causal = None, c["causal"]
    if mask is not None:
        attn_mask = torch.tensor(mask) if mask.dtype == bool else torch.tensor(mask, dtype=dtype, requires_grad=True)
    q, k = c["query"].shape[-2], c["key"].shape[-2]
    used = attn_mask
    if is_causal and attn_mask is not None:  # torch's math path refuses both at once
        below = torch.tensor(causal(q, k))
        used = attn_mask & below if mask.dtype == bool else torch.where(below, attn_mask, -torch.inf)
        is_causal = False
    if c.get("lower_right"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # for q > k: "will produce NaNs" (it gives zeros)
            used = bias.causal_lower_right(q, k)
    elif used is not None and used.ndim < 2:  # torch asks for at least (q, k)
        used = used.expand(q, k)
    query, key, value = given["query"], given["key"], given["value"]
    grouped = query.ndim > 2 and query.shape[-3] != key.shape[-3]
    with sdpa_kernel([SDPBackend.MATH] if math_only else [SDPBackend.FLASH_ATTENTION, SDPBackend.MATH]):
        out = torch.nn.functional.scaled_dot_product_attention(
            query, key, value, attn_mask=used, is_causal=is_causal, scale=c["scale"], enable_gqa=grouped
        )
    (out * torch.tensor(c["d_out"], dtype=dtype)).sum().backward()

    with torch.no_grad():  # the weights and their logsumexp, which the function above keeps to itself
        scale = 1 / math.sqrt(query.shape[-1]) if c["scale"] is None else c["scale"]
        shared = key.repeat_interleave(query.shape[-3] // key.shape[-3], dim=-3) if grouped else key
        scores = scale * query @ shared.mT
        if mask is not None:
            scores = torch.where(attn_mask, scores, -torch.inf) if mask.dtype == bool else scores + attn_mask
        if c["causal"]:
            scores = torch.where(torch.tensor(causal(q, k)), scores, -torch.inf)
        answer = {"out": out, "logsumexp": torch.logsumexp(scores, dim=-1)}
        answer["weights"] = torch.nan_to_num(torch.softmax(scores, dim=-1), nan=0.0)
    if attn_mask is not None and mask.dtype != bool:
        given["mask"] = attn_mask
    for name, tensor in given.items():  # an empty case returns early, and the mask has no gradient then
        answer[f"d_{name}"] = torch.zeros_like(tensor) if tensor.grad is None else tensor.grad
    return {name: tensor.detach().numpy() for name, tensor in answer.items()}


def record_torch_attention():
    import torch

    file = File(torch=torch.__version__, numpy=np.__version__)
    for name, c in attention_cases():
        exact = exact_attention(c)
        answer = torch_attention(c, torch.float64, math_only=True)
        float64_error = largest_errors(answer, exact)
        float32_error = largest_errors(torch_attention(c, torch.float32, math_only=False), exact)
        for key, error in float64_error.items():  # is the recorded truth true?
            size = max(1, np.abs(np.nan_to_num(exact["logsumexp"], neginf=0)).max(initial=0)) * abs(c["scale"] or 1)
            largest = max(1, np.abs(np.nan_to_num(answer[key], neginf=0)).max(initial=0))
            assert error <= 1e-13 * size * largest, (name, key, error)
        options = {option: c[option] for option in ("group", "causal", "scale")}
        if "offset" in c:
            options["offset"] = c["offset"]
        options |= {"float64_error": float64_error, "float32_error": float32_error}
        if answer["weights"].size > 400:
            del answer["weights"]
        inputs = {key: c[key] for key in ("query", "key", "value", "d_out", "mask") if c[key] is not None}
        file.add(f"{c['group']}: {name}", options, inputs, answer)
    file.save("attention_torch.npz")


# ---------------------------------------------------------------- JAX


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


def jax_attention(c):
    import jax
    import jax.numpy as jnp

    def swap(x):  # (b, h, q, d) <-> (b, q, h, d)
        return jnp.swapaxes(x, 1, 2)

    given = {name: jnp.asarray(c[name], jnp.float32) for name in ("query", "key", "value")}
    options = {"is_causal": c["causal"], "scale": c["scale"]}
    mask = c["mask"]
    if "window" in c:
        options["local_window_size"] = c["window"]
    elif "lengths" in c:
        options["key_value_seq_lengths"] = jnp.asarray(c["lengths"], jnp.int32)
    elif mask is not None and mask.dtype == bool:
        options["mask"] = jnp.asarray(mask)
    elif mask is not None:
        given["mask"] = jnp.asarray(mask, jnp.float32)

    def forward(given):
        query, key, value = (swap(given[name]) for name in ("query", "key", "value"))
        return swap(jax.nn.dot_product_attention(query, key, value, bias=given.get("mask"), **options))

    out, backward = jax.vjp(forward, given)
    (gradients,) = backward(jnp.asarray(c["d_out"], jnp.float32))
    answer = {"out": out} | {f"d_{name}": gradient for name, gradient in gradients.items()}
    return {name: np.asarray(array) for name, array in answer.items()}


def record_jax_attention():
    import jax

    file = File(jax=jax.__version__, numpy=np.__version__)
    for name, c in jax_cases():
        answer = jax_attention(c)
        error = largest_errors(answer, exact_attention(c))
        assert max(error.values()) < 1e-3, (name, error)
        options = {option: c[option] for option in ("group", "causal", "scale")} | {"float32_error": error}
        inputs = {key: c[key] for key in ("query", "key", "value", "d_out", "mask") if c[key] is not None}
        file.add(f"{c['group']}: {name}", options, inputs, answer)
    file.save("attention_jax.npz")


# ---------------------------------------------------------------- torch.nn.MultiheadAttention


def multihead_cases():
    """(name, group, options): sizes, which masks, which biases."""
    self_attention = {"b": 2, "q": 5, "m": 12, "heads": 3}
    cross = self_attention | {"q": 4, "k": 6}
    for bias in [True, False]:
        suffix = "" if bias else "_no_bias"
        yield f"self{suffix}", "self", self_attention | {"bias": bias}
        yield f"self_causal{suffix}", "self", self_attention | {"bias": bias, "causal": True}
        yield f"cross{suffix}", "cross", cross | {"bias": bias}
        yield f"cross_causal{suffix}", "cross", cross | {"bias": bias, "causal": True}
        yield f"kdim_vdim{suffix}", "other widths", cross | {"bias": bias, "kdim": 7, "vdim": 10}
        yield f"kdim{suffix}", "other widths", cross | {"bias": bias, "kdim": 7}
        yield f"vdim{suffix}", "other widths", cross | {"bias": bias, "vdim": 10}
        yield f"context_width{suffix}", "other widths", cross | {"bias": bias, "kdim": 7, "vdim": 7, "context": True}
    yield "one_head", "self", self_attention | {"heads": 1}
    yield "one_feature_per_head", "self", self_attention | {"heads": 12}
    yield "one_token", "self", self_attention | {"q": 1}
    yield "one_query", "cross", cross | {"q": 1}
    yield "long", "cross", cross | {"b": 1, "q": 33, "k": 17}
    for kind, where in itertools.product(["boolean", "additive"], ["self", "cross"]):
        sizes = self_attention if where == "self" else cross
        for mask in ["2d", "3d", "padding", "2d+padding", "3d+padding"]:
            yield f"{where}_{kind}_{mask}", f"{kind} masks", sizes | {"mask": mask, "kind": kind}
    yield "kdim_vdim_boolean_3d+padding", "other widths", cross | {
        "kdim": 7, "vdim": 10, "mask": "3d+padding", "kind": "boolean"
    }


def record_multihead():
    import torch

    rng = np.random.default_rng(19)
    file = File(torch=torch.__version__, numpy=np.__version__)
    for name, group, o in multihead_cases():
        b, q, m, heads = o["b"], o["q"], o["m"], o["heads"]
        k, bias, lr = o.get("k", q), o.get("bias", True), 0.25
        kdim, vdim = o.get("kdim"), o.get("vdim")
        module = torch.nn.MultiheadAttention(m, heads, bias=bias, kdim=kdim, vdim=vdim, batch_first=True).double()
        parameters = {key: numbers(rng, *p.shape) / 4 for key, p in module.named_parameters()}
        parameters = {key: np.round(p * 256) / 256 for key, p in parameters.items()}
        module.load_state_dict({key: torch.tensor(p) for key, p in parameters.items()})

        inputs = {"x": numbers(rng, b, q, m)}
        if (kdim or vdim) and not o.get("context"):
            inputs |= {"key": numbers(rng, b, k, kdim or m), "value": numbers(rng, b, k, vdim or m)}
        elif "k" in o:
            inputs["context"] = numbers(rng, b, k, kdim or m)
        tensors = {key: torch.tensor(array, requires_grad=True) for key, array in inputs.items()}
        x = tensors["x"]
        key, value = (tensors.get(each, tensors.get("context", x)) for each in ("key", "value"))

        keep, masks = multihead_masks(rng, o, b, heads, q, k)
        given = {each: torch.tensor(array, requires_grad=array.dtype != bool) for each, array in masks.items()}
        if o.get("causal"):  # is_causal alone is only a hint: torch wants the mask with it
            given["attn_mask"] = torch.tensor(~causal(q, k))
        out, weights = module(x, key, value, average_attn_weights=False, **given)
        d_out = numbers(rng, b, q, m)
        (out * torch.tensor(d_out)).sum().backward()

        results = {"out": out, "weights": weights}
        results |= {f"d_{each}": tensor.grad for each, tensor in tensors.items()}
        results |= {f"d_param/{each}": p.grad.clone() for each, p in module.named_parameters()}
        torch.optim.SGD(module.parameters(), lr=lr).step()
        results |= {f"step/{each}": p for each, p in module.named_parameters()}
        results = {each: tensor.detach().numpy() for each, tensor in results.items()}
        if keep is not None:
            inputs["mask"] = keep
            inputs |= {f"{each}_torch": array for each, array in masks.items()}
            if keep.dtype != bool and set(masks) == {"attn_mask"}:
                results["d_mask"] = given["attn_mask"].grad.numpy().reshape(keep.shape)
        inputs |= {f"param/{each}": p for each, p in parameters.items()} | {"d_out": d_out}
        assert all(np.isfinite(array).all() for array in results.values()), name
        options = {"group": group, "heads": heads, "causal": bool(o.get("causal")), "lr": lr}
        file.add(f"{group}: {name}", options, inputs, results)
    file.save("multihead_torch.npz")


def multihead_masks(rng, o, b, heads, q, k):
    """The masks as torch takes them, and the same as one mask (b or 1, h or 1, q or 1, k) where True = may look at."""
    if "mask" not in o:
        return None, {}
    additive = o["kind"] == "additive"
    masks, keep = {}, None
    if "2d" in o["mask"] or "3d" in o["mask"]:
        rows = (1, 1) if "2d" in o["mask"] else (b, heads)
        if additive:
            keep = np.where(rng.random((*rows, q, k)) < 0.8, numbers(rng, *rows, q, k), -np.inf)
        else:
            keep = rng.random((*rows, q, k)) < 0.7
        keep[..., 0] = 0 if additive else True  # torch answers an empty row with NaN
        shape = (q, k) if "2d" in o["mask"] else (b * heads, q, k)
        masks["attn_mask"] = (keep if additive else ~keep).reshape(shape)
    if "padding" in o["mask"]:
        real = (np.arange(k) < np.array([k, k - 2])[:, np.newaxis])
        padding = np.where(real, 0.0, -np.inf) if additive else real
        masks["key_padding_mask"] = padding if additive else ~real
        padding = padding[:, np.newaxis, np.newaxis, :]
        keep = padding if keep is None else keep + padding if additive else keep & padding
    return keep, masks


# ---------------------------------------------------------------- files


class File:
    """Collects cases and writes them, inputs as small as they are exact."""

    def __init__(self, **versions):
        self.meta = {"versions": versions, "cases": {}}
        self.arrays = {}

    def add(self, name, options, inputs, results):
        assert name not in self.meta["cases"], name
        self.meta["cases"][name] = options
        for key, array in inputs.items():
            for dtype in (np.float16, np.float32, np.float64):
                with np.errstate(over="ignore"):
                    small = array if array.dtype == bool else array.astype(dtype)
                if np.array_equal(small, array):
                    break
            self.arrays[f"{name}/{key}"] = small
        self.arrays |= {f"{name}/{key}": array for key, array in results.items()}

    def save(self, name):
        np.savez_compressed(HERE / name, meta=np.array(json.dumps(self.meta)), **self.arrays)
        groups = [options["group"] for options in self.meta["cases"].values()]
        print(f"{name}: {(HERE / name).stat().st_size / 1e6:.2f} MB, {len(groups)} cases")
        for group in dict.fromkeys(groups):
            print(f"  {groups.count(group):4d} {group}")


if __name__ == "__main__":
    record_torch_attention()
    record_jax_attention()
    record_multihead()
