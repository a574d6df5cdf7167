// Repairs where the theme's own pages fall short: for a keyboard, a screen reader, a phone.
(function () {
  "use strict";

  // What may scroll sideways, and what it is called; of several names the first that fits.
  const BOXES = ".bd-content :is(mjx-container, span.math, pre, figure, .cell_output > *, .pst-scrollable-table-container)";
  const KINDS = [
    ["mjx-container, .math", "Formula"],
    ["figure", "Figure"],
    [".pst-scrollable-table-container, :has(> table)", "Table"],
    [".cell_output *", "Output"],
    ["*", "Code"],
  ];

  // What scrolls sideways can be reached with the keyboard and has a name; what does not scroll is no stop on the way.
  // One hidden pixel is enough to scroll.
  // What is folded is looked at when it is opened: to measure it now would lay it out for that alone. And all is measured
  // before anything is changed: otherwise each change would lay the page out again.
  function markScrollers() {
    const shown = (selector) => [...document.querySelectorAll(selector)].filter((box) => box.checkVisibility());
    const formulas = shown(".bd-content span.math:has(mjx-math)").map((formula) => {
      const needed = formula.querySelector("mjx-math").getBoundingClientRect().width;
      return [formula, needed > formula.getBoundingClientRect().width + 1];
    });
    for (const [formula, long] of formulas) formula.classList.toggle("long", long);
    const boxes = shown(BOXES).map((box) => [
      box,
      box.scrollWidth > box.clientWidth && /auto|scroll/.test(getComputedStyle(box).overflowX),
    ]);
    for (const [box, scrolls] of boxes) {
      if (scrolls) {
        box.tabIndex = 0;
        box.dataset.bookScrolls = "";
        if (box.querySelector(":scope > figcaption")) continue; // has a role and a name already
        box.setAttribute("role", "group");
        box.setAttribute("aria-label", KINDS.find(([kind]) => box.matches(kind))[1] + ", scrolls sideways");
      } else if ("bookScrolls" in box.dataset) {
        for (const mark of ["tabindex", "role", "aria-label", "data-book-scrolls"]) box.removeAttribute(mark);
      }
    }
  }

  function repairTheme() {
    // The logo stands outside every landmark.
    for (const logo of document.querySelectorAll(".bd-sidebar-primary .navbar-brand")) {
      const box = logo.parentElement;
      if (!box.closest("nav, [role=navigation]")) {
        box.setAttribute("role", "navigation");
        box.setAttribute("aria-label", "Front page");
      }
    }
    // Names that differ from the text that is seen, or are missing.
    for (const named of document.querySelectorAll("button.search-button-field, .bd-content summary[aria-label]")) {
      named.removeAttribute("aria-label");
    }
    for (const summary of document.querySelectorAll(".bd-sidenav summary:not([aria-label])")) {
      summary.setAttribute("aria-label", "Pages below " + summary.closest("li").querySelector("a").textContent.trim());
    }
    // The empty corner of a table is no header.
    for (const corner of document.querySelectorAll(".bd-content th")) {
      if (corner.textContent.trim()) continue;
      const cell = document.createElement("td");
      cell.className = corner.className;
      corner.replaceWith(cell);
    }
    // Roles that the standard has withdrawn.
    for (const entry of document.querySelectorAll(".citation-list, .citation[role]")) {
      entry.removeAttribute("role");
    }
  }

  // On a phone the contents lie over the page: who has chosen a place wants to see it.
  function closeDrawer(event) {
    if (event.target.closest("dialog a[href]")) event.target.closest("dialog").close();
  }

  // A page without the theme's scripts (of source code) follows the system's colours, too.
  function follow({ matches }) {
    const { dataset } = document.documentElement;
    if (dataset.mode === "auto") dataset.theme = matches ? "dark" : "light";
  }

  function start() {
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", follow);
    document.addEventListener("click", closeDrawer);
    repairTheme();
    let waiting = 0;
    new ResizeObserver(() => { // at once, too, when the page is laid out: to measure earlier would lay it out for that alone
      cancelAnimationFrame(waiting);
      waiting = requestAnimationFrame(markScrollers);
    }).observe(document.body);
    document.addEventListener("toggle", markScrollers, true); // a folded answer was opened
  }

  start();
})();
