"""What attention costs: operations counted, numbers moved, and which of the two a machine waits for.

Counts are exact for the loops of this room: `count_traffic` is what a `Memory` counts when they run on it,
`count_flops` what they compute.

Read in this order:

1. `sizes`: numbers learned, bytes of scores and of a cache.
2. `flops`: operations; `model`: parameters and operations of a whole model.
3. `memory`: a counted two-level memory.
4. `counted_naive`: attention on that memory, with the score matrix; `counted_flash`, `counted_flash_backward`:
   without it; `counted_square`: with it, and cut along every axis; `counted_inputs`: what these loops ask of their
   arguments.
5. `traffic`: the numbers that those loops move, as formulas; `tile_visits`: the tiles they add up.
6. `fitting`: the tiles that fit into a fast memory and move the fewest numbers.
7. `machine`: what a machine waits for.
"""

from attnlib.costs.counted_flash import flash_attention_keys_outer_on, flash_attention_on
from attnlib.costs.counted_flash_backward import flash_attention_backward_on
from attnlib.costs.counted_naive import naive_attention_backward_on, naive_attention_on
from attnlib.costs.counted_square import square_attention_on
from attnlib.costs.fitting import fitting_blocks
from attnlib.costs.flops import Flops, count_flops
from attnlib.costs.machine import A100, Machine, Roofline, arithmetic_intensity, roofline
from attnlib.costs.memory import Memory, tiles
from attnlib.costs.model import ModelFlops, ModelParameters, count_model_flops, count_model_parameters
from attnlib.costs.sizes import count_parameters, kv_cache_bytes, latent_cache_bytes, score_bytes
from attnlib.costs.traffic import Traffic, count_bytes, count_traffic

__all__ = [
    "count_parameters",
    "kv_cache_bytes",
    "latent_cache_bytes",
    "score_bytes",
    "count_flops",
    "Flops",
    "count_model_parameters",
    "ModelParameters",
    "count_model_flops",
    "ModelFlops",
    "Memory",
    "tiles",
    "naive_attention_on",
    "naive_attention_backward_on",
    "square_attention_on",
    "flash_attention_on",
    "flash_attention_keys_outer_on",
    "flash_attention_backward_on",
    "count_traffic",
    "count_bytes",
    "Traffic",
    "fitting_blocks",
    "arithmetic_intensity",
    "roofline",
    "Machine",
    "A100",
    "Roofline",
]
