"""What one build keeps for the next: never anything old, damaged or half, and never for long without a use."""

import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from book import cache

ROOT = Path(__file__).resolve().parents[3]

LONG = "ab" * 3000  # so that the parts fill several pages of the file


def long(word):
    """A part that is made of a word."""
    return [word, LONG + word]


def never(*what):
    raise AssertionError(f"{what} was made again")


def build_with(path, *words, make=long, version="1"):
    """One build that needs the parts of these words. Returns the parts."""
    parts = cache.Kept(path)
    found = [parts.get(make, word, version=version) for word in words]
    parts.save()
    return found


def words_in(path):
    """What is kept in the file, by the words."""
    return sorted(part[0] for part in map(cache.json.loads, cache.Kept(path).found.values()))


def test_the_next_build_finds_what_this_one_made(path):
    assert build_with(path, "one", "two") == build_with(path, "one", "two", make=never) == [long("one"), long("two")]


def test_a_part_is_made_once_in_a_build():
    made = []
    parts = cache.Kept()
    for _ in range(2):
        assert parts.get(lambda word: made.append(word) or len(made), "one", version="1") == 1


def test_a_fresh_part_is_of_the_types_of_a_kept_one(path):
    fresh, again = (build_with(path, "one", make=lambda word: (word, {1: (2.5, "é")}), version="pair") for _ in range(2))
    assert fresh == again == [["one", {"1": [2.5, "é"]}]]


def test_what_another_version_made_is_not_used(path):
    build_with(path, "one")
    assert build_with(path, "one", make=lambda word: "new", version="2") == ["new"]


def test_what_another_python_made_is_not_used(path, monkeypatch):
    build_with(path, "one")
    monkeypatch.setattr(sys, "version", "another Python")
    assert build_with(path, "one", make=lambda word: "new") == ["new"]


def test_a_failure_is_not_kept(path):
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            build_with(path, "one", make=lambda word: 1 / 0)
    assert build_with(path, "one") == [long("one")]


def test_digests_tell_parts_apart_by_their_ends_and_files_by_their_content(tmp_path):
    (tmp_path / "file").write_text("first")
    assert cache.digest("ab", "c") != cache.digest("a", "bc") != cache.digest("abc")
    before = cache.digest(tmp_path / "file")
    (tmp_path / "file").write_text("other")
    assert cache.digest(tmp_path / "file") != before


# Damage


def flip(path, place):
    content = bytearray(path.read_bytes())
    content[place] ^= 0x55
    path.write_bytes(content)


def spoil_value(path):
    with cache.closing(sqlite3.connect(path)) as file:
        file.execute("update part set value = replace(value, 'two', 'owt')")
        file.commit()


def other_form(path):
    with cache.closing(sqlite3.connect(path)) as file:
        file.execute(f"pragma user_version = {cache.FORM + 1}")


DAMAGE = {
    "empty": lambda path: path.write_bytes(b""),
    "no database": lambda path: path.write_bytes(b"not a database" * 1000),
    "cut off": lambda path: path.write_bytes(path.read_bytes()[:9000]),
    "first byte": lambda path: flip(path, 0),
    "the table's name": lambda path: flip(path, path.read_bytes().index(b"part")),
    "pages lost": lambda path: path.write_bytes(path.read_bytes()[:4096] + bytes(len(path.read_bytes()) - 4096)),
    "a part": lambda path: flip(path, path.read_bytes().rindex(b"abab")),
    "the end of a part": spoil_value,
    "another form": other_form,
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
def test_what_is_damaged_is_made_anew_and_mended(path, damage):
    build_with(path, "one", "two", "three")
    damage(path)
    assert build_with(path, "one", "two", "three") == [long("one"), long("two"), long("three")]
    assert build_with(path, "one", "two", "three", make=never) == [long("one"), long("two"), long("three")]


def test_a_file_of_another_form_is_not_read(path):
    build_with(path, "one")
    other_form(path)
    assert build_with(path, "one", make=lambda word: "new") == ["new"]


def test_a_file_that_is_damaged_during_a_build_is_written_anew(path):
    build_with(path, "one")
    parts = cache.Kept(path)
    for word in ("one", "two"):
        parts.get(long, word, version="1")
    DAMAGE["no database"](path)
    parts.save()
    assert words_in(path) == ["one", "two"]


def test_a_damaged_part_does_not_damage_the_others(path):
    build_with(path, "one", "two", "three")
    spoil_value(path)
    assert words_in(path) == ["one", "three"]


@pytest.mark.parametrize("name", ["missing", "file/kept.db"])
def test_without_a_place_to_keep_parts_a_build_makes_them(tmp_path, name):
    (tmp_path / "file").touch()
    (tmp_path / "missing").mkdir()  # a folder of the file's own name
    assert build_with(tmp_path / name, "one") == [long("one")]
    assert build_with(None, "one") == [long("one")]


# Several builds


def test_a_part_that_ten_builds_did_not_use_is_removed(path):
    build_with(path, "used", "unused")
    for number in range(cache.BUILDS - 1):
        build_with(path, "used", str(number))
    assert {"used", "unused"} < set(words_in(path))
    build_with(path, "used")
    assert "used" in words_in(path) and "unused" not in words_in(path)


def test_the_file_does_not_grow_with_the_number_of_builds(path):
    sizes = []
    for number in range(4 * cache.BUILDS):
        build_with(path, f"first {number}", f"second {number}")
        sizes.append(path.stat().st_size)
    assert sizes[-1] == sizes[2 * cache.BUILDS] <= 2 * cache.BUILDS * 2 * len(LONG)


def test_two_builds_at_once_add_their_parts(path):
    first, second = cache.Kept(path), cache.Kept(path)
    for parts, word in ((first, "one"), (second, "two"), (first, "both"), (second, "both")):
        parts.get(long, word, version="1")
    first.save()
    second.save()
    assert words_in(path) == ["both", "one", "two"]


# A build in a process of its own. For the word "killed", it kills itself after it has written and before that counts.
PROGRAM = """
import os, signal, sys
sys.path.insert(0, sys.argv[1])
from book import cache

class Death:
    def __rsub__(self, build):
        os.kill(os.getpid(), signal.SIGKILL)

parts = cache.Kept(sys.argv[2])
for word in sys.argv[3:]:
    parts.get(lambda word: [word, "ab" * 3000 + word], word, version="1")
cache.BUILDS = Death() if "killed" in sys.argv else cache.BUILDS
parts.save()
"""


def process_with(path, *words):
    return subprocess.Popen([sys.executable, "-c", PROGRAM, ROOT, path, *words])


def test_many_builds_at_once_lose_nothing(path):
    builds = [process_with(path, "all", str(number)) for number in range(6)]
    assert [build.wait() for build in builds] == [0] * 6
    assert words_in(path) == ["0", "1", "2", "3", "4", "5", "all"]


def test_a_build_that_is_killed_while_it_writes_leaves_the_parts_as_they_were(path):
    build_with(path, "one", "two")
    assert process_with(path, "one", "killed").wait() == -signal.SIGKILL
    assert words_in(path) == ["one", "two"]
    build_with(path, "three")
    assert words_in(path) == ["one", "three", "two"]
