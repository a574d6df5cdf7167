"""All exercises solved, all saved: the file needs NumPy alone, and every function passes from it."""

import os
import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
from exercise_cases import FUNCTIONS
from library_cases import Notebook
from notebook_tools import unwrapped

from attnlib.exercises import grade, load, my_library, save
from attnlib.exercises.engine.calls import arguments
from attnlib.exercises.engine.source import solution_source

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


def solve_everything():
    notebook = Notebook()
    for exercise in FUNCTIONS:
        notebook.passes(exercise.id, solution_source(exercise))
    save()


def test_everything_solved_is_a_library_that_needs_numpy_alone(own_file, capsys):
    solve_everything()
    said = capsys.readouterr().out
    assert said.count("Saved: ") == len(FUNCTIONS) and "Not saved" not in said
    assert os.listdir(own_file.parent) == ["my_attention.py"]  # no copy, no lock, nothing temporary

    cases = []
    for exercise in FUNCTIONS:
        args = arguments(exercise, exercise.probes[0])
        expected = exercise.solution(*args)
        cases.append((exercise.id, args, expected if isinstance(expected, tuple) else (expected,)))
    folders = [str(own_file.parent), str(Path(np.__file__).parents[1])]
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-B", "-c", BARE, *folders],
        input=pickle.dumps(cases), capture_output=True, check=False,
    )  # fmt: skip
    assert done.stderr == b"" and done.stdout.decode().split() == [exercise.id for exercise in FUNCTIONS]


def test_everything_passes_from_the_file(own_file, capsys):
    solve_everything()
    capsys.readouterr()
    my_library()
    *lines, last = [line for line in capsys.readouterr().out.splitlines() if line.startswith(("[", "my_"))]
    assert [line.split(":")[0] for line in lines] == [f"[x] {exercise.id}" for exercise in FUNCTIONS]
    assert last == f"my_attention.py: {len(FUNCTIONS)} of {len(FUNCTIONS)} functions; all pass."

    loaded = load(*(exercise.id for exercise in FUNCTIONS))
    assert unwrapped(capsys.readouterr().out).startswith("Yours, from my_attention.py: product_transpose, ")
    for exercise, function in zip(FUNCTIONS, loaded, strict=True):
        assert function.__module__ == "my_attention" and grade(exercise, function).status == "passed"


def test_saving_everything_again_changes_nothing(own_file, capsys):
    solve_everything()
    before = own_file.read_bytes()
    capsys.readouterr()
    save()
    said = capsys.readouterr().out
    assert said.count("Nothing new: ") == len(FUNCTIONS)
    assert own_file.read_bytes() == before and os.listdir(own_file.parent) == ["my_attention.py"]
