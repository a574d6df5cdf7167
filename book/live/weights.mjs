// The files of a trained model, in parts that a browser's cache takes: fetched at the same time, each compared with its hash.
import { checked } from "./loader.mjs";

const wrong = new Set(); // parts that were not what they should be: a second time they are asked of the site itself

// files: {name: [[address, bytes, SHA-256] of each part]}. Resolves with {name: bytes} when all is there.
export async function weights(files, { network, stop, tell }) {
  const parts = Object.values(files).flat();
  const wanted = parts.reduce((sum, [, size]) => sum + size, 0);
  let loaded = 0;
  const heard = (bytes) => tell({ progress: { loaded: (loaded += bytes), wanted } });
  const part = async ([address, ...expected]) => {
    const cache = wrong.has(address) ? "reload" : "force-cache"; // its address names its content
    wrong.add(address);
    const data = await checked(address.split("/").pop(), address, expected, { network, heard, stop, cache });
    wrong.delete(address);
    tell({ part: address });
    return new Uint8Array(data);
  };
  const whole = async ([name, parts]) => [name, joined(await Promise.all(parts.map(part)))];
  try {
    return Object.fromEntries(await Promise.all(Object.entries(files).map(whole)));
  } finally {
    stop.abort(); // of no use without the others
  }
}

function joined(pieces) {
  const all = new Uint8Array(pieces.reduce((sum, piece) => sum + piece.length, 0));
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}
