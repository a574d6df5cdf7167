"""The last check of each exercise in this session: for `case` and `report`. In memory alone."""

from dataclasses import dataclass

_last = {}  # exercise id to `Checked`


@dataclass(frozen=True)
class Checked:
    """What was checked, and what was found."""

    result: object
    answer: object


def keep(id, result, answer):
    """Remember the last check of an exercise."""
    _last[id] = Checked(result, answer)


def last(id):
    """Return the last `Checked` of an exercise, or None."""
    return _last.get(id)


def forget(id=None):
    """Forget the last check of one exercise, or of all."""
    for gone in [id] if id else list(_last):
        _last.pop(gone, None)
