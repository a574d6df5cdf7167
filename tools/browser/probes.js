// What a page in the browser is asked about itself. Places are given as text; nothing found is an empty list.
window.probes = (() => {
  "use strict";

  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const tag = (box) => box.tagName.toLowerCase() + [...box.classList].map((name) => "." + name).join("");
  const place = (box) => `${tag(box)} in #${box.closest("[id]")?.id}`;
  const scrolls = (box) => box.scrollWidth > box.clientWidth && /auto|scroll/.test(getComputedStyle(box).overflowX);

  const closed = new Set();
  const unfold = () => all(".bd-content details:not([open])").forEach((box) => closed.add(box) && (box.open = true));
  const refold = () => closed.forEach((box) => closed.delete(box) && (box.open = false));

  // What should be there and is not, whatever the width.
  function broken() {
    const formulas = all(".math:not(.math .math)");
    const raw = formulas.filter((formula) => !formula.querySelector("mjx-container"));
    const errors = all("mjx-merror, [data-mjx-error]").map((error) => error.dataset.mjxError || error.textContent);
    const pictures = [...document.images].filter((image) => image.complete && !image.naturalWidth);
    const excess = document.documentElement.scrollWidth - window.innerWidth;
    return [
      ...(excess > 0 ? [`${excess} px wider than the window`] : []),
      ...raw.map((formula) => `formula not typeset: ${formula.textContent}`),
      ...errors.map((text) => `TeX error: ${text}`),
      ...pictures.map((image) => `picture not shown: ${image.src}`),
    ];
  }

  // What scrolls sideways and no keyboard reaches, or no screen reader can name.
  function unreachable() {
    return all("body *").filter(scrolls).flatMap((box) => {
      const caption = box.querySelector(":scope > figcaption");
      const missing = [
        box.tabIndex !== 0 && "no stop of the Tab key",
        !box.getAttribute("role") && !caption && "no role",
        !(box.getAttribute("aria-label") || caption?.textContent || "").trim() && "no name",
      ].filter(Boolean);
      return missing.length ? [`${place(box)}: ${missing.join(", ")}`] : [];
    });
  }

  // A formula is cut if a box around it hides a part of it: what scrolls into view is not hidden.
  function cut(formula) {
    const { left, right, top, bottom } = formula.getBoundingClientRect();
    if (left < 0) return true; // nothing scrolls further to the left
    for (let box = formula.parentElement; box !== document.body; box = box.parentElement) {
      const { overflowX, overflowY } = getComputedStyle(box);
      const edge = box.getBoundingClientRect();
      if (/hidden|clip/.test(overflowX) && (left < edge.left - 1 || right > edge.right + 1)) return true;
      if (/hidden|clip/.test(overflowY) && (top < edge.top - 1 || bottom > edge.bottom + 1)) return true;
      if (scrolls(box)) return false;
    }
    return false;
  }

  // What does not fit the window, by kind.
  function wide() {
    const boxes = all(".bd-content *").filter(scrolls);
    const pick = (kind) => boxes.filter((box) => box.matches(kind)).map(place);
    return {
      "formulas cut": all("mjx-container > mjx-math").filter((formula) => formula.checkVisibility() && cut(formula)).map(place),
      "formulas that scroll": pick("mjx-container, .math"),
      "tables that scroll": pick(":has(> table)"),
      "figures that scroll": pick("figure"),
      "outputs that scroll": pick(".cell_output *:not(:has(> table), figure)"),
      "code that scrolls": pick("pre:not(.cell_output *)"),
    };
  }

  // The colours behind an element, the lowest first, as far as they are plain colours.
  const grounds = new Map();
  function ground(box) {
    if (!box) return ["white"];
    if (!grounds.has(box)) {
      const { backgroundColor } = getComputedStyle(box);
      const below = ground(box.parentElement);
      grounds.set(box, backgroundColor === "rgba(0, 0, 0, 0)" ? below : [...below, backgroundColor]);
    }
    return grounds.get(box);
  }

  // The first element of each look: of its colour on its ground, and of what else `more` tells of it.
  function firstOfEach(elements, more = () => []) {
    const seen = new Map();
    grounds.clear(); // the scheme may have changed
    for (const element of elements) {
      const style = getComputedStyle(element);
      const kind = [style.color, ...ground(element), ...more(element, style)].join();
      if (!seen.has(kind)) seen.set(kind, element);
    }
    return [...seen.values()];
  }

  // Of more than one character: what is written with one can be a drawing, and axe leaves it alone, too.
  const ownText = (element) => [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim().length > 1);
  const texts = () => all("body *").filter((element) => ownText(element) && element.checkVisibility({ visibilityProperty: true, opacityProperty: true }));

  // Most elements of a page are the words of coloured code and the parts of formulas, and axe takes a millisecond for
  // each. One word of each colour stays, for its contrast; the others become plain text. Of a formula its size stays and
  // the text that is read aloud: axe sees no text in glyphs that a style sheet draws (see `pale`). A formula that scrolls
  // stays whole, because axe asks what can be scrolled to. Returns a function that puts everything back, and what folding
  // has changed, the width of code (but for rounding, which also decides whether code that just fits scrolls) or whether
  // a formula scrolls: there must be none.
  function fold() {
    const shown = (selector) => all(selector).filter((box) => box.checkVisibility());
    const blocks = all("pre");
    const measured = shown("pre, mjx-container");
    const measure = () => measured.map((box) => (box.matches("pre") ? [box.scrollWidth, false] : [0, scrolls(box)]));
    const before = measure();
    const undo = [];
    const replace = (box, ...nodes) => {
      const whole = [...box.childNodes];
      undo.push(() => box.replaceChildren(...whole));
      box.replaceChildren(...nodes);
    };
    const words = (block) => all(":is(span[class], c-):not(:has(*), [id], [tabindex])", block);
    const kept = new Set(firstOfEach(blocks.flatMap(words).filter((word) => word.checkVisibility())));
    for (const block of blocks) {
      const folded = block.cloneNode(true);
      const originals = words(block);
      words(folded).forEach((word, number) => kept.has(originals[number]) || word.replaceWith(word.textContent));
      folded.normalize();
      replace(block, ...folded.childNodes);
    }
    const inPlace = all("mjx-container").filter((box) => !scrolls(box) && !scrolls(box.parentElement));
    const formulas = inPlace.map((box) => [box.querySelector("mjx-math"), box.checkVisibility() && box.querySelector("mjx-math").getBoundingClientRect()]);
    for (const [formula, size] of formulas) {
      replace(formula);
      if (!size) continue; // it is in something folded
      const style = formula.getAttribute("style");
      undo.push(() => (style === null ? formula.removeAttribute("style") : formula.setAttribute("style", style)));
      const { width, height } = size;
      Object.assign(formula.style, { display: "inline-block", boxSizing: "border-box", width: `${width}px`, height: `${height}px` });
    }
    for (const math of inPlace.map((box) => box.querySelector(":scope > math"))) replace(math, math.textContent);
    const after = measure();
    const differs = ([width, scrolled], [newWidth, scrollsNow]) => Math.abs(width - newWidth) > 1 || scrolled !== scrollsNow;
    const changed = measured.filter((_, number) => differs(before[number], after[number]));
    return { putBack: () => undo.reverse().forEach((act) => act()), changed: changed.map(place) };
  }

  // What axe finds. To judge the colours of every text and every link costs more than all its other rules, so `colours`
  // says of how many it judges them: of "every" one, of one of "each look" (the same element, classes, size and colours,
  // and for a link the same surroundings), or of "none", where `pale` is enough.
  async function accessible(options, colours) {
    const { putBack, changed } = fold();
    const look = (element, { fontSize, fontWeight, opacity }) => [element.tagName, element.className, fontSize, fontWeight, opacity];
    const around = (link, style) => {
      const outside = getComputedStyle(link.parentElement);
      return [...look(link, style), style.textDecorationLine, ...look(link.parentElement, outside), outside.color];
    };
    const links = all("a[href]").filter((link) => link.checkVisibility());
    const marked = [["data-text", firstOfEach(texts(), look)], ["data-link", firstOfEach(links, around)]];
    for (const [mark, elements] of marked) elements.forEach((element) => element.setAttribute(mark, ""));
    const rules = { "color-contrast": ["*", "[data-text]"], "link-in-text-block": ["a[href]", "[data-link]"] };
    axe.configure({
      rules: Object.entries(rules).map(([id, [all, some]]) => ({ id, enabled: colours !== "none", selector: colours === "every" ? all : some })),
    });
    const { violations } = await axe.run(options);
    for (const [mark, elements] of marked) elements.forEach((element) => element.removeAttribute(mark));
    putBack();
    return [
      ...changed.map((block) => `${block}: changes when its parts are folded`),
      ...violations.map(({ id, help, nodes }) => {
        const where = nodes.slice(0, 3).map((node) => node.target.join(" "));
        return `axe: ${id}: ${help}: ${where.join("; ")}`;
      }),
    ];
  }

  // What these layers look like together, as [red, green, blue].
  const pixel = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  function mixed(layers) {
    for (const layer of layers) {
      pixel.fillStyle = layer;
      pixel.fillRect(0, 0, 1, 1);
    }
    return [...pixel.getImageData(0, 0, 1, 1).data].slice(0, 3);
  }

  // "Relative luminance" and "contrast ratio" of WCAG 2.2.
  function contrast(...colours) {
    const [dark, light] = colours
      .map((colour) => colour.map((c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
      .map(([red, green, blue]) => 0.2126 * red + 0.7152 * green + 0.0722 * blue)
      .sort((a, b) => a - b);
    return (light + 0.05) / (dark + 0.05);
  }

  // Text without the contrast of WCAG 2.2, one of each look, formulas included: axe looks at the colours of text, and a
  // formula has none, because style sheets draw its glyphs. Text on a picture or a gradient, and text that is not meant
  // to be read (of what is switched off) is left to axe.
  function pale() {
    const unclear = (box) => box && (getComputedStyle(box).backgroundImage !== "none" || unclear(box.parentElement));
    const large = (style) => parseFloat(style.fontSize) >= (Number(style.fontWeight) >= 700 ? 18.66 : 24);
    const glyphs = all("mjx-math :is(mjx-c, mjx-line, mjx-utext)");
    const read = texts().filter((text) => !text.closest("svg, :disabled, [aria-disabled=true], mjx-container"));
    const first = [...firstOfEach(glyphs), ...firstOfEach(read, (_, style) => [large(style), style.opacity])];
    return first.flatMap((text) => {
      const style = getComputedStyle(text);
      const formula = text.closest("mjx-container");
      if (!formula && unclear(text)) return [];
      const ratio = contrast(mixed([...ground(text), style.color]), mixed(ground(text)));
      const needed = !formula && large(style) ? 3 : 4.5;
      return ratio < needed ? [`contrast ${ratio.toFixed(2)} : 1 of ${style.color} in ${place(formula ?? text)}`] : [];
    });
  }

  // Captions and side notes: beside the text where the window has a margin for them, in the column elsewhere, and on top
  // of nothing. What stands in a fold or an exercise stays there.
  function notes(margin) {
    const shown = (selector) => all(selector).filter((box) => box.checkVisibility());
    const rect = (box) => box.getBoundingClientRect();
    const named = (box) => `the note "${box.textContent.trim().slice(0, 40)}"`;
    const column = Math.max(...shown("article.bd-article > section > section > p, article.bd-article pre:not(.live-scratch *)").map((box) => rect(box).right));
    const bar = rect(document.querySelector(".bd-sidebar-secondary"));
    const edge = bar.width ? bar.left : window.innerWidth;
    const found = shown(".bd-content .note, .bd-content figure > figcaption");
    const overlap = (one, other) => one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
    return found.flatMap((note, number) => {
      const beside = rect(note).left > column;
      const over = found.slice(0, number).filter((other) => overlap(rect(note), rect(other)));
      return [
        ...(beside === (margin && !note.closest("details, .exercise")) ? [] : [`${named(note)} is ${beside ? "" : "not "}in the margin`]),
        ...(rect(note).right > edge ? [`${named(note)} reaches beyond its edge`] : []),
        ...over.map((other) => `${named(note)} lies on ${named(other)}`),
      ];
    });
  }

  // What is called a thing that scrolls, and does not scroll.
  function stale() {
    const named = all('[aria-label$="scrolls sideways"]').filter((box) => box.checkVisibility());
    return named.filter((box) => box.scrollWidth <= box.clientWidth).map((box) => `${place(box)}: is said to scroll, and does not`);
  }

  return { unfold, refold, broken, unreachable, stale, wide, fold, accessible, pale, notes };
})();
