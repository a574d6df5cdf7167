"""Record what a logsumexp saved in float32 costs PyTorch's fused kernel, for chapter 7. Run by hand where torch is:

    python -m tools.recorded.saved_logsumexp

It writes chapters/data/saved_logsumexp.npz; `about` in the file says what the arrays are. attnlib is not needed.
"""

from pathlib import Path

import numpy as np
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

TARGET = Path(__file__).resolve().parents[2] / "chapters" / "data" / "saved_logsumexp.npz"
ADDED = np.array([0.0, -1e4, -1e9])
ABOUT = """Made by tools/recorded/saved_logsumexp.py on a CPU: one query, four keys with equal scores, in float32.
The mask adds added[i] to every score. d_out is 1 in one feature, so that d_value is the four weights that the backward
used; all four were equal. fused[i], plain[i]: such a weight with SDPBackend.FLASH_ATTENTION, with SDPBackend.MATH;
version: of torch."""


def weight_in_backward(backend, added):
    query, key, value = (torch.zeros(1, 1, rows, 4) for rows in (1, 4, 4))
    value.requires_grad_()
    with sdpa_kernel(backend):
        out = scaled_dot_product_attention(query, key, value, attn_mask=torch.full((1, 4), added))
        out[..., 0].sum().backward()
    weights = value.grad[0, 0, :, 0].numpy()
    assert (weights == weights[0]).all()
    return weights[0]


def main():
    backends = {"fused": SDPBackend.FLASH_ATTENTION, "plain": SDPBackend.MATH}
    recorded = {name: np.array([weight_in_backward(kind, x) for x in ADDED]) for name, kind in backends.items()}
    np.savez(TARGET, about=ABOUT, version=torch.__version__.split("+")[0], added=ADDED, **recorded)
    print(recorded)


if __name__ == "__main__":
    main()
