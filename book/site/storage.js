// A page reads the storage when it can: at once, or from a disk with its first frame. Read at once there, Chromium now and
// then gives the page a storage of its own, which ends with the page: nothing that was kept is there, and what the reader
// types is lost. Before its first frame a page shows nothing. In a tab that nobody looks at it has no frames, and its scripts
// start when it has loaded.
function whenStorageIsReady(use) {
  const begin = () => {
    for (const name of ["localStorage", "sessionStorage"]) {
      // Where the browser refuses storage, reading `localStorage` alone throws.
      try {
        window[name].length;
      } catch {
        // The page that runs says so.
        window.nothingIsKept = true;
        const kept = new Map();
        const value = {
          getItem: (key) => kept.get(String(key)) ?? null,
          setItem: (key, text) => void kept.set(String(key), String(text)),
          removeItem: (key) => void kept.delete(String(key)),
          clear: () => kept.clear(),
        };
        Object.defineProperty(window, name, { configurable: true, value });
      }
    }
    use();
  };
  if (location.protocol !== "file:") return begin();
  requestAnimationFrame(begin);
  addEventListener("load", () => document.hidden && begin());
}
