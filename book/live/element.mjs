// What the page adds to itself is made here.

export function element(name, classes = "", html = "") {
  const made = document.createElement(name);
  if (classes) made.className = classes;
  if (html) made.innerHTML = html;
  return made;
}

export function button(text, of, act) {
  const made = element("button", "live-button");
  made.type = "button";
  label(made, text, of);
  made.addEventListener("click", act);
  return made;
}

// A sentence as a list of texts and cells, put into an element: a cell becomes a link that leads to it.
export function put(place, sentence) {
  place.replaceChildren(...[sentence].flat().map((part) => typeof part === "string" ? part : part.link()));
}

export function plain(sentence) {
  return [sentence].flat().map((part) => typeof part === "string" ? part : part.name).join("");
}

// What is seen stands first in the name, for who speaks to the page.
export function label(made, text, of) {
  made.textContent = text;
  if (of) made.append(Object.assign(element("span", "visually-hidden"), { textContent: ` ${of}` }));
}
