// A cell of the page: its code as an editor, its outputs, and a row with Run, Stop and Reset.
// A page shows no numbers of cells, so a message quotes a cell's first line and leads to it.
import { Editor } from "./editor.mjs";
import { button, element, label } from "./element.mjs";

const LONGEST = 40; // letters of a line that is quoted

// `outputs` comes with Python (page.mjs).
export class Cell {
  // hears: {run(cell, next), stop(), edited(cell)}
  constructor(box, number, hears) {
    this.box = box;
    this.number = number;
    this.input = box.querySelector(".cell_input");
    this.exercise = /\btag_exercise-(\w+)/.exec(box.className)?.[1];
    this.own = Boolean(box.closest(".live-scratch"));
    box.id ||= `live-cell-${number}`;
    this.slow = Number(/\btag_slow-(\d+)/.exec(box.className)?.[1] ?? 0);
    this.label = this.exercise ? `the exercise ${this.exercise}` : this.own ? "the cell to try things in" : `cell ${number}`;
    this.editor = new Editor(this.input.querySelector("pre"), `Code of ${this.label}`, {
      edited: () => this.edited(),
      run: (next) => hears.run(this, next),
    });
    this.key = this.exercise ?? hash(this.editor.original);
    const fold = this.input.closest("details");
    this.shown = box.contains(fold) ? fold : this.input; // its outputs stand behind it
    this.hears = hears;
    this.ran = false;
    this.row = this.input.querySelector(".live-row") ?? this.input.appendChild(element("div", "live-row"));
    this.action = button("Run", this.label, () => (this.running ? hears.stop() : hears.run(this)));
    this.reset = button("Reset", this.label, () => this.restore());
    this.undo = button("Undo reset", this.label, () => this.take(this.before));
    this.said = element("span", "live-said");
    this.row.append(this.action, this.reset, this.undo, this.said);
    if (this.exercise) this.badge = this.row.appendChild(element("span", "live-badge"));
    this.show();
  }

  get code() {
    return this.editor.text;
  }

  get changed() {
    return this.editor.edited;
  }

  // Has it run as it stands, without an error?
  get done() {
    return this.ran && this.ranCode === this.code;
  }

  // How a sentence calls it.
  get name() {
    if (this.exercise || this.own) return this.label;
    const lines = this.code.split("\n").map((line) => line.trim());
    const line = lines.find((each) => each && !each.startsWith("#")) ?? lines[0];
    return `the cell “${line.length > LONGEST ? `${line.slice(0, LONGEST - 1).trim()}…` : line}”`;
  }

  link() {
    const made = Object.assign(element("a", "live-link"), { href: `#${this.box.id}`, textContent: this.name });
    made.addEventListener("click", (event) => {
      event.preventDefault(); // to go to the address would take the focus away again
      this.reveal();
    });
    return made;
  }

  reveal() {
    for (let fold = this.input.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    this.box.scrollIntoView({ block: "center" });
    this.editor.box.focus({ preventScroll: true });
  }

  // The text that was kept, if there was one.
  recall(text) {
    if (text !== undefined && text !== this.editor.text) {
      this.editor.text = text;
      this.show();
    }
  }

  edited() {
    this.before = undefined;
    this.show();
    this.hears.edited(this);
  }

  // The book's own code and its stored output. What stood there comes back by Ctrl+Z, as typing does, or by a press.
  restore() {
    const { code } = this;
    this.take(this.editor.original);
    this.outputs?.restore();
    this.ran = false;
    this.state = "";
    this.before = code;
    this.show();
  }

  take(code) {
    this.editor.replace(code);
    this.show();
  }

  // "" or a word or two on how the cell is
  tell(state) {
    this.state = state;
    this.show();
  }

  set busy(busy) {
    this.running = busy;
    this.box.classList.toggle("live-running", busy);
    label(this.action, busy ? "Stop" : "Run", this.label);
  }

  show() {
    this.reset.hidden = !this.changed;
    this.undo.hidden = this.before === undefined;
    const slow = this.slow ? `slow here: about ${howLong(this.slow)}` : "";
    const edited = this.changed && this.ranCode !== undefined && this.ranCode !== this.code ? "edited since it ran" : this.changed ? "edited" : "";
    this.said.textContent = [this.state, edited, slow].filter(Boolean).join(" · ");
  }

  showProgress(entry) {
    if (!this.badge) return;
    const tries = entry?.tries ? `${entry.tries} ${entry.tries === 1 ? "try" : "tries"}` : "";
    const state = { passed: "solved", wrong: "not right yet" }[entry?.state] ?? entry?.state;
    this.badge.textContent = entry?.tries ? `${state}, ${tries}` : "";
    this.badge.classList.toggle("passed", entry?.state === "passed");
  }
}

function howLong(seconds) {
  if (seconds < 50) return `${seconds} seconds`;
  const minutes = Math.round(seconds / 60);
  return minutes === 1 ? "a minute" : `${minutes} minutes`;
}

// FNV-1a, 53 bits of it are more than enough for the cells of a page.
function hash(text) {
  let high = 0x811c9dc5;
  let low = 0x1b873593;
  for (let at = 0; at < text.length; at++) {
    high = Math.imul(high ^ text.charCodeAt(at), 0x01000193);
    low = Math.imul(low ^ text.charCodeAt(at), 0x85ebca6b);
  }
  return (high >>> 0).toString(16).padStart(8, "0") + (low >>> 0).toString(16).padStart(8, "0");
}
