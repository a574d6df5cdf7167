"""Return the solution of an exercise as text, for notebooks and for the site."""

import ast
import inspect
import textwrap


def solution_source(exercise):
    """Return the code of the solution as a reader would type it.

    For a function, that is its source. For a value, it is the body of the function that
    computes the value, with ``id = ...`` in place of the last line ``return ...``.

    Examples
    --------
    >>> from attnexercises.engine.registry import find
    >>> print(solution_source(find("softmax")).splitlines()[0])
    def softmax(x):
    """
    source = textwrap.dedent(inspect.getsource(exercise.solution)).rstrip()
    if not exercise.value:
        return source
    function = ast.parse(source).body[0]
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    lines = textwrap.dedent("\n".join(source.splitlines()[body[0].lineno - 1 :])).splitlines()
    last = body[-1].lineno - body[0].lineno
    lines[last] = f"{exercise.id} = " + lines[last].removeprefix("return ")
    return "\n".join(lines)
