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
    await book.holdFonts();
    book.pages = settings.parts.flatMap((part) => part.pages);
    const column = book.make("div", { className: "bd-article-container" });
    const outline = [];
    for (const part of settings.parts) {
      const chapters = [];
      for (const page of part.pages) {
        const article = await book.article(settings.root, page);
        column.append(article);
        chapters.push({ id: article.id, title: paper.words(article.querySelector("h1")), sections: book.sections(article) });
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

  // The fonts themselves in the place of the rules that fetch them. For paper Chromium asks for the fonts once more and
  // waits two seconds at most: on a busy machine the book would be printed in whatever font there is.
  async holdFonts() {
    const rules = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules]).filter((rule) => rule instanceof CSSFontFaceRule);
    const hold = async ({ style, parentStyleSheet }) => {
      const name = style.getPropertyValue("font-family").replaceAll(/["']/g, "");
      const address = style.getPropertyValue("src").match(/url\("([^"]+)"\)/)[1];
      const answer = await fetch(new URL(address, parentStyleSheet.href ?? location.href));
      if (!answer.ok) throw new Error(`a font is not in the site: ${name}`);
      const [weight, slope] = ["font-weight", "font-style"].map((key) => style.getPropertyValue(key) || "normal");
      return new FontFace(name, await answer.arrayBuffer(), { weight, style: slope }).load();
    };
    for (const font of await Promise.all(rules.map(hold))) document.fonts.add(font);
    for (const rule of rules) rule.parentStyleSheet.deleteRule([...rule.parentStyleSheet.cssRules].indexOf(rule));
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
    book.sendToTheEnd(article);
    book.numberExercises(article);
    return article;
  },

  // A link to a page of the book leads there; a page of the site that is not in the book has no place to lead to.
  relink(link, target, root) {
    if (!target.href.startsWith(root)) return;
    const page = target.href.slice(root.length).split("#")[0].replace(/\.html$/, "");
    if (book.pages.includes(page)) link.setAttribute("href", "#" + book.key(page, decodeURIComponent(target.hash.slice(1))));
    else link.removeAttribute("href");
  },

  // Answers, hints and solutions stand at the end of the chapter, as on each page that is printed alone (paper.js of
  // the site). In a book the line under the question names the page, and so does the answer.
  sendToTheEnd(article) {
    paper.gather(article);
    const target = (line) => line.querySelector("a").getAttribute("href").slice(1);
    for (const line of article.querySelectorAll("p.see")) line.querySelector(".where").replaceWith("page ", book.pageOf(target(line)));
    for (const head of article.querySelectorAll("p.answer-head")) head.append(", to the question on page ", book.pageOf(target(head)));
  },

  // The index of exercises names their pages, in the column in which the screen shows what is solved.
  numberExercises(article) {
    for (const row of article.querySelectorAll("table.exercise-index tr:has(> [hidden])")) {
      const cell = row.lastElementChild;
      const link = row.querySelector("a[href^='#']");
      cell.hidden = false;
      if (cell.tagName === "TH") cell.textContent = "Page";
      else if (link) cell.replaceChildren(book.pageOf(link.getAttribute("href").slice(1)));
    }
  },

  // A place for the number of a page, filled in when the book has been printed once.
  pageOf(id) {
    const place = book.make("span", { className: "page-of" }, "000");
    place.dataset.of = id;
    return place;
  },

  fill(numbers) {
    for (const place of document.querySelectorAll(".page-of")) {
      if (!(place.dataset.of in numbers)) throw new Error(`no page is known for ${place.dataset.of}`);
      place.textContent = numbers[place.dataset.of];
    }
  },

  sections(box) {
    const found = [];
    for (const heading of box.querySelectorAll("section[id] > :is(h2, h3)")) {
      const section = { id: heading.parentElement.id, title: paper.words(heading), sections: [] };
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
