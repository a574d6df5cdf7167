"""The functions that a reader calls about the own file `my_attention.py`: `save`, `load` and `my_library`."""

from attnexercises.engine.registry import BOOK_ORDER, described, find, registry
from attnexercises.own_library import on_disk
from attnexercises.own_library.accepted import CannotSave, accepted
from attnexercises.own_library.change import put
from attnexercises.own_library.on_disk import Unusable
from attnexercises.own_library.run import functions, library
from attnexercises.engine.output import say


def save(*ids):
    """Write your accepted answers into your own file, ``my_attention.py``, from which you can import them.

    The file lies in your working directory and needs only NumPy. Everything that an answer uses is saved with it: your
    other functions, constants and imports. Before the file is written, each function is checked again in the new text.
    If a function in the file is replaced, a copy of the old file is kept. ``ATTNLIB_LIBRARY=<path>`` chooses another
    file, and ``ATTNLIB_LIBRARY=off`` turns saving off.

    Parameters
    ----------
    *ids : str
        The names of the exercises. Without any, all functions that passed in this session are saved.
    """
    exercises = [find(id) for id in ids]
    path = on_disk.location()
    if path is None:
        say("Nothing is saved: ATTNLIB_LIBRARY is off.")
        return
    if not ids:
        exercises = [exercise for exercise in functions() if accepted(exercise.id)]
        if not exercises:
            say("No function has passed in this session: there is nothing to save yet.")
    for exercise in exercises:
        try:
            say(put(exercise, path))
        except (CannotSave, Unusable) as error:
            say(f"Not saved: {exercise.id}. {error}")


def load(*ids):
    """Return your saved functions, or the book's where yours is not saved or does not pass. A sentence says which.

    Parameters
    ----------
    *ids : str
        The names of the exercises.

    Returns
    -------
    callable, or tuple of callable

    Examples
    --------
    >>> softmax, sdpa = load("softmax", "sdpa")
    The book's, until yours are saved: softmax, sdpa.
    """
    exercises = [find(id) for id in ids]
    values = [exercise.id for exercise in exercises if exercise.value]
    if values:
        raise ValueError(f"{values[0]} is a value, not a function: only functions are saved.")
    mine = library()
    if mine and mine.trouble:
        say(mine.trouble)
    yours = [id for id in ids if mine and mine.passes(id)]
    failing = [id for id in ids if mine and id in mine.ids and id not in yours]
    missing = [id for id in ids if id not in yours and id not in failing]
    if yours:
        say(f"Yours, from {mine.name}: {', '.join(yours)}.")
    if failing:
        say(f"The book's, as yours {_verb(failing, 'do not', 'does not')} pass: {', '.join(failing)}.")
    if missing:
        say(f"The book's, until yours {_verb(missing, 'are', 'is')} saved: {', '.join(missing)}.")
    loaded = tuple(mine.function(e.id) if e.id in yours else e.solution for e in exercises)
    return loaded[0] if len(loaded) == 1 else loaded


def my_library(chapter=None):
    """Test the functions of your own file up to and including a chapter, and print one line for each.

    Parameters
    ----------
    chapter : str, optional
        The topic word of the last chapter, such as "softmax". Without it, all chapters are tested.

    Examples
    --------
    >>> my_library("softmax")
    No file of your own yet. Once softmax passes, save("softmax") begins one.
    """
    exercises, mine = up_to(chapter), library()
    if mine is None:
        begin = exercises[-1].chapter if chapter else next(topic for topic in BOOK_ORDER if BOOK_ORDER[topic]["number"])
        id = next(e.id for e in exercises if e.chapter == begin)
        say(f'No file of your own yet. Once {id} passes, save("{id}") begins one.')
    elif mine.trouble:
        say(mine.trouble)
    else:
        for exercise in exercises:
            there = exercise.id in mine.ids
            say(mine.result(exercise.id).lines[0] if there else f"[ ] {exercise.id}: not saved yet")
        say(summary(mine, exercises))


def summary(mine, exercises):
    """Return one line on how many of the exercises are in the file, and how many of these pass."""
    if mine.trouble:
        return mine.trouble
    there = [exercise.id for exercise in exercises if exercise.id in mine.ids]
    passing = sum(map(mine.passes, there))
    pass_ = "" if not there else "; all pass" if passing == len(there) else f"; {passing} of them pass"
    return f"{mine.name}: {len(there)} of {len(exercises)} functions{pass_}."


def up_to(chapter):
    """Return the exercises that ask for a function, up to and including a chapter, or all if it is None."""
    chapters = list(dict.fromkeys(exercise.chapter for exercise in registry().values()))
    if chapter is not None and not isinstance(chapter, str):
        words = f"`chapter` is a topic word in quotes, such as {chapters[1]!r}"
        raise ValueError(f"{words}; this is {described(chapter)}.")
    if chapter is not None and chapter not in chapters:
        raise ValueError(f"There is no chapter {chapter!r} with exercises; there are: {', '.join(chapters)}.")
    last = chapters.index(chapter) if chapter else len(chapters)
    return [exercise for exercise in functions() if chapters.index(exercise.chapter) <= last]


def _verb(names, many, one):
    return one if len(names) == 1 else many
