"""book/live/bundle.py: modules become one classic script, and a form that it does not know stops the build."""

import json
import shutil
import subprocess

import pytest

from book.live import bundle

MODULES = {
    "page.mjs": 'import { Cell, made } from "./cell.mjs";\nimport { hex } from "./hex.mjs";\nconsole.log(new Cell().name, made(2), hex(255));\n',
    "cell.mjs": 'import { hex } from "./hex.mjs";\n\nexport class Cell {\n  name = hex(16);\n}\n\nexport const made = (n) => n + 1;\n',
    "hex.mjs": "const BASE = 16;\nexport function hex(n) {\n  return n.toString(BASE);\n}\n",
}


def test_a_bundle_does_what_its_modules_do(tmp_path):
    script = bundle.bundle(MODULES, "page.mjs")
    assert script.count("const of_hex =") == 1
    if shutil.which("node") is None:
        pytest.skip("there is no node")
    (tmp_path / "page.cjs").write_text(script)
    assert subprocess.run(["node", tmp_path / "page.cjs"], capture_output=True, text=True).stdout == "10 3 ff\n"


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("hex.mjs", "export default 1;\n", "hex.mjs has an import or export of another form: export default 1;"),
        ("hex.mjs", 'import * as all from "./cell.mjs";\n', "hex.mjs has an import or export of another form: import"),
        ("hex.mjs", 'import { Cell } from "./cell.mjs";\nexport function hex() {}\n', "imports itself"),
    ],
)
def test_a_form_that_it_does_not_know_is_named(name, text, words):
    with pytest.raises(bundle.BundleError, match=words.replace(".", r"\.")):
        bundle.bundle({**MODULES, name: text}, "page.mjs")


def test_another_pyodide_stops_the_packing():
    with pytest.raises(bundle.BundleError, match=r"pyodide\.asm\.mjs has 2 times 'import\.meta\.url', and not 3 times"):
        bundle.worker({"worker.mjs": ""}, "", "import.meta.url import.meta.url")


def test_only_pages_with_a_python_are_changed(tmp_path):
    assert bundle.offline(tmp_path, tmp_path) == ({}, set())
    settings = '<script type="application/json" id="live-settings">{"page": "\\u003cb>"}</script>'
    changed = bundle.SETTINGS.sub(lambda found: found[1] + bundle._taken(found[2]) + found[3], f"a{settings}b")
    assert json.loads(bundle.SETTINGS.search(changed)[2]) == {"page": "<b>", "offline": "offline.js"}
    assert "<b>" not in changed
