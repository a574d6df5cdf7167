"""`report` prints a block of text to paste into an issue. It sends nothing."""

import inspect
import platform
import textwrap

import numpy as np

import attnlib
from attnexercises.engine.registry import find
from attnexercises.reader import record
from attnexercises.engine.output import say

#: The fields of the block, in their order. The issue form of the repository asks for the same fields.
FIELDS = ("exercise", "verdict", "message", "case", "versions", "platform", "source")


def report(id, source=False):
    """Print a text for an issue, for a right answer that was refused or a mistake that was not named or misnamed.

    The text is about the last answer to this exercise that was checked in this session. It is only printed, and sent
    nowhere. It contains your code only if you ask for that.

    Parameters
    ----------
    id : str
        The exercise.
    source : bool, default False
        Whether to include the source of your answer.

    Examples
    --------
    >>> report("gqa")
    No answer to gqa was checked in this session: run its cell first.
    """
    exercise, last = find(id), record.last_check(id)
    if last is None:
        say(f"No answer to {id} was checked in this session: run its cell first.")
        return
    fields = _fields(exercise, last, source)
    print("```text\n" + "\n".join(_field(name, fields[name]) for name in FIELDS) + "\n```")
    say("Paste this into a new issue of the course, the form \"An exercise judged wrongly\". Nothing has been sent.")
    if not source:
        say(f'To put your code in, too: report("{id}", source=True)')


def _fields(exercise, last, source):
    result = last.result
    stopped = [result.stopped] if source and result.stopped else []  # this sentence quotes a line of the reader's code
    mistakes = ", ".join(result.mistakes) or "none named"
    return {
        "exercise": exercise.id,
        "verdict": f"{result.status} ({mistakes})" if result.status in ("wrong", "crashed") else result.status,
        "message": "\n".join([*result.lines, *stopped]),
        "case": _case(result.case),
        "versions": f"attnlib {attnlib.__version__}, NumPy {np.__version__}, Python {platform.python_version()}",
        "platform": f"{platform.system()} {platform.machine()}".strip(),
        "source": _source(exercise, last.answer) if source else "left out",
    }


def _case(case):
    if case is None:
        return "none"
    sizes = ", ".join(f"{name} {shape}" if shape else f"{name} = {case[name]}" for name, shape in case.shapes.items())
    return f'{sizes}; from "{case.label}"'


def _source(exercise, answer):
    if exercise.value:
        return repr(answer)[:500]
    try:
        return textwrap.dedent(inspect.getsource(inspect.unwrap(answer))).rstrip()
    except (OSError, TypeError):
        return "Python cannot show it"


def _field(name, text):
    if "\n" not in text:
        return f"{name}: {text}"
    return f"{name}:\n{textwrap.indent(text, '  ')}"
