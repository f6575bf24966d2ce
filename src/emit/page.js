"use strict";
// Pointing at an array, or choosing it, lights it everywhere on the page.
for (const link of document.querySelectorAll("pre a"))
  link.dataset.array = document.getElementById(link.hash.slice(1)).closest("[data-array]").dataset.array;
for (const name of document.querySelectorAll("var")) name.dataset.array = name.textContent;
const named = new Map();
for (const element of document.querySelectorAll("[data-array]")) {
  const name = element.dataset.array;
  if (!named.has(name)) named.set(name, []);
  named.get(name).push(element);
}
const chosen = new Set();
let pointed = null, lit = [];
function light() {
  for (const element of lit) element.classList.remove("lit");
  const names = new Set(chosen);
  if (pointed !== null) names.add(pointed);
  lit = [...names].flatMap(name => named.get(name) ?? []);
  for (const element of lit) element.classList.add("lit");
  document.body.classList.toggle("lighting", lit.length > 0);
}
function point(target) {
  const element = target instanceof Element ? target.closest("[data-array]") : null;
  const name = element ? element.dataset.array : null;
  if (name === pointed) return;
  pointed = name;
  light();
}
document.addEventListener("pointerover", event => point(event.target));
document.addEventListener("pointerleave", () => point(null));
document.addEventListener("focusin", event => point(event.target));
document.addEventListener("focusout", () => point(null));
for (const button of document.querySelectorAll(".arrays button")) {
  button.addEventListener("click", () => {
    const name = button.dataset.array;
    if (!chosen.delete(name)) chosen.add(name);
    button.setAttribute("aria-pressed", String(chosen.has(name)));
    light();
  });
}

// A film shows one picture at a time: by its slider, its buttons, or the arrow keys.
for (const film of document.querySelectorAll(".film")) {
  const figures = [...film.querySelectorAll("figure")];
  const slider = film.querySelector("input"), place = film.querySelector("output");
  if (!slider) continue;
  const show = () => {
    figures.forEach((figure, i) => figure.classList.toggle("shown", i === Number(slider.value) - 1));
    place.textContent = slider.value + " of " + figures.length;
    slider.setAttribute("aria-valuetext", place.textContent + ": " + figures[Number(slider.value) - 1].getAttribute("aria-label"));
  };
  const step = by => { slider.value = Number(slider.value) + by; show(); };
  slider.addEventListener("input", show);
  for (const button of film.querySelectorAll("button")) button.addEventListener("click", () => step(Number(button.value)));
  document.addEventListener("keydown", event => {
    if (event.target === slider || event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.target !== document.body && !film.contains(event.target)) return;
    const by = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (by !== 0) step(by);
  });
  show();
}
// Lines of programs have their numbers.
for (const numbers of document.querySelectorAll("[data-lines]"))
  numbers.textContent = Array.from({ length: Number(numbers.dataset.lines) }, (_, i) => i + 1).join("\n");
document.body.classList.add("stepped");
