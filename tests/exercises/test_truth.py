"""No message says what is not so: each clause is held against the very answer it is shown for.

`test_known_mistakes.py` does that for each known mistake. Here are two mistakes at once, slips and other values: every
push takes some of them, always the same ones, and the thorough run takes all pairs and many more slips.
"""

import re
import warnings
import zlib
from dataclasses import replace

import numpy as np
import pytest
from exercise_cases import EXERCISES, bits, every_function, pairs
from mutants import mutants
from styles import ways
from truth import false_clauses
from truth_seen import MEASURES, Seen

from attnexercises import Result, grade
from attnexercises.engine import calls
from attnexercises.engine.claims import WORDS, Claim, Size
from attnexercises.engine.registry import find

#: What a cause must not say, because another mistake beside it can make it false.
ON_VALUES = re.compile(
    r"\b(is|are) (right|wrong)\b|\b[Rr]ight (on|for|in|until|without|only|if)\b|(?<!to )\bsums? to\b|\btimes too\b|"
    r"\btoo (large|small|few|little|sharp|flat)\b|\bexactly\b|\bNaN (in|on|for|where|from)\b|\b(became|got|gave) NaN\b|"
    r"\bvalues are right|\bright (one|numbers|answer)\b|\bdigits\b|\bnegative numbers?\b|\byour (output|gradient) (is|equals)"
)


def sample(items, one_in):
    """A part of the items, always the same one, chosen by their names."""
    return [item for item in items if zlib.crc32(repr(item).encode()) % one_in == 0]


def check_message(exercise, answer):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = grade(exercise, answer)
        if result.status in ("passed", "unattempted") or "still running" in result.lines[0]:
            return
        wrong = false_clauses(exercise, answer, result)
    assert wrong == [], "\n".join(result.lines)


# --- causes ---------------------------------------------------------------------------------------


@every_function
def test_a_cause_says_nothing_on_the_values(exercise):
    claims = {mistake.id: mistake.say for mistake in exercise.mistakes if ON_VALUES.search(mistake.say)}
    assert claims == {}, "say why, and let `shows` say what is seen: it is measured"


@pytest.mark.parametrize(
    "claim",
    ["The values are right, but it is slow.", "Each row sums to 1.", "d_key is sqrt(d) times too large.", "Each row got NaN."],
)
def test_claims_on_values_are_found(claim):
    assert ON_VALUES.search(claim)


# --- every message --------------------------------------------------------------------------------


@every_function
def test_what_is_said_to_two_mistakes_is_true(exercise):
    for _, pair in sample([(exercise.id, pair) for pair in pairs(exercise)], one_in=120):
        check_message(exercise, exercise.family(bits(*pair)))


@pytest.mark.thorough
@every_function
def test_what_is_said_to_any_two_mistakes_is_true(exercise):
    for pair in pairs(exercise):
        check_message(exercise, exercise.family(bits(*pair)))


def test_a_factor_that_was_handed_over_is_measured_too():
    exercise = find("mha")

    def answer(*arguments):
        return exercise.solution(*arguments) * arguments[-1]

    result = grade(exercise, answer)
    assert "too large by a factor of heads, here 3" in result.lines[0], result.lines
    assert false_clauses(exercise, answer, result) == []


def check_slips(exercise, way, one_in):
    slips = list(mutants(ways(exercise)[way]))
    for place, _ in sample([(place, f"{way} {name}") for place, (name, _) in enumerate(slips)], one_in):
        check_message(exercise, slips[place][1])


@every_function
def test_what_is_said_to_a_slip_is_true(exercise, monkeypatch):
    monkeypatch.setattr(calls, "TIME_LIMIT", 0.5)
    check_slips(exercise, "solution", one_in=100)


@pytest.mark.thorough
@every_function
def test_what_is_said_to_a_slip_in_any_way_is_true(exercise, monkeypatch):
    monkeypatch.setattr(calls, "TIME_LIMIT", 0.5)
    for way in ways(exercise):
        check_slips(exercise, way, one_in=10)


NUMBERS = [exercise for exercise in EXERCISES if exercise.value]


@pytest.mark.parametrize("exercise", NUMBERS, ids=lambda exercise: exercise.id)
def test_what_is_said_to_an_unforeseen_value_is_true(exercise):
    right = np.asarray(exercise.oracle())
    if right.dtype.kind == "U":
        return check_message(exercise, "dropout")
    for factor in (-1, 0.5, 1.03, 2, 3.7, 100):
        check_message(exercise, (right * factor).tolist())
    if right.ndim == 0:
        check_message(exercise, float(f"{float(right):.1e}"))


def test_two_mistakes_of_the_same_quantity_are_never_named_together():
    exercise = find("linear_backward")  # entry by entry in d_x, and another product in d_weight
    result = grade(exercise, lambda d_out, x, weight: (d_out * weight, d_out @ x.T))
    assert result.status == "crashed" and result.mistakes == ()
    assert grade(exercise, exercise.family(bits("dx_transposed", "elementwise"))).mistakes == ("dx_transposed", "elementwise")


# --- two explanations that nothing tells apart ----------------------------------------------------


def test_of_two_explanations_that_fit_alike_none_is_preferred():
    exercise = find("softmax_backward")  # minus, or the arguments exchanged, before `weights - d_weights`
    result = grade(exercise, exercise.family(bits("sign", "ce_shortcut")))
    assert result.mistakes == ("ce_shortcut",)
    assert "(1) `weights - target` is the gradient" in result.lines[0]
    assert "(2) Either: The sign of" in result.lines[0] and " Or: weights and d_weights are swapped" in result.lines[0]


# --- is a false sentence found? -------------------------------------------------------------------


def right(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


FALSE = {
    "a factor": (lambda x: 2 * right(x), Claim("times", {"n": 3.0})),
    "a factor of one case": (lambda x: right(x) * (1 + (x.ndim == 3)), Claim("times", {"n": 2.0})),
    "a size": (lambda x: right(x) * x.shape[-1], Claim("size", {"size": Size("x", -2), "power": 1, "n": 3.0})),
    "minus": (lambda x: 1 - right(x), Claim("minus")),
    "a sum": (lambda x: right(x) / 2, Claim("row sums", {"n": 0.4})),
    "right values": (lambda x: right(x) + 1e-3, Claim("values right")),
    "NaN": (
        lambda x: np.where(x > x.min(), right(x), np.nan), Claim("lost", {"what": "NaN", "count": 2, "of": 30, "right": None}),
    ),
    "float32": (lambda x: right(x).round(7), Claim("digits", {"digits": 7, "single": True, "rounded": False})),
    "transposed": (lambda x: right(x)[..., ::-1], Claim("transposed")),
    "an error": (lambda x: 1 / 0, "your function stops with ValueError: no."),
    "which numbers": (
        lambda x: right(x) + 1,
        Claim("entries", dict(wrong=16, of=16, axis=None, at=(), first=(0, 0), got=1.0, want=0.5), "case", "square"),
    ),
    "an argument that counts": (lambda x: x * x, Claim("ignored", {"name": "x"})),
    "the input": (lambda x: right(x) + x, Claim("input", {"name": "x"})),
    "off by the input": (lambda x: right(x) + x * x, Claim("off by input", {"name": "x", "right": 1.0, "n": 1.0})),
    "a sign": (lambda x: right(x) + (x > 1), Claim("where sign", {"name": "x", "what": "positive"})),
    "a size that counts": (lambda x: x * x, Claim("size does not count", {"name": "x"}, "case", "square")),
    "a shift that does not count": (lambda x: 2 * right(x), Claim("shift counts", {"name": "x"}, "case", "square")),
    "rows by themselves": (lambda x: 2 * right(x), Claim("mixed", {"name": "x", "what": "row"}, "case", "square")),
    "a row that counts": (lambda x: 2 * right(x), Claim("part not used", {"name": "x", "which": "last", "what": "row"}, "case", "square")),
    "a function": (lambda x: right(x) + 1, Claim("function", {"name": "the logarithm of"})),
    "rows alike": (lambda x: right(x) + 1, Claim("same rows", where="case", case="square")),
    "columns alike": (lambda x: right(x) + 1, Claim("same columns", where="case", case="square")),
    "right on ordinary inputs": (
        lambda x: 2 * right(x), Claim("lost", {"what": "NaN", "count": 1, "of": 1, "right": None}, "edge", "one row"),
    ),
    "what nobody measures": (lambda x: 2 * right(x), "the numbers are green."),
}  # fmt: skip


def told(claim_or_sentence, *lines):
    """A result that says this of an answer to `softmax`."""
    claims = () if isinstance(claim_or_sentence, str) else (claim_or_sentence,)
    said = claim_or_sentence.sentence if claims else claim_or_sentence
    return Result("wrong", (f"[!] softmax: {said}", *lines), claims=claims)


@pytest.mark.parametrize("case", FALSE)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_false_sentence_is_found(case):
    answer, said = FALSE[case]
    assert false_clauses(find("softmax"), answer, told(said)) == [str(said)]


def test_words_that_are_not_those_of_the_claim_are_found():
    twice = told(Claim("times", {"n": 2.0}))
    result = replace(twice, lines=("[!] softmax: every number is 3 times the right one.",))
    assert false_clauses(find("softmax"), lambda x: 2 * right(x), result) == ["every number is 3 times the right one."]


def test_every_kind_of_claim_is_measured():
    assert set(MEASURES) == set(WORDS)


COUNTS = {
    "too many": '1 of 9 cases right; wrong: "all sizes differ".',
    "after right values": "0 of 9 cases right.",
}


@pytest.mark.parametrize("case", COUNTS)
def test_a_false_count_is_found(case):
    def answer(x):
        x -= x.max()
        return right(x) if case == "after right values" else 2 * right(x)

    claim = Claim("values right") if case == "after right values" else Claim("times", {"n": 2.0})
    line = f"    {COUNTS[case]}"
    assert false_clauses(find("softmax"), answer, told(claim, line)) == [line]


def test_the_oracle_of_the_test_knows_the_solution_to_be_right():
    seen = Seen(find("softmax"), find("softmax").solution)
    assert all(seen.passes(place) for place in range(len(seen.labels)))
