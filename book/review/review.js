// The page Review: all predictions of the book, those that were not right first (among them exercises that are not
// solved, review_exercises.js), then those not made, then, folded, the right ones. Written by chapter
// (__init__.py); here they are sorted by how they went. Which chapter is shown is kept in the storage, like "Later".
(() => {
  "use strict";

  const CHAPTER = "attention-derived-review-chapter";
  const NOTHING = "Nothing is here yet: exercises come once you have opened their page, until you tick them as solved.";
  const { make } = predictInputs;
  const box = document.querySelector(".predict-all");
  const ones = [...box.querySelectorAll(".predict-one")];
  const pageOf = (one) => one.querySelector(".predict-place a").getAttribute("href").split(".html")[0];
  const choice = make("select", { onchange: choose });
  choice.append(new Option("All chapters", ""));
  for (const chapter of box.querySelectorAll(".predict-chapter")) {
    choice.append(new Option(chapter.querySelector("h2").textContent, pageOf(chapter)));
  }
  for (const card of document.querySelectorAll(".review-exercises > .review-exercise")) {
    const { page } = card.dataset; // one without predictions has exercises all the same
    if ([...choice.options].some(({ value }) => value === page)) continue;
    choice.append(new Option(card.querySelector(".review-about").textContent.split(" · ").slice(2).join(" · "), page));
  }
  try {
    choice.value = localStorage.getItem(CHAPTER) || "";
  } catch {} // all are shown
  if (!choice.value) choice.value = ""; // a chapter that there is no more
  const isChosen = (one) => !choice.value || pageOf(one) === choice.value;
  const counts = make("p", { className: "predict-counts" });
  counts.setAttribute("role", "status");
  const forget = make("button", { type: "button", className: "predict-forget", textContent: "Forget everything", onclick: ask });

  function outcome(one) {
    const block = one.firstElementChild;
    const found = predictions.committed(block.id, block.dataset.digest);
    return found ? (found.right ? "right" : "missed") : "open";
  }

  function choose() {
    try {
      localStorage.setItem(CHAPTER, choice.value);
    } catch {}
    arrange();
  }

  function count() {
    const number = { missed: 0, open: 0, right: 0 };
    for (const one of ones.filter(isChosen)) number[outcome(one)] += 1;
    const kept = predictions.isKept() ? "" : " Your browser does not keep them: they last as long as this page.";
    counts.textContent = `${number.missed} not right, ${number.open} not made yet, ${number.right} right.${kept}`;
    forget.disabled = ones.every((one) => outcome(one) === "open");
  }

  function ask() {
    if (!confirm("Forget all predictions that you made in this browser?")) return;
    predictions.forget();
    location.reload();
  }

  const groups = { missed: [], open: [], right: [] };
  for (const one of ones) groups[outcome(one)].push(one);
  const overview = make("div", { className: "predict-overview" }, make("label", {}, "Show ", choice), counts, forget);
  box.replaceChildren(overview);

  // What was chosen, below the overview, which stays in its place so that the choice keeps the focus.
  function arrange() {
    const [missed, open, right] = [groups.missed, groups.open, groups.right].map((list) => list.filter(isChosen));
    const mixed = reviewExercises.mixedWith(missed, choice.value);
    const titles = [
      ...(missed.length ? [`Not right (${missed.length})`] : []),
      ...(mixed.count ? [`Exercises not solved (${mixed.shown < mixed.count ? `${mixed.shown} of ` : ""}${mixed.count})`] : []),
    ];
    const part = (title, list) => make("section", {}, make("h2", { textContent: title }), ...list);
    while (overview.nextSibling) overview.nextSibling.remove();
    if (titles.length) box.append(part(titles.join(". "), mixed.ones));
    if (open.length) box.append(part(`Not made yet (${open.length})`, open));
    if (right.length) {
      const folded = make("details", { className: "answer predict-known" });
      folded.append(make("summary", { textContent: `Right (${right.length})` }), ...right);
      box.append(folded);
    }
    if (!overview.nextSibling) box.append(make("p", { textContent: NOTHING }));
    count();
  }

  arrange();
  for (const name of ["missed", "open", "right"]) {
    for (const one of groups[name]) predictions.setUp(one.firstElementChild, { returns: true, fresh: name === "missed" });
  }
  box.addEventListener("predicted", count);
  box.classList.add("ready");
})();
