"""What every public function does first: turn its arguments into float arrays.

The rules are the same everywhere. float32 and float64 are computed in their own
precision; float16 is computed in float32 and rounded once, at the end; integers
and lists become float64. Complex numbers, booleans, strings and masked arrays
are refused, because a silent conversion would lose something.
"""

import numpy as np


def quiet(function):
    """Let an overflow show as inf or NaN and an underflow as 0, without a warning or an error on top.

    Every function that computes is decorated with this: it does the same whatever `numpy.seterr` says.

    Examples
    --------
    >>> with np.errstate(all="raise"):
    ...     float(quiet(np.exp)(-1000.0))
    0.0
    """
    return np.errstate(all="ignore")(function)


def as_float(function, **arrays):
    """Return the named arguments as float arrays of one dtype, and the dtype to return.

    Parameters
    ----------
    function : str
        Name of the public function, for the error message.
    **arrays : array_like
        The arguments by name.

    Returns
    -------
    list of ndarray
        The arguments in the order given, in the dtype to compute in.
    dtype
        The dtype that the results should have.

    Raises
    ------
    TypeError
        If an argument does not hold real numbers.

    Examples
    --------
    >>> (x,), dtype = as_float("softmax", x=[1, 2])
    >>> x.dtype, dtype
    (dtype('float64'), dtype('float64'))
    """
    converted = [_real(function, name, array) for name, array in arrays.items()]
    result_dtype = np.result_type(*(array.dtype for array in converted))
    compute_dtype = np.float32 if result_dtype == np.float16 else result_dtype
    return [array.astype(compute_dtype, copy=False) for array in converted], result_dtype


def _real(function, name, array):
    expected = f"{function}: {name} must be an array of real numbers (float16, float32, float64 or integers)"
    if isinstance(array, np.ma.MaskedArray):
        raise TypeError(f"{expected}; got a masked array, whose mask would be lost. Pass a boolean mask instead.")
    try:
        array = np.asarray(array)
    except ValueError as error:  # ragged nested lists
        raise TypeError(f"{expected}; got nested sequences of unequal length.") from error
    if array.dtype.kind in "iu" or array.size == 0 and array.dtype == object:
        return array.astype(np.float64)
    if array.dtype.kind != "f":
        raise TypeError(f"{expected}; got {_what_came(array)}.")
    return array


def _what_came(array):
    if array.dtype != object:
        return str(array.dtype)
    first = array.flat[0]
    shown = "None" if first is None else type(first).__name__
    return f"objects, the first of them {shown}" if array.ndim else shown


def as_axis(function, x, axis, name="x"):
    """Return `axis` counted from the front; raise if it is not an axis of `x`.

    Examples
    --------
    >>> as_axis("softmax", np.ones((2, 3)), -1)
    1
    """
    if isinstance(axis, (bool, np.bool_)) or not isinstance(axis, (int, np.integer)):
        raise TypeError(f"{function}: axis must be an integer; got {axis!r}.")
    if not -x.ndim <= axis < x.ndim:
        raise ValueError(f"{function}: {name} has no axis {axis}; its shape is {x.shape}.")
    return int(axis) % x.ndim


def as_integer(function, name, number, *, minimum=None):
    """Return `number` as an int; raise if it is not one, or below `minimum`.

    Examples
    --------
    >>> as_integer("causal_mask", "q", np.int64(3), minimum=0)
    3
    """
    if isinstance(number, (bool, np.bool_)) or not isinstance(number, (int, np.integer)):
        raise TypeError(f"{function}: {name} must be an integer; got {number!r}.")
    if minimum is not None and number < minimum:
        raise ValueError(f"{function}: {name} must be at least {minimum}; got {number}.")
    return int(number)


def same_shape(function, **arrays):
    """Raise a ValueError that shows every shape unless all the named arrays have one shape.

    Examples
    --------
    >>> same_shape("softmax_backward", d_weights=np.ones(3), weights=np.ones(4))
    Traceback (most recent call last):
    ...
    ValueError: softmax_backward: d_weights and weights must have the same shape.
      d_weights: (3,)
      weights:   (4,)
    """
    if len({array.shape for array in arrays.values()}) > 1:
        width = max(map(len, arrays)) + 1
        shapes = "\n".join(f"  {name + ':':<{width}} {array.shape}" for name, array in arrays.items())
        raise ValueError(f"{function}: {' and '.join(arrays)} must have the same shape.\n{shapes}")


def broadcasts_to(shape, target):
    """Whether an array of `shape` broadcasts to `target` by NumPy's rules, without enlarging it.

    Examples
    --------
    >>> broadcasts_to((1, 5), (2, 3, 5)), broadcasts_to((2, 5), (1, 5))
    (True, False)
    """
    return len(shape) <= len(target) and all(
        size in (1, wanted) for size, wanted in zip(reversed(shape), reversed(target), strict=False)
    )


def as_truth(function, name, value):
    """Return `value` as a bool; raise if it is neither True nor False.

    Examples
    --------
    >>> as_truth("attention", "causal", np.True_)
    True
    """
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{function}: {name} must be True or False; got {value!r}.")
    return bool(value)


def as_dtype(function, dtype):
    """Return `dtype` as NumPy's own; raise if it is none.

    Examples
    --------
    >>> as_dtype("count_bytes", "int8")
    dtype('int8')
    """
    try:
        return np.dtype(dtype)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{function}: dtype must be a dtype, such as 'float32'; got {dtype!r}.") from error


def as_float_dtype(function, dtype):
    """Return `dtype` as NumPy's own; raise if it is not one of floats.

    Examples
    --------
    >>> as_float_dtype("sinusoidal", "float32")
    dtype('float32')
    """
    dtype = as_dtype(function, dtype)
    if dtype.kind != "f":
        raise TypeError(f"{function}: dtype must be a float dtype; got {dtype}.")
    return dtype
