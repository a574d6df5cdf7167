"""Make the folder .venv with everything in it to read, run, build and test the book. Called by make.

python3 tools/install.py [.venv]

Runs on the Python that is there, so it uses nothing but the standard library. The stamp that make looks at is
written last: an install that was interrupted is done again.
"""

import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NEEDED = (3, 11)


def main(folder):
    if sys.version_info < NEEDED:
        have, need = ".".join(map(str, sys.version_info[:3])), ".".join(map(str, NEEDED))
        return f"Python {need} or newer is needed, this is {have} ({sys.executable}); try: make book PYTHON=python3.12"
    stamp = folder / ".installed"
    stamp.unlink(missing_ok=True)
    python = folder / "bin" / "python"
    usable = f"import sys, pip; sys.exit(sys.version_info < {NEEDED})"
    if not python.exists() or subprocess.run([python, "-c", usable], capture_output=True).returncode:
        print(f"install: making {folder}", flush=True)
        made = subprocess.run([sys.executable, "-m", "venv", "--clear", folder])
        if made.returncode:
            return "the virtual environment was not made; on Debian and Ubuntu it needs the package python3-venv"
    print("install: the packages of requirements.txt, about a minute the first time", flush=True)
    start = time.perf_counter()
    pip = [python, "-m", "pip", "install", "-qq", "--disable-pip-version-check", "-r", "requirements.txt", "-c", "constraints.txt"]
    if subprocess.run(pip, cwd=ROOT).returncode:
        return "the packages were not installed; the reason is above"
    stamp.touch()
    print(f"install: done in {time.perf_counter() - start:.0f} s", flush=True)
    return 0


if __name__ == "__main__":
    try:
        result = main(Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / ".venv").absolute())
    except KeyboardInterrupt:
        result = "interrupted; run the same command again"
    sys.exit(f"install: {result}" if result else 0)
