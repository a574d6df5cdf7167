"""Runs in the pages' Python, in node, while the book is built: it does once what a page would do at each start.

It starts as a page does, draws a figure, and writes to /prepared, for every module that is then there, its bytecode:

    python_stdlib.zip         the standard library as it was, and beside the sources their bytecode
    prepared-numpy.zip        bytecode of NumPy, by the path from the root
    prepared-matplotlib.zip   the same for Matplotlib, whose list of fonts is in its wheel already
    prepared-course.zip       the same for the course

Bytecode says of which Python it is, and another Python passes it over. It is not compared with its source again: both lie in the
same build of the site, and a test compares them (`tests/book/live/test_prepare.py`).
"""

import importlib.util
import os
import pkgutil
import sys
import zipfile
from pathlib import Path
from py_compile import PycInvalidationMode, compile

FIRST_DAY = (1980, 1, 1, 0, 0, 0)
SITE, COURSE, STDLIB = "/lib/python3.14/site-packages/", "/course/", "/lib/python314.zip/"


def modules():
    """The files of the modules that are there."""
    return {file for module in [*sys.modules.values()] if (file := getattr(module, "__file__", None)) and file.endswith(".py")}


def bytecode(source, file):
    Path("/source.py").write_bytes(source)
    compile("/source.py", "/source.pyc", file, doraise=True, invalidation_mode=PycInvalidationMode.UNCHECKED_HASH)
    return Path("/source.pyc").read_bytes()


def packed(name, members):
    """Write a zip file of always the same bytes."""
    with zipfile.ZipFile(f"/prepared/{name}", "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path, content in sorted(members.items()):
            entry = zipfile.ZipInfo(path, FIRST_DAY)
            entry.create_system, entry.external_attr, entry.compress_type = 3, 0o100644 << 16, zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)


def beside(files):
    """{path from the root: bytecode} of modules, each where Python looks for it."""
    return {importlib.util.cache_from_source(file)[1:]: bytecode(Path(file).read_bytes(), file) for file in files}


# As in worker.mjs, and the first cells of a chapter
sys.path[:0] = ["/course/book/live/python"]
import runtime  # noqa: E402

runtime.start(lambda kind, content: None, lambda: None)
import numpy  # noqa: E402, F401

import attnexercises.engine  # noqa: E402
import attnexercises.reader  # noqa: E402
import attnlib  # noqa: E402
from attnpage import table  # noqa: E402, F401

for package in (attnlib, attnexercises.engine, attnexercises.reader):
    for found in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        importlib.import_module(found.name)
import live_steps  # noqa: E402, F401

at_start = modules()

import live_figures  # noqa: E402
import matplotlib.pyplot as plt  # noqa: E402

import attnpage  # noqa: E402

for name in attnpage.__all__:
    getattr(attnpage, name)
attnpage.plotting.setup()
figure, (left, right) = plt.subplots(1, 2)
left.plot([1, 2], [1, 2], "o-", label="$x^2$ ⊙")
left.legend()
left.annotate("here", (1, 1), xytext=(2, 2), arrowprops={"arrowstyle": "-|>"})
attnpage.plotting.heatmap(right, numpy.eye(2), rows=["a", "b"], columns=["c", "d"])
live_figures.svg(figure)

os.makedirs("/prepared")
all_files = modules()
with zipfile.ZipFile("/stdlib.zip") as archive:
    library = {entry.filename: archive.read(entry) for entry in archive.infolist() if not entry.is_dir()}
used = {file.removeprefix(STDLIB) for file in all_files if file.startswith(STDLIB)} & library.keys()
packed("python_stdlib.zip", library | {f"{name}c": bytecode(library[name], STDLIB + name) for name in used})
packed("prepared-numpy.zip", beside(file for file in at_start if file.startswith(SITE)))
packed("prepared-matplotlib.zip", beside(file for file in all_files - at_start if file.startswith(SITE)))
packed("prepared-course.zip", beside(file for file in all_files if file.startswith(COURSE)))
prepared = sorted(os.listdir("/prepared"))
