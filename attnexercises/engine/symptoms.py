"""What is said of what can be seen on a wrong answer: which claim, and where it holds."""

from typing import NamedTuple

import numpy as np

from attnexercises.engine.claims import CLAIMS, complement, lost

LONGEST = 159  # characters of all that is said before the cause


class Case(NamedTuple):
    """What one output was on one probe, beside what it had to be.

    Parameters
    ----------
    got, want : ndarray
        The answer's array and the right one.
    sizes : dict of str to int
        The sizes of the inputs' axes, by their description.
    label : str
        Names the probe.
    right : bool
        Is it right there?
    edge : bool
        Is it a probe that is looked at only when the ordinary ones are right?
    """

    got: object
    want: object
    sizes: dict = {}
    label: str = ""
    right: bool = False
    edge: bool = False


def seen(claims, outputs):
    """Return the sentences for those claims that hold on this answer, each in the widest range where it holds.

    Parameters
    ----------
    claims : iterable of str
        Names in `CLAIMS`, the first choice first; of one output, the first that holds is said.
    outputs : dict of str to list of Case
        The cases of each output.

    Examples
    --------
    >>> right = np.array([[0.5, 0.5], [0.2, 0.8]])
    >>> seen(["total_sum", "rows_sum"], {"weights": [Case(0.6 * right, right)]})
    'not every row sums to 1: one sums to 0.6'
    """
    found = {}
    for name, cases in outputs.items():
        words = next(filter(None, (said(CLAIMS[claim], cases) for claim in claims)), "")
        if words:
            found.setdefault(words, []).append(name)
    whose = "{names}: {words}" if len(outputs) > 1 else "{words}"
    sentences = [whose.format(names=", ".join(names), words=words) for words, names in found.items()]
    while len("; ".join(sentences)) > LONGEST:
        sentences.pop()
    return "; ".join(sentences)


def said(claim, cases):
    """The words of a claim with the range in which it holds: everywhere, where the answer is wrong, or on one case."""
    wrong = [case for case in cases if not case.right]
    ordinary = [case for case in wrong if not case.edge]
    ranges = [("", cases), ("where it is wrong, ", wrong), ("on ordinary inputs, ", ordinary)]
    if any(case.right and not case.edge for case in cases):
        ranges[2] = ("on ordinary inputs where it is wrong, ", ordinary)
    first = (ordinary or wrong)[:1]
    if claim is lost:  # counted on one case
        ranges = []
    if first:
        ranges.append((f'on the case "{first[0].label}", ' if len(cases) > 1 else "", first))
    for where, some in ranges:
        words = claim(some) if some and (claim in (lost, complement) or _comparable(some)) else ""
        if words:
            return where + words
    return ""


def _comparable(cases):
    """Numbers of the right shape, none of them lost?"""
    return all(
        case.got.shape == case.want.shape and case.want.dtype.kind in "fiu" and case.got.dtype.kind in "fiu"
        and np.isfinite(case.want).all() and np.isfinite(case.got).all()
        for case in cases
    )  # fmt: skip
