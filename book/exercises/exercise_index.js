// The index of exercises: which of them are ticked as solved (solved.js keeps them), and a choice of what to show.
// Where the browser keeps nothing there is no column for it.
(function () {
  "use strict";

  const table = document.querySelector("table.exercise-index");
  const rows = [...table.querySelectorAll("[data-exercise-row]")];
  const solved = (() => {
    try {
      return new Set(JSON.parse(localStorage.getItem("attention-derived-solved") || "[]"));
    } catch {
      return null;
    }
  })();
  const isSolved = (row) => Boolean(solved?.has(row.dataset.exerciseRow));

  if (solved) {
    for (const cell of table.querySelectorAll("[hidden]")) cell.hidden = false;
    for (const row of rows) row.lastElementChild.textContent = isSolved(row) ? "✓ yes" : "–";
  }

  const shows = {
    "All": () => true,
    "Easy": (row) => row.dataset.level === "easy",
    "Medium": (row) => row.dataset.level === "medium",
    "Hard": (row) => row.dataset.level === "hard",
    ...(solved && { "Not solved": (row) => !isSolved(row) }),
  };
  const box = document.createElement("p");
  box.className = "exercise-choice";
  box.innerHTML = `<label>Show <select>${Object.keys(shows).map((name) => `<option>${name}</option>`).join("")}</select></label> <span role="status"></span>`;
  const select = box.querySelector("select");

  function show() {
    for (const row of rows) row.hidden = !shows[select.value](row);
    for (const body of table.tBodies) body.hidden = !body.querySelector("[data-exercise-row]:not([hidden])");
    const shown = rows.filter((row) => !row.hidden);
    const minutes = shown.reduce((sum, row) => sum + Number(row.dataset.minutes), 0);
    const done = solved ? ` (${shown.filter(isSolved).length} solved)` : "";
    box.querySelector("span").textContent = `${shown.length} exercises${done}, ${minutes} minutes`;
  }

  select.addEventListener("change", show);
  table.before(box);
  show();
})();
