"""What is said of a whole answer, measured anew: what it returns, changes, stops at, keeps."""

import re
from dataclasses import replace

import numpy as np
from truth_seen import Seen, claim, sentence


@claim("values right", whole=True)
def values(seen):
    return all(seen.right(place) for place in range(len(seen.labels)))


@sentence(r"the values are right, but your (?:function|value) .+")
def values_but(seen, m):
    return values(seen)


@sentence(r"the (?:values|gradients) are right, but (?P<how>.+: .+)")
def another_method(seen, m):
    """How it was computed is measured by tests/exercises/test_method*.py; here: all is right, and the numbers fit."""
    names, pair = seen.exercise.solution.__code__.co_varnames, re.search(r"\((\d+) queries, (\d+) keys\)", m["how"])
    pairs = re.search(r"all (\d+) scores", m["how"])
    product = not pair or int(pair[1]) * int(pair[2]) == int(pairs[1])
    larger = re.search(r"(?:at )?(\d+) (?:keys|scores|queries) at once.* where a (?:block|tile) has (\d+)", m["how"])
    tiles = "tile" not in m["how"] or "block_q" in names
    fits = not larger or int(larger[1]) > int(larger[2])
    return bool(seen.exercise.method) and values(seen) and product and fits and tiles


@sentence(r"right for the sizes that the check tries, but not for all sizes")
def sizes_tried(seen, m):
    """That other sizes fail, tests/exercises/test_behaviour.py tries."""
    return bool(seen.exercise.behaviour) and values(seen)


@claim("other output", whole=True)
def order(seen, name, other):
    a, b = seen.exercise.outputs.index(name), seen.exercise.outputs.index(other)
    return all(got is None or seen.equal(got[a], want[b]) for got, want in zip(seen.got, seen.want, strict=True))


@sentence(r"your function changes its input \w+")
def changes(seen, m):
    return any(seen.changed)


@sentence(r"your function stops with (?P<error>\w+)(?:: .*)?")
def stops(seen, m):
    return any(type(error).__name__ == m["error"] for error in seen.error)


@sentence(r"your function calls itself without end .*")
def recursion(seen, m):
    return any(isinstance(error, RecursionError) for error in seen.error)


@sentence(r"your function returns None(?:: did you forget `return`\?| in one place)?(?: \(.*\))?")
def none(seen, m):
    return any(raw is None or (isinstance(raw, tuple) and None in [r if r is None else 0 for r in raw]) for raw in seen.raw)


@sentence(
    r"your function returns (?:one (?P<kind>\w+)|(?P<k>\d+) things?), but (?:one is|\d things are) expected: (?P<names>[\w, ]+)(?: \(case .*\))?"
)
def other_number_of_things(seen, m):
    counts = {len(raw) if isinstance(raw, (tuple, list)) else type(raw).__name__ for raw in seen.raw}
    fits = {"array" if seen.raw[0] is None else "ndarray"} if m["kind"] == "array" else {m["kind"] or int(m["k"])}
    wanted = ", ".join(seen.exercise.behaviour.returns if seen.exercise.behaviour else seen.exercise.outputs)
    return bool(counts & fits) and m["names"] == wanted and m["k"] != str(len(wanted.split(", ")))


@sentence(r"your function returns (?P<what>.+)")
def returns(seen, m):
    """Something that cannot be read, or has too many or too few parts: so in one case nothing was compared."""
    unread = any(got is None and error is None or isinstance(error, ValueError)
                 for got, error in zip(seen.got, seen.error, strict=True))  # fmt: skip
    return unread or ("tuple of one" in m["what"] and any(isinstance(raw, tuple) and len(raw) == 1 for raw in seen.raw))


@claim("turned", whole=True)
def turned(seen, stops):
    plain = [max(map(np.ndim, args)) <= 2 for args in seen.arguments]
    ordinary = [i for i in range(len(plain)) if not seen.edge[i]]
    return all(seen.right(i) == plain[i] for i in ordinary) and stops == any(seen.error)


@claim("turns", whole=True)
def turns(seen):
    return any(not seen.passes(i) and max(map(np.ndim, seen.arguments[i])) > 2 for i in range(len(seen.labels)))


@sentence(r"the arguments of your function are in another order; expected \w+\((?P<names>[\w, ]+)\)")
def arguments_in_another_order(seen, m):
    code, wanted = seen.answer.__code__, m["names"].split(", ")
    mine = list(code.co_varnames[: code.co_argcount])
    return mine != wanted and sorted(mine) == sorted(wanted)


@sentence(r"your function does not take the arguments \w+\((?P<names>[\w, ]+)\)")
def other_arguments(seen, m):
    return seen.answer.__code__.co_argcount != len(m["names"].split(", "))


@sentence(r"called twice with the same input, your function gives two answers: it keeps something between calls")
def keeps(seen, m):
    # In a row: an answer may forget what it kept when the shape of the input changes.
    twice = [Seen(replace(seen.exercise, probes=(probe, probe)), seen.answer).got for probe in seen.exercise.probes]
    return any(
        a is None or b is None or any(not np.array_equal(x, y, equal_nan=x.dtype.kind == "f") for x, y in zip(a, b, strict=True))
        for a, b in twice
    )


@sentence(r"your function returns the same array each time: the next call overwrites what it returned before")
def same_array(seen, m):
    arrays = [raw for raw in seen.raw if isinstance(raw, np.ndarray)]
    return any(np.shares_memory(a, b) for i, a in enumerate(arrays) for b in arrays[:i])


@sentence(r"in the text (?P<text>\w+)(?:\.\.\., (?P<long>\d+) letters)?, token (?P<i>\d+) (?P<rest>.+)")
def looks(seen, m):
    for (letters, places), raw in zip(seen.arguments, seen.raw, strict=True):
        if raw is None or int(m["long"] or len(m["text"])) > places or m["long"]:
            continue
        one_hot = [[float(ord(c) - 97 == k) for k in range(letters)] + [float(i == k) for k in range(places)]
                   for i, c in enumerate(m["text"])]  # fmt: skip
        query, key = (np.asarray(part, dtype=float) for part in raw)
        if len(query) != letters + places or max(map(ord, m["text"])) - 97 >= letters:
            continue
        scores = (np.array(one_hot) @ query @ (np.array(one_hot) @ key).T)[int(m["i"])] / query.shape[1] ** 0.5
        if "no numbers" in m["rest"]:
            if not np.isfinite(scores).all():
                return True
            continue
        weights = np.exp(scores - scores.max())
        weights /= weights.sum()
        most = re.fullmatch(r"looks most at token (\d+),.*?(?:should look at token (\d+)|weight ([\d.]+): .*)", m["rest"])
        even = re.fullmatch(r"gives token (\d+), where it should look, no more weight than another", m["rest"])
        if most and weights[int(most[1])] > weights.max() - 1e-9 and most[1] != most[2]:
            if not most[3] or abs(weights.max() - float(most[3])) < 0.006:
                return True
        if even and (weights > weights[int(even[1])] - 1e-9).sum() > 1:
            return True
    return bool(m["long"])  # the letters of a long text are not all there
