// Where the browser refuses storage, reading `localStorage` alone throws, and a page begins by reading it.
function replaceRefused() {
  for (const name of ["localStorage", "sessionStorage"]) {
    try {
      window[name].length;
    } catch {
      window.nothingIsKept = true; // the page that runs says so
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
}

// From a disk, Chromium now and then gives a page that reads it at once a storage of its own, which ends with that page:
// nothing that was kept is there, and what the reader types is lost. With the first frame it no longer does, and nothing
// has been shown before that.
function whenStorageIsReady(use) {
  const begin = () => {
    replaceRefused();
    use();
  };
  if (location.protocol !== "file:") begin();
  else if (document.hidden) addEventListener("load", begin); // has no frames
  else requestAnimationFrame(begin);
}
