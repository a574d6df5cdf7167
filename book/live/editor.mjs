// A text box over the coloured code of a cell: the reader types in the one and sees the other. Undo is the browser's own.
import { coloured } from "./colours.mjs";

const INDENT = "    ";

export class Editor {
  // hears: {edited(), run(next)}
  constructor(pre, label, hears) {
    this.pre = pre;
    this.hears = hears;
    this.original = pre.textContent.replace(/\n$/, "");
    this.painted = pre.innerHTML;
    const box = (this.box = document.createElement("textarea"));
    Object.assign(box, { className: "live-code", value: this.original, spellcheck: false, autocomplete: "off" });
    for (const [name, value] of [["aria-label", label], ["autocapitalize", "off"], ["autocorrect", "off"], ["wrap", "soft"]]) {
      box.setAttribute(name, value);
    }
    box.setAttribute("aria-describedby", "live-keys");
    pre.setAttribute("aria-hidden", "true");
    pre.removeAttribute("tabindex");
    pre.after(box);
    pre.parentElement.classList.add("live-editor");
    box.addEventListener("input", () => this.changed());
    box.addEventListener("keydown", (event) => this.key(event));
    // The larger letters of a phone stay: if they went when a button is touched, the button would move away.
    box.addEventListener("focus", () => pre.parentElement.classList.add("live-typed"));
    box.addEventListener("blur", () => (this.leaving = false));
  }

  get text() {
    return this.box.value;
  }

  set text(text) {
    this.box.value = text;
    this.paint();
  }

  // Typed by hand, as it were, so that undo brings back what stood there.
  replace(text) {
    this.box.focus();
    this.box.setSelectionRange(0, this.text.length);
    insert(text);
    if (this.text !== text) {
      this.text = text;
      this.hears.edited();
    }
  }

  get edited() {
    return this.text !== this.original;
  }

  changed() {
    this.paint();
    this.hears.edited();
  }

  paint() {
    // A last line that is empty has no height in a `pre`.
    this.pre.innerHTML = this.edited ? coloured(this.text) + (/\n$|^$/.test(this.text) ? "\n " : "\n") : this.painted;
  }

  key(event) {
    const { key, shiftKey } = event;
    const leaving = this.leaving;
    this.leaving = key === "Escape" || (leaving && key === "Shift"); // then Tab leaves, as in a form
    if (event.isComposing || event.altKey) return;
    if (key === "Enter" && (event.ctrlKey || event.metaKey || shiftKey)) {
      event.preventDefault();
      this.hears.run(shiftKey);
    } else if (key === "Tab" && !leaving && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      this.indent(shiftKey);
    } else if (key === "Enter") {
      event.preventDefault();
      this.newLine();
    } else if (key === "Backspace" && this.atIndent()) {
      event.preventDefault();
      this.box.setSelectionRange(this.box.selectionStart - INDENT.length, this.box.selectionStart);
      insert("");
    }
  }

  lineStart(place) {
    return this.text.lastIndexOf("\n", place - 1) + 1;
  }

  newLine() {
    const place = this.box.selectionStart;
    const before = this.text.slice(this.lineStart(place), place);
    const deeper = /:\s*(#.*)?$/.test(before) ? INDENT : "";
    insert("\n" + before.match(/^[ \t]*/)[0] + deeper);
  }

  // Is there nothing before the caret but whole steps of indentation?
  atIndent() {
    const { selectionStart: place, selectionEnd } = this.box;
    const before = this.text.slice(this.lineStart(place), place);
    return place === selectionEnd && /^ +$/.test(before) && before.length % INDENT.length === 0;
  }

  indent(less) {
    const { box } = this;
    const { selectionStart: from, selectionEnd: to } = box;
    if (from === to && !less) {
      insert(" ".repeat(INDENT.length - ((from - this.lineStart(from)) % INDENT.length)));
      return;
    }
    const start = this.lineStart(from);
    const old = this.text.slice(start, to);
    const lines = old.replace(/^.*$/gm, (line) => (less ? line.replace(/^ {1,4}/, "") : line && INDENT + line));
    if (lines === old) return;
    box.setSelectionRange(start, to);
    insert(lines);
    box.setSelectionRange(from === to ? Math.max(start, from + lines.length - old.length) : start, start + lines.length);
  }
}

// Types at the caret, so that undo knows of it.
function insert(text) {
  document.execCommand(text ? "insertText" : "delete", false, text);
}
