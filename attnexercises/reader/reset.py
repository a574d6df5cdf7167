"""`reset` deletes the progress of an exercise, or of all if `sure=True` confirms that. It never waits for an answer."""

from attnexercises.engine.registry import find
from attnexercises.own_library import accepted
from attnexercises.own_library.change import remove
from attnexercises.own_library.run import library
from attnexercises.reader import record
from attnexercises.engine.output import say


def reset(id=None, saved=False, sure=False):
    """Delete the progress of one exercise, or of all exercises.

    Parameters
    ----------
    id : str, optional
        The name of the exercise. Without it, all progress is deleted, but only if you pass ``sure=True``.
    saved : bool
        Whether to remove the exercise from your own file, too, or to remove the whole file. A copy is kept.
    sure : bool
        Confirms that everything shall be deleted.

    Examples
    --------
    >>> reset()
    There is no progress to forget.
    """
    if id is not None:
        find(id)
    elif not sure:
        _say_what_would_be_forgotten(saved)
        return
    with record.changing() as table:
        for gone in [id] if id else list(table):
            table.pop(gone, None)
    accepted.forget(id)
    record.forget_checks(id)
    print(f"Forgotten: {id or 'everything'}.")
    mine = library()
    if mine is None or not (id is None or id in mine.ids or mine.trouble):
        return
    if saved:
        say(remove(id))
    elif mine.trouble:
        say(mine.trouble)
    else:
        call = f'reset("{id}", saved=True)' if id else "reset(saved=True)"
        say(f"{mine.name} is as it was{f', with {id} in it' if id else ''}: {call} would change it, and keep a copy.")


def _say_what_would_be_forgotten(saved):
    """Print what would be deleted and how to confirm that: scripts and pages of the book cannot answer a question."""
    table, mine = record.load(), library() if saved else None
    tried = sum(bool(entry["tries"]) for entry in table.values())
    solved = sum(entry["state"] == "passed" for entry in table.values())
    if not table and mine is None:
        say("There is no progress to forget.")
        return
    what = f"the progress of all exercises ({tried} tried, {solved} of them solved)"
    if mine:
        what += f", and take {mine.name} away, with a copy"
    say(f"This would forget {what}. If you are sure: reset({'saved=True, ' if saved else ''}sure=True)")
