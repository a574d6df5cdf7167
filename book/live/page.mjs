// Makes the page one that runs: buttons and editors now, Python when the reader asks for it.
import { Cell } from "./cell.mjs";
import { Head } from "./head.mjs";
import { element } from "./element.mjs";
import { guard } from "./solutions.mjs";
import { later } from "./later.mjs";
import { Store } from "./store.mjs";

const settings = JSON.parse(document.getElementById("live-settings").textContent);
const root = new URL(settings.root, location.href);
settings.folder = new URL(settings.folder, root);
settings.python = new URL(settings.python, root);
settings.siteRoot = root;

const store = new Store(root.pathname, (sentence) => head.warn(sentence));
let session, model; // with the first click
const head = new Head(document.querySelector(".live-head"), settings, {
  runAll: () => run(cells.filter((cell) => !cell.slow && cell !== scratch && (!opens(cell) || settings.model.files)), null),
  stop,
  restart,
  exported,
  imported,
  libraryAsked,
  libraryGiven,
  forget,
  later: () => later(settings.folder),
});
addScratch(document.querySelector(".live-foot"));
const hears = { run: (cell, next) => run(above(cell), cell, next), stop, edited };
const cells = [...document.querySelectorAll("div.cell:has(.cell_input pre)")].map((box, at) => new Cell(box, at + 1, hears));
const scratch = cells.at(-1);
keysApart();
let going = null; // {stopped, halt(), now} of what is running now
const LIBRARY = "my_attention.py";

const edits = store.edits(settings.page);
for (const cell of cells) cell.recall(edits[cell.key]);
showProgress();
guard((id) => Boolean(store.progress()[id]?.tries));
store.look();
window.addEventListener("storage", showProgress); // another tab
document.documentElement.classList.add("live");

// Run

// Does it need the trained model, or what such a cell has made?
function opens(cell) {
  return settings.model?.cells.includes(cell.number);
}

// What has to run before a cell: all above that has not run as it stands. Slow cells only before another slow one, and
// those that need the trained model before another such one.
function above(cell) {
  const before = cell === scratch ? cells.slice(0, 1) : cells.slice(0, cells.indexOf(cell));
  return before.filter((each) => !each.done && (!each.slow || cell.slow) && (!opens(each) || opens(cell)));
}

// The next cell whose code is not folded.
function after(cell) {
  return cells.slice(cells.indexOf(cell) + 1).find((each) => each.editor.box.checkVisibility());
}

// Runs the cells in order, then `last`; stops at the first error.
async function run(first, last, next = false) {
  if (going) return;
  const mine = (going = { stopped: false });
  const halted = new Promise((resolve) => (mine.halt = resolve));
  const all = last ? [...first, last] : first;
  head.busy = true;
  let count = 0;
  try {
    if (!session?.isReady) {
      for (const cell of all.slice(-1)) cell.tell("waits for Python");
      head.going("Starting Python");
    }
    await Promise.race([begin(), halted]);
    for (const cell of all) {
      if (mine.stopped) break;
      const wrong = await Promise.race([model.bring(cell, last), halted]);
      if (mine.stopped) break;
      if (wrong) {
        (last ?? cell).tell("not run");
        head.tell(wrong);
        return;
      }
      mine.now = all.length > 1 ? [`Running ${count + 1} of ${all.length}: `, cell] : ["Running ", cell];
      head.going(mine.now);
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
    finished(mine, last, count);
    if (next && !mine.stopped) after(last)?.editor.box.focus();
  } catch (error) {
    head.tell(error.message);
    if (last) notRun(last, error.message);
  } finally {
    for (const cell of all) if (/^waits/.test(cell.state)) cell.tell("");
    going = null;
    head.busy = false;
  }
}

async function begin() {
  const { Session, Model, Outputs, wake } = await later(settings.folder);
  for (const cell of cells) cell.outputs ??= new Outputs(cell.box, cell.shown);
  session ??= new Session(settings, { progress: showLoading, lost });
  model ??= new Model(settings, session, head);
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
  const result = await session.run({ code, number, columns, exercise: cell.exercise ?? "" }, JSON.stringify(files), (...what) => cell.outputs.happened(...what));
  cell.busy = false;
  if (result.lost) {
    cell.outputs.note(result.lost);
    cell.tell("stopped");
    return result;
  }
  cell.outputs.end();
  cell.ran = result.ok;
  cell.ranCode = code;
  cell.tell(result.ok ? `ran in ${result.seconds < 10 ? result.seconds.toFixed(1) : Math.round(result.seconds)} s` : "ended with an error");
  const kept = JSON.parse(result.files);
  if (JSON.stringify(kept) !== JSON.stringify(files)) store.keepFiles(kept);
  showProgress();
  return result;
}

function failed(cell, last) {
  const sentence = ["An error ended ", cell, ", so ", ...(last ? [last, " was"] : ["the cells below were"]), " not run."];
  head.tell(sentence);
  if (last) notRun(last, sentence);
}

function notRun(cell, sentence) {
  cell.outputs?.begin("");
  cell.outputs?.note(sentence);
  cell.outputs?.end();
  cell.tell("not run");
}

function finished(mine, last, count) {
  if (mine.stopped && !session.isReady) head.tell("Stopped. Python goes on starting, for the next run.");
  else if (mine.stopped) head.tell(`Stopped after ${count} ${count === 1 ? "cell" : "cells"}. What the cells had computed is kept.`);
  else if (last) {
    head.tell("Python is ready", false);
    head.hear(last.outputs.aloud(last.exercise) || `${last.label} ran; it prints nothing.`);
  } else {
    const slow = cells.filter((cell) => cell.slow && !cell.done);
    const left = slow.length ? [" Left out because it is slow: ", ...slow.flatMap((cell, at) => (at ? [", ", cell] : [cell])), "."] : [];
    if (settings.model && !settings.model.files) left.push(" Left out are those that need the trained model.");
    head.tell([`All ${count} cells ran.`, ...left]);
  }
}

function stop() {
  if (!going) return;
  going.stopped = true;
  going.halt();
  model?.leave();
  head.going("Stopping");
  session?.stop();
}

// All that Python knew is gone: no cell has run.
function lost(sentence) {
  for (const cell of cells) {
    if (cell.state) cell.tell("");
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
  save(store.exported(), "attention-derived-my-work.json", "application/json");
  head.tell("Your work is exported as attention-derived-my-work.json.");
}

function save(text, name, type) {
  const link = Object.assign(element("a"), { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

function libraryAsked() {
  const text = store.files()[LIBRARY];
  if (text === undefined) head.tell(`There is no ${LIBRARY} yet: save("softmax"), for instance, puts an answer that passed into it.`);
  else {
    save(text, LIBRARY, "text/x-python");
    head.tell(`${LIBRARY} is downloaded.`);
  }
}

// It takes the place of the file that was there, which is handed out first: nothing is lost by a wrong file.
function libraryGiven(text) {
  const files = store.files();
  if (files[LIBRARY] !== undefined && files[LIBRARY] !== text) save(files[LIBRARY], LIBRARY.replace(".py", "_before.py"), "text/x-python");
  store.keepFiles({ ...files, [LIBRARY]: text });
  head.tell(`${LIBRARY} is uploaded: the next cell that you run can import it.`);
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

// What comes after Python has begun is Matplotlib, with the first cell that draws.
function showLoading({ loaded, wanted }) {
  if (!going || going.stopped) return;
  head.size.remove();
  const what = session.isReady ? "Matplotlib" : "Python";
  const megabytes = (bytes) => Math.round(bytes / 1e6);
  if (loaded < wanted) head.tell(`${settings.offline ? "Reading" : "Fetching"} ${what}: ${megabytes(loaded)} of ${megabytes(wanted)} MB`, false);
  else head.going(session.isReady ? going.now : "Starting Python");
}

// A cell of the reader's own, one press away from any place of the page.
function addScratch(place) {
  const input = '<div class="highlight-python notranslate"><div class="highlight"><pre></pre></div></div>';
  place.innerHTML = `<details class="live-scratch"><summary>Try things</summary><div class="cell docutils container"><div class="cell_input docutils container">${input}</div></div></details>`;
  place.querySelector("pre").textContent = 'from attnexercises import progress\n\nprogress()\n';
  const box = place.firstChild;
  box.addEventListener("toggle", () => box.open && box.querySelector("textarea").focus({ preventScroll: true }));
  box.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || event.target.matches("textarea")) return; // there Escape lets Tab leave
    box.open = false;
    box.firstChild.focus();
  });
}
