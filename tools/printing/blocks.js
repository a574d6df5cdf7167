// In the browser: what a page of the site says, piece by piece, for the comparison with the PDF.
// Returns {texts, formulas, pictures}: the runs of text of each block, with a gap where a formula stands; the
// characters of each formula, as MathJax names them (the pieces of a tall bracket have no names); the description of each picture.
(html) => {
  const BLOCKS = "p, li, dt, dd, th, td, h1, h2, h3, h4, h5, figcaption, caption, pre, summary, svg text, div, section, span.eqno";
  // What belongs to the screen: marks to click on, the labels of what is folded, the slider, what to tap, rules of style, the box to tick, the link to the first chapter.
  const SCREEN = ".headerlink, .viewcode-link, .viewcode-back, details.hide > summary, figure.stepped label, figure.tap .do, style, .exercise-solved, a.start";
  const article = new DOMParser().parseFromString(html, "text/html").querySelector("article");
  for (const extra of article.querySelectorAll(SCREEN)) extra.remove();
  const formulas = [];
  for (const formula of article.querySelectorAll("mjx-container")) {
    const names = [...formula.querySelectorAll("mjx-c[class]")].map((glyph) => glyph.className.match(/mjx-c([0-9A-F]+)/)[1]);
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
    const read = (node) => {
      for (const child of node.childNodes) {
        if (child.nodeType === Node.TEXT_NODE) text += child.data;
        else if (child.nodeType === Node.ELEMENT_NODE) child.matches(BLOCKS) ? (text += "\0") : read(child);
      }
    };
    read(block);
    const runs = text.split("\0").filter((run) => run.trim());
    if (runs.length) texts.push(runs);
  }
  return { texts, formulas, pictures };
}
