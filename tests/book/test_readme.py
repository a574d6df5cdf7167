"""What the README promises a newcomer: times that are those of the chapters, commands that exist, a picture that is drawn."""

import re
from pathlib import Path

import nbformat
import pytest
import yaml

from attnexercises import check
from attnexercises.engine.registry import registry
from attnlib.softmax import softmax
from tools.notebooks.reading_time import STATED
from tools.recorded.looks import PICTURE, TEXT

ROOT = Path(__file__).resolve().parents[2]

README = (ROOT / "README.md").read_text(encoding="utf-8")
WORDS = " ".join(README.split())
FIRST_PAGE = " ".join((ROOT / "chapters" / "index.md").read_text(encoding="utf-8").split())


def reading(pattern):
    """Minutes that the chapters say they take, together."""
    openers = (nbformat.read(path, as_version=4).cells[0].source for path in ROOT.glob(f"chapters/{pattern}.ipynb"))
    return sum(int(stated[1]) for opener in openers for stated in STATED.finditer(opener))


def doing(*chapters):
    """Minutes of the exercises of some chapters, or of all."""
    return sum(each.minutes for each in registry().values() if not chapters or each.chapter in chapters)


def hours(minutes):
    """As the README writes it: "2 hours and 20 minutes"."""
    whole, rest = divmod(minutes, 60)
    parts = [f"{number} {unit}{'s' * (number > 1)}" for number, unit in ((whole, "hour"), (rest, "minute")) if number]
    return " and ".join(parts)


def test_the_hours_are_those_of_the_chapters_and_exercises():
    whole = f"about {round(reading('*') / 60)} hours to read, and the {len(registry())} exercises"
    said = f"The thirteen chapters, the mathematics and the puzzles take {whole} about {round(doing() / 60)} hours more."
    assert said in WORDS, f"README.md has to say: {said}"
    assert said in FIRST_PAGE, f"chapters/index.md has to say: {said}"
    first = hours(reading("0[12]_*")), hours(doing("softmax", "attention"))
    said = f"take {first[0]} of reading and {first[1]} of exercises."
    assert said in WORDS, f"README.md has to say: {said}"


def test_the_first_page_says_how_long_a_chapter_takes():
    openers = [nbformat.read(path, as_version=4).cells[0].source for path in sorted(ROOT.glob("chapters/[0-9][0-9]_*.ipynb"))]
    times = [re.search(r"\*\*Time\*\* about (\d+) minutes of reading, and (.+?) for the", opener) for opener in openers]
    reading = [int(time[1]) for time in times]
    written_out = {"an hour": 60, "one hour": 60, "two hours": 120}
    doing = [written_out.get(time[2]) or int(time[2].removesuffix(" minutes")) for time in times]
    said = (
        f"A chapter takes {min(reading)} to {max(reading)} minutes to read, and its exercises take another "
        f"{min(doing)} to {max(doing)} minutes."
    )
    assert said in FIRST_PAGE, f"chapters/index.md has to say: {said}"


@pytest.mark.parametrize("minutes, said", [(140, "2 hours and 20 minutes"), (61, "1 hour and 1 minute"), (60, "1 hour")])
def test_hours_are_written_as_people_say_them(minutes, said):
    assert hours(minutes) == said


def test_every_command_is_one_of_the_makefile():
    targets = re.findall(r"^([a-z-]+):.*##", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
    assert set(re.findall(r"`make ([a-z-]+)`", README)) <= set(targets)
    assert README.index("`make live`") < README.index("## All commands")


def test_it_clones_from_where_the_book_is_published():
    url = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))["repository"]["url"]
    assert f"git clone {url or '<address of this repository>'} attention-derived\n" in README


def test_the_picture_is_the_one_that_a_script_draws():
    """That it is drawn from the chapter as it is now, test_looks.py says."""
    assert f"![{TEXT}]({PICTURE.relative_to(ROOT).as_posix()})" in README


def test_every_link_leads_to_a_file():
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", README):
        assert (ROOT / target).exists(), target


def test_the_verdict_that_the_first_page_shows_is_what_the_check_prints(capsys):
    page = (ROOT / "chapters" / "index.md").read_text(encoding="utf-8")
    code, shown = re.search(r"```python\n(def sdpa.+?)```.+?```text\n(.+?)```", page, re.S).groups()
    exec(code, {"softmax": softmax, "check": check})
    assert capsys.readouterr().out == shown
