"""The data classes of an exercise (`Exercise`, `Probe`, `Mistake`, `Behaviour`) and of a verdict (`Result`).

An exercise asks for a function by default. `value_exercise` makes one that asks for a value instead, and
`judged_exercise` one whose value has many right answers, so that a function has to try it out: a schedule that
a simulated chip follows, for example, or an input that shall break a given function.
"""

from dataclasses import KW_ONLY, dataclass

import numpy as np

from attnexercises.engine.edits import Family


@dataclass(frozen=True)
class Probe:
    """One input on which an answer is tried.

    Parameters
    ----------
    label : str
        The name of the case in messages, such as "all sizes differ" or "large scores".
    make : callable
        ``make(rng)`` returns the tuple of arguments. The generator always has the same seed, and each run gets
        a copy, so the arguments are always equal and no array is shared between runs.
    kind : {"ordinary", "equal", "edge"}
        "ordinary": all sizes differ, so that a wrong formula shows. "equal": some sizes
        agree, so that a formula that mixes up axes does not crash and can be recognised.
        "edge": a special input, which counts only if the answer is right on all others.
    why : str
        The purpose of the case, for a case that no single known mistake needs.
    """

    label: str
    make: object
    kind: str = "ordinary"
    why: str = ""


@dataclass(frozen=True)
class Mistake:
    """A known wrong answer and the sentence that tells a reader about it.

    Parameters
    ----------
    id : str
        Its name in a `Result` and in the stored progress of readers.
    wrong : str, tuple of str, or callable
        The mistake itself: one or several edits of the solution, such as ``"axis=-1 -> axis=0"`` (see
        `edits`). Where no edit can express the mistake, it is a function that replaces the solution.
    say : str
        The cause of the mistake in at most 160 characters, but never the line of code to type. The sentence
        has to be true whatever else is wrong with the answer. Therefore it says nothing about the resulting
        numbers ("the right ...", "sums to", "times too large").
    hint : int, optional
        The number, counted from 1, of the hint that helps against this mistake.
    shows : str
        The usual symptoms of the mistake: names in `relations.CLAIMS`, separated by spaces. Each claim is
        measured on the reader's answer; one that holds is printed before the cause.
    sets : str
        The quantities that the mistake gives another value, in words that the author chooses, separated by
        spaces. Two mistakes that change the same quantity are never named together.
    """

    id: str
    wrong: str
    say: str
    hint: int | None = None
    shows: str = ""
    sets: str = ""


@dataclass(frozen=True)
class Behaviour:
    """How to judge an exercise with many right answers: by the effect of the returned values, not by their numbers.

    Parameters
    ----------
    returns : tuple of str
        The names of the values that the reader's function returns. `Exercise.outputs` then holds the names
        of the arrays that are compared.
    of : callable
        ``of(arguments, returned)`` computes from the returned values the tuple of arrays that is compared with
        the oracle's. If the returned values do not fit, it raises a ValueError with a text such as "returns ...".
    differs : callable
        ``differs(arguments, returned)`` returns one sentence about what a wrong answer does and should do.
    cause : callable, optional
        ``cause(tried)`` gets a list of (arguments, returned), one for each probe, and returns the id of the known mistake
        that only the comparison of several probes shows, or "". It is asked first, even if every probe is right.
    as_is : bool
        Whether the returned value is passed on as any Python object and not converted to arrays. The sentence of
        `differs` is then printed before the sentence of a known mistake, too.
    """

    returns: tuple
    of: object
    differs: object
    as_is: bool = False
    cause: object = None


@dataclass(frozen=True, eq=False)
class Exercise:
    """Everything that the checks, the hints, the site and the tests know about an exercise.

    Parameters
    ----------
    id : str
        The name of the exercise, and of the function or value that the reader writes; by default that of the solution.
    title, level, minutes : str, str, int
        `level` is "easy", "medium" or "hard".
    oracle : callable
        Computes the right outputs in a slow and obvious way (loops, `math`). It shares no code with `solution`
        or attnlib.
    solution : callable
        The solution that readers see, a function with the name of the exercise. It uses only ``np``.
    probes : tuple of Probe
        The inputs on which an answer is tried. The first one has the kind "ordinary".
    mistakes : tuple of Mistake
        The known mistakes, in the order in which an answer is compared with them.
    hints : tuple of str
        In turn, where to look, the idea, and almost the formula; plain text with `code`.
    why : str
        Two sentences on why the solution is written in this way.
    insight : str
        One line that is printed when an answer has passed.
    chapter : str
        The topic word of the chapter; by default the folder in which the solution stands.
    blanks : int
        The number of TODO in the exercise's cell. An answer with fewer TODO, but at least one, counts as begun.
    outputs : tuple of str
        The names of the returned arrays.
    rtol, atol : float
        The tolerances of a right answer, small enough to tell float32 from float64.
    cancelling : tuple of frozenset
        Sets of ids of mistakes that cancel each other, so that an answer with all of them is right.
    value : bool
        Whether the answer is a number, tuple, array or word, and not a function.
    quantities : dict of str to number
        For an answer that is a number: the numbers that the exercise states, such as ``{"12 heads": 12}``. If a wrong number is
        too large or too small by one of them, or by the ratio of two, the message says so.
    method : callable, optional
        ``method(answer)`` examines *how* an answer with right values computes them. It returns a sentence if the
        answer avoids what the exercise is about, otherwise "".
    behaviour : Behaviour, optional
        For an exercise that is judged by the effect of the returned values and not by their numbers.
    consistent : callable, optional
        ``consistent(arguments)`` recomputes the arguments that depend on other arguments. It is needed when the
        search for the smallest failing case has made some arguments smaller.
    family : callable, optional
        ``family(bugs)`` returns the solution with the mistakes of these ids in it; ``family(frozenset())`` is the
        solution itself. By default it applies the edits of the mistakes to the solution.
    """

    id: str = ""
    _: KW_ONLY
    title: str
    level: str
    minutes: int
    oracle: object
    solution: object
    probes: tuple
    mistakes: tuple
    hints: tuple
    why: str
    insight: str
    chapter: str = ""
    outputs: tuple = ("out",)
    rtol: float = 1e-9
    atol: float = 1e-12
    cancelling: tuple = ()
    blanks: int = 1
    value: bool = False
    quantities: object = None
    method: object = None
    behaviour: object = None
    consistent: object = None
    family: object = None

    def __post_init__(self):
        defaults = {
            "id": lambda: _name(self.solution),
            "chapter": lambda: self.solution.__module__.split(".")[1],
            "family": lambda: Family(self.solution, self.mistakes),
        }
        for name, default in defaults.items():
            if not getattr(self, name):
                object.__setattr__(self, name, default())


def _name(function):
    return function.__name__.lstrip("_")


@dataclass(frozen=True)
class Result:
    """The verdict of `grade` on one answer.

    Attributes
    ----------
    status : {"unattempted", "crashed", "wrong", "passed"}
    passed, failed : tuple of str
        The labels of the probes on which the answer is right, and of those on which it is wrong.
    mistakes : tuple of str
        The ids of the recognised mistakes, at most two.
    hint : int or None
        The number of the hint that helps against the first of them.
    lines : tuple of str
        The lines of the message for the reader.
    claims : tuple of Claim
        What the message says about the returned values, as data.
    case : Case or None
        The smallest failing case, if `grade` was asked for details.
    stopped : str
        If the answer raised an exception on the failing case, a sentence with the reader's line; otherwise "".
    printed : tuple of str
        The first lines that the answer printed on the failing case.
    """

    status: str
    lines: tuple
    passed: tuple = ()
    failed: tuple = ()
    mistakes: tuple = ()
    hint: int | None = None
    claims: tuple = ()
    case: object = None
    stopped: str = ""
    printed: tuple = ()


def value_exercise(id="", *, answer, oracle, **rest):
    """Return an `Exercise` whose answer is a value: a number, a shape, an array, a word.

    Parameters
    ----------
    id : str
        By default the name of `answer`, without the underscore.
    answer : callable
        The solution: a function without arguments that ends with ``return value``.
        Readers see its body, with ``id = value`` as the last line.
    oracle : callable
        A function without arguments that finds the same value in another way.
    **rest
        The other fields of `Exercise`. The field ``wrong`` of a mistake is an edit of `answer`, or a function without
        arguments.

    Examples
    --------
    >>> two = value_exercise(
    ...     "two", answer=lambda: 1 + 1, oracle=lambda: 2,
    ...     mistakes=[Mistake("one", lambda: 1, "You forgot one.")],
    ...     title="Two", chapter="none", level="easy", minutes=1, hints=(), why="", insight="")
    >>> two.family(frozenset({"one"}))()
    1
    """
    id, probes = id or _name(answer), (Probe("the value", lambda rng: ()),)
    return Exercise(id=id, oracle=oracle, solution=answer, probes=probes, outputs=(id,), value=True, **rest)


RIGHT = "right"


def judged_exercise(id="", *, judge, answer, **rest):
    """Return an `Exercise` whose answer is a value of any kind, and is judged by trying it out.

    Parameters
    ----------
    id : str
        By default the name of `answer`, without the underscore.
    judge : callable
        ``judge(answer)`` tries the answer and returns a verdict and a sentence. The verdict is "right" or names the
        fault in a word or two; the sentence says what happened with this very answer. `judge` must not raise an
        exception, whatever object it is given.
    answer : callable
        The solution: a function without arguments.
    **rest
        The other fields of `Exercise`. The field ``wrong`` of a mistake is a function without arguments; its id is the
        verdict of `judge` on it, and its text is printed after the sentence of `judge`.

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

    id = id or _name(answer)
    behaviour = Behaviour((id,), verdict, lambda arguments, returned: judge(returned)[1], as_is=True)
    return value_exercise(id, answer=answer, oracle=lambda: RIGHT, behaviour=behaviour, **rest)
