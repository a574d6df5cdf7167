"""The file format of most published weights: a length, a header that says where each array lies, and the bytes.

Nothing in such a file is code, so that reading it can execute nothing.
"""

import json
import math
from collections.abc import Mapping
from pathlib import Path

import numpy as np

DTYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "i1", "U8": "u1"}


def read_safetensors(path):
    """Read every array of a safetensors file.

    The first eight bytes are the length of the header, the header is JSON, and it names for each array its dtype, its
    shape and where its bytes begin and end. The arrays follow each other without gaps.

    Parameters
    ----------
    path : str or Path

    Returns
    -------
    arrays : dict from str to ndarray of any shape
        In the order of the header. They are views of the bytes that were read, so nobody may write to them.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file is cut off, damaged, or holds a dtype that NumPy does not have.

    References
    ----------
    .. [1] Hugging Face, "Safetensors", section "Format".

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_safetensors(f"{folder}/small.safetensors", {"gain": np.ones(2, np.float32)})
    ...     read_safetensors(f"{folder}/small.safetensors")
    {'gain': array([1., 1.], dtype=float32)}
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"read_safetensors: there is no file {path}.")
    data = path.read_bytes()
    length = int.from_bytes(data[:8], "little")
    if len(data) < 8 or length > len(data) - 8:
        raise _damaged(path, f"its header should have {length} bytes, and {max(len(data) - 8, 0)} bytes follow")
    try:
        header = json.loads(data[8 : 8 + length], object_pairs_hook=_without_repeats)
    except (ValueError, RecursionError) as error:  # neither text nor JSON, or a name twice
        raise _damaged(path, f"its header is not a JSON object with different names ({error})") from None
    if not isinstance(header, dict):
        raise _damaged(path, "its header is not a JSON object with different names")
    arrays, places = {}, {}
    for name, entry in header.items():
        if name != "__metadata__":
            kind, shape, begin, end = _entry(path, name, entry)
            if begin + math.prod(shape) * kind.itemsize != end or end > len(data) - 8 - length:
                raise _damaged(path, f"{name} {tuple(shape)} does not fit its bytes {begin} to {end}, or they are cut off")
            array = np.frombuffer(data, kind, math.prod(shape), 8 + length + begin) if end > begin else np.empty(0, kind)
            try:
                arrays[name], places[name] = array.reshape(shape), (begin, end)
            except (ValueError, OverflowError):  # an empty array with an axis beyond all bounds, or too many axes
                raise _damaged(path, f"{name} has a shape that no array can have") from None
    reached = 0
    for name, (begin, end) in sorted(places.items(), key=lambda item: item[1]):
        if begin != reached:
            raise _damaged(path, f"{name} begins at byte {begin}, and the array before it ends at {reached}")
        reached = end
    if reached != len(data) - 8 - length:
        raise _damaged(path, f"its arrays end at byte {reached}, and the file at byte {len(data) - 8 - length}")
    return arrays


def write_safetensors(path, arrays):
    """Write arrays to a safetensors file: the reverse of `read_safetensors`.

    Parameters
    ----------
    path : str or Path
        An existing file is replaced.
    arrays : dict from str to ndarray of any shape

    Raises
    ------
    TypeError
        If `arrays` is not a dict from names to arrays, or the format has no name for a dtype.

    Examples
    --------
    >>> write_safetensors("never.safetensors", {"gain": np.ones(2, complex)})
    Traceback (most recent call last):
    ...
    TypeError: write_safetensors: gain must have one of the dtypes F64, F32, F16, I64, I32, I16, I8, U8; got complex128.
    """
    if not isinstance(arrays, Mapping) or not all(isinstance(name, str) for name in arrays):
        raise TypeError("write_safetensors: arrays must be a dict from names to arrays.")
    names = {np.dtype(kind): name for name, kind in DTYPES.items()}
    header, parts, reached = {}, [], 0
    for name, array in arrays.items():
        array = np.asarray(array)
        if array.dtype not in names:
            raise TypeError(f"write_safetensors: {name} must have one of the dtypes {', '.join(DTYPES)}; got {array.dtype}.")
        begin, reached = reached, reached + array.nbytes
        header[name] = {"dtype": names[array.dtype], "shape": list(array.shape), "data_offsets": [begin, reached]}
        parts.append(array.tobytes())
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)  # so that the numbers begin at a multiple of eight bytes
    Path(path).write_bytes(b"".join((len(text).to_bytes(8, "little"), text, *parts)))


def _entry(path, name, entry):
    # The dtype, the shape and the place of one array, or the sentence that says what is wrong with it.
    try:
        kind, shape, (begin, end) = entry["dtype"], entry["shape"], entry["data_offsets"]
        whole = isinstance(kind, str) and isinstance(shape, list)
        whole = whole and all(type(number) is int and number >= 0 for number in (*shape, begin, end))
    except (KeyError, TypeError, ValueError):
        whole = False
    if not whole:
        raise _damaged(path, f"the header does not give {name} a dtype, a shape and two offsets")
    if kind not in DTYPES:
        raise ValueError(f"read_safetensors: {path} holds {name} as {kind!r}; known are {', '.join(DTYPES)}.")
    return np.dtype(DTYPES[kind]), shape, begin, end


def _without_repeats(pairs):
    # What JSON calls an object may name a thing twice, and Python would keep the last one silently.
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name stands there twice")
    return found


def _damaged(path, reason):
    return ValueError(f"read_safetensors: {path} is damaged: {reason}.")
