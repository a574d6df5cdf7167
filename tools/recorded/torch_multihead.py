"""Record a `torch.nn.MultiheadAttention` for chapter 5. Run by hand, where torch is installed (attnlib is not needed):

    python -m tools.recorded.torch_multihead

It writes chapters/data/torch_multihead.npz. Everything is float64; `about` in the file says what the arrays are.
"""

from pathlib import Path

import numpy as np
import torch

TARGET = Path(__file__).resolve().parents[2] / "chapters" / "data" / "torch_multihead.npz"
ABOUT = """Made with PyTorch {version} by tools/recorded/torch_multihead.py, in float64.
x (b, q, m) asks context (b, k, m); module = torch.nn.MultiheadAttention(m, heads, batch_first=True), with biases.
param/NAME: its state dict. out, weights (b, h, q, k): module(x, context, context, average_attn_weights=False).
d_x, d_context, d_param/NAME: gradients of (out * d_out).sum(). next/NAME: the parameters after one step of
torch.optim.SGD with learning rate lr."""


def numbers(rng, *shape):
    return torch.tensor(rng.standard_normal(shape), requires_grad=True)


def arrays(b=2, q=3, k=5, m=6, heads=2, lr=0.1):
    rng = np.random.default_rng(5)
    module = torch.nn.MultiheadAttention(m, heads, batch_first=True, dtype=torch.float64)
    with torch.no_grad():  # our own random numbers: those of torch may change with its version
        for parameter in module.parameters():
            parameter.copy_(numbers(rng, *parameter.shape) / 2)
    recorded = {f"param/{name}": array.clone() for name, array in module.state_dict().items()}
    x, context, d_out = numbers(rng, b, q, m), numbers(rng, b, k, m), numbers(rng, b, q, m).detach()
    out, weights = module(x, context, context, average_attn_weights=False)
    (out * d_out).sum().backward()
    recorded |= {f"d_param/{name}": parameter.grad.clone() for name, parameter in module.named_parameters()}
    torch.optim.SGD(module.parameters(), lr=lr).step()
    recorded |= {f"next/{name}": array for name, array in module.state_dict().items()}
    recorded |= {"x": x, "context": context, "d_out": d_out, "out": out, "weights": weights}
    recorded |= {"d_x": x.grad, "d_context": context.grad, "lr": torch.tensor(lr, dtype=torch.float64)}
    return {name: array.detach().numpy() for name, array in recorded.items()} | {"heads": np.array(heads)}


def main():
    recorded = arrays()
    TARGET.parent.mkdir(exist_ok=True)
    np.savez(TARGET, about=ABOUT.format(version=torch.__version__.split("+")[0]), **recorded)
    print(f"{TARGET.name}: {len(recorded)} arrays, {TARGET.stat().st_size} bytes")


if __name__ == "__main__":
    main()
