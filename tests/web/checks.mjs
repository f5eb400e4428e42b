// What holds for every page of a book. A check takes the folder with the book, or
// what visits to its pages found, and returns its faults, a line each, that begin
// with the page and, where there is one, the line.

import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { basename, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { atOnce, build, open, pagesOf, turnTo } from "./book.mjs";
import { isGate, kinds } from "./gate.mjs";
import { faultsOfLooks, lookedAt } from "./looks.mjs";
import { isPacked, unpacked } from "./packed.mjs";

const library = createRequire(import.meta.url);
const axe = readFileSync(library.resolve("axe-core/axe.min.js"), "utf8");
const vnu = join(library.resolve("vnu-jar/package.json"), "../build/dist/vnu.jar");

export const limits = { weight: 250_000, shift: 0.05 };

// The widths in which a page has to fit, by the form in which it is read.
const widths = { light: [320, 390, 1000, 1920], phone: [390], plain: [1200] };

const read = (book, file) => readFileSync(join(book, file), "utf8");
const brief = (text) => text.replace(/\s+/g, " ").slice(0, 120);
const lineAt = (text, index) => text.slice(0, index).split("\n").length;

function run(command, args, options = {}) {
  return new Promise((done) => {
    execFile(command, args, { maxBuffer: 1 << 26, ...options }, (error, out, err) =>
      done({ status: error ? (error.code ?? error.signal) : 0, out, err }),
    );
  });
}

// Does work on each item, a few at a time.
async function each(items, work) {
  const left = [...items.entries()];
  const results = [];
  const worker = async () => {
    for (let next = left.shift(); next; next = left.shift()) {
      results[next[0]] = await work(next[1]);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return results;
}

// ------------------------------------------------------------------ markup

// Java that begins soon rather than runs fast at last: half a minute, else. Then
// its frames are larger, and the checker's recursion wants more than the usual stack.
const java = ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xss8m", "-jar", vnu];

// HTML and CSS as the Nu checker sees them. It ends well, too, if it has read no
// file at all, so that it has to have said something in its own form.
export async function markup(book, wanted = /\.(html|css)$/) {
  const files = readdirSync(book).filter((name) => wanted.test(name));
  const args = [...java, "--also-check-css", "--format", "json", "--stdout"];
  const { out, err, status } = await run("java", [...args, ...files], { cwd: book });
  const said = out.startsWith("{") && JSON.parse(out).messages;
  if (!said || files.length === 0) throw new Error(`java -jar ${vnu}: status ${status}: ${err}`);
  const wrong = said.filter(
    ({ type, subType, message }) =>
      type !== "info" || (subType === "warning" && !message.startsWith("Trailing slash")),
  );
  return wrong.map((it) => {
    const place = `${basename(it.url ?? "vnu")}:${it.lastLine ?? 1}`;
    return `${place}: ${it.message} ${brief(it.extract ?? "")}`;
  });
}

// ------------------------------------------------------------------- links

const unescaped = (text) => text.replaceAll("&amp;", "&").replaceAll("&quot;", '"');

// Text in which what is not markup keeps its place, but holds no tags.
const markupOf = (html) => {
  const blank = (all) => all.replace(/[^\n]/g, " ");
  return html
    .replace(/<!--[\s\S]*?-->/g, blank)
    .replace(/(?<=<script[^>]*>)[\s\S]*?(?=<\/script>)/g, blank);
};

function idsIn(html) {
  return new Set(
    [...html.matchAll(/\s(?:id|name)="([^"]*)"/g)].map((match) => unescaped(match[1])),
  );
}

// What is wrong with a link on a page, or nothing.
function faultOfLink(book, page, link, ids) {
  if (/^https?:/.test(link)) return URL.canParse(link) ? "" : "this is no address";
  if (/^data:image\//.test(link)) return "";
  if (/^[a-z][a-z+.-]*:/i.test(link) || link.startsWith("/")) return "leaves the book's folder";
  const [, file, anchor] = link.match(/^([^?#]*)(?:\?[^#]*)?(?:#(.*))?$/);
  const target = file === "" ? page : decodeURIComponent(file);
  if (target.split("/").includes("..")) return "leaves the book's folder";
  const place = join(book, target);
  if (!existsSync(place) || statSync(place).isDirectory()) return "there is no such file";
  if (!anchor || !target.endsWith(".html")) return "";
  return ids.get(target)?.has(decodeURIComponent(anchor)) ? "" : "there is no such place";
}

// Every link, picture, style sheet and script of every page, and every address of
// a page that a script or its data names, leads to something that is there.
export async function links(book) {
  const pages = pagesOf(book).map((name) => `${name}.html`);
  const text = new Map(pages.map((page) => [page, markupOf(read(book, page))]));
  const ids = new Map(pages.map((page) => [page, idsIn(text.get(page))]));
  const faults = [];
  let count = 0;
  const look = (file, all, index, link) => {
    const wrong = faultOfLink(book, file, link, ids);
    count++;
    if (wrong) faults.push(`${file}:${lineAt(all, index)}: ${link}: ${wrong}`);
  };
  for (const [page, html] of text) {
    for (const match of html.matchAll(/<[a-z][^>]*?\s(?:href|src|action)="([^"]*)"/gi)) {
      look(page, html, match.index, unescaped(match[1]));
    }
  }
  for (const file of readdirSync(book).filter((name) => /\.(js|json|xml|css)$/.test(name))) {
    const script = read(book, file);
    const all = isPacked(script) ? unpacked(script).toString() : script;
    for (const match of all.matchAll(
      /(?<=["'(])[\w-]+\.(?:html|css|js|svg|woff2)(?:#[\w.-]+)?(?=["')])/g,
    )) {
      look(file, all, match.index, match[0]);
    }
  }
  return Object.assign(faults, { count });
}

// ----------------------------------------------------------------- figures

// The words and numbers of a drawing, in order.
function wordsOf(svg) {
  return [...svg.matchAll(/<(text|tspan|title|desc)\b[^>]*>([^<]*)/g)].map((match) =>
    match[2].trim(),
  );
}

// The figures on a page hold the numbers that its program draws when it is run.
export async function figures(book, wanted = /^\w+?_\w+$/) {
  const names = readdirSync(join(build, "chapters")).filter((name) => wanted.test(name));
  const lists = await each(names, async (name) => {
    const page = `${name.replace(/^\w+?_/, "").replaceAll("_", "-")}.html`;
    const drawn = mkdtempSync(join(tmpdir(), "figures-"));
    try {
      const env = { ...process.env, FIGURES: drawn };
      const { status, err } = await run(join(build, "chapters", name), [], { env });
      if (status !== 0) return [`${page}: ${name} ends with ${status}: ${err}`];
      return faultsOfFigures(book, page, drawn);
    } finally {
      rmSync(drawn, { recursive: true });
    }
  });
  return lists.flat();
}

function faultsOfFigures(book, page, drawn) {
  const html = read(book, page);
  const shown = [...html.matchAll(/<svg[^>]*aria-labelledby="([\w-]+?)-\w+-title[\s\S]*?<\/svg>/g)];
  return readdirSync(drawn).flatMap((file) => {
    const name = basename(file, ".svg");
    const words = wordsOf(readFileSync(join(drawn, file), "utf8"));
    const there = shown.filter((match) => match[0].includes(`aria-labelledby="${name}-`));
    if (there.length !== 1) return [`${page}: ${file} is shown ${there.length} times`];
    const line = lineAt(html, there[0].index);
    const on = wordsOf(there[0][0]);
    const at = words.findIndex((word, i) => word !== on[i]);
    if (at < 0 && on.length === words.length) return [];
    return [`${page}:${line}: ${file} shows "${on[at]}" where the program draws "${words[at]}"`];
  });
}

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
async function axeIn(page, form, name) {
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
async function inWidths(page, all, look) {
  const { width, height } = page.viewportSize();
  const faults = new Set();
  for (const wanted of all) {
    await page.setViewportSize({ width: wanted, height });
    for (const fault of await page.evaluate(look)) faults.add(fault);
  }
  await page.setViewportSize({ width, height });
  return [...faults];
}

// What is found on a page that was opened in a form.
async function lookAt(page, name, form, withAxe) {
  const scripts = form !== "plain";
  if (scripts) await page.evaluate(laidOut);
  const asked = new Set(page.asked);
  const shifts = scripts ? await page.evaluate(() => globalThis.shifts) : [];
  const dead = await page.evaluate(scripts ? unpressable : idle);
  const wide = await inWidths(page, widths[form], tooWide);
  const looks = isGate ? [] : await inWidths(page, lookedAt[form], faultsOfLooks);
  await page.evaluate(openFolds);
  if (!isGate) looks.push(...(await inWidths(page, lookedAt[form], faultsOfLooks)));
  const barriers = scripts && withAxe ? await axeIn(page, form, name) : [];
  return {
    page: `${name}.html`,
    form,
    shifts,
    dead,
    wide,
    looks,
    barriers,
    asked,
    faults: page.faults,
  };
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

export const accessibility = (seen) => list(seen, (it) => it.barriers);
export const wide = (seen) => list(seen, (it) => it.wide);
export const looks = (seen) => list(seen, (it) => [...new Set(it.looks)]);
export const dead = (seen) => list(seen, (it) => it.dead);
export const noise = (seen) => list(seen, (it) => it.faults);

export const shiftOf = ({ shifts }) => shifts.reduce((sum, { value }) => sum + value, 0);
export const shifting = (seen) =>
  list(seen, (it) => {
    const sum = shiftOf(it);
    const worst = [...it.shifts].sort((a, b) => b.value - a.value)[0];
    return sum < limits.shift
      ? []
      : [`layout shifts by ${sum.toFixed(3)}, most at ${worst.what.join(", ")}`];
  });

// ------------------------------------------------------------------ weight

// What only a reader's wish brings to a page: what is searched, and the modules of what
// can be run there. These count, as a chapter is there to be run.
const onDemand = ["search-index.js", "symbols.js"];

function modulesOf(page, html) {
  const commands = html.matchAll(/data-program="([^_"]+)|\bmake\s(?:-s\s)?run-(\w+)/g);
  const programs = [...commands].map(([, own, other]) => own ?? other);
  if (page === "workbench.html") programs.push("workbench");
  return programs.map((name) => `programs/${name}.js`);
}

// The files that a page and all it asks for are, each with what it weighs on the way:
// compressed.
export function weightOf(book, { page, asked }, more = []) {
  const files = new Set([page, ...more]);
  for (const url of asked) {
    if (url.startsWith("file:")) files.add(relative(book, fileURLToPath(url)));
  }
  if (files.has("program.js"))
    for (const file of modulesOf(page, read(book, page))) files.add(file);
  return [...files].map((file) => ({ file, size: packedSize(join(book, file)) }));
}

const sizes = new Map();
function packedSize(path) {
  if (!sizes.has(path)) sizes.set(path, gzipSync(readFileSync(path), { level: 9 }).length);
  return sizes.get(path);
}

const sumOf = (parts) => parts.reduce((all, { size }) => all + size, 0);

// The page that weighs most, in words.
export function heaviest(book, seen) {
  const sums = seen.map((it) => ({ page: it.page, sum: sumOf(weightOf(book, it)), it }));
  const [{ page, sum, it }] = sums.sort((a, b) => b.sum - a.sum);
  const all = sumOf(weightOf(book, it, onDemand));
  return `${page} ${sum} bytes, with ${onDemand.join(" and ")} ${all}`;
}

// A program that carries the text its model learns from may weigh more by that.
const carries = { "language-model.html": 50_000 };

export const heavy = (book, seen) =>
  list(
    seen.filter(({ form }) => form === "light"),
    (it) => {
      const parts = weightOf(book, it).sort((a, b) => b.size - a.size);
      const most = parts.slice(0, 4).map(({ file, size }) => `${file} ${size}`);
      const sum = sumOf(parts);
      return sum < limits.weight + (carries[it.page] ?? 0)
        ? []
        : [`${sum} bytes compressed: ${most.join(", ")}`];
    },
  );

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
