// The words of a search are marked on the page that is opened from its results. Escape takes the marks away: Sphinx's
// own script does that. Its marking is not used: it stops at the first diagram with a description.
const searchMarks = (() => {
  "use strict";
  const KEY = "book_search";
  const UNMARKED = "svg, mjx-container, script, style, .headerlink";

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

  const article = document.querySelector(".bd-article");
  const source = localStorage.getItem(KEY);
  if (article && source) {
    localStorage.removeItem(KEY);
    markPage(article, new RegExp(source, "giu"));
  }
  return { marked, forNextPage: (pattern) => localStorage.setItem(KEY, pattern.source) };
})();
