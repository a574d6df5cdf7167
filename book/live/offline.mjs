// Where Python comes from: from the site, or, in a page that was taken along, out of one classic script beside it.
import { run } from "./script.mjs";

// {listed, places, worker()} of the site's own files
async function online({ python, folder }) {
  const answer = await fetch(new URL("files.json", folder));
  if (!answer.ok) throw new Error();
  const listed = await answer.json();
  const places = {};
  for (const name of Object.keys(listed)) places[name] = new URL(name, name === "course.zip" ? folder : python).href;
  return { listed, places, worker: () => new Worker(new URL("worker.mjs", folder), { type: "module" }) };
}

let taken;

// The same out of offline.js, which is read once; a page from a disk may not fetch, and has no workers but of texts.
async function fromScript(address) {
  taken ??= read(address).catch((error) => {
    taken = undefined;
    throw error;
  });
  const { listed, files, text } = await taken;
  const places = Object.fromEntries(Object.keys(listed).map((name) => [name, `https://taken.invalid/${name}`]));
  const worker = () => {
    const made = new Worker(URL.createObjectURL(new Blob([text], { type: "text/javascript" })));
    made.postMessage({ taken: files });
    return made;
  };
  return { listed, places, worker };
}

async function read(address) {
  await run(address);
  const { listed, worker, files } = globalThis.takenAlong;
  delete globalThis.takenAlong;
  const whole = Object.entries(files).map(([name, text]) => [name, bytes(text)]);
  return { listed, text: bytes(worker), files: Object.fromEntries(whole) };
}

export function bytes(base64) {
  return Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
}

export function source(settings) {
  return settings.offline ? fromScript(new URL(settings.offline, settings.folder)) : online(settings);
}
