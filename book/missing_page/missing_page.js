// The nearest folder above this address that holds the book is where its relative addresses start.
(() => {
  if (location.protocol === "file:") return; // opened where it lies
  const own = new URL(".", location).href;
  let folder = own;
  while (!holdsTheBook(folder)) {
    const above = new URL("..", folder).href;
    if (above === folder) return;
    folder = above;
  }
  if (folder === own) return;
  document.head.append(Object.assign(document.createElement("base"), { href: folder }));
  // Links to a part of this page stay on it.
  document.addEventListener("DOMContentLoaded", () => {
    for (const link of document.querySelectorAll('a[href^="#"]')) link.href = location.pathname + location.search + link.hash;
  });

  // Asked at once and waited for: whatever comes next in the page is loaded from there.
  function holdsTheBook(folder) {
    const request = new XMLHttpRequest();
    request.open("HEAD", folder + "_static/favicon.svg", false);
    try {
      request.send();
    } catch {
      return false;
    }
    return request.status === 200;
  }
})();
