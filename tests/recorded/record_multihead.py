"""Ask `torch.nn.MultiheadAttention` for values, gradients and one step of training."""

import itertools

import numpy as np
from case_file import File
from recorded_inputs import causal, numbers


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
