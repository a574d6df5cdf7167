// What a cell printed and showed, put into the page in the form in which the stored outputs stand there.
import { coloured } from "./colours.mjs";
import { element, put } from "./element.mjs";

const OWN = "Drawn by your changed code.";
const ABOVE = "Drawn after code above was changed.";

export class Outputs {
  // input: the element behind which the outputs belong, if the page has none stored
  constructor(cell, input) {
    this.place = cell.querySelector(".cell_output");
    if (!this.place) {
      this.place = element("div", "cell_output docutils container live-new");
      input.after(this.place);
      this.place.hidden = true;
    }
    this.stored = [...this.place.childNodes];
    this.figure = this.place.querySelector("figure:not(.stepped, .tap)");
    this.image = this.figure?.querySelector("img");
    this.before = this.image && { src: this.image.src, alt: this.image.alt, width: this.image.width };
    this.addresses = [];
  }

  // Begins anew; `changed` is "own", "above" or "". What is shown stays until there is something else.
  begin(changed) {
    this.changed = changed;
    this.cleared = false;
    this.waits = false;
  }

  clear() {
    if (this.cleared) return;
    this.cleared = true;
    this.last = null;
    this.drawn = 0;
    this.place.replaceChildren();
    this.place.hidden = false;
    this.release();
  }

  // No more comes.
  end() {
    this.clear();
    this.place.hidden = this.place.childNodes.length === 0;
  }

  // As the page was made.
  restore() {
    this.release();
    if (this.image) {
      Object.assign(this.image, { src: this.before.src, alt: this.before.alt });
      this.figure.querySelector(".live-changed")?.remove();
    }
    this.place.replaceChildren(...this.stored);
    this.place.hidden = this.place.classList.contains("live-new");
  }

  release() {
    for (const address of this.addresses) URL.revokeObjectURL(address);
    this.addresses = [];
  }

  happened(kind, content) {
    const said = JSON.parse(content);
    if (kind === "clear" && said.wait) {
      this.waits = this.cleared; // else what is shown is from an earlier run, and goes in any case
      return;
    }
    if (this.waits || kind === "clear") this.cleared = false;
    this.waits = false;
    this.clear();
    if (kind === "text") this.text(said.text, said.name);
    else if (kind === "data") this.data(said);
    else if (kind === "error") this.add(printed(said.text, "live-error"));
    else if (kind === "cut") this.note("The output is too long to show: the rest is left out.");
  }

  text(text, name) {
    if (this.last?.name !== name) {
      const box = printed("", "stream");
      this.add(box);
      const [done, line] = [new Text(), new Text()];
      box.querySelector("pre").append(done, line);
      this.last = { name, done, line, raw: "" };
    }
    // A carriage return goes back to the start of its line, as in a terminal: what comes next is written over it.
    const { last } = this;
    const lines = (last.raw + text).split("\n");
    last.raw = lines.pop();
    last.done.appendData(lines.map((line) => `${overwritten(line)}\n`).join(""));
    last.line.data = overwritten(last.raw);
  }

  data(data) {
    if ("image/svg+xml" in data) this.picture(data["image/svg+xml"]);
    else if ("text/html" in data) this.add(element("div", "output text_html", data["text/html"]));
    else if ("text/markdown" in data) this.markdown(data["text/markdown"]);
    else this.add(printed(data["text/plain"] + "\n", "text_plain"));
  }

  picture(svg) {
    // The dark scheme turns pictures round whose address ends like this.
    const address = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
    this.addresses.push(address);
    const said = { own: OWN, above: ABOVE }[this.changed] ?? "";
    const first = this.drawn++ === 0 && this.image;
    const figure = first ? this.figure : element("figure", "align-default");
    const image = first ? this.image : figure.appendChild(element("img"));
    const alt = first ? this.before.alt : "A figure that this cell has drawn.";
    const size = /<svg\b[^>]*\swidth="([\d.]+)pt"\s+height="([\d.]+)pt"/.exec(svg);
    if (size) [image.width, image.height] = [1, 2].map((side) => Math.round((size[side] * 4) / 3));
    Object.assign(image, { alt: said ? `${said} Before: ${alt}` : alt, src: `${address}#.svg` });
    figure.querySelector(".live-changed")?.remove();
    if (said) {
      const caption = figure.querySelector("figcaption") ?? figure.appendChild(element("figcaption"));
      const note = element("p", "live-changed");
      note.textContent = said;
      caption.append(note);
    }
    this.add(figure);
  }

  // Code between fences (three times the sign 60), and paragraphs: more the course's cells do not show.
  markdown(text) {
    for (const [, , code, words] of text.matchAll(/(\x60{3}\w*\n([^]*?)\x60{3})|((?:(?!\x60{3})[^])+)/g)) {
      if (code !== undefined) {
        const box = element("div", "highlight-python notranslate", '<div class="highlight"><pre></pre></div>');
        box.querySelector("pre").innerHTML = coloured(code);
        this.add(box);
      } else if (words.trim()) {
        const paragraph = element("p");
        paragraph.textContent = words.trim();
        this.add(paragraph);
      }
    }
  }

  // A sentence, or a list of texts and cells.
  note(sentence) {
    this.clear();
    const note = element("p", "live-note");
    put(note, sentence);
    this.add(note);
    return note;
  }

  add(box) {
    this.last = null;
    this.place.append(box);
  }

  // How many letters a printed line has room for; 0 where the cell is folded away.
  columns() {
    const { hidden } = this.place;
    this.place.hidden = false;
    const box = printed("", "stream");
    this.place.append(box);
    const pre = box.querySelector("pre");
    const letters = pre.appendChild(element("span"));
    letters.textContent = "0".repeat(10);
    const { paddingLeft, paddingRight } = getComputedStyle(pre);
    const room = pre.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight);
    const columns = Math.floor((10 * room) / letters.getBoundingClientRect().width) || 0;
    box.remove();
    this.place.hidden = hidden;
    return Math.max(0, columns);
  }

  // What is said aloud: a verdict whole, as far as its first output goes, of anything else the first line.
  aloud(isVerdict) {
    if (isVerdict) return (this.place.firstElementChild?.innerText ?? "").trim().replace(/\s+/g, " ").slice(0, 500);
    return this.place.innerText.trim().split("\n")[0].slice(0, 300);
  }
}

function printed(text, kind) {
  const box = element("div", `output ${kind} highlight-myst-ansi notranslate`, '<div class="highlight"><pre></pre></div>');
  box.querySelector("pre").textContent = text;
  return box;
}

function overwritten(line) {
  return line.split("\r").reduce((under, part) => part + under.slice(part.length));
}
