"""What a check prints after a right answer: the next exercise, and how the book's solution differs from the answer."""

import ast
import inspect
import textwrap

from attnexercises.engine.registry import BOOK_ORDER, registry


def next_exercise(table, chapter=None):
    """Return the next exercise that has not passed; None if all have.

    It is the next in the book after the exercise that was solved last, or else the first of all. `check` and
    `progress` both ask here, so that they never name two exercises.

    Parameters
    ----------
    table : dict
        The progress, from `record.load`.
    chapter : str, optional
        The topic word of a chapter. If it is given, only exercises of this chapter are considered.
    """
    ids = [other for other, exercise in registry().items() if chapter in (None, exercise.chapter)]
    turns = {id: table[id].get("turn", 0) for id in ids if id in table}
    last = max(turns, key=turns.get, default=None)
    first = ids.index(last) + 1 if turns.get(last) else 0
    for other in ids[first:] + ids[:first]:
        if table.get(other, {}).get("state") != "passed":
            return registry()[other]
    return None


def where_it_is(exercise, here=None):
    """Return an exercise's name, title and chapter in words; `here` is the topic of the chapter that the reader is in.

    Examples
    --------
    >>> where_it_is(registry()["softmax"])
    'softmax, "A softmax that no finite score can break", in chapter 1, Turn scores into weights'
    """
    place = "this chapter" if exercise.chapter == here else chapter_name(exercise.chapter)
    return f'{exercise.id}, "{exercise.title}", in {place}'


def chapter_name(topic):
    """Return what a chapter is called inside a sentence."""
    if topic not in BOOK_ORDER:
        return f"the chapter on {topic}"
    number, title = BOOK_ORDER[topic]["number"], BOOK_ORDER[topic]["title"]
    return f"chapter {number}, {title}" if number else f"the chapter {title}"


def difference(exercise, answer):
    """Return one line on how the source of the book's solution differs from that of a right answer, or "".

    Examples
    --------
    >>> difference(registry()["softmax"], registry()["softmax"].solution)
    ''
    """
    if exercise.value:
        return ""
    try:
        mine, ours = _facts(answer, exercise), _facts(exercise.solution, exercise)
    except (OSError, TypeError, SyntaxError, ValueError, IndexError):  # the source is not available
        return ""
    if mine == ours:
        return ""
    for name, yours, books in (
        ("loops", "goes through a loop in Python", "works on whole arrays"),
        ("einsum", "names the axes in an einsum", "uses none"),
    ):
        if mine[name] and not ours[name]:
            return f"Yours {yours}; the book's {books}."
        if ours[name] and not mine[name]:
            return f"The book's {yours}; yours {books}."
    if mine["helpers"]:
        return f"Yours hands a part to {_listed(mine['helpers'])}; the book's does all in one function."
    if mine["exponentials"] > ours["exponentials"] > 0:
        places, theirs = _number(mine["exponentials"]), _number(ours["exponentials"])
        return f"Yours takes exponentials in {places} places; the book's in {theirs}."
    if mine["statements"] == 0:
        return f"Yours is a single expression; the book's has {_counted(ours['statements'])}."
    if mine["statements"] != ours["statements"]:
        return f"Yours has {_counted(mine['statements'])}; the book's {_number(ours['statements'])}."
    return ""


def _facts(function, exercise):
    """Facts about the source of a function and of the reader's own functions that it calls, such as "has a loop"."""
    function = inspect.unwrap(function)
    home, seen, helpers = getattr(function, "__globals__", {}), [function], []
    trees = [_tree(function)]
    for tree in trees:
        for node in ast.walk(tree):
            called = home.get(node.id) if isinstance(node, ast.Name) else None
            own = inspect.isfunction(called) and called.__globals__ is home and called not in seen
            if own and node.id not in registry() and function is not exercise.solution:
                seen.append(called)
                helpers.append(node.id)
                trees.append(_tree(called))
    nodes = [node for tree in trees for node in ast.walk(tree)]
    return {
        "loops": any(_is_loop(node) for node in nodes),
        "einsum": any(_calls(node, "einsum") for node in nodes),
        "helpers": tuple(helpers),
        "exponentials": sum(_calls(node, "exp") for node in nodes),
        "statements": sum(isinstance(node, ast.stmt) and not _is_text(node) for node in nodes) - len(trees),
    }


def _tree(function):
    return ast.parse(textwrap.dedent(inspect.getsource(function)))


def _is_loop(node):
    """Whether a node loops; `for a in (query, key, value)` only saves writing a line three times."""
    if isinstance(node, (ast.For, ast.comprehension)):
        return not isinstance(node.iter, (ast.Tuple, ast.List))
    return isinstance(node, ast.While)


def _calls(node, name):
    if not isinstance(node, ast.Call):
        return False
    return getattr(node.func, "attr", getattr(node.func, "id", "")) == name


def _is_text(node):
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _number(count):
    words = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
    return words[count] if count < len(words) else str(count)


def _counted(count):
    return f"{_number(count)} statement{'' if count == 1 else 's'}"


def _listed(names):
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
