"""Show the library's own code inside a chapter, so that what is read is what is tested."""

import ast
import inspect
import textwrap


def source(*functions):
    """Return the source of functions or methods without their docstrings.

    The docstring is on the API page; in a chapter the text around the code takes
    its place.

    Parameters
    ----------
    *functions : function or class
        What to show, in this order.

    Returns
    -------
    code : str

    Examples
    --------
    >>> from attnlib._shifted import no_zero
    >>> print(source(no_zero))
    def no_zero(total):
        return np.where(total == 0, total.dtype.type(1), total)
    """
    return "\n\n\n".join(map(_without_docstrings, functions))


def show_source(*functions):
    """Display `source` as highlighted code in a notebook.

    Parameters
    ----------
    *functions : function or class
        What to show, in this order.

    Returns
    -------
    code : IPython.display.Markdown

    Examples
    --------
    >>> from attnlib._shifted import log_of_sum
    >>> show_source(log_of_sum).data.splitlines()[:2]
    ['```python', 'def log_of_sum(total):']
    """
    from IPython.display import Markdown

    return Markdown(f"```python\n{source(*functions)}\n```")


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
