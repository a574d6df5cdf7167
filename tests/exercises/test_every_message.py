"""Every registered exercise: what is said is short, kind, reviewed, and gives no answer away."""

import os
import re
from pathlib import Path

from exercise_cases import EXERCISES, bits, every_exercise, every_mistake

from attnlib.exercises import grade
from attnlib.exercises.engine.source import solution_source

GOLDEN = Path(__file__).with_name("messages.txt")


@every_mistake
def test_the_sentence_is_short_and_does_not_give_the_answer_away(exercise, mistake):
    assert 10 <= len(mistake.say) <= 160, len(mistake.say)
    assert mistake.say.endswith(".") or mistake.say.endswith("?")
    assert "np." not in mistake.say
    assert mistake.hint is None or 1 <= mistake.hint <= len(exercise.hints)
    for line in solution_source(exercise).splitlines():
        code = line.strip().removeprefix("return ").partition("  #")[0]
        assert len(code) < 20 or code not in mistake.say


@every_exercise
def test_hints_are_plain_text_and_hold_no_line_of_the_solution(exercise):
    for text in (*exercise.hints, exercise.why, exercise.insight):
        assert "$" not in text and text.count("`") % 2 == 0 and "\n" not in text
        assert text.strip() == text and re.search(r"[.?!]$", text), text
    for line in solution_source(exercise).splitlines():
        code = line.strip().removeprefix("return ").partition("  #")[0]
        assert len(code) < 25 or not any(code in hint for hint in exercise.hints)
    assert len(exercise.insight) <= 160


def test_all_messages_are_the_reviewed_ones():
    """Read the difference; ``ATTNLIB_GOLDEN=write`` in the environment accepts it."""
    blocks = []
    for exercise in EXERCISES:
        answers = [exercise.solution] + [exercise.family(bits(mistake.id)) for mistake in exercise.mistakes]
        blocks += ["\n".join(grade(exercise, answer).lines) for answer in answers]
    text = "\n".join(blocks) + "\n"
    if os.environ.get("ATTNLIB_GOLDEN") == "write":
        GOLDEN.write_text(text, encoding="utf-8")
    assert text == GOLDEN.read_text(encoding="utf-8")
