"""Exercises whose answer is judged by a run: a schedule that a chip follows, an input that is to break a function."""

import numpy as np

from attnexercises.engine.model import Behaviour, value_exercise

RIGHT = "right"


def judged_exercise(id, *, judge, answer, mistakes=(), wrong=None, **rest):
    """Return an `Exercise` whose answer is a value of any kind, and right if a run of it is.

    Parameters
    ----------
    id : str
    judge : callable
        ``judge(answer)`` returns a verdict and a sentence: "right", or what is wrong in a word or two, and what was
        seen on this very answer. It stands whatever it is given.
    answer : callable
        The solution: a function without arguments.
    mistakes : sequence of Mistake
        Known wrong answers: the field ``wrong`` of each is a function without arguments. The id of each mistake is its
        verdict; what it says stands behind what was seen.
    **rest
        The other fields of `Exercise`.

    Examples
    --------
    >>> from attnexercises import Mistake, grade
    >>> even = judged_exercise(
    ...     "even", judge=lambda n: ("odd", f"{n} is odd.") if n % 2 else ("right", ""), answer=lambda: 2,
    ...     mistakes=[Mistake("odd", lambda: 1, "Half of it is not whole.")],
    ...     title="Even", chapter="none", level="easy", minutes=1, hints=(), why="", insight="")
    >>> grade(even, 7).lines[0]
    '[!] even: 7 is odd. Half of it is not whole.'
    """

    def verdict(arguments, returned):
        return (np.array(judge(*returned)[0]),)

    behaviour = Behaviour((id,), verdict, lambda arguments, returned: judge(returned)[1], as_is=True)
    return value_exercise(id, answer=answer, oracle=lambda: RIGHT, mistakes=mistakes, wrong=wrong, behaviour=behaviour, **rest)
