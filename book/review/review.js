// The page Review: all predictions of the book, those that were not right first (among them exercises that are not
// solved, review_exercises.js), then those not made, then, folded, the right ones. Written by chapter
// (__init__.py); here they are sorted by how they went.
document.addEventListener("DOMContentLoaded", () => {
  "use strict";

  const { make } = predictInputs;
  const box = document.querySelector(".predict-all");
  const ones = [...box.querySelectorAll(".predict-one")];
  const counts = make("p", { className: "predict-counts" });
  counts.setAttribute("role", "status");
  const forget = make("button", { type: "button", className: "predict-forget", textContent: "Forget everything", onclick: ask });

  function outcome(one) {
    const block = one.firstElementChild;
    const found = predictions.committed(block.id, block.dataset.digest);
    return found ? (found.right ? "right" : "missed") : "open";
  }

  function count() {
    const number = { missed: 0, open: 0, right: 0 };
    for (const one of ones) number[outcome(one)] += 1;
    const kept = predictions.isKept() ? "" : " Your browser does not keep them: they last as long as this page.";
    counts.textContent = `${number.missed} not right, ${number.open} not made yet, ${number.right} right.${kept}`;
    forget.disabled = number.missed + number.right === 0;
  }

  function ask() {
    if (!confirm("Forget all predictions that you made in this browser?")) return;
    predictions.forget();
    location.reload();
  }

  const groups = { missed: [], open: [], right: [] };
  for (const one of ones) groups[outcome(one)].push(one);
  const part = (title, list) =>
    list.length ? [make("section", {}, make("h2", { textContent: `${title} (${list.length})` }), ...list)] : [];
  const folded = make("details", { className: "answer predict-known" });
  folded.append(make("summary", { textContent: `Right (${groups.right.length})` }), ...groups.right);
  const mixed = reviewExercises.mixedWith(groups.missed);
  const titles = [
    ...(groups.missed.length ? [`Not right (${groups.missed.length})`] : []),
    ...(mixed.count ? [`Exercises not solved (${mixed.shown < mixed.count ? `${mixed.shown} of ` : ""}${mixed.count})`] : []),
  ];
  box.replaceChildren(
    make("div", { className: "predict-overview" }, counts, forget),
    ...(titles.length ? [make("section", {}, make("h2", { textContent: titles.join(". ") }), ...mixed.ones)] : []),
    ...part("Not made yet", groups.open),
    ...(groups.right.length ? [folded] : []),
  );
  for (const name of ["missed", "open", "right"]) {
    for (const one of groups[name]) predictions.setUp(one.firstElementChild, { returns: true, fresh: name === "missed" });
  }
  box.addEventListener("predicted", count);
  count();
  box.classList.add("ready");
});
