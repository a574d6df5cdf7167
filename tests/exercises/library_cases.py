"""What the tests of the reader's own file share: cells as a notebook runs them, and right answers to save."""

import itertools
import linecache

import numpy as np

from attnexercises import TODO, check, save

SOFTMAX = """
def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)
"""
SDPA = """
def sdpa(query, key, value):
    return softmax(query @ key.mT / np.sqrt(query.shape[-1])) @ value
"""
_number = itertools.count(1)


class Notebook:
    """Cells with one namespace, whose source Python can show, as in IPython."""

    def __init__(self):
        self.space = {"__name__": "__main__", "np": np, "TODO": TODO, "check": check, "save": save}

    def run(self, source):
        """Run a cell; return the value of the name it defines last."""
        file = f"<cell {next(_number)}>"
        linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
        exec(compile(source, file, "exec"), self.space)

    def passes(self, id, source):
        """Run a cell with an answer, and the check."""
        self.run(source + f'\ncheck("{id}", {id})\n')


def solved(id, source):
    """A notebook in which this answer has just passed."""
    notebook = Notebook()
    notebook.passes(id, source)
    return notebook
