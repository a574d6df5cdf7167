"""Build the book: from clean, strictly, and all or nothing.

    python -m tools.site.build [--output _build/html] [--config _config.yml]

Every warning is an error and every unresolved reference is a warning. The site is made in a scratch folder and moved
to its place only when it is whole; the old one is removed first. So after a failure, an interrupt or a power cut
there is no site, never half of one, and the exit code is not zero.

From clean means that every page is read, checked and written again. Only parts that take long to make, such as typeset
formulas, come from earlier builds where nothing that they are made of has changed (`book/cache`).
"""

import argparse
import importlib.metadata
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import yaml

from book.live import keep_list
from tools.installing import model, vendor_pyodide, vendored

ROOT = Path(__file__).resolve().parents[2]
PROCESS = Path(__file__).with_name("book_process.py")
KEPT = "_build/kept.db"  # what builds keep for each other; see book/cache
NEEDED = ("jupyter-book", "sphinx-book-theme", "sphinx-mathjax-offline", "mini-racer", "numpy", "matplotlib")
# Parts of the theme that no page uses: sources of its scripts, translations, templates, the key of Sphinx's cache.
DEAD_WEIGHT = ("**/*.map", "**/*.LICENSE.txt", "_static/locales", "_static/*webpack-macros.html", ".buildinfo")


NOBODY = "the authors of Attention, Derived"


class BuildError(Exception):
    """The site could not be built; the message is one line."""


class Interrupted(BaseException):
    """The process was asked to stop."""


def missing_packages():
    """One sentence for each package that the build needs and does not find."""
    found = []
    for name in NEEDED:
        try:
            version = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            found.append(f"the package {name} is missing")
        else:
            if name == "jupyter-book" and not version.startswith("1."):
                found.append(f"jupyter-book {version} cannot build this book, it needs version 1")
    return found


def wrong_vendored(root):
    """What is wrong with the Python and the trained model for the pages, as a sentence; "" if all that is there is whole."""
    wanted = {"Python": ("pyodide", vendor_pyodide.LIST, "live"), "trained model": ("minilm", model.SOURCE.listing, "model")}
    for what, (name, listing, command) in wanted.items():
        folder = root / "_vendor" / name
        if not folder.exists():
            return ""  # and without a Python no page opens the model
        try:
            wrong = vendored.problem(folder, vendored.listed(listing))
        except vendored.VendorError as error:
            wrong = str(error)
        if wrong:
            return f"the {what} for the pages is not whole: {wrong}; run: make {command}"
    return ""


def build(root, output, config=None, kept=None):
    """Build the book in `root` into the folder `output`. Raises `BuildError`; then there is no `output`.

    `kept` is the file with the parts that earlier builds made, by default in the folder `_build` of the book.
    """
    root, output = Path(root).resolve(), Path(output).resolve()
    if problems := missing_packages():
        raise BuildError("; ".join(problems) + "; run: pip install -r requirements.txt")
    if wrong := wrong_vendored(root):
        raise BuildError(wrong)
    shutil.rmtree(output, ignore_errors=True)
    output.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=".building-", dir=output.parent))
    try:
        command = [sys.executable, "-P", str(PROCESS), "build", "-W", "-n", "--keep-going", "-q", "--path-output", str(scratch)]
        command += ["--config", str(config or root / "_config.yml"), str(root)]
        environment = dict(os.environ, PYTHONHASHSEED="0", BOOK_KEPT=str(kept or root / KEPT))
        code, said = run(command, environment, scratch / "log")
        site = scratch / "_build" / "html"
        if code != 0 or not (site / "index.html").is_file():
            print(said.replace(f"{root}{os.sep}", "").strip(), file=sys.stderr)
            raise BuildError(f"the book was not built (exit code {code}); the reason is above")
        for pattern in DEAD_WEIGHT:
            for path in sorted(site.glob(pattern)):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        if (site / "_static" / "live").is_dir():
            keep_list.write(site)
        os.rename(site, output)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def unset(config):
    """The settings of `_config.yml` that wait for who publishes the book, each with what the pages say meanwhile."""
    settings = yaml.safe_load(Path(config).read_text(encoding="utf-8"))
    found = []
    if not (settings.get("repository") or {}).get("url"):
        found.append("repository.url (no page says where the source is)")
    if settings.get("author") in (None, "", NOBODY):
        found.append(f"author (the pages say “{NOBODY}”)")
    return found


def run(command, environment, log):
    """Run in a session of its own, so that stopping us stops all of it. Returns the exit code and what was said."""
    with open(log, "wb") as file:
        process = subprocess.Popen(command, env=environment, stdout=file, stderr=file, start_new_session=True)
    try:
        code = process.wait()
    except BaseException:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise
    return code, re.sub(r"\x1b\[[\d;]*m", "", log.read_text(encoding="utf-8", errors="replace"))


def stop(number, frame):
    raise Interrupted(signal.Signals(number).name)


def main(arguments=None):
    parser = argparse.ArgumentParser(description="Build the book, strictly and from clean.")
    parser.add_argument("--output", type=Path, default=ROOT / "_build" / "html", help="default: _build/html")
    parser.add_argument("--config", type=Path, help="default: _config.yml")
    options = parser.parse_args(arguments)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)
    start = time.perf_counter()
    try:
        build(ROOT, options.output, options.config)
    except BuildError as error:
        print(f"build: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"build: cannot write {error.filename}: {error.strerror}", file=sys.stderr)
        return 1
    except Interrupted as error:
        print(f"build: stopped by {error}; no site was left behind", file=sys.stderr)
        return 130
    files = [path for path in options.output.rglob("*") if path.is_file()]
    pages, size = sum(path.suffix == ".html" for path in files), sum(path.stat().st_size for path in files) / 1e6
    print(f"build: {pages} pages, {size:.1f} MB, {time.perf_counter() - start:.1f} s: {options.output / 'index.html'}")
    if waiting := unset(options.config or ROOT / "_config.yml"):
        print(f"build: not set in _config.yml: {', '.join(waiting)}")
    if not (ROOT / "_vendor" / "pyodide").is_dir():
        print("build: the pages are built without a Python of their own; with one: make live")
    return 0


if __name__ == "__main__":
    sys.exit(main())
