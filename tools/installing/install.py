"""Make the folder .venv with everything in it to read, run, build and test the book. Called by make.

python3 tools/installing/install.py [.venv]

Runs on the Python that is there, so it uses nothing but the standard library. The stamp that make looks at is
written last: an install that was interrupted is done again. What pip says goes to a file; of a failure, one
sentence says what is wrong and what to do.
"""

import re
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NEEDED = (3, 11)
PIP = ("-m", "pip", "install", "--disable-pip-version-check", "--progress-bar=off", "--retries=3")
PACKAGES = ("-r", "requirements.txt", "-c", "constraints.txt")
VERSION = ".".join(map(str, sys.version_info[:3]))
ANOTHER = "try another Python: make book PYTHON=python3.12"


def main(folder):
    if sys.version_info < NEEDED:
        need = ".".join(map(str, NEEDED))
        return f"Python {need} or newer is needed, this is {VERSION} ({sys.executable}); {ANOTHER}"
    try:
        return make_environment(folder) or install_packages(folder)
    except OSError as error:
        return f"cannot write {folder}: {error.strerror}; put the course where you may write, with 1 GB of room"


def make_environment(folder):
    """The virtual environment, unless a usable one is there. Returns what is wrong, or None."""
    python = folder / "bin" / "python"
    usable = f"import sys, pip; sys.exit(sys.version_info < {NEEDED})"
    if python.exists() and subprocess.run([python, "-c", usable], capture_output=True).returncode == 0:
        return None
    try:
        import ensurepip  # noqa: F401  venv needs it, and Debian leaves it out
        import venv
    except ImportError as error:
        debian = "on Debian and Ubuntu: apt install python3-venv"
        return f"{sys.executable} has no module {error.name}; {debian}; or {ANOTHER}"
    print(f"install: making {folder}", flush=True)
    try:
        venv.create(folder, clear=True, symlinks=True, with_pip=True)
    except subprocess.CalledProcessError as error:
        return why(error.output.decode(errors="replace"))
    return None


def install_packages(folder):
    """Everything in requirements.txt. Returns what is wrong, or None."""
    stamp, report = folder / ".installed", folder / "install.log"
    stamp.unlink(missing_ok=True)
    print("install: the packages of requirements.txt, about a minute the first time", flush=True)
    start = time.perf_counter()
    with open(report, "w") as file:
        done = subprocess.run([folder / "bin" / "python", *PIP, *PACKAGES], cwd=ROOT, stdout=file, stderr=file)
    if done.returncode:
        return f"{why(report.read_text(errors='replace'))}. What pip said: {report}"
    stamp.touch()
    print(f"install: done in {time.perf_counter() - start:.0f} s", flush=True)
    return None


def why(said):
    """In one sentence, what stopped pip and what to do."""
    wrong_python = re.search(r"require a different python version: .*|requires a different Python", said)
    if re.search(r"Retry\(total=0|Max retries exceeded|from versions: none", said) and not wrong_python:
        return "the packages cannot be fetched; check the connection to the network and run the same command again"
    if full := re.search(r"OSError: \[Errno \d+\] ([^:\n]+)", said):
        return f"a package cannot be written: {full[1]}; put the course where you may write, with 1 GB of room"
    if pin := re.search(r"\(constraint\) (\S+)|satisfies the requirement (\S+)|Package '(\S+)' requires", said):
        name = next(filter(None, pin.groups()))
        return f"{name} does not fit Python {VERSION} or another package of constraints.txt; {ANOTHER}"
    errors = re.findall(r"(?im)^ *error: (.+)", said) or [said.strip() or "nothing"]
    return f"the packages were not installed: {errors[-1].splitlines()[-1]}"


if __name__ == "__main__":
    try:
        result = main(Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / ".venv").absolute())
    except KeyboardInterrupt:
        result = "interrupted; run the same command again"
    sys.exit(f"install: {result}" if result else 0)
