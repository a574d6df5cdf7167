"""What an exercise consists of: probes, mistakes, an oracle, a solution and a family of wrong answers.

Exercises whose answer is judged by a run: a schedule that a chip follows, an input that is to break a function.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np

from attnexercises.engine.edits import with_mistakes


@dataclass(frozen=True)
class Probe:
    """One input on which an answer is tried.

    Parameters
    ----------
    label : str
        Names the case in messages: "all sizes differ", "large scores".
    make : callable
        ``make(rng)`` returns the tuple of arguments. It is called with a fresh
        generator of a fixed seed each time, so nothing is shared between runs.
    kind : {"ordinary", "equal", "edge"}
        "ordinary": all sizes differ, so a wrong formula is seen. "equal": some
        sizes agree, so a formula that mixes up axes runs at all and can be named.
        "edge": looked at only when the answer is right on the other two.
    why : str
        What the case is for, if no single mistake needs it.
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
        Its name in what `grade` finds, and in what readers have stored.
    wrong : str, tuple of str, or callable
        The mistake itself: an edit of the solution, ``"axis=-1 -> axis=0"`` (see `edits`), or several;
        where no edit of it says the same, a function that stands in the place of the solution.
    say : str
        The cause, at most 160 characters; never the line of code to type. It holds whatever else
        is wrong: nothing on the values ("the right ...", "sums to", "times too large").
    hint : int, optional
        Number of the hint that fits, counted from 1.
    shows : str
        What it usually shows, as names in `claims.CLAIMS`: each is measured on the answer
        and said before the cause if it holds.
    sets : str
        The quantities that it sets to something else, in words of your own. Two mistakes that share
        one are never named together.
    """

    id: str
    wrong: str
    say: str
    hint: int | None = None
    shows: str = ""
    sets: str = ""


@dataclass(frozen=True)
class Behaviour:
    """What is compared where many answers are right: not what is returned, but what it does.

    Parameters
    ----------
    returns : tuple of str
        Names of what the reader returns; `Exercise.outputs` then names what is compared.
    of : callable
        ``of(arguments, returned)`` returns a tuple of arrays, which the oracle returns directly.
        Its ValueError says what does not fit: "returns ...".
    differs : callable
        ``differs(arguments, returned)`` says in one sentence what a wrong answer does, and what it should do.
    as_is : bool
        What is returned may be anything: it is not read as arrays. What `differs` says then stands before the
        sentence of a known mistake as well.
    """

    returns: tuple
    of: object
    differs: object
    as_is: bool = False


@dataclass(frozen=True, eq=False)
class Exercise:
    """Everything that the checks, the hints, the site and the tests know about an exercise.

    Parameters
    ----------
    id : str
        Also the name of the function or value that the reader writes.
    title, chapter, level, minutes : str, str, str, int
        `chapter` is the topic word; `level` is "easy", "medium" or "hard".
    blanks : int
        How many TODO the cell in the chapter has: with fewer of them, an answer is begun.
    oracle : callable
        Slow and obvious (loops, `math`); shares nothing with `solution` or attnlib.
    solution : callable
        What readers see, named like the exercise. Uses ``np`` and nothing else.
    probes : tuple of Probe
        The first one is ordinary.
    mistakes : tuple of Mistake
        In the order in which they are looked for.
    hints : tuple of str
        Where to look; the idea; almost the formula. Plain text with `code`.
    why : str
        Two sentences on the solution.
    insight : str
        One line for those who passed.
    outputs : tuple of str
        Names of what is returned.
    rtol, atol : float
        How close is right. Tight, so that float32 is told from float64.
    cancelling : tuple of frozenset
        Sets of mistakes that undo each other.
    value : bool
        The answer is a number, tuple, array or word, not a function.
    method : callable, optional
        ``method(answer)`` looks at *how* an answer with the right values got them, and
        returns a sentence if that is not what the exercise is about, otherwise "".
    behaviour : Behaviour, optional
        Judges what the returned arrays do, not the arrays.
    consistent : callable, optional
        ``consistent(arguments)`` computes anew the arguments that follow from others, for a case made smaller.
    family : callable, optional
        ``family(bugs)`` returns the solution with the mistakes of these ids made, ``family(frozenset())`` the solution
        itself. By default it makes their edits.
    """

    id: str
    title: str
    chapter: str
    level: str
    minutes: int
    oracle: object
    solution: object
    probes: tuple
    mistakes: tuple
    hints: tuple
    why: str
    insight: str
    outputs: tuple = ("out",)
    rtol: float = 1e-9
    atol: float = 1e-12
    cancelling: tuple = ()
    blanks: int = 1
    value: bool = False
    method: object = None
    behaviour: object = None
    consistent: object = None
    family: object = None

    def __post_init__(self):
        if self.family is None:
            object.__setattr__(self, "family", partial(with_mistakes, self.solution, self.mistakes))


@dataclass(frozen=True)
class Result:
    """What `grade` found.

    Attributes
    ----------
    status : {"unattempted", "crashed", "wrong", "passed"}
    passed, failed : tuple of str
        Labels of the cases.
    mistakes : tuple of str
        Ids of the mistakes that were recognised, at most two.
    hint : int or None
        The hint that fits.
    lines : tuple of str
        What the reader sees.
    case : Case or None
        The smallest failing case, if `grade` was asked for details.
    stopped : str
        A sentence on the reader's own line at which it stopped there; "" if it did not.
    printed : tuple of str
        The first lines of what it printed there.
    """

    status: str
    lines: tuple
    passed: tuple = ()
    failed: tuple = ()
    mistakes: tuple = ()
    hint: int | None = None
    case: object = None
    stopped: str = ""
    printed: tuple = ()


def value_exercise(id, *, answer, oracle, mistakes=(), rtol=1e-9, **rest):
    """Return an `Exercise` whose answer is a value: a number, a shape, an array, a word.

    Parameters
    ----------
    id : str
    answer : callable
        The solution: a function without arguments that ends with ``return value``.
        Readers see its body, with ``id = value`` as last line.
    oracle : callable
        Finds the same value in another way.
    mistakes : sequence of Mistake
        Known wrong values: the field ``wrong`` of each is a function without arguments, or an edit of `answer`.
    rtol : float
        Relative tolerance for numbers.
    **rest
        The other fields of `Exercise`.

    Examples
    --------
    >>> two = value_exercise(
    ...     "two", answer=lambda: 1 + 1, oracle=lambda: 2,
    ...     mistakes=[Mistake("one", lambda: 1, "You forgot one.")],
    ...     title="Two", chapter="none", level="easy", minutes=1, hints=(), why="", insight="")
    >>> two.family(frozenset({"one"}))()
    1
    """
    probe = Probe("the value", lambda rng: ())
    return Exercise(
        id, oracle=oracle, solution=answer, probes=(probe,), mistakes=tuple(mistakes),
        outputs=(id,), rtol=rtol, value=True, **rest,
    )  # fmt: skip


RIGHT = "right"


def judged_exercise(id, *, judge, answer, mistakes=(), **rest):
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
    return value_exercise(id, answer=answer, oracle=lambda: RIGHT, mistakes=mistakes, behaviour=behaviour, **rest)
