"""Ask PyTorch and JAX for attention and its gradients."""

import math
import warnings

import numpy as np
from case_file import File
from exact_attention import exact_attention, largest_errors
from recorded_inputs import attention_cases, causal, jax_cases

# --- PyTorch --------------------------------------------------------------------------------------


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


# --- JAX ------------------------------------------------------------------------------------------


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
