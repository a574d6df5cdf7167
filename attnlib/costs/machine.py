"""What a machine waits for: its memory or its arithmetic."""

import math
from typing import NamedTuple

import numpy as np

from attnlib.checks.arrays import as_dtype


class Machine(NamedTuple):
    """A processor, as far as the roofline knows it.

    Attributes
    ----------
    bandwidth : float
        Bytes per second between slow and fast memory.
    peak_flops : dict from str to float
        Operations per second, at best, for each dtype by name.
    """

    bandwidth: float
    peak_flops: dict


#: NVIDIA A100 with 40 GB, from its data sheet (2020): float32 without, float16 with tensor cores.
A100 = Machine(1.555e12, {"float32": 19.5e12, "float16": 312e12})


class Roofline(NamedTuple):
    """Where a computation stands under the roof.

    Attributes
    ----------
    intensity : float
        Its operations per byte moved.
    ridge : float
        The intensity from which on the machine waits for its arithmetic.
    seconds : float
        The least it can take.
    bound : str
        What the machine waits for: "memory" or "compute".
    """

    intensity: float
    ridge: float
    seconds: float
    bound: str


def arithmetic_intensity(flops, traffic, *, dtype="float32"):
    """Operations for each byte moved.

    Parameters
    ----------
    flops : Flops or number
        Operations.
    traffic : Traffic or number
        *Numbers* moved, not bytes: `dtype` says how many bytes one has.
    dtype : dtype, default "float32"
        The type of the numbers.

    Returns
    -------
    intensity : float
        Infinite if nothing moves.

    Raises
    ------
    TypeError
        If `flops` or `traffic` is not a count, or `dtype` not a dtype.

    Examples
    --------
    >>> from attnlib.costs import count_traffic
    >>> n, d = 1024, 64
    >>> arithmetic_intensity(4 * n * n * d, count_traffic(n, n, d), dtype="float16")
    30.11764705882353
    """
    operations = _amount("arithmetic_intensity", "flops", flops)
    moved = _amount("arithmetic_intensity", "traffic", traffic) * as_dtype("arithmetic_intensity", dtype).itemsize
    return operations / moved if moved else math.inf


def roofline(flops, traffic, machine, *, dtype="float32"):
    """Is the machine waiting for its memory or for its arithmetic, and for how long at least?

    One `dtype` decides both the bytes of a number and the peak of the machine, so that float32 bytes
    cannot be held against a float16 peak.

    Parameters
    ----------
    flops : Flops or number
        Operations.
    traffic : Traffic or number
        Numbers moved.
    machine : Machine
        For example `A100`.
    dtype : dtype, default "float32"
        Must be one that the machine has a peak for.

    Returns
    -------
    roofline : Roofline
        ``intensity`` and ``ridge`` in operations per byte: below the ridge the memory is the bottleneck.
        ``seconds`` is the larger of the two times, ``bound`` says which it is.

    Raises
    ------
    TypeError
        If `flops` or `traffic` is not a count, `machine` not a `Machine`, or `dtype` not a dtype.
    ValueError
        If the machine has no peak for `dtype`.

    References
    ----------
    .. [1] Williams, Waterman and Patterson (2009), "Roofline: an insightful visual performance model for
       multicore architectures", Communications of the ACM 52(4).

    Examples
    --------
    >>> from attnlib.costs import count_traffic
    >>> n, d = 4096, 64
    >>> roofline(4 * n * n * d, count_traffic(n, n, d), A100, dtype="float16").bound
    'memory'
    """
    if not isinstance(machine, Machine):
        raise TypeError(f"roofline: machine must be a Machine, such as A100; got {machine!r}.")
    dtype = as_dtype("roofline", dtype)
    name = dtype.name
    if name not in machine.peak_flops:
        raise ValueError(f"roofline: the machine has no peak for {name}; it has {', '.join(machine.peak_flops)}.")
    operations, numbers = _amount("roofline", "flops", flops), _amount("roofline", "traffic", traffic)
    intensity, peak = arithmetic_intensity(operations, numbers, dtype=dtype), machine.peak_flops[name]
    ridge = peak / machine.bandwidth
    seconds = max(operations / peak, numbers * dtype.itemsize / machine.bandwidth)
    return Roofline(intensity, ridge, seconds, "memory" if intensity < ridge else "compute")


def _amount(function, name, amount):
    total = getattr(amount, "total", amount)
    if isinstance(total, (bool, np.bool_)) or not isinstance(total, (int, float, np.integer, np.floating)):
        raise TypeError(f"{function}: {name} must be a count; got {amount!r}.")
    return total
