// "Keep for offline use": stores the whole book and Python in the browser, on request, and removes them again.
// All or nothing: a copy gets its name when it is whole. The service worker (keep-worker.js) answers from it.
import { button, element } from "./element.mjs";

const AT_ONCE = 6; // files that are fetched at the same time
const LIST = "keep.json";
const WORKER = "keep.js";

export class Keep {
  // root: address of the site; tell: says a sentence to the reader
  constructor(root, tell) {
    this.root = root;
    this.tell = tell;
    this.prefix = `attention-derived-kept:${root.pathname}:`;
    this.box = element("div", "live-keep");
    this.words = element("p");
    this.action = button("Keep for offline use", "", () => this.keep());
    this.removal = button("Remove the kept copy", "", () => this.remove());
    const row = element("div", "live-buttons");
    row.append(this.action, this.removal);
    this.box.append(this.words, row);
  }

  async names() {
    return (await caches.keys()).filter((name) => name.startsWith(this.prefix));
  }

  async list() {
    const answer = await fetch(new URL(LIST, this.root), { cache: "no-cache" });
    if (!answer.ok) throw new Error();
    return answer.json();
  }

  async show() {
    let [kept, list] = [[], null];
    try {
      kept = await this.names();
      list = await this.list();
    } catch {} // no store, or no network: what is known is shown
    const size = list ? `, ${megabytes(list.bytes)} MB,` : "";
    const current = list && kept.includes(this.prefix + list.version);
    const [megabytesKept] = kept.map((name) => /-(\d+)$/.exec(name)?.[1]);
    this.words.textContent = !kept.length
      ? `On request this browser keeps the whole book and Python${size} and opens them here without a network.`
      : current || !list
        ? `The whole book and Python${megabytesKept ? `, ${megabytesKept} MB,` : ""} are kept in this browser: this address opens without a network.`
        : "An earlier state of the book is kept in this browser. The book has changed since then.";
    this.action.hidden = Boolean(kept.length && (current || !list));
    this.action.textContent = kept.length ? "Keep the changed book" : "Keep for offline use";
    this.removal.hidden = !kept.length;
  }

  async keep() {
    if (!("serviceWorker" in navigator) || !globalThis.caches) {
      this.tell("This browser cannot keep the book here: that needs https, and no private window.");
      return;
    }
    this.action.disabled = true;
    const unfinished = `${this.prefix}unfinished`;
    try {
      const list = await this.list().catch(() => {
        throw new Error("The list of the book's files cannot be fetched. Check the network and try again.");
      });
      const { quota, usage } = (await navigator.storage?.estimate?.()) ?? {};
      if (quota - usage < list.bytes) {
        throw new Error(`The browser has room for ${megabytes(quota - usage)} MB here, and the book needs ${megabytes(list.bytes)} MB.`);
      }
      await caches.delete(unfinished);
      await this.fetchAll(list, await caches.open(unfinished));
      await this.rename(unfinished, this.prefix + list.version);
      await navigator.serviceWorker.register(new URL(WORKER, this.root), { scope: this.root.pathname });
      // Else a browser short of room may drop it. Not awaited: Firefox asks the reader, who may leave the question open.
      navigator.storage?.persist?.().catch(() => {});
      this.tell(`The book and Python are kept, ${megabytes(list.bytes)} MB: this address opens without a network.`);
    } catch (error) {
      this.tell(`${sentence(error)} Nothing was kept.`);
      await caches.delete(unfinished).catch(() => {});
    } finally {
      this.action.disabled = false;
      await this.show();
    }
  }

  async fetchAll({ files, bytes }, cache) {
    let done = 0;
    const waiting = Object.entries(files);
    const next = async () => {
      for (let entry = waiting.shift(); entry; entry = waiting.shift()) {
        const [name, size] = entry;
        const address = new URL(name, this.root);
        let answer;
        try {
          answer = await fetch(address, { cache: "no-cache" });
        } catch {
          throw new Error(`The network was lost while ${name} was fetched.`);
        }
        if (!answer.ok) throw new Error(`The file ${name} is missing on this site (answer ${answer.status}).`);
        const data = await answer.blob();
        if (data.size !== size) throw new Error(`The file ${name} on this site is not the one that belongs to the book.`);
        // Made anew: an answer that was led on to another address may not be given for a page.
        await cache.put(address, new Response(data, { headers: { "Content-Type": answer.headers.get("Content-Type") ?? data.type } }));
        done += size;
        this.tell(`Keeping the book: ${megabytes(done)} of ${megabytes(bytes)} MB`, false);
      }
    };
    const all = Array.from({ length: AT_ONCE }, next);
    try {
      await Promise.all(all);
    } finally {
      waiting.length = 0;
      await Promise.allSettled(all);
    }
  }

  // Only a whole copy has a name that the worker looks for.
  async rename(from, to) {
    const [old, made] = [await caches.open(from), await caches.open(to)];
    for (const request of await old.keys()) await made.put(request, await old.match(request));
    for (const name of await this.names()) if (name !== to) await caches.delete(name);
  }

  async remove() {
    for (const name of await this.names()) await caches.delete(name);
    const registered = await navigator.serviceWorker.getRegistration(this.root.href);
    await registered?.unregister();
    this.tell("The kept copy is removed.");
    await this.show();
    this.action.focus();
  }
}

function megabytes(bytes) {
  return Math.round(bytes / 1e6);
}

function sentence(error) {
  if (error.name === "QuotaExceededError") return "The browser's store for this site is full.";
  if (error.name === "SecurityError") return "This browser keeps nothing for this site (private window?).";
  return error.message;
}
