// What holds for every page of a book. A check returns its faults, a line each, that begin
// with the page.

import { execFile } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { availableParallelism } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { isGate, open, pagesOf, turnTo } from "./book.mjs";
import { isPacked, unpacked } from "./packed.mjs";

const library = createRequire(import.meta.url);
const axe = readFileSync(library.resolve("axe-core/axe.min.js"), "utf8");
const vnu = join(library.resolve("vnu-jar/package.json"), "../build/dist/vnu.jar");

// The widths in which a page has to fit, and those in which its looks are looked at, by the
// form in which it is read.
const widths = { light: [320, 390, 1000, 1920], phone: [390], plain: [1200] };
const lookedAt = { light: [1280, 1536, 1920], phone: [390], plain: [] };

// Pages of each kind, of which the gate asks axe.
const kinds = [
  ...["index", "preface", "softmax", "errata", "sheet", "workbench"],
  ...["glossary", "book-index", "reference", "sources", "learn", "teach"],
];

// HTML and CSS as the Nu checker sees them. Its recursion wants more than the usual stack.
export const markup = (book, pattern = /\.(html|css)$/) =>
  new Promise((done) => {
    const files = readdirSync(book).filter((name) => pattern.test(name));
    const args = ["-Xss8m", "-jar", vnu, "--also-check-css", "--filterpattern", "Trailing slash.*"];
    const options = { cwd: book, maxBuffer: 1 << 26 };
    execFile("java", [...args, ...files], options, (error, _, said) =>
      done(error ? [said || error.message] : []),
    );
  });

// ------------------------------------------------------------------- links

// Why a link leads nowhere, or "".
function faultOfLink(book, ids, address) {
  if (!URL.canParse(address)) return "this is no address";
  const { protocol, hash, href } = new URL(address);
  if (/^(https?|data|blob|mailto):$/.test(protocol)) return "";
  const name = relative(book, fileURLToPath(href.replace(/[?#].*/, "")));
  if (name.startsWith("..")) return "leaves the book's folder";
  if (!statSync(join(book, name), { throwIfNoEntry: false })?.isFile())
    return "there is no such file";
  const place = decodeURIComponent(hash.slice(1));
  if (name === "workbench.html" && place.startsWith("stage=")) return ""; // tried by its tests
  return !place || !ids[name] || ids[name].has(place) ? "" : "there is no such place";
}

// The files of the book that a script, or what is packed in it, names in quotes.
function namedIn(book, file) {
  const script = readFileSync(join(book, file), "utf8");
  const text = isPacked(script) ? unpacked(script).toString() : script;
  const names = text.matchAll(/(?<=["'(])[\w-]+\.(?:html|css|js|svg|woff2)(?:#[\w.-]+)?(?=["')])/g);
  return [...names].map(([name]) => [name, new URL(name, pathToFileURL(`${book}/`)).href]);
}

// Every link, picture, style sheet and script of every page that was visited, and every address
// that a script or its data names, leads to something that is there.
export function links(book, seen) {
  const pages = seen.filter(({ form }) => form === "light");
  const ids = Object.fromEntries(pages.map((it) => [it.page, new Set(it.ids)]));
  const files = readdirSync(book).filter((name) => /\.(js|json|xml|css)$/.test(name));
  const all = [
    ...pages.map(({ page, links }) => [page, links]),
    ...files.map((file) => [file, namedIn(book, file)]),
  ];
  return all.flatMap(([from, some]) =>
    some.flatMap(([text, address]) => {
      const wrong = faultOfLink(book, ids, address);
      return wrong ? [`${from}: ${text}: ${wrong}`] : [];
    }),
  );
}

// ------------------------------------------------------- run in a page

// Its links, as they are written and as they lead; and what they can lead to.
const linked = () => {
  const all = (css) => [...document.querySelectorAll(css)];
  const links = ["href", "src", "action"].flatMap((name) =>
    all(`[${name}]:not(svg *, form:not([action]))`).map((it) => [it.getAttribute(name), it[name]]),
  );
  return { links, ids: all("[id]").map((it) => it.id) };
};

// The first thing that is wider than the window, and not within what scrolls by itself.
function tooWide() {
  const root = document.documentElement;
  if (root.scrollWidth <= root.clientWidth) return [];
  const scrolls = (it) =>
    it &&
    it !== document.body &&
    (getComputedStyle(it).overflowX !== "visible" || scrolls(it.parentElement));
  const reaches = (it) => it.getBoundingClientRect().right > root.clientWidth + 1;
  const all = [...document.body.querySelectorAll("*")];
  const it = all.find((each) => reaches(each) && !scrolls(each.parentElement)) ?? document.body;
  return [`${root.scrollWidth} px in ${innerWidth}: ${it.localName}.${it.className} ${it.id}`];
}

// What could be run, and has no button for it.
function unpressable() {
  const all = (css) => [...document.querySelectorAll(css)];
  const isDead = (it) =>
    /^make\s(-s\s)?run-/.test(it.textContent) &&
    !it.closest("button") &&
    !it.closest(".listing")?.querySelector(".runs");
  const outputs = all(".output[data-program]");
  const dead = all("main code").filter(isDead);
  dead.push(...outputs.filter((it) => it.querySelectorAll(".label .runs").length !== 1));
  return dead.map((it) => `no button runs ${it.textContent.slice(0, 40)}`);
}

// In a page without scripts: what is shown there and does nothing; or is not shown.
function idle() {
  const shown = (css) => [...document.querySelectorAll(css)].filter((it) => it.checkVisibility());
  const dead = shown("button, input, dialog, kbd, .workbench:not(:has(p))");
  const faults = dead.map((it) => `does nothing: ${it.outerHTML.slice(0, 80)}`);
  if (document.querySelector("figure svg") && !shown("figure svg").length)
    faults.push("its figures are not shown");
  return faults;
}

// Blocks of text that lie on another; and in figures, texts that do, or are small, or cut.
function looks() {
  const brief = (it) => `"${it.textContent.trim().replace(/\s+/g, " ").slice(0, 40)}"`;
  const overlapping = (all, part) => {
    const boxes = all.map((it) => [it, it.getBoundingClientRect()]);
    boxes.sort((a, b) => a[1].top - b[1].top);
    return boxes.flatMap(([it, box], i) => {
      const below = boxes.slice(i + 1).filter(([other, { left, right, top, bottom }]) => {
        const wide = Math.min(box.right, right) - Math.max(box.left, left);
        const high = Math.min(box.bottom, bottom) - top;
        return wide > 1 && high > 1 + part * box.height && !it.contains(other);
      });
      return below.map(([other]) => `${brief(it)} lies on ${brief(other)}`);
    });
  };
  const ofFigure = (svg) => {
    const texts = [...svg.querySelectorAll("text")];
    const { left, right } = svg.getBoundingClientRect();
    const wrong = texts.filter((text) => {
      const { c, d } = text.getScreenCTM();
      const size = Number.parseFloat(getComputedStyle(text).fontSize) * Math.hypot(c, d);
      const box = text.getBoundingClientRect();
      return size < 9 || box.left < left - 1 || (box.right > right + 1 && text.textContent !== "›");
    });
    const faults = wrong.map((text) => `${brief(text)} is small, or cut off`);
    return [...faults, ...overlapping(texts, 0.3)].map((it) => `${svg.parentNode.id}: ${it}`);
  };
  const blocks = "p, pre, h1, h2, h3, li, summary, figcaption, table, .picture, .formula, .run";
  const seen = [...document.querySelectorAll(`main :is(${blocks})`)].filter(
    (it) => it.checkVisibility() && !it.closest(".spoken, table *, svg *"),
  );
  const figures = [...document.querySelectorAll("main svg.figure")];
  const faults = [...overlapping(seen, 0), ...figures.flatMap(ofFigure)];
  return faults.map((fault) => `at ${innerWidth} px: ${fault}`);
}

// ------------------------------------------------------- visits in a browser

// What axe finds in the page, and in the dark, of what has to do with colours.
export async function axeIn(page) {
  const run = async (only) => {
    const options = { resultTypes: ["violations"], preload: false, ...(only && { runOnly: only }) };
    const found = await page.evaluate((given) => globalThis.axe.run(given), options);
    return found.violations.flatMap(({ id, help, nodes }) =>
      nodes.map(({ target, html }) => `${id}: ${help}: ${target.join(" ")}: ${html.slice(0, 120)}`),
    );
  };
  await page.evaluate(axe);
  const found = await run();
  await page.emulateMedia({ colorScheme: "dark" });
  const dark = await run(["cat.color"]);
  await page.emulateMedia({ colorScheme: "light" });
  return [...found, ...dark.map((fault) => `in the dark: ${fault}`)];
}

// What a look at the page finds in some widths, which it leaves as it was.
async function inWidths(page, all, found) {
  const { width, height } = page.viewportSize();
  const faults = new Set();
  for (const wanted of all) {
    await page.setViewportSize({ width: wanted, height });
    for (const fault of await page.evaluate(found)) faults.add(fault);
  }
  await page.setViewportSize({ width, height });
  return [...faults];
}

// What is found on a page that was opened in a form.
async function lookAt(page, name, form) {
  const found = { page: `${name}.html`, form, quiet: page.faults };
  Object.assign(found, await page.evaluate(linked));
  found.buttons = await page.evaluate(form === "plain" ? idle : unpressable);
  found.width = await inWidths(page, widths[form], tooWide);
  await page.evaluate(() => {
    for (const fold of document.querySelectorAll("details")) fold.open = true;
  });
  found.looks = isGate ? [] : await inWidths(page, lookedAt[form], looks);
  const isAsked = form === "light" && (!isGate || kinds.includes(name));
  found.axe = isAsked ? await axeIn(page) : [];
  return found;
}

// Visits to pages of a book: in a few tabs, in each of which one page comes after the other.
export async function visits(book, names = pagesOf(book), forms = Object.keys(widths)) {
  const seen = [];
  const tabs = Math.min(names.length, Number(process.env.JOBS) || availableParallelism());
  for (const form of forms) {
    const walk = async (_, k) => {
      const page = await open(names[k], { form, book });
      for (let i = k; i < names.length; i += tabs) {
        await turnTo(page, names[i], book);
        seen.push(await lookAt(page, names[i], form));
      }
      await page.close();
    };
    await Promise.all(Array.from({ length: tabs }, walk));
  }
  return seen;
}

export const listed = (seen, what) =>
  seen.flatMap((it) => it[what].map((fault) => `${it.page} (${it.form}): ${fault}`));
