"""A notebook as a file: read it, bring it into the one form in which it is stored, replace it in one step."""

import hashlib
import json
import os
import re
import tempfile
from pathlib import Path

METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")


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
        name = error.name or package
        raise NotebookError(f"the package {name} is missing; run: pip install -r requirements.txt") from error


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
        where = f"line {error.lineno}, column {error.colno}"
        raise NotebookError(f"{shown(path)}: not valid JSON: {where}: {error.msg}") from error
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
    needs = {key: notebook.metadata[key] for key in ("needs",) if key in notebook.metadata}
    notebook.metadata = nbformat.from_dict(METADATA | needs)
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
