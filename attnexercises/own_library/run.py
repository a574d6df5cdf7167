"""Run the reader's file, and find out which functions it defines and which of them pass."""

import types

from attnexercises.engine.isolation import grade_apart
from attnexercises.engine.registry import registry
from attnexercises.engine.session import session_restored
from attnexercises.engine.timelimit import TimeUp, call_within
from attnexercises.own_library import on_disk
from attnexercises.own_library.on_disk import Unusable

SECONDS = 5.0  # seconds of computing that running the file once may take


class Library:
    """The functions of a file. Each is judged once, when its result is first needed.

    Attributes
    ----------
    name : str
        The name of the file.
    ids : list of str
        The ids of the exercises for which the file has a function, in the order of the book.
    trouble : str
        If the file cannot be used, a sentence that says why; otherwise "".
    """

    def __init__(self, text, name):
        self.name, self.trouble, self._results = name, "", {}
        try:
            self._space = _run(text, name)
        except Unusable as error:
            self._space, self.trouble = {}, str(error)
        self.ids = [e.id for e in functions() if callable(self._space.get(e.id))]

    def function(self, id):
        """Return the function of that name."""
        return self._space[id]

    def result(self, id):
        """Return the `Result` of checking the function."""
        if id not in self._results:
            self._results[id] = grade_apart(id, self._space[id])
        return self._results[id]

    def passes(self, id):
        """Is the function in the file, and does it pass its check?"""
        return id in self.ids and self.result(id).status == "passed"


def functions():
    """Return the exercises whose answer is a function, in the order of the book. Only these can be saved."""
    return [exercise for exercise in registry().values() if not exercise.value]


def library():
    """Read the reader's file from the disk and return it as a `Library`; None if there is no file."""
    path = on_disk.location()
    if path is None:
        return None
    try:
        content = on_disk.read(path)
    except Unusable as error:
        unusable = Library("", path.name)
        unusable.trouble = str(error)
        return unusable
    return None if content.data is None else Library(content.text, path.name)


def _run(text, name):
    """Run the text as a module and return its names; raise `Unusable` if it does not end normally."""
    module = types.ModuleType(name.removesuffix(".py"))
    module.__file__ = name
    try:
        with session_restored():
            call_within(SECONDS, lambda: exec(compile(text, name, "exec"), vars(module)))
    except TimeUp as limit:
        if limit.given_up:
            why = f"was still running after {limit.seconds:g} seconds: either it waits for something, or the machine is too busy"
        else:
            why = f"{'has slept' if limit.waited else 'is still running after computing'} for {limit.seconds:g} seconds"
        raise Unusable(f"{name} {why}.") from None
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # SystemExit too, because the file may contain anything
        raise Unusable(f"{name} stops when it is imported: {type(error).__name__}: {error}.") from None
    return vars(module)
