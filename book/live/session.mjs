// The page's side of Python: one worker, one cell at a time. A worker that does not stop when asked is ended.

import { source } from "./offline.mjs";

const ASKED = "The list of Python's files cannot be fetched. Check the network and press Run again.";
const TAKEN = "The file offline.js is missing or broken: unpack the whole zip file again.";
const PATIENCE = 1500; // milliseconds that a cell has to end after Stop
const GRACE = 5000; // milliseconds that an answer has beyond its limit: only one compiled call can take longer

export class Session {
  // hears: {progress({loaded, wanted}), lost(sentence)}; `lost` when all that Python knew is gone
  constructor(settings, hears) {
    this.settings = settings;
    this.hears = hears;
    this.worker = null;
    this.waiting = null;
    this.asked = []; // who waits for a step of a figure, in order
  }

  // Begins Python unless it runs; resolves when it is ready, rejects with a sentence.
  start() {
    this.ready ??= this.begin().catch((error) => {
      this.end();
      throw error;
    });
    return this.ready;
  }

  async begin() {
    if (typeof WebAssembly !== "object") throw new Error("This browser has no WebAssembly, so Python cannot run in it.");
    let from;
    try {
      from = await source(this.settings);
    } catch {
      throw new Error(this.settings.offline ? TAKEN : ASKED);
    }
    const { listed, places, worker } = from;
    const made = (this.worker = worker());
    // What an ended worker has said before it ended may still arrive, and is not for the next one.
    const mine = () => this.worker === made;
    return new Promise((resolve, reject) => {
      this.answered = { ready: resolve, fault: (said) => reject(new Error(said)) };
      made.onmessage = ({ data }) => mine() && this.hear(data);
      made.onerror = (event) => {
        event.preventDefault();
        if (mine()) this.hear({ fault: event.message ? `Python stopped: ${event.message}` : "Python's worker cannot be fetched." });
      };
      this.worker.postMessage({ start: { places, listed, engine: this.engine } });
    });
  }

  hear(data) {
    if (data.engine) this.engine = data.engine;
    if (data.progress) this.hears.progress(data.progress);
    if (data.ready) {
      this.isReady = true;
      this.answered.ready();
    }
    if (data.happened?.[0] === "limit") this.limit(JSON.parse(data.happened[1]).seconds);
    else if (data.happened) this.waiting?.happened(...data.happened);
    if (data.done) this.settle(data.done);
    if ("answer" in data) this.asked.shift()?.(JSON.parse(data.answer));
    if (data.model) this.modelTold(data.model);
    if (data.fault) {
      this.answered.fault(data.fault);
      if (this.waiting) this.lose(`${data.fault} It is started anew; what you typed is as it was.`);
    }
  }

  // Runs one cell; resolves with {ok, files, seconds}, or with {lost: sentence}.
  async run({ code, number, columns, exercise }, files, happened) {
    await this.start();
    // From a disk no worker may fetch it, and Python is ended and begun anew.
    const token = location.protocol === "file:" ? null : URL.createObjectURL(new Blob([""], { type: "text/plain" }));
    return new Promise((resolve) => {
      this.waiting = { resolve, happened, token };
      this.worker.postMessage({ run: { code, number, columns, exercise, files, token } });
    });
  }

  // A step of a live figure: resolves with what the library computes, or with null where it cannot.
  async ask(step, given) {
    try {
      await this.start();
    } catch {
      return null;
    }
    return new Promise((resolve) => {
      this.asked.push(resolve);
      this.worker.postMessage({ ask: { step, given: JSON.stringify(given) } });
    });
  }

  // Puts a trained model where Python looks for it; resolves with "" when it is there, else with a sentence.
  model(wanted, heard) {
    return new Promise((resolve) => {
      this.modelled = { resolve, heard, number: (this.modelled?.number ?? 0) + 1 };
      this.worker.postMessage({ model: { ...wanted, number: this.modelled.number } });
    });
  }

  modelTold(said) {
    if (said.done) this.hasModel = true;
    if (said.number !== this.modelled.number) return; // of one that was left
    if (said.done || said.fault) this.modelled.resolve(said.fault ?? "");
    else this.modelled.heard(said);
  }

  // What comes out of a script in the place of the network, {name: bytes}.
  take(files) {
    this.worker.postMessage({ taken: files });
  }

  leaveModel() {
    this.worker?.postMessage({ leave: true });
  }

  // An answer computes from now on for at most so many seconds; 0: it has ended. Python ends a loop by itself, but it
  // cannot look at the clock within one compiled call, such as sum(iter(int, 1)): then it is ended from here.
  limit(seconds) {
    clearTimeout(this.limited);
    if (!seconds || !this.waiting) return;
    const said = `The answer was still running after ${seconds} seconds, inside one call that Python cannot stop (such as sum(iter(int, 1))). `;
    this.limited = setTimeout(() => this.lose(`${said}So Python was started anew. What you typed is as it was.`), 1000 * seconds + GRACE);
  }

  settle(result) {
    clearTimeout(this.limited);
    if (!this.waiting) return;
    const { resolve, token } = this.waiting;
    this.waiting = null;
    clearTimeout(this.patience);
    URL.revokeObjectURL(token);
    resolve(result);
  }

  stop() {
    if (!this.waiting) return;
    URL.revokeObjectURL(this.waiting.token);
    clearTimeout(this.patience);
    this.patience = setTimeout(
      () => this.lose("The cell did not stop, so Python was started anew. What you typed is as it was."),
      PATIENCE,
    );
  }

  // Ends Python and begins it anew at once, so that it is there when the reader runs the next cell.
  lose(sentence) {
    this.end();
    this.settle({ lost: sentence });
    this.hears.lost(sentence);
    this.start().catch(() => {});
  }

  end() {
    this.answered?.fault("Python was started anew.");
    this.modelled?.resolve("Python was started anew.");
    this.worker?.terminate();
    for (const resolve of this.asked.splice(0)) resolve(null);
    this.worker = null;
    this.ready = undefined;
    this.isReady = this.hasModel = false;
  }
}
