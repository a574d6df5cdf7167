"""The index of exercises: each once, with its level and minutes, and a link that leads to its cell."""

import re
from html import unescape
from pathlib import Path
from types import SimpleNamespace

import pytest

from attnexercises.engine.registry import registry
from book.exercises import index

ROOT = Path(__file__).resolve().parents[3]


ROW = re.compile(
    r'<tr data-exercise-row="(\w+)" data-level="(\w+)" data-minutes="(\d+)"><td><a href="(\w+)\.html#([\w-]+)">(.*?)</a> <code>([\w<>]+)</code></td>'
    r"<td>(\w+)</td><td>(\d+)</td><td hidden></td></tr>"
)


@pytest.fixture(scope="module")
def page(site):
    return (site / "chapters" / "exercises.html").read_text(encoding="utf-8")


def test_every_registered_exercise_stands_there_once_in_the_order_of_the_book(page, site, record_property):
    rows = ROW.findall(page)
    assert page.count("data-exercise-row=") == len(rows)
    places = {}
    for id, level, minutes, file, anchor, title, name, *shown in rows:
        exercise = registry()[id]
        assert name.replace("<wbr>", "") == id  # what `check` and `hint` are told
        assert (level, int(minutes)) == (exercise.level, exercise.minutes) and shown == [level, minutes]
        assert re.fullmatch(rf"([\d.]+ )?{re.escape(exercise.title)}", unescape(title))
        target = (site / "chapters" / f"{file}.html").read_text(encoding="utf-8")
        assert target.count(f'id="{anchor}"') == 1, id
        section = target[target.index(f'id="{anchor}"') :]
        assert f'data-exercise="{id}"' in section[: section.index("</section>")], id
        places.setdefault(file, []).append(target.index(f'data-exercise="{id}"'))
    assert all(found == sorted(found) for found in places.values())
    assert sorted(id for id, *_ in rows) == sorted(registry())
    record_property("checked exercises of the index", len(rows))


def test_a_head_says_how_many_follow_and_how_long_they_take(page):
    for body in re.findall(r"<tbody><tr><th scope=\"rowgroup\".*?</tbody>", page, re.S):
        said = re.search(r"<span>(\d+) exercises?, (\d+) minutes</span>", body).groups()
        rows = ROW.findall(body)
        assert [int(number) for number in said] == [len(rows), sum(int(row[2]) for row in rows)]


# An exercise that is nowhere, or under another heading


def fake(heading="Exercise 1.1: A softmax that no finite score can break", place="chapters/01_softmax"):
    labels = {"ex-softmax": (place, "ex-softmax", heading)}
    env = SimpleNamespace(get_domain=lambda name: SimpleNamespace(labels=labels))
    return SimpleNamespace(env=env, builder=SimpleNamespace(get_relative_uri=lambda page, to: f"{to.split('/')[1]}.html"))


def row(app, monkeypatch):
    warned = []
    monkeypatch.setattr(index.logger, "warning", lambda text, *words, **rest: warned.append(text % words))
    return index.row(app, "chapters/exercises", "chapters/01_softmax", registry()["softmax"]), warned


def test_a_row_has_number_title_level_and_minutes(monkeypatch):
    shown, warned = row(fake(), monkeypatch)
    assert ROW.fullmatch(shown.strip()).groups()[3:6] == ("01_softmax", "ex-softmax", f"1.1 {registry()['softmax'].title}")
    assert not warned


@pytest.mark.parametrize("fault", [{"heading": "Exercise 1.1: Another"}, {"heading": "Softmax"}, {"place": "chapters/02_attention"}])
def test_another_heading_or_page_is_a_warning(fault, monkeypatch):
    shown, (warned,) = row(fake(**fault), monkeypatch)
    assert shown == "" and "ex-softmax" in warned


def test_an_exercise_that_stands_nowhere_is_a_warning(monkeypatch):
    warned, app = [], fake()
    monkeypatch.setattr(index, "reading_order", lambda env: ["chapters/01_softmax"])
    monkeypatch.setattr(index.logger, "warning", lambda text, *words, **rest: warned.append(words[0]))
    app.env.config = SimpleNamespace(root_doc="chapters/index")
    app.env.exercise_cells = {"chapters/01_softmax": ["softmax"]}
    app.env.toc_secnumbers, app.env.titles = {}, {"chapters/01_softmax": SimpleNamespace(astext=lambda: "Turn")}
    assert len(ROW.findall(index.table(app, "chapters/exercises"))) == 1
    assert sorted(warned) == sorted(registry().keys() - {"softmax"})
