// The pages that napkin writes, in a browser: no errors, no network, slider, lighting, keyboard, light and dark, print,
// names for screen readers, axe-core, three widths. usage: node pages.test.js PROGRAM BROWSER TREE
import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { chromium } from "playwright-core";

const [program, executablePath, tree] = process.argv.slice(2);
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const example = name => `${tree}/examples/${name}.nap`;
const pages = {
  report: ["analyze", example("attention"), "--target", "h100-sxm5", "--format", "html"],
  plan: ["analyze", example("transformer_block"), "--target", "h100-sxm5", "--format", "html"],
  film: ["draw", example("attention"), "--derivation"],
  comparison: ["compare", example("attention"), "--target", "a100-sxm4-80", "--target", "h100-sxm5", "--format", "html"],
};

// The longest names that the language allows.
writeFileSync("long.nap", readFileSync(example("attention"), "utf8")
  .replace(/\bV\b/g, "V" + "alue".repeat(15)).replace(/\bx\b/g, "x" + "axis".repeat(15)));
pages.long = ["analyze", "long.nap", "--target", "h100-sxm5", "--format", "html"];

let checks = 0, failures = 0;
function check(holds, what) {
  ++checks;
  if (holds) return;
  ++failures;
  console.log(`FAILED: ${what}`);
}

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
// A page with what it complains of, and what it asks of the network.
async function open(name, options) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  const complaints = [], requests = [];
  page.on("console", message => { if (["error", "warning"].includes(message.type())) complaints.push(message.text()); });
  page.on("pageerror", error => complaints.push(String(error)));
  page.on("request", request => requests.push(request.url()));
  await page.goto(`file://${resolve(name + ".html")}`);
  return { page, context, complaints, requests };
}

// The least contrast of words in pictures against their paper: axe-core does not look there.
const leastContrast = () => {
  const light = color => {
    const [r, g, b] = color.match(/[\d.]+/g).map(Number).map(v => v / 255).map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  let least = Infinity;
  for (const svg of document.querySelectorAll("svg:has(.paper)")) {
    const paper = light(getComputedStyle(svg.querySelector(".paper")).fill);
    for (const text of svg.querySelectorAll("text")) {
      const words = light(getComputedStyle(text).fill);
      least = Math.min(least, (Math.max(words, paper) + 0.05) / (Math.min(words, paper) + 0.05));
    }
  }
  return least;
};

// Words that are wider than what holds them and cannot be scrolled to, and words of pictures that leave the picture.
const wordsOutside = () => {
  const found = [];
  const scrolls = element => { for (let e = element; e; e = e.parentElement) if (/auto|scroll/.test(getComputedStyle(e).overflowX)) return true; return false; };
  for (const element of document.querySelectorAll("h1, h2, h3, p, td, th, dd, dt, button, summary, li, code"))
    if (element.checkVisibility() && !scrolls(element) && element.scrollWidth > element.clientWidth + 1 && getComputedStyle(element).display !== "inline")
      found.push(`${element.tagName}: ${element.textContent.slice(0, 60)}`);
  for (const element of document.querySelectorAll("dd, button, .lead, .summary td"))
    if (element.checkVisibility() && (element.getBoundingClientRect().right > innerWidth || getComputedStyle(element).textOverflow === "ellipsis"))
      found.push(`cut ${element.tagName}: ${element.textContent.slice(0, 60)}`);
  for (const svg of document.querySelectorAll("svg:has(.paper)")) {
    if (!svg.checkVisibility()) continue;
    const box = svg.getBoundingClientRect();
    for (const text of svg.querySelectorAll("text")) {
      const words = text.getBoundingClientRect();
      if (words.width > 0 && (words.left < box.left - 1 || words.right > box.right + 1 || words.bottom > box.bottom + 1))
        found.push(`picture: ${text.textContent.slice(0, 60)}`);
    }
  }
  return found;
};

for (const [name, command] of Object.entries(pages)) {
  execFileSync(program, [...command, "--quiet", "-o", `${name}.html`]);
  check(statSync(`${name}.html`).size < 1e6, `${name} is under 1 MB`);
  // Colours are the same at every width, and axe-core, which takes longest, looks at the narrowest and in the dark.
  for (const colorScheme of ["light", "dark"])
    for (const width of colorScheme === "light" ? [360, 800, 1400] : [800]) {
      const where = `${name}, ${colorScheme}, ${width} wide`;
      const { page, context, complaints, requests } = await open(name, { colorScheme, viewport: { width, height: 900 } });
      check(complaints.length === 0, `${where}: no complaints, but ${complaints}`);
      check(requests.every(url => url.startsWith("file:")) && requests.length === 1, `${where}: asks for ${requests}`);
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      check(overflow <= 0, `${where}: ${overflow} too wide`);
      const cut = await page.evaluate(wordsOutside);
      check(cut.length === 0, `${where}: words outside of their box: ${cut.slice(0, 5)}`);
      const contrast = await page.evaluate(leastContrast);
      check(contrast >= 4.5, `${where}: words in pictures have a contrast of ${contrast}`);
      if (width === 360 || colorScheme === "dark") {
        await page.evaluate(axe);
        const found = await page.evaluate(() => axe.run());
        for (const one of found.violations)
          check(false, `${where}: ${one.id}: ${one.help}: ${one.nodes[0].html.slice(0, 200)} ${one.nodes[0].failureSummary}`);
        check(found.passes.length > 10, `${where}: axe-core looked`);
      }
      await context.close();
    }
}

{
  const { page, context } = await open("report", { viewport: { width: 1400, height: 900 } });
  const unnamed = await page.evaluate(() => [...document.querySelectorAll("svg")].filter(svg =>
    svg.getAttribute("role") !== "img" || !svg.getAttribute("aria-labelledby").split(" ").every(id => document.getElementById(id)?.textContent)).length);
  check(unnamed === 0, "every picture has its title and description");
  const twice = await page.evaluate(() => {
    const ids = [...document.querySelectorAll("[id]")].map(one => one.id);
    return ids.filter((id, i) => ids.indexOf(id) !== i);
  });
  check(twice.length === 0, `ids twice: ${twice}`);
  const broken = await page.evaluate(() => [...document.querySelectorAll("a[href]")].map(a => a.getAttribute("href"))
    .filter(href => !href.startsWith("#") || !document.getElementById(href.slice(1))));
  check(broken.length === 0, `links that lead nowhere: ${broken}`);

  const shown = () => page.evaluate(() => [...document.querySelectorAll(".film figure")]
    .flatMap((figure, i) => figure.checkVisibility() ? [i] : []).join());
  const last = await page.evaluate(() => document.querySelectorAll(".film figure").length - 1);
  check(last > 5, "the film has steps");
  check(await shown() === "0", "the film begins with its first picture alone");
  await page.locator(".film input").fill("3");
  check(await shown() === "2", "the slider shows the third");
  await page.getByRole("button", { name: "Next" }).click();
  check(await shown() === "3", "a button shows the next");
  await page.keyboard.press("ArrowLeft");
  check(await shown() === "2", "an arrow shows the one before");
  await page.locator(".film input").focus();
  await page.keyboard.press("End");
  check(await shown() === String(last), "the slider's own keys work");

  const lit = () => page.evaluate(() => [...document.querySelectorAll(".lit")].map(one =>
    `${one.dataset.array} ${one.closest("svg") ? "picture" : one.closest("pre") ? "program" : "words"}`));
  check((await lit()).length === 0, "nothing is lit at first");
  await page.locator("svg [data-array=K] .array").first().hover();
  const pointed = await lit();
  for (const part of ["K picture", "K program", "K words"]) check(pointed.includes(part), `pointing at K lights it: ${part}`);
  check(pointed.every(one => one.startsWith("K ")), "pointing at K lights nothing else");
  await page.mouse.move(1, 1);
  check((await lit()).length === 0, "and not for longer");
  const button = page.locator(".arrays button", { hasText: /^V$/ });
  await button.focus();
  await page.keyboard.press("Enter");
  await page.locator(".film input").focus();
  check((await lit()).includes("V picture"), "a button keeps an array lit, by keyboard");
  check(await button.getAttribute("aria-pressed") === "true", "and says so");
  await button.click();
  await page.mouse.move(1, 1);
  await page.locator(".film input").focus();
  check((await lit()).length === 0, "and no longer once pressed again");

  // Statements and the lines that they become light each other.
  const from = () => page.evaluate(() => [...document.querySelectorAll(".from")].map(one =>
    `${one.dataset.of} ${one.matches("button") ? "statement" : one.closest("details").querySelector("summary").textContent}`));
  const statement = page.locator(".statements button", { hasText: /^P/ });
  check((await from()).length === 0, "no line is lit at first");
  await statement.hover();
  const lines = await from();
  for (const part of ["P statement", "P attention.cu"]) check(lines.includes(part), `pointing at P lights it: ${part}, not only ${[...new Set(lines)]}`);
  check(lines.some(one => one.startsWith("P pseudocode")), "and its lines of pseudocode");
  check(lines.every(one => one.startsWith("P ")), "and no others");
  check((await lit()).some(one => one.endsWith("picture")), "and the arrays that are made of it, in pictures");
  await page.mouse.move(1, 1);
  check((await from()).length === 0, "and not for longer");
  const text = of => page.evaluate(name => [...document.querySelectorAll(`.programs [data-of="${name}"]`)].map(one => one.textContent).join(""), of);
  check(/max\[/.test(await text("P")) && /exp/.test(await text("P")) && /V/.test(await text("O")) && /load K_smem/.test(await text("K")), "lines are those of their statement");
  check(!/V_smem/.test(await text("S")), "and of no other");
  await statement.focus();
  await page.keyboard.press("Enter");
  check(await statement.getAttribute("aria-pressed") === "true", "a statement is kept lit by keyboard, and says so");
  check(await page.evaluate(() => [...document.querySelectorAll(".programs details")].filter(one => one.querySelector('[data-of="P"]')).every(one => one.open)), "which opens the programs");
  await page.mouse.move(1, 1);
  await page.locator(".film input").focus();
  check((await from()).includes("P attention.cu"), "and stays lit");
  await statement.click();
  await page.mouse.move(1, 1);
  await page.locator(".film input").focus();
  check((await from()).length === 0, "until it is pressed again");
  const line = page.locator('.programs details[open] [data-of="S"]').first();
  await line.click({ position: { x: 2, y: 8 } });
  await page.mouse.move(1, 1);
  check((await from()).includes("S statement"), "a click on a line keeps its statement lit");
  await line.click({ position: { x: 2, y: 8 } });
  await page.mouse.move(1, 1);

  const kernels = await page.evaluate(() => [...document.querySelectorAll("details.kernel")].map(one => one.open));
  check(kernels.length > 1 && kernels[0] && kernels.slice(1).every(open => !open), `kernels are folded but for the first: ${kernels}`);
  const facts = await page.evaluate(() => [...document.querySelectorAll(".facts dt")].map(one => one.textContent));
  check(["time", "bound by", "tile"].every(one => facts.includes(one)), `the header says ${facts}`);
  const beside = await page.evaluate(() => new Set([...document.querySelectorAll(".summary section")].map(one => one.getBoundingClientRect().left)).size);
  check(beside === 2, `at 1400 the summary has two columns, not ${beside}`);

  // A colour means one array in all charts, and no other.
  const colours = await page.evaluate(() => [...document.querySelectorAll(".charts rect.bar")].flatMap(bar => {
    const of = bar.dataset.array ?? bar.closest("[data-array]")?.dataset.array;
    return of ? [[of, getComputedStyle(bar).fill]] : [];
  }));
  check(new Set(colours.map(String)).size === new Set(colours.map(one => one[0])).size, "an array has one colour in all charts");
  check(new Set(colours.map(one => one[1])).size === new Set(colours.map(one => one[0])).size, "and no two arrays share one");

  let reached = 0;
  await page.locator("body").click({ position: { x: 1, y: 1 } });
  for (let i = 0; i < 12; ++i) {
    await page.keyboard.press("Tab");
    reached += await page.evaluate(() => document.activeElement !== document.body && document.activeElement.matches(":focus-visible"));
  }
  check(reached === 12, "Tab walks through what can be used, and shows where it is");

  await page.locator("svg [data-array=K] .array").first().hover();
  await page.emulateMedia({ media: "print", colorScheme: "dark" });
  const printed = await page.evaluate(() => ({
    figures: [...document.querySelectorAll(".film figure")].every(figure => figure.checkVisibility()),
    paper: getComputedStyle(document.body).backgroundColor,
    tools: document.querySelector(".film nav").checkVisibility(),
    pale: [...document.querySelectorAll("svg [data-array]")].filter(one => getComputedStyle(one).opacity !== "1").length,
  }));
  check(printed.pale === 0, "nothing is printed pale, wherever the pointer stands");
  check(printed.figures && !printed.tools, "print shows every step, and no slider");
  check(printed.paper === "rgb(255, 255, 255)", "print is on white");
  const pdf = await page.pdf({ format: "A4" });
  check(pdf.subarray(0, 4).toString() === "%PDF" && pdf.length > 20000, "it prints to PDF");
  await context.close();
}

{
  const { page, context } = await open("report", { colorScheme: "dark" });
  const dark = await page.evaluate(() => [getComputedStyle(document.body).backgroundColor, getComputedStyle(document.querySelector("svg .paper")).fill]);
  check(dark[0] !== "rgb(255, 255, 255)" && dark[0] === dark[1], `in the dark pictures stand on the page's own ground: ${dark}`);
  await context.close();
}

{
  const { page, context } = await open("report", { javaScriptEnabled: false });
  check(await page.locator(".film figure").last().isVisible(), "without scripts every step is there");
  await context.close();
}

await browser.close();
console.log(`${checks} checks, ${failures} failed`);
process.exit(failures === 0 && checks > 0 ? 0 : 1);
