"""`pytest --shuffled=SEED`: another order of files and of the tests in each, in which the cells of a notebook stay in theirs."""

import itertools
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
SOME = ["tests/softmax", "tests/masks", "chapters/01_softmax.ipynb", "attnlib/softmax"]


def order(*options):
    """The tests of some folders and of a notebook, in the order in which pytest would run them."""
    command = [sys.executable, "-m", "pytest", "-q", "--collect-only", *options, *SOME]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [line for line in done.stdout.splitlines() if "::" in line]


def file(test):
    return test.split("::")[0]


@pytest.fixture(scope="module")
def usual():
    return order()


def test_the_same_tests_come_in_another_order_which_the_seed_decides(usual):
    seven, eight = order("--shuffled=7"), order("--shuffled=8")
    assert sorted(seven) == sorted(eight) == sorted(usual) and len(usual) > 100
    assert len({tuple(tests) for tests in (usual, seven, eight)}) == 3
    assert order("--shuffled=7") == seven
    files = [list(dict.fromkeys(map(file, tests))) for tests in (usual, seven)]
    assert files[0] != files[1]


def test_a_file_stays_together_and_a_notebook_in_order(usual):
    tests = order("--shuffled=7")
    groups = [name for name, _ in itertools.groupby(tests, key=file)]
    assert len(groups) == len(set(groups))
    cells = [[test for test in each if ".ipynb" in test] for each in (usual, tests)]
    assert cells[0] == cells[1] and len(cells[0]) > 10
