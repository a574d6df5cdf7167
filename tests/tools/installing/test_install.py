"""tools/installing/install.py: does the book install on every Python that the README names, and if not, in one sentence, why?

tools/installing/graders.py installs in the same way.
"""

import importlib.metadata
import os
import re
import socket
import subprocess
import sys
import tomllib
import venv
from pathlib import Path

import pytest
from packaging.specifiers import SpecifierSet

from tools.installing import graders, install

ROOT = Path(install.__file__).resolve().parents[2]
OLDEST = ".".join(map(str, install.NEEDED)) + ".0"
PINS = [line.split("==") for line in (ROOT / "constraints.txt").read_text().splitlines() if not line.startswith("#")]


# The pins


def installed(name):
    """What is known about an installed package, or None."""
    try:
        return importlib.metadata.metadata(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def test_the_oldest_python_is_the_same_everywhere():
    assert f"Python {'.'.join(map(str, install.NEEDED))} or newer" in (ROOT / "README.md").read_text(encoding="utf-8")
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = SpecifierSet(project["requires-python"])
    before = f"{install.NEEDED[0]}.{install.NEEDED[1] - 1}.99"
    assert OLDEST in declared and before not in declared


def test_every_pin_admits_the_oldest_python_and_the_ones_after_it(record_property):
    pythons = [OLDEST, *(f"3.{minor}.0" for minor in range(install.NEEDED[1] + 1, 15))]
    known = {name: found for name, version in PINS if (found := installed(name)) and found["Version"] == version}
    if not known:
        pytest.skip("none of the versions in constraints.txt is installed")
    record_property("checked pins", len(known))
    bounds = {f"{name}=={found['Version']}": found.get("Requires-Python") or "" for name, found in known.items()}
    refused = {pin: bound for pin, bound in bounds.items() if set(pythons) - set(SpecifierSet(bound).filter(pythons))}
    assert refused == {}


def test_no_grammar_is_compiled_whenever_a_notebook_is_opened():
    """The packages for notebooks once brought one that takes 1.2 s at every start; a refresh of the pins could bring it back."""
    asked = "import nbformat, sys; print('lark' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True, check=True).stdout == "False\n"


# When it goes wrong: one sentence that says what and what to do


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A virtual environment with nothing in it but pip."""
    folder = tmp_path_factory.mktemp("install") / ".venv"
    assert install.make_environment(folder) is None
    return folder


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A course that needs one package, and an index of packages in a folder; returns what offers one version there."""
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("PIP_INDEX_URL", (tmp_path / "index").as_uri())
    monkeypatch.setattr(install, "ROOT", tmp_path)
    (tmp_path / "requirements.txt").write_text("spoon>=2\n")
    (tmp_path / "constraints.txt").write_text("spoon==2\n")

    def offer(version, python):
        page = tmp_path / "index" / "spoon" / "index.html"
        page.parent.mkdir(parents=True, exist_ok=True)
        with open(page, "a") as file:
            file.write(f'<a href="spoon-{version}-py3-none-any.whl" data-requires-python="&gt;={python}">spoon</a>\n')

    return offer


def one_sentence(said):
    assert isinstance(said, str) and said.count("\n") == 0 and len(said) < 400, said
    return said


def test_no_network(folder, course, monkeypatch):
    (folder / ".installed").touch()
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with socket.socket() as taken:  # so nobody else can have the port, and as it does not listen, nobody answers
        taken.bind(("127.0.0.1", 0))
        monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{taken.getsockname()[1]}/simple")
        said = one_sentence(install.main(folder))
    assert "cannot be fetched; check the connection to the network and run the same command again" in said
    report = Path(said.rpartition(": ")[2])
    assert "Connection refused" in report.read_text()
    assert not (folder / ".installed").exists()


def test_a_pin_that_this_python_cannot_have(folder, course):
    course("1", "3.11")
    course("2", "3.99")
    said = one_sentence(install.main(folder))
    assert said.startswith(f"spoon==2 does not fit Python {install.VERSION}"), said
    assert "make book PYTHON=" in said


def test_a_requirement_that_this_python_cannot_have(folder, course, tmp_path):
    course("2", "3.99")
    (tmp_path / "constraints.txt").write_text("")
    assert one_sentence(install.main(folder)).startswith(f"spoon>=2 does not fit Python {install.VERSION}")


def test_a_pin_that_the_requirement_excludes(folder, course, tmp_path):
    course("1", "3.11")
    course("2", "3.11")
    (tmp_path / "constraints.txt").write_text("spoon==1\n")
    assert "spoon==1 does not fit" in one_sentence(install.main(folder))


def test_anything_else_is_said_in_the_words_of_pip(folder, course, tmp_path):
    (tmp_path / "requirements.txt").write_text("not a requirement\n")
    said = one_sentence(install.main(folder))
    assert "the packages were not installed: Invalid requirement: 'not a requirement'" in said


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").touch()
    command = [sys.executable, ROOT / "tools" / "installing" / "install.py", tmp_path / "file" / ".venv"]
    result = subprocess.run(command, capture_output=True, text=True)
    said = one_sentence(result.stderr.removesuffix("\n"))
    assert result.returncode == 1
    assert re.match(r"install: cannot write .*/file/\.venv: Not a directory; put the course where you may", said), said


def test_a_full_disk(tmp_path, monkeypatch):
    said = b"ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device\n\n"

    def full(*arguments, **options):
        raise subprocess.CalledProcessError(1, "ensurepip", said)

    monkeypatch.setattr(venv, "create", full)
    assert "cannot be written: No space left on device;" in one_sentence(install.main(tmp_path / ".venv"))


@pytest.mark.parametrize("module", ["venv", "ensurepip"])
def test_a_python_without(module, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    said = one_sentence(install.main(tmp_path / ".venv"))
    assert f"has no module {module}; on Debian and Ubuntu: apt install python3-venv" in said
    assert not (tmp_path / ".venv").exists()


def test_an_old_python(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "version_info", (3, 10, 9, "final", 0))
    assert one_sentence(install.main(tmp_path / ".venv")).startswith("Python 3.11 or newer is needed")
    assert not (tmp_path / ".venv").exists()


def test_an_install_that_works_leaves_a_stamp_and_is_not_done_twice(folder, course, tmp_path, capsys):
    (tmp_path / "requirements.txt").write_text("")
    assert install.main(folder) is None
    assert (folder / ".installed").exists()
    assert install.make_environment(folder) is None
    assert "making" not in capsys.readouterr().out


# Otter-Grader and nbgrader


def test_the_graders_count_as_installed_when_all_of_them_are_and_in_these_versions(folder, course, monkeypatch, capsys):
    monkeypatch.setattr(graders, "HOME", folder)
    monkeypatch.setattr(graders, "NEEDS", ("spoon==2",))
    said = one_sentence(graders.main())
    assert said.startswith("the packages cannot be fetched; check the connection") and graders.programs() is None
    monkeypatch.setattr(graders, "NEEDS", ("pip",))  # which is there
    assert graders.main() is None and graders.programs() == folder / "bin"
    assert "done" in capsys.readouterr().out
    assert graders.main() is None and "they are installed" in capsys.readouterr().out
    monkeypatch.setattr(graders, "NEEDS", ("pip>1",))
    assert graders.programs() is None
