"""What training asks of its arguments beyond arrays of real numbers: tokens, parameters by name, a generator."""

from collections.abc import Mapping

import numpy as np

from attnlib.checks.arrays import as_float


def as_tokens(function, name, tokens, count=None):
    """Return `tokens` as an array of integers from 0 to `count` - 1.

    Examples
    --------
    >>> as_tokens("embed", "tokens", [[2, 0]], 3)
    array([[2, 0]])
    """
    try:
        tokens = np.asarray(tokens)
    except ValueError as error:  # ragged nested lists
        raise TypeError(f"{function}: {name} must be an array of integers; got lists of unequal length.") from error
    if tokens.dtype.kind not in "iu" and not (tokens.size == 0 and tokens.dtype == np.float64):  # np.asarray([])
        raise TypeError(f"{function}: {name} must be an array of integers; got {tokens.dtype}.")
    tokens = tokens.astype(np.int64, copy=False)
    if count is not None and tokens.size and not (0 <= tokens.min() and tokens.max() < count):
        wrong = tokens[(tokens < 0) | (tokens >= count)][0]
        raise ValueError(f"{function}: {name} must be integers from 0 to {count - 1}; got {wrong}.")
    return tokens


def as_generator(function, rng):
    """Return `rng` if it is a generator of random numbers.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> as_generator("generate", rng) is rng
    True
    """
    if not isinstance(rng, np.random.Generator):
        raise TypeError(f"{function}: rng must be a numpy.random.Generator; got {type(rng).__name__}.")
    return rng


def as_params(function, params, name="params"):
    """Return a mapping from names to arrays as a dict of float arrays in one dtype, and the dtype to return.

    Examples
    --------
    >>> params, dtype = as_params("adam_step", {"slope": [1, 2]})
    >>> params, dtype
    ({'slope': array([1., 2.])}, dtype('float64'))
    """
    if not isinstance(params, Mapping):
        raise TypeError(f"{function}: {name} must be a dict from names to arrays; got {type(params).__name__}.")
    if not all(isinstance(key, str) for key in params):
        raise TypeError(f"{function}: the names in {name} must be strings; got {list(params)}.")
    if not params:
        raise ValueError(f"{function}: {name} must hold at least one array.")
    arrays, dtype = as_float(function, **{f"{name}[{key!r}]": array for key, array in params.items()})
    return dict(zip(params, arrays, strict=True)), dtype


def same_names(function, **dicts):
    """Raise a ValueError unless the dicts hold arrays of the same names and shapes.

    Examples
    --------
    >>> same_names("adam_step", params={"a": np.ones(2)}, gradients={"b": np.ones(2)})
    Traceback (most recent call last):
    ...
    ValueError: adam_step: params and gradients must have the same names; only one of them has 'a', 'b'.
    """
    (first, ours), (second, theirs) = dicts.items()
    if ours.keys() != theirs.keys():
        odd = ", ".join(repr(name) for name in sorted(ours.keys() ^ theirs.keys()))
        raise ValueError(f"{function}: {first} and {second} must have the same names; only one of them has {odd}.")
    for name in ours:
        if ours[name].shape != theirs[name].shape:
            raise ValueError(
                f"{function}: {first} and {second} must have the same shapes; {name!r} has "
                f"{ours[name].shape} and {theirs[name].shape}."
            )
