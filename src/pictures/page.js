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
// So does pointing at a statement, or at a line of a program that comes from it; with the arrays that are made of it.
const parts = new Map(), statements = new Map();
for (const element of document.querySelectorAll("[data-of]")) {
  const name = element.dataset.of;
  if (!parts.has(name)) parts.set(name, []);
  parts.get(name).push(element);
  if (element.matches("button")) statements.set(name, element);
}
const chosen = new Set(), kept = new Set();
let pointed = null, pointedPart = null, pointedStatement = false, lit = [], from = [];
function light() {
  for (const element of lit) element.classList.remove("lit");
  for (const element of from) element.classList.remove("from");
  const names = new Set(chosen), of = new Set(kept);
  if (pointed !== null) names.add(pointed);
  if (pointedPart !== null) of.add(pointedPart);
  for (const name of pointedStatement ? of : kept)
    for (const array of statements.get(name)?.dataset.arrays.split(" ") ?? []) names.add(array);
  lit = [...names].flatMap(name => named.get(name) ?? []);
  from = [...of].flatMap(name => parts.get(name) ?? []);
  for (const element of lit) element.classList.add("lit");
  for (const element of from) element.classList.add("from");
  document.body.classList.toggle("lighting", lit.length > 0);
}
function point(target) {
  const within = selector => target instanceof Element ? target.closest(selector) : null;
  const name = within("[data-array]")?.dataset.array ?? null, part = within("[data-of]");
  const of = part?.dataset.of ?? null, statement = part !== null && part.matches("button");
  if (name === pointed && of === pointedPart && statement === pointedStatement) return;
  pointed = name, pointedPart = of, pointedStatement = statement;
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
// A click keeps a statement lit. One on a statement opens the programs, each at its first line of that statement.
function keep(name) {
  if (!kept.delete(name)) kept.add(name);
  statements.get(name)?.setAttribute("aria-pressed", String(kept.has(name)));
  light();
}
function show(name) {
  for (const program of document.querySelectorAll(".programs details")) {
    const first = [...program.querySelectorAll("[data-of]")].find(part => part.dataset.of === name);
    if (!first) continue;
    program.open = true;
    const box = program.querySelector(".code");
    box.scrollTop += first.getBoundingClientRect().top - box.getBoundingClientRect().top - 40;
  }
}
document.addEventListener("click", event => {
  const part = event.target instanceof Element && !event.target.closest("a") ? event.target.closest("[data-of]") : null;
  if (!part) return;
  keep(part.dataset.of);
  if (part.matches("button") && kept.has(part.dataset.of)) show(part.dataset.of);
});

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
