// What live figures share: drawn elements, sliders with a name and a value, numbers as the book prints them.
import { element } from "./element.mjs";

export function drawn(name, attributes = {}, text = "") {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text) made.textContent = text;
  return made;
}

// A drawing for the eye and the pointer; the keyboard and a screen reader have the sliders and the sentence.
export function drawing(width, height) {
  return drawn("svg", { viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true", class: "live-drawing" });
}

export function number(value, digits = 2) {
  const text = value.toFixed(digits);
  return (Number(text) === 0 ? text.replace("-", "") : text).replace("-", "\u2212");
}

export function numbers(values, digits = 2) {
  return values.map((value) => number(value, digits)).join(", ");
}

export function clamp(value, least, most) {
  return Math.min(most, Math.max(least, value));
}

// A slider with its name before it and its value behind it.
export class Slider {
  constructor(name, { min, max, step, shown = number }, moved) {
    this.row = element("label", "live-slider");
    this.name = element("span");
    this.name.textContent = name;
    this.input = Object.assign(element("input"), { type: "range", min, max, step });
    this.value = element("span", "live-value");
    this.value.setAttribute("aria-hidden", "true");
    this.shown = shown;
    this.row.append(this.name, this.input, this.value);
    this.input.addEventListener("input", () => {
      this.show();
      moved(this.at);
    });
  }

  get at() {
    return Number(this.input.value);
  }

  set at(value) {
    this.input.value = value;
    this.show();
  }

  show() {
    this.value.textContent = this.shown(this.at);
    this.input.setAttribute("aria-valuetext", this.value.textContent);
  }
}
