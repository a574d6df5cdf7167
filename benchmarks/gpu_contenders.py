"""Who is measured on a GPU: our kernel, PyTorch's fused call, and plain attention in PyTorch, which holds the scores."""

import torch
from flash_triton import flash_forward
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention


def make_inputs(row, device):
    """query, key, value of shape (texts, heads, n, d), all N(0, 1)."""
    generator = torch.Generator().manual_seed(0)
    shape, dtype = (row["texts"], row["heads"], row["n"], row["d"]), getattr(torch, row["dtype"])
    return [torch.randn(shape, generator=generator).to(device, dtype) for _ in range(3)]


def works(row, device):
    """For each contender a function without arguments that does the work of a row once and returns the output."""
    query, key, value = make_inputs(row, device)
    causal = row["passes"] == "causal"
    hidden = torch.ones(row["n"], row["n"], dtype=torch.bool, device=device).triu(1) if causal else None

    def ours():
        return flash_forward(query, key, value, causal=causal)[0]

    def fused():
        with sdpa_kernel(SDPBackend.FLASH_ATTENTION):  # an error, if it cannot be used
            return scaled_dot_product_attention(query, key, value, is_causal=causal)

    def plain():
        scores = row["d"] ** -0.5 * query @ key.mT
        if causal:
            scores.masked_fill_(hidden, float("-inf"))
        return scores.softmax(dim=-1) @ value

    return {"Triton (ours)": ours, "PyTorch fused": fused, "PyTorch plain": plain}


def that_agree(all_works):
    """Those works that run here, after their first call; an error if one that runs gives another result than ours."""
    names, running = iter(all_works), {}
    reference = next(names)
    wanted = all_works[reference]()
    for name in names:
        try:
            out = all_works[name]()
        except RuntimeError as error:  # no such kernel for this GPU and dtype, or not enough memory
            print(f"left out: {name}: {str(error).splitlines()[0]}", flush=True)
            continue
        torch.testing.assert_close(out, wanted, atol=1e-2, rtol=2e-2)
        running[name] = all_works[name]
    return {reference: all_works[reference], **running}
