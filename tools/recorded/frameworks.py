"""Record what the functions of PyTorch and JAX answer, for the page *Translate to PyTorch and JAX*. Run by hand where
torch and jax are installed (attnlib is not needed):

    python -m tools.recorded.frameworks

Each call below is a text that is run here and shown on the page as it is. It writes chapters/data/frameworks.npz;
`about` in the file says what the arrays are.
"""

import json
import warnings
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.attention.bias import causal_lower_right
from torch.nn.attention.flex_attention import create_block_mask, flex_attention

jax.config.update("jax_enable_x64", True)  # else float64 would silently be float32
warnings.filterwarnings("ignore", message="flex_attention called without torch.compile")
TARGET = Path(__file__).resolve().parents[2] / "chapters" / "data" / "frameworks.npz"
B, H, G = 2, 4, 2  # texts, heads, key heads where heads share them
Q, K, D, V = 3, 5, 6, 2  # queries, keys, features, features of a narrow value
ABOUT = """Made by tools/recorded/frameworks.py: inputs and answers, all in the order (batch, head, position, feature).
`record`, in JSON: for each function the version of its library, the order of its axes, and for each case the call,
as text, with the error if there was one;
FUNCTION/CASE/out: the answer; FUNCTION/CASE/d_query: the gradient of the sum of out * d_out, for empty rows."""

SDPA = "F.scaled_dot_product_attention(query, key, value{})"
FLEX = "flex_attention(query, key, value{})"
JAX = "jax.nn.dot_product_attention(query, key, value{})"
MHA = "layer(query, key, value{}, need_weights=False)[0]"
MASK_MOD = ", block_mask=create_block_mask(lambda b, h, q, k: {}, b, h, n_q, n_k, device='cpu')"
# What is asked for, and what follows the three arrays in each call. A dash: the function has no such option.
CALLS = {
    "plain": {SDPA: "", FLEX: "", JAX: "", MHA: ""},
    "boolean": {
        SDPA: ", attn_mask=mask",
        FLEX: MASK_MOD.format("mask[q, k]"),
        JAX: ", mask=mask[None, None]",
        MHA: ", attn_mask=~mask",
    },
    "bias": {
        SDPA: ", attn_mask=bias",
        FLEX: ", score_mod=lambda score, b, h, q, k: score + bias[q, k]",
        JAX: ", bias=bias[None, None]",
        MHA: ", attn_mask=bias",
    },
    "causal": {
        SDPA: ", is_causal=True",
        FLEX: MASK_MOD.format("k <= q"),
        JAX: ", is_causal=True",
        MHA: ", attn_mask=~causal, is_causal=True",
    },
    "causal alone": {SDPA: "-", FLEX: "-", JAX: "-", MHA: ", is_causal=True"},
    "at the end": {
        SDPA: ", attn_mask=causal_lower_right(n_q, n_k)",
        FLEX: MASK_MOD.format("k <= q + n_k - n_q"),
        JAX: ", mask=jnp.tril(jnp.ones((n_q, n_k), bool), n_k - n_q)[None, None]",
        MHA: ", attn_mask=~torch.ones(n_q, n_k, dtype=bool).tril(n_k - n_q)",
    },
    "window": {
        SDPA: ", attn_mask=window_mask",
        FLEX: MASK_MOD.format("(k <= q) & (k > q - 2)"),
        JAX: ", is_causal=True, local_window_size=(1, 0)",
        MHA: ", attn_mask=~window_mask",
    },
    "padding": {
        SDPA: ", attn_mask=padding[:, None, None]",
        FLEX: MASK_MOD.format("k < lengths[b]"),
        JAX: ", key_value_seq_lengths=lengths",
        MHA: ", key_padding_mask=~padding",
    },
    "scale": {SDPA: ", scale=0.25", FLEX: ", scale=0.25", JAX: ", scale=0.25", MHA: "-"},
    "scale 0": {SDPA: ", scale=0.0", FLEX: ", scale=0.0", JAX: ", scale=0.0", MHA: "-"},
    "grouped": {SDPA: ", enable_gqa=True", FLEX: ", enable_gqa=True", JAX: "", MHA: "-"},
    "narrow value": {SDPA: "", FLEX: "", JAX: "", MHA: "-"},
    "empty row": {
        SDPA: ", attn_mask=empty",
        FLEX: MASK_MOD.format("empty[q, k]"),
        JAX: ", mask=empty[None, None]",
        MHA: ", attn_mask=~empty",
    },
    "empty row, −∞": {
        SDPA: ", attn_mask=infinite",
        FLEX: ", score_mod=lambda score, b, h, q, k: score + infinite[q, k]",
        JAX: ", bias=infinite[None, None]",
        MHA: ", attn_mask=infinite",
    },
    "empty row, weights": {SDPA: "-", FLEX: "-", JAX: "-", MHA: ", attn_mask=~empty"},
    "float64": {SDPA: "", FLEX: "", JAX: "", MHA: ""},
    "float16": {SDPA: "", FLEX: "", JAX: "", MHA: ""},
}
AXES = {SDPA: "b, h, n, d", FLEX: "b, h, n, d", JAX: "b, n, h, d", MHA: "b, n, h·d"}
NAMES = {
    "scaled_dot_product_attention": SDPA,
    "flex_attention": FLEX,
    "nn.MultiheadAttention": MHA,
    "jax.nn.dot_product_attention": JAX,
}


def inputs():
    """Numbers that float16, float32 and float64 share, so that a difference is the function's."""
    rng = np.random.default_rng(16)

    def draw(*shape):
        return (np.round(64 * rng.standard_normal(shape)) / 64).astype(np.float32)

    arrays = {"query": draw(B, H, Q, D), "key": draw(B, H, K, D), "value": draw(B, H, K, D), "d_out": draw(B, H, Q, D)}
    arrays |= {"grouped_key": arrays["key"][:, :G], "grouped_value": arrays["value"][:, :G]}
    arrays["narrow_value"] = arrays["value"][..., :V]
    mask = np.array([[1, 0, 1, 0, 0], [0, 1, 0, 0, 1], [1, 1, 0, 1, 1]], bool)
    causal = np.tril(np.ones((Q, K), bool))
    arrays |= {"mask": mask, "empty": mask & np.array([[True], [False], [True]]), "causal": causal}
    arrays["window_mask"] = causal & ~np.tril(np.ones((Q, K), bool), -2)
    arrays |= {"bias": draw(Q, K), "infinite": np.where(arrays["empty"], np.float32(0), np.float32(-np.inf))}
    arrays |= {"lengths": np.array([K, 3], np.int32), "padding": np.arange(K) < np.array([[K], [3]])}
    # One query and key whose product, 200000, is beyond float16; scaled it is not.
    arrays |= {"large": np.where(np.arange(D) < 2, 1.0, 0.0) * np.float32(316), "small": np.float32(1 / 64)}
    return arrays


def of_case(arrays, case):
    """The three arrays of a case, by the names in the calls."""
    given = {name: arrays[name] for name in ("query", "key", "value")}
    if case == "grouped":
        given |= {"key": arrays["grouped_key"], "value": arrays["grouped_value"]}
    if case == "narrow value":
        given["value"] = arrays["narrow_value"]
    if case == "float64":
        given = {name: array.astype(np.float64) for name, array in given.items()}
    if case == "float16":
        given = {name: array.astype(np.float16) for name, array in given.items()}
        given["query"] = np.broadcast_to(arrays["large"], given["query"].shape).astype(np.float16)
        given["key"] = given["query"].repeat(2, axis=2)[:, :, :K]
    return given


def in_layout(array, of):
    """From (batch, head, position, feature) to what the function takes, and the same way back for JAX."""
    return array.swapaxes(1, 2) if of is JAX else merged(array) if of is MHA else array


def merged(array):
    return array.swapaxes(1, 2).reshape(len(array), array.shape[2], -1)


def split(array):
    return array.reshape(*array.shape[:2], H, -1).swapaxes(1, 2)


def back(array, of):
    return split(array) if of is MHA else in_layout(array, of)


def identity_layer(dtype):
    """nn.MultiheadAttention whose projections change nothing, so that what is left is its attention."""
    layer = nn.MultiheadAttention(H * D, H, bias=False, batch_first=True, dtype=dtype)
    with torch.no_grad():
        layer.in_proj_weight.copy_(torch.eye(H * D).repeat(3, 1))
        layer.out_proj.weight.copy_(torch.eye(H * D))
    return layer


def ask(of, case, text, arrays):
    """Run one call. Returns what was recorded of it."""
    given = {name: in_layout(array, of) for name, array in of_case(arrays, case).items()}
    masks = ("mask", "empty", "causal", "window_mask", "bias", "infinite", "lengths", "padding")
    rest = {name: arrays[name] for name in masks}
    make = jnp.asarray if of is JAX else lambda array: torch.tensor(np.ascontiguousarray(array))
    names = {name: make(array) for name, array in (rest | given).items()}
    names |= {"F": F, "jax": jax, "jnp": jnp, "torch": torch, "flex_attention": flex_attention}
    names |= {"create_block_mask": create_block_mask, "causal_lower_right": causal_lower_right}
    names |= {"b": B, "h": H, "n_q": Q, "n_k": K}
    if of is MHA:
        names["layer"] = identity_layer(names["query"].dtype).requires_grad_(False)
    try:
        out = eval(text, names)
    except (ValueError, TypeError, RuntimeError) as error:
        return {"error": type(error).__name__}
    answer = {"out": back(np.asarray(out), of)}
    slope = gradient(of, text, names, in_layout(arrays["d_out"], of)) if case.startswith("empty") else None
    return answer if slope is None else answer | {"d_query": back(np.asarray(slope), of)}


def gradient(of, text, names, d_out):
    """The gradient of the query, or None where the function has none on this machine."""
    if of is JAX:
        return jax.grad(lambda query: (eval(text, names | {"query": query}) * d_out).sum())(names["query"])
    query = names["query"].clone().requires_grad_()
    try:
        eval(text, names | {"query": query}).backward(torch.tensor(d_out))
    except NotImplementedError:  # FlexAttention needs a GPU for this
        return None
    return query.grad


def main():
    arrays = inputs()
    known, record = {f"input/{name}": np.asarray(array) for name, array in arrays.items()}, {}
    for name, of in NAMES.items():
        version = f"JAX {jax.__version__}" if of is JAX else f"PyTorch {torch.__version__.split('+')[0]}"
        record[name] = {"version": version, "axes": AXES[of], "calls": (calls := {})}
        for case, endings in CALLS.items():
            if endings[of] == "-":
                continue
            form = of.replace(", need_weights=False", "") if case == "empty row, weights" else of
            calls[case] = {"call": form.format(endings[of])}
            answer = ask(of, case, calls[case]["call"], arrays)
            if "error" in answer:
                calls[case] |= answer
            else:
                known |= {f"{name}/{case}/{what}": array for what, array in answer.items()}
    about = {"about": np.array(ABOUT), "record": np.array(json.dumps(record, ensure_ascii=False))}
    np.savez_compressed(TARGET, **about, **known)
    print(json.dumps(record, ensure_ascii=False, indent=1))
    for name, array in known.items():
        if array.ndim == 4:
            print(name, array.dtype, array.shape, np.array2string(array[0, 0, 1], precision=3))


if __name__ == "__main__":
    main()
