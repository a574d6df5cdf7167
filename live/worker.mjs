// The worker that owns Python. The page sends {start: {...}} once and then {run: {...}} for one cell at a time; back come
// {progress}, {ready}, {happened: [kind, JSON]}, {done: {...}} and {fault: sentence}.
import { Fault, Loader } from "./loader.mjs";

const LOOK = 200; // milliseconds between two looks whether the reader has pressed Stop
const CORE = ["pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "pyodide-lock.json"];
const NUMPY = /^numpy-/;
const DRAWS = /\bmatplotlib\b|\battnlib\.page\b/; // what a cell says that needs Matplotlib

let python, runtime, loader, drawing;

self.onmessage = async ({ data }) => {
  try {
    if (data.start) await start(data.start);
    if (data.run) await run(data.run);
  } catch (error) {
    self.postMessage({ fault: error instanceof Fault ? error.message : sentence(error) });
  }
};

function sentence(error) {
  const text = String(error?.message ?? error);
  if (/memory/i.test(text)) return "Python ran out of memory.";
  return `Python stopped: ${text.trim().split("\n").pop().slice(0, 200)}`;
}

async function start({ places, listed }) {
  loader = new Loader(places, listed, (loaded) => self.postMessage({ progress: loaded }));
  const numpy = Object.keys(listed).find((name) => NUMPY.test(name));
  for (const name of [...CORE, numpy, "course.zip"]) loader.bytes(name);
  // What is imported comes out of the browser's cache a second time, after it has been checked.
  await sooner(Promise.all([loader.bytes("pyodide.mjs"), loader.bytes("pyodide.asm.mjs")]));
  const { loadPyodide } = await import(places["pyodide.mjs"]);
  for (const name of ["pyodide.mjs", "pyodide.asm.mjs"]) loader.asked.delete(name);
  python = await sooner(loadPyodide({ indexURL: new URL(".", places["pyodide.mjs"]).href }));
  python.unpackArchive(await loader.bytes("course.zip"), "zip", { extractDir: "/course" });
  loader.asked.delete("course.zip");
  await sooner(python.loadPackage("numpy", { messageCallback() {} }));
  watchForStop();
  python.runPython('import sys; sys.path.insert(0, "/course/live/python")');
  runtime = python.pyimport("runtime");
  runtime.start((kind, content) => self.postMessage({ happened: [kind, content] }));
  self.postMessage({ ready: true });
}

// What comes first: the result, or the news that a file cannot be had.
function sooner(result) {
  return Promise.race([result, loader.failed]);
}

async function run({ code, number, files, token }) {
  if (!drawing && DRAWS.test(code)) {
    await sooner(python.loadPackage("matplotlib", { messageCallback() {}, errorCallback() {} }));
    drawing = true;
  }
  runtime.give(files);
  listen(token);
  const began = performance.now();
  let ok;
  try {
    ok = runtime.run(code, number);
  } finally {
    listen(null);
  }
  self.postMessage({ done: { ok, files: runtime.kept(), seconds: (performance.now() - began) / 1000 } });
}

// Stop, on any host and without shared memory: for each run the page makes a blob URL, and takes it back when the reader
// presses Stop. Python asks `buffer[0]` every few instructions whether a signal has come; now and then the getter fetches
// the URL, and when that fails the answer is 2, an interrupt. Where it fails at once (a page from a disk), nobody asks.
let token = null;
let looked = 0;
let stopped = false;

function listen(url) {
  [stopped, looked] = [false, performance.now()];
  token = url && isThere(url) ? url : null;
}

function isThere(url) {
  try {
    const request = new XMLHttpRequest();
    request.open("GET", url, false);
    request.send();
    return request.status === 200;
  } catch {
    return false;
  }
}

function watchForStop() {
  python.setInterruptBuffer({
    get 0() {
      if (token === null) return 0;
      const now = performance.now();
      if (now - looked < (stopped ? 5 : LOOK)) return 0;
      looked = now;
      stopped ||= !isThere(token);
      return stopped ? 2 : 0;
    },
    set 0(_) {},
  });
}
