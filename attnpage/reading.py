"""Show the library's own code inside a chapter, so that what is read is what is tested."""

import ast
import inspect
import textwrap


def source(*functions, helpers=False):
    """Return the source of functions or methods without their docstrings.

    The docstring is on the API page; in a chapter the text around the code takes
    its place.

    Parameters
    ----------
    *functions : function or class
        What to show, in this order.
    helpers : bool, default False
        Show the functions of the same file that they call, too, in the order of the file.

    Returns
    -------
    code : str

    Examples
    --------
    >>> from attnlib.softmax.shift import no_zero
    >>> print(source(no_zero))
    def no_zero(total):
        return np.where(total == 0, total.dtype.type(1), total)
    """
    if helpers:
        functions = [shown for function in functions for shown in _with_helpers(function)]
    return "\n\n\n".join(map(_without_docstrings, functions))


def show_source(*functions, helpers=False):
    """Display `source` as highlighted code in a notebook.

    Parameters
    ----------
    *functions : function or class
        What to show, in this order.
    helpers : bool, default False
        As for `source`.

    Returns
    -------
    code : IPython.display.Markdown

    Examples
    --------
    >>> from attnlib.softmax.shift import no_zero
    >>> show_source(no_zero).data.splitlines()[:2]
    ['```python', 'def no_zero(total):']
    """
    from IPython.display import Markdown

    return Markdown(f"```python\n{source(*functions, helpers=helpers)}\n```")


def _with_helpers(function, found=()):
    function = inspect.unwrap(function)  # a decorator has other globals
    found = {*found, function}
    for name in _names(function.__code__):
        called = function.__globals__.get(name)
        here = getattr(called, "__module__", None) == function.__module__
        if here and inspect.isfunction(called) and inspect.unwrap(called) not in found:
            found.update(_with_helpers(called, found))
    return sorted(found, key=lambda shown: shown.__code__.co_firstlineno)


def _names(code):
    inner = [constant for constant in code.co_consts if inspect.iscode(constant)]  # a lambda, a comprehension
    return {*code.co_names}.union(*map(_names, inner))


def _without_docstrings(function):
    code = textwrap.dedent(inspect.getsource(function))
    lines = code.splitlines()
    for node in ast.walk(ast.parse(code)):
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            continue
        first = node.body[0]
        if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str):
            for line in range(first.lineno - 1, first.end_lineno):
                lines[line] = None
    return "\n".join(line for line in lines if line is not None)
