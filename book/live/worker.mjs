// The worker that owns Python. The page sends {start: {...}} once, then {run: {...}} for one cell at a time, and
// {ask: {...}} for a step of a live figure, {model: {...}} for a trained model, {leave} when it is not wanted any more;
// back come {progress}, {engine}, {ready}, {happened: [kind, JSON]}, {done: {...}}, {answer: JSON}, {model: {...}} and {fault: sentence}.
import { Fault, Loader } from "./loader.mjs";
import { weights } from "./weights.mjs";

const LOOK = 200; // milliseconds between two looks whether the reader has pressed Stop
const HANDLED = 400; // milliseconds in which Python tells of an interrupt; one in between would hit the telling
const AGAIN = 5; // milliseconds between interrupts from then on: the cell has caught the first
const ENGINE = "pyodide.asm.wasm";
const CORE = ["pyodide.asm.mjs", ENGINE, "python_stdlib.zip", "pyodide-lock.json"];
const NUMPY = /^numpy-/;

let python, runtime, steps, loader, drawing, fetching;

self.onmessage = async ({ data }) => {
  try {
    if (data.start) await start(data.start);
    if (data.run) await run(data.run);
    if (data.ask) self.postMessage({ answer: answer(data.ask) });
    if (data.model) await model(data.model);
    if (data.leave) fetching?.abort();
  } catch (error) {
    self.postMessage({ fault: error instanceof Fault ? error.message : sentence(error) });
  }
};

function sentence(error) {
  const text = String(error?.message ?? error);
  if (/memory/i.test(text)) return "Python ran out of memory.";
  if (/call stack|recursion/i.test(text)) return "Python's stack overflowed.";
  if (/exit\(/.test(text)) return "The cell ended Python.";
  return `Python broke down (${text.trim().split("\n").pop().slice(0, 200)}).`;
}

async function start({ places, listed, engine }) {
  loader = new Loader(places, listed, (progress) => self.postMessage({ progress }));
  const numpy = Object.keys(listed).find((name) => NUMPY.test(name));
  compileOnce(engine);
  const early = [...CORE, numpy, "course.zip", prepared("numpy")].filter((name) => name in listed && !(engine && name === ENGINE));
  for (const name of early) loader.bytes(name);
  // What is imported comes out of the browser's cache a second time, after it has been checked.
  await sooner(Promise.all([loader.bytes("pyodide.mjs"), loader.bytes("pyodide.asm.mjs")]));
  const { loadPyodide } = await import(places["pyodide.mjs"]);
  for (const name of ["pyodide.mjs", "pyodide.asm.mjs"]) loader.asked.delete(name);
  python = await sooner(loadPyodide({ indexURL: new URL(".", places["pyodide.mjs"]).href }));
  python.unpackArchive(await loader.bytes("course.zip"), "zip", { extractDir: "/course" });
  loader.asked.delete("course.zip");
  await load("numpy");
  watchForStop();
  python.runPython('import sys; sys.path.insert(0, "/course/book/live/python")');
  runtime = python.pyimport("runtime");
  runtime.start(
    (kind, content) => self.postMessage({ happened: [kind, content] }),
    () => listen(null),
  );
  self.postMessage({ ready: true });
}

// A package, and what was prepared of it while the book was built: bytecode (`prepare/`).
async function load(name) {
  const file = prepared(name);
  if (file in loader.listed) loader.bytes(file);
  await sooner(python.loadPackage(name, { messageCallback() {}, errorCallback() {} }));
  if (file in loader.listed) python.unpackArchive(await sooner(loader.bytes(file)), "zip", { extractDir: "/" });
  loader.asked.delete(file);
}

function prepared(name) {
  return `prepared-${name}.zip`;
}

// The page keeps the compiled engine, so that a new worker starts in a moment.
function compileOnce(engine) {
  if (engine) loader.instead.set(ENGINE, () => new Response());
  WebAssembly.instantiateStreaming = async (response, imports) => {
    const module = engine ?? (await WebAssembly.compileStreaming(response));
    self.postMessage({ engine: module });
    return { module, instance: await WebAssembly.instantiate(module, imports) };
  };
}

// What comes first: the result, or the news that a file cannot be had.
function sooner(result) {
  return Promise.race([result, loader.failed]);
}

async function run({ code, number, columns, exercise, files, token }) {
  if (!drawing && runtime.draws(code)) {
    await load("matplotlib");
    drawing = true;
  }
  runtime.give(files);
  listen(token);
  const began = performance.now();
  const ok = runtime.run(code, number, columns, exercise);
  listen(null);
  self.postMessage({ done: { ok, files: runtime.kept(), seconds: (performance.now() - began) / 1000 } });
}

// The files of a trained model are written when all of them are there; a fault leaves Python as it was.
async function model({ files, folder, number }) {
  const tell = (said) => self.postMessage({ model: { ...said, number } });
  fetching = new AbortController();
  try {
    const whole = await weights(files, { network: loader.network, stop: fetching, tell });
    python.FS.mkdirTree(folder);
    for (const [name, data] of Object.entries(whole)) python.FS.writeFile(`${folder}/${name}`, data, { canOwn: true });
    tell({ done: true });
  } catch (error) {
    tell({ fault: error instanceof Fault ? error.message : sentence(error) });
  }
}

// A step of a live figure, as JSON; null where the reader's own code has broken what it needs.
function answer({ step, given }) {
  try {
    steps ??= python.pyimport("live_steps");
    return steps.answer(step, given);
  } catch {
    return "null";
  }
}

// Stop, on any host and without shared memory: for each run the page makes a blob URL, and takes it back when the reader
// presses Stop. Python asks `buffer[0]` every few instructions whether a signal has come; now and then the getter fetches
// the URL, and when that fails the answer is 2, an interrupt. Where it fails at once (a page from a disk), nobody asks.
let token = null;
let looked = 0;
let sent = 0; // interrupts

function listen(url) {
  [sent, looked] = [0, performance.now()];
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
      if (now - looked < (sent === 0 ? LOOK : sent === 1 ? HANDLED : AGAIN)) return 0;
      looked = now;
      if (sent === 0 && isThere(token)) return 0;
      sent += 1;
      return 2;
    },
    set 0(_) {},
  });
}
