"""Multi-head attention: several attentions side by side, with learned projections, forward and backward.

Read in this order:

1. `heads`: features cut into heads and put together again.
2. `params`: what the layer learns, and where it starts.
3. `projections`: from the width of a token to queries, keys and values of each head, and back.
4. `layer`: the forward and the backward.
5. `inputs`: what the layer asks of its arguments and saves for its backward.
6. `torch_weights`: parameters from and to PyTorch, without PyTorch.
"""

from attnlib.multihead.heads import merge_heads, split_heads
from attnlib.multihead.inputs import MultiHeadSaved
from attnlib.multihead.layer import multihead_attention, multihead_attention_backward
from attnlib.multihead.params import MultiHeadParams, init_multihead
from attnlib.multihead.torch_weights import from_torch, to_torch

__all__ = [
    "split_heads",
    "merge_heads",
    "MultiHeadParams",
    "init_multihead",
    "multihead_attention",
    "multihead_attention_backward",
    "MultiHeadSaved",
    "from_torch",
    "to_torch",
]
