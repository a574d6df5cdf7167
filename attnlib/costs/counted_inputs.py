"""What the counted loops ask of their arguments."""

from attnlib.checks.arrays import as_float, as_integer
from attnlib.checks.inputs import attention_inputs
from attnlib.costs.memory import Memory


def as_one_head(function, memory, query, key, value, block_q, block_k, causal=False, **saved):
    """Insist on a `Memory` and on arrays of one head that fit together.

    Returns the scale 1 / sqrt(d), then query, key, value and what a backward takes besides, as float arrays.
    """
    if not isinstance(memory, Memory):
        raise TypeError(f"{function}: memory must be a Memory; got {type(memory).__name__}.")
    (query, key, value), _ = as_float(function, query=query, key=key, value=value)
    shapes = [array.shape for array in (query, key, value)]
    fits = [len(shape) for shape in shapes] == [2, 2, 2] and shapes[0][1] == shapes[1][1] > 0
    if not fits or not shapes[1][0] == shapes[2][0] > 0:
        raise ValueError(
            f"{function}: expected query (q, d), key (k, d) and value (k, v) of one head, with at least one key "
            f"and one feature; got {', '.join(map(str, shapes))}."
        )
    for name, block in (("block_q", block_q), ("block_k", block_k)):
        if block is not None:
            as_integer(function, name, block, minimum=1)
    inputs = attention_inputs(function, query, key, value, causal=causal, **saved)
    return inputs.scale, inputs.query, inputs.key, inputs.value, *inputs.saved
