"""Where a token stands: sinusoidal encodings, rotary embeddings and their gradient, ALiBi; longer texts.

Read in this order:

1. `waves`: a row of waves for each position, added to the tokens.
2. `rotation`: pairs of features turned by an angle that grows with the position.
3. `slopes`: a straight slope of distance, added to the scores.
4. `interpolation`: a longer text squeezed into the positions that were trained.
"""

from attnlib.positions.interpolation import interpolated_positions
from attnlib.positions.rotation import rotary, rotary_backward
from attnlib.positions.slopes import alibi_bias, alibi_slopes
from attnlib.positions.waves import sinusoidal

__all__ = [
    "sinusoidal",
    "rotary",
    "rotary_backward",
    "alibi_slopes",
    "alibi_bias",
    "interpolated_positions",
]
