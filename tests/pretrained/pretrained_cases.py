"""What the tests of attnlib.pretrained share: a small model with the answers of transformers, and the real one if it is there."""

import functools
import shutil
from pathlib import Path

import numpy as np
import pytest

from attnlib.pretrained import load_pretrained
from tools.notebooks.needs import NEEDED

ROOT = Path(__file__).resolve().parents[2]
SMALL = ROOT / "tests" / "recorded" / "small_bert"
REAL = NEEDED["model"][0].parent
FILES = ("model.safetensors", "config.json", "tokenizer.json")
needs_model = pytest.mark.skipif(not NEEDED["model"][0].exists(), reason=NEEDED["model"][1])


@functools.cache
def answers(path):
    """A recorded file as a dict; nobody may write to its arrays."""
    with np.load(path, allow_pickle=False) as file:
        arrays = dict(file)
    for array in arrays.values():
        array.flags.writeable = False
    return arrays


SMALL_ANSWERS, REAL_ANSWERS = SMALL / "answers.npz", ROOT / "tests" / "recorded" / "minilm.npz"


@functools.cache
def real(dtype=np.float32):
    return load_pretrained(REAL, dtype=dtype)


def copied(folder):
    """The files of the small model in a folder that a test may spoil."""
    for name in FILES:
        shutil.copy(SMALL / name, folder / name)
    return folder
