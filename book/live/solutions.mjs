// "A solution for when you have tried": before the first try it asks once. Without Python nobody knows of tries, and it opens.
import { button, element } from "./element.mjs";

export function guard(tried) {
  for (const solution of document.querySelectorAll("details.exercise-solution")) {
    const id = solution.parentElement.querySelector("[data-exercise]")?.dataset.exercise;
    const summary = solution.querySelector("summary");
    const ask = element("p", "live-ask");
    const open = () => {
      ask.remove();
      solution.open = true;
      summary.focus();
    };
    ask.append("The solution opens after your first try. ", button("Show it now", "", open));
    summary.addEventListener("click", (event) => {
      if (solution.open || ask.isConnected || tried(id)) return ask.remove();
      event.preventDefault();
      solution.after(ask);
      ask.querySelector("button").focus();
    });
  }
}
