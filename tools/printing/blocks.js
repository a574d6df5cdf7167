// In the browser, in a page of the site: what an article says, piece by piece, for the comparison with the PDF.
// What nobody sees is not said: neither on the screen, when all is unfolded, nor on paper. What is seen on the screen
// alone is said all the same, unless it stands in SCREEN: a rule of style that hides too much on paper is a fault.
globalThis.pieces ??= (() => {
  const BLOCKS = "p, li, dt, dd, th, td, h1, h2, h3, h4, h5, figcaption, caption, pre, summary, svg text, div, section, span.eqno";
  // What belongs to the screen: marks to click on, the labels of what is folded, the slider, what to tap, rules of style, the box to tick, the link to the first chapter.
  const SCREEN = ".headerlink, .viewcode-link, .viewcode-back, details.hide > summary, figure.stepped label, figure.tap .do, style, .exercise-solved, a.start";
  let article;
  let seen;

  // The article of another page, unfolded, in the place of the one that is there: all pages have the same style sheet.
  function place(html) {
    const found = new DOMParser().parseFromString(html, "text/html").querySelector("article");
    for (const extra of found.querySelectorAll(SCREEN)) extra.remove();
    for (const picture of found.querySelectorAll("img")) picture.removeAttribute("src"); // its description is enough
    for (const box of found.querySelectorAll("details")) box.open = true;
    for (const step of found.querySelectorAll(".step")) step.hidden = false;
    article = document.importNode(found, true);
    document.querySelector("article").replaceWith(article);
    seen = new Set();
  }

  const elements = () => article.querySelectorAll("*:not(mjx-container *, svg *)");

  // Remember what is seen now; asked once as the screen and once as paper.
  function look() {
    for (const element of elements()) if (element.checkVisibility({ visibilityProperty: true })) seen.add(element);
  }

  // {texts, formulas, pictures}: the runs of text of each block, with a gap where a formula stands; the characters of
  // each formula, as MathJax names them (the pieces of a tall bracket have no names); the description of each picture.
  function read() {
    for (const element of elements()) if (!seen.has(element)) element.remove();
    const formulas = [];
    for (const formula of article.querySelectorAll("mjx-container")) {
      const names = [...formula.querySelectorAll("mjx-c[class]")].map((glyph) => glyph.className.match(/\bc([0-9A-F]+)/)[1]);
      formulas.push(String.fromCodePoint(...names.map((name) => parseInt(name, 16))));
      formula.replaceWith("\0");
    }
    const named = (picture) => (picture.getAttribute("aria-labelledby") ?? "").split(/\s+/).map((id) => article.querySelector(`#${id}`).textContent);
    const pictures = [...article.querySelectorAll("img, svg[role=img]:not([aria-hidden] *)")].map(
      (picture) => picture.alt ?? picture.getAttribute("aria-label") ?? named(picture).join(" "),
    );
    for (const name of article.querySelectorAll("svg title, svg desc")) name.remove();
    for (const raised of article.querySelectorAll("sup, sub")) raised.replaceWith("\0", raised.textContent, "\0"); // painted later
    const texts = [];
    for (const block of article.querySelectorAll(BLOCKS)) {
      let text = "";
      const gather = (node) => {
        for (const child of node.childNodes) {
          if (child.nodeType === Node.TEXT_NODE) text += child.data;
          else if (child.nodeType === Node.ELEMENT_NODE) child.matches(BLOCKS) ? (text += "\0") : gather(child);
        }
      };
      gather(block);
      const runs = text.split("\0").filter((run) => run.trim());
      if (runs.length) texts.push(runs);
    }
    return { texts, formulas, pictures };
  }

  return { place, look, read };
})();
