// Which exercises a reader calls solved: kept by the browser, shown in the contents and on the map of chapters. Which pages
// with exercises a reader has been to, in the order of the first visits: for the page Review.
(function () {
  "use strict";

  const KEY = "attention-derived-solved";
  const VISITED = "attention-derived-visited";
  const all = (selector) => [...document.querySelectorAll(selector)];

  // A browser that may keep nothing remembers as long as the page is open.
  let solved = new Set();
  try {
    solved = new Set(JSON.parse(localStorage.getItem(KEY) || "[]"));
  } catch {}

  function keep() {
    try {
      localStorage.setItem(KEY, JSON.stringify([...solved].sort()));
    } catch {}
  }

  function visit() {
    const page = location.pathname.split("/").pop().replace(".html", "");
    try {
      const found = JSON.parse(localStorage.getItem(VISITED) || "[]");
      const before = Array.isArray(found) ? found : [];
      if (!before.includes(page)) localStorage.setItem(VISITED, JSON.stringify([...before, page]));
    } catch {}
  }

  function mark(place, text) {
    place.querySelector(":scope > .solved-mark")?.remove();
    if (text) place.insertAdjacentHTML("beforeend", `<span class="solved-mark">${text}</span>`);
  }

  function show() {
    for (const box of all("input[data-exercise]")) {
      const section = box.closest("section");
      box.checked = solved.has(box.dataset.exercise);
      box.closest("label").hidden = false;
      section.classList.toggle("solved", box.checked);
      for (const link of all(".bd-toc a")) {
        if (link.hash === "#" + section.id) mark(link, box.checked ? '<span aria-hidden="true"> ✓</span><span class="visually-hidden"> (solved)</span>' : "");
      }
    }
    for (const card of all("[data-exercises]")) {
      const ids = card.dataset.exercises.split(" ");
      const done = ids.filter((id) => solved.has(id)).length;
      mark(card, done ? `${done} of ${ids.length} exercises solved` : "");
    }
  }

  document.addEventListener("change", ({ target }) => {
    if (!target.matches("input[data-exercise]")) return;
    solved[target.checked ? "add" : "delete"](target.dataset.exercise);
    keep();
    show();
  });
  show();
  if (all("input[data-exercise]").length) visit();
})();
