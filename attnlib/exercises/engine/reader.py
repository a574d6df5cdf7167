"""What a reader calls in a notebook: check, hint, solution, use, progress, reset. Plain text only."""

import os

from attnlib.exercises.engine import accepted, record
from attnlib.exercises.engine.apart import grade_apart
from attnlib.exercises.engine.judge import is_judging
from attnlib.exercises.engine.library import summary, up_to
from attnlib.exercises.engine.library_change import offer, remove
from attnlib.exercises.engine.library_run import library
from attnlib.exercises.engine.lines import say
from attnlib.exercises.engine.registry import find, registry
from attnlib.exercises.engine.settings import hints_are_off
from attnlib.exercises.engine.source import solution_source

OFF = "Hints and solutions are turned off here."


class _Nothing:
    """What stands for an argument that was not given."""

    def __repr__(self):
        return "..."


_NOTHING = _Nothing()


def check(id, answer=_NOTHING):
    """Say whether an answer is right and, if not, what is wrong with it.

    With ``ATTNLIB_STRICT=1`` in the environment, anything but a pass raises an
    AssertionError.

    Parameters
    ----------
    id : str
        The exercise.
    answer : callable or value
        Your function itself, ``check("softmax", softmax)``, or your value.

    Examples
    --------
    >>> check("softmax", ...)
    [ ] softmax: not attempted yet
    """
    exercise = _asked_for("check", id, answer)
    result = grade_apart(exercise, answer)
    say(*result.lines)
    if result.status == "passed":
        say(offer(exercise, answer))
    if result.status != "unattempted" and not is_judging():  # an answer may call other checks; those are no tries
        with record.changing() as table:
            entry = table.setdefault(id, record.blank())
            entry["tries"] += 1
            if entry["state"] != "passed":
                entry["state"] = result.status
            entry["mistake"] = ", ".join(result.mistakes)
            entry["hint"] = result.hint
    if result.status != "passed" and os.environ.get("ATTNLIB_STRICT", "0") not in ("", "0"):
        raise AssertionError("\n".join(result.lines))


def hint(id, n=None):
    """Print hint number `n`, or else the first that you have not seen: where to look, the idea, almost the formula.

    If a later one fits the mistake that the last check recognised, its number is added. With ``ATTNLIB_HINTS=off``
    in the environment there are no hints and no solutions.

    Parameters
    ----------
    id : str
        The exercise.
    n : int, optional
        The number of a hint, from 1.

    Examples
    --------
    >>> hint("delta_sum", 1)
    Hint 1 of 3: The delta is 1 where i equals j, and 0 elsewhere. Which of the
    nine terms survive?
    """
    exercise = find(id)
    if hints_are_off():
        say(OFF)
        return
    count, fits = len(exercise.hints), None
    entry = record.load().get(id) or record.blank()
    unseen = [number for number in range(1, count + 1) if number not in entry["hints"]]
    if n is None:
        if not unseen:
            call = f'solution("{id}")' if entry["tries"] else f'solution("{id}", really=True)'
            say(f"You have seen all {count} hints. The last one again; {call} shows the way.")
        n = (unseen or [count])[0]
        fits = entry["hint"]
    elif isinstance(n, bool) or not isinstance(n, int) or not 1 <= n <= count:
        say(f"{id} has {count} hints: ask for 1 to {count}.")
        return
    say(f"Hint {n} of {count}: {exercise.hints[n - 1]}")
    if fits in unseen and fits > n:
        say(f'(Hint {fits} is about the mistake of your last try: hint("{id}", {fits}).)')
    if n in unseen:
        with record.changing() as table:
            entry = table.setdefault(id, record.blank())
            entry["hints"] = sorted({*entry["hints"], n})


def solution(id, really=False):
    """Print the book's solution, and why it is written that way. Try first, or say ``really=True``."""
    exercise = find(id)
    if hints_are_off():
        say(OFF)
        return
    if not really and not record.load().get(id, record.blank())["tries"]:
        say(f'{id} is not attempted yet. To see the solution all the same: solution("{id}", really=True)')
        return
    print(f"{solution_source(exercise)}\n")
    say(exercise.why)


def use(id, answer=_NOTHING):
    """Return your answer if it is right, else the one you saved, else the book's: so the chapter goes on."""
    exercise = _asked_for("use", id, answer)
    if grade_apart(exercise, answer).status == "passed":
        return answer
    mine = None if exercise.value else library()
    if mine and mine.passes(id):
        say(f"(From here on your {id} from {mine.name} is used.)")
        return mine.function(id)
    if mine and (mine.trouble or id in mine.ids):
        say(f"({mine.trouble or f'The {id} in {mine.name} does not pass: my_library() says why.'})")
    say(f"(From here on the book's own {id} is used, until yours passes.)")
    return exercise.solution() if exercise.value else exercise.solution


def progress(chapter=None):
    """Print a table of the exercises: state, tries, hints taken, last recognised mistake.

    If you have a file of your own, it also says which functions are saved, and whether the file passes up to here.

    Parameters
    ----------
    chapter : str, optional
        The topic word of one chapter, "softmax" for instance.
    """
    exercises, mine, table = up_to(chapter), library(), record.load()
    width = max(map(len, registry())) + 2
    saved = f"{'saved':>7}" if mine else ""
    print(f"{'chapter':<15}{'exercise':<{width}}{'level':<8}{'state':<15}{'tries':>5}{'hints':>7}{saved}  last mistake")
    for exercise in registry().values():
        if chapter in (None, exercise.chapter):
            entry = table.get(exercise.id) or record.blank()
            line = f"{exercise.chapter:<15}{exercise.id:<{width}}{exercise.level:<8}"
            line += f"{entry['state'] or 'not attempted':<15}"
            saved = f"{'yes' if exercise.id in mine.ids else '':>7}" if mine else ""
            print((line + f"{entry['tries']:>5}{len(entry['hints']):>7}{saved}  {entry['mistake']}").rstrip())
    if mine:
        say(summary(mine, exercises))


def reset(id=None, saved=False):
    """Forget the progress of one exercise, or of all.

    Parameters
    ----------
    id : str, optional
        The exercise.
    saved : bool
        Take it out of your own file, too, or the whole file away. A copy is kept in either case.
    """
    if id is not None:
        find(id)
    with record.changing() as table:
        for gone in [id] if id else list(table):
            table.pop(gone, None)
    accepted.forget(id)
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


def _asked_for(call, id, answer):
    """The exercise of a call with two arguments; a ValueError says which of them is missing or in the other's place."""
    if answer is _NOTHING:
        if not isinstance(id, str):
            raise ValueError(f'`{call}` takes two arguments: the exercise\'s `id` in quotes, then your `answer`.')
        raise ValueError(f'`answer` is missing: {call}("{find(id).id}", {id}), with your own {id}.')
    if isinstance(answer, str) and not isinstance(id, str):
        raise ValueError(f'`id` and `answer` are in each other\'s place: {call}("{answer}", ...), the name in quotes first.')
    return find(id)
