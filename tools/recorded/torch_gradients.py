"""Record PyTorch's gradients for chapter 3. Run by hand, where torch is installed (attnlib is not needed):

    python -m tools.recorded.torch_gradients

It writes chapters/data/torch_attention.npz. Everything is float64; `about` in the file says what the arrays are.
"""

from pathlib import Path

import numpy as np
import torch

TARGET = Path(__file__).resolve().parents[2] / "chapters" / "data" / "torch_attention.npz"
ABOUT = """Made with PyTorch {version} by tools/recorded/torch_gradients.py, in float64.
query, key, value, d_out: inputs; d_query, d_key, d_value: gradients of (out * d_out).sum()
of torch.nn.functional.scaled_dot_product_attention.
layer/x, layer/target: inputs of a layer of four torch.nn.Linear around the same function;
layer/NAME: its parameters, as (in, out) matrices and biases; layer/d_NAME and layer/d_x: gradients of
torch.nn.MSELoss(); layer/next_NAME: the parameters after one step of torch.optim.SGD, learning rate layer/lr."""


def numbers(rng, *shape):
    return torch.tensor(rng.standard_normal(shape), requires_grad=True)


def attention_alone(rng):
    q, k, d, v = 3, 5, 7, 2
    inputs = {"query": numbers(rng, q, d), "key": numbers(rng, k, d), "value": numbers(rng, k, v)}
    d_out = numbers(rng, q, v).detach()
    out = torch.nn.functional.scaled_dot_product_attention(*inputs.values())
    (out * d_out).sum().backward()
    return inputs | {"d_out": d_out, "out": out} | {f"d_{name}": array.grad for name, array in inputs.items()}


def one_layer(rng, lr=0.05):
    n, m, d, v = 5, 6, 7, 2
    linear = {
        name: torch.nn.Linear(*sizes, dtype=torch.float64)
        for name, sizes in {"query": (m, d), "key": (m, d), "value": (m, v), "out": (v, m)}.items()
    }
    parameters = {}
    for name, layer in linear.items():
        parameters |= {f"{name}_weight": layer.weight, f"{name}_bias": layer.bias}
    with torch.no_grad():  # our own random numbers: those of torch may change with its version
        for parameter in parameters.values():
            parameter.copy_(numbers(rng, *parameter.shape) / 2)
    x, target = numbers(rng, n, m), numbers(rng, n, m).detach()

    def record(prefix, name, array):  # a copy; torch stores the transposed matrix
        return {f"{prefix}{name}": (array.mT if name.endswith("weight") else array).detach().numpy().copy()}

    arrays = {"x": x, "target": target, "lr": torch.tensor(lr, dtype=torch.float64)}
    for name, parameter in parameters.items():
        arrays |= record("", name, parameter)
    query, key, value = (linear[name](x) for name in ("query", "key", "value"))
    out = linear["out"](torch.nn.functional.scaled_dot_product_attention(query, key, value))
    loss = torch.nn.MSELoss()(out, target)
    loss.backward()
    torch.optim.SGD(parameters.values(), lr=lr).step()
    arrays |= {"loss": loss, "d_x": x.grad}
    for name, parameter in parameters.items():
        arrays |= record("d_", name, parameter.grad) | record("next_", name, parameter)
    return {f"layer/{name}": array for name, array in arrays.items()}


def main():
    rng = np.random.default_rng(3)
    arrays = attention_alone(rng) | one_layer(rng)
    arrays = {name: np.asarray(a.detach() if isinstance(a, torch.Tensor) else a) for name, a in arrays.items()}
    TARGET.parent.mkdir(exist_ok=True)
    np.savez(TARGET, about=ABOUT.format(version=torch.__version__.split("+")[0]), **arrays)
    print(f"{TARGET.name}: {len(arrays)} arrays, {TARGET.stat().st_size} bytes")


if __name__ == "__main__":
    main()
