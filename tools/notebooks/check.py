"""What is wrong with a notebook: its form, its length, its code cells, its outputs, its figures."""

import ast
import re
from pathlib import Path

from book.predictions.notebook import check_predictions
from tools.notebooks.files import canonical, read, shown
from tools.notebooks.names import check_names
from tools.notebooks.prose import check_plain, check_prose, printed_numbers
from tools.notebooks.reading_time import CHAPTER, FOLDED, check_time
from tools.notebooks.slow_cells import needs_slow

# slow-25: takes about 25 seconds where it runs in a browser, and is left out of "Run this page"
TAGS = re.compile(r"exercise-[a-z0-9_]+|hide-input|hide-output|hide-cell|remove-input|nbval-ignore-output|slow-\d+")
FOLDED_OUTPUT = {"hide-output", "hide-cell"}
LONGEST = 24  # lines of code that are read in one go
COLUMNS = re.compile(r"\S+(?: \S+)*(?: {2,}\S+(?: \S+)*){2,}")  # at least three, two spaces or more between them
SHOWS = {"table", "stepped_figure", "heads_figure", "tap_figure"}  # their value is what a reader should see
# What would differ on another machine or in another run.
PERSONAL = {
    "an object's address": re.compile(r"\b0x[0-9a-fA-F]{6,}"),
    "a path of this machine": re.compile(
        r"(?<![\w./:])(?:/(?:home|root|Users|tmp|usr|var|opt|private|mnt|work|workspace)/\w|~/\w)"
        r"|\b[A-Za-z]:\\\w|site-packages"
    ),
}


def check(path):
    """Everything that is wrong with a notebook, as a list of sentences; each names the file and the cell."""
    notebook = read(path)
    problems = []
    if Path(path).read_bytes() != canonical(notebook).encode("utf-8"):
        problems.append(f"{shown(path)}: not in canonical form; run: python -m tools.notebooks format {shown(path)}")
    problems += [f"{shown(path)}: {text}" for text in check_time(path, notebook)]
    numbers, count, predicted, early = printed_numbers(notebook), 0, set(), needs_slow(notebook)
    names = check_names(notebook) if CHAPTER.fullmatch(Path(path).stem) else {}
    for position, cell in enumerate(notebook.cells, start=1):
        found = [f"tag {tag!r} is not on the list" for tag in cell.metadata.get("tags", []) if not TAGS.fullmatch(tag)]
        if cell.cell_type == "markdown":
            found += check_plain(cell) + check_prose(cell, numbers) + check_predictions(cell, notebook, predicted)
        elif cell.cell_type == "code":
            count += 1
            found += check_code(cell, count) + early.get(cell.id, []) + names.get(cell.id, [])
        else:
            found.append("raw cells are not used")
        problems += [f"{shown(path)}: cell {position} ({cell.id}): {text}" for text in found]
    return problems


def check_code(cell, count):
    found = [] if cell.source.strip() else ["empty code cell"]
    if cell.execution_count != count:
        found.append(f"execution count {cell.execution_count}, expected {count}; run: make notebooks")
    if cell.source.rstrip().endswith(";"):
        found.append("a semicolon at the end hides the value here but not when outputs are compared; assign it to _")
    found += check_lost(cell.source)
    tags, lines = set(cell.metadata.get("tags", [])), len(cell.source.strip().splitlines())
    if lines > LONGEST and not tags & FOLDED:
        found.append(f"{lines} lines of code in view, at most {LONGEST}; move some to the library or tag it hide-input")
    if not tags & FOLDED_OUTPUT:
        found += check_columns(cell.outputs)
    pictures = 0
    for output in cell.outputs:
        if output.output_type == "error":
            found.append(f"stored error {output.ename}: {output.evalue}")
        if output.get("name") == "stderr":
            found.append("output on stderr: " + output.text.strip().splitlines()[0])
        text = output.get("text", "") + "".join(str(value) for value in output.get("data", {}).values())
        hits = {what: pattern.search(text) for what, pattern in PERSONAL.items()}
        found += [f"the output holds {what}: {hit[0]}" for what, hit in hits.items() if hit]
        kinds = [kind for kind in output.get("data", {}) if kind.startswith("image/")]
        pictures += bool(kinds)
        if kinds and "image/svg+xml" not in kinds:
            found.append(f"a figure stored as {kinds[0]} only; figures are SVG, so that a stale one is noticed")
    if pictures:
        found += check_figure(cell.metadata.get("mystnb", {}), pictures)
    return found


def check_lost(source):
    """A notebook shows the value of a cell's last line alone. A table before it would be computed, and nobody would see it."""
    try:
        body = ast.parse(source).body
    except SyntaxError:  # a magic of IPython
        return []
    values = [line.value for line in body[:-1] if isinstance(line, ast.Expr)]
    lost = [value.func.id for value in values if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in SHOWS]
    return [f"what {name}(…) gives is not shown, since it is not the last line of the cell" for name in lost]


def check_columns(outputs):
    """Printed columns are a table that a screen reader cannot read and a phone breaks; an array has brackets."""
    printed = "".join(output.text for output in outputs if output.get("name") == "stdout")
    lines = [line.strip() for line in printed.splitlines()]
    rows = [not line.startswith("[") and bool(COLUMNS.fullmatch(line)) for line in lines]
    start = next((number for number in range(len(rows)) if rows[number : number + 3] == [True] * 3), None)
    return [] if start is None else [f"a table made of spaces, from {lines[start]!r}; use attnpage.table"]


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
