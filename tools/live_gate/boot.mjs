// Boots the site's own Python in node, without a network, and has it do one thing.
//
//     node boot.mjs FOLDER_OF_PYTHON COURSE_ZIP KIT_ZIP REQUEST ANSWER COMPILED MODEL
//
// REQUEST is the path of a JSON file for inside.py, ANSWER that of the JSON it gives back. COMPILED is a folder in which
// the next Python finds what this one compiled, MODEL one with the files of the pages' trained model, if they have one.
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { Socket } from "node:net";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const FOLDER = "/course/_vendor/minilm"; // as in book/live/model.py
const [folder, course, kit, request, answer, compiled, model] = process.argv.slice(2).map((path) => resolve(path));

Socket.prototype.connect = () => {
  throw new Error("the gate has no network");
};
globalThis.fetch = async (address) => {
  throw new Error(`the gate has no network: ${address}`);
};

// By itself node shows the line that threw, and the engine's is a million characters long.
process.on("uncaughtException", (error) => {
  console.error(String(error?.message ?? error).slice(-3000));
  process.exit(1);
});

const { loadPyodide } = await import(pathToFileURL(`${folder}/pyodide.mjs`));
const python = await loadPyodide({ indexURL: `${folder}/` });
python.unpackArchive(new Uint8Array(readFileSync(course)), "zip", { extractDir: "/course" });
python.unpackArchive(new Uint8Array(readFileSync(kit)), "zip", { extractDir: "/kit" });
const quiet = { messageCallback() {}, errorCallback(said) { throw new Error(said); } };
await python.loadPackage(["numpy", "matplotlib", "packaging"], quiet);
python.mountNodeFS("/compiled", compiled);
const files = readdirSync(model);
if (files.length) python.FS.mkdirTree(FOLDER);
for (const name of files) python.FS.writeFile(`${FOLDER}/${name}`, readFileSync(`${model}/${name}`));
python.runPython(`
import os, sys
from pathlib import Path

sys.path[:0] = ["/kit", "/course", "/course/book/live/python"]
sys.pycache_prefix, sys.dont_write_bytecode = "/compiled", False
for top in ("/kit", "/course", Path(os.__file__).parent / "site-packages"):
    for file in Path(top).rglob("*.py"):
        os.utime(file, (0, 0))  # a file that was unpacked anew would count as changed
`);
writeFileSync(answer, python.pyimport("inside").answer(readFileSync(request, "utf-8")));
process.exit(0); // a worker that Python has left would keep node waiting
