"""The functions that a reader calls about one exercise: `check`, `case`, `hint`, `solution` and `use`."""

import os

from attnexercises.engine.isolation import grade_apart
from attnexercises.engine.judge import is_judging
from attnexercises.engine.registry import find
from attnexercises.own_library.change import offer
from attnexercises.own_library.run import library
from attnexercises.reader import record
from attnexercises.reader.next_steps import difference, next_exercise, where_it_is
from attnexercises.engine.output import hints_are_off, say, shortened, show, width
from attnexercises.reader.source import solution_source

MOST_LINES = 12  # of one check; `case` shows all of the failing case
OFF = "Hints and solutions are turned off here."


class _Nothing:
    """The default of an argument that may be any object, so that a missing argument can be told from None."""

    def __repr__(self):
        return "..."


_NOTHING = _Nothing()


def check(id, answer=_NOTHING):
    """Say whether an answer is right and, if not, what is wrong with it.

    With ``ATTNLIB_STRICT=1`` in the environment, an answer that does not pass raises
    an AssertionError.

    Parameters
    ----------
    id : str
        The name of the exercise.
    answer : callable or value
        Your function itself, as in ``check("softmax", softmax)``, or your value.

    Examples
    --------
    >>> check("softmax", ...)
    [ ] softmax: not attempted yet
    """
    exercise = _asked_for("check", id, answer)
    result = grade_apart(exercise, answer, details=True)
    _tell(exercise, result)
    if result.status == "passed":
        _tell_after_passing(exercise, answer)
    tried = not is_judging()  # a check that an answer calls does not count as a try
    if tried:
        record.keep(id, result, answer)
    if result.status != "unattempted" and tried:
        with record.changing() as table:
            entry = table.setdefault(id, record.blank())
            entry["tries"] += 1
            if entry["state"] != "passed":
                entry["state"] = result.status
            if result.status == "passed":
                entry["turn"] = 1 + max(other["turn"] for other in table.values())
            entry["mistake"] = ", ".join(result.mistakes)
            entry["hint"] = result.hint
            entry["said"] = result.lines[0].partition(": ")[2]
    if result.status == "passed":
        _tell_the_next(exercise)
    if result.status != "passed" and os.environ.get("ATTNLIB_STRICT", "0") not in ("", "0"):
        raise AssertionError("\n".join(result.lines))


def _tell(exercise, result):
    """Print a result: the verdict, the line of an exception, the printed text, the other lines, the failing case.

    The failing case gets the lines that are left of `MOST_LINES`, if only one for how to see it.
    """
    lines = say(result.lines[0])
    if result.stopped:
        lines += say(f"    {result.stopped}")
    if result.printed:
        lines += say("    What your function printed there:") + len(result.printed)
        print("\n".join(f"      {shortened(line, width() - 6)}".rstrip() for line in result.printed))
    lines += say(*result.lines[1:])
    if result.case:
        show(result.case.shortened(max(MOST_LINES - lines, 1)), indent="    ")


def _tell_after_passing(exercise, answer):
    if not hints_are_off():
        say(*(f"    {line}" for line in [difference(exercise, answer)] if line))
    say(offer(exercise, answer))


def _tell_the_next(exercise):
    following = next_exercise(record.load())
    place = f"Next: {where_it_is(following, exercise.chapter)}." if following else ""
    say(f"    {place or 'That was the last one: all exercises are solved.'}")


def case(id):
    """Return the smallest case on which your last answer went wrong, for you to experiment with.

    ``softmax(*case("softmax"))`` calls your function with the arguments of the case, and ``case("softmax")["x"]`` is
    the argument x. The right result is ``expected``, and the result of your function is ``got``.

    Parameters
    ----------
    id : str
        The exercise.

    Returns
    -------
    Case or None
        None if no answer of this session went wrong on a case. A sentence says so.

    Examples
    --------
    >>> check("softmax", lambda x: x)  # doctest: +ELLIPSIS
    [!] softmax: ...
    >>> wrong = case("softmax")
    >>> wrong["x"], wrong.expected, wrong.got, wrong.label
    (array([0.9]), array([1.]), array([0.9]), 'all sizes differ')
    """
    exercise = find(id)
    last = record.last_check(id)
    if last is not None and last.result.case:
        return last.result.case.copy()
    if exercise.value:
        say(f"{id} asks for a value: there are no cases.")
    elif last is None or last.result.status == "unattempted":
        say(f'No answer to {id} has gone wrong in this session: check("{id}", {id}) looks for a case.')
    elif last.result.status == "passed":
        say(f"Your last {id} passed: no case goes wrong.")
    else:
        say(f"What the last check of {id} said is not about a single case.")
    return None


def hint(id, n=None):
    """Print hint number `n`, or else the first hint that you have not seen.

    The hints tell where to look, then the idea, and last almost the formula. If a later hint is about the mistake that
    the last check recognised, its number is printed, too. With ``ATTNLIB_HINTS=off`` in the environment there are no
    hints and no solutions.

    Parameters
    ----------
    id : str
        The exercise.
    n : int, optional
        The number of a hint, counted from 1.

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
    if fits in unseen and fits > n and (fits < count or n == count - 1):  # the last hint only after all others
        say(f'(Hint {fits} is about the mistake of your last try: hint("{id}", {fits}).)')
    if n in unseen:
        with record.changing() as table:
            entry = table.setdefault(id, record.blank())
            entry["hints"] = sorted({*entry["hints"], n})


def solution(id, really=False):
    """Print the book's solution and why it is written that way. Try the exercise first, or pass ``really=True``."""
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
    """Return your answer if it is right, else your saved one, else the book's, so that the chapter can go on."""
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


def _asked_for(call, id, answer):
    """Return the exercise `id`. Raise a ValueError if an argument is missing, or if the two are swapped."""
    if answer is _NOTHING:
        if not isinstance(id, str):
            raise ValueError(f'`{call}` takes two arguments: the exercise\'s `id` in quotes, then your `answer`.')
        raise ValueError(f'`answer` is missing: {call}("{find(id).id}", {id}), with your own {id}.')
    if isinstance(answer, str) and not isinstance(id, str):
        raise ValueError(f'`id` and `answer` are in each other\'s place: {call}("{answer}", ...), the name in quotes first.')
    return find(id)
