"""Make a known mistake by editing the book's solution: ``"axis=-1 -> axis=0"``.

An edit changes every place of the solution that matches the code left of the arrow, apart from spaces. Only the tokens
that differ between the two sides are replaced; the others only show which place is meant. Therefore two mistakes can be
made at once, unless they change the same place, or one removes all the code that the other changes.
"""

import difflib
import inspect
import re
import textwrap
from functools import lru_cache

_TOKEN = re.compile(r"""\*\*=?|//=?|[-+*/@%&|^=!<>]=|<<|>>|\w+|"[^"\n]*"|'[^'\n]*'|[^\w\s]""")


class Overlap(ValueError):
    """Two mistakes change the same place, so no answer can contain both."""


def with_mistakes(solution, mistakes, bugs):
    """Return the solution with some of its known mistakes in it.

    Parameters
    ----------
    solution : callable
        A function whose source can be read.
    mistakes : sequence of Mistake
        All known mistakes. The field ``wrong`` of each is an edit, a tuple of edits, or a function that replaces
        the solution.
    bugs : frozenset of str
        The ids of the mistakes to make. If it is empty, the solution itself is returned.

    Raises
    ------
    Overlap
        If two of them change the same place.
    ValueError
        If an edit names code that the solution does not contain.

    Examples
    --------
    >>> from attnexercises.engine.model import Mistake
    >>> from attnexercises.softmax.forward import softmax
    >>> along_0 = Mistake("axis_0", "axis=-1 -> axis=0", "The softmax ran over axis 0.")
    >>> with_mistakes(softmax, [along_0], frozenset({"axis_0"}))(np.zeros((2, 3)))
    array([[0.5, 0.5, 0.5],
           [0.5, 0.5, 0.5]])
    """
    if not bugs:
        return solution
    made = [mistake.wrong for mistake in mistakes if mistake.id in bugs]
    functions = [wrong for wrong in made if callable(wrong)]
    if functions and len(made) > 1:
        raise Overlap("one of these mistakes is a function of its own.")
    if functions:
        return functions[0]
    edits = tuple(edit for wrong in made for edit in ((wrong,) if isinstance(wrong, str) else wrong))
    return _compiled(solution, edits)


@lru_cache(maxsize=None)
def fit_together(exercise, one, other):
    """Can one answer contain both mistakes?"""
    try:
        exercise.family(frozenset((one.id, other.id)))
    except (Overlap, SyntaxError):
        return False
    return True


@lru_cache(maxsize=20_000)
def _compiled(solution, edits):
    code = compile(edited(_source(solution), edits), inspect.getfile(solution), "exec")
    names = dict(vars(inspect.getmodule(solution)))
    exec(code, names)
    return names[solution.__name__]


@lru_cache(maxsize=None)
def _source(solution):
    return textwrap.dedent(inspect.getsource(solution))


def edited(source, edits):
    """Return the source after all edits.

    Examples
    --------
    >>> edited("return e / e.sum(axis=-1, keepdims=True)", ["sum(axis=-1, keepdims=True) -> sum(axis=-1)"])
    'return e / e.sum(axis=-1)'
    >>> edited("y = x * x", ["x -> z", "y = -> y = 2 *"])
    'y = 2 * z * z'
    """
    changes = [(start, end, place, text) for place, edit in enumerate(edits) for start, end, text in _changes(source, edit)]
    kept = [change for change in changes if not any(_lies_in(change, other) for other in changes)]
    if {place for _, _, place, _ in kept} != set(range(len(edits))):
        raise Overlap("nothing of one edit is left after another.")
    kept.sort()
    for (start, end, _, _), (next_start, next_end, _, _) in zip(kept, kept[1:]):
        if next_start < end or start == next_start == end == next_end:
            raise Overlap(f"two edits change the same place, {source[start:end]!r}.")
    for start, end, _, text in reversed(kept):
        source = source[:start] + text + source[end:]
    return source


def _lies_in(change, other):
    """Does `change` lie in code that `other`, the change of another edit, replaces as a whole?"""
    start, end, place, _ = change
    other_start, other_end, other_place, _ = other
    larger = other_end - other_start > end - start
    return place != other_place and larger and other_start <= start and end <= other_end and not (start == end in (other_start, other_end))


@lru_cache(maxsize=None)  # every pair of mistakes asks for the same edits again
def _changes(source, edit):
    """Return the changes that one edit makes in the source, a list of (start, end, new text between them)."""
    old, arrow, new = re.fullmatch(r"(.*?)( -> ?|$)(.*)", edit, re.DOTALL).groups()
    left, right, whole = _tokens(old), _tokens(new), _tokens(source)
    words = [word for word, _, _ in left]
    places = [i for i in range(len(whole) - len(left) + 1) if [word for word, _, _ in whole[i : i + len(left)]] == words]
    if not arrow or not words or not places:
        raise ValueError(f"the edit {edit!r} has to name code of the solution, then ` -> `, then what stands there instead.")
    changes = []
    for place in places:
        here = whole[place : place + len(left)]
        matcher = difflib.SequenceMatcher(None, words, [word for word, _, _ in right], autojunk=False)
        if "\n" in new or matcher.ratio() < 0.5:  # the two sides have little in common: replace all
            changes.append((here[0][1], here[-1][2], _indented(source, here[0][1], new)))
            continue
        for kind, i, i_end, j, j_end in matcher.get_opcodes():
            if kind == "equal":
                continue
            start = here[i - 1][2] if i else here[0][1]
            end = here[i_end - 1][2] if i < i_end else start
            if i and j:
                text = new[right[j - 1][2] : right[j_end - 1][2]]
            else:  # at the edit's beginning no token comes before, so an insertion takes the space after it
                text = new[right[j][1] : right[j_end][1] if i_end == 0 else right[j_end - 1][2]] if j < j_end else ""
            changes.append((start, end, text))
    return changes


def _tokens(text):
    return [(match.group(), match.start(), match.end()) for match in _TOKEN.finditer(text)]


def _indented(source, start, new):
    """Indent each line of the new statements as far as the statement that they replace."""
    line = source[source.rfind("\n", 0, start) + 1 : start]
    return new.replace("\n", "\n" + line[: len(line) - len(line.lstrip())])
