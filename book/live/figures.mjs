// Figures that come alive once Python runs: the reader moves what stands in them, the library computes, the page draws.
// The picture of the page gives way, and comes back for paper and when the library cannot answer.
import { MaskFigure } from "./figure_mask.mjs";
import { PlaneFigure } from "./figure_plane.mjs";
import { TemperatureFigure } from "./figure_temperature.mjs";
import { button, element } from "./element.mjs";

const FIGURES = { "fig-temperature": TemperatureFigure, "fig-plane": PlaneFigure, "fig-tiny": MaskFigure };
const awake = new Map();
const REST = 500; // milliseconds without a step, after which a screen reader is told

// ask(name, given) resolves with numbers, or null; hear(sentence) says it in the page's one live region.
export function wake(ask, hear) {
  for (const [id, Kind] of Object.entries(FIGURES)) {
    const figure = document.getElementById(id);
    if (figure && !awake.has(id)) awake.set(id, new Live(figure, Kind, ask, hear));
    else if (awake.get(id)?.box.hidden) awake.get(id).step(false); // Python had been lost
  }
}

class Live {
  constructor(figure, Kind, ask, hear) {
    Object.assign(this, { figure, ask, hear });
    this.box = element("div", "live-figure");
    this.kind = new Kind(() => this.step());
    this.book = JSON.stringify(this.kind.given());
    this.said = element("p", "live-sentence");
    this.own = element("span", "live-own");
    this.own.textContent = "Your numbers; the caption speaks of the book's.";
    this.back = button("As in the book", this.kind.name, () => {
      this.kind.take(JSON.parse(this.book));
      this.step();
    });
    const row = element("div", "live-buttons");
    row.append(this.back, this.own);
    this.box.append(...this.kind.parts, this.said, row);
    figure.querySelector("figcaption").before(this.box);
    this.box.hidden = true;
    this.step(false);
  }

  // One question at a time; what was moved meanwhile is asked as one.
  async step(aloud = true) {
    this.aloud = aloud;
    if (this.asking) {
      this.again = true;
      return;
    }
    this.asking = true;
    let numbers;
    do {
      this.again = false;
      numbers = await this.ask(this.kind.step, this.kind.given());
    } while (this.again);
    this.asking = false;
    this.figure.classList.toggle("live-alive", Boolean(numbers));
    this.box.hidden = !numbers;
    if (numbers) this.show(numbers);
  }

  show(numbers) {
    const moved = JSON.stringify(this.kind.given()) !== this.book;
    this.kind.draw(numbers);
    this.said.textContent = this.kind.sentence(numbers);
    this.own.hidden = this.back.hidden = !moved;
    clearTimeout(this.rest);
    if (this.aloud) this.rest = setTimeout(() => this.hear(this.said.textContent), REST);
  }
}
