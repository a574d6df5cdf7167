// The trained model that a chapter opens: the page asks for it when a cell needs it, and puts it where Python looks for it.
import { button, element, plain, put } from "./element.mjs";
import { bytes } from "./offline.mjs";
import { run } from "./script.mjs";

const HAD = "attention-derived-model"; // the parts that this browser has fetched; whether it still keeps them is its own affair
const LOADED = "The trained model is loaded. Your browser keeps it for the next visit, unless it keeps nothing of this site.";
const READ = "The trained model is loaded.";
const TAKEN = "The file offline-model.js is missing or broken: unpack the whole zip file again.";

export class Model {
  // settings.model: {needs, cells, folder, files: {name: [[address, bytes, SHA-256] of each part]}}, without `files`
  // on a site that was built without the model, and undefined on a page that needs none
  constructor(settings, session, head) {
    this.settings = settings;
    this.given = settings.model;
    this.session = session;
    this.head = head;
    this.had = new Set(remembered());
    this.box = element("p", "live-ask");
  }

  // Resolves with "" if the cell can run, and with a sentence if it cannot. `pressed`: the cell whose button was pressed.
  async bring(cell, pressed) {
    this.box.remove();
    if (!this.given || this.session.hasModel || !new RegExp(this.given.needs).test(cell.code)) return "";
    const mine = (this.now = {});
    (pressed ?? cell).tell("waits for the model");
    const wrong = await this.fetched(cell, pressed);
    if (this.now !== mine) return wrong; // Stop was pressed
    this.box.remove();
    if (!wrong) document.querySelector(".live-model").textContent = this.settings.offline ? READ : LOADED;
    else if (pressed) this.show(pressed, wrong); // else the line under the title says it
    return wrong;
  }

  async fetched(cell, pressed) {
    const { files } = this.given;
    if (!files) return ["This site was built without the trained model, so ", cell, " cannot run here. Its output is the stored one."];
    if (this.settings.offline && !(await this.read())) return TAKEN;
    const size = this.settings.offline ? 0 : await this.missing(Object.values(files).flat());
    if (size && !(await this.agreed(cell, pressed, size))) return ["Without the trained model ", cell, " was not run. Its stored output is still there."];
    const placed = ([address, ...rest]) => [new URL(address, this.settings.siteRoot).href, ...rest];
    const placedFiles = Object.fromEntries(Object.entries(files).map(([name, parts]) => [name, parts.map(placed)]));
    return this.session.model({ ...this.given, files: placedFiles }, (said) => this.heard(said, pressed));
  }

  // Bytes of the parts that this browser has not fetched before, and that no kept copy of the book has.
  async missing(parts) {
    let bytes = 0;
    for (const [address, size] of parts) if (!this.had.has(address) && !(await isKept(new URL(address, this.settings.siteRoot)))) bytes += size;
    return bytes;
  }

  agreed(cell, pressed, size) {
    const megabytes = Math.max(1, Math.round(size / 1e6));
    const question = ["To run ", cell, `, this page needs the trained model. It is fetched from this site once: ${megabytes} MB.`];
    this.show(pressed, question);
    this.head.tell(pressed ? ["Waiting for your answer: ", ...question] : "Waiting for your answer", false);
    this.head.hear(plain(question));
    return new Promise((resolve) => {
      const answer = (yes) => {
        this.box.remove();
        resolve(yes);
      };
      const fetchIt = button(`Fetch ${megabytes} MB`, "", () => answer(true));
      const row = this.box.appendChild(element("span", "live-buttons"));
      row.append(fetchIt, button("Not now", "", () => answer(false)));
      if (!document.activeElement.matches("textarea")) fetchIt.focus(); // who types goes on typing
    });
  }

  // Below the cell whose button was pressed, above its stored output; or under the title.
  show(pressed, sentence) {
    put(this.box, [sentence].flat());
    if (pressed) pressed.shown.after(this.box);
    else this.head.warning.after(this.box);
  }

  heard({ part, progress }, pressed) {
    if (progress) {
      const [loaded, wanted] = [progress.loaded, progress.wanted].map((bytes) => Math.round(bytes / 1e6));
      const sentence = `${this.settings.offline ? "Reading" : "Fetching"} the trained model: ${loaded} of ${wanted} MB`;
      this.head.tell(sentence, false);
      if (pressed) this.show(pressed, sentence);
    }
    if (!part) return;
    this.had.add(part.slice(this.settings.siteRoot.href.length));
    try {
      localStorage.setItem(HAD, JSON.stringify([...this.had]));
    } catch {} // then it asks again
  }

  // A page from a disk may not fetch: there the parts come out of a script, and go to the worker.
  async read() {
    try {
      await run(new URL("offline-model.js", this.settings.folder));
      this.session.take(Object.fromEntries(Object.entries(globalThis.takenModel).map(([name, text]) => [name, bytes(text)])));
      return true;
    } catch {
      return false;
    } finally {
      delete globalThis.takenModel;
    }
  }

  // Whatever is asked or fetched is not wanted any more.
  leave() {
    this.now = null;
    this.box.remove();
    this.session.leaveModel();
  }
}

async function isKept(address) {
  try {
    return Boolean(await caches.match(address));
  } catch {
    return false; // no store, or none for this site
  }
}

function remembered() {
  try {
    return JSON.parse(localStorage.getItem(HAD)) ?? [];
  } catch {
    return [];
  }
}
