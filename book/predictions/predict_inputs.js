// How a reader says what will happen: one of some options, their order, a number, a cell of a table. Each kind builds
// its input out of the block and returns how to read it, show what was given, lock it and clear it.
const predictInputs = (() => {
  "use strict";

  const make = (tag, properties, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };
  const key = (item) => item.querySelector("strong").textContent;
  const line = (item) => item.querySelector(":scope > p") ?? item; // Markdown may put an item's text into a paragraph

  // A word at what is the answer and at what was given, for eyes that do not tell colours apart.
  function mark(place, word) {
    place.classList.add(word === "your choice" ? "predict-given" : "predict-right");
    place.append(make("span", { className: "predict-mark", textContent: word }));
  }

  function unmark(block) {
    for (const word of block.querySelectorAll(".predict-mark")) word.remove();
    for (const place of block.querySelectorAll(".predict-given, .predict-right")) place.classList.remove("predict-given", "predict-right");
  }

  function choose(block) {
    const items = [...block.querySelectorAll(":scope > ul > li")];
    const radios = items.map((item) => {
      const radio = make("input", { type: "radio", name: `choice-${block.id}`, value: key(item) });
      const text = line(item);
      text.append(make("label", {}, radio, ...text.childNodes));
      return radio;
    });
    const place = (given) => radios.findIndex((radio) => radio.value === given);
    return {
      read: () => radios.find((radio) => radio.checked)?.value,
      fault: () => "Choose one first.",
      focus: () => radios[0].focus(),
      show(given, right) {
        radios[place(given)].checked = true;
        mark(line(items[place(right)]), "the answer");
        if (given !== right) mark(line(items[place(given)]), "your choice");
      },
      knows: (given) => place(given) >= 0,
      lock: (locked) => radios.forEach((radio) => (radio.disabled = locked)),
      clear() {
        radios.forEach((radio) => (radio.checked = false));
        unmark(block);
      },
    };
  }

  function order(block, say) {
    const list = block.querySelector(":scope > ul");
    const items = [...list.children];
    list.setAttribute("role", "list"); // its marks are drawn, which makes some browsers forget that it is one
    const button = (item, words, sign, step) => {
      const made = make("button", { type: "button", textContent: sign, onclick: () => move(item, step) });
      made.setAttribute("aria-label", `Move ${key(item)} ${words}`);
      return made;
    };
    for (const item of items) {
      const up = button(item, "up", "↑", -1);
      const down = button(item, "down", "↓", 1);
      item.append(make("span", { className: "predict-moves" }, up, down));
    }
    const now = () => [...list.children];

    function limit() {
      now().forEach((item, place) => {
        const [up, down] = item.querySelectorAll("button");
        up.disabled = place === 0;
        down.disabled = place === items.length - 1;
      });
    }

    function move(item, step) {
      if (step < 0) item.previousElementSibling.before(item);
      else item.nextElementSibling.after(item);
      limit();
      const [up, down] = item.querySelectorAll("button");
      const [same, other] = step < 0 ? [up, down] : [down, up];
      (same.disabled ? other : same).focus();
      say(`${key(item)} is now number ${now().indexOf(item) + 1} of ${items.length}`);
    }

    limit();
    return {
      read: () => now().map(key).join(", "),
      focus: () => list.querySelector("button:enabled").focus(),
      show: (given) => list.append(...given.split(", ").map((name) => items.find((item) => key(item) === name))),
      knows: (given) => given.split(", ").sort().join() === items.map(key).sort().join(),
      lock: (locked) => list.querySelectorAll(".predict-moves").forEach((moves) => (moves.hidden = locked)),
      clear() {
        list.append(...items);
        limit();
      },
    };
  }

  const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
  function value(text) {
    const parts = text.replaceAll("−", "-").split("/").map((part) => part.trim());
    if (parts.length > 2 || !parts.every((part) => NUMBER.test(part))) return null;
    const [above, below = 1] = parts.map(Number); // 1/8 is a number, too
    return Number.isFinite(above / below) ? above / below : null;
  }

  function number(block) {
    // No inputMode: the keys that a telephone shows for "decimal" lack the minus.
    const input = make("input", { type: "text", autocomplete: "off", size: 8, maxLength: 30 });
    const label = make("label", { className: "predict-number" }, "Your number ", input);
    input.addEventListener("keydown", (event) => event.key === "Enter" && block.querySelector(".predict-commit").click());
    input.addEventListener("input", () => input.removeAttribute("aria-invalid"));
    return {
      tool: label,
      read: () => (value(input.value) === null ? undefined : input.value.trim()),
      fault() {
        input.setAttribute("aria-invalid", "true");
        if (!input.value.trim()) return "Type a number first.";
        if (/^[^,]*\d,\d[^,]*$/.test(input.value)) return `Write it with a point: ${input.value.trim().replace(",", ".")}`;
        return "This is not a number. Write it like 0.5 or -2.";
      },
      focus: () => input.focus(),
      show: (given) => (input.value = given),
      knows: (given) => value(given) !== null,
      lock: (locked) => (input.disabled = locked),
      clear: () => (input.value = ""),
    };
  }

  function point(block, say) {
    const table = block.querySelector("table:not(details table)");
    const cells = [...table.tBodies[0].rows].map((row) => [...row.cells].slice(1));
    const flat = cells.flat();
    const name = (chosen) => {
      const row = cells.findIndex((row) => row.includes(chosen));
      return `row ${row}, column ${cells[row].indexOf(chosen)}`;
    };
    const chosen = () => flat.find((each) => each.getAttribute("aria-selected") === "true");
    const stop = (place) => flat.forEach((each) => (each.tabIndex = each === place ? 0 : -1)); // one stop of the Tab key
    const place = (given) => flat.find((each) => name(each) === given);
    let locked = false;

    const corner = table.tHead.rows[0].cells[0];
    if (!corner.textContent.trim()) corner.replaceWith(document.createElement("td")); // an empty heading names nothing
    for (const row of table.tBodies[0].rows) row.cells[0].setAttribute("role", "rowheader");
    table.setAttribute("role", "grid");
    table.setAttribute("aria-labelledby", block.getAttribute("aria-labelledby"));

    function choose(next) {
      for (const each of flat) each.setAttribute("aria-selected", String(each === next));
      if (next) say(`Chosen: ${name(next)}`);
    }

    function step(event) {
      const row = cells.findIndex((each) => each.includes(event.target));
      if (row < 0 || locked) return;
      const column = cells[row].indexOf(event.target);
      const next = {
        ArrowUp: cells[row - 1]?.[column],
        ArrowDown: cells[row + 1]?.[column],
        ArrowLeft: cells[row][column - 1],
        ArrowRight: cells[row][column + 1],
        Home: cells[row][0],
        End: cells[row].at(-1),
      };
      if (event.key === " " || event.key === "Enter") choose(event.target);
      else if (event.key in next) {
        stop(next[event.key] ?? event.target);
        (next[event.key] ?? event.target).focus();
      } else return;
      event.preventDefault();
    }

    table.addEventListener("keydown", step);
    table.addEventListener("click", ({ target }) => {
      const clicked = target.closest("td");
      if (locked || !flat.includes(clicked)) return;
      stop(clicked);
      choose(clicked);
    });
    stop(flat[0]);
    choose(null);
    return {
      read: () => chosen() && name(chosen()),
      fault: () => "Choose a cell first.",
      focus: () => flat.find((each) => each.tabIndex === 0).focus(),
      show(given, right) {
        for (const each of flat) each.setAttribute("aria-selected", String(each === place(given)));
        mark(place(right), "the answer");
        if (given !== right) mark(place(given), "your choice");
      },
      knows: (given) => Boolean(place(given)),
      lock(isLocked) {
        locked = isLocked;
        table.classList.toggle("locked", locked);
        table.setAttribute("aria-readonly", String(locked));
        stop(locked ? null : flat[0]);
      },
      clear() {
        choose(null);
        unmark(block);
      },
    };
  }

  return { make, key, line, value, kinds: { choose, order, number, point } };
})();
