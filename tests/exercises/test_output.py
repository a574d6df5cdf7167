"""attnexercises.engine.output: no line is wider than there is room for."""

import pytest

from attnexercises.engine import output

SENTENCE = "[!] softmax: on the case \"large scores\", NaN in 12 of 12 numbers. Large exponents overflow: shift each row."


@pytest.mark.parametrize(
    ("told", "width"), [("", 76), ("40", 40), ("76", 76), ("200", 76), ("0", 20), ("3", 20), ("-5", 76), ("wide", 76), ("²", 76)]
)
def test_lines_are_as_wide_as_there_is_room_for(monkeypatch, capsys, told, width):
    monkeypatch.setenv("ATTNLIB_WIDTH", told)
    assert output.width() == width
    output.say(SENTENCE)
    printed = capsys.readouterr().out.splitlines()
    assert max(map(len, printed)) <= width
    assert len(printed) == 1 + sum(line.startswith("    ") for line in printed)
    assert " ".join(line.strip() for line in printed) == SENTENCE
    assert all(len(line) + 1 + len(below.split()[0]) > width for line, below in zip(printed, printed[1:]))


def test_without_the_variable_they_are_as_in_a_notebook(monkeypatch):
    monkeypatch.delenv("ATTNLIB_WIDTH", raising=False)
    assert output.width() == output.WIDTH
