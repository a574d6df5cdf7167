// The words of a search are marked on each page that is opened from its results, also in a tab of its own: the address
// says which. Escape takes the marks away: Sphinx's own script does that. Its marking is not used: it stops at the first
// diagram with a description.
const searchMarks = (() => {
  "use strict";
  const PARAMETER = "marked";
  const UNMARKED = "svg, mjx-container, script, style, .headerlink";

  // The words that begin so.
  const pattern = (beginning) => new RegExp(`(?<![\\p{L}\\p{N}])${beginning}[\\p{L}\\p{N}]*`, "giu");
  const anyOf = (patterns) => new RegExp(patterns.map(({ source }) => source).join("|"), "giu");

  // The text with each match of the pattern in a span of its own, as a list of nodes.
  function marked(text, pattern) {
    const parts = [];
    let end = 0;
    for (const { 0: word, index } of text.matchAll(pattern)) {
      const mark = document.createElement("span");
      mark.className = "highlighted";
      mark.textContent = word;
      parts.push(text.slice(end, index), mark);
      end = index + word.length;
    }
    return [...parts, text.slice(end)];
  }

  function markPage(article, pattern) {
    const walker = document.createTreeWalker(article, NodeFilter.SHOW_TEXT);
    const texts = [];
    while (walker.nextNode()) texts.push(walker.currentNode);
    for (const text of texts) {
      const found = text.data.search(pattern) >= 0 && !text.parentElement.closest(UNMARKED);
      if (found) text.replaceWith(...marked(text.data, pattern));
    }
  }

  // What a result adds to the address of its page.
  const query = (beginnings) => `?${new URLSearchParams({ [PARAMETER]: beginnings.join(" ") })}`;

  const article = document.querySelector(".bd-article");
  const address = new URL(location);
  const beginnings = address.searchParams.get(PARAMETER)?.match(/[\p{L}\p{N}]+/gu);
  if (article && beginnings) {
    markPage(article, anyOf(beginnings.map(pattern)));
    address.searchParams.delete(PARAMETER); // a reader who keeps or sends the address means the page, not the search
    history.replaceState(history.state, "", address);
  }
  return { marked, pattern, anyOf, query };
})();
