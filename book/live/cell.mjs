// A cell of the page: its code as an editor, its outputs, and a row with Run, Stop and Reset.
import { Editor } from "./editor.mjs";
import { button, element, label } from "./element.mjs";

// `outputs` comes with Python (page.mjs).
export class Cell {
  // hears: {run(cell, next), stop(), edited(cell)}
  constructor(box, number, hears) {
    this.box = box;
    this.number = number;
    this.input = box.querySelector(".cell_input");
    this.exercise = /\btag_exercise-(\w+)/.exec(box.className)?.[1];
    this.slow = Number(/\btag_slow-(\d+)/.exec(box.className)?.[1] ?? 0);
    const name = this.exercise ? `Code of the exercise ${this.exercise}` : `Code of cell ${number}`;
    this.editor = new Editor(this.input.querySelector("pre"), name, {
      edited: () => this.edited(),
      run: (next) => hears.run(this, next),
    });
    this.key = this.exercise ?? hash(this.editor.original);
    const fold = this.input.closest("details");
    this.shown = box.contains(fold) ? fold : this.input; // its outputs stand behind it
    this.hears = hears;
    this.ran = false;
    this.row = this.input.querySelector(".live-row") ?? this.input.appendChild(element("div", "live-row"));
    this.action = button("Run", `cell ${number}`, () => (this.running ? hears.stop() : hears.run(this)));
    this.reset = button("Reset", `cell ${number}`, () => this.restore());
    this.said = element("span", "live-said");
    this.row.append(this.action, this.reset, this.said);
    if (this.exercise) this.badge = this.row.appendChild(element("span", "live-badge"));
    this.show();
  }

  get code() {
    return this.editor.text;
  }

  get changed() {
    return this.editor.edited;
  }

  // The text that was kept, if there was one.
  recall(text) {
    if (text !== undefined && text !== this.editor.text) {
      this.editor.text = text;
      this.show();
    }
  }

  edited() {
    this.show();
    this.hears.edited(this);
  }

  // The book's own code and its stored output.
  restore() {
    this.editor.text = this.editor.original;
    this.outputs?.restore();
    this.ran = false;
    this.state = "";
    this.edited();
    this.editor.box.focus();
  }

  // "" or a word or two on how the cell is
  tell(state) {
    this.state = state;
    this.show();
  }

  set busy(busy) {
    this.running = busy;
    this.box.classList.toggle("live-running", busy);
    label(this.action, busy ? "Stop" : "Run", `cell ${this.number}`);
  }

  show() {
    this.reset.hidden = !this.changed;
    const slow = this.slow ? `slow here: about ${howLong(this.slow)}` : "";
    const edited = this.changed && this.ran && this.ranCode !== this.code ? "edited since it ran" : this.changed ? "edited" : "";
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
