// The service worker of a book that is kept for offline use: what the network does not give comes out of the kept copy.
// It is registered on request only (keep.mjs), stores nothing by itself, and lies at the root of the site, to serve all of it.
"use strict";

const KEPT = `attention-derived-kept:${new URL(self.registration.scope).pathname}:`;
const NAMED_BY_CONTENT = /\/_static\/live\/(python|course|model)-[0-9a-f]+\//;

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (!["GET", "HEAD"].includes(request.method) || !request.url.startsWith(self.registration.scope)) return;
  event.respondWith(NAMED_BY_CONTENT.test(request.url) ? kept(request).then((found) => found ?? fetch(request)) : newest(request));
});

// A page is the site's own as long as there is a network: so a changed book is seen.
async function newest(request) {
  try {
    return await fetch(request);
  } catch (error) {
    const found = await kept(request);
    if (found) return found;
    // The book's own page for a wrong address, but not in the place of a picture or a script.
    const missing = request.mode === "navigate" && (await kept({ url: new URL("404.html", self.registration.scope).href }));
    if (missing) return new Response(missing.body, { status: 404, headers: missing.headers });
    if (request.method === "HEAD") return new Response(null, { status: 404 });
    throw error;
  }
}

async function kept(request) {
  const address = new URL(request.url);
  if (address.pathname.endsWith("/")) address.pathname += "index.html";
  for (const name of await caches.keys()) {
    if (name.startsWith(KEPT)) {
      const found = await (await caches.open(name)).match(address.href, { ignoreSearch: true, ignoreVary: true });
      if (found) return found;
    }
  }
}
