"""Install Otter-Grader and nbgrader, which the tests of the assignments ask for their scores: `make graders`.

    python -m tools.installing.graders

Both have many dependencies, 624 MB of them, so they live in an environment of their own, `_build/graders`, and no test
installs them. The stamp is written last: an installation that was interrupted is done again.
"""

import subprocess
import sys
from pathlib import Path

from tools.installing import install

ROOT = Path(__file__).resolve().parents[2]
HOME = ROOT / "_build" / "graders"
NEEDS = ("otter-grader==7.0.0", "nbgrader==0.9.6", "numpy>=2.1,<3", "matplotlib>=3.9")


def programs():
    """The folder with the programs of both graders; None unless exactly these versions were installed."""
    stamp = HOME / "installed.txt"
    whole = stamp.is_file() and stamp.read_text(encoding="utf-8") == "\n".join(NEEDS)
    return HOME / "bin" if whole else None


def main():
    """Returns what is wrong, or None."""
    if programs():
        print("graders: they are installed")
        return None
    stamp, report = HOME / "installed.txt", HOME / "install.log"
    try:
        HOME.mkdir(parents=True, exist_ok=True)
        stamp.unlink(missing_ok=True)
        if wrong := install.make_environment(HOME):
            return wrong
        print(f"graders: {', '.join(NEEDS)}, a few minutes", flush=True)
        with open(report, "w", encoding="utf-8") as file:
            command = [HOME / "bin" / "python", *install.PIP, *NEEDS]
            done = subprocess.run(command, stdout=file, stderr=file)
        if done.returncode:
            return f"{install.why(report.read_text(encoding='utf-8', errors='replace'))}. What pip said: {report}"
        stamp.write_text("\n".join(NEEDS), encoding="utf-8")
    except OSError as error:
        return f"cannot write {HOME}: {error.strerror}"
    print("graders: done")
    return None


if __name__ == "__main__":
    try:
        result = main()
    except KeyboardInterrupt:
        result = "interrupted; run the same command again"
    sys.exit(f"graders: {result}" if result else 0)
