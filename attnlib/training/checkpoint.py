"""Trained weights in a file: in half precision, without code, and with a clear error if the file is damaged."""

import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from attnlib.checks.arrays import as_float_dtype, as_integer
from attnlib.training.arguments import as_params
from attnlib.training.parameters import as_model

_BROKEN = (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error, NotImplementedError)


class Trained(NamedTuple):
    """A trained model.

    Attributes
    ----------
    params : dict from str to ndarray of any shape
        For `transformer`, with learned positions if they hold ``"positions"`` and rotary ones otherwise.
    heads : int
        Heads of each layer.
    alphabet : str
        The character of each token: token i is ``alphabet[i]``.
    """

    params: dict
    heads: int
    alphabet: str


def save_trained(path, models):
    """Write models to a file in float16, which keeps three decimal digits and takes a quarter of the size of float64.

    Parameters
    ----------
    path : str or Path
        An existing file is replaced.
    models : dict from str to Trained

    Raises
    ------
    TypeError
        If `models` is not a dict of `Trained`.
    ValueError
        If the parameters do not make a model, or a number is too large for float16.

    Examples
    --------
    >>> import tempfile
    >>> from attnlib.training import init_transformer
    >>> params = init_transformer(np.random.default_rng(0), vocabulary=3, n=5, m=4, heads=1, layers=1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_trained(f"{folder}/small.npz", {"small": Trained(params, 1, "abc")})
    ...     small = load_trained(f"{folder}/small.npz", "small")
    >>> small.alphabet, bool(abs(small.params["tokens"] - params["tokens"]).max() < 1e-3)
    ('abc', True)
    """
    name = "save_trained"
    if not isinstance(models, Mapping) or not all(isinstance(model, Trained) for model in models.values()):
        raise TypeError(f"{name}: models must be a dict from names to Trained.")
    arrays = {}
    for which, model in models.items():
        _check(name, model)
        arrays |= {f"{which}/heads": np.array(model.heads), f"{which}/alphabet": np.array(model.alphabet)}
        for key, array in as_params(name, model.params)[0].items():
            if np.abs(array).max(initial=0) > np.finfo(np.float16).max:
                raise ValueError(f"{name}: {which}/{key} holds a number that is too large for float16.")
            arrays[f"{which}/{key}"] = array.astype(np.float16)
    np.savez_compressed(path, **arrays)


def load_trained(path, name, *, dtype=np.float64):
    """Read one model from a file of `save_trained`.

    Parameters
    ----------
    path : str or Path
    name : str
        Which of the models.
    dtype : dtype, default float64
        What to compute in; the numbers in the file are float16.

    Returns
    -------
    model : Trained

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    TypeError
        If `dtype` is not a float dtype.
    ValueError
        If the file is damaged, or holds no whole model of this name.

    Examples
    --------
    >>> load_trained("nowhere.npz", "text")
    Traceback (most recent call last):
    ...
    FileNotFoundError: load_trained: there is no file nowhere.npz with trained weights.
    """
    dtype = as_float_dtype("load_trained", dtype)
    if not Path(path).is_file():
        raise FileNotFoundError(f"load_trained: there is no file {path} with trained weights.")
    try:
        with open(path, "rb") as raw, np.load(raw) as file:
            found = {key.removeprefix(f"{name}/"): file[key] for key in file.files if key.startswith(f"{name}/")}
            names = sorted({key.partition("/")[0] for key in file.files})
    except _BROKEN as error:
        raise ValueError(f"load_trained: {path} is damaged: {error}") from error
    if not found:
        raise ValueError(f"load_trained: {path} holds no model {name!r}; there are {', '.join(names) or 'none'}.")
    try:
        heads, alphabet = int(found.pop("heads")), str(found.pop("alphabet"))
        model = Trained({key: array.astype(dtype) for key, array in found.items()}, heads, alphabet)
        _check("load_trained", model)
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"load_trained: {path} is damaged: {error}") from error
    return model


def _check(function, model):
    # A model is whole if every array is there, shapes fit, all numbers are finite, and each token has a character.
    params, _ = as_params(function, model.params)
    heads = as_integer(function, "heads", model.heads, minimum=1)
    as_model(function, params, heads, "learned" if "positions" in params else "rotary")
    for key, array in params.items():
        if not np.isfinite(array).all():
            raise ValueError(f"{function}: {key} holds numbers that are not finite.")
    if not isinstance(model.alphabet, str) or len(model.alphabet) != len(params["tokens"]):
        raise ValueError(
            f"{function}: alphabet must have a character for each of the {len(params['tokens'])} tokens; "
            f"got {model.alphabet!r}."
        )
