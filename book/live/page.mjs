// Makes the page one that runs: buttons and editors now, Python when the reader asks for it.
import { Cell } from "./cell.mjs";
import { Head } from "./head.mjs";
import { element } from "./element.mjs";
import { later } from "./later.mjs";
import { Store } from "./store.mjs";

const settings = JSON.parse(document.getElementById("live-settings").textContent);
const root = new URL(settings.root, location.href);
settings.folder = new URL(settings.folder, root);
settings.python = new URL(settings.python, root);
settings.siteRoot = root;

const store = new Store(root.pathname, (sentence) => head.tell(sentence));
let session = null; // with the first click
const head = new Head(document.querySelector(".live-head"), settings, {
  runAll: () => run(cells.filter((cell) => !cell.slow && cell !== scratch), null),
  stop,
  restart,
  exported,
  imported,
  forget,
  later: () => later(settings.folder),
});
addScratch(document.querySelector(".live-foot"));
const hears = { run: (cell, next) => run(above(cell), cell, next), stop, edited };
const cells = [...document.querySelectorAll("div.cell:has(.cell_input pre)")].map((box, at) => new Cell(box, at + 1, hears));
const scratch = cells.at(-1);
keysApart();
let going = null; // {stopped} of what is running now

const edits = store.edits(settings.page);
for (const cell of cells) cell.recall(edits[cell.key]);
showProgress();
window.addEventListener("storage", showProgress); // another tab
document.documentElement.classList.add("live");

// Run

// What has to run before a cell: all above that has not run. Slow cells only before another slow one.
function above(cell) {
  const before = cell === scratch ? cells.slice(0, 1) : cells.slice(0, cells.indexOf(cell));
  return before.filter((each) => !each.ran && (!each.slow || cell.slow));
}

// The next cell whose code is not folded.
function after(cell) {
  return cells.slice(cells.indexOf(cell) + 1).find((each) => each.editor.box.checkVisibility());
}

// Runs the cells in order, then `last`; stops at the first error.
async function run(first, last, next = false) {
  if (going) return;
  const mine = (going = { stopped: false });
  const all = last ? [...first, last] : first;
  head.busy = true;
  let count = 0;
  try {
    if (!session?.isReady) for (const cell of all.slice(-1)) cell.tell("Python is starting");
    await begin();
    for (const cell of all) {
      if (mine.stopped) break;
      if (all.length > 1) head.tell(`Running cell ${cell.number} of ${cells.length - 1}`, false);
      const result = await runOne(cell);
      if (result.lost) {
        if (last && cell !== last) notRun(last, result.lost);
        return;
      }
      count += 1;
      if (!result.ok && !mine.stopped && cell !== last) {
        failed(cell, last);
        return;
      }
    }
    finished(mine, all, last, count);
    if (next && !mine.stopped) after(last)?.editor.box.focus();
  } catch (error) {
    head.tell(error.message);
    if (last) notRun(last, error.message);
  } finally {
    for (const cell of all) if (cell.state === "Python is starting") cell.tell("");
    going = null;
    head.busy = false;
  }
}

async function begin() {
  const { Session, Outputs, wake } = await later(settings.folder);
  for (const cell of cells) cell.outputs ??= new Outputs(cell.box, cell.shown);
  session ??= new Session(settings, { progress: showLoading, lost });
  await session.start();
  wake((...step) => session.ask(...step), (sentence) => head.hear(sentence));
}

async function runOne(cell) {
  const place = cells.indexOf(cell);
  const changed = cell.changed ? "own" : cells.slice(0, place).some((each) => each.ran && each.changed) ? "above" : "";
  cell.busy = true;
  cell.outputs.begin(changed);
  cell.tell("running");
  const files = store.files();
  const { code, number } = cell;
  const columns = cell.outputs.columns();
  const result = await session.run({ code, number, columns }, JSON.stringify(files), (...what) => cell.outputs.happened(...what));
  cell.busy = false;
  if (result.lost) {
    cell.outputs.note(result.lost);
    cell.tell("stopped");
    return result;
  }
  cell.outputs.end();
  cell.ran = true;
  cell.ranCode = code;
  cell.tell(result.ok ? `ran in ${result.seconds < 10 ? result.seconds.toFixed(1) : Math.round(result.seconds)} s` : "ended with an error");
  const kept = JSON.parse(result.files);
  if (JSON.stringify(kept) !== JSON.stringify(files)) store.keepFiles(kept);
  showProgress();
  return result;
}

function failed(cell, last) {
  const sentence = `Cell ${cell.number} ended with an error, so ${last ? `cell ${last.number} was` : "the cells below were"} not run.`;
  head.tell(sentence);
  if (last) notRun(last, sentence);
}

function notRun(cell, sentence) {
  cell.outputs?.begin("");
  cell.outputs?.note(sentence);
  cell.outputs?.end();
  cell.tell("not run");
}

function finished(mine, all, last, count) {
  if (mine.stopped) head.tell(`Stopped after ${count} ${count === 1 ? "cell" : "cells"}. What the cells had computed is kept.`);
  else if (last) {
    head.tell("Python is ready", false);
    head.hear(last.outputs.aloud(last.exercise) || `Cell ${last.number} ran; it prints nothing.`);
  } else {
    const slow = cells.filter((cell) => cell.slow && !cell.ran);
    const left = slow.length ? ` Left out because it is slow: cell ${slow.map((cell) => cell.number).join(", ")}.` : "";
    head.tell(`All ${count} cells ran.${left}`);
  }
}

function stop() {
  if (!going) return;
  going.stopped = true;
  session.stop();
}

// All that Python knew is gone: no cell has run.
function lost(sentence) {
  for (const cell of cells) {
    if (cell.ran) cell.tell("");
    cell.ran = false;
  }
  head.tell(sentence);
}

function restart() {
  going && (going.stopped = true);
  if (!session) head.tell("Python has not been started.");
  session?.lose("Python was started anew: no cell has run. What you typed is as it was.");
}

// What is kept

// Cells of the same text on one page are told apart by their order.
function keysApart() {
  const seen = new Map();
  for (const cell of cells) {
    const count = (seen.get(cell.key) ?? 0) + 1;
    seen.set(cell.key, count);
    if (count > 1) cell.key += `-${count}`;
  }
}

function edited(cell) {
  if (cell !== scratch) store.keepEdit(settings.page, cell.key, cell.changed ? cell.code : null);
}

function showProgress() {
  const progress = store.progress();
  for (const cell of cells) {
    if (!cell.exercise) continue;
    const entry = progress[cell.exercise];
    cell.showProgress(entry);
    const passed = entry?.state === "passed";
    const box = document.querySelector(`input[data-exercise="${cell.exercise}"]`);
    if (passed && cell.passed === false && box && !box.checked) box.click(); // just now; later it is the reader's own
    cell.passed = passed;
  }
}

function exported() {
  const link = element("a");
  link.href = URL.createObjectURL(new Blob([store.exported()], { type: "application/json" }));
  link.download = "attention-derived-my-work.json";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  head.tell("Your work is exported as attention-derived-my-work.json.");
}

function imported(text) {
  const trouble = store.imported(text);
  if (trouble) head.tell(trouble);
  else location.reload();
}

function forget() {
  store.forget();
  location.reload();
}

// Things around

function showLoading(bytes) {
  if (!going) return;
  head.size.remove();
  head.tell(`${settings.offline ? "Reading" : "Fetching"} Python: ${Math.round(bytes / 1e6)} of ${settings.megabytes} MB`, false);
}

// A cell of the reader's own at the end of the page.
function addScratch(place) {
  const title = "A cell to try things in";
  const input = '<div class="highlight-python notranslate"><div class="highlight"><pre></pre></div></div>';
  place.innerHTML = `<details class="live-scratch"><summary>${title}</summary><div class="cell docutils container"><div class="cell_input docutils container">${input}</div></div></details>`;
  place.querySelector("pre").textContent = 'from attnexercises import progress\n\nprogress()\n';
}
