"""Figures in fewer bytes: paths that end where they ended, words drawn once, and nothing left that refers to nothing."""

import io
import re
from xml.etree import ElementTree

import numpy as np
import pytest
from matplotlib.figure import Figure

from book.light_pages import drawings


def drawn():
    figure = Figure(figsize=(4, 3))
    axes = figure.subplots()
    axes.plot(np.linspace(0, 1, 50), np.sin(np.linspace(0, 9, 50)), marker="o")
    axes.bar([0.2, 0.6], [0.5, -0.5], hatch="//")
    axes.set_xlabel("word, word and word")
    for height in (0.1, 0.2, 0.3):
        axes.text(0.4, height, "0.02", rotation=30 if height > 0.2 else 0, color="red")
    file = io.StringIO()
    figure.savefig(file, format="svg")
    return file.getvalue()


def points(path, digits=6):
    """The places at which each command of a path ends, absolute or relative: read as a browser does."""
    found, place, begin, at, command = [], (0.0, 0.0), (0.0, 0.0), 0, ""
    parts = re.findall(r"[A-Za-z]|-?(?:\d+\.?\d*|\.\d+)", path)
    lengths = {"m": 2, "l": 2, "h": 1, "v": 1, "q": 4, "c": 6}
    while at < len(parts):
        if parts[at].isalpha():
            command, at = parts[at], at + 1
            if command in "zZ":
                place = begin
                continue
        numbers = [float(part) for part in parts[at : at + lengths[command.lower()]]]
        at += len(numbers)
        step = {"h": (numbers[0], 0), "v": (0, numbers[-1])}.get(command, numbers[-2:])
        place = tuple(step) if command.isupper() else (place[0] + step[0], place[1] + step[1])
        begin = place if command in "mM" else begin
        command = {"m": "l", "M": "L"}.get(command, command)
        found.append(place)
    return np.round(found, digits)


PATH = "M 10.123456 20 \nL 30.2 20 \nL 30.2 -4.5 \nQ 1 2 3.3333333 4 \nC 1 2 3 4 5 6 \nz\nM 0 0 \nL 0.001 1e-05 \nz"


def test_a_path_has_its_places_to_two_decimals():
    short = drawings.path(PATH, 100)
    assert len(short) < 0.8 * len(PATH) and re.match(r"m10\.12 20h20\.08v-24\.5q", short)
    expected = points(re.sub(r"\S+e-05", "0", PATH))
    np.testing.assert_allclose(points(short), expected, rtol=0, atol=0.005 + 1e-9)


def test_rounding_does_not_add_up_along_a_path():
    steps = "M 0 0 " + " ".join(f"L {0.004 * at:.3f} {0.004 * at:.3f}" for at in range(1, 1001))
    np.testing.assert_allclose(points(drawings.path(steps, 100))[-1], [4, 4], atol=0.005)


def test_a_path_of_another_kind_stops_the_build():
    with pytest.raises(ValueError, match="the command 'A'"):
        drawings.path("M 0 0 A 1 1 0 0 1 2 2", 100)


def test_a_figure_is_half_as_long_and_every_reference_has_its_goal():
    text = drawn()
    short = drawings.thinned(text)
    assert len(short) < 0.5 * len(text)
    root = ElementTree.fromstring(short)
    ids = [element.get("id") for element in root.iter() if element.get("id")]
    used = set(re.findall(r'href="#([^"]+)"|url\(#([^)]+)\)', short))
    assert len(ids) == len(set(ids)) and set(ids) == {one or other for one, other in used}
    for attribute in ("width", "height", "viewBox"):
        assert root.get(attribute) == ElementTree.fromstring(text).get(attribute)


def test_a_word_that_stands_three_times_is_drawn_once_in_each_direction():
    short = drawings.thinned(drawn())
    assert "<!-- 0.02 -->" not in short
    four = re.findall(r'<g id="(\w+)" transform="scale\([^"]+"><use[^>]*/>(?:<use[^>]*/>){3}</g>', short)
    assert any(len(re.findall(rf'<use href="#{name}"', short)) == 2 for name in four)
    assert short.count("rotate(-30)") == 1  # the third stands askew, and alone


def test_a_drawing_that_is_not_matplotlibs_stays_as_it_is():
    text = '<svg xmlns="http://www.w3.org/2000/svg"><g id="unused"><path d="M 1.23456 0 A 1 1 0 0 1 2 2"/></g></svg>'
    assert drawings.thinned(text) == text


@pytest.mark.parametrize(("number", "digits", "short"), [("0.50", 2, ".5"), ("-0.004", 2, "0"), ("-0.25", 2, "-.25"), ("100", 0, "100"), ("10.0", 2, "10")])
def test_a_number_keeps_its_value(number, digits, short):
    assert drawings.short(number, digits) == short
