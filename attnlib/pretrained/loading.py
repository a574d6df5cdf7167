"""From a folder with three files to a model that runs."""

from pathlib import Path

import numpy as np

from attnlib.checks.arrays import as_float_dtype
from attnlib.pretrained.activation import gelu as gelu_of_the_book
from attnlib.pretrained.arrays import as_arrays, expected_shapes
from attnlib.pretrained.attending import through_attention, through_sdpa, through_softmax
from attnlib.pretrained.config import read_config, read_vocabulary
from attnlib.pretrained.encoder import Functions
from attnlib.pretrained.model import Pretrained
from attnlib.pretrained.normalisation import layer_norm as layer_norm_of_the_book
from attnlib.pretrained.safetensors import read_safetensors
from attnlib.pretrained.wordpiece import SPECIAL


def load_pretrained(
    folder, *,
    softmax=None, sdpa=None, mha=None, layer_norm=layer_norm_of_the_book, gelu=gelu_of_the_book, dtype=np.float32,
):  # fmt: skip
    """Load a trained encoder of the BERT family, and choose the functions that run it.

    The attention is the book's own unless you give yours. It can be as much of it as you have written: a softmax, an
    attention, or the whole of multi-head attention. If you give several, the most complete one does the work.

    Parameters
    ----------
    folder : str or Path
        With ``model.safetensors``, ``config.json`` and ``tokenizer.json`` (or ``vocab.txt``).
    softmax : callable, optional
        ``softmax(scores)``: weights along the last axis. A hidden score is ``-inf``.
    sdpa : callable, optional
        ``sdpa(query, key, value)``: the outputs (..., q, v). A hidden key is left out.
    mha : callable, optional
        ``mha(x, query_weight, key_weight, value_weight, out_weight, heads)``: the layer's output, (b, n, m). Biases
        come in as a last row of each weight, and x has a last feature that is always 1. It takes no mask, so texts of
        different length run one by one. The weights to look at are those of `sdpa`, `softmax` or the book.
    layer_norm : callable, default `layer_norm`
        ``layer_norm(x, gain, bias, epsilon)``.
    gelu : callable, default `gelu`
        ``gelu(x)``.
    dtype : dtype, default float32
        What to compute in. The files hold float32 or float16.

    Returns
    -------
    model : Pretrained

    Raises
    ------
    FileNotFoundError
        If a file is missing.
    TypeError
        If an argument has the wrong type.
    ValueError
        If a file is damaged, or describes a model of another kind.

    References
    ----------
    .. [1] Devlin et al. (2019), "BERT: Pre-training of Deep Bidirectional Transformers for Language Understanding".
    .. [2] Wang et al. (2020), "MiniLM: Deep Self-Attention Distillation for Task-Agnostic Compression".
    .. [3] Reimers and Gurevych (2019), "Sentence-BERT", section 3: the mean of the states.

    Examples
    --------
    >>> load_pretrained("nowhere")
    Traceback (most recent call last):
    ...
    FileNotFoundError: load_pretrained: there is no file nowhere/config.json.
    """
    given = dict(softmax=softmax, sdpa=sdpa, mha=mha, layer_norm=layer_norm, gelu=gelu)
    for name, function in given.items():
        if not callable(function) and not (function is None and name in ("softmax", "sdpa", "mha")):
            raise TypeError(f"load_pretrained: {name} must be a function; got {type(function).__name__}.")
    dtype, folder = as_float_dtype("load_pretrained", dtype), Path(folder)
    sizes, kept = read_config(folder / "config.json")
    tokenizer = read_vocabulary(folder)
    _check_ids(folder, sizes, kept, tokenizer)
    arrays = as_arrays(_published(folder / "model.safetensors", sizes), sizes, dtype)
    attend = through_sdpa(sdpa) if sdpa else through_softmax(softmax) if softmax else through_attention
    return Pretrained(sizes, arrays, tokenizer, Functions(attend, mha, layer_norm, gelu), kept)


def _published(path, sizes):
    # Every array that the sizes ask for, in its shape and of numbers; others, such as BERT's pooler, are left alone.
    published = read_safetensors(path)
    for name, shape in expected_shapes(sizes).items():
        if name not in published:
            raise ValueError(f"load_pretrained: {path} does not hold {name}.")
        array = published[name]
        if array.shape != shape:
            raise ValueError(f"load_pretrained: {path}: {name} must have the shape {shape} of config.json; got {array.shape}.")
        if array.dtype.kind != "f":
            raise ValueError(f"load_pretrained: {path}: {name} must hold floats; got {array.dtype}.")
        if not np.isfinite(array).all():
            raise ValueError(f"load_pretrained: {path}: {name} holds numbers that are not finite.")
    return published


def _check_ids(folder, sizes, kept, tokenizer):
    # Without kept_tokens the ids of the pieces are the rows 0, 1, 2, …; with it, they are among the pieces.
    rows = set(range(sizes.vocabulary) if kept is None else kept)
    ids, special = set(tokenizer.by_id), {tokenizer.vocabulary[piece] for piece in SPECIAL}
    if not special <= rows <= ids or kept is None and ids != rows:
        raise ValueError(
            f"load_pretrained: the {len(ids)} pieces of the vocabulary in {folder} do not fit the {len(rows)} tokens that "
            "config.json says the model knows."
        )
