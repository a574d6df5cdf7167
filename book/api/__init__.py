"""Sphinx extension: the pages about the library, which autodoc makes of its docstrings.

* Links to the documentation of Python and NumPy are resolved from the lists in `inventories`: building needs no network.
* The types and references of docstrings become plain text, so that `-n` can be strict about all other references;
  the fields of a tuple are described once.
* A page of the library's source is light (`source_pages`).
"""

import re
import sys
import zlib
from pathlib import Path

HERE = Path(__file__).resolve().parent


def setup(app):
    sys.path.insert(0, str(HERE.parents[1]))  # autodoc imports attnlib, installed or not
    app.setup_extension("book.api.source_pages")
    app.connect("config-inited", local_inventories, priority=400)  # before intersphinx reads its mapping
    app.connect("autodoc-skip-member", skip_fields)
    app.connect("autodoc-process-docstring", plain_types_and_references, priority=900)  # after napoleon
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def local_inventories(app, config):
    """Turn the readable lists in `inventories` into the format that intersphinx reads."""
    folder = Path(app.doctreedir) / "inventories"
    folder.mkdir(parents=True, exist_ok=True)
    mapping = {}
    for source in sorted((HERE / "inventories").glob("*.txt")):
        lines = [line for line in source.read_text(encoding="utf-8").splitlines() if line and line[0] != "#"]
        url = lines[0].removeprefix("url: ")
        entries = "".join("{} {} 1 {} -\n".format(*line.split()) for line in lines[1:])
        header = f"# Sphinx inventory version 2\n# Project: {source.stem}\n# Version: \n# The remainder of this file is compressed using zlib.\n"
        target = folder / f"{source.stem}.inv"
        target.write_bytes(header.encode() + zlib.compress(entries.encode()))
        mapping[source.stem] = (url, str(target))
    config.intersphinx_mapping = mapping


def skip_fields(app, what, name, obj, skip, options):
    """Leave out "Alias for field number 0": the class describes its fields already."""
    return True if str(getattr(obj, "__doc__", "")).startswith("Alias for field number") else None


def plain_types_and_references(app, what, name, obj, options, lines):
    """Show types such as "ndarray of shape (..., k)" as they are, and references as a numbered list.

    Sphinx would look up every word of a type as a class. And it wants each footnote number once a page, while
    numpydoc starts with [1] in every docstring.
    """
    kinds = [line for line in lines if line.startswith(":type: ")]
    if kinds:  # an attribute's one sentence: napoleon took the words before its colon for the type
        lines[:] = [kinds[0].removeprefix(":type: ") + ": " + lines[0]] + [line for line in lines[1:] if line != kinds[0]]
    in_reference = False
    for number, line in enumerate(lines):
        if found := re.match(r":(ivar|vartype) ([^:]*, [^:]*):", line):  # "passed, failed": no type before a name
            line = f":{found[1]} {found[2].replace(', ', ',')}:" + line[found.end() :]
        if found := re.match(r"(\s*:(?:var)?type [^:]+: )(.+)", line):
            line = found[1] + "*" + found[2].strip().replace("\\", "\\\\").replace("*", "\\*") + "*"
        elif found := re.match(r"\s*\.\. \[(\d+)\] (.*)", line):
            in_reference, line = True, f"{found[1]}. {found[2]}"
        elif in_reference and line.strip():
            line = "   " + line.strip()
        else:
            in_reference = False
        lines[number] = re.sub(r"\s\[(\d+)\]_", r" [\1]", line)
