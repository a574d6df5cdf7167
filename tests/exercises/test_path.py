"""From a cell to one message: the path passes through the files that `attnexercises.engine` names, in that order."""

import re
import sys
from pathlib import Path

import numpy as np

import attnexercises
from attnexercises import check
from attnexercises.engine import diagnose, edits, isolation

PACKAGE = Path(attnexercises.__file__).parent
LOWER = ("engine", "method", "failing_case", "own_library")


def files_entered(call):
    """The files of the package whose functions are called, in the order of the first calls."""
    seen = {}

    def watch(frame, event, _):
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.is_relative_to(PACKAGE):
            seen.setdefault(path.relative_to(PACKAGE).with_suffix("").as_posix().replace("/", "."))

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        call()
    finally:
        sys.setprofile(before)
    return list(seen)


def unforeseen(x):
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    return 1.3 * powers / powers.sum(axis=-1, keepdims=True)


def test_the_path_is_the_one_that_is_told(monkeypatch, capsys):
    monkeypatch.setattr(isolation, "possible", lambda: False)  # what happens in a copy cannot be seen here
    check("softmax", unforeseen)  # the exercises are loaded when the first answer comes
    capsys.readouterr()
    diagnose.variant.cache_clear(), edits.fit_together.cache_clear()  # tests before this one may have asked the same
    entered = [name.removeprefix("engine.") for name in files_entered(lambda: check("softmax", unforeseen))]
    assert "every number is 1.3 times the right one" in capsys.readouterr().out
    told, _, aside = attnexercises.engine.__doc__.partition("Some answers take a side path")
    path, _, holding = told.partition("On the way")
    steps = [name for name in re.findall(r"`([\w.]+)`", path) if name not in ("as_html", ".T")]
    held = re.findall(r"`([\w.]+)` \(", holding) + ["reader.record", "softmax.forward"]
    assert set(entered) == {*steps, *held}
    assert len(steps) <= 16 and not set(entered) & set(re.findall(r"`(\w+)`", aside))


def test_no_lower_layer_imports_what_the_reader_calls():
    for folder in LOWER:
        for path in (PACKAGE / folder).glob("*.py"):
            text = path.read_text(encoding="utf-8")
            assert not re.search(r"^\s*(from|import) attnexercises\.(reader|classroom)\b", text, re.MULTILINE), path
