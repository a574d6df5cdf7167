"""A model of random weights in the form of a published one: nine words, one layer, two heads of three features."""

import json

import numpy as np

from attnlib.pretrained import write_safetensors
from attnlib.pretrained.arrays import expected_shapes
from attnlib.pretrained.config import Sizes

SPECIAL = ["[PAD]", "[unused0]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
LETTERS = ["!", "a", "##b", "é"]
COMMON = ["the", "##s", "cat", "dog", "mat", "sat", "on", "rug", "kitten"]
PIECES = SPECIAL + LETTERS + COMMON
SIZES = Sizes(vocabulary=len(PIECES), positions=16, segments=2, m=6, hidden=12, heads=2, layers=1, epsilon=1e-12)
CONFIG = {
    "model_type": "bert", "vocab_size": len(PIECES), "max_position_embeddings": 16, "type_vocab_size": 2, "hidden_size": 6,
    "intermediate_size": 12, "num_attention_heads": 2, "num_hidden_layers": 1, "layer_norm_eps": 1e-12, "hidden_act": "gelu",
}  # fmt: skip


def written(folder):
    """Write the three files to a folder and return it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(CONFIG), encoding="utf-8")
    tokenizer = {"model": {"type": "WordPiece", "vocab": {piece: i for i, piece in enumerate(PIECES)}}}
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer), encoding="utf-8")
    rng = np.random.default_rng(30)
    arrays = {name: rng.normal(size=shape).astype(np.float32) for name, shape in sorted(expected_shapes(SIZES).items())}
    write_safetensors(folder / "model.safetensors", arrays | {"embeddings.position_ids": np.arange(16)[np.newaxis]})
    return folder
