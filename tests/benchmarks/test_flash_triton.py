"""benchmarks/flash_triton.py: the kernel in Triton's interpreter against attnlib.flash, and compiled for two GPUs.

The interpreter runs on any processor, but not bfloat16: it would multiply the bits. That dtype is compiled only.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from attnlib.flash import flash_attention

os.environ["TRITON_INTERPRET"] = "1"  # read when triton is imported
WHY = 'the Triton kernel is not run: PyTorch or Triton is not installed (pip install -e ".[gpu]")'
torch = pytest.importorskip("torch", reason=WHY)
pytest.importorskip("triton", reason=WHY)
from flash_triton import flash_forward

HERE = Path(__file__).parents[2] / "benchmarks"

# --- in the interpreter ---------------------------------------------------------------------------


def tensors(rng, q, k, d, v, dtype, heads=(2, 3), spread=1.0):
    shapes = (*heads, q, d), (*heads, k, d), (*heads, k, v)
    arrays = [rng.standard_normal(shape) for shape in shapes]
    arrays[0] *= spread
    return [torch.from_numpy(array).to(dtype) for array in arrays]


def agree(inputs, rounding, **options):
    """Compare with attnlib in float64 on the very numbers that the kernel is given."""
    blocks = {name: options.pop(name) for name in ("block_q", "block_k") if name in options}
    out, logsumexp = flash_forward(*inputs, **options, **blocks)
    wanted, wanted_logsumexp = flash_attention(*(tensor.double().numpy() for tensor in inputs), **options)
    assert out.dtype == inputs[0].dtype and logsumexp.dtype == torch.float32
    np.testing.assert_allclose(out.double().numpy(), wanted, rtol=rounding, atol=rounding)
    np.testing.assert_allclose(logsumexp.numpy(), wanted_logsumexp, rtol=3e-6, atol=3e-6)


def dtypes():
    """float16: 2^-11 in the weights and once more in the result."""
    return {"float32": (torch.float32, 3e-6), "float16": (torch.float16, 2e-3)}


SIZES = {  # q, k, d, v
    "ragged": (37, 53, 20, 7),
    "no tail": (32, 48, 16, 64),
    "smaller than a tile": (3, 5, 2, 1),
    "one more than a tile": (17, 33, 17, 65),
    "one query": (1, 40, 9, 12),
}


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("size", SIZES)
def test_all_keys_visible(rng, size, dtype):
    dtype, rounding = dtypes()[dtype]
    agree(tensors(rng, *SIZES[size], dtype), rounding, block_q=16, block_k=16)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("offset", [0, 1, 16, 60, -1, -16, -20, -40])
def test_causal_with_rows_that_see_everything_and_rows_that_see_nothing(rng, offset, dtype):
    dtype, rounding = dtypes()[dtype]
    inputs = tensors(rng, 37, 53, 20, 7, dtype)
    agree(inputs, rounding, causal=True, offset=offset, block_q=16, block_k=32)
    out, logsumexp = flash_forward(*inputs, causal=True, offset=offset, block_q=32, block_k=16)
    empty = np.arange(37) + offset < 0
    np.testing.assert_array_equal(np.isneginf(logsumexp.numpy()), np.broadcast_to(empty, (2, 3, 37)))
    assert not out[..., empty, :].any()


def test_the_offset_counts_only_under_a_causal_mask(rng):
    inputs = tensors(rng, 20, 30, 8, 5, torch.float32)
    for one, other in zip(flash_forward(*inputs, offset=-25), flash_forward(*inputs), strict=True):
        assert torch.equal(one, other)


@pytest.mark.parametrize("causal", [False, True])
def test_the_tiles_that_a_gpu_gets(rng, causal):
    agree(tensors(rng, 150, 140, 64, 40, torch.float32, heads=()), 3e-6, causal=causal)


@pytest.mark.parametrize("level", [0.0, 1e5, -1e5])
@pytest.mark.parametrize("rising", [False, True])
def test_scores_in_the_ten_thousands(rng, rising, level):
    """One key has each query's largest score by far: the output is its value, the logsumexp that score."""
    q, k = 19, 45
    query, key, value = torch.ones(q, 4), torch.zeros(k, 4), torch.from_numpy(rng.standard_normal((k, 3))).float()
    key[:, 0] = 1000.0 * torch.arange(k) * (1 if rising else -1) + level
    out, logsumexp = flash_forward(query, key, value, block_q=16, block_k=16)
    winner = k - 1 if rising else 0
    assert torch.equal(out, value[winner].expand(q, 3))
    np.testing.assert_allclose(logsumexp.numpy(), key[winner, 0] / 2, rtol=1e-6, atol=0)


@pytest.mark.parametrize("spread", [6.0, 40.0])
def test_scores_that_spread(rng, spread):
    # A score of a few hundred is rounded by 1e-5 in float32, and its weight with it.
    agree(tensors(rng, 37, 53, 20, 7, torch.float32, spread=spread), 1e-4, block_q=16, block_k=16)


@pytest.mark.parametrize("scale", [0.0, -0.7, 2.5])
def test_another_scale(rng, scale):
    agree(tensors(rng, 20, 30, 8, 5, torch.float32), 3e-6, scale=scale, causal=True)


@pytest.mark.parametrize("q, k", [(0, 4), (4, 0), (0, 0)])
def test_without_queries_or_keys(rng, q, k):
    agree(tensors(rng, q, k, 3, 2, torch.float32), 0)


def test_inputs_that_are_views(rng):
    query, key, value = tensors(rng, 18, 21, 6, 9, torch.float32, heads=(4,))
    apart = [torch.stack([tensor, tensor + 1], dim=-1)[..., 0] for tensor in (query, key, value)]
    assert not any(tensor.is_contiguous() for tensor in apart)
    for one, other in zip(flash_forward(*apart), flash_forward(query, key, value), strict=True):
        assert torch.equal(one, other)


def test_shapes_and_dtypes_that_do_not_fit(rng):
    query, key, value = tensors(rng, 18, 21, 6, 9, torch.float32)
    for wrong in ((query, key[..., 1:], value), (query, key[..., 1:, :], value), (query, key[0], value[0])):
        with pytest.raises(ValueError, match="flash_forward: expected query"):
            flash_forward(*wrong)
    with pytest.raises(ValueError, match="at most 65535 heads"):
        flash_forward(*(torch.zeros(65536, 1, 1),) * 3)
    with pytest.raises(TypeError, match=r"one dtype; got torch\.float32, torch\.float16"):
        flash_forward(query, key.half(), value)


# --- compiled -------------------------------------------------------------------------------------

COMPILE = """
import sys
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource, compile
from flash_triton import flash_kernel, tile_options

for dtype, itemsize, width in (("fp16", 2, 64), ("bf16", 2, 128), ("fp16", 2, 256), ("fp32", 4, 64)):
    options = tile_options(width, width, itemsize)
    launch = {name: options.pop(name) for name in ("num_warps", "num_stages")}
    constants = {"D": width, "V": width, "CAUSAL": True} | options
    signature = {name: "*" + dtype for name in ("query", "key", "value", "out")} | {"logsumexp": "*fp32"}
    signature |= {"q": "i32", "k": "i32", "offset": "i32", "scale": "fp32"} | dict.fromkeys(constants, "constexpr")
    aligned = {(place,): [["tt.divisibility", 16]] for place in range(7)}
    source = ASTSource(flash_kernel, signature, constants, aligned)
    made = compile(source, GPUTarget("cuda", int(sys.argv[1]), 32), launch)
    print(dtype, width, made.metadata.shared, "ex2.approx" in made.asm["ptx"], "mma" in made.asm["ptx"])
"""


@pytest.mark.parametrize("capability", [80, 90])
def test_it_compiles_for_a_gpu_and_fits(capability):
    """Triton brings its compiler along, so this needs no GPU. 80 is an A100, 90 an H100."""
    paths = os.pathsep.join([str(HERE), str(HERE.parent), os.environ.get("PYTHONPATH", "")])
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    command = [sys.executable, "-W", "ignore", "-c", COMPILE, str(capability)]
    done = subprocess.run(
        command, env=environment | {"PYTHONPATH": paths}, stdout=subprocess.PIPE, check=True, text=True
    )
    kernels = [line.split() for line in done.stdout.splitlines()]
    assert [kernel[:2] for kernel in kernels] == [["fp16", "64"], ["bf16", "128"], ["fp16", "256"], ["fp32", "64"]]
    for dtype, _, shared, base_2, tensor_cores in kernels:
        assert int(shared) <= 101376  # 99 KB, what a program may take on the smallest GPUs since 2020
        assert (base_2, tensor_cores) == ("True", str(dtype != "fp32"))
