// The search page: ranks the pages of the book and the places on them (see search_page.py), and quotes what they say.
const Search = (() => {
  "use strict";

  const PLACES = 3; // at most, of a page
  const LONGEST = 240; // letters of a quotation
  // How much a match weighs: what a chapter says before what a reference page says, and that before the library.
  const KIND = { chapter: 1, reference: 0.7, library: 0.3 };

  const { pattern, anyOf } = searchMarks;
  const words = (text) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  const normal = (text) => words(text).join(" ");
  // "KVCache" is found as "kv cache", too.
  const split = (name) => name.replace(/(?<=[a-z\d])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g, " ");

  // What a word of the query has in common with its stem.
  function beginning(word) {
    const stem = new Stemmer().stemWord(word);
    let common = 0;
    while (common < stem.length && stem[common] === word[common]) common++;
    return word.slice(0, common);
  }

  const count = (text, term) => (text.match(term) ?? []).length;
  const share = (terms, ...texts) => terms.filter((term) => texts.some((text) => count(text, term))).length / terms.length;

  // A heading counts for more than the text below it, all words for more than some, and in their order for most.
  function rankPlace([, heading, text], terms, phrase) {
    const own = heading.replace(/^attnlib\.(.*\.)?|^[\d.]+ /, "");
    const names = [normal(own), normal(split(own))];
    const inHeading = share(terms, ...names);
    const inText = share(terms, text);
    let score = 4 * inHeading ** 2 + inText ** 2 + Math.min(8, terms.reduce((sum, term) => sum + count(text, term), 0)) / 8;
    if (names.some((name) => ` ${name} `.includes(` ${phrase} `))) score += 4;
    if (names.includes(phrase)) score += 4;
    if (normal(text).includes(phrase)) score += 1;
    return { score, inHeading, found: inHeading + inText > 0 };
  }

  function rankPage(page, terms, phrase) {
    if (share(terms, page.topic, ...page.places.flat()) < 1) return []; // each word is somewhere on the page
    const ranked = page.places.map((place) => ({ place, ...rankPlace(place, terms, phrase) }));
    const places = ranked.filter(({ found }) => found).sort((a, b) => b.score - a.score);
    if (!places.length) return [];
    const headings = ranked.reduce((sum, { inHeading }) => sum + inHeading, 0);
    const score = KIND[page.kind] * (places[0].score + 6 * share(terms, page.topic, page.places[0][1]) + Math.min(4, headings) / 2);
    return [{ page, score, places: places.slice(0, PLACES).map(({ place }) => place) }];
  }

  // A part of the text around the place where most words of the query stand together.
  function quotation(text, terms) {
    const hits = terms.flatMap((term) => [...text.matchAll(term)].map(({ index }) => ({ index, term })));
    const near = ({ index }) => new Set(hits.filter((hit) => Math.abs(hit.index - index) < LONGEST / 2).map(({ term }) => term)).size;
    const best = hits.sort((a, b) => near(b) - near(a) || a.index - b.index)[0]?.index ?? 0;
    const starts = [0, ...[...text.matchAll(/(?<=[.?!:] )\S/g)].map(({ index }) => index)];
    let start = starts.filter((index) => index <= best).pop(); // of the sentence
    if (best - start > LONGEST / 2) start = text.indexOf(" ", best - LONGEST / 3) + 1;
    let end = Math.min(text.length, start + LONGEST);
    if (end < text.length) end = text.lastIndexOf(" ", end);
    return (start ? "… " : "") + text.slice(start, end) + (end < text.length ? " …" : "");
  }

  function element(tag, className, ...content) {
    const made = document.createElement(tag);
    if (className) made.className = className;
    made.append(...content);
    return made;
  }

  function link(address, text) {
    const made = element("a", "", text);
    made.href = document.documentElement.dataset.content_root + address;
    return made;
  }

  // The words of a place around what was found, which is marked.
  function context(place, terms) {
    return element("p", "context", ...searchMarks.marked(quotation(place[2], terms), anyOf(terms)));
  }

  // A page, and below it its places. The page's own first words need no title of their own.
  function shown({ page, places, beginnings, terms }) {
    const title = page.places[0];
    const address = page.address + searchMarks.query(beginnings);
    const item = element("li", "", link(address, title[1]));
    const own = places.filter((place) => place === title);
    for (const place of own) item.append(context(place, terms));
    const list = element("ul", "");
    for (const place of places.filter((place) => place !== title)) {
      const section = element("li", "", link(`${address}#${place[0]}`, place[1]));
      section.append(context(place, terms));
      list.append(section);
    }
    if (list.children.length) item.append(list);
    return item;
  }

  // Names in common use for what the book calls otherwise. A name in one word (PagedAttention) is looked for in two, too.
  const ALSO = {
    "activation checkpointing": "gradient checkpointing",
    autograd: "backward",
    "automatic differentiation": "backward",
    backprop: "backward pass",
    backpropagation: "backward pass",
    "beam search": "shared blocks",
    "continuous batching": "batch",
    "key value cache": "kv cache",
    layernorm: "norm",
    "layer norm": "norm",
    "paged attention": "paged cache",
    pagedattention: "paged cache",
    ntk: "position interpolation",
    "positional encoding": "sinusoidal encoding",
    "positional embedding": "sinusoidal encoding",
    "residual stream": "residual connection",
    "reverse mode": "vector jacobian product",
    rmsnorm: "rms norm",
    "safe softmax": "softmax overflow",
    "soft capping": "softcap",
    softcapping: "softcap",
    vjp: "vector jacobian product",
    vllm: "paged cache",
    yarn: "position interpolation",
  };
  const readings = (query) => [...new Set([query, split(query), ALSO[normal(query)]].filter(Boolean))];

  function search(pages, query) {
    const asked = words(query);
    const meant = asked.filter((word) => !stopwords.includes(word));
    const beginnings = (meant.length ? meant : asked).map(beginning);
    const terms = beginnings.map(pattern);
    return terms.length ? pages.flatMap((page) => rankPage(page, terms, normal(query))).map((found) => ({ ...found, beginnings, terms })) : [];
  }

  function run(pages, query) {
    const best = new Map(); // of all readings of the query, the one that fits a page best
    for (const found of readings(query).flatMap((reading) => search(pages, reading))) {
      if (!(best.get(found.page)?.score >= found.score)) best.set(found.page, found);
    }
    const results = [...best.values()].sort((a, b) => b.score - a.score);
    const said = results.length
      ? `The search found ${results.length} page${results.length === 1 ? "" : "s"} for “${query}”.`
      : `Nothing was found for “${query}”: no page has all of these words.`;
    const list = element("ul", "search", ...results.map(shown));
    const status = element("p", "search-summary", said);
    status.setAttribute("role", "status");
    document.getElementById("search-results").replaceChildren(status, list);
  }

  // Called by search_text.js with all pages.
  function read(pages) {
    const query = new URLSearchParams(location.search).get("q")?.trim();
    if (!query) return;
    document.querySelectorAll('input[name="q"]').forEach((field) => (field.value = query));
    document.title = `“${query}” – ${document.title}`;
    run(pages, query);
  }

  return { read };
})();
