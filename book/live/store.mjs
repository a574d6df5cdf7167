// What the browser keeps of a reader's work: edited cells by page, and the files that Python wrote (progress, own library).
// Keys begin with a version and with the place of the site, so that two books on one host do not mix.

const VERSION = "attention-derived-live-1";
const SOLVED = "attention-derived-solved"; // of solved.js
const FULL = "The browser's store for this site is full: what you do is kept only until you close the page. Export it under Your work.";
const NONE = "This browser keeps nothing for this site (private mode?): what you do is lost when you close the page. Export it under Your work.";

export class Store {
  constructor(root, complain) {
    this.prefix = `${VERSION}:${root}:`;
    this.complain = complain;
    this.memory = new Map(); // where nothing may be kept
  }

  // Says at once when nothing can be kept: whoever types has to know before.
  look() {
    if (globalThis.nothingIsKept || !localStorageWorks()) this.complain(NONE);
  }

  read(name) {
    if (this.memory.has(name)) return this.memory.get(name);
    try {
      return JSON.parse(localStorage.getItem(this.prefix + name)) ?? {};
    } catch {
      return {};
    }
  }

  write(name, value) {
    const empty = Object.keys(value).length === 0;
    try {
      if (empty) localStorage.removeItem(this.prefix + name);
      else localStorage.setItem(this.prefix + name, JSON.stringify(value));
      this.memory.delete(name);
    } catch (error) {
      this.memory.set(name, value);
      this.complain(error.name === "QuotaExceededError" && localStorageWorks() ? FULL : NONE);
    }
  }

  edits(page) {
    return this.read(`edits:${page}`);
  }

  keepEdit(page, key, text) {
    const edits = this.edits(page);
    if (text === null) delete edits[key];
    else edits[key] = text;
    this.write(`edits:${page}`, edits);
  }

  files() {
    return this.read("files");
  }

  keepFiles(files) {
    this.write("files", files);
  }

  progress() {
    try {
      return JSON.parse(this.files()["progress.json"]).exercises ?? {};
    } catch {
      return {};
    }
  }

  names() {
    let kept = [];
    try {
      kept = Object.keys(localStorage).filter((key) => key.startsWith(this.prefix));
    } catch {}
    return [...new Set([...kept.map((key) => key.slice(this.prefix.length)), ...this.memory.keys()])].sort();
  }

  // Everything as text, for a file of the reader's own.
  exported() {
    const work = Object.fromEntries(this.names().map((name) => [name, this.read(name)]));
    return JSON.stringify({ format: VERSION, work, solved: solvedBoxes() }, null, 1);
  }

  // Puts exported text in the place of what is kept; says in a sentence why not, or "".
  imported(text) {
    let data;
    try {
      data = JSON.parse(text);
    } catch {
      return "That file is not an export of this book: it is not JSON.";
    }
    const isTexts = (value) => value && typeof value === "object" && Object.values(value).every((each) => typeof each === "string");
    const known = ([name, value]) => /^(files|edits:[\w-]+)$/.test(name) && isTexts(value);
    if (data?.format !== VERSION || !data.work || typeof data.work !== "object" || !Object.entries(data.work).every(known)) {
      return "That file is not an export of this book.";
    }
    this.forget();
    for (const [name, value] of Object.entries(data.work)) this.write(name, value);
    if (Array.isArray(data.solved)) keepSolved(data.solved.map(String));
    return "";
  }

  forget() {
    for (const name of this.names()) this.write(name, {});
    this.memory.clear();
  }
}

function localStorageWorks() {
  try {
    return localStorage.length > 0;
  } catch {
    return false;
  }
}

function solvedBoxes() {
  try {
    return JSON.parse(localStorage.getItem(SOLVED)) ?? [];
  } catch {
    return [];
  }
}

function keepSolved(ids) {
  try {
    localStorage.setItem(SOLVED, JSON.stringify(ids));
  } catch {}
}
