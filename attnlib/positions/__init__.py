"""How attention is told where a token stands: sinusoidal encodings, rotary embeddings, ALiBi; longer texts.

Read in this order:

1. `sinusoidal_encoding`: a row of sines and cosines for each position, which is added to the token.
2. `rotary_embedding`: pairs of features rotated by an angle that grows with the position, and the gradient.
3. `alibi`: a bias that falls with the distance and is added to the scores.
4. `interpolation`: a longer text squeezed into the positions on which a model was trained.
"""

from attnlib.positions.alibi import alibi_bias, alibi_slopes
from attnlib.positions.interpolation import interpolated_positions
from attnlib.positions.rotary_embedding import rotary, rotary_backward
from attnlib.positions.sinusoidal_encoding import sinusoidal

__all__ = [
    "sinusoidal",
    "rotary",
    "rotary_backward",
    "alibi_slopes",
    "alibi_bias",
    "interpolated_positions",
]
