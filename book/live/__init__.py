"""Sphinx extension: pages with code can run it in the reader's browser, with the Python of `_vendor/pyodide`.

Without that folder it does nothing, and the pages are as they are. With it, `_static/live/` gets two folders, each named by
what it holds, so that a browser may keep them for ever: Python, and what is ours (this folder, and the library with its data in
one `course.zip`, always of the same bytes). A page with code gets the script, the style sheet and the places for buttons;
these have their height before any script has run, so that nothing moves.

A page whose cells need a trained model (`model.py`) gets its parts from `_vendor/minilm`, each in a folder that is named by
what it holds, too. Without that folder the page says that these cells cannot run.
"""

import hashlib
import io
import json
import re
import zipfile
from pathlib import Path

from sphinx.errors import ExtensionError

from book.light_pages.scripts import LATER
from book.live import bundle, model, prepare
from tools.installing import model as minilm
from tools.installing import vendor_pyodide, vendored

SOURCES = Path(__file__).resolve().parent
ROOT = SOURCES.parents[1]
FIRST_DAY = (1980, 1, 1, 0, 0, 0)
PACKED = ("attnlib/**/*.py", "attnpage/**/*.py", "attnexercises/**/*.py", "attnexercises/*.json", "attnpage/fonts/*.ttf", "chapters/data/*", "benchmarks/runs/*.json")
PACKED += ("benchmarks/flash_triton.py",)  # chapter 8 shows lines of it
INPUT = re.compile(
    r'(<div class="cell_input[^"]*">\n<div class="highlight-[^"]*"><div class="highlight"><pre>(?:(?!</pre>).)*</pre></div>\n</div>\n)'
    r"(</div>)",
    re.S,
)
TITLE = re.compile(r"(<article\b.*?</h1>)", re.S)
HEAD = "</head>"
MODEL_ASKS = "This chapter opens a trained model, {megabytes} MB. The page asks you before it fetches the model."
MODEL_LACKS = (
    "This site was built without the trained model that this chapter opens. The cells that need the model cannot run here, "
    "and their outputs are the stored ones."
)


def setup(app):
    app.connect("build-finished", finish, priority=950)  # after light_pages: our style sheet stays one of its own
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def finish(app, exception):
    folder = ROOT / "_vendor" / "pyodide"
    if exception is not None or app.builder.format != "html" or not folder.is_dir():
        return
    files = vendor_pyodide.listed()
    if wrong := vendored.problem(folder, files):
        raise ExtensionError(f"the Python for the pages is not whole: {wrong}; run: make live")
    site = Path(app.outdir)
    python = {file.name: (folder / file.name).read_bytes() for file in files}
    made = prepare.prepared(folder, course(), files, app.kept)
    packed = course(prepare.unpacked(made.pop("prepared-course.zip", None), "course/"))
    python |= made
    own = ours(python, packed)
    settings = {
        "python": write(site, "python", python | licences()),
        "folder": write(site, "course", own),
        "megabytes": round((sum(map(len, python.values())) + len(packed)) / 1e6),
        "versions": versions(files),
    }
    pages = {path: path.read_text(encoding="utf-8") for path in sorted((site / "chapters").glob("*.html"))}
    need = {path: model.cells_that_need_it(cell for cell, _ in INPUT.findall(text)) for path, text in pages.items()}
    opened = trained(site, [path.stem for path in pages if need[path]]) if any(need.values()) else {}
    for path, text in pages.items():
        if INPUT.search(text):
            more = {"model": {**opened, "cells": need[path]}} if need[path] else {}
            path.write_text(with_places(text, settings | more, path.stem), encoding="utf-8")


def trained(site, names):
    """What the pages `names` are told of the trained model: which cells need it, and its parts, if it is there."""
    folder = ROOT / "_vendor" / "minilm"
    if not folder.is_dir():
        return {"needs": model.NEEDS}
    if wrong := vendored.problem(folder, vendored.listed(minilm.SOURCE.listing)):
        raise ExtensionError(f"the trained model for the pages is not whole: {wrong}; run: make model")
    return placed(site, model.release(folder, *model.texts(ROOT / "chapters", sorted(names))))


def placed(site, release):
    """Write the parts of a model to the site; return what a page is told of them: address, size and hash of each."""

    def listed(name, data):
        return [write(site, "model", {name: data}) + name, len(data), hashlib.sha256(data).hexdigest()]

    files = {name: [listed(*part) for part in parts] for name, parts in model.parts(release).items()}
    return {"needs": model.NEEDS, "folder": model.FOLDER, "files": files}


def licences():
    return {name: (SOURCES / name).read_bytes() for name in ("MPL-2.0.txt",)}


def ours(python, packed):
    """{name: bytes} of what is written here: scripts, style sheet, the list of Python's files ({name: bytes}), the packed course."""
    found = {name: (SOURCES / name).read_bytes() for name in ("worker.mjs", "loader.mjs", "weights.mjs", "live.css")}
    # Of one piece and no module: a page opened from a disk would not be given a module, and complains.
    for script, entry in (("page.js", "page.mjs"), ("after.js", "after.mjs")):  # before and after the first click
        found[script] = bundle.bundle(lean(modules()), entry).encode()
    found["course.zip"] = packed
    fetched = python | {"course.zip": packed}
    listed = {name: [len(content), hashlib.sha256(content).hexdigest()] for name, content in fetched.items()}
    found["files.json"] = (json.dumps(listed, indent=1) + "\n").encode()
    return found


def modules():
    """{file name: text} of our scripts."""
    return {path.name: path.read_text(encoding="utf-8") for path in sorted(SOURCES.glob("*.mjs"))}


def lean(modules):
    """The modules without whole lines of comments and without indentation: a third less to fetch before a click."""
    for name, text in modules.items():
        if any(line.count("`") % 2 for line in text.splitlines()):
            raise ExtensionError(f"book/live/{name} has a text of several lines, whose indentation would be lost")
    return {name: re.sub(r"(?m)^[ ]*(?://.*\n|(?=\S))|^\n", "", text) for name, text in modules.items()}


def course(prepared=None):
    """The library, its data, and what stands between Python and the page, as one zip file of always the same bytes.

    `prepared` is {path: bytes} of what goes with it: bytecode.
    """
    members = {path.relative_to(ROOT).as_posix(): path for pattern in PACKED for path in ROOT.glob(pattern)}
    members |= {path.relative_to(ROOT).as_posix(): path for path in (SOURCES / "python").rglob("*.py")}
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name in sorted({**members, **(prepared or {})}):
            entry = zipfile.ZipInfo(name, FIRST_DAY)
            entry.create_system, entry.external_attr = 3, 0o100644 << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, members[name].read_bytes() if name in members else prepared[name])
    return packed.getvalue()


def write(site, kind, contents):
    """Write the files to a folder that is named by their content; return its address from the root of the site."""
    digest = hashlib.sha256()
    for name in sorted(contents):
        digest.update(name.encode() + b"\0" + hashlib.sha256(contents[name]).digest())
    address = f"_static/live/{kind}-{digest.hexdigest()[:10]}/"
    (site / address).mkdir(parents=True)
    for name, data in contents.items():
        (site / address / name).write_bytes(data)
    return address


def versions(files):
    """What runs in the page, in words, read from the names of the files and the lock."""
    packages = json.loads(vendor_pyodide.LOCK.read_text(encoding="utf-8"))["packages"]
    text = (SOURCES / "README.md").read_text(encoding="utf-8")
    pyodide, python = (re.search(rf"(?m)^\* {name} ([\d.]+\d),", text)[1] for name in ("Pyodide", "CPython"))
    numpy, matplotlib = packages["numpy"]["version"], packages["matplotlib"]["version"]
    return f"Python {python} (Pyodide {pyodide}), NumPy {numpy}, Matplotlib {matplotlib}"


def about_model(told):
    """The sentence under the title of a page that needs the model."""
    if "files" not in told:
        return MODEL_LACKS
    size = sum(size for parts in told["files"].values() for _, size, _ in parts)
    return MODEL_ASKS.format(megabytes=round(size / 1e6))


def with_places(text, settings, name):
    """The page with script, style sheet and the places for buttons."""
    folder = f"../{settings['folder']}"
    said = json.dumps({**settings, "page": name, "root": "../"}).replace("<", "\\u003c")
    head = f'<link rel="stylesheet" href="{folder}live.css">\n<script {LATER} src="{folder}page.js"></script>\n'
    head += "<noscript><style>.live-row, .live-head, .live-model { display: none !important; }</style></noscript>\n"
    head += f'<script type="application/json" id="live-settings">{said}</script>\n'
    text = text.replace(HEAD, head + HEAD, 1)
    text = INPUT.sub(r'\1<div class="live-row"></div>\n\2', text)
    line = f'<p class="live-model d-print-none">{about_model(settings["model"])}</p>' if "model" in settings else ""
    text, titles = TITLE.subn(rf'\1<div class="live-head d-print-none"></div>{line}', text, count=1)
    if not titles:
        raise ExtensionError(f"the page {name} has no title under which its button could stand")
    return text.replace("</article>", '<div class="live-foot d-print-none"></div>\n</article>', 1)
