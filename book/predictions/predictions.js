// Predictions: a reader commits to an answer before it is shown; for a wrong one, why people say so comes first. Notes on
// other wrong answers stay in view only if the question lists these answers as its options. What
// was committed stays in the browser's own storage, under the prediction's id, with the digest of its text: a question
// that has changed is asked again. What was missed comes back at the start of the next chapter and on the page Review.
const predictions = (() => {
  "use strict";

  const KEY = "attention-derived-predictions";
  const SAID = { choose: "you chose", order: "you said", number: "you said", point: "you chose" };
  const { make, key, line, value, kinds } = predictInputs;

  // What this page has committed is remembered in any case; a browser may keep nothing, or have no room.
  const ofThisPage = {};
  let kept = true;

  function stored() {
    try {
      const found = JSON.parse(localStorage.getItem(KEY));
      return found && typeof found === "object" ? found : {};
    } catch {
      return {};
    }
  }

  // What was committed to a question: {given, right}, or nothing.
  function committed(id, digest) {
    const found = { ...stored(), ...ofThisPage }[id];
    const whole = found && found.digest === digest && typeof found.given === "string" && typeof found.right === "boolean";
    return whole ? found : undefined;
  }

  function keep(id, record) {
    ofThisPage[id] = record;
    try {
      localStorage.setItem(KEY, JSON.stringify({ ...stored(), ...ofThisPage }));
    } catch {
      kept = false;
    }
  }

  function forget() {
    for (const id of Object.keys(ofThisPage)) delete ofThisPage[id];
    try {
      localStorage.removeItem(KEY);
    } catch {}
  }

  // Make an input of a block. `returns`: it can be tried again; `fresh`: also if something was committed.
  function setUp(block, { returns = false, fresh = false } = {}) {
    const kind = Object.keys(kinds).find((name) => block.classList.contains(name));
    const answer = block.querySelector(":scope > details");
    const summary = answer.querySelector("summary");
    const right = key(answer).replace(/\.$/, "");
    const notes = [...answer.querySelectorAll(":scope > ul:last-child > li")];
    const { id } = block;
    const { digest, within } = block.dataset;

    const question = block.querySelector("p");
    question.id = `${id}-question`;
    block.setAttribute("role", "group");
    block.setAttribute("aria-labelledby", question.id);

    const message = make("span", { className: "predict-message" });
    message.setAttribute("role", "status");
    const say = (text) => (message.textContent = text);
    const input = kinds[kind](block, say);
    const commitButton = make("button", { type: "button", className: "predict-commit", textContent: "Commit", onclick: commit });
    const againButton = make("button", { type: "button", className: "predict-again", textContent: "Try again", onclick: again });
    const tools = make("div", { className: "predict-tools" }, ...(input.tool ? [input.tool] : []), commitButton, againButton, message);
    const result = make("div", { className: "predict-result", tabIndex: -1 });
    result.setAttribute("role", "status");
    answer.before(tools, result);
    block.classList.add("ready");

    const alike = (one, other) =>
      kind === "number" ? Math.abs(value(one) - value(other)) <= Number(within) * (1 + 1e-9) : one === other;
    const distance = (name, given) => (kind === "number" ? Math.abs(value(name) - value(given)) : 0);

    function noteOn(given) {
      const own = notes.filter((note) => key(note) !== "any other" && alike(key(note), given));
      own.sort((one, other) => distance(key(one), given) - distance(key(other), given));
      return own[0] ?? notes.find((note) => key(note) === "any other");
    }

    function state(name) {
      block.classList.toggle("committed", name === "committed");
      commitButton.hidden = name !== "untried";
      againButton.hidden = name === "untried" || !returns;
      input.lock(name !== "untried");
      const words = name === "committed" ? "Answer" : "Just show the answer";
      const shown = make("span", { className: "predict-screen", textContent: words });
      summary.replaceChildren(shown, make("span", { className: "predict-paper", textContent: "Answer" }));
      say("");
    }

    function show(given) {
      const isRight = alike(given, right);
      state("committed");
      input.show(given, right);
      block.classList.toggle("missed", !isRight);
      const verdict = make("p", {}, make("strong", { textContent: isRight ? "Right" : "Not right" }), `: ${SAID[kind]} ${given}.`);
      result.replaceChildren(verdict);
      const note = isRight ? null : noteOn(given);
      if (note) {
        const copy = line(note).cloneNode(true);
        copy.querySelector("strong").remove();
        result.append(make("p", { className: "predict-why" }, ...copy.childNodes));
      }
      for (const each of notes) each.hidden = each === note || kind !== "choose"; // it stands above; others are about what nobody here said
      answer.open = true;
    }

    function commit() {
      const given = input.read();
      if (given === undefined) {
        say(input.fault());
        input.focus();
        return;
      }
      keep(id, { digest, given, right: alike(given, right) });
      show(given);
      result.focus();
      block.dispatchEvent(new Event("predicted", { bubbles: true }));
    }

    function again() {
      input.clear();
      block.classList.remove("missed");
      for (const note of notes) note.hidden = false;
      result.replaceChildren();
      answer.open = false;
      state("untried");
      input.focus();
    }

    // The click comes before the answer opens.
    summary.addEventListener("click", () => {
      if (block.classList.contains("committed") || answer.open) return;
      state("shown");
      for (const note of notes) note.hidden = key(note) === "any other"; // nobody gave another number
      result.replaceChildren(make("p", {}, "Shown without a prediction: it counts as not made."));
    });

    state("untried");
    const before = fresh ? undefined : committed(id, digest);
    if (before && input.knows(before.given)) show(before.given);
  }

  // The missed ones of the chapter before: their blocks are in a script of their own, which calls `arrived`.
  const room = document.querySelector(".predict-missed[data-ids]");

  function missed() {
    const pairs = room.dataset.ids.split(" ").map((pair) => pair.split("="));
    return pairs.filter(([id, digest]) => committed(id, digest)?.right === false).map(([id]) => id);
  }

  function arrived(blocks) {
    const title = make("p", { className: "predict-head", textContent: `From the last chapter, ${room.dataset.from}` });
    const why = make("p", { textContent: "What you predicted there was not right. Try again, now that you know more." });
    room.replaceChildren(title, why);
    room.setAttribute("role", "region");
    room.setAttribute("aria-label", "From the last chapter");
    for (const id of missed()) {
      room.insertAdjacentHTML("beforeend", blocks[id]);
      setUp(room.lastElementChild.firstElementChild, { returns: true, fresh: true });
    }
    room.hidden = false;
  }

  for (const block of document.querySelectorAll(".predict[data-digest]:not(.predict-all *)")) setUp(block);
  if (room && missed().length) document.head.append(make("script", { src: room.dataset.script }));

  return { setUp, committed, forget, arrived, isKept: () => kept };
})();
