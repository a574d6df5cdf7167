// The line under the title: the one button for the whole page, what Python is doing, and the reader's own work.
import { button, element, plain, put } from "./element.mjs";

const KEYS = "Ctrl+Enter runs the cell, Shift+Enter runs it and goes to the next. Tab indents; press Escape, then Tab, to leave.";

export class Head {
  // does: {runAll(), stop(), restart(), exported(), imported(text), libraryAsked(), libraryGiven(text), forget(), later()}
  constructor(place, settings, does) {
    this.does = does;
    this.all = button("Run this page", "", () => (this.running ? does.stop() : does.runAll()));
    this.size = element("span", "live-size");
    this.size.textContent = settings.offline ? "Python, from this folder" : `Python, ${settings.megabytes} MB once`;
    this.said = element("span", "live-said");
    this.words = this.said.appendChild(element("span"));
    this.time = this.said.appendChild(element("span", "live-time"));
    this.warning = element("p", "live-warning");
    this.warning.hidden = true;
    this.live = element("div", "visually-hidden");
    this.live.setAttribute("role", "status");
    this.live.id = "live-status";
    place.append(this.all, this.size, this.said, this.work(settings), this.warning, this.live);
  }

  // A sentence, or a list of texts and cells. What screen readers hear; the same sentence twice is heard twice.
  tell(sentence, aloud = true) {
    clearInterval(this.clock);
    this.time.textContent = this.goesOn = "";
    put(this.words, sentence);
    if (aloud) this.hear(plain(sentence));
  }

  // What goes on now, with the seconds since it began.
  going(sentence) {
    if (plain(sentence) === this.goesOn) return;
    this.tell(sentence, false);
    this.goesOn = plain(sentence);
    const began = performance.now();
    this.clock = setInterval(() => (this.time.textContent = `, ${Math.round((performance.now() - began) / 1000)} s`), 1000);
  }

  // Stays, whatever is told later.
  warn(sentence) {
    if (this.warning.textContent === sentence) return;
    this.warning.textContent = sentence;
    this.warning.hidden = false;
    this.hear(sentence);
  }

  hear(sentence) {
    this.live.textContent = this.live.textContent === sentence ? `${sentence}\u00a0` : sentence;
  }

  set busy(busy) {
    this.running = busy;
    this.all.textContent = busy ? "Stop" : "Run this page";
    if (busy) this.size.remove();
  }

  work(settings) {
    const box = element("details", "live-work", "<summary>Your work</summary>");
    const words = element("p");
    words.textContent =
      "What you type, your progress and your my_attention.py stay in this browser, for all chapters. Nothing is sent anywhere.";
    const file = chosen("An exported file", ".json,application/json", (text) => this.does.imported(text));
    const library = chosen("A my_attention.py", ".py,text/x-python", (text) => this.does.libraryGiven(text));
    const forget = button("Reset everything", "", () => this.ask(sure));
    const sure = element("span", "live-sure");
    sure.hidden = true;
    sure.append(
      "All edits and all progress, of every chapter? ",
      button("Yes, forget it", "", () => this.does.forget()),
      button("No", "", () => {
        sure.hidden = true;
        forget.focus();
      }),
    );
    const row = element("div", "live-buttons");
    row.append(
      button("Export", "", () => this.does.exported()),
      button("Import", "", () => file.click()),
      button("Download my_attention.py", "", () => this.does.libraryAsked()),
      button("Upload my_attention.py", "", () => library.click()),
      button("Restart Python", "", () => this.does.restart()),
      forget,
      sure,
      file,
      library,
    );
    const keys = element("p");
    keys.textContent = KEYS;
    keys.id = "live-keys";
    const versions = element("p");
    const more = Object.assign(element("a"), { href: new URL("chapters/running.html", settings.siteRoot).href });
    more.textContent = "What these pages run";
    versions.append(more, `: ${settings.versions}.`);
    box.append(words, row, keys, versions);
    if (!settings.offline && location.protocol !== "file:") {
      box.addEventListener("toggle", () => box.open && this.showKeep(box, settings)); // asks the network for the size only then
    }
    return box;
  }

  async showKeep(box, settings) {
    try {
      const { Keep } = await this.does.later();
      this.keep ??= new Keep(settings.siteRoot, (...said) => this.tell(...said));
      await this.keep.show();
      box.append(this.keep.box); // with its words: if they came later, its button would move away under the pointer
    } catch (error) {
      this.tell(error.message);
    }
  }

  ask(sure) {
    sure.hidden = false;
    sure.querySelector("button").focus();
  }
}

// A hidden field for one file, whose text is handed on.
function chosen(name, accept, take) {
  const file = Object.assign(element("input"), { type: "file", accept, hidden: true });
  file.setAttribute("aria-label", name);
  file.addEventListener("change", async () => {
    if (file.files[0]) take(await file.files[0].text());
    file.value = "";
  });
  return file;
}
