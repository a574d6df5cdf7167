"""The gate: does the Python of the pages say what the Python of the repository says? Used by `tests/tools/live_gate`.

Read in this order: here, what is packed for node and how node is called; `boot.mjs`, which boots the site's own files
without a network; `inside.py`, what is done in there; `verdicts.py`, the answers that both sides judge.
"""

import hashlib
import importlib.util
import io
import json
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from book.live import bundle
from tools.installing import vendor_pyodide, vendored

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SITE = ROOT / "_build" / "html"
OLDEST_NODE = 20
PATIENCE = 3600  # seconds, for a very busy machine; what never ends has to end here
PACKED = ("tests/**/*", "attnexercises/**/*.py", "attnexercises/*.json", "tools/**/*.py", "tools/browser/*.js", "conftest.py", "pyproject.toml")
PACKED += ("book/**/*.css", "chapters/*.ipynb", "chapters/data/*", "chapters/pictures/*.svg", "benchmarks/**/*", "attnpage/fonts/*", ".github/*/*")
# Only the gate needs them, and not the pages: they come from this environment.
FOR_TESTS = ("pytest", "_pytest", "py", "pluggy", "iniconfig", "pygments", "sortedcontainers", "yaml")
# Hypothesis has a part that is compiled: its wheel for the page's Python is fetched once, with pip, which checks the hash.
COMPILED, WHEELS = HERE / "wheels.txt", ROOT / "_vendor" / "gate"
STDLIB = "python_stdlib.zip"
PIP = ("-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--quiet", "--disable-pip-version-check", "--no-input")
PIP += ("--python-version=3.14", "--platform=pyemscripten_2026_0_wasm32", "--require-hashes", "--retries=2")


class GateError(Exception):
    """Node or the page's Python broke down; the message says what it wrote."""


def missing(site=SITE):
    """Why the gate cannot be run here, in words; "" if it can."""
    if not list(site.glob("_static/live/python-*")):
        return "the site has no Python in its pages; run: make live"
    node = shutil.which("node")
    if node is None:
        return "there is no node"
    version = subprocess.run([node, "--version"], capture_output=True, text=True).stdout
    if int((re.match(r"v(\d+)", version) or [0, 0])[1]) < OLDEST_NODE:
        return f"node {version.strip()} is too old: {OLDEST_NODE} is the oldest"
    return ""


def only_bytecode_more(path):
    """Is this the vendored standard library, and more only by the bytecode of its modules (`book/live/prepare`)?"""
    with zipfile.ZipFile(path) as found, zipfile.ZipFile(ROOT / "_vendor" / "pyodide" / STDLIB) as vendored:
        ours, theirs = ({entry.filename: entry.CRC for entry in archive.infolist() if not entry.is_dir()} for archive in (found, vendored))
    return all(name in theirs or name.removesuffix("c") in theirs for name in ours) and theirs.items() <= ours.items()


def places(site=SITE):
    """The site's folder of Python, and its packed course."""
    (python,), (course,) = site.glob("_static/live/python-*"), site.glob("_static/live/course-*/course.zip")
    for file in vendor_pyodide.listed():
        said = vendored.difference(file, (python / file.name).read_bytes())
        if said and not (file.name == STDLIB and only_bytecode_more(python / file.name)):
            raise GateError(f"{said} (in the site)")
    return python, course


def trained_model(site=SITE):
    """{name: bytes} of the trained model that a page of the site opens; empty if the site has none."""
    for page in sorted(site.glob("chapters/*.html")):
        found = bundle.SETTINGS.search(page.read_text(encoding="utf-8"))
        if found and (files := json.loads(found[2]).get("model", {}).get("files")):
            return {name: b"".join(_part(site, *part) for part in parts) for name, parts in files.items()}
    return {}


def _part(site, address, size, sha256):
    data = (site / address).read_bytes()
    if len(data) != size or hashlib.sha256(data).hexdigest() != sha256:
        raise GateError(f"{address} in the site is not what the page expects")
    return data


def ask(request, kit, site=SITE):
    """What `inside.py` answers to the request, in a Python of its own."""
    python, course = places(site)
    with tempfile.TemporaryDirectory() as folder:
        asked, given = Path(folder) / "request.json", Path(folder) / "answer.json"
        asked.write_text(json.dumps(request), encoding="utf-8")
        compiled = kit.with_name("compiled")  # of these very files, so beside them
        compiled.mkdir(exist_ok=True)
        model = Path(folder) / "model"
        model.mkdir()
        for name, data in trained_model(site).items():
            (model / name).write_bytes(data)
        command = ["node", "--no-warnings", HERE / "boot.mjs", python, course, kit, asked, given, compiled, model]
        try:
            done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=PATIENCE)
        except subprocess.TimeoutExpired as error:
            last = (error.stderr or b"").decode("utf-8", "replace").strip().splitlines()[-1:]
            raise GateError(f"no answer after {PATIENCE} s; the last that was begun: {last}") from None
        if not given.is_file():
            raise GateError(f"node ended with {done.returncode}: {(done.stderr or done.stdout).strip()[-3000:]}")
        return json.loads(given.read_text(encoding="utf-8"))


def wheels():
    """Paths of the wheels that only the unit tests need; raises `GateError` if they cannot be had."""
    WHEELS.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, *PIP, f"--find-links={WHEELS}", f"--dest={WHEELS}", f"--requirement={COMPILED}"]
    done = subprocess.run([*command, "--no-index"], capture_output=True, text=True)
    if done.returncode != 0:  # not there yet
        done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        raise GateError(f"pip cannot fetch what {COMPILED.name} lists: {done.stderr.strip().splitlines()[-1]}")
    return sorted(WHEELS.glob("*.whl"))


def pack(path, wheels=()):
    """Write the zip file of what the page's Python does not have: the tests, and what runs them."""
    members = {file.relative_to(ROOT).as_posix(): file for pattern in PACKED for file in ROOT.glob(pattern)}
    members |= {file.name: file for file in (HERE / "inside.py", HERE / "verdicts.py")}
    for name in FOR_TESTS:
        members |= _package(name)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
        for name, file in sorted(members.items()):
            if file.is_file() and "__pycache__" not in name:
                archive.writestr(name, file.read_bytes())
        for wheel in wheels:
            with zipfile.ZipFile(wheel) as more:
                for name in more.namelist():
                    archive.writestr(name, more.read(name))
    path.write_bytes(packed.getvalue())
    return path


def _package(name):
    """{name in the zip file: path} of an installed package's Python files, with what says its version."""
    origin = Path(importlib.util.find_spec(name).origin)
    if origin.name != "__init__.py":
        return {origin.name: origin}
    above = origin.parent.parent
    files = [file for file in origin.parent.rglob("*") if file.suffix in {".py", ".txt", ".json", ".typed"}]
    files += above.glob(f"{name}-*.dist-info/*")
    return {file.relative_to(above).as_posix(): file for file in files}
