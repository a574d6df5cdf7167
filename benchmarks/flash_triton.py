"""The forward of Flash attention as a kernel for a GPU, in Triton, beside the loop of `attnlib.costs.flash_attention_on`.

A comment ``# loop:`` quotes the lines of that loop, or of the helpers it calls, whose work the next line does. What has
no such comment is what a GPU needs besides: addresses, tails, and that one program runs for each tile of queries.

It needs PyTorch and Triton: ``pip install -e ".[gpu]"``. With ``TRITON_INTERPRET=1`` it runs on any processor, slowly:
`tests/benchmarks/test_flash_triton.py` compares it with `attnlib.flash`, and `gpu.py` measures it on a GPU.
"""

import math

import torch
import triton
import triton.language as tl

# The maximum where nothing is seen yet. With -inf, a tile that is all hidden would give -inf - (-inf), NaN.
LOWEST = tl.constexpr(torch.finfo(torch.float32).min)
LN_2 = tl.constexpr(math.log(2))
MOST_HEADS = 65535  # programs along the second axis of a grid


@triton.jit
def flash_kernel(
    query, key, value, out, logsumexp, q, k, offset, scale,
    D: tl.constexpr, V: tl.constexpr, WIDE_D: tl.constexpr, WIDE_V: tl.constexpr,
    BLOCK_Q: tl.constexpr, BLOCK_K: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    first, head = tl.program_id(0) * BLOCK_Q, tl.program_id(1).to(tl.int64)
    d, v = tl.arange(0, WIDE_D), tl.arange(0, WIDE_V)
    # loop: for rows in tiles(len(query), block_q):
    rows = first + tl.arange(0, BLOCK_Q)
    here, exists = (head * q + rows)[:, None], (rows < q)[:, None]
    # loop: query_tile = memory.load(query[rows])
    query_tile = tl.load(query + here * D + d, exists & (d < D), 0.0)
    # loop: state = [memory.keep(array) for array in _start(query_tile, value)]
    accumulated = tl.zeros((BLOCK_Q, WIDE_V), tl.float32)
    maximum = tl.full((BLOCK_Q,), LOWEST, tl.float32)
    total = tl.zeros((BLOCK_Q,), tl.float32)
    # loop: if causal and columns.start >= rows.stop:
    stop = tl.minimum(k, first + BLOCK_Q + offset) if CAUSAL else k
    # loop: for columns in tiles(len(key), block_k):
    for start in range(0, stop, BLOCK_K):
        columns = start + tl.arange(0, BLOCK_K)
        there, visible = (head * k + columns)[:, None], columns < k
        # loop: key_tile, value_tile = memory.load(key[columns]), memory.load(value[columns])
        key_tile = tl.load(key + there * D + d, visible[:, None] & (d < D), 0.0)
        value_tile = tl.load(value + there * V + v, visible[:, None] & (v < V), 0.0)
        # loop: scores = scale * (query @ key.T)
        scores = scale * tl.dot(query_tile, key_tile.T, input_precision="ieee")
        # loop: future = np.arange(columns.start, columns.stop) > np.arange(rows.start, rows.stop)[:, np.newaxis]
        # loop: scores[future] = -np.inf
        if CAUSAL:
            visible = visible & (columns <= rows[:, None] + offset)
        scores = tl.where(visible, scores, -float("inf"))
        # loop: new_maximum = np.maximum(maximum, scores.max(axis=1))
        new_maximum = tl.maximum(maximum, tl.max(scores, axis=1))
        # loop: rescale = np.exp(maximum - new_maximum)
        rescale = tl.exp2(maximum - new_maximum)
        # loop: maximum[:] = new_maximum
        maximum = new_maximum
        # loop: scores -= maximum[:, np.newaxis]
        # loop: np.exp(scores, out=scores)
        scores = tl.exp2(scores - maximum[:, None])
        # loop: total *= rescale
        # loop: total += scores.sum(axis=1)
        total = rescale * total + tl.sum(scores, axis=1)
        # loop: accumulated *= rescale[:, np.newaxis]
        accumulated = rescale[:, None] * accumulated
        # loop: accumulated += scores @ value
        accumulated += tl.dot(scores.to(value_tile.dtype), value_tile, input_precision="ieee")
    unseen = total == 0
    total = tl.where(unseen, 1.0, total)  # 0 / 1, where nothing is visible
    # loop: accumulated /= total[:, np.newaxis]
    accumulated = accumulated / total[:, None]
    # loop: memory.store(accumulated, out[rows])
    tl.store(out + here * V + v, accumulated.to(query_tile.dtype), exists & (v < V))
    # loop: maximum += np.log(total)
    maximum = LN_2 * tl.where(unseen, -float("inf"), maximum + tl.log2(total))
    # loop: memory.store(maximum, logsumexp[rows])
    tl.store(logsumexp + head * q + rows, maximum, rows < q)


def flash_forward(query, key, value, *, causal=False, offset=0, scale=None, block_q=None, block_k=None):
    """Output and logsumexp of tensors (..., q, d), (..., k, d) and (..., k, v), as from `attnlib.flash.flash_attention`.

    All three have the same leading axes and one dtype: float16, bfloat16 or float32. Sums are taken in float32, and the
    logsumexp is float32. A block is a power of two, at least 16.
    """
    *heads, q, d = query.shape
    k, v = value.shape[-2:]
    if key.shape != (*heads, k, d) or value.shape != (*heads, k, v) or math.prod(heads) > MOST_HEADS:
        shapes = ", ".join(str(tuple(tensor.shape)) for tensor in (query, key, value))
        raise ValueError(
            "flash_forward: expected query (..., q, d), key (..., k, d) and value (..., k, v) with the same leading "
            f"axes, together at most {MOST_HEADS} heads; got {shapes}."
        )
    if not query.dtype == key.dtype == value.dtype:
        raise TypeError(f"flash_forward: expected one dtype; got {query.dtype}, {key.dtype} and {value.dtype}.")
    query, key, value = (tensor.contiguous() for tensor in (query, key, value))
    out, logsumexp = query.new_empty(*heads, q, v), query.new_empty(*heads, q, dtype=torch.float32)
    options = tile_options(d, v, query.element_size())
    options |= {name: size for name, size in (("BLOCK_Q", block_q), ("BLOCK_K", block_k)) if size}
    scale = math.log2(math.e) * (d**-0.5 if scale is None else scale)  # in base 2: exp2 is one instruction
    if logsumexp.numel():
        flash_kernel[triton.cdiv(q, options["BLOCK_Q"]), math.prod(heads)](
            query, key, value, out, logsumexp, q, k, offset, scale, D=d, V=v, CAUSAL=causal, **options
        )
    return out, logsumexp


def tile_options(d, v, itemsize):
    """Tiles that fit into the registers and the shared memory of one processor, and how many threads share one."""
    wide_d, wide_v = (max(16, triton.next_power_of_2(width)) for width in (d, v))
    row = itemsize * max(wide_d, wide_v)  # bytes
    block_q, block_k = (128, 64) if itemsize * row <= 512 else (64, 32) if row <= 512 else (32, 32)
    return {
        "WIDE_D": wide_d,
        "WIDE_V": wide_v,
        "BLOCK_Q": block_q,
        "BLOCK_K": block_k,
        "num_warps": 4 if row <= 128 else 8,
        "num_stages": 3 if row <= 128 else 2,  # tiles of keys and values on their way at once
    }
