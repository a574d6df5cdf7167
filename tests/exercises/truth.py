"""Is what a message says true of the answer it is shown for? Every claim is measured anew.

Nothing of the engine is used but the exercise's data (cases, oracle, tolerance), and what it claims. A claim of a kind
that nothing here measures counts as false, so that a new kind needs a new measurement, in `truth_of_arrays.py` or
`truth_of_values.py`. Sentences that are no claims about returned values are read, in `truth_of_answers.py` and
`truth_of_runs.py`. `truth_seen.py` holds what they measure: what an answer did on every case.
"""

import re

import truth_of_answers  # noqa: F401 - imported, it registers its measurements
import truth_of_arrays  # noqa: F401
import truth_of_runs
import truth_of_values  # noqa: F401
from truth_seen import MEASURES, SENTENCES, Seen

EDGE = re.compile(r'right on ordinary inputs; on the case "[^"]+": ')


def false_clauses(exercise, answer, result):
    """Every clause of a message that is not true of this answer, or that nothing here can measure."""
    seen = Seen(exercise, answer)
    text = result.lines[0].partition(": ")[2]
    for mistake in sorted(exercise.mistakes, key=lambda mistake: -len(mistake.say)):
        text = text.replace(mistake.say, "§")  # causes are neutral: tests/exercises/test_truth.py looks at them once
    text = re.sub(r"(two mistakes\. )?(\(1\) § \(2\) |One of them: )?(?:[Ee]ither: § Or: )?§$", "", text).strip()
    text, changes, name = text.partition(" Your function also changes its input ")
    if changes and not any(seen.changed):
        return [changes + name]
    if result.claims:
        found = [str(claim) for claim in result.claims if not claim_holds(seen, claim)]
        found += [] if text.removesuffix(".") == "; ".join(map(str, result.claims)) else [text]
    else:
        found = [text] if text and not _sentence_holds(seen, text.removesuffix(".")) else []
    counts = [line for line in result.lines[1:] if "For help" not in line]
    return found + [line for line in counts if not _counts(seen, line.strip(), text)]


def claim_holds(seen, claim):
    """Is this claim true, of each of the outputs that it names?"""
    if claim.where == "edge" and not all(seen.passes(i) or seen.edge[i] for i in range(len(seen.labels))):
        return False
    if claim.kind not in MEASURES:
        return False
    measure, whole = MEASURES[claim.kind]
    if whole:
        return bool(measure(seen, **claim.values))
    names = claim.outputs or seen.exercise.outputs
    ranges = [seen.cases(seen.exercise.outputs.index(name), claim.where, claim.case) for name in names]
    return all(bool(pairs) and bool(measure(seen, pairs, **claim.values)) for pairs in ranges)


def _sentence_holds(seen, text):
    """Is this sentence true?"""
    if seen.exercise.behaviour and seen.exercise.behaviour.as_is:
        return truth_of_runs.holds(seen.exercise, seen.answer, text)
    fits = [(measure, pattern.fullmatch(EDGE.sub("", text))) for pattern, measure in SENTENCES]
    return any(found and measure(seen, found) for measure, found in fits)


def _counts(seen, line, sentence):
    """ "d_key right; d_query wrong. 3 of 7 cases right; wrong: "a", "b" and 2 more." """
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
    told = ", ".join(f'"{label}"' for label in failed[: len(failed) - int(m["more"] or 0)])
    if m["wrong"] and told != m["wrong"]:
        return False
    outputs = seen.exercise.outputs
    good = [name for place, name in enumerate(outputs) if all(seen.right(i, place) for i in range(len(passing)))]
    told = [m["good"].split(", "), m["bad"].split(", ")] if m["good"] else None
    return told is None or told == [good, [name for name in outputs if name not in good]]
