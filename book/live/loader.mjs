// Fetches the files of Python and of the course: each is compared with its hash, and a fault names the file.
// Pyodide itself asks for files by `fetch`, and would wait for ever for one that is missing: it gets ours instead.

const QUIET = 30_000; // milliseconds without a byte, after which the network counts as lost

export class Fault extends Error {}

export class Loader {
  // places: {file name: address}; listed: {file name: [bytes, SHA-256]}
  constructor(places, listed, progress = () => {}) {
    this.places = places;
    this.listed = listed;
    this.progress = progress;
    this.loaded = this.wanted = 0; // bytes
    this.asked = new Map();
    this.instead = new Map(); // answers to give for files that nobody needs any more
    this.failed = new Promise((_, reject) => (this.fail = reject));
    this.failed.catch(() => {});
    this.network = globalThis.fetch.bind(globalThis);
    globalThis.fetch = (request, options) => this.answer(request, options);
  }

  // In the place of `fetch`: what is listed is fetched once, checked, and kept until it is handed over.
  async answer(request, options) {
    const address = String(request.url ?? request);
    const name = address.split(/[?#]/)[0].split("/").pop();
    if (this.instead.has(name)) return this.instead.get(name)();
    if (!(name in this.listed)) return this.network(request, options);
    const data = await this.bytes(name);
    this.asked.delete(name);
    const type = name.endsWith(".wasm") ? "application/wasm" : "application/octet-stream";
    return new Response(data, { headers: { "Content-Type": type } });
  }

  bytes(name) {
    if (!this.asked.has(name)) {
      const data = this.load(name);
      data.catch(this.fail);
      this.asked.set(name, data);
    }
    return this.asked.get(name);
  }

  async load(name) {
    this.wanted += this.listed[name][0];
    const heard = (bytes) => this.progress({ loaded: (this.loaded += bytes), wanted: this.wanted });
    return checked(name, this.places[name], this.listed[name], { network: this.network, heard });
  }
}

// The bytes of one file, compared with its size and hash; `heard` is told how many have come. `stop` ends the fetching.
export async function checked(name, place, [size, sha256], { network, heard, stop = new AbortController(), cache = "default" }) {
  let quiet;
  const wait = () => {
    clearTimeout(quiet);
    quiet = setTimeout(() => stop.abort(), QUIET);
  };
  const parts = [];
  try {
    wait();
    const response = await network(place, { signal: stop.signal, cache });
    if (!response.ok) throw new Fault(`The file ${name} is missing on this site (answer ${response.status}).`);
    const reader = response.body.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      wait();
      parts.push(value);
      heard(value.length);
    }
  } catch (error) {
    if (error instanceof Fault) throw error;
    throw new Fault(`The network was lost while ${name} was fetched. Press Run again when it is back.`);
  } finally {
    clearTimeout(quiet);
  }
  const data = await new Blob(parts).arrayBuffer();
  // Without https there is no crypto.subtle; the size is still compared.
  const hash = self.crypto?.subtle && data.byteLength === size ? hex(await crypto.subtle.digest("SHA-256", data)) : sha256;
  if (data.byteLength !== size || hash !== sha256) {
    throw new Fault(`The file ${name} on this site is not the one that belongs to the book, so it is not used.`);
  }
  return data;
}

function hex(buffer) {
  return [...new Uint8Array(buffer)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
