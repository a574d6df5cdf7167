"""A model that somebody else has trained, run by the book's own attention, or by the reader's.

Read in this order:

1. `safetensors`: the file of weights: a length, a header, the bytes.
2. `config`: the sizes of the model, and its vocabulary.
3. `wordpiece`: text as pieces of words.
4. `normalisation`: layer norm.
5. `activation`: GELU, and the error function in it.
6. `arrays`: the published arrays, under the names of this library.
7. `attending`: the book's attention, or a function of the reader in its place.
8. `encoder`: the layers, one after the other.
9. `rows`: which row of the table of tokens belongs to an id.
10. `batches`: several texts in one array, and one vector for each.
11. `model`: what there is to do with the model: tokens, states, weights, one vector for a text.
12. `loading`: from a folder to a model.
13. `tiny`: a very small model with random weights, to try things.
"""

from attnlib.pretrained.activation import erf, gelu
from attnlib.pretrained.encoder import Inside
from attnlib.pretrained.loading import load_pretrained
from attnlib.pretrained.model import Pretrained
from attnlib.pretrained.normalisation import layer_norm
from attnlib.pretrained.safetensors import read_safetensors, write_safetensors
from attnlib.pretrained.tiny import write_tiny
from attnlib.pretrained.wordpiece import WordPiece, words

__all__ = [
    "load_pretrained",
    "Pretrained",
    "Inside",
    "write_tiny",
    "read_safetensors",
    "write_safetensors",
    "WordPiece",
    "words",
    "layer_norm",
    "gelu",
    "erf",
]
