// The parts that a page needs only once Python is asked for: Session, Model, Outputs, Keep, wake (after.mjs), as one more script.
import { run } from "./script.mjs";

let loaded;

export function later(folder) {
  loaded ??= load(new URL("after.js", folder)).catch(() => {
    loaded = undefined;
    throw new Error("A script of this page cannot be fetched. Check the network and press Run again.");
  });
  return loaded;
}

async function load(address) {
  await run(address);
  return globalThis.partsForLater;
}
