// Boots the site's own Python in node, without a network, and has it do one thing.
//
//     node boot.mjs FOLDER_OF_PYTHON COURSE_ZIP KIT_ZIP REQUEST ANSWER
//
// REQUEST is the path of a JSON file for inside.py, ANSWER that of the JSON it gives back.
import { readFileSync, writeFileSync } from "node:fs";
import { Socket } from "node:net";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const [folder, course, kit, request, answer] = process.argv.slice(2).map((path) => resolve(path));

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
python.runPython('import sys; sys.path[:0] = ["/kit", "/course", "/course/live/python"]');
writeFileSync(answer, python.pyimport("inside").answer(readFileSync(request, "utf-8")));
process.exit(0); // a worker that Python has left would keep node waiting
