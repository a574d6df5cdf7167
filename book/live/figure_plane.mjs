// Chapter 2: a query and three keys in a plane, to be dragged; the weights, as discs, and the output follow.
import { element } from "./element.mjs";
import { clamp, drawing, drawn, number, numbers, Slider } from "./figure_parts.mjs";

const NAMES = ["query", "cat", "mat", "sat"];
const [WIDTH, HEIGHT, LEFT, TOP, UNIT, SIDE] = [504, 376, 52, 8, 100, 1.6];
const STEP = 0.05;

const across = (x) => LEFT + (x + SIDE) * UNIT;
const down = (y) => TOP + (SIDE - y) * UNIT;
const onGrid = (x) => Number((Math.round(clamp(x, -SIDE, SIDE) / STEP) * STEP).toFixed(2));

export class PlaneFigure {
  step = "plane";
  name = "query and keys";

  constructor(moved) {
    this.svg = drawing(WIDTH, HEIGHT);
    this.moved = moved;
    this.chosen = 0;
    const choice = element("fieldset", "live-choice", "<legend>What moves</legend>");
    this.choices = NAMES.map((name, at) => {
      const label = element("label");
      const input = Object.assign(element("input"), { type: "radio", name: "live-plane", checked: at === 0 });
      input.addEventListener("change", () => this.choose(at));
      label.append(input, at ? ` key of ${name}` : " query");
      choice.append(label);
      return input;
    });
    this.sliders = ["a thing?", "alive?"].map(
      (name, axis) =>
        new Slider(name, { min: -SIDE, max: SIDE, step: STEP }, (x) =>
          this.place(this.chosen, this.points[this.chosen].with(axis, x)),
        ),
    );
    const controls = element("div", "live-sliders");
    controls.append(choice, ...this.sliders.map((slider) => slider.row));
    this.parts = [this.svg, controls];
    this.take({ query: [0.8, 1], keys: [[1, 1], [1, -1], [-1, -1]] });
    this.drag();
  }

  given() {
    return { query: this.points[0], keys: this.points.slice(1) };
  }

  take({ query, keys }) {
    this.points = [query, ...keys];
    this.choose(this.chosen);
  }

  choose(at) {
    this.chosen = at;
    this.choices[at].checked = true;
    this.sliders.forEach((slider, axis) => (slider.at = this.points[at][axis]));
  }

  place(at, point) {
    this.points[at] = point.map(onGrid);
    this.choose(at);
    this.moved();
  }

  drag() {
    const under = (event) => {
      const { left, top, width } = this.svg.getBoundingClientRect();
      const scale = WIDTH / width;
      return [((event.clientX - left) * scale - LEFT) / UNIT - SIDE, SIDE - ((event.clientY - top) * scale - TOP) / UNIT];
    };
    let held = null;
    // A finger on a point moves the point, in every direction; anywhere else on the drawing it scrolls the page.
    this.svg.addEventListener("touchstart", (event) => event.target.dataset?.at !== undefined && event.preventDefault(), { passive: false });
    this.svg.addEventListener("pointerdown", (event) => {
      const at = event.target.dataset?.at;
      if (at === undefined) return;
      held = Number(at);
      this.svg.setPointerCapture(event.pointerId);
      this.choose(held);
    });
    this.svg.addEventListener("pointermove", (event) => held !== null && this.place(held, under(event)));
    for (const end of ["pointerup", "pointercancel"]) this.svg.addEventListener(end, () => (held = null));
  }

  draw({ weights }) {
    const [query, ...keys] = this.points;
    const parts = [drawn("circle", { cx: across(0), cy: down(0), r: Math.SQRT2 * UNIT, class: "guide" })];
    parts.push(drawn("path", { d: `M${LEFT} ${TOP}V${down(-SIDE)}H${WIDTH - 8}`, class: "axis" }));
    for (const tick of [-1, 0, 1]) {
      parts.push(drawn("text", { x: across(tick), y: down(-SIDE) + 22, "text-anchor": "middle" }, number(tick, 0)));
      parts.push(drawn("text", { x: LEFT - 8, y: down(tick) + 5, "text-anchor": "end" }, number(tick, 0)));
    }
    parts.push(drawn("text", { x: across(0), y: HEIGHT - 4, "text-anchor": "middle" }, "a thing?"));
    parts.push(drawn("text", { x: 14, y: down(0), "text-anchor": "middle", transform: `rotate(-90 14 ${down(0)})` }, "alive?"));
    keys.forEach(([x, y], at) => {
      parts.push(drawn("circle", { cx: across(x), cy: down(y), r: 29 * Math.sqrt(weights[at]), class: "disc" }));
      parts.push(drawn("circle", { cx: across(x), cy: down(y), r: 5, class: "key" }));
    });
    parts.push(...this.arrow(query));
    keys.forEach(([x, y], at) => {
      parts.push(drawn("text", { x: across(x) + 32, y: down(y) + 5, class: "key over" }, `${NAMES[at + 1]}: ${number(weights[at], 3)}`));
    });
    // What the pointer takes hold of, larger than what is seen. The query lies on top: a key beneath it can be chosen below.
    [1, 2, 3, 0].forEach((at) => {
      const [x, y] = this.points[at];
      parts.push(drawn("circle", { cx: across(x), cy: down(y), r: 22, class: "handle", "data-at": at }));
    });
    this.svg.replaceChildren(...parts);
  }

  arrow([x, y]) {
    const [fromX, fromY, toX, toY] = [across(0), down(0), across(x), down(y)];
    const length = Math.hypot(toX - fromX, toY - fromY);
    const parts = [drawn("line", { x1: fromX, y1: fromY, x2: toX, y2: toY, class: "query" })];
    if (length > 1) {
      const [unitX, unitY] = [(toX - fromX) / length, (toY - fromY) / length];
      const side = (turn) => `${toX - 12 * unitX - turn * 6 * unitY},${toY - 12 * unitY + turn * 6 * unitX}`;
      parts.push(drawn("polygon", { points: `${toX},${toY} ${side(1)} ${side(-1)}`, class: "query" }));
    }
    parts.push(drawn("text", { x: (fromX + toX) / 2 - 12, y: (fromY + toY) / 2 + 5, "text-anchor": "end", class: "query over" }, "query"));
    return parts;
  }

  sentence({ weights, output }) {
    const [query] = this.points;
    const each = weights.map((weight, at) => `${NAMES[at + 1]} ${number(weight, 3)}`).join(", ");
    return `Query (${numbers(query)}): the weights are ${each}; the output is (${numbers(output)}).`;
  }
}
