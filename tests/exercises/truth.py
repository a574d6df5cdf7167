"""Is what a message says true of the answer it is shown for? Every clause is read and measured anew.

Nothing of the engine is used but the exercise's data (cases, oracle, tolerance) and the grammar of its sentences:
a clause that no pattern knows counts as false, so that a new sentence needs a new measurement, in one of the files
`truth_of_*.py`. `truth_seen.py` holds what they measure: what an answer did on every case.
"""

import re

import truth_of_answers  # noqa: F401 - imported, it registers its measurements
import truth_of_arrays  # noqa: F401
import truth_of_runs
import truth_of_values  # noqa: F401
from truth_seen import CLAIMS, RANGE, Seen


def false_clauses(exercise, answer, lines):
    """Every clause of a message that is not true of this answer, or that nothing here can measure."""
    seen = Seen(exercise, answer)
    text = lines[0].partition(": ")[2]
    for mistake in sorted(exercise.mistakes, key=lambda mistake: -len(mistake.say)):
        text = text.replace(mistake.say, "§")  # causes are neutral: tests/exercises/test_truth.py looks at them once
    text = re.sub(r"(two mistakes\. )?(\(1\) § \(2\) |One of them: )?(?:[Ee]ither: § Or: )?§$", "", text).strip()
    found = [] if not text or _holds(seen, text.removesuffix(".")) else [text]
    counts = [line for line in lines[1:] if "For help" not in line]
    return found + [line for line in counts if not _counts(seen, line.strip(), text)]


def _holds(seen, text):
    """Is this sentence true? Several outputs are told apart by semicolons."""
    if seen.exercise.behaviour and seen.exercise.behaviour.as_is:
        return truth_of_runs.holds(seen.exercise, seen.answer, text)
    several = [text]
    if len(seen.exercise.outputs) > 1:
        names = "|".join(seen.exercise.outputs)
        several = re.split(rf"; (?=(?:{names})(?:, (?:{names}))*: )", text)
    return all(_one_holds(seen, sentence) for sentence in several)


def _one_holds(seen, sentence):
    m = RANGE.match(sentence)
    rest, case = sentence[m.end() :], m["only"] or m["case"]
    if m["edge"] and not all(seen.passes(i) or seen.edge[i] for i in range(len(seen.labels))):
        return False
    for pattern, measure, whole in CLAIMS:
        fits = pattern.fullmatch(rest) or (whole and pattern.fullmatch(sentence))
        if fits and whole and measure(seen, fits):
            return True
        if fits and not whole:
            names = (m["outs"] or ",".join(seen.exercise.outputs)).replace(" ", "").split(",")
            ranges = [seen.cases(seen.exercise.outputs.index(name), m["range"] or "", case) for name in names]
            return all(bool(pairs) and bool(measure(seen, pairs, fits)) for pairs in ranges)
    return False


def _counts(seen, line, sentence):
    """ "d_key right; d_query wrong. 3 of 7 cases right; wrong: a; b and 2 more." """
    m = re.fullmatch(
        r"(?:(?P<good>[a-z_, ]+) right; (?P<bad>[a-z_, ]+) wrong\. )?"
        r"(?P<k>\d+) of (?P<of>\d+) cases right(?:; wrong: (?P<wrong>.+?)(?: and (?P<more>\d+) more)?)?\.",
        line,
    )
    if not m or ("the values are right" in sentence and m["k"] != m["of"]):
        return False
    passing = [seen.passes(place) for place in range(len(seen.labels))]
    if (sum(passing), len(passing)) != (int(m["k"]), int(m["of"])):
        return False
    failed = [label for label, ok in zip(seen.labels, passing, strict=True) if not ok]
    if m["wrong"] and "; ".join(failed[: len(failed) - int(m["more"] or 0)]) != m["wrong"]:
        return False
    outputs = seen.exercise.outputs
    good = [name for place, name in enumerate(outputs) if all(seen.right(i, place) for i in range(len(passing)))]
    told = [m["good"].split(", "), m["bad"].split(", ")] if m["good"] else None
    return told is None or told == [good, [name for name in outputs if name not in good]]
