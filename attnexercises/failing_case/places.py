"""Show which entries of an array are wrong, in words and as a grid of marks."""

import numpy as np

RIGHT, WRONG = "·", "×"
LARGEST = 40  # the largest number of rows or columns of a grid


def wrong_entries(wrong):
    """Return a sentence on which entries of an array are wrong.

    Parameters
    ----------
    wrong : ndarray of bool
        True for each wrong entry.

    Examples
    --------
    >>> wrong_entries(np.array([[False, True], [False, True]]))
    '2 of 4 entries are wrong: column 1'
    >>> wrong_entries(np.triu(np.ones((3, 3), dtype=bool), 1))
    '3 of 9 entries are wrong: those above the diagonal'
    """
    count = int(wrong.sum())
    start = f"{count} of {wrong.size} entries {'is' if count == 1 else 'are'} wrong"
    if wrong.all():
        return "the only entry is wrong" if wrong.size == 1 else f"all {wrong.size} entries are wrong"
    if wrong.ndim == 0 or not count:
        return start
    if wrong.ndim == 1:
        return f"{start}: {_listed('place', np.flatnonzero(wrong))}"
    if (wrong == wrong[..., :1]).all():
        rows = wrong[..., 0]
        return f"{start}: {_listed('row', np.flatnonzero(rows))}" if rows.ndim == 1 else f"{start}, in whole rows"
    if (wrong == wrong[..., :1, :]).all():
        same = (wrong == wrong.reshape(-1, wrong.shape[-1])[0]).all()
        return f"{start}: {_listed('column', np.flatnonzero(wrong.reshape(-1, wrong.shape[-1])[0]))}" if same else start
    lines = np.arange(wrong.shape[-2])[:, None] - np.arange(wrong.shape[-1])
    parts = {"above": lines < 0, "on and above": lines <= 0, "below": lines > 0, "on and below": lines >= 0}
    for where, part in parts.items():
        if (wrong == part).all():
            return f"{start}: those {where} the diagonal"
    if wrong.ndim == 2:
        return f"{start}, in {_listed('row', np.flatnonzero(wrong.any(axis=1)))}"
    elements = np.flatnonzero(wrong.any(axis=tuple(range(1, wrong.ndim))))
    return start if len(elements) == len(wrong) else f"{start}, in {_listed('element', elements)} of the first axis"


def _listed(noun, places):
    if len(places) == 1:
        return f"{noun} {places[0]}"
    if len(places) > 2 and places[-1] - places[0] == len(places) - 1:
        return f"{noun}s {places[0]} to {places[-1]}"
    most = [str(place) for place in places[:6]]
    return f"{noun}s {', '.join(most[:-1])} and {most[-1]}" if len(places) <= 6 else f"{len(places)} {noun}s"


def grids(wrong):
    """Yield (name, matrix) for each matrix of a boolean array; the name is the index on the leading axes."""
    if wrong.ndim < 2:
        yield "", np.atleast_2d(wrong)
        return
    for place in np.ndindex(wrong.shape[:-2]):
        yield (f"[{', '.join(map(str, place))}]" if place else ""), wrong[place]


def drawn(wrong):
    """Return the grid of marks as text, or "" if it would be too large.

    Examples
    --------
    >>> print(drawn(np.eye(2, dtype=bool)))
    × ·
    · ×
    """
    if not fits(wrong):
        return ""
    blocks = []
    for name, matrix in grids(wrong):
        rows = [" ".join(WRONG if entry else RIGHT for entry in row) for row in matrix]
        blocks.append("\n".join([name, *rows] if name else rows))
    return "\n".join(blocks)


def fits(wrong):
    """Is an array small enough to be drawn as a grid?"""
    if wrong.ndim < 2:
        return wrong.size <= LARGEST
    return max(wrong.shape[-2:]) <= LARGEST and int(np.prod(wrong.shape[:-2])) <= 4
