"""How a check reads: at most twelve lines, whole words and whole sentences, and labels that read like labels."""

import pytest
from answers import first_line, right, unreadable
from exercise_cases import bits

from attnexercises import case, check, grade
from attnexercises.engine.registry import find
from attnexercises.reader import commands
from tests.exercises import corpus


def printed(capsys, id, answer):
    check(id, answer)
    return capsys.readouterr().out.splitlines()


def test_a_check_of_an_unforeseen_answer_reads_well(capsys, monkeypatch, request):
    """Every push prints a few answers of the corpus, the thorough run many. Of known mistakes `test_known_mistakes.py` asks all."""
    monkeypatch.setattr(commands, "grade_apart", grade)
    for answer in corpus.answers()[:: 4 if request.config.option.thorough else 32]:
        assert unreadable(printed(capsys, answer.id, answer.given)) == [], answer.what


@pytest.mark.parametrize("lines", [["a line"] * 13, ["Why?."], ["The rows: ."], ["It ends.."]])
def test_what_does_not_read_well_is_found(lines):
    assert unreadable(lines) and not unreadable(["a line"] * 11 + ["and so on ..."])


def test_what_was_left_out_is_shown_on_request(capsys):
    exercise = find("flash_backward")
    answer = exercise.family(bits(exercise.mistakes[0].id))
    lines = printed(capsys, "flash_backward", answer)
    assert 'Failing case in short; all of it: case("flash_backward")' in "\n".join(lines)
    whole = repr(case("flash_backward")).splitlines()
    assert len(whole) > len([line for line in lines if line.startswith("      ")])
    assert all(name in "\n".join(whole) for name in exercise.solution.__code__.co_varnames[:9])


def test_a_notebook_shows_no_more_than_a_terminal():
    exercise = find("flash_backward")
    shown = grade("flash_backward", exercise.family(bits(exercise.mistakes[0].id)), details=True).case.shortened(5)
    assert len(repr(shown).splitlines()) <= 5
    assert shown._repr_html_().count("\n") <= 6 and "case(&quot;flash_backward&quot;)" in shown._repr_html_()


def test_labels_with_commas_stand_in_quotation_marks():
    def rope(x, pos):
        return find("rope").solution(x, pos) if x.ndim == 2 else x

    said = grade("rope", rope).lines[1]
    assert said.endswith('wrong: "2 sequences of 5 tokens", "positions 7 to 10, as with a cache" and 5 more.')


def test_a_schedule_without_loads_says_so():
    steps = ["token 0", "token 1", "token 2", "token 3", "store C1", "drop C1", "token 4", "drop C2", "token 5", "drop C3", "token 6"]
    said = first_line(steps, "window_cache")
    assert "are enough. No block was loaded." in said and "loaded: ." not in said


def no_return():
    number = 3  # noqa: F841


def calls_no_return():
    return no_return()


def test_a_value_returns_nothing_and_a_question_has_one_mark():
    said = first_line(calls_no_return, "delta_sum")
    assert said == "[!] delta_sum: your value is None; give the value itself."

    def nothing(x):
        right(x)

    assert first_line(nothing).startswith("[!] softmax: your function returns None: did you forget `return`? (case ")


def test_no_word_of_an_exception_or_of_a_printed_line_is_cut_off(capsys):
    def talks(x):
        print("a sentence that takes more room than one line of the check has to give to the words of a function")
        raise ValueError("one word after the other, " * 20)

    lines = printed(capsys, "softmax", talks)
    words = set("a sentence that takes more room than one line of the check has to give to the words of a function".split())
    (shown,) = [line for line in lines if "a sentence" in line]
    assert set(shown.split()) - {"…"} <= words and shown.endswith("…")
    assert "the …" in " ".join(lines) or "other, …" in " ".join(lines) or "after …" in " ".join(lines) or "one …" in " ".join(lines)


