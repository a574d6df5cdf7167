"""All exercises solved, all saved: the file needs NumPy alone, every function passes from it, and the capstone runs on it."""

import contextlib
import io
import os
import pickle
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import nbformat
import numpy as np
import pytest
from exercise_cases import FUNCTIONS
from library_cases import Notebook
from notebook_tools import run_in_kernel, unwrapped

from attnexercises import load, my_library, save
from attnexercises.engine.calls import arguments
from attnexercises.own_library import accepted
from attnexercises.reader import record
from attnexercises.reader.source import solution_source

CAPSTONE = Path(__file__).parents[2] / "chapters" / "07_recompute.ipynb"

BARE = """
import pickle, sys

class OnlyNumPy:
    def find_spec(self, name, path=None, target=None):
        root = name.partition(".")[0]
        if root not in sys.stdlib_module_names | {"numpy", "my_attention"} and not root.startswith("_sysconfig"):
            raise ImportError(name)

sys.meta_path.insert(0, OnlyNumPy())
sys.path += sys.argv[1:3]
import numpy as np
import my_attention
try:
    import attnlib
except ImportError:
    pass
else:
    raise SystemExit("attnlib is there")
for id, args, expected in pickle.load(sys.stdin.buffer):
    got = getattr(my_attention, id)(*args)
    got = got if isinstance(got, tuple) else (got,)
    for one, other in zip(got, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
    print(id)
"""


@dataclass
class Solved:
    """What a session says and writes in which every exercise passes, and then everything is saved, twice."""

    said: str
    file: bytes
    said_again: str
    file_again: bytes
    beside: list


@pytest.fixture(scope="module")
def solved(tmp_path_factory):
    """That session, once for all tests: it takes long."""
    path = tmp_path_factory.mktemp("course") / "my_attention.py"
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("ATTNLIB_PROGRESS", "off")
        patched.setenv("ATTNLIB_LIBRARY", str(path))
        patched.delenv("ATTNLIB_STRICT", raising=False)
        patched.setattr(record, "_memory", {})
        patched.setattr(accepted, "_session", {})
        notebook, said, again = Notebook(), io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(said):
            for exercise in FUNCTIONS:
                notebook.passes(exercise.id, solution_source(exercise))
            save()
        file = path.read_bytes()
        with contextlib.redirect_stdout(again):
            save()
        return Solved(said.getvalue(), file, again.getvalue(), path.read_bytes(), os.listdir(path.parent))


@pytest.fixture
def solved_file(solved, own_file):
    """The file of that session as the reader's own, in a session that knows nothing of the other."""
    own_file.write_bytes(solved.file)
    return own_file


def test_everything_that_is_solved_is_saved_and_nothing_else_is_written(solved):
    assert solved.said.count("[x] ") == solved.said.count("Saved: ") == len(FUNCTIONS)
    assert "Not saved" not in solved.said
    assert solved.beside == ["my_attention.py"]  # no copy, no lock, nothing temporary


def test_saving_everything_again_changes_nothing(solved):
    assert solved.said_again.count("Nothing new: ") == len(FUNCTIONS)
    assert solved.file_again == solved.file


def test_the_file_needs_numpy_alone(solved_file):
    cases = []
    for exercise in FUNCTIONS:
        args = arguments(exercise, exercise.probes[0])
        expected = exercise.solution(*args)
        cases.append((exercise.id, args, expected if isinstance(expected, tuple) else (expected,)))
    folders = [str(solved_file.parent), str(Path(np.__file__).parents[1])]
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-B", "-c", BARE, *folders],
        input=pickle.dumps(cases), capture_output=True, check=False,
    )  # fmt: skip
    assert done.stderr == b"" and done.stdout.decode().split() == [exercise.id for exercise in FUNCTIONS]


def test_everything_passes_from_the_file(solved_file, capsys):
    my_library()
    *lines, last = [line for line in capsys.readouterr().out.splitlines() if line.startswith(("[", "my_"))]
    assert [line.split(":")[0] for line in lines] == [f"[x] {exercise.id}" for exercise in FUNCTIONS]
    assert last == f"my_attention.py: {len(FUNCTIONS)} of {len(FUNCTIONS)} functions; all pass."

    loaded = load(*(exercise.id for exercise in FUNCTIONS))
    assert unwrapped(capsys.readouterr().out).startswith("Yours, from my_attention.py: product_transpose, ")
    assert [function.__name__ for function in loaded] == [exercise.id for exercise in FUNCTIONS]
    assert {function.__module__ for function in loaded} == {"my_attention"}  # `load` takes the book's where yours fails


def shown(cell):
    """The text of all outputs of a cell."""
    outputs = (output.get("text") or output.get("data", {}).get("text/plain", "") for output in cell.outputs)
    return unwrapped("".join(outputs))


def test_the_capstone_runs_on_the_functions_of_the_reader(solved_file):
    notebook = nbformat.read(CAPSTONE, as_version=4)
    cells = {cell.id: cell for cell in notebook.cells if cell.cell_type == "code"}
    chosen = ["imports", "capstone-load", "capstone-heads", "capstone-layer", "capstone-compare", "own-library-test"]
    notebook.cells = [cells[id] for id in chosen]
    run_in_kernel(notebook, CAPSTONE.parent, ATTNLIB_LIBRARY=str(solved_file))
    _, loaded, _, _, compared, tested = map(shown, notebook.cells)
    assert loaded == "Yours, from my_attention.py: flash_forward, flash_backward."
    assert compared.count("rounding") == 3  # the gradients differ by no more, at each of three lengths
    assert tested.endswith("functions; all pass.") and "not saved yet" not in tested
