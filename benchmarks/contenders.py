"""Who is measured: each contender is a name and, for each pass, a function without arguments that does the work once.

Peers that are not installed are left out; the table says so.
"""

import importlib.util
import math

import numpy as np
from inputs import make_inputs

from attnlib.attention import attention, attention_backward
from attnlib.flash import flash_attention, flash_attention_backward

REFERENCE = "Flash (ours)"
LIMIT = 6 * 2**30  # bytes of score arrays beyond which a contender is left out
TITLES = {"forward": "Forward", "causal": "Causal forward", "backward": "Backward", "both": "Forward and backward"}
#: Attention multiplies two matrices forward and, where the weights are saved, four backward; Flash a fifth, to get
#: the scores back. The floor is the time of just these products, in the same library, on arrays of the same size.
PRODUCTS = {"forward": 2, "causal": 2, "backward": 5, "both": 7}


def floor(arrays, passes):
    query, key, _, _ = arrays
    scores, small = np.empty((*query.shape[:-1], key.shape[-2]), query.dtype), np.empty_like(query)

    def products():
        for number in range(PRODUCTS[passes]):
            if number % 2 == 0:
                np.matmul(query, key.mT, out=scores)
            else:
                np.matmul(scores, key, out=small)

    return products


def flash(arrays, passes):
    query, key, value, d_out = arrays
    saved = flash_attention(query, key, value) if passes == "backward" else None
    return {
        "forward": lambda: flash_attention(query, key, value),
        "causal": lambda: flash_attention(query, key, value, causal=True),
        "backward": lambda: flash_attention_backward(d_out, query, key, value, *saved),
        "both": lambda: flash_attention_backward(d_out, query, key, value, *flash_attention(query, key, value)),
    }[passes]


def plain(arrays, passes):
    query, key, value, d_out = arrays
    weights = attention(query, key, value)[1] if passes == "backward" else None
    return {
        "forward": lambda: attention(query, key, value),
        "causal": lambda: attention(query, key, value, causal=True),
        "backward": lambda: attention_backward(d_out, query, key, value, weights),
        "both": lambda: attention_backward(d_out, query, key, value, attention(query, key, value)[1]),
    }[passes]


def textbook(arrays, passes, root=np.sqrt):
    """The formulas as they are printed, one array for each symbol, and ``/ np.sqrt(d)`` as usual.

    Since NumPy 2 that division makes float64 of float32, because ``np.sqrt`` of an integer is a float64 array scalar.
    """
    query, key, value, d_out = arrays
    n, d = query.shape[-2:]

    def forward(causal=False):
        scores = query @ key.mT / root(d)
        if causal:
            scores = np.where(np.tril(np.ones((n, n), bool)), scores, -np.inf)
        exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
        return weights @ value, weights

    def backward(weights):
        d_value = weights.mT @ d_out
        d_weights = d_out @ value.mT
        d_scores = weights * (d_weights - (weights * d_weights).sum(axis=-1, keepdims=True)) / root(d)
        return d_scores @ key, d_scores.mT @ query, d_value

    weights = forward()[1] if passes == "backward" else None
    return {
        "forward": forward,
        "causal": lambda: forward(causal=True),
        "backward": lambda: backward(weights),
        "both": lambda: backward(forward()[1]),
    }[passes]


def textbook_same_dtype(arrays, passes):
    """The same, by somebody who knows about the division: float32 stays float32."""
    return textbook(arrays, passes, root=math.sqrt)


def torch_with(kernel):
    def contender(arrays, passes):
        import torch
        from torch.nn.attention import SDPBackend, sdpa_kernel
        from torch.nn.functional import scaled_dot_product_attention

        backend = {"fused": SDPBackend.FLASH_ATTENTION, "math": SDPBackend.MATH}[kernel]
        learned = passes in ("backward", "both")
        tensors = [torch.from_numpy(array)[None] for array in arrays]
        inputs, d_out = [tensor.requires_grad_(learned) for tensor in tensors[:3]], tensors[3]

        def forward(causal=False):
            with sdpa_kernel(backend):
                return scaled_dot_product_attention(*inputs, is_causal=causal)

        def no_graph(causal):
            with torch.no_grad():
                return forward(causal)

        out = forward() if passes == "backward" else None
        return {
            "forward": lambda: no_graph(False),
            "causal": lambda: no_graph(True),
            "backward": lambda: torch.autograd.grad(out, inputs, d_out, retain_graph=True),
            "both": lambda: torch.autograd.grad(forward(), inputs, d_out),
        }[passes]

    return contender


def jax_xla(arrays, passes):
    import jax

    jax.config.update("jax_enable_x64", arrays[0].dtype == np.float64)
    *inputs, d_out = (jax.numpy.asarray(array.swapaxes(0, 1)[None]) for array in arrays)

    def attend(causal):
        return jax.jit(lambda *inputs: jax.nn.dot_product_attention(*inputs, is_causal=causal))

    forward = attend(False)
    if passes in ("forward", "causal"):
        run = attend(passes == "causal")
        return lambda: run(*inputs).block_until_ready()
    if passes == "backward":
        pull_back = jax.vjp(forward, *inputs)[1]  # an argument: what it saved must not become a constant of the code
        run = jax.jit(lambda pull_back, d_out: pull_back(d_out))
        return lambda: jax.block_until_ready(run(pull_back, d_out))
    both = jax.jit(lambda *inputs: jax.vjp(forward, *inputs)[1](d_out))
    return lambda: jax.block_until_ready(both(*inputs))


CONTENDERS = {
    REFERENCE: flash,
    "plain (ours)": plain,
    "textbook": textbook,
    "textbook, dtype kept": textbook_same_dtype,
    "PyTorch fused": torch_with("fused"),
    "PyTorch math": torch_with("math"),
    "JAX": jax_xla,
    "products alone": floor,
}
NEEDS = {"PyTorch fused": "torch", "PyTorch math": "torch", "JAX": "jax"}
#: How many arrays of q·k numbers a contender holds at once, roughly: to leave out what would not fit.
SCORE_ARRAYS = {
    "plain (ours)": 2, "textbook": 9, "textbook, dtype kept": 5, "PyTorch math": 5, "JAX": 5, "products alone": 1
}  # fmt: skip


def taking_part(row):
    """Who is installed and not too large."""
    size = row["heads"] * row["n"] ** 2 * np.dtype(row["dtype"]).itemsize
    return [
        name
        for name in CONTENDERS
        if importlib.util.find_spec(NEEDS.get(name, "numpy")) and SCORE_ARRAYS.get(name, 0) * size <= LIMIT
    ]


def contender(name, row):
    """The function that does the work of a row, on arrays of its own."""
    return CONTENDERS[name](make_inputs(row), row["passes"])
