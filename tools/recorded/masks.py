"""Record what other libraries make of the same mask, for chapter 4. Run by hand (attnlib is not needed):

    python -m tools.recorded.masks

once where torch and jax are installed and once where onnx is: it asks those that are there and keeps the other answers.
It writes chapters/data/masks.npz; `about` in the file says what the arrays are.
"""

import importlib.util
from pathlib import Path

import numpy as np

TARGET = Path(__file__).resolve().parents[2] / "chapters" / "data" / "masks.npz"
BOOLEAN = np.array([[True, False, True], [False, False, False], [True, True, True]])  # one of the last two sees nothing
ADDITIVE = np.where(BOOLEAN[:2], np.float32(0), np.float32(-np.inf))
ABOUT = """Made by tools/recorded/masks.py: the weights of attention over keys with equal scores, in float32.
All queries and keys are zero and the values are the identity, so that the output is the weights.
FUNCTION/boolean: 3 queries, 3 keys, under the array `boolean`;
FUNCTION/additive: 2 queries, 3 keys, under `additive` (0 and -inf);
FUNCTION/causal: the function's own causal mask, 2 queries and 5 keys; FUNCTION/version: of its library."""


def arrays(q, k, width):
    """Queries and keys of zeros, and as many values as keys: the rows of the identity."""
    return np.zeros((q, width), np.float32), np.zeros((k, width), np.float32), np.eye(k, dtype=np.float32)


def torch_sdpa():
    import torch

    def ask(q, k, mask=None, causal=False):
        inputs = (torch.tensor(array)[None, None] for array in arrays(q, k, 4))
        mask = None if mask is None else torch.tensor(mask)
        return torch.nn.functional.scaled_dot_product_attention(*inputs, attn_mask=mask, is_causal=causal)[0, 0].numpy()

    return torch.__version__.split("+")[0], ask


def torch_mha():
    import torch

    def ask(q, k, mask=None, causal=False):
        if causal:  # it asks for the mask as well
            return None
        query, key, _ = (torch.tensor(array)[None] for array in arrays(q, k, 4))
        layer = torch.nn.MultiheadAttention(4, 1, batch_first=True)
        _, weights = layer(query, key, key, attn_mask=torch.tensor(mask))  # all keys are equal, whatever is learned
        return weights[0].detach().numpy()

    return torch.__version__.split("+")[0], ask


def jax_attention():
    import jax

    def ask(q, k, mask=None, causal=False):
        inputs = (array[None, :, None] for array in arrays(q, k, k))  # it wants features as wide as the values
        options = {"is_causal": causal}
        if mask is not None:
            options["mask" if mask.dtype == bool else "bias"] = mask[None, None]
        return np.asarray(jax.nn.dot_product_attention(*inputs, **options))[0, :, 0]

    return jax.__version__, ask


def onnx_attention():
    import onnx
    from onnx import TensorProto, helper
    from onnx.reference import ReferenceEvaluator

    def ask(q, k, mask=None, causal=False):
        given = {name: array[None, None] for name, array in zip("QKV", arrays(q, k, 4), strict=True)}
        kinds = dict.fromkeys(given, TensorProto.FLOAT)
        if mask is not None:
            given["mask"] = mask
            kinds["mask"] = TensorProto.BOOL if mask.dtype == bool else TensorProto.FLOAT
        node = helper.make_node("Attention", list(given), ["Y"], is_causal=int(causal))
        inputs = [helper.make_tensor_value_info(name, kinds[name], array.shape) for name, array in given.items()]
        output = helper.make_tensor_value_info("Y", TensorProto.FLOAT, (1, 1, q, k))
        model = helper.make_model(helper.make_graph([node], "attention", inputs, [output]))
        return ReferenceEvaluator(model).run(None, given)[0][0, 0]

    return onnx.__version__, ask


FUNCTIONS = {
    "PyTorch SDPA": ("torch", torch_sdpa),
    "PyTorch MHA": ("torch", torch_mha),
    "JAX": ("jax", jax_attention),
    "ONNX": ("onnx", onnx_attention),
}


def main():
    known = {}
    if TARGET.exists():
        with np.load(TARGET) as file:
            known = dict(file)
    for name, (library, function) in FUNCTIONS.items():
        if importlib.util.find_spec(library) is None:
            continue
        version, ask = function()
        known[f"{name}/version"] = np.array(version)
        known[f"{name}/boolean"] = ask(*BOOLEAN.shape, BOOLEAN)
        known[f"{name}/additive"] = ask(*ADDITIVE.shape, ADDITIVE)
        causal = ask(2, 5, causal=True)
        if causal is not None:
            known[f"{name}/causal"] = causal
    known |= {"about": np.array(ABOUT), "boolean": BOOLEAN, "additive": ADDITIVE}
    np.savez(TARGET, **known)
    for name, array in known.items():
        print(name, np.array2string(array, precision=2).replace("\n", ""))


if __name__ == "__main__":
    main()
