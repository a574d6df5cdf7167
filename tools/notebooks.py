"""Run, format and check the notebooks of the book. A notebook with its outputs is the only source of a chapter.

    python tools/notebooks.py run [FILE ...]     execute in a fresh kernel, normalise, write if anything changed
    python tools/notebooks.py format [FILE ...]  normalise only, execute nothing
    python tools/notebooks.py check [FILE ...]   write nothing, list what is wrong, exit 1 if anything is

Without FILE: every notebook in chapters/. Running twice gives the same bytes. When something goes wrong, the file
is left as it was, one message says which file and cell, and the exit code is not zero.
"""

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
TAGS = re.compile(
    r"exercise-[a-z0-9_]+|hide-input|hide-output|hide-cell|remove-input|nbval-ignore-output"
)
ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")
# What would differ on another machine or in another run.
PERSONAL = {
    "an object's address": re.compile(r"\b0x[0-9a-fA-F]{6,}"),
    "a path of this machine": re.compile(
        r"(?<![\w./:])(?:/(?:home|root|Users|tmp|usr|var|opt|private|mnt|work|workspace)/\w|~/\w)|\b[A-Za-z]:\\\w|site-packages"
    ),
}
NUMBER = re.compile(r"(?<![\w.])(\d+\.\d{2,})(?!\.?\d)")  # at least two decimals; not a version such as 1.22.3
NOT_PROSE = [  # comments, raw HTML tags, inline code and roles such as {cite:p}`...`, links, addresses, arXiv numbers
    re.compile(r"<!--.*?-->|<[^<>]+>", re.S),
    re.compile(r"(?:\{[\w:-]+\})?(`+).+?\1", re.S),
    re.compile(r"!?\[[^\]]*\]\([^)]*\)"),
    re.compile(r"https?://\S+|\b(?:arXiv|doi)[: ]\S+", re.I),
]


class NotebookError(Exception):
    """A notebook that cannot be read or run; the message names the file."""


def shown(path):
    """The path as a reader of the message would type it."""
    path = Path(path).resolve()
    return str(path.relative_to(Path.cwd())) if path.is_relative_to(Path.cwd()) else str(path)


def need(package):
    """Import a package or say in one line which one is missing."""
    try:
        return __import__(package)
    except ImportError as error:
        raise NotebookError(f"the package {error.name or package} is missing; run: pip install -r requirements.txt") from error


# Reading and writing


def read(path):
    """The notebook as a dictionary, every cell with an id, strings joined."""
    nbformat = need("nbformat")
    try:
        text = Path(path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise NotebookError(f"{shown(path)}: not UTF-8 text (byte {error.start})") from error
    except OSError as error:
        raise NotebookError(f"{shown(path)}: cannot be read: {error.strerror}") from error
    try:
        notebook = json.loads(text)
    except json.JSONDecodeError as error:
        raise NotebookError(f"{shown(path)}: not valid JSON: line {error.lineno}, column {error.colno}: {error.msg}") from error
    if not isinstance(notebook, dict) or notebook.get("nbformat") != 4 or not isinstance(notebook.get("cells"), list):
        raise NotebookError(f"{shown(path)}: not a notebook of format 4")
    if not all(isinstance(cell, dict) for cell in notebook["cells"]):
        raise NotebookError(f"{shown(path)}: not a valid notebook: a cell is not an object")
    notebook["nbformat_minor"] = 5
    give_ids(notebook["cells"])
    for cell in notebook["cells"]:  # editors repeat tags, which the format forbids
        if isinstance(cell.get("metadata"), dict) and isinstance(cell["metadata"].get("tags"), list):
            cell["metadata"]["tags"] = sorted(set(map(str, cell["metadata"]["tags"])))
    try:
        notebook = nbformat.v4.rwbase.rejoin_lines(nbformat.from_dict(notebook))
        nbformat.validate(notebook)
    except Exception as error:  # the schema's errors have many types and long texts
        raise NotebookError(f"{shown(path)}: not a valid notebook: {str(error).splitlines()[0]}") from error
    return notebook


def give_ids(cells):
    """Keep the ids that are there; make missing or repeated ones from the cell's place and text."""
    used = set()
    for number, cell in enumerate(cells):
        name, attempt = cell.get("id"), 0
        while not isinstance(name, str) or not ID.fullmatch(name) or name in used:
            name = hashlib.sha256(f"{number} {attempt} {cell.get('source')}".encode()).hexdigest()[:8]
            attempt += 1
        used.add(name)
        cell["id"] = name


def canonical(notebook):
    """The one text that a notebook is stored as."""
    nbformat = need("nbformat")
    notebook = nbformat.from_dict(json.loads(json.dumps(notebook)))
    notebook.metadata = nbformat.from_dict(METADATA)
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    for cell in notebook.cells:
        cell.source = cell.source.rstrip()
        kept = {key: cell.metadata[key] for key in ("mystnb", "tags") if cell.metadata.get(key)}
        cell.metadata = nbformat.from_dict(kept)
        if cell.cell_type == "code":
            cell.outputs = canonical_outputs(cell)
    return nbformat.writes(notebook, version=nbformat.NO_CONVERT).rstrip("\n") + "\n"


def canonical_outputs(cell):
    """Neighbouring pieces of one stream joined (how they are cut depends on the clock), no metadata of the display."""
    outputs = []
    for output in cell.outputs:
        if output.output_type == "stream" and outputs and outputs[-1].get("name") == output.name:
            outputs[-1].text += output.text
            continue
        if "metadata" in output:
            output.metadata = {}
        if "execution_count" in output:
            output.execution_count = cell.execution_count
        outputs.append(output)
    return outputs


def write(path, text):
    """Replace the file in one step, and only if its bytes change. Returns whether they did."""
    path = Path(path)
    if path.read_bytes() == text.encode("utf-8"):
        return False
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        os.chmod(temporary, path.stat().st_mode & 0o777)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
    return True


# Running


def execute(path, timeout=300):
    """Run every cell in a fresh kernel, in the notebook's own folder. Returns the notebook with its new outputs."""
    need("ipykernel")
    nbclient = need("nbclient")
    notebook = read(path)
    notebook.metadata.kernelspec = dict(METADATA["kernelspec"])
    os.environ.setdefault("ATTNLIB_PROGRESS", "off")  # exercises write no file and show no earlier state
    current = {"cell": "before the first cell"}

    def remember(cell, cell_index):
        current["cell"] = f"cell {cell_index + 1} ({cell['id']})"

    client = nbclient.NotebookClient(
        notebook,
        timeout=timeout,
        kernel_name="python3",
        record_timing=False,
        extra_arguments=["--IPKernelApp.log_level=40"],  # no remark about the transport at every start
        resources={"metadata": {"path": str(Path(path).resolve().parent)}},
        on_cell_start=remember,
    )
    try:
        client.execute(stderr=subprocess.DEVNULL)  # a kernel that is stopped complains at length
    except BaseException as error:
        if getattr(client, "_async_cleanup_kernel_future", None) is not None:  # nbclient caught the signal
            raise KeyboardInterrupt from None
        if not isinstance(error, Exception):
            raise
        raise NotebookError(f"{shown(path)}: {why(error, current['cell'], timeout)}") from error
    return notebook


def why(error, cell, timeout):
    """In words, why a notebook could not be run."""
    from jupyter_client.kernelspec import NoSuchKernel
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    if isinstance(error, CellExecutionError):
        return f"{cell} raised {error.ename}: {error.evalue}"
    if isinstance(error, DeadKernelError):
        return f"the kernel died in {cell}"
    if isinstance(error, CellTimeoutError):
        return f"{cell} took longer than {timeout} s"
    if isinstance(error, NoSuchKernel):
        return f"there is no kernel named {error.name!r}; run: pip install ipykernel"
    return f"could not be run, {cell}: {type(error).__name__}: {str(error).strip()}".splitlines()[0]


# Checking


def check(path):
    """Everything that is wrong with a notebook, as a list of sentences; each names the file and the cell."""
    notebook = read(path)
    problems = []
    if Path(path).read_bytes() != canonical(notebook).encode("utf-8"):
        problems.append(f"{shown(path)}: not in canonical form; run: python tools/notebooks.py format {shown(path)}")
    numbers, count = printed_numbers(notebook), 0
    for position, cell in enumerate(notebook.cells, start=1):
        found = [f"tag {tag!r} is not on the list" for tag in cell.metadata.get("tags", []) if not TAGS.fullmatch(tag)]
        if cell.cell_type == "markdown":
            found += check_prose(cell, numbers)
        elif cell.cell_type == "code":
            count += 1
            found += check_code(cell, count)
        else:
            found.append("raw cells are not used")
        problems += [f"{shown(path)}: cell {position} ({cell.id}): {text}" for text in found]
    return problems


def check_code(cell, count):
    found = [] if cell.source.strip() else ["empty code cell"]
    if cell.execution_count != count:
        found.append(f"execution count {cell.execution_count}, expected {count}; run: make notebooks")
    if cell.source.rstrip().endswith(";"):
        found.append("a semicolon at the end hides the value here but not when the outputs are compared; assign it to _")
    pictures = 0
    for output in cell.outputs:
        if output.output_type == "error":
            found.append(f"stored error {output.ename}: {output.evalue}")
        if output.get("name") == "stderr":
            found.append("output on stderr: " + output.text.strip().splitlines()[0])
        text = output.get("text", "") + "".join(str(value) for value in output.get("data", {}).values())
        found += [f"the output holds {what}: {hit[0]}" for what, pattern in PERSONAL.items() if (hit := pattern.search(text))]
        kinds = [kind for kind in output.get("data", {}) if kind.startswith("image/")]
        pictures += bool(kinds)
        if kinds and "image/svg+xml" not in kinds:
            found.append(f"a figure stored as {kinds[0]} only; figures are SVG, so that a stale one is noticed")
    if pictures:
        found += check_figure(cell.metadata.get("mystnb", {}), pictures)
    return found


def check_figure(settings, pictures):
    found = [] if pictures == 1 else [f"{pictures} figures in one cell share one caption; use a cell for each"]
    caption = str(settings.get("figure", {}).get("caption") or "").strip()
    alt = str(settings.get("image", {}).get("alt") or "").strip()
    if not caption:
        found.append("the figure has no caption (cell metadata mystnb.figure.caption)")
    if not alt:
        found.append("the figure has no alternative text (cell metadata mystnb.image.alt)")
    elif re.fullmatch(r"[\d\s.,;:%-]+", alt) or re.fullmatch(r"\S*[/\\]\S*|\S+\.(svg|png|jpe?g|gif)", alt):
        found.append(f"the alternative text {alt!r} does not describe the figure")
    return found


def check_prose(cell, numbers):
    """A number with two or more decimals in the text has to be one that the notebook prints."""
    text = without_code_blocks(cell.source)
    for pattern in NOT_PROSE:
        text = pattern.sub(" ", text)
    return [
        f"the text says {token}, which no output of this notebook shows (print it, or write it as `code`)"
        for token in dict.fromkeys(NUMBER.findall(text))
        if shorten(token) not in numbers
    ]


def without_code_blocks(source):
    """The text without fenced code; the content of directives such as {note} stays."""
    kept, fences = [], []
    for line in source.splitlines():
        fence = re.match(r"\s*(`{3,}|~{3,}|:{3,})\s*(\S*)", line)
        if fence and fences and not fence[2] and fence[1].startswith(fences[-1][0]):
            fences.pop()
        elif fence and not (fences and fences[-1][1]):
            is_code = fence[1][0] != ":" and not fence[2].startswith("{") or fence[2].startswith("{code")
            fences.append((fence[1], is_code))
        elif not (fences and fences[-1][1]):
            kept.append(line)
    return "\n".join(kept)


def printed_numbers(notebook):
    """All decimal numbers in text outputs, without trailing zeros."""
    text = []
    for cell in notebook.cells:
        for output in cell.get("outputs", []):
            text.append(output.get("text", ""))
            text += [value for kind, value in output.get("data", {}).items() if kind.startswith("text/")]
    return {shorten(token) for token in re.findall(r"(?<![\d.])\d+\.\d*", "\n".join(text))}


def shorten(number):
    return number.rstrip("0").rstrip(".")


# The command line


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
            command.add_argument("--timeout", type=int, default=300, help="seconds for one cell (default 300)")
    options = parser.parse_args(arguments)
    files = options.files or sorted((ROOT / "chapters").glob("*.ipynb"))
    failed = False
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
