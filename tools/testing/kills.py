"""Break a module on purpose, one place at a time, and see which tests notice what no other test notices.

    python -m tools.testing.kills attnexercises/engine/judge.py --every 20 tests/exercises/test_corpus.py tests/exercises/test_truth.py

runs all the given tests on each mutant (`mutate.py` stops at the first that fails) and prints, for each test function,
how many mutants it notices, how many of these no other function notices, and how many of its cases that takes. A
function with none of the latter proves nothing about this module that the others don't, and may be left to the run
before publishing. A sample of the mutants (`--every`) says so of the sample only.

A mutant that `--many` cases or more notice tells nothing about single tests; it is counted and left out, and so
are those that no test notices or that run into the time limit. The unbroken module comes first: a test that fails there
would seem to notice everything. All happens in a temporary copy of the project.
"""

import argparse
import ast
import itertools
import json
import shutil
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path

from tools.testing.mutate import NOT_COPIED, ROOT, prepare, run
from tools.testing.mutations import mutants


class Recorder:
    """A plugin of pytest that writes down which tests failed."""

    def __init__(self, path):
        self.path = path

    def pytest_runtest_logreport(self, report):
        if report.failed:
            with open(self.path, "a", encoding="utf-8") as file:
                file.write(json.dumps(report.nodeid) + "\n")

    def pytest_collectreport(self, report):
        if report.failed:  # what is imported while tests are collected ran into the mutant
            self.pytest_runtest_logreport(report)


def main(arguments=None, root=ROOT):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("module", type=Path, help="the file to break")
    parser.add_argument("tests", nargs="+", help="what pytest runs")
    parser.add_argument("--every", default="1", help="20: every twentieth mutant; 20+7: beginning with the eighth (default all)")
    parser.add_argument("--many", type=int, default=100, help="failures at which a mutant is given up (default 100)")
    parser.add_argument("--seconds", type=float, default=1800, help="time limit for one mutant (default 1800)")
    options = parser.parse_args(arguments)
    prepare()
    module = (root / options.module).relative_to(root)
    every, _, first = options.every.partition("+")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch).resolve() / "project"
        shutil.copytree(root, folder, ignore=NOT_COPIED)
        tree = ast.parse((root / module).read_text(encoding="utf-8"))
        if unbroken := noticed_by(folder, module, tree, options):
            failed = ", ".join(sorted(map(family, unbroken))[:3]) if isinstance(unbroken, set) else unbroken
            sys.exit(f"the tests do not pass on the unbroken module, written anew without its comments: {failed}")
        outcomes = [
            noticed_by(folder, module, mutated, options)
            for *_, mutated in itertools.islice(mutants(tree), int(first or 0), None, int(every))
        ]
    print(report(str(module), outcomes, options.many))


def noticed_by(folder, module, mutated, options):
    """The tests that fail on this mutant, or in a word what else became of it."""
    (folder / module).write_text(ast.unparse(mutated), encoding="utf-8")
    shutil.rmtree((folder / module).parent / "__pycache__", ignore_errors=True)  # a stale file there would hide the mutant
    failed = folder / "failed.jsonl"
    failed.unlink(missing_ok=True)
    outcome = run(folder, [f"--maxfail={options.many}", "--continue-on-collection-errors", *options.tests], options.seconds, stop_at_the_first=False, plugins=[Recorder(failed)])
    if outcome in ("timeout", "not run"):
        return outcome
    found = {json.loads(line) for line in failed.read_text(encoding="utf-8").splitlines()} if failed.exists() else set()
    return "many" if len(found) >= options.many or outcome == "failed" and not found else found


def family(test):
    """The test function, without the parameters of one case."""
    return test.partition("[")[0]


def report(module, outcomes, many):
    """A table of the test functions, and a line on what is not in it. Of each mutant `outcomes` has what `noticed_by` returns."""
    noticed = [found for found in outcomes if isinstance(found, set) and found]
    left_out = Counter(found or "nobody" for found in outcomes if not found or isinstance(found, str))
    notices, alone = Counter(), defaultdict(list)
    for found in noticed:
        families = {family(test) for test in found}
        notices.update(families)
        if len(families) == 1:
            alone[families.pop()].append(found)
    rows = [f"{'notices':>8} {'alone':>6} {'cases':>6}  test function"]
    for name, number in notices.most_common():
        rows.append(f"{number:8d} {len(alone[name]):6d} {len(fewest(alone[name])):6d}  {name}")
    words = {"many": f"noticed by {many} cases or more", "nobody": "noticed by nobody", "timeout": "ran into the time limit", "not run": "could not be run"}
    rest = "; ".join(f"{left_out[key]} {word}" for key, word in words.items() if left_out[key])
    return "\n".join([*rows, f"{module}: {len(outcomes)} mutants, {len(noticed)} of them in this table" + (f"; {rest}" if rest else "")])


def fewest(found):
    """Cases that together notice each of these mutants: the greedy choice, which is nearly the smallest."""
    left, chosen = [set(tests) for tests in found], []
    while left:
        best, _ = max(Counter(itertools.chain.from_iterable(left)).items(), key=lambda pair: (pair[1], pair[0]))
        chosen.append(best)
        left = [tests for tests in left if best not in tests]
    return chosen


if __name__ == "__main__":
    main()
