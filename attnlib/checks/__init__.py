"""What every function asks of its arguments: bad ones are refused at the door, in words that help.

Read in this order:

1. `arrays`: numbers of any kind become float arrays; float32 stays float32; shapes and sizes are compared.
2. `masks`: a mask is boolean or additive, and its shape fits the scores.
3. `inputs`: query, key, value, mask and scale, checked together.
"""

from attnlib.checks.arrays import (
    as_axis,
    as_dtype,
    as_float,
    as_float_dtype,
    as_integer,
    as_truth,
    broadcasts_to,
    quiet,
    same_shape,
)
from attnlib.checks.inputs import AttentionInputs, attention_inputs, heads_fit
from attnlib.checks.masks import as_mask, as_mask_array

__all__ = [
    "as_float",
    "as_float_dtype",
    "as_dtype",
    "as_truth",
    "broadcasts_to",
    "quiet",
    "as_axis",
    "as_integer",
    "same_shape",
    "attention_inputs",
    "AttentionInputs",
    "as_mask",
    "as_mask_array",
    "heads_fit",
]
