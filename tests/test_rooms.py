"""The library as a whole: one room a topic, each built on the rooms below it, and all of it on NumPy alone.

Two packages stand beside it, `attnpage` (what a page of the book shows) and `attnexercises`. They may build on the
library; the library may not build on them.
"""

import ast
import doctest
import importlib
import inspect
import itertools
import json
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import attnlib

LIBRARY = Path(attnlib.__file__).parent
PACKAGES = {"attnlib": LIBRARY, "attnpage": LIBRARY.parent / "attnpage", "attnexercises": LIBRARY.parent / "attnexercises"}

# The one list: what a room may import besides itself, and what the two packages beside the library may import of it.
BELOW = {
    "checks": set(),
    "softmax": {"checks"},
    "masks": {"checks", "softmax"},
    "attention": {"checks", "softmax", "masks"},
    "multihead": {"checks", "softmax", "masks", "attention"},
    "decoding": {"checks", "softmax", "masks", "attention", "multihead"},
    "flash": {"checks"},
    "costs": {"checks"},
    "positions": {"checks"},
    "gradients": {"checks"},
    "training": {"checks", "softmax", "masks", "attention", "multihead", "positions", "decoding"},
    "pretrained": {"checks", "softmax", "masks", "attention", "multihead", "positions", "decoding", "training"},
}
BESIDE = {"attnpage": {"checks", "softmax", "masks", "attention", "training"}, "attnexercises": set()}
FILES = sorted(path for folder in PACKAGES.values() for path in folder.rglob("*.py") if path.parent != LIBRARY)
MODULES = sorted(m.name for name, path in PACKAGES.items() for m in pkgutil.walk_packages([str(path)], f"{name}."))
FOLDERS = sorted({path.parent for path in FILES})
ROOMS = [*(f"attnlib.{room}" for room in BELOW), *BESIDE]


def name_of(path):
    return ".".join(path.relative_to(LIBRARY.parent).with_suffix("").parts).removesuffix(".__init__")


def rooms_imported(text, in_examples=True):
    """The rooms of the library, and the packages beside it, that a file imports anywhere, also in a function or an example."""
    examples = doctest.DocTestParser().get_examples(text) if in_examples else []
    for node in itertools.chain.from_iterable(ast.walk(ast.parse(code)) for code in (text, *(each.source for each in examples))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports name the room"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            package, *rest = name.split(".")
            if package in BESIDE:
                yield package
            elif package == "attnlib" and rest and rest[0] in BELOW:
                yield rest[0]


def test_the_list_names_every_room():
    assert {folder.name for folder in FOLDERS if folder.parent == LIBRARY} == set(BELOW)
    assert {path.name for path in LIBRARY.glob("*.py")} == {"__init__.py"}


def test_the_order_has_no_circle():
    above = {}
    for room, below in BELOW.items():
        above[room] = below | {deeper for other in below for deeper in above[other]}  # KeyError: not listed before
        assert above[room] == below, "what a room below may import, the room may import"


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_a_room_imports_only_rooms_below_it(path):
    package, room, *_ = path.relative_to(LIBRARY.parent).parts
    home, below = (package, BESIDE[package]) if package in BESIDE else (room, BELOW[room])
    in_examples = package != "attnexercises"  # its examples show what a reader may hand over, the library's functions too
    used = set(rooms_imported(path.read_text(encoding="utf-8"), in_examples))
    assert used <= below | {home}, f"{home} may build on {sorted(below)} only"


def test_the_check_of_imports_sees_each_way_to_import():
    code = "import attnlib.masks.patterns\nfrom attnlib import flash\ndef f():\n    from attnlib.costs.flops import Flops\n    import attnpage\n"
    assert set(rooms_imported(code)) == {"masks", "flash", "costs", "attnpage"}
    example = '"""\n>>> import attnexercises.puzzles\n>>> from attnlib.softmax import softmax\n"""\n'
    assert set(rooms_imported(example)) == {"attnexercises", "softmax"}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: name_of(folder / "__init__.py"))
def test_a_room_says_what_each_file_holds_and_does_nothing_else(folder):
    tree = ast.parse((folder / "__init__.py").read_text(encoding="utf-8"))
    docstring = ast.get_docstring(tree)
    files = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    named = re.findall(r"`(\w+)`", docstring)
    assert files <= set(named), f"the docstring leaves out {sorted(files - set(named))}"
    for node in tree.body[1:]:
        listing = isinstance(node, ast.Assign) and [target.id for target in node.targets] == ["__all__"]
        assert isinstance(node, ast.ImportFrom) or listing, f"line {node.lineno}: only imports and __all__"


@pytest.mark.parametrize("name", ROOMS)
def test_a_room_hands_on_what_it_lists(name):
    room = importlib.import_module(name)
    assert list(room.__all__) == list(dict.fromkeys(room.__all__))
    for offered in room.__all__:
        home = inspect.getmodule(getattr(room, offered))
        assert home is None or home.__name__.startswith(name + "."), f"{offered} comes from {home.__name__}"


def test_no_file_hides_behind_an_underscore():
    assert [path.name for path in FILES if path.name.startswith("_") and path.name not in ("__init__.py", "__main__.py")] == []


def test_no_name_is_a_file_and_what_the_room_hands_on():
    """Or `import attnlib.room.name` would give the function in the place of the file."""
    for room in ROOMS:
        offered = set(importlib.import_module(room).__all__)
        files = {path.stem for path in LIBRARY.parent.joinpath(*room.split(".")).glob("*.py")}
        assert offered & files <= {"plotting"}, room  # that is the file itself


IMPORTS = """
import importlib, json, sys
here = {name.partition(".")[0] for name in sys.modules} | sys.stdlib_module_names | {"attnlib", "attnpage", "attnexercises"}
for modules in json.loads(sys.argv[1]):
    for name in [name for name in sys.modules if name.partition(".")[0] not in here | {"numpy"}]:
        del sys.modules[name]  # or what one brings would not be new for the next
    for name in [name for name in sys.modules if name.startswith(("attnlib", "attnpage", "attnexercises"))]:
        del sys.modules[name]
    for name in modules:
        importlib.import_module(name)
    print(*{name.partition(".")[0] for name in sys.modules} - here)
"""


def imported_by(*groups):
    """The packages, beyond Python's own, that a fresh Python holds after each group of modules was imported anew."""
    command = [sys.executable, "-c", IMPORTS, json.dumps(groups)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert run.returncode == 0, run.stderr
    brought = [set(line.split()) for line in run.stdout.splitlines()]
    return [{name for name in names if not name.startswith(("_cython", "cython_"))} for names in brought]  # of numpy.random


BUILT = sorted(set(ROOMS) - {"attnpage"})
OF_ROOM = {room: [name for name in MODULES if f"{name}.".startswith(f"{room}.")] for room in BUILT}


def test_a_room_imports_numpy_and_nothing_else():
    brought = dict(zip(BUILT, imported_by(*OF_ROOM.values()), strict=True))
    assert {room: names for room, names in brought.items() if not names <= {"numpy"}} == {}


@pytest.mark.thorough
@pytest.mark.parametrize("name", [name for names in OF_ROOM.values() for name in names])
def test_a_module_imports_numpy_and_nothing_else(name):
    """Each in a Python of its own. A room imports its files in one order, whichever is asked for."""
    assert imported_by([name])[0] <= {"numpy"}


def test_the_list_of_imports_sees_what_was_imported_before():
    assert imported_by(["attnlib"], ["packaging"], ["packaging", "numpy"]) == [set(), {"packaging"}, {"packaging", "numpy"}]


def test_importing_attnlib_alone_does_not_even_need_numpy():
    assert imported_by(["attnlib"]) == [set()]


def test_nothing_is_re_exported_by_the_library_itself():
    tree = ast.parse(inspect.getsource(attnlib))
    assert not [node for node in ast.walk(tree) if isinstance(node, (ast.Import, ast.ImportFrom))]
    found = {name for name, value in vars(attnlib).items() if not name.startswith("_") and not inspect.ismodule(value)}
    assert found == set()
