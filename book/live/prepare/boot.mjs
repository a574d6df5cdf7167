// Boots the vendored Python in node and has `inside.py` prepare what the pages' Python would otherwise do at each start.
//
//     node boot.mjs FOLDER_OF_PYTHON COURSE_ZIP TO
//
// Into the folder TO go the files of which inside.py gives the names and the contents.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const [folder, course, to] = process.argv.slice(2).map((path) => resolve(path));
process.on("uncaughtException", (error) => {
  console.error(String(error?.message ?? error).slice(-3000)); // node would show the engine's line, a million characters
  process.exit(1);
});

const { loadPyodide } = await import(pathToFileURL(`${folder}/pyodide.mjs`));
const python = await loadPyodide({ indexURL: `${folder}/` });
python.unpackArchive(new Uint8Array(readFileSync(course)), "zip", { extractDir: "/course" });
const quiet = { messageCallback() {}, errorCallback(said) { throw new Error(said); } };
await python.loadPackage(["numpy", "matplotlib"], quiet);
const [stdlib, here] = [`${folder}/python_stdlib.zip`, dirname(fileURLToPath(import.meta.url))];
python.FS.writeFile("/stdlib.zip", new Uint8Array(readFileSync(stdlib)));
python.runPython(readFileSync(`${here}/inside.py`, "utf-8"));
for (const name of python.globals.get("prepared").toJs()) writeFileSync(`${to}/${name}`, python.FS.readFile(`/prepared/${name}`));
process.exit(0);
