// Before a page is printed, what is folded is opened, what is fetched late is fetched, and each answer moves from under
// its question to the end of the page, so that a reader on paper can think first. Hints and solutions do the same.
// Afterwards everything is where it was. The PDF of the whole book moves them in the same way (tools/printing/book.js).
globalThis.paper ??= (() => {
  "use strict";

  const ANSWERS = "details.answer:not(:has(.predict))"; // on the page Review such a box holds whole predictions
  const HELPS = ".exercise-helps";
  const STAYS = ".at-the-end, [hidden], .predict-missed"; // what is inside has moved already, or is not printed

  function make(tag, properties, ...children) {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  }

  // The text of a heading, a formula as the MathML for screen readers says it.
  function words(heading) {
    const copy = heading.cloneNode(true);
    for (const extra of copy.querySelectorAll(".headerlink, mjx-math")) extra.remove();
    return copy.textContent.replace(/\s+/g, " ").trim();
  }

  const link = (id, text) => make("a", { href: `#${id}` }, text);

  // In the place of a box a line that says where the box went. `.where` is for the book, which knows the page.
  function leave(box, id, text, before = "") {
    const where = make("span", { className: "where" }, "at the end");
    const line = make("p", { className: "see" }, before, link(id, text), ": ", where);
    box.replaceWith(line);
    return line;
  }

  function answer(box, number, prefix) {
    const id = `${prefix}answer-${number}`;
    const summary = box.querySelector("summary");
    const label = words(summary.querySelector(".predict-paper") ?? summary); // most say "Answer", some ask the question
    const asked = label === "Answer" ? "" : label.replace(/\w$/, "$&.") + " ";
    const line = leave(box, id, `Answer ${number}`, asked);
    const question = line.closest(".predict") ?? line;
    question.id ||= `${id}-question`;
    const head = make("p", { className: "answer-head" }, link(question.id, `Answer ${number}`));
    return [line, make("div", { id, className: "answer-of" }, head, box)];
  }

  function help(box) {
    const exercise = box.closest("section.exercise");
    const id = `${exercise.id}--help`;
    const line = leave(box, id, "Hints and solution");
    const head = make("h3", {}, link(exercise.id, words(exercise.querySelector("h2, h3, h4"))));
    return [line, make("section", { id }, head, box)];
  }

  // Move the boxes of an article to its end. Returns what puts them back.
  function gather(article) {
    const prefix = article.id ? `${article.id}--` : "";
    const undo = [];

    function move(selector, id, title, moved) {
      const boxes = [...article.querySelectorAll(selector)].filter((box) => !box.closest(STAYS));
      if (!boxes.length) return;
      const end = make("section", { id: prefix + id, className: "at-the-end" }, make("h2", {}, title));
      boxes.forEach((box, i) => {
        const [line, entry] = moved(box, i + 1, prefix);
        end.append(entry);
        undo.push(() => line.replaceWith(box));
      });
      (article.querySelector("section") ?? article).append(end);
      undo.push(() => end.remove());
    }

    move(ANSWERS, "answers-to-the-questions", "Answers", answer);
    move(HELPS, "hints-and-solutions", "Hints and solutions", help);
    return () => undo.forEach((step) => step());
  }

  // A browser may ask twice before it says that it has printed.
  let opened = [];
  let putBack = [];

  window.addEventListener("beforeprint", () => {
    for (const picture of document.querySelectorAll("img[loading=lazy]")) picture.loading = "eager";
    const folded = [...document.querySelectorAll("article details:not([open])")];
    for (const box of folded) box.open = true;
    opened.push(...folded);
    putBack.push(...[...document.querySelectorAll("article")].map(gather));
  });

  window.addEventListener("afterprint", () => {
    for (const step of putBack) step();
    for (const box of opened) box.open = false;
    [opened, putBack] = [[], []];
  });

  return { gather, words };
})();
