"""The page's modules as one classic script, and what a page from a disk needs to run Python: there are neither modules,
nor `fetch`, nor workers from files, but classic scripts, and workers made of a text.

    offline(site) -> {path in the site: bytes}   scripts and pages for the zip file

`offline.js` holds all of Python in base64, and the text of a classic worker: our own worker, its loader and Pyodide's two
modules, with `import` and `export` replaced. Each replacement is counted, so that another Pyodide fails here and not there.
`offline-model.js` holds the trained model of a chapter.
"""

import base64
import json
import re

IMPORT = re.compile(r'^import \{ ([\w, ]+) \} from "\./([\w.]+)";\n', re.M)
EXPORT = re.compile(r"^export (?=(?:async )?(?:class|function|const) (\w+))", re.M)
LEFT = re.compile(r"^(?:import|export)\b", re.M)


class BundleError(Exception):
    """The scripts have a form that cannot be brought into one file; the message is a sentence."""


def bundle(modules, entry):
    """One classic script of the module `entry` and all that it imports; `modules` is {file name: text}."""
    done = {}

    def add(name, on_the_way):
        if name in on_the_way:
            raise BundleError(f"{name} imports itself, by way of {' and '.join(on_the_way)}")
        text = modules[name]
        for needed in IMPORT.findall(text):
            if needed[1] not in done:
                add(needed[1], (*on_the_way, name))
        body = IMPORT.sub(lambda found: f"const {{ {found[1]} }} = {_variable(found[2])};\n", text)
        given = EXPORT.findall(body)
        body = EXPORT.sub("", body)
        if left := LEFT.search(body):
            raise BundleError(f"{name} has an import or export of another form: {body[left.start() :].splitlines()[0]}")
        done[name] = f"// {name}\nconst {_variable(name)} = (() => {{\n{body}\nreturn {{ {', '.join(given)} }};\n}})();\n"

    add(entry, ())
    return '"use strict";\n(() => {\n' + "".join(done.values()) + "})();\n"


def _variable(name):
    return "of_" + name.partition(".")[0]


def replaced(text, old, new, count, name):
    """The text with `new` for `old`, which has to be there that many times."""
    if text.count(old) != count:
        raise BundleError(f"{name} has {text.count(old)} times {old!r}, and not {count} times")
    return text.replace(old, new)


# What stands before our own worker: `fetch` gives what the page has handed over, and a classic worker is no module.
BEGIN = """"use strict";
self.importScripts = undefined; // Pyodide takes this for a sign of a worker that it does not know
const takenAlong = {};
self.addEventListener("message", ({ data }) => data.taken && Object.assign(takenAlong, data.taken));
self.fetch = async (address) => {
  const name = String(address.url ?? address).split("/").pop();
  if (!(name in takenAlong)) throw new TypeError(`${name} was not taken along`);
  const type = name.endsWith(".wasm") ? "application/wasm" : "application/octet-stream";
  return new Response(takenAlong[name], { headers: { "Content-Type": type } });
};
"""


def worker(modules, pyodide, engine):
    """The text of the classic worker. `pyodide` and `engine` are the texts of pyodide.mjs and pyodide.asm.mjs."""
    engine = replaced(engine, "import.meta.url", '"https://taken.invalid/"', 3, "pyodide.asm.mjs")
    engine = replaced(engine, "export default _createPyodideModule;", "", 1, "pyodide.asm.mjs")
    pyodide = replaced(pyodide, "export{dt as loadPyodide,U as version};", "return dt;", 1, "pyodide.mjs")
    own = replaced(
        modules["worker.mjs"],
        'await import(places["pyodide.mjs"])',
        "{ loadPyodide: (options) => takenPyodide({ ...options, createPyodideModule: _createPyodideModule }) }",
        1,
        "worker.mjs",
    )
    pyodide = f"const takenPyodide = (() => {{\n{_without_map(pyodide)}\n}})();\n"
    return BEGIN + _without_map(engine) + "\n" + pyodide + bundle({**modules, "worker.mjs": own}, "worker.mjs")


def _without_map(text):
    return re.sub(r"^//# sourceMappingURL=.*$", "", text, flags=re.M)


def offline_script(modules, files):
    """offline.js: everything in one assignment. `files` is {file name: bytes} of Python, with course.zip and files.json."""
    texts = {name: files[name].decode("utf-8") for name in ("pyodide.mjs", "pyodide.asm.mjs")}
    taken = {name: base64.b64encode(data).decode("ascii") for name, data in sorted(files.items()) if name != "files.json"}
    what = {
        "listed": json.loads(files["files.json"]),
        "worker": base64.b64encode(worker(modules, texts["pyodide.mjs"], texts["pyodide.asm.mjs"]).encode()).decode("ascii"),
        "files": taken,
    }
    return "globalThis.takenAlong = " + json.dumps(what, separators=(",", ":")) + ";\n"


SETTINGS = re.compile(r'(<script type="application/json" id="live-settings">)(.*?)(</script>)', re.S)
MODEL = re.compile(r'(<p class="live-model[^>]*>)[^<]*(</p>)')
MODEL_TAKEN = "This chapter opens a trained model, which the page reads from this folder when a cell needs it."
KEPT_OF_PYTHON = {"MPL-2.0.txt"}
KEPT_OF_OURS = {"page.js", "after.js", "live.css"}


def offline(site, sources):
    """({path in the site: bytes} of what the zip file has in the place of the site's, paths that it does not need).

    Both are empty where the pages have no Python. `sources` is the folder of our modules.
    """
    found = sorted(site.glob("_static/live/course-*/course.zip"))
    if not found:
        return {}, set()
    ours = found[0].parent
    (python,) = site.glob("_static/live/python-*")
    modules = {path.name: path.read_text(encoding="utf-8") for path in sorted(sources.glob("*.mjs"))}
    files = {path.name: path.read_bytes() for path in [*python.iterdir(), *ours.iterdir()]}
    listed = json.loads(files["files.json"])
    script = offline_script(modules, {name: data for name, data in files.items() if name in listed or name == "files.json"})
    new = {(ours / "offline.js").relative_to(site).as_posix(): script.encode()}
    weights = [path for path in sorted(site.glob("_static/live/model-*/*")) if path.is_file()]
    if weights:
        taken = {path.name: base64.b64encode(path.read_bytes()).decode("ascii") for path in weights}
        new[(ours / "offline-model.js").relative_to(site).as_posix()] = f"globalThis.takenModel = {json.dumps(taken)};\n".encode()
    for page in sorted(site.glob("chapters/*.html")):
        text = page.read_text(encoding="utf-8")
        changed = SETTINGS.sub(lambda found: found[1] + _taken(found[2]) + found[3], text)
        changed = MODEL.sub(f"\\1{MODEL_TAKEN}\\2", changed) if weights else changed
        if changed != text:
            new[page.relative_to(site).as_posix()] = changed.encode()
    unneeded = {path for path in python.iterdir() if path.name not in KEPT_OF_PYTHON}
    unneeded |= {*weights}
    unneeded |= {path for path in ours.iterdir() if path.name not in KEPT_OF_OURS}
    unneeded |= {path for path in (site / "keep.js", site / "keep.json") if path.is_file()}
    return new, {path.relative_to(site).as_posix() for path in unneeded}


def _taken(settings):
    return json.dumps({**json.loads(settings), "offline": "offline.js"}).replace("<", "\\u003c")
