"""Flash attention: what `attnlib.attention` computes, without ever holding q × k scores.

The score matrix is cut into tiles of `block_q` queries times `block_k` keys. A tile is
computed, used up and overwritten by the next while it is still in the processor's cache.

Read in this order:

1. `forward`: one pass over the keys, corrected whenever a larger score comes along.
2. `backward`: every tile of weights computed again, from one saved number per query.
3. `merge`: partial results over parts of the keys, merged into the result for all.
4. `tiles`: which tiles are visited, and what is hidden inside one.
"""

from attnlib.flash.backward import flash_attention_backward, flash_attention_mask_backward
from attnlib.flash.forward import flash_attention
from attnlib.flash.merge import merge_partials

__all__ = [
    "flash_attention",
    "flash_attention_backward",
    "flash_attention_mask_backward",
    "merge_partials",
]
