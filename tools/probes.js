// What a page in the browser is asked about itself. Places are given as text; nothing found is an empty list.
window.probes = (() => {
  "use strict";

  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const tag = (box) => box.tagName.toLowerCase() + [...box.classList].map((name) => "." + name).join("");
  const place = (box) => `${tag(box)} in #${box.closest("[id]")?.id}`;
  const scrolls = (box) => box.scrollWidth > box.clientWidth && /auto|scroll/.test(getComputedStyle(box).overflowX);

  const unfold = () => all(".bd-content details").forEach((box) => (box.open = true));

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

  // The first element of each colour on each ground.
  function coloursOf(elements) {
    const seen = new Map();
    grounds.clear(); // the scheme may have changed
    for (const element of elements) {
      const kind = [getComputedStyle(element).color, ...ground(element)].join();
      if (!seen.has(kind)) seen.set(kind, element);
    }
    return [...seen.values()];
  }

  // Most elements of a page are the words of coloured code. One of each colour stays, for its contrast; the others
  // become plain text. Returns the blocks that this has made wider or narrower, but for rounding: there must be none.
  function foldWords() {
    const blocks = all("pre");
    const width = () => blocks.map((block) => block.scrollWidth);
    const before = width();
    const words = all("pre span[class]:not(:has(*)):not([id], [tabindex])");
    const kept = new Set(coloursOf(words.filter((word) => word.checkVisibility())));
    words.filter((word) => !kept.has(word)).forEach((word) => word.replaceWith(word.textContent));
    blocks.forEach((block) => block.normalize());
    const after = width();
    return blocks.filter((_, number) => Math.abs(before[number] - after[number]) > 1).map(place);
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

  // axe looks at the colours of text, and a formula has none: style sheets draw its glyphs.
  function paleFormulas() {
    return coloursOf(all("mjx-math :is(mjx-c, mjx-line, mjx-utext)")).flatMap((glyph) => {
      const { color } = getComputedStyle(glyph);
      const ratio = contrast(mixed([...ground(glyph), color]), mixed(ground(glyph)));
      return ratio < 4.5 ? [`contrast ${ratio.toFixed(2)} : 1 of ${color} in ${place(glyph.closest("mjx-container"))}`] : [];
    });
  }

  return { unfold, broken, unreachable, wide, foldWords, paleFormulas };
})();
