"""The corpus of wrong answers: none passes, none gets a wrong name, most get a right one, and what is said to them is true.

Every push judges a sixth of them, the thorough run all.
"""

import warnings
import zlib
from collections import Counter
from types import CodeType

import numpy as np
import pytest
from corpus import ACCEPTED, RIGHTLY, WRONGLY, answers, judged, right_answers
from corpus.counts import table
from truth import false_clauses

from attnexercises import grade
from attnexercises.engine import diagnose
from attnexercises.engine.calls import run_trusted
from attnexercises.engine.registry import find

TOPICS = sorted({answer.topic for answer in answers()})
MOST = 0.65  # the share of a topic's answers that has to be named
WAYS = 3  # how many answers may do the same as one known mistake, each in another style

every_topic = pytest.mark.parametrize("topic", TOPICS)


def of_every_push(answer):
    """A sixth of the answers, always the same ones."""
    return zlib.crc32(f"{answer.id}, {answer.what}".encode()) % 6 == 0


def of_no_push(answer):
    return not of_every_push(answer)


def told(topic, chosen, wanted):
    """What is said to the chosen answers of a topic of which this has become."""
    of_topic = judged(lambda answer: answer.topic == topic and chosen(answer))
    return [(answer.id, answer.what, result.lines[0]) for answer, result, found in of_topic if found == wanted]


@every_topic
def test_no_wrong_answer_passes(topic):
    assert told(topic, of_every_push, ACCEPTED) == []


@pytest.mark.thorough
@every_topic
def test_no_other_wrong_answer_passes(topic):
    assert told(topic, of_no_push, ACCEPTED) == []


def test_no_right_answer_is_refused():
    results = [(id, what, grade(id, given)) for id, what, given in right_answers()]
    assert [(id, what, result.lines[0]) for id, what, result in results if result.status != "passed"] == []


@every_topic
def test_no_wrong_answer_gets_a_wrong_name(topic):
    assert told(topic, of_every_push, WRONGLY) == []


@pytest.mark.thorough
@every_topic
def test_no_other_wrong_answer_gets_a_wrong_name(topic):
    assert told(topic, of_no_push, WRONGLY) == []


def test_most_wrong_answers_get_a_right_name():
    verdicts = [found for *_, found in judged(of_every_push)]
    assert verdicts.count(RIGHTLY) >= MOST * len(verdicts), Counter(verdicts)


@pytest.mark.thorough
@every_topic
def test_most_wrong_answers_of_a_topic_get_a_right_name(topic):
    verdicts = [found for *_, found in judged(lambda answer: answer.topic == topic)]
    assert verdicts.count(RIGHTLY) >= MOST * len(verdicts), Counter(verdicts)


def false_messages(topic, chosen):
    """What is said to the chosen answers of a topic, and is not true."""
    wrong = {}
    for answer, result, _ in judged(lambda answer: answer.topic == topic and chosen(answer)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = false_clauses(find(answer.id), answer.given, result)
        wrong |= {(answer.id, answer.what): (found, result.lines[0])} if found else {}
    return wrong


@every_topic
def test_what_is_said_to_a_wrong_answer_is_true(topic):
    assert false_messages(topic, of_every_push) == {}


@pytest.mark.thorough
@every_topic
def test_what_is_said_to_any_other_wrong_answer_is_true(topic):
    assert false_messages(topic, of_no_push) == {}


def test_a_push_judges_some_answers_of_every_topic(record_property):
    chosen = judged(of_every_push)
    record_property("checked wrong answers of the corpus", len(chosen))
    assert {answer.topic for answer, *_ in chosen} == set(TOPICS)


@pytest.mark.thorough
def test_the_counts_are_printed(record_property):
    print("\n" + table())
    record_property("checked other wrong answers of the corpus", len(judged(of_no_push)))
    assert sum(map(int, table().splitlines()[-1].split()[1:5])) == len(answers())


# --- the corpus itself ----------------------------------------------------------------------------


@every_topic
def test_each_answer_is_wrong(topic):
    """Held without the judge: other values or shapes than the oracle's, a changed input, or a stated rule broken."""
    for answer in answers():
        if answer.topic == topic:
            assert differs(find(answer.id), answer.given) != bool(answer.rule), (answer.id, answer.what)


def differs(exercise, given):
    function = given if callable(given) else lambda: given
    return any(
        differs_on(exercise, function, probe, want)
        for probe, want in zip(exercise.probes, diagnose.expected(exercise), strict=True)
        for _ in ("at first", "again")  # a gradient that nobody sets back to zero is right at first
    )


def differs_on(exercise, function, probe, want):
    outcome = run_trusted(exercise, function, probe)
    if outcome.values is None or outcome.problem or outcome.changed or len(outcome.values) != len(want):
        return True
    return not all(alike(got, right, exercise) for got, right in zip(outcome.values, want, strict=True))


def alike(got, want, exercise):
    if got.shape != want.shape or (got.dtype.kind == "b") != (want.dtype.kind == "b"):
        return False
    if want.dtype.kind not in "fiu" or got.dtype.kind not in "fiu":
        return bool(np.all(got == want))
    if got.dtype.kind == "f" and got.dtype.itemsize < want.dtype.itemsize:
        return False
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return np.allclose(got, want, rtol=exercise.rtol, atol=exercise.atol, equal_nan=True)


def test_no_answer_is_there_twice():
    seen = {}
    for answer in answers():
        mark = (answer.id, fingerprint(answer.given))
        assert mark not in seen, (seen[mark], answer.what)
        seen[mark] = answer.what
    titles = Counter((answer.id, answer.what) for answer in answers())
    assert [title for title, number in titles.items() if number > 1] == []


def fingerprint(given):
    """The same for two functions that differ in the names of variables only."""
    if isinstance(given, dict):
        return tuple((name, fingerprint(part)) for name, part in given.items())
    code = getattr(given, "__code__", None) or getattr(getattr(type(given), "__call__", None), "__code__", None)
    if not code:
        return repr(given)
    kept = [cell.cell_contents for cell in getattr(given, "__closure__", None) or ()]
    return compiled(code), tuple(map(fingerprint, kept)), repr(vars(given))


def compiled(code):
    constants = tuple(compiled(part) if isinstance(part, CodeType) else repr(part) for part in code.co_consts)
    return code.co_code, constants, code.co_names


def test_the_names_that_are_hoped_for_exist():
    for answer in answers():
        known = {mistake.id for mistake in find(answer.id).mistakes}
        assert set(answer.named) <= known, (answer.id, answer.what, set(answer.named) - known)


@pytest.mark.thorough
def test_what_is_known_is_written_in_few_ways():
    """At most `WAYS` answers behave as one known mistake does: the rest must be new to the judge."""
    ways = Counter()
    for answer, result, _ in judged():
        exercise = find(answer.id)
        if len(result.mistakes) == 1 and not exercise.value and same_everywhere(exercise, answer, result.mistakes):
            ways[answer.id, *result.mistakes] += 1
    assert {name: number for name, number in ways.items() if number > WAYS} == {}


def same_everywhere(exercise, answer, bugs):
    return all(
        diagnose.same(
            exercise, run_trusted(exercise, answer.given, probe), diagnose.variant(exercise, frozenset(bugs), place)
        )
        for place, probe in enumerate(exercise.probes)
    )
