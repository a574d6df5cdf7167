// Chapter 1: three scores and a temperature; the curves of the weights, and where the temperature stands on them.
import { element } from "./element.mjs";
import { clamp, drawing, drawn, number, numbers, Slider } from "./figure_parts.mjs";

const [LEFT, RIGHT, TOP, BOTTOM] = [54, 512, 14, 248];
const MOST = Math.log(3);

const across = (power) => LEFT + ((power + 1) / 3) * (RIGHT - LEFT); // power of ten of the temperature, -1 to 2
const down = (weight) => BOTTOM - weight * (BOTTOM - TOP);

export class TemperatureFigure {
  step = "temperature";
  name = "scores and temperature";

  constructor(moved) {
    this.svg = drawing(528, 300);
    this.sliders = [1, 2, 3].map((at) => new Slider(`score ${at}`, { min: -3, max: 5, step: 0.1, shown: (x) => number(x, 1) }, moved));
    this.temperature = new Slider("temperature T", { min: -1, max: 2, step: 0.02, shown: (power) => number(10 ** power) }, moved);
    const controls = element("div", "live-sliders");
    controls.append(this.temperature.row, ...this.sliders.map((slider) => slider.row));
    this.parts = [this.svg, controls];
    this.take({ scores: [2, 1, 0.1], T: 1 });
    this.drag(moved);
  }

  given() {
    return { scores: this.sliders.map((slider) => slider.at), T: 10 ** this.temperature.at };
  }

  take({ scores, T }) {
    this.sliders.forEach((slider, at) => (slider.at = scores[at]));
    this.temperature.at = Math.log10(T);
  }

  // The line of the temperature follows the pointer.
  drag(moved) {
    const follow = (event) => {
      const { left, width } = this.svg.getBoundingClientRect();
      const place = ((event.clientX - left) / width) * 528;
      this.temperature.at = clamp(((place - LEFT) / (RIGHT - LEFT)) * 3 - 1, -1, 2);
      moved();
    };
    this.svg.addEventListener("pointerdown", (event) => {
      this.svg.setPointerCapture(event.pointerId);
      follow(event);
    });
    this.svg.addEventListener("pointermove", (event) => this.svg.hasPointerCapture(event.pointerId) && follow(event));
  }

  draw({ weights, curves }) {
    const power = this.temperature.at;
    const parts = [];
    for (const weight of [0, 0.5, 1]) {
      parts.push(drawn("text", { x: LEFT - 8, y: down(weight) + 5, "text-anchor": "end" }, String(weight)));
    }
    for (const tick of [-1, 0, 1, 2]) {
      parts.push(drawn("line", { x1: across(tick), x2: across(tick), y1: BOTTOM, y2: BOTTOM + 5, class: "axis" }));
      parts.push(drawn("text", { x: across(tick), y: BOTTOM + 22, "text-anchor": "middle" }, String(10 ** tick)));
    }
    parts.push(drawn("path", { d: `M${LEFT} ${TOP}V${BOTTOM}H${RIGHT}`, class: "axis" }));
    parts.push(drawn("text", { x: (LEFT + RIGHT) / 2, y: 294, "text-anchor": "middle" }, "temperature T"));
    const middle = (TOP + BOTTOM) / 2;
    parts.push(drawn("text", { x: 14, y: middle, "text-anchor": "middle", transform: `rotate(-90 14 ${middle})` }, "weight"));
    for (const curve of curves) {
      const points = curve.map((weight, at) => `${across(-1 + (3 * at) / (curve.length - 1))},${down(weight).toFixed(1)}`);
      parts.push(drawn("polyline", { points: points.join(" "), class: "weights" }));
    }
    parts.push(drawn("line", { x1: across(power), x2: across(power), y1: TOP, y2: BOTTOM, class: "marker" }));
    this.svg.replaceChildren(...parts, ...this.labels(weights, across(power)));
  }

  // A dot for each weight and its label beside it; labels that would overlap are moved apart.
  labels(weights, place) {
    const left = place > 300;
    const { scores } = this.given();
    const order = weights.map((_, at) => at).sort((one, other) => weights[other] - weights[one]);
    const lines = order.map((at) => clamp(down(weights[at]), TOP + 8, BOTTOM - 8));
    for (let at = 1; at < 3; at++) lines[at] = Math.max(lines[at], lines[at - 1] + 22);
    const over = Math.max(0, lines[2] - (BOTTOM - 8));
    if (over) for (let at = 2, most = BOTTOM - 8; at >= 0; at--, most -= 22) lines[at] = Math.min(lines[at], most);
    return order.flatMap((at, rank) => {
      const side = left ? { x: place - 12, "text-anchor": "end" } : { x: place + 12 };
      const text = drawn("text", { ...side, y: lines[rank] + 5, class: "over" });
      text.append(
        drawn("tspan", { class: "scores" }, `score ${number(scores[at], 1)}: `),
        drawn("tspan", { class: "weights" }, number(weights[at], 3)),
      );
      return [drawn("circle", { cx: place, cy: down(weights[at]), r: 5, class: "weights" }), text];
    });
  }

  sentence({ weights, entropy }) {
    const T = number(10 ** this.temperature.at);
    return `T = ${T}: the weights are ${numbers(weights, 3)}; their entropy is ${number(entropy)}, of at most ${number(MOST)}.`;
  }
}
