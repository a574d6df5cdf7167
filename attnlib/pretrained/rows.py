"""Which row of the table of tokens belongs to an id: a copy of a model may keep the rows of some tokens only."""

import numpy as np

from attnlib.training.arguments import as_tokens


class Rows:
    """The rows of the ids `kept`, in this order; without `kept`, a row for every id below `size`."""

    def __init__(self, size, kept=None):
        ids = range(size) if kept is None else kept
        self._row = np.full(max(ids) + 1, -1)  # -1 where there is none
        self._row[ids] = np.arange(size)

    def has(self, ids):
        """Is there a row for each of these ids?"""
        ids = np.asarray(ids, np.int64)
        return bool((ids < len(self._row)).all() and (self._row[ids] >= 0).all())

    def of(self, ids):
        """The rows of ids that `as_ids` has returned."""
        return self._row[ids]

    def as_ids(self, function, ids):
        """The ids as an array of integers; a ValueError that names the `function` where one of them has no row."""
        ids = as_tokens(function, "ids", ids, len(self._row))
        if (self._row[ids] < 0).any():
            raise ValueError(f"{function}: this copy of the model does not keep the token {ids[self._row[ids] < 0][0]}.")
        return ids
