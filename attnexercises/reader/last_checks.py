"""Keep the last check of each exercise in memory, for `case` and `report`."""

from dataclasses import dataclass

_last = {}  # from the id of an exercise to its `Checked`


@dataclass(frozen=True)
class Checked:
    """An answer and the result of its check."""

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
