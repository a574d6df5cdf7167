"""`pytest --shuffled=SEED`: another order of files and of the tests in each, in which the cells of a notebook stay in theirs."""

import itertools
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
SOME = ["tests/softmax", "tests/masks", "chapters/01_softmax.ipynb", "attnlib/softmax"]

# One process for several orders: most of the time would go into starting the next.
COLLECT = """
import json, sys
import pytest

class Order:
    def pytest_collection_finish(self, session):
        self.tests = [item.nodeid for item in session.items]

orders, paths = map(json.loads, sys.argv[1:])
for options in orders:
    order = Order()
    assert pytest.main(["-q", "--collect-only", *options, *paths], plugins=[order]) == 0
    print(json.dumps(order.tests), file=sys.stderr)
"""


def collected(*options):
    """The tests of some folders and of a notebook, for each list of options in the order in which pytest would run them."""
    command = [sys.executable, "-c", COLLECT, json.dumps(options), json.dumps(SOME)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stderr.splitlines()]


@pytest.fixture(scope="module")
def orders():
    """The usual order and those of two seeds."""
    return collected([], ["--shuffled=7"], ["--shuffled=8"])


def file(test):
    return test.split("::")[0]


def test_the_same_tests_come_in_another_order_which_the_seed_decides(orders):
    usual, seven, eight = orders
    assert sorted(seven) == sorted(eight) == sorted(usual) and len(usual) > 100
    assert len({tuple(tests) for tests in (usual, seven, eight)}) == 3
    assert collected(["--shuffled=7"]) == [seven]  # in another process, as each worker is
    files = [list(dict.fromkeys(map(file, tests))) for tests in (usual, seven)]
    assert files[0] != files[1]


def test_a_file_stays_together_and_a_notebook_in_order(orders):
    usual, seven, _ = orders
    groups = [name for name, _ in itertools.groupby(seven, key=file)]
    assert len(groups) == len(set(groups))
    cells = [[test for test in each if ".ipynb" in test] for each in (usual, seven)]
    assert cells[0] == cells[1] and len(cells[0]) > 10
