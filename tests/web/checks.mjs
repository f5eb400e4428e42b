// What holds for every page of a book. A check takes the folder with the book, or
// what visits to its pages found, and returns its faults, a line each, that begin
// with the page and, where there is one, the line.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { atOnce, open, pagesOf, turnTo } from "./book.mjs";
import { isGate, kinds } from "./gate.mjs";
import { look, lookedAt } from "./looks.mjs";
import { isPacked, unpacked } from "./packed.mjs";

const library = createRequire(import.meta.url);
const axe = readFileSync(library.resolve("axe-core/axe.min.js"), "utf8");
const vnu = join(library.resolve("vnu-jar/package.json"), "../build/dist/vnu.jar");

const limits = { weight: 250_000, shift: 0.05 };

// The widths in which a page has to fit, by the form in which it is read.
const widths = { light: [320, 390, 1000, 1920], phone: [390], plain: [1200] };

const read = (book, file) => readFileSync(join(book, file), "utf8");
const brief = (text) => text.replace(/\s+/g, " ").slice(0, 120);

// ------------------------------------------------------------------ markup

// Java that begins soon rather than runs fast at last: half a minute, else. Then
// its frames are larger, and the checker's recursion wants more than the usual stack.
const java = ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xss8m", "-jar", vnu];

// HTML and CSS as the Nu checker sees them. It ends well, too, if it has read no
// file at all, so that it has to have said something in its own form.
export async function markup(book, wanted = /\.(html|css)$/) {
  const files = readdirSync(book).filter((name) => wanted.test(name));
  const args = [...java, "--exit-zero-always", "--also-check-css", "--format", "json", "--stdout"];
  const options = { cwd: book, maxBuffer: 1 << 26 };
  const { stdout } = await promisify(execFile)("java", [...args, ...files], options);
  const { messages } = JSON.parse(stdout);
  assert.notEqual(files.length, 0);
  const wrong = messages.filter(
    ({ type, subType, message }) =>
      type !== "info" || (subType === "warning" && !message.startsWith("Trailing slash")),
  );
  return wrong.map(({ url = "vnu", lastLine = 1, message, extract = "" }) => {
    return `${basename(url)}:${lastLine}: ${message} ${brief(extract)}`;
  });
}

// ------------------------------------------------------------------- links

// What is wrong with a link to an address, where `ids` has the places of each page; or nothing.
function faultOfLink(book, ids, address) {
  if (!URL.canParse(address)) return "this is no address";
  const { protocol, href, hash } = new URL(address);
  if (/^(https?|data|blob):$/.test(protocol)) return "";
  const file = href.replace(/[?#].*/, "");
  const name = relative(book, protocol === "file:" ? fileURLToPath(file) : "/");
  if (name.startsWith("..")) return "leaves the book's folder";
  if (!statSync(join(book, name), { throwIfNoEntry: false })?.isFile())
    return "there is no such file";
  const place = decodeURIComponent(hash.slice(1));
  if (name === "workbench.html" && place.startsWith("stage=")) return ""; // tried by its tests
  return !place || !ids[name] || ids[name].has(place) ? "" : "there is no such place";
}

// The files of the book that a script, or what is packed in it, names in quotes.
function namedIn(book, file) {
  const script = read(book, file);
  const text = isPacked(script) ? unpacked(script).toString() : script;
  const names = text.matchAll(/(?<=["'(])[\w-]+\.(?:html|css|js|svg|woff2)(?:#[\w.-]+)?(?=["')])/g);
  return [...names].map(([name]) => [name, new URL(name, pathToFileURL(`${book}/`)).href]);
}

// Every link, picture, style sheet and script of every page that was visited, and every address
// that a script or its data names, leads to something that is there.
function links(book, seen) {
  const pages = seen.filter(({ form }) => form === "light");
  const ids = Object.fromEntries(pages.map((it) => [it.page, new Set(it.ids)]));
  const files = readdirSync(book).filter((name) => /\.(js|json|xml|css)$/.test(name));
  const all = [
    ...pages.map(({ page, links }) => [page, links]),
    ...files.map((file) => [file, namedIn(book, file)]),
  ].flatMap(([from, some]) => some.map(([text, address]) => ({ from, text, address })));
  const faults = all.flatMap(({ from, text, address }) => {
    const wrong = faultOfLink(book, ids, address);
    return wrong ? [`${from}: ${text}: ${wrong}`] : [];
  });
  return Object.assign(faults, { count: all.length });
}

// Runs in the page: its links, as they are written and as they lead; and what they can lead to.
const linked = () => {
  const all = (css) => [...document.querySelectorAll(css)];
  const links = ["href", "src", "action"].flatMap((name) =>
    all(`[${name}]:not(svg *, form:not([action]))`).map((it) => [it.getAttribute(name), it[name]]),
  );
  return { links, ids: all("[id]").map((it) => it.id) };
};

// ------------------------------------------------------- visits in a browser

// Sums up what moves, in the page. Runs there before anything of the page does.
function noteShifts() {
  globalThis.shifts = [];
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) {
      if (!entry.hadRecentInput) {
        const what = entry.sources.map(
          ({ node }) => node?.parentElement?.closest("[id]")?.id ?? node?.nodeName,
        );
        globalThis.shifts.push({ value: entry.value, what });
      }
    }
  }).observe({ type: "layout-shift", buffered: true });
  addEventListener("DOMContentLoaded", () => {
    if (!document.querySelector('head > [rel="stylesheet"][href$="fonts.css"]:not([media])'))
      globalThis.shifts.push({ value: 1, what: ["fonts.css, for which no page waits"] });
  });
}

// Runs in the page: the first thing that is wider than the window, and not within
// what scrolls by itself.
function tooWide() {
  const root = document.documentElement;
  if (root.scrollWidth <= root.clientWidth) return [];
  const reaches = (it) => it.getBoundingClientRect().right > root.clientWidth + 1;
  const scrolls = (it) =>
    it &&
    it !== document.body &&
    (getComputedStyle(it).overflowX !== "visible" || scrolls(it.parentElement));
  const all = [...document.body.querySelectorAll("*")];
  const it = all.find((each) => reaches(each) && !scrolls(each.parentElement)) ?? document.body;
  return [
    `${root.scrollWidth} px in ${root.clientWidth}: ${it.localName}.${it.className} ${it.id}`,
  ];
}

// Runs in a page with scripts: what could be run, and has no button for it.
function unpressable() {
  const all = (css) => [...document.querySelectorAll(css)];
  const dead = all("main code").filter(
    (it) =>
      /^make\s(-s\s)?run-/.test(it.textContent) &&
      !it.closest("button") &&
      !it.closest(".listing")?.querySelector(".runs"),
  );
  const outputs = all(".output[data-program]");
  dead.push(...outputs.filter((it) => it.querySelectorAll(".label .runs").length !== 1));
  const faults = dead.map((it) => `no button runs ${it.textContent.slice(0, 40)}`);
  if (all("main hgroup .runs").length !== (outputs.length ? 1 : 0))
    faults.push("not one button at the title");
  return faults;
}

// Runs in a page without scripts: what is shown there and does nothing; or is not shown.
function idle() {
  const shown = (css) => [...document.querySelectorAll(css)].filter((it) => it.checkVisibility());
  const dead = shown("button, input, dialog, kbd, .workbench:not(:has(p))");
  const faults = dead.map((it) => `does nothing: ${it.outerHTML.slice(0, 80)}`);
  if (document.querySelector("figure svg") && !shown("figure svg").length)
    faults.push("its figures are not shown");
  return faults;
}

const openFolds = () => {
  for (const fold of document.querySelectorAll("details")) fold.open = true;
};

// What axe finds in the page with all its folds open. In the dark, only what has to do
// with colours is looked at, and on a phone, where a page differs by its bars alone, one
// page of each kind.
export async function axeIn(page, form, name) {
  if (form === "phone" && !kinds.includes(name)) return [];
  const run = async (only) => {
    const options = { resultTypes: ["violations"], preload: false, ...(only && { runOnly: only }) };
    const found = await page.evaluate((given) => globalThis.axe.run(given), options);
    return found.violations.flatMap(({ id, help, nodes }) =>
      nodes.map(({ target, html }) => `${id}: ${help}: ${target.join(" ")}: ${brief(html)}`),
    );
  };
  await page.evaluate(axe);
  const found = await run();
  if (form === "phone") return found;
  await page.emulateMedia({ colorScheme: "dark" });
  const dark = await run(["cat.color"]);
  await page.emulateMedia({ colorScheme: "light" });
  return [...found, ...dark.map((fault) => `in the dark: ${fault}`)];
}

// Runs in the page: waits until all that has happened is laid out, and told.
const laidOut = () =>
  new Promise((done) =>
    requestAnimationFrame(() => requestAnimationFrame(() => requestIdleCallback(() => done()))),
  );

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
async function lookAt(page, name, form, withAxe) {
  const scripts = form !== "plain";
  if (scripts) await page.evaluate(laidOut);
  const found = { page: `${name}.html`, form, asked: new Set(page.asked), faults: page.faults };
  found.shifts = scripts ? await page.evaluate(() => globalThis.shifts) : [];
  Object.assign(found, await page.evaluate(linked));
  found.dead = await page.evaluate(scripts ? unpressable : idle);
  found.wide = await inWidths(page, widths[form], tooWide);
  const looks = () => (isGate ? [] : inWidths(page, lookedAt[form], look));
  found.looks = await looks();
  await page.evaluate(openFolds);
  found.looks.push(...(await looks()));
  found.barriers = scripts && withAxe ? await axeIn(page, form, name) : [];
  return found;
}

// Visits to pages of a book, with axe to some of them: a few tabs at a time, in each of
// which one page is opened after the other.
export async function visits(
  book,
  names = pagesOf(book),
  forms = Object.keys(widths),
  withAxe = names,
) {
  const seen = [];
  const prepare = (context) => context.addInitScript(noteShifts);
  for (const form of forms) {
    const left = [...names];
    const tabs = Array.from({ length: Math.min(atOnce, left.length) });
    const walk = async () => {
      const page = await open(left[0], { form, book, prepare });
      for (let name = left.shift(); name; name = left.shift()) {
        await turnTo(page, name, book);
        seen.push(await lookAt(page, name, form, withAxe.includes(name)));
      }
      await page.close();
    };
    await Promise.all(tabs.map(walk));
  }
  return seen;
}

const list = (seen, what) =>
  seen.flatMap((it) => what(it).map((fault) => `${it.page} (${it.form}): ${fault}`));

// ------------------------------------------------------------------ weight

// The modules of what can be run in a page. These count, as a chapter is there to be run.
function modulesOf(page, html) {
  const commands = html.matchAll(/data-program="([^_"]+)|\bmake\s(?:-s\s)?run-(\w+)/g);
  const programs = [...commands].map(([, own, other]) => own ?? other);
  if (page === "workbench.html") programs.push("workbench");
  return programs.map((name) => `programs/${name}.js`);
}

// The files that a page and all it asks for are, each with what it weighs on the way,
// compressed; the heaviest first.
function weightOf(book, { page, asked }) {
  const own = [...asked].filter((url) => url.startsWith("file:"));
  const files = new Set([page, ...own.map((url) => relative(book, fileURLToPath(url)))]);
  if (files.has("program.js"))
    for (const file of modulesOf(page, read(book, page))) files.add(file);
  const parts = [...files].map((file) => ({ file, size: packedSize(join(book, file)) }));
  const sum = parts.reduce((all, { size }) => all + size, 0);
  return { page, sum, parts: parts.sort((a, b) => b.size - a.size) };
}

const sizes = new Map();
function packedSize(path) {
  if (!sizes.has(path)) sizes.set(path, gzipSync(readFileSync(path), { level: 9 }).length);
  return sizes.get(path);
}

// The page that weighs most, in words.
export function heaviest(book, seen) {
  const [{ page, sum }] = seen.map((it) => weightOf(book, it)).sort((a, b) => b.sum - a.sum);
  return `${page} ${sum} bytes`;
}

// Programs that carry the text their models learn from may weigh more by that.
const carries = { "language-model.html": 50_000, "inside.html": 50_000 };

function faultOfWeight(book, it) {
  const { sum, parts } = weightOf(book, it);
  const most = parts.slice(0, 4).map(({ file, size }) => `${file} ${size}`);
  const isLess = it.form !== "light" || sum < limits.weight + (carries[it.page] ?? 0);
  return isLess ? [] : [`${sum} bytes compressed: ${most.join(", ")}`];
}

function faultOfShifts({ shifts }) {
  const sum = shifts.reduce((all, { value }) => all + value, 0);
  const [worst] = [...shifts].sort((a, b) => b.value - a.value);
  return sum < limits.shift ? [] : [`layout shifts by ${sum.toFixed(3)}, most at ${worst.what}`];
}

// The faults that visits have found, by what was looked for.
export const ofVisits = {
  links,
  axe: (_, seen) => list(seen, (it) => it.barriers),
  quiet: (_, seen) => list(seen, (it) => it.faults),
  width: (_, seen) => list(seen, (it) => it.wide),
  looks: (_, seen) => list(seen, (it) => [...new Set(it.looks)]),
  buttons: (_, seen) => list(seen, (it) => it.dead),
  shift: (_, seen) => list(seen, faultOfShifts),
  weight: (book, seen) => list(seen, (it) => faultOfWeight(book, it)),
};

// -------------------------------------------------------------- what is said

// Faults in few lines: what many pages have in common is said once.
export function summary(faults) {
  const places = new Map();
  for (const fault of faults) {
    const [, place, what] = fault.match(/^(\S+(?: \(\w+\))?): (.*)$/s) ?? [fault, "", fault];
    places.set(what, [...(places.get(what) ?? []), place]);
  }
  return [...places].map(([what, [first, ...others]]) => {
    const more = others.length ? ` and ${others.length} more` : "";
    return `${first}${more}: ${what}`;
  });
}
