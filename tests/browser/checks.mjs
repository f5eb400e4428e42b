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
import { build, open, pagesOf } from "./book.mjs";
import { isPacked, unpacked } from "./packed.mjs";

const library = createRequire(import.meta.url);
const axe = readFileSync(library.resolve("axe-core/axe.min.js"), "utf8");
const vnu = join(library.resolve("vnu-jar/package.json"), "../build/dist/vnu.jar");

export const limits = { weight: 250_000, shift: 0.05, widths: [320, 390, 1000, 1920] };

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

// Does work on each item, two at a time.
async function each(items, work, atOnce = 2) {
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
}

// Runs in the page: the first thing that is wider than the window, and not within
// what scrolls by itself.
function tooWide() {
  const root = document.documentElement;
  if (root.scrollWidth <= root.clientWidth) return "";
  const reaches = (it) => it.getBoundingClientRect().right > root.clientWidth + 1;
  const scrolls = (it) =>
    it &&
    it !== document.body &&
    (getComputedStyle(it).overflowX !== "visible" || scrolls(it.parentElement));
  const all = [...document.body.querySelectorAll("*")];
  const it = all.find((each) => reaches(each) && !scrolls(each.parentElement)) ?? document.body;
  return `${root.scrollWidth} px in ${root.clientWidth}: ${it.localName}.${it.className} ${it.id}`;
}

const openFolds = () => {
  for (const fold of document.querySelectorAll("details")) fold.open = true;
};

// What axe finds in the page with all its folds open. In the dark, where nothing but
// colours differs, only what has to do with colours is looked at.
async function axeIn(page, only) {
  await page.evaluate(openFolds);
  await page.evaluate(axe);
  const options = { resultTypes: ["violations"], preload: false, ...(only && { runOnly: only }) };
  const found = await page.evaluate((given) => globalThis.axe.run(given), options);
  return found.violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ target, html }) => `${id}: ${help}: ${target.join(" ")}: ${brief(html)}`),
  );
}

async function axeInBoth(page, form) {
  const found = await axeIn(page);
  if (form !== "light") return found;
  await page.emulateMedia({ colorScheme: "dark" });
  const dark = await axeIn(page, ["cat.color"]);
  await page.emulateMedia({ colorScheme: "light" });
  return [...found, ...dark.map((fault) => `in the dark: ${fault}`)];
}

// Fonts come late and cold, as they do on a first visit.
const slowFonts = (context) =>
  context.route(/fonts\.css$/, async (route) => {
    await new Promise((done) => setTimeout(done, 300));
    await route.continue();
  });

// One visit to one page in one form, and what was found there.
async function visit(book, name, form) {
  const scripts = form !== "plain";
  const prepare = async (context) => {
    if (scripts) await context.addInitScript(noteShifts);
    await slowFonts(context);
  };
  const page = await open(name, { form, book, prepare });
  try {
    const asked = new Set([name, ...page.asked]);
    await page.waitForTimeout(50);
    const shifts = scripts ? await page.evaluate(() => globalThis.shifts) : [];
    const wide = await faultsOfWidth(page, form);
    const barriers = scripts ? await axeInBoth(page, form) : [];
    return { page: `${name}.html`, form, shifts, wide, barriers, asked, faults: page.faults };
  } finally {
    await page.close();
  }
}

async function faultsOfWidth(page, form) {
  const { width, height } = page.viewportSize();
  const faults = [];
  for (const wanted of form === "light" ? limits.widths : [width]) {
    await page.setViewportSize({ width: wanted, height });
    const wide = await page.evaluate(tooWide);
    if (wide) faults.push(wide);
  }
  await page.setViewportSize({ width, height });
  return faults;
}

export async function visits(book, names = pagesOf(book), kinds = ["light", "phone", "plain"]) {
  const all = names.flatMap((name) => kinds.map((form) => [name, form]));
  return each(all, ([name, form]) => visit(book, name, form));
}

const list = (seen, what) =>
  seen.flatMap((it) => what(it).map((fault) => `${it.page} (${it.form}): ${fault}`));

export const accessibility = (seen) => list(seen, (it) => it.barriers);
export const widths = (seen) => list(seen, (it) => it.wide);
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
  return [...files].map((file) => {
    const packed = gzipSync(readFileSync(join(book, file)), { level: 9 });
    return { file, size: packed.length };
  });
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
const carries = { "gpt.html": 50_000 };

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

// ------------------------------------------------------------------ pictures

// Pictures of pages in the folder, for whoever wants to look.
export function screenshots(book, names, place) {
  const all = names.flatMap((name) => ["light", "dark", "phone"].map((form) => [name, form]));
  return each(all, async ([name, form]) => {
    const page = await open(name, { form, book });
    await page.screenshot({ path: join(place, `${name}-${form}.png`), fullPage: true });
    await page.close();
  });
}

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
