"""What an answer did on every case, and how a measurement of what is said of it is registered."""

import re
import zlib

import numpy as np

MEASURES = {}  # from the kind of a claim to its measurement, and whether that is of the whole answer
SENTENCES = []  # patterns of other sentences, each with its measurement


class Seen:
    """What an answer did on every case."""

    def __init__(self, exercise, answer):
        self.exercise, self.answer = exercise, answer
        self.arguments, self.want, self.got, self.error, self.changed, self.raw = [], [], [], [], [], []
        for probe in exercise.probes:
            self.arguments.append(self.made(probe))
            right = exercise.oracle(*self.made(probe))
            self.want.append([np.asarray(part) for part in (right if len(exercise.outputs) > 1 else (right,))])
            self._call(probe)
        self.labels = [probe.label for probe in exercise.probes]
        self.edge = [probe.kind == "edge" for probe in exercise.probes]

    def made(self, probe):
        seed = [zlib.crc32(self.exercise.id.encode()), self.exercise.probes.index(probe)]
        return probe.make(np.random.default_rng(seed))

    def _call(self, probe):
        args, before, raw, error, got = self.made(probe), self.made(probe), None, None, None
        with np.errstate(all="ignore"):
            try:
                raw = self.answer(*args) if callable(self.answer) else self.answer
                parts = raw
                if self.exercise.behaviour:
                    parts = self.exercise.behaviour.of(before, tuple(np.asarray(part, dtype=float) for part in raw))
                elif len(self.exercise.outputs) == 1:
                    parts = raw if isinstance(raw, tuple) and len(raw) == 1 and not self.exercise.value else (raw,)
                several = len(self.exercise.outputs) == 1 and isinstance(raw, tuple) and len(raw) > 1
                several = several and not self.exercise.value and not self.exercise.behaviour
                if isinstance(parts, (tuple, list)) and len(parts) == len(self.exercise.outputs) and not several:
                    got = [np.array(part) for part in parts]
                    unread = any(part.dtype.kind in "Oc" for part in got) or any(map(np.ma.is_masked, parts))
                    got = None if unread else got
            except Exception as caught:
                error = caught
        self.raw.append(raw), self.error.append(error), self.got.append(got)
        arrays = [(a, b) for a, b in zip(args, before, strict=True) if isinstance(b, np.ndarray)]
        self.changed.append(any(not np.array_equal(a, b, equal_nan=b.dtype.kind == "f") for a, b in arrays))

    def equal(self, got, want):
        """Right up to the exercise's tolerance."""
        if got.shape != want.shape or "U" in (got.dtype.kind, want.dtype.kind):
            return got.shape == want.shape and str(got).strip().lower() == str(want).strip().lower()
        if (got.dtype.kind == "b") != (want.dtype.kind == "b") or (got.dtype.itemsize < 8 and got.dtype.kind == "f"):
            return False
        return np.allclose(got, want, rtol=self.exercise.rtol, atol=self.exercise.atol, equal_nan=True)

    def right(self, place, output=None):
        """Are the values of one case right, of all outputs or of one?"""
        if self.got[place] is None:
            return False
        pairs = list(zip(self.got[place], self.want[place], strict=True))
        return all(self.equal(*pair) for pair in (pairs if output is None else [pairs[output]]))

    def passes(self, place):
        one = len(self.exercise.outputs) == 1 and not self.exercise.value
        return self.right(place) and not self.changed[place] and not (one and isinstance(self.raw[place], tuple))

    def cases(self, output, where, case):
        """The pairs of arrays that a range means, for one output."""
        places = [i for i in range(len(self.labels)) if self.got[i] is not None]
        if where in ("case", "edge"):
            places = [i for i in places if self.labels[i] == case]
        if "wrong" in where:
            places = [i for i in places if not self.right(i, output)]
        if "ordinary" in where:
            places = [i for i in places if not self.edge[i]]
        return [(self.got[i][output], self.want[i][output], i) for i in places]


def claim(kind, *, whole=False):
    """Register the measurement of a kind of claim: of the pairs of one output in a range, or of the whole answer."""

    def add(function):
        MEASURES[kind] = function, whole
        return function

    return add


def sentence(pattern):
    """Register the measurement of the sentences that fit a pattern."""

    def add(function):
        SENTENCES.append((re.compile(pattern), function))
        return function

    return add


def near(a, b):
    return bool(np.isclose(float(a), float(b), rtol=1e-5, atol=1e-12))


def alike(a, b, rtol=5e-6):
    scale = max(float(np.abs(b).max(initial=0)), 1e-3)
    return np.shape(a) == np.shape(b) and bool(np.allclose(a, b, rtol=rtol, atol=rtol * scale))


def clear(pairs):
    """Numbers of the right shape, none of them lost, and not all of them right."""
    fits = all(g.shape == w.shape and np.isfinite(g).all() and np.isfinite(w).all() for g, w, _ in pairs)
    return bool(pairs) and fits and not all(alike(g, w, 1e-12) for g, w, _ in pairs)
