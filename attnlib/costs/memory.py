"""A counted two-level memory: what moves between slow and fast memory is counted, number by number.

Ordinary arrays are slow memory: large, and paid for by the number. What is loaded, or computed and kept,
lives in fast memory, which has a capacity. What a single line needs in passing (a product that is added to a
tile, a vector of maxima) is not counted. The loops that run on it compute the real result, so that nothing
that moves can be left out of the count unnoticed.
"""

import numpy as np

from attnlib.checks.arrays import as_integer


class Memory:
    """A small fast memory that counts what it loads from and stores to slow memory.

    Parameters
    ----------
    capacity : int, optional
        How many numbers fit. Unlimited if left out.

    Attributes
    ----------
    loads, stores : int
        Numbers moved so far from slow to fast memory, and back.
    used, peak : int
        Numbers in fast memory now, and the most there have been.

    Examples
    --------
    >>> memory = Memory(capacity=4)
    >>> slow = np.array([1.0, 2.0, 3.0])
    >>> fast = memory.load(slow[:2])
    >>> fast *= 10  # free of charge: it is in fast memory
    >>> memory.store(fast, slow[:2])
    >>> memory.free(fast)
    >>> slow, memory.loads, memory.stores, memory.used, memory.peak
    (array([10., 20.,  3.]), 2, 2, 0, 2)
    """

    def __init__(self, capacity=None):
        if capacity is not None:
            capacity = as_integer("Memory", "capacity", capacity, minimum=1)
        self.capacity = capacity
        self.loads = self.stores = self.used = self.peak = 0
        self._held = []  # compared by identity: two equal arrays are two

    def load(self, slow):
        """Copy (part of) a slow array into fast memory and return the copy."""
        self._require_room(slow.size)
        self.loads += slow.size
        return self.keep(slow.copy())

    def keep(self, result):
        """Give an array that was computed in fast memory its room there; return it."""
        self._require_room(result.size)
        self._held.append(result)
        self.used += result.size
        self.peak = max(self.peak, self.used)
        return result

    def store(self, fast, slow):
        """Write a whole fast array over (part of) a slow one of the same shape.

        Raises
        ------
        ValueError
            If the shapes differ or the first array is not in fast memory.
        """
        self._require_held("store", fast)
        if slow.shape != fast.shape:
            raise ValueError(f"Memory.store: both arrays must have one shape; got {fast.shape} and {slow.shape}.")
        self.stores += fast.size
        slow[...] = fast

    def free(self, *fast):
        """Make room: forget these arrays."""
        for array in fast:
            self._require_held("free", array)
            self._held = [held for held in self._held if held is not array]
            self.used -= array.size

    def _require_room(self, size):
        if self.capacity is not None and self.used + size > self.capacity:
            raise MemoryError(
                f"Memory: the fast memory holds {self.capacity} numbers and {self.used} are in use; "
                f"{size} more do not fit."
            )

    def _require_held(self, method, array):
        if not any(held is array for held in self._held):
            raise ValueError(f"Memory.{method}: the array is not in fast memory; load it, or keep it, first.")


def tiles(length, block=None):
    """Slices of `block` positions that cover 0 … length; the last one may be shorter.

    Parameters
    ----------
    length : int
    block : int, optional
        One slice for all if left out.

    Returns
    -------
    slices : list of slice

    Raises
    ------
    TypeError
        If an argument is not an integer.
    ValueError
        If `length` is negative or `block` is less than 1.

    Examples
    --------
    >>> tiles(5, 2)
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    length = as_integer("tiles", "length", length, minimum=0)
    block = max(length, 1) if block is None else as_integer("tiles", "block", block, minimum=1)
    return [slice(start, min(start + block, length)) for start in range(0, length, block)]


def slow_array(left, right):
    """Room in slow memory for ``left @ right.T``."""
    return np.empty((len(left), len(right)), left.dtype)
