// In the browser: make one document of the pages of the site, to be printed as a book.
// Ids get the page's name before them, so that links from page to page become links inside the document.
const book = {
  key: (page, id) => page.replaceAll("/", "-") + (id ? "--" + id : ""),

  make(tag, properties, ...children) {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  },

  // settings: {root, title, author, version, notes, parts: [{caption, pages: [name, ...]}]}
  async assemble(settings) {
    book.pages = settings.parts.flatMap((part) => part.pages);
    const column = book.make("div", { className: "bd-article-container" });
    const outline = [];
    for (const part of settings.parts) {
      const chapters = [];
      for (const page of part.pages) {
        const article = await book.article(settings.root, page);
        column.append(article);
        chapters.push({ id: article.id, title: book.words(article.querySelector("h1")), sections: book.sections(article) });
      }
      outline.push({ caption: part.caption, chapters });
    }
    column.prepend(book.cover(settings), book.contents(outline, column));
    const content = book.make("div", { className: "bd-content" }, column);
    document.body.replaceChildren(book.make("main", { className: "bd-main paper" }, content));
    document.head.append(book.make("style", { textContent: book.heads(outline) }));
    document.title = settings.title;
    book.checkLinks();
    await Promise.all([...document.images].map((picture) => picture.decode()));
    return outline;
  },

  async article(root, page) {
    const address = `${root}${page}.html`;
    const answer = await fetch(address);
    if (!answer.ok) throw new Error(`${page}.html is not in the site`);
    const parsed = new DOMParser().parseFromString(await answer.text(), "text/html");
    const article = document.importNode(parsed.querySelector("article"), true);
    for (const element of article.querySelectorAll("[id]")) element.id = book.key(page, element.id);
    for (const element of article.querySelectorAll("[aria-labelledby], [aria-describedby]")) {
      for (const name of ["aria-labelledby", "aria-describedby"]) {
        const ids = (element.getAttribute(name) || "").split(/\s+/).filter(Boolean);
        if (ids.length) element.setAttribute(name, ids.map((id) => book.key(page, id)).join(" "));
      }
    }
    for (const element of article.querySelectorAll("svg *")) {
      for (const attribute of element.attributes) {
        attribute.value = attribute.value.replace(/url\(#([^)]+)\)/g, (_, id) => `url(#${book.key(page, id)})`);
      }
    }
    for (const picture of article.querySelectorAll("img")) {
      picture.loading = "eager";
      picture.src = new URL(picture.getAttribute("src"), address).href;
    }
    for (const link of article.querySelectorAll("a[href]")) book.relink(link, new URL(link.getAttribute("href"), address), root);
    // Words of code in the colour of the text need no element of their own: there are tens of thousands.
    for (const word of article.querySelectorAll(".highlight :is(span.n, span.p, span.w, pre > span:empty)")) word.replaceWith(...word.childNodes);
    article.normalize();
    article.id = book.key(page);
    article.style.page = article.id;
    book.gatherHelps(article);
    return article;
  },

  // A link to a page of the book leads there; a page of the site that is not in the book has no place to lead to.
  relink(link, target, root) {
    if (!target.href.startsWith(root)) return;
    const page = target.href.slice(root.length).split("#")[0].replace(/\.html$/, "");
    if (book.pages.includes(page)) link.setAttribute("href", "#" + book.key(page, decodeURIComponent(target.hash.slice(1))));
    else link.removeAttribute("href");
  },

  // Hints and solutions stand at the end of the chapter: on paper nothing is folded.
  gatherHelps(article) {
    const boxes = [...article.querySelectorAll(".exercise-helps")];
    if (!boxes.length) return;
    const section = book.make("section", { id: article.id + "--hints-and-solutions", className: "helps" });
    section.append(book.make("h2", {}, "Hints and solutions"));
    for (const box of boxes) {
      const exercise = box.closest("section.exercise");
      const id = exercise.id + "--help";
      box.replaceWith(book.make("p", { className: "see" }, book.make("a", { href: "#" + id }, "Hints and solution"), ": page ", book.pageOf(id)));
      const heading = book.make("h3", {}, book.make("a", { href: "#" + exercise.id }, book.words(exercise.querySelector("h2, h3, h4"))));
      section.append(book.make("section", { id }, heading, box));
    }
    article.querySelector("section").append(section);
  },

  // A place for the number of a page, filled in when the book has been printed once.
  pageOf(id) {
    const place = book.make("span", { className: "page-of" }, "000");
    place.dataset.of = id;
    return place;
  },

  fill(numbers) {
    for (const place of document.querySelectorAll(".page-of")) place.textContent = numbers[place.dataset.of];
  },

  // The text of a heading, a formula as the MathML for screen readers says it.
  words(heading) {
    const copy = heading.cloneNode(true);
    for (const extra of copy.querySelectorAll(".headerlink, mjx-math")) extra.remove();
    return copy.textContent.replace(/\s+/g, " ").trim();
  },

  sections(box) {
    const found = [];
    for (const heading of box.querySelectorAll("section[id] > :is(h2, h3)")) {
      const section = { id: heading.parentElement.id, title: book.words(heading), sections: [] };
      if (heading.tagName === "H3" && found.length) found.at(-1).sections.push(section);
      else found.push(section);
    }
    return found;
  },

  // The PDF knows a place only if a link leads to it; the outline leads to more places than the text.
  unseen: (id) => book.make("a", { href: "#" + id, hidden: true }),

  cover(settings) {
    const lines = [settings.author, settings.version, ...settings.notes].map((text) => book.make("p", {}, text));
    return book.make("article", { className: "bd-article cover" }, book.make("p", { className: "title" }, settings.title), ...lines, book.unseen("contents"));
  },

  contents(outline, column) {
    const line = (entry, rest) => {
      const heading = column.querySelector(`#${CSS.escape(entry.id)} :is(h1, h2)`);
      const copy = heading.cloneNode(true);
      for (const extra of copy.querySelectorAll(".headerlink, [id]")) extra.remove();
      const link = book.make("a", { href: "#" + entry.id }, book.make("span", {}, ...copy.childNodes), book.pageOf(entry.id));
      return book.make("li", {}, link, ...rest);
    };
    const list = (entries, rest) => book.make("ul", {}, ...entries.map((entry) => line(entry, rest(entry))));
    const unseen = (section) => section.sections.map(({ id }) => book.unseen(id));
    const sections = (chapter) => (chapter.sections.length ? [list(chapter.sections, unseen)] : []);
    const nav = book.make("article", { className: "bd-article contents", id: "contents" }, book.make("h1", {}, "Contents"));
    for (const part of outline) {
      if (part.caption) nav.append(book.make("p", { className: "part" }, part.caption));
      nav.append(list(part.chapters, sections));
    }
    return nav;
  },

  // Above each page the title of its chapter: a kind of page for each.
  heads(outline) {
    const chapters = outline.flatMap((part) => part.chapters);
    return chapters.map(({ id, title }) => `@page ${id} { @top-left { content: ${JSON.stringify(title)} } }`).join("\n");
  },

  checkLinks() {
    for (const link of document.querySelectorAll("a[href^='#']")) {
      const id = link.getAttribute("href").slice(1);
      if (!document.getElementById(id)) throw new Error(`a link leads nowhere: ${id}`);
    }
  },
};
