// Where the browser refuses storage, reading `localStorage` alone throws, and the theme reads it while the page begins.
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
