"""Runs the cells of a page inside the page's Python, and hands on what they print and show.

The worker (`worker.mjs`) calls `start` once, with a function that ends interrupts, and one that takes what happens, a kind
and its content:

    text   {"name": "stdout" or "stderr", "text": ...}
    data   {MIME type: content}
    error  {"name": ..., "text": ...}, the traceback cut to the reader's own lines
    cut    nothing: the output is too long, and what follows is left out
    clear  {"wait": ...}: what was shown goes, at once or when the next output comes
    limit  {"seconds": ...}: an answer computes from now on, for at most so long; 0: it has ended

then, for each cell, `draws` (does it need Matplotlib, which the worker then loads?) and `run`, with `give` before and `kept` after it for the files that the browser keeps.
"""

import builtins
import io
import json
import linecache
import os
import re
import sys
import time
import traceback
from pathlib import Path

import postponed
from IPython.display import display
from pyodide.code import eval_code

WORK = Path("/course/chapters")
PROGRESS = Path("/course/progress.json")
LIBRARY = "my_attention*.py"
MOST_TEXT, MOST_DATA = 300_000, 8_000_000  # characters of one cell
PAUSE = 0.1  # seconds between two pieces of text
DEEPEST = 3_000  # calls in each other, whatever limit a cell asks for: the engine of a page breaks down where a machine goes on

_post = _ended = None
_given = "{}"
_room = {"text": MOST_TEXT, "data": MOST_DATA, "cut": False}
_runs = 0
_PACKAGES = {"numpy", "matplotlib", "attnlib", "attnpage", "attnexercises", "my_attention"}
_files = {}  # the name under which a cell was compiled: which run it was


class Stream(io.TextIOBase):
    """Where `print` writes: in pieces, as in a terminal, but not one message for each line."""

    encoding = "utf-8"

    def __init__(self, name):
        self.name, self._waiting, self._sent = name, [], 0.0

    def writable(self):
        return True

    def write(self, text):
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        allowed = text[: max(0, _room["text"])]
        _room["text"] -= len(text)
        if allowed:
            other = ERRORS if self is PRINTED else PRINTED
            other.flush()
            self._waiting.append(allowed)
        if len(allowed) < len(text):
            self.flush()
            _cut()
        elif time.monotonic() - self._sent > PAUSE:
            self.flush()
        return len(text)

    def flush(self):
        if self._waiting:
            waiting, self._waiting = self._waiting, []
            self._sent = time.monotonic()
            _send("text", {"name": self.name, "text": "".join(waiting)})


PRINTED, ERRORS = Stream("stdout"), Stream("stderr")


def start(post, ended):
    """Make Python ready for the cells of a page."""
    global _post, _ended
    _post, _ended = post, ended
    os.environ.update(ATTNLIB_PROGRESS=str(PROGRESS), MPLBACKEND="module://live_figures")
    os.environ.pop("ATTNLIB_LIBRARY", None)
    os.chdir(WORK)
    sys.path[:0] = [str(WORK), "/course", "/course/book/live/python"]
    builtins.input, builtins.display = _no_input, display  # a notebook has the second without an import
    allowed = sys.setrecursionlimit
    sys.setrecursionlimit = lambda limit, /: allowed(min(limit, DEEPEST))


def run(code, number, columns=0, exercise=""):
    """Run one cell, perhaps that of an exercise, with hints below it; return whether it ended without an error.

    Its lines have room for `columns` letters, if that is known.
    """
    global _runs
    os.environ.update(ATTNLIB_WIDTH=str(columns or ""), ATTNLIB_HELP=exercise or "")
    _runs += 1
    _room.update(text=MOST_TEXT, data=MOST_DATA, cut=False)
    sys.stdout, sys.stderr = PRINTED, ERRORS
    file = f"<cell {number}, run {_runs}>"
    _files[file] = _runs
    _hear_of_limits()
    linecache.cache[file] = (len(code), None, code.splitlines(True), file)  # `inspect` and tracebacks read it here
    try:
        names = sys.modules["__main__"].__dict__
        value = eval_code(postponed.cut(code, lambda statement: exec(statement, names)), names, filename=file)
        if value is not None:
            display(value)
            builtins._ = value  # as in a notebook and in Python's own prompt
        _show_figures()
        return True
    except BaseException as error:
        _ended()  # from here on an interrupt would hit the telling of the first
        _report(error, file, code)
        return False
    finally:
        _ended()
        sys.stdout, sys.stderr = PRINTED, ERRORS
        PRINTED.flush()
        ERRORS.flush()


def draws(code):
    """Does this cell need Matplotlib?"""
    return postponed.draws(code)


def contents(value):
    """What a cell shows of its last value, by MIME type: its text, and its HTML or picture if it has one."""
    data = {"text/plain": repr(value)}
    if hasattr(value, "_repr_mimebundle_"):
        bundle = value._repr_mimebundle_()
        data.update(bundle[0] if isinstance(bundle, tuple) else bundle)
    for name, kind in (("_repr_html_", "text/html"), ("_repr_markdown_", "text/markdown"), ("_repr_svg_", "image/svg+xml")):
        if hasattr(value, name) and not isinstance(value, type) and (content := getattr(value, name)()) is not None:
            data[kind] = content
    return data


def show_data(data):
    """Hand on the contents of one output, by MIME type."""
    PRINTED.flush()
    ERRORS.flush()
    size = sum(map(len, data.values()))
    only_text = data.keys() == {"text/plain"}
    room = "text" if only_text else "data"
    if only_text and size > _room["text"] > 0:
        data = {"text/plain": data["text/plain"][: _room["text"]]}
    if _room[room] > 0 and (only_text or size <= _room[room]):
        _send("data", data)
    _room[room] -= size
    if _room[room] < 0:
        _cut()


def clear(wait):
    """Have the outputs of the running cell taken away."""
    PRINTED.flush()
    ERRORS.flush()
    _send("clear", {"wait": wait})


def _hear_of_limits():
    """Tell the page when an answer begins and ends, so that it can end one that Python cannot."""
    if limits := sys.modules.get("attnexercises.engine.timelimit"):
        limits.listen(lambda seconds, label: _send("limit", {"seconds": seconds * limits._SLOWER}))


def _cut():
    if not _room["cut"]:
        _room["cut"] = True
        _send("cut", {})


def _send(kind, content):
    _post(kind, json.dumps(content))


def _show_figures():
    if "matplotlib.pyplot" in sys.modules and "live_figures" in sys.modules:
        sys.modules["live_figures"].show()


def _no_input(prompt="", /):
    raise RuntimeError("input() has no keyboard here: write the value into the cell.")


# Errors


def _report(error, file, code):
    try:
        _show_figures()
    except BaseException:  # drawn half: the error of the cell is what counts
        pass
    PRINTED.flush()
    ERRORS.flush()
    _send("error", {"name": type(error).__name__, "text": _told(error, file)[:20_000] + _word(error, code)})


def _word(error, code):
    """What helps where a notebook on one's own machine would do otherwise than these pages; "" for any other error."""
    if isinstance(error, SyntaxError) and re.search(r"(?m)^\s*[!%]", code):
        return "\nLines that begin with ! or % are commands of JupyterLab. These pages have Python with NumPy and Matplotlib; nothing can be installed here.\n"
    if isinstance(error, SyntaxError) and "await" in str(error):
        return "\nHere a cell cannot wait outside of a function. Nothing in this book needs `await`: leave it out.\n"
    if isinstance(error, NameError) and error.name == "_":
        return "\n`_` is the last value that a cell has shown, and no cell has shown one yet.\n"
    if isinstance(error, ModuleNotFoundError) and error.name and error.name.partition(".")[0] not in _PACKAGES:
        return f"\nThese pages have Python with NumPy and Matplotlib, and no {error.name.partition('.')[0]}; nothing can be installed here.\n"
    if isinstance(error, RecursionError):
        return f"\nAt most {DEEPEST:,} calls in each other are possible on these pages.\n" if sys.getrecursionlimit() >= DEEPEST else ""
    return ""


def _told(error, file):
    """The traceback as Python writes it, with the frames of the reader's cells alone."""
    if isinstance(error, KeyboardInterrupt):
        lines = [line for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == file]
        return f"Stopped in line {lines[-1]}." if lines else "Stopped."
    told = traceback.TracebackException.from_exception(error)
    seen = set()

    def cut(part):
        if part is None or id(part) in seen:
            return
        seen.add(id(part))
        part.stack = traceback.StackSummary.from_list([step for step in part.stack if step.filename in _files])
        cut(part.__cause__)
        cut(part.__context__)
        for inner in part.exceptions or ():
            cut(inner)

    cut(told)
    text = "".join(told.format())
    for name in _files:
        where = "This cell" if name == file else "An earlier cell"
        text = text.replace(f'File "{name}"', where)
    return text


# Files that the browser keeps


def give(text):
    """Write the files that the browser has kept, and remove those that it has no more."""
    global _given
    given, _given = json.loads(text), text
    WORK.mkdir(parents=True, exist_ok=True)
    for name in _own().keys() - given.keys():
        _place(name).unlink(missing_ok=True)
    for name, content in given.items():
        path = _place(name)
        if not path.exists() or path.read_bytes() != content.encode("utf-8"):
            path.write_bytes(content.encode("utf-8"))
            if name != PROGRESS.name:  # `import my_attention` has to see it
                sys.modules.pop(path.stem, None)


def kept():
    """The files that the browser is to keep, as JSON: name and text."""
    # The library never removes the file of progress: a cell has swept the disk, and the reader's work is not to go with it.
    swept = PROGRESS.name in json.loads(_given) and not PROGRESS.is_file()
    return _given if swept else json.dumps(_own())


def _own():
    paths = [path for path in [PROGRESS, *sorted(WORK.glob(LIBRARY))] if path.is_file()]
    return {path.name: path.read_text(encoding="utf-8", errors="replace") for path in paths}


def _place(name):
    return PROGRESS if name == PROGRESS.name else WORK / Path(name).name
