// The page Review: which exercises stand among the missed predictions. Those that are not ticked as solved, of the pages
// that the reader has been to (solved.js keeps both); a page in turn, the one of the longest ago first, so that
// neighbours are about different things. "Later" sends one behind all that were sent away less often. No chance and no
// clock is in it: the same storage shows the same list. A browser that keeps nothing shows none.
const reviewExercises = (() => {
  "use strict";

  const SOLVED = "attention-derived-solved";
  const VISITED = "attention-derived-visited";
  const LATER = "attention-derived-later";
  const AT_ONCE = 5;
  const { make } = predictInputs;

  const list = (key) => {
    const found = JSON.parse(localStorage.getItem(key) || "[]");
    return Array.isArray(found) ? found : [];
  };

  // {id: how often it was sent away}
  function sentAway() {
    try {
      const found = JSON.parse(localStorage.getItem(LATER));
      return found && typeof found === "object" ? found : {};
    } catch {
      return {};
    }
  }

  // All that may be shown, of one page if one is named, in their order.
  function candidates(only) {
    let solved, visited;
    try {
      [solved, visited] = [list(SOLVED), list(VISITED)];
    } catch {
      return []; // nothing may be read, or it is damaged
    }
    const away = sentAway();
    const turns = new Map(visited.map((page) => [page, 0]));
    const found = [];
    for (const card of document.querySelectorAll(".review-exercises > .review-exercise")) {
      const { unsolved: id, page } = card.dataset;
      if (!turns.has(page) || (only && page !== only) || solved.includes(id)) continue;
      turns.set(page, turns.get(page) + 1);
      const times = Number.isInteger(away[id]) ? away[id] : 0;
      found.push({ id, card, order: [times, turns.get(page), visited.indexOf(page)] });
    }
    const before = (one, other) => one.find((number, i) => number !== other[i]) - other.find((number, i) => number !== one[i]);
    return found.sort((one, other) => before(one.order, other.order));
  }

  function later(id) {
    const away = sentAway();
    try {
      localStorage.setItem(LATER, JSON.stringify({ ...away, [id]: (Number.isInteger(away[id]) ? away[id] : 0) + 1 }));
    } catch {}
  }

  // The missed predictions with an exercise after every second one, the rest at the end.
  function mixedWith(missed, only) {
    const waiting = candidates(only);
    const count = waiting.length;
    const shown = waiting.splice(0, AT_ONCE).map(ready);

    function ready({ id, card }) {
      const own = card.cloneNode(true);
      const link = own.querySelector("a");
      const button = make("button", { type: "button", textContent: "Later", onclick: away });
      button.setAttribute("aria-label", `Later: ${link.textContent}`);
      own.append(make("div", { className: "predict-tools" }, button));
      return own;

      function away() {
        later(id);
        waiting.push({ id, card });
        own.parentElement.append(ready(waiting.shift()));
        const links = [...own.parentElement.querySelectorAll(".review-exercise a")];
        links[links.indexOf(link) + 1].focus(); // there is one: that which was put at the end
        own.remove();
      }
    }

    const mixed = [];
    const rest = [...shown];
    missed.forEach((one, i) => mixed.push(one, ...(i % 2 ? rest.splice(0, 1) : [])));
    return { ones: [...mixed, ...rest], shown: shown.length, count };
  }

  return { mixedWith };
})();
