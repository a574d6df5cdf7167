"""Every registered exercise: its sentences and hints are short and kind, and give no answer away."""

import re

from exercise_cases import every_exercise

from attnexercises.reader.source import solution_source


def lines_of_the_solution(exercise, longer_than):
    """The lines of the book's code that would give something away if they stood in a text."""
    lines = (line.strip().removeprefix("return ").partition("  #")[0] for line in solution_source(exercise).splitlines())
    return [line for line in lines if len(line) >= longer_than]


@every_exercise
def test_each_sentence_is_short_and_does_not_give_the_answer_away(exercise):
    code = lines_of_the_solution(exercise, longer_than=20)
    for mistake in exercise.mistakes:
        assert 10 <= len(mistake.say) <= 160, (mistake.id, len(mistake.say))
        assert mistake.say.endswith((".", "?")), mistake.id
        assert "np." not in mistake.say, mistake.id
        assert mistake.hint is None or 1 <= mistake.hint <= len(exercise.hints), mistake.id
        assert not any(line in mistake.say for line in code), mistake.id


@every_exercise
def test_hints_are_plain_text_and_hold_no_line_of_the_solution(exercise):
    for text in (*exercise.hints, exercise.why, exercise.insight):
        assert "$" not in text and text.count("`") % 2 == 0 and "\n" not in text
        assert text.strip() == text and re.search(r"[.?!]$", text), text
    for line in lines_of_the_solution(exercise, longer_than=25):
        assert not any(line in hint for hint in exercise.hints), line
    assert len(exercise.insight) <= 160
