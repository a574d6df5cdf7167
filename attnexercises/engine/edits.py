"""Make a known mistake by editing the book's solution: ``"axis=-1 -> axis=0"``.

An edit changes every place of the solution that matches the code left of the arrow, apart from spaces. Only the tokens
that differ between the two sides are replaced; the others only show which place is meant. Therefore two mistakes can be
made at once, unless they change the same place, or one removes all the code that the other changes.

Compiling takes longer than running. So the solution is compiled once with all mistakes in it: a statement that mistakes
change stands there once for each of them, and the ids of the mistakes to make choose among these. Only mistakes that
change the same statement, or more than simple statements, are compiled by themselves.
"""

import ast
import builtins
import difflib
import inspect
import re
import textwrap
from functools import cached_property, lru_cache
from itertools import accumulate

_TOKEN = re.compile(r"""\*\*=?|//=?|[-+*/@%&|^=!<>]=|<<|>>|\w+|"[^"\n]*"|'[^'\n]*'|[^\w\s]""")


class Overlap(ValueError):
    """Two mistakes change the same place, so no answer can contain both."""


class Family:
    """The book's solution, and each wrong answer that its known mistakes make: ``family(bugs)``.

    Parameters
    ----------
    solution : callable
        A function whose source can be read.
    mistakes : sequence of Mistake
        All known mistakes. The field ``wrong`` of each is an edit, a tuple of edits, or a function that replaces
        the solution.

    Examples
    --------
    >>> from attnexercises.engine.model import Mistake
    >>> from attnexercises.softmax.forward import softmax
    >>> along_0 = Mistake("axis_0", "axis=-1 -> axis=0", "The softmax ran over axis 0.")
    >>> Family(softmax, [along_0])(frozenset({"axis_0"}))(np.zeros((2, 3)))
    array([[0.5, 0.5, 0.5],
           [0.5, 0.5, 0.5]])
    """

    def __init__(self, solution, mistakes):
        self.solution, self.mistakes = solution, mistakes

    def __call__(self, bugs):
        """Return the solution with the mistakes of these ids; without any, the solution itself.

        Raises
        ------
        Overlap
            If two of them change the same place.
        ValueError
            If an edit names code that the solution does not contain.
        """
        if not bugs:
            return self.solution
        made = [mistake.wrong for mistake in self.mistakes if mistake.id in bugs]
        functions = [wrong for wrong in made if callable(wrong)]
        if functions and len(made) > 1:
            raise Overlap("one of these mistakes is a function of its own.")
        if functions:
            return functions[0]
        with_these, changed = self._together
        statements = [statement for id in bugs for statement in changed.get(id, (None, None))]
        if len(statements) == len(set(statements)):
            return with_these(bugs)
        source = edited(_source(self.solution), [edit for wrong in made for edit in _edits(wrong)])
        return _executed(self.solution, source, self.solution.__name__)

    @cached_property
    def _together(self):
        """Compile the solution with all its mistakes.

        Returns
        -------
        with_these : callable
            ``with_these(ids)`` returns the solution with these mistakes, of which no two may change the same statement.
        changed : dict of str to list
            The statements and conditions that a mistake changes. A mistake that changes more than these is left out.
        """
        source, statements, changed, texts = _source(self.solution), _statements(self.solution), {}, {}
        for mistake in self.mistakes:
            new = {} if callable(mistake.wrong) else _new_statements(self.solution, _edits(mistake.wrong))
            if new:
                changed[mistake.id] = list(new)
            for statement, text in new.items():
                texts.setdefault(statement, []).append((mistake.id, text))
        code = source
        for (start, end), choices in sorted(texts.items(), reverse=True):
            if statements[start, end]:
                margin = _margin(source, start)
                new = [f"if {id!r} in _made:{margin}    {_deeper(text)}{margin}el" for id, text in choices]
                new.append(f"se:{margin}    {_deeper(source[start:end])}")
            else:
                new = [" (", *(f"({text}) if {id!r} in _made else " for id, text in choices), f"({source[start:end]}))"]
            code = code[:start] + "".join(new) + code[end:]
        code = f"def _with(_made):\n{textwrap.indent(code, '    ')}\n    return {self.solution.__name__}\n"
        return _executed(self.solution, code, "_with"), changed


@lru_cache(maxsize=None)
def fit_together(exercise, one, other):
    """Can one answer contain both mistakes?"""
    try:
        exercise.family(frozenset((one.id, other.id)))
    except (Overlap, SyntaxError):
        return False
    return True


def _edits(wrong):
    return (wrong,) if isinstance(wrong, str) else wrong


def _executed(solution, source, name):
    names = dict(vars(inspect.getmodule(solution)))
    exec(compile(source, inspect.getfile(solution), "exec"), names)
    return names[name]


@lru_cache(maxsize=None)
def _source(solution):
    return textwrap.dedent(inspect.getsource(solution))


def _deeper(statement):
    return statement.replace("\n", "\n    ") if statement.strip() else "pass"


def _new_statements(solution, edits):
    """Map each statement that the edits change, a (start, end) in the source, to its new text; {} if they change more."""
    source, new = _source(solution), {}
    for start, end, _, text in reversed(_kept_changes(source, edits)):
        inside = [(a, b) for a, b in _statements(solution) if a <= start and end <= b]
        if not inside:
            return {}
        a, b = inside[0]
        whole = new.get((a, b), source[a:b])
        new[a, b] = whole[: start - a] + text + whole[end - a :]
    return {} if any(_hides(solution, _margin(source, a) + text) for (a, _), text in new.items()) else new


def _hides(solution, statement):
    """Does a new statement assign to a name of the module? It would be a local name to all other mistakes, too."""
    names = {*vars(inspect.getmodule(solution)), *vars(builtins)}
    nodes = ast.walk(ast.parse(f"if True:{statement}" if statement.strip() else ""))
    return any(isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node.id in names for node in nodes)


def _margin(source, start):
    """A line break, and the spaces before the statement that begins at `start`."""
    return "\n" + " " * (start - source.rfind("\n", 0, start) - 1)


@lru_cache(maxsize=None)
def _statements(solution):
    """Map the (start, end) in the source of each simple statement to True, and that of each condition or range to False.

    A simple statement holds no other statement. It counts if it shares its lines with none.
    """
    source = _source(solution)
    lines = source.splitlines(keepends=True)
    begins, found = list(accumulate(map(len, lines), initial=0)), {}

    def place(line, column):
        return begins[line - 1] + len(lines[line - 1].encode()[:column].decode())

    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.For, ast.While, ast.If)):
            header = node.iter if isinstance(node, ast.For) else node.test
            start, end = place(header.lineno, header.col_offset), place(header.end_lineno, header.end_col_offset)
            found[len(source[:start].rstrip(" ")), end] = False
        elif isinstance(node, ast.stmt) and not hasattr(node, "body"):
            start, end = place(node.lineno, node.col_offset), place(node.end_lineno, node.end_col_offset)
            after = source[end : begins[node.end_lineno]].strip()
            if not source[begins[node.lineno - 1] : start].strip() and after[:1] in ("", "#"):
                found[start, end] = True
    return found


def edited(source, edits):
    """Return the source after all edits.

    Examples
    --------
    >>> edited("return e / e.sum(axis=-1, keepdims=True)", ["sum(axis=-1, keepdims=True) -> sum(axis=-1)"])
    'return e / e.sum(axis=-1)'
    >>> edited("y = x * x", ["x -> z", "y = -> y = 2 *"])
    'y = 2 * z * z'
    """
    for start, end, _, text in reversed(_kept_changes(source, edits)):
        source = source[:start] + text + source[end:]
    return source


def _kept_changes(source, edits):
    """The changes (start, end, number of the edit, new text) that all edits together make, from the first place on."""
    changes = [(start, end, place, text) for place, edit in enumerate(edits) for start, end, text in _changes(source, edit)]
    kept = [change for change in changes if not any(_lies_in(change, other) for other in changes)]
    if {place for _, _, place, _ in kept} != set(range(len(edits))):
        raise Overlap("nothing of one edit is left after another.")
    kept.sort()
    for (start, end, _, _), (next_start, next_end, _, _) in zip(kept, kept[1:]):
        if next_start < end or start == next_start == end == next_end:
            raise Overlap(f"two edits change the same place, {source[start:end]!r}.")
    return kept


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
