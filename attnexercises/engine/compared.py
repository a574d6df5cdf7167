"""An output beside the right one, and in which of many cases a claim holds.

`said` finds the widest range of cases in which one claim holds, and `seen` picks the first of several claims that holds.
"""

from dataclasses import replace
from typing import NamedTuple

from attnexercises.engine.relations import CLAIMS, comparable, complement, lost

LONGEST = 159  # characters that all sentences before the cause may have together


class Compared(NamedTuple):
    """One output of an answer on one probe, together with the right output.

    Parameters
    ----------
    got, want : ndarray
        The answer's array and the right one.
    sizes : dict of Size to int
        The sizes of the inputs' axes.
    label : str
        The label of the probe.
    right : bool
        Whether the output is right.
    edge : bool
        Whether the probe has the kind "edge".
    """

    got: object
    want: object
    sizes: dict = {}
    label: str = ""
    right: bool = False
    edge: bool = False


def seen(claims, outputs):
    """Return those claims that hold, each with the widest range of cases in which it holds.

    Parameters
    ----------
    claims : iterable of str
        Names in `CLAIMS`. For each output, only the first claim that holds is said.
    outputs : dict of str to list of Compared
        The cases of each output.

    Examples
    --------
    >>> right = np.array([[0.5, 0.5], [0.2, 0.8]])
    >>> print(*seen(["total_sum", "rows_sum"], {"weights": [Compared(0.6 * right, right)]}))
    not every row sums to 1: one sums to 0.6
    """
    found = {}
    for name, cases in outputs.items():
        claim = next(filter(None, (said(CLAIMS[claim], cases) for claim in claims)), None)
        if claim:
            found.setdefault(str(claim), (claim, []))[1].append(name)
    told = [replace(claim, outputs=tuple(names) if len(outputs) > 1 else ()) for claim, names in found.values()]
    while len("; ".join(map(str, told))) > LONGEST:
        told.pop()
    return told


def said(claim, cases):
    """The claim with the widest range in which it holds, or None.

    The ranges are all cases, the wrong ones, the wrong ordinary ones, and one case.
    """
    wrong = [case for case in cases if not case.right]
    ordinary = [case for case in wrong if not case.edge]
    others = any(case.right and not case.edge for case in cases)
    ranges = [("", cases), ("wrong", wrong), ("ordinary wrong" if others else "ordinary", ordinary)]
    if claim is lost:  # it counts numbers, so it is about one case
        ranges = []
    first = (ordinary or wrong)[:1]
    for where, some in [*ranges, ("case", first)]:
        found = claim(some) if some and (claim in (lost, complement) or comparable(some)) else None
        if found:
            return on_case(found, first[0], cases) if where == "case" else replace(found, where=where)
    return None


def on_case(claim, case, cases):
    """The claim, about this case alone. Its words name the case if there are several."""
    return replace(claim, where="case", case=case.label) if case.label and len(cases) > 1 else claim
