"""A very small model with random weights, in the files of a large one: to try things without fetching anything."""

import json
from pathlib import Path

import numpy as np

from attnlib.pretrained.arrays import expected_shapes
from attnlib.pretrained.config import Sizes, as_config
from attnlib.pretrained.safetensors import write_safetensors
from attnlib.pretrained.wordpiece import SPECIAL
from attnlib.training.arguments import as_generator

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_WORDS = ("the", "cat", "sat", "on", "mat", "##s", ".", ",")


def write_tiny(folder, rng, dtype=np.float32):
    """Write the three files that `load_pretrained` reads, for a model of two layers with two heads.

    It knows a few words and all letters, so that it can read any English text, and it understands nothing.

    Parameters
    ----------
    folder : str or Path
        Where there is no such folder yet, it is made.
    rng : numpy.random.Generator
        Where the weights come from.
    dtype : dtype, default float32
        Of the weights in the file.

    Raises
    ------
    TypeError
        If `rng` is not a generator.

    Examples
    --------
    >>> import tempfile
    >>> from attnlib.pretrained import load_pretrained
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_tiny(folder, np.random.default_rng(0))
    ...     model = load_pretrained(folder)
    >>> model.words(model.tokenize("The cats sat."))
    ['[CLS]', 'the', 'cat', '##s', 'sat', '.', '[SEP]']
    """
    as_generator("write_tiny", rng)
    pieces = [*SPECIAL, *_WORDS, *_LETTERS, *(f"##{letter}" for letter in _LETTERS if letter != "s")]
    sizes = Sizes(len(pieces), positions=32, segments=2, m=8, hidden=16, heads=2, layers=2, epsilon=1e-12)
    arrays = {}
    for name, shape in expected_shapes(sizes).items():  # gains around 1, everything else around 0
        array = rng.normal(scale=0.5, size=shape) + name.endswith("LayerNorm.weight")
        arrays[name] = array.astype(dtype)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    write_safetensors(folder / "model.safetensors", arrays)
    tokenizer = {"model": {"type": "WordPiece", "vocab": {piece: i for i, piece in enumerate(pieces)}}}
    for name, content in (("config.json", as_config(sizes)), ("tokenizer.json", tokenizer)):
        (folder / name).write_text(json.dumps(content), encoding="utf-8")
