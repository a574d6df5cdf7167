"""tools.testing.kills: which tests notice what no other test notices?"""

import subprocess
import sys
from pathlib import Path

import pytest

from tools.testing.kills import fewest, report

ROOT = Path(__file__).resolve().parents[3]


def test_a_function_is_alone_with_what_only_its_own_cases_notice():
    outcomes = [{"t::a[1]", "t::b"}, {"t::a[1]", "t::a[2]"}, {"t::a[2]"}, set(), "many", "timeout"]
    *rows, last = report("m.py", outcomes, 100).splitlines()
    assert [row.split() for row in rows] == [["notices", "alone", "cases", "test", "function"], ["3", "2", "1", "t::a"], ["1", "0", "0", "t::b"]]
    assert last == "m.py: 6 mutants, 3 of them in this table; 1 noticed by 100 cases or more; 1 noticed by nobody; 1 ran into the time limit"


@pytest.mark.parametrize(
    "found, number", [([], 0), ([{"a"}, {"a", "b"}], 1), ([{"a"}, {"b"}], 2), ([{"a", "b"}, {"b", "c"}, {"c", "b"}, {"a"}], 2)]
)
def test_the_fewest_cases_notice_everything(found, number):
    chosen = fewest(found)
    assert len(chosen) == number and all(tests & set(chosen) for tests in found)


def kills(folder):
    code = "import sys, pathlib; from tools.testing.kills import main; main(['attnlib/twice.py', 'test_twice.py'], pathlib.Path(sys.argv[1]))"
    return subprocess.run([sys.executable, "-c", code, str(folder)], cwd=ROOT, capture_output=True, text=True)


@pytest.mark.thorough
def test_a_small_project(tmp_path):
    """One test sees each change of a line, another only that of its sign, and a third imports something else."""
    (tmp_path / "attnlib").mkdir()
    (tmp_path / "attnlib" / "__init__.py").write_text("")
    (tmp_path / "attnlib" / "twice.py").write_text("def twice(x):\n    return x + x\n")
    (tmp_path / "test_twice.py").write_text(
        "from attnlib.twice import twice\n\n\ndef test_value():\n    assert twice(3) == 6\n\n\n"
        "def test_sign():\n    assert twice(-1) != 0\n\n\ndef test_import():\n    assert twice\n"
    )
    run = kills(tmp_path)
    *rows, last = run.stdout.splitlines()
    assert [row.split() for row in rows[1:]] == [["2", "1", "1", "test_twice.py::test_value"], ["1", "0", "0", "test_twice.py::test_sign"]]
    assert last == "attnlib/twice.py: 2 mutants, 2 of them in this table"
    (tmp_path / "attnlib" / "twice.py").write_text("def twice(x):\n    # x and x\n    return x + x\n")
    with (tmp_path / "test_twice.py").open("a") as file:
        file.write("\n\ndef test_text():\n    assert '# x and x' in open('attnlib/twice.py').read()\n")
    run = kills(tmp_path)
    assert run.returncode and run.stderr.endswith("without its comments: test_twice.py::test_text\n")
