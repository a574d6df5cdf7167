"""Is it `.T` alone that fails on arrays with leading axes? Found out by trying the answer on arrays where it does not."""

import numpy as np

from attnexercises.engine.calls import arguments, run
from attnexercises.engine.diagnose import expected, is_right
from attnexercises.engine.spies import spies


class _Turning(np.ndarray):
    """An array whose transpose exchanges the last two axes, as `.mT` does; what is computed from it does so, too."""

    def transpose(self, *axes):
        if self.ndim < 2 or axes not in ((), (None,)):
            return super().transpose(*axes)
        return self.swapaxes(-1, -2)

    @property
    def T(self):  # noqa: N802, the name is NumPy's
        return self.transpose()


def _turned(x):
    return x.view(_Turning) if isinstance(x, np.ndarray) else x


def _turns(function, *arguments, **options):
    """What a function of NumPy's makes turns, too; `np.transpose` itself does as the method."""
    result = function(*arguments, **options)
    return tuple(map(_turned, result)) if type(result) is tuple else _turned(result)


def explain(exercise, answer, right, crashed):
    """Return a sentence if the answer is wrong only because a transpose turned all axes round, else "".

    Parameters
    ----------
    exercise : Exercise
    answer : callable
    right : list of bool
        On which probes the answer is right.
    crashed : bool
        Did it stop on one of the others?
    """
    if exercise.value:
        return ""

    def turning(*args):
        with spies(_turns):  # also in functions of the book's, which take plain arrays
            return answer(*map(_turned, args))

    visible = [i for i, probe in enumerate(exercise.probes) if probe.kind != "edge"]
    if all(right[i] for i in visible):
        return ""
    for i in visible:  # the first one that is still wrong ends it
        if not is_right(exercise, run(exercise, turning, exercise.probes[i]), expected(exercise)[i]):
            return ""
    if all(right[i] == (_axes(exercise, i) <= 2) for i in visible) and any(right):
        how = "it stops" if crashed else "it is wrong"
        return f"right without leading axes; with them {how}: `.T` turns all axes round."
    return "`.T` turns all axes round; with leading axes, only the last two may change places."


def _axes(exercise, place):
    return max(np.ndim(arg) for arg in arguments(exercise, exercise.probes[place]))
