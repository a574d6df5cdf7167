"""Find every exercise of the book by its id.

Each chapter has a folder, and every `Exercise` that a file in it has a name for is found.
"""

import difflib
import importlib
import json
import pkgutil
from functools import lru_cache
from pathlib import Path

from attnexercises.engine.model import Exercise

PACKAGE = "attnexercises"

#: The chapters that have exercises, in the order of the book: topic -> number, title, notebook and ids of exercises.
#: `tools/notebooks/book_order.py` writes the file from `_toc.yml` and from the tags of the cells.
BOOK_ORDER = json.loads((Path(__file__).parents[1] / "book_order.json").read_text(encoding="utf-8"))


@lru_cache(maxsize=1)
def registry():
    """Return all exercises as a dict from id to `Exercise`, in the order of the book."""
    exercises = {}
    for chapter in BOOK_ORDER:
        for id, exercise in of_chapter(chapter).items():
            if exercises.get(id, exercise) is not exercise:
                raise ValueError(f"two exercises have the id {id!r}; the second is in attnexercises/{chapter}/.")
            exercises[id] = exercise
    return {id: exercises[id] for chapter in BOOK_ORDER.values() for id in chapter["exercises"]}


@lru_cache(maxsize=None)
def of_chapter(chapter):
    """Return the exercises in the folder of one chapter as a dict from id to `Exercise`.

    To find one exercise only its folder is imported. A grader starts a new Python for each answer that passes, and the
    folders of all chapters would take half of its time.
    """
    exercises = {}
    for name in _modules(chapter):
        file = name.replace(".", "/") + ".py"
        for exercise in vars(importlib.import_module(name)).values():
            if not isinstance(exercise, Exercise):
                continue
            if exercises.get(exercise.id, exercise) is not exercise:
                raise ValueError(f"two exercises have the id {exercise.id!r}; the second is in {file}.")
            if exercise.id not in BOOK_ORDER.get(exercise.chapter, {}).get("exercises", ()):
                raise ValueError(
                    f"{exercise.id!r}, in {file}, has no place in the book: give it a cell in the notebook of the chapter "
                    f"{exercise.chapter}, tagged exercise-{exercise.id}, then run: make notebooks"
                )
            exercises[exercise.id] = exercise
    return exercises


def _modules(chapter):
    """Return the names of the modules in the folder of a chapter."""
    folder = importlib.import_module(f"{PACKAGE}.{chapter}")
    return sorted(module.name for module in pkgutil.iter_modules(folder.__path__, f"{folder.__name__}."))


def find(id):
    """Return the exercise called `id`, or raise a ValueError that suggests a similar id or says what an id is."""
    if not isinstance(id, str):
        raise ValueError(f'`id` is the name of an exercise in quotes, such as "softmax"; this is {described(id)}.')
    chapter = next((topic for topic, chapter in BOOK_ORDER.items() if id in chapter["exercises"]), None)
    if chapter and id in of_chapter(chapter):
        return of_chapter(chapter)[id]
    exercises = registry()
    near = difflib.get_close_matches(id, exercises, n=1)
    raise ValueError(f"There is no exercise {id!r}." + (f" Did you mean {near[0]!r}?" if near else ""))


def described(thing):
    """Describe an object that was given where a name was expected: "a function", "the number 3".

    Examples
    --------
    >>> described(len), described(3), described([1]), described(None)
    ('a function', 'the number 3', 'a list', 'None')
    """
    if thing is None or isinstance(thing, bool):
        return str(thing)
    if isinstance(thing, (int, float)):
        return f"the number {thing}"
    if isinstance(thing, str):
        return f"the word {thing!r}"
    if callable(thing):
        return "a class" if isinstance(thing, type) else "a function"
    name = {"ndarray": "array"}.get(type(thing).__name__, type(thing).__name__)
    return f"{'an' if name[0] in 'aeiou' else 'a'} {name}"
