// Chapter 4: a mask to paint, four queries by four keys; the weights follow, and a gradient.
import { element } from "./element.mjs";
import { number, numbers } from "./figure_parts.mjs";

const SIDE = 4;
const PLACES = [...Array(SIDE * SIDE).keys()];
const HINT =
  "Rows are queries, columns keys. The gradient is that of each query's mean key number, the sum of k times its weight, " +
  "with respect to the scores: 0 where a key is hidden.";

export class MaskFigure {
  step = "mask";
  name = "mask";

  constructor(moved) {
    this.row = 1;
    this.moved = moved;
    const grids = element("div", "live-grids");
    this.cells = this.buttons();
    grids.append(
      panel("mask: paint it", this.cells, "group", "Mask, query by key; arrow keys move, Space paints"),
      ...["scores", "weights", "gradient"].map((name) => {
        this[name] = PLACES.map(() => element("span", "live-square"));
        return panel(name, this[name], "img", name);
      }),
    );
    const note = element("p", "live-hint");
    note.textContent = HINT;
    this.parts = [grids, note];
    this.take({ keep: PLACES.map((at) => at % SIDE <= Math.floor(at / SIDE)) });
  }

  buttons() {
    const cells = PLACES.map((at) => {
      const cell = Object.assign(element("button", "live-square"), { type: "button", tabIndex: at ? -1 : 0, textContent: "0" });
      cell.addEventListener("pointerdown", (event) => {
        cell.releasePointerCapture(event.pointerId); // else a finger stays with its first cell
        this.brush = !this.kept(at);
        this.paint(at, this.brush);
      });
      cell.addEventListener("pointerenter", (event) => event.buttons && this.brush !== undefined && this.paint(at, this.brush));
      cell.addEventListener("click", (event) => event.detail === 0 && this.paint(at, !this.kept(at))); // the keyboard's
      cell.addEventListener("keydown", (event) => this.key(event, at));
      cell.addEventListener("focus", () => this.cells.forEach((each) => (each.tabIndex = each === cell ? 0 : -1)));
      return cell;
    });
    for (const end of ["pointerup", "pointercancel"]) document.addEventListener(end, () => (this.brush = undefined));
    return cells;
  }

  key(event, at) {
    const [row, column] = [Math.floor(at / SIDE), at % SIDE];
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!step) return;
    event.preventDefault();
    const to = [row + step[0], column + step[1]];
    if (to.every((place) => place >= 0 && place < SIDE)) this.cells[to[0] * SIDE + to[1]].focus();
  }

  kept(at) {
    return this.cells[at].getAttribute("aria-pressed") === "true";
  }

  set(at, keep) {
    const shown = keep ? "1" : "0";
    this.cells[at].setAttribute("aria-pressed", keep);
    this.cells[at].setAttribute("aria-label", `query ${Math.floor(at / SIDE)}, key ${at % SIDE}: ${shown}`); // what is seen is heard
    this.cells[at].firstChild.data = shown; // a new node would end what a finger on the old one does, in Firefox
  }

  paint(at, keep) {
    if (this.kept(at) === keep) return;
    this.row = Math.floor(at / SIDE);
    this.set(at, keep);
    this.moved();
  }

  given() {
    const rows = [0, 1, 2, 3].map((row) => PLACES.slice(row * SIDE, (row + 1) * SIDE));
    return { keep: rows.map((row) => row.map((at) => this.kept(at))) };
  }

  take({ keep }) {
    keep.flat().forEach((each, at) => this.set(at, each));
  }

  draw({ scores, weights, gradient }) {
    const most = Math.max(...gradient.flat().map(Math.abs), 1e-9);
    fill(this.scores, scores, (score) => (100 * score) / 3, (score) => number(score, 0));
    fill(this.weights, weights, (weight) => 100 * weight);
    fill(this.gradient, gradient, (slope) => (100 * Math.abs(slope)) / most);
    this.gradient.forEach((cell, at) => cell.classList.toggle("below", gradient.flat()[at] < 0));
    for (const [name, rows] of Object.entries({ scores, weights, gradient })) {
      const said = rows.map((row, at) => `query ${at}: ${numbers(row)}`).join("; ");
      this[name][0].parentElement.setAttribute("aria-label", `${name}, ${said}`);
    }
  }

  sentence({ weights, gradient }) {
    const { row } = this;
    const seen = this.given().keep[row].some(Boolean);
    if (!seen) return `Query ${row} sees nothing: attnlib gives it the weights ${numbers(weights[row])}.`;
    return `Query ${row}: weights ${numbers(weights[row])}; gradient ${numbers(gradient[row])}.`;
  }
}

function panel(title, cells, role, label) {
  const made = element("div", "live-grid");
  const head = element("div", "live-title");
  head.textContent = title;
  const grid = element("div", `live-cells ${title.split(":")[0]}`);
  grid.setAttribute("role", role);
  grid.setAttribute("aria-label", label);
  grid.append(...cells);
  made.append(head, grid);
  return made;
}

// Two fifths of the colour at most, so that the number stays readable in both schemes.
function fill(cells, rows, share, text = number) {
  rows.flat().forEach((value, at) => {
    cells[at].textContent = text(value);
    cells[at].style.setProperty("--share", `${(0.4 * share(value)).toFixed(1)}%`);
  });
}
