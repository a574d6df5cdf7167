"""tools/installing/vendored.py and the two commands that use it: exactly the listed files or none, and one sentence for each fault."""

import hashlib
import io
import os
import re
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

from tools.installing import model, vendor_pyodide, vendored

ROOT = Path(__file__).resolve().parents[3]
HANGS = 600  # seconds after which a process that should have ended is given up: never the measure of anything
DATA = {"weights": b"engine", "arrays-1.whl": b"arrays"}
FILES = [vendored.Listed(hashlib.sha256(data).hexdigest(), len(data), name) for name, data in DATA.items()]
COMMANDS = [pytest.param(vendor_pyodide, id="pyodide"), pytest.param(model, id="model")]


@pytest.fixture
def release(tmp_path):
    """A folder with more in it than is listed."""
    folder = tmp_path / "release"
    folder.mkdir()
    for name, data in {**DATA, "more.whl": b"unwanted"}.items():
        (folder / name).write_bytes(data)
    return folder


def packed(contents, inside=""):
    """The bytes of a zip file."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, data in contents.items():
            archive.writestr(inside + name, data)
    return file.getvalue()


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_folder_gives_the_listed_files_and_no_others(release, tmp_path):
    target = tmp_path / "_vendor" / "some"
    vendored.vendor(target, FILES, vendored.from_folder(release))
    assert names(target) == ["arrays-1.whl", "weights"] and vendored.problem(target, FILES) == ""
    assert names(target.parent) == ["some"]


def test_a_zip_file_gives_the_same(tmp_path):
    (tmp_path / "carrier.whl").write_bytes(packed({**DATA, "main.py": b"raise SystemExit"}, "deep/inside/"))
    vendored.vendor(tmp_path / "a", FILES, vendored.from_zip(tmp_path / "carrier.whl", "deep/inside/", "carrier.whl"))
    assert vendored.problem(tmp_path / "a", FILES) == ""


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("arrays-1.whl", b"Arrays", "arrays-1.whl is not the listed file: its SHA-256 is another"),
        ("arrays-1.whl", b"array", "arrays-1.whl has 5 bytes where the list has 6"),
        ("weights", None, "weights is missing in"),
    ],
)
def test_a_wrong_file_is_named_and_what_was_there_stays(release, tmp_path, name, data, words):
    target = tmp_path / "_vendor" / "some"
    vendored.vendor(target, FILES, vendored.from_folder(release))
    path = release / name
    path.unlink() if data is None else path.write_bytes(data)
    with pytest.raises(vendored.VendorError, match=re.escape(words)):
        vendored.vendor(target, FILES, vendored.from_folder(release))
    assert vendored.problem(target, FILES) == "" and names(target.parent) == ["some"]


def test_a_broken_zip_file_is_one_sentence(tmp_path):
    (tmp_path / "half.whl").write_bytes(b"PK half")
    with pytest.raises(vendored.VendorError, match=re.escape("half.whl is not a whole zip file")):
        vendored.from_zip(tmp_path / "half.whl", "", "half.whl")
    read = vendored.from_zip(io.BytesIO(packed({"weights": b"engine"})), "", "carrier.whl")
    with pytest.raises(vendored.VendorError, match=re.escape("arrays-1.whl is missing in carrier.whl")):
        vendored.vendor(tmp_path / "p", FILES, read)
    changed = packed(DATA).replace(b"engine", b"Engine", 1)
    with pytest.raises(vendored.VendorError, match=re.escape("weights in carrier.whl is damaged")):
        vendored.from_zip(io.BytesIO(changed), "", "carrier.whl")("weights")


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda folder: (folder / "weights").write_bytes(b"Engine"), "its SHA-256 is another"),
        (lambda folder: (folder / "weights").unlink(), "the file weights is missing"),
        (lambda folder: (folder / "own.py").write_bytes(b""), "own.py is not on the list"),
    ],
)
def test_a_spoiled_folder_is_seen(release, tmp_path, spoil, words):
    target = tmp_path / "some"
    vendored.vendor(target, FILES, vendored.from_folder(release))
    spoil(target)
    assert words in vendored.problem(target, FILES)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("import sys; print('ERROR: No matching distribution', file=sys.stderr); sys.exit(1)", "(No matching distribution)"),
        ("import sys; sys.exit('No module named pip')", "has no pip"),
        ("import sys; sys.exit('OSError: [Errno 28] No space left on device')", "the disk is full"),
    ],
)
def test_what_pip_says_becomes_a_sentence(command, said, words, tmp_path, monkeypatch):
    monkeypatch.setattr(vendored, "PIP", ("-c", said))
    with pytest.raises(vendored.VendorError, match=re.escape(words)) as error:
        vendored.download(tmp_path, command.SOURCE)
    assert "\n" not in str(error.value)


def test_what_pip_fetched_is_unpacked_and_removed(tmp_path, monkeypatch, capsys):
    """In the place of pip stands a Python that writes the carrier, a zip file in a zip file, into the folder that is asked for."""
    carrier = packed({"model.zip": packed(DATA), "cli.py": b"raise SystemExit"}, model.INSIDE)
    monkeypatch.setattr(vendored, "PIP", ("-c", f"import pathlib, sys; pathlib.Path(sys.argv[2], 'c.whl').write_bytes({carrier!r})"))
    listing = tmp_path / "files.sha256"
    listing.write_text("# a list\n" + "".join(f"{file.sha256} {file.size} {file.name}\n" for file in FILES))
    source = model.SOURCE._replace(listing=listing, target=tmp_path / "_vendor" / "some")
    for said in ("model: fetching all-minilm", "model: 2 files"):  # the second time nothing is fetched
        assert vendored.main(source, "", []) == 0
        assert capsys.readouterr().out.startswith(said)
    assert names(source.target.parent) == ["some"] and vendored.main(source, "", ["--check"]) == 0


@pytest.mark.parametrize("command", COMMANDS)
def test_the_command_fails_with_one_line_and_leaves_nothing(command, tmp_path):
    name = command.__name__
    line = [sys.executable, "-m", name, "--target", tmp_path / "v" / "some", "--from", tmp_path / "none"]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr.startswith(f"{command.SOURCE.word}: there is no") and done.stderr.count("\n") == 1
    assert not (tmp_path / "v" / "some").exists()
    done = subprocess.run([*line[:5], "--check"], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, f"{command.SOURCE.word}: there is no folder some\n")


@pytest.mark.parametrize("command", COMMANDS)
def test_an_interrupt_leaves_nothing(command, tmp_path):
    (tmp_path / "release").mkdir()
    pipe = tmp_path / "release" / vendored.listed(command.SOURCE.listing)[0].name
    os.mkfifo(pipe)
    line = [sys.executable, "-m", command.__name__, "--target", tmp_path / "v" / "some", "--from", tmp_path / "release"]
    writer = None
    with subprocess.Popen(line, cwd=ROOT, stderr=subprocess.PIPE, text=True) as process:
        while writer is None:  # it can be opened when the command has opened it; then nothing comes, and the command waits
            assert process.poll() is None, process.stderr.read()
            try:
                writer = os.open(pipe, os.O_WRONLY | os.O_NONBLOCK)
            except OSError:
                time.sleep(0.02)
        assert list((tmp_path / "v").iterdir())
        process.send_signal(signal.SIGINT)
        # Python looks for a signal between two of its own steps: one that comes just before the call that reads would
        # wait in there for ever. Closing the pipe ends that call; without the signal the command would call the file short.
        os.close(writer)
        try:
            said = process.communicate(timeout=HANGS)[1]
        finally:
            process.kill()
    assert (process.returncode, said) == (130, f"{command.SOURCE.word}: interrupted; nothing was changed\n")
    assert list((tmp_path / "v").iterdir()) == []


# The model


@pytest.mark.parametrize("form", ["folder", "carrier", "zip"])
def test_a_release_of_the_model_may_be_a_folder_the_carrier_or_a_zip_file(form, release, tmp_path):
    path = tmp_path / "some.zip"
    path.write_bytes(packed(DATA) if form == "zip" else packed({"model.zip": packed(DATA)}, model.INSIDE))
    vendored.vendor(tmp_path / "some", FILES, model.from_path(release if form == "folder" else path))
    assert vendored.problem(tmp_path / "some", FILES) == ""


def test_another_carrier_is_refused(tmp_path):
    path = tmp_path / "some.whl"
    path.write_bytes(packed({"model.zip": b"half"}, model.INSIDE))
    with pytest.raises(vendored.VendorError, match=re.escape("model.zip of some.whl is not a whole zip file")):
        model.from_wheel(path)
    with pytest.raises(vendored.VendorError, match=re.escape("there is no file or folder")):
        model.from_path(tmp_path / "none")


def test_the_list_of_the_model_names_three_files():
    assert {file.name for file in vendored.listed(model.SOURCE.listing)} == {"model.safetensors", "tokenizer.json", "config.json"}


def test_a_spoiled_list_is_named(tmp_path):
    (tmp_path / "files.sha256").write_text("# a list\nabc 3 weights\n")
    with pytest.raises(vendored.VendorError, match=re.escape("files.sha256, line 2, is not a hash, a size and a name")):
        vendored.listed(tmp_path / "files.sha256")
