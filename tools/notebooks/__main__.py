"""Run, format and check the notebooks of the book. A notebook with its outputs is the only source of a chapter.

    python -m tools.notebooks run [FILE ...]     execute in a fresh kernel, normalise, write if anything changed
    python -m tools.notebooks format [FILE ...]  normalise only, execute nothing
    python -m tools.notebooks check [FILE ...]   write nothing, list what is wrong, exit 1 if anything is

Without FILE: every notebook in chapters/. Running twice gives the same bytes. When something goes wrong, the file
is left as it was, one message says which file and cell, and the exit code is not zero.
"""

import argparse
import sys
import time
from pathlib import Path

from tools.notebooks.book_order import up_to_date
from tools.notebooks.check import check
from tools.notebooks.execute import LIMIT, execute
from tools.notebooks.files import NotebookError, canonical, read, shown, write
from tools.notebooks.needs import missing

ROOT = Path(__file__).resolve().parents[2]


def main(arguments=None):
    parser = argparse.ArgumentParser(description="Run, format or check the notebooks of the book.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="{run,format,check}")
    for name, text in [
        ("run", "execute in a fresh kernel, normalise, write if anything changed"),
        ("format", "normalise only, execute nothing"),
        ("check", "write nothing, list what is wrong"),
    ]:
        command = commands.add_parser(name, help=text, description=text)
        command.add_argument("files", nargs="*", type=Path, metavar="FILE", help="default: chapters/*.ipynb")
        if name == "run":
            command.add_argument("--timeout", type=int, default=LIMIT, help=f"seconds for one cell (default {LIMIT})")
    options = parser.parse_args(arguments)
    files = options.files or sorted((ROOT / "chapters").glob("*.ipynb"))
    failed = False
    if options.command != "check":  # first of all: a cell that checks a new exercise needs its place in the book
        for name in up_to_date():
            print(f"{name} changed: it follows from the notebooks")
    for number, path in enumerate(files, start=1):
        try:
            failed |= work(options, path, f"[{number}/{len(files)}]")
        except NotebookError as error:
            print(f"notebooks: {error}", file=sys.stderr, flush=True)
            failed = True
        except KeyboardInterrupt:
            print(f"notebooks: interrupted; {shown(path)} is as it was", file=sys.stderr)
            return 130
    return int(failed)


def work(options, path, place):
    """Do one command on one file and print one line. Returns whether something is wrong."""
    if options.command == "check":
        problems = check(path)
        print("\n".join(problems) if problems else f"{place} {shown(path)}: in order", flush=True)
        return bool(problems)
    start = time.perf_counter()
    if options.command == "run" and (reason := missing(path)):
        print(f"{place} {shown(path)}: skipped, {reason}", flush=True)
        return False
    if options.command == "run":
        print(f"{place} {shown(path)} ... ", end="", flush=True)
        try:
            notebook = execute(path, options.timeout)
        except BaseException:
            print("failed", flush=True)
            raise
    else:
        print(f"{place} {shown(path)} ... ", end="", flush=True)
        notebook = read(path)
    changed = write(path, canonical(notebook))
    print(f"{'changed' if changed else 'unchanged'} ({time.perf_counter() - start:.1f} s)", flush=True)
    return False


if __name__ == "__main__":
    sys.exit(main())
