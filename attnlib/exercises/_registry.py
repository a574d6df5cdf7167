"""Every exercise of the book by its id. A topic module lists its own in ``EXERCISES``."""

import difflib
import importlib
import pkgutil
from functools import lru_cache

import attnlib.exercises as package

_BOOK_ORDER = (
    "prerequisites", "softmax", "attention", "gradients", "masks", "multihead", "flash", "positions", "decoding",
    "training",
)  # fmt: skip


@lru_cache(maxsize=1)
def registry():
    """Return all exercises as a dict from id to `Exercise`, in the order of the book."""
    exercises = {}
    topics = sorted(module.name for module in pkgutil.iter_modules(package.__path__))
    for topic in topics:
        if topic.startswith("_"):
            continue
        for exercise in importlib.import_module(f"{package.__name__}.{topic}").EXERCISES:
            if exercise.id in exercises:
                raise ValueError(f"two exercises have the id {exercise.id!r}; the second is in {topic}.py.")
            exercises[exercise.id] = exercise
    return dict(sorted(exercises.items(), key=lambda item: _BOOK_ORDER.index(item[1].chapter)))


def find(id):
    """Return the exercise called `id`; raise a ValueError that suggests a near one."""
    exercises = registry()
    if id in exercises:
        return exercises[id]
    near = difflib.get_close_matches(str(id), exercises, n=1)
    raise ValueError(f"There is no exercise {id!r}." + (f" Did you mean {near[0]!r}?" if near else ""))
