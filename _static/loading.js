// A page that is opened at its top is laid out in small steps: what is on the screen at once (loading.css), the rest a
// few blocks at a time while nothing else is to do. So text appears and buttons work before a long chapter is laid out,
// and a moment later the page is like any other. What measures the page waits for the event "laid-out".
(function () {
  "use strict";

  const root = document.documentElement;
  const soon = window.requestIdleCallback ? (step) => requestIdleCallback(step, { timeout: 100 }) : setTimeout;
  let blocks = [];

  function step() {
    const end = performance.now() + 8; // milliseconds, half a frame
    while (blocks.length && performance.now() < end) {
      const block = blocks.shift();
      block.style.contentVisibility = "visible";
      block.getBoundingClientRect(); // lays it out
    }
    if (blocks.length) soon(step);
    else finish();
  }

  function finish() {
    if (!("loading" in root.dataset)) return;
    blocks = [];
    delete root.dataset.loading;
    document.dispatchEvent(new Event("laid-out"));
  }

  function start() {
    blocks = [...document.querySelectorAll(".bd-article section > *")].filter((block) => getComputedStyle(block).contentVisibility === "auto");
    soon(step);
  }

  if (!("loading" in root.dataset)) return;
  window.addEventListener("load", start);
  // Who goes elsewhere on the page, or prints it, needs the places of everything now.
  document.addEventListener("click", (event) => event.target.closest("a[href*='#']") && finish(), true);
  window.addEventListener("hashchange", finish);
  window.addEventListener("beforeprint", finish);
})();
