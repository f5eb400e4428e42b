// A browser with the book in it, for tests that read as a person would. Pages are
// opened from the disk. A test that ends well has met no error in the console and
// no request for anything outside the book.
//
//   import { reading } from "./book.mjs";
//   reading("a click on a word does so and so", "softmax#how", async (page) => {...});
//   reading("...", "softmax on a phone", { viewport: ... }, async (page) => {...});

import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { basename, join, resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { stripVTControlCharacters } from "node:util";
import { chromium } from "playwright-core";

export const root = resolve(fileURLToPath(import.meta.url), "../../..");
export const build = resolve(root, process.env.BUILD ?? "build");
export const folder = join(build, "book");

// How long a test waits for anything: who waits longer has found a fault. No test says
// how soon something is there.
export const LIMIT = 60_000;

// How many pages are open at a time.
export const atOnce = Number(process.env.JOBS) || availableParallelism();

// The tests by their titles; all.mjs runs them.
export const tests = new Map();
export function test(title, body) {
  assert.ok(!tests.has(title), `two tests are called: ${title}`);
  tests.set(title, body);
}

// The ways in which a page is read.
const form = (width, height, more = {}) => ({ viewport: { width, height }, ...more });
export const forms = {
  light: form(1200, 900),
  dark: form(1200, 900, { colorScheme: "dark" }),
  phone: form(390, 844, { isMobile: true, hasTouch: true, deviceScaleFactor: 2 }),
  plain: form(1200, 900, { javaScriptEnabled: false }),
};

// The names of a book's pages, without ".html".
export function pagesOf(book = folder) {
  const files = existsSync(book) ? readdirSync(book) : [];
  const pages = files.flatMap((name) => name.match(/^(.*)\.html$/)?.[1] ?? []);
  assert.ok(pages.includes("index"), `${book}/index.html is not there: make makes it`);
  return pages.sort();
}

function chromiumPath() {
  const folders = (process.env.PATH ?? "").split(":").concat("/usr/bin");
  const places = [process.env.CHROMIUM ?? folders.map((place) => join(place, "chromium"))].flat();
  const found = places.find((place) => existsSync(place));
  assert.ok(found, `no Chromium at ${places.join(", ")}: install chromium, or set CHROMIUM`);
  return found;
}

let launched;
export function browser() {
  launched ??= chromium.launch({
    executablePath: chromiumPath(),
    args: process.getuid?.() === 0 ? ["--no-sandbox"] : [],
  });
  return launched;
}
export const close = async () => (await launched)?.close();

// The address of a page such as "softmax", "softmax#how" or "softmax?a=b".
export function address(page, book = folder) {
  const [, name, rest] = page.match(/^([^?#]*)(.*)$/);
  return pathToFileURL(join(book, `${name}.html`)).href + rest;
}

// An address without its %, where it can be read so: "softmax.html#100%" cannot.
function readable(url) {
  try {
    return decodeURI(url);
  } catch {
    return url;
  }
}

// Notes what goes wrong in a page, as it happens.
function watch(page, book) {
  const inside = `${pathToFileURL(book).href}/`;
  const here = () => readable(page.url()).replace(inside, "");
  page.on("pageerror", (error) => page.faults.push(`${here()}: ${error.stack ?? error}`));
  page.on("console", (said) => {
    if (!["error", "warning"].includes(said.type())) return;
    const { url, lineNumber } = said.location();
    page.faults.push(`${here()}: console: ${said.text()} (${basename(url)}:${lineNumber + 1})`);
  });
  page.on("request", (request) => {
    const url = request.url();
    if (url.startsWith(inside) || /^(data|blob|about):/.test(url)) return;
    page.faults.push(`${here()}: a request that leaves the book: ${url}`);
  });
  page.on("requestfailed", (request) => {
    const why = request.failure()?.errorText;
    if (why !== "net::ERR_ABORTED") page.faults.push(`${here()}: ${request.url()}: ${why}`);
  });
}

// A page in a context of its own, which shares nothing with any other. Its
// `faults` are what went wrong in it so far, and `asked` what it asked for;
// `close()` closes the context, and `prepare` readies it before the page is there.
export async function open(page, { form: name = "light", book = folder, prepare, ...more } = {}) {
  assert.ok(forms[name], `no form '${name}'`);
  const context = await (await browser()).newContext({ ...forms[name], offline: true, ...more });
  await prepare?.(context);
  const opened = await context.newPage();
  opened.setDefaultTimeout(LIMIT);
  watch(opened, book);
  opened.on("request", (request) => opened.asked.push(request.url()));
  opened.close = () => context.close();
  await turnTo(opened, page, book);
  return opened;
}

// Another page, of which nothing is known yet, in the same tab: that takes a third of the
// time of a new one.
export async function turnTo(opened, page, book) {
  Object.assign(opened, { faults: [], asked: [] });
  await opened.goto(address(page, book));
  await opened.evaluate(() => document.fonts.ready);
}

export const press = async (page, ...keys) => {
  for (const key of keys) await page.keyboard.press(key);
};

// What has the focus: its name, or its text.
export const focused = (page) =>
  page.evaluate(() => {
    const it = document.activeElement;
    return (it.ariaLabel ?? it.labels?.[0]?.textContent ?? it.textContent).trim();
  });

// Waits until a thing stands in the window, below the bar that stays on small screens.
export const inView = async (locator) =>
  locator.page().waitForFunction(
    (it) => {
      const { top, bottom } = it.getBoundingClientRect();
      const bar = document.querySelector(".top")?.offsetHeight ?? 0;
      return top >= bar && bottom <= innerHeight;
    },
    await locator.elementHandle(),
  );

// Waits until the page is at a place, "softmax.html#how" or a pattern.
export const leadsTo = (page, place) =>
  page.waitForURL((url) => (place.test ? place.test(url) : url.href.endsWith(`/${place}`)));

// Whether what is done begins to lead anywhere else; the page stays.
export async function leads(page, deed) {
  await page.evaluate(() => {
    delete document.documentElement.dataset.left;
    navigation.onnavigate = (event) => {
      event.preventDefault();
      document.documentElement.dataset.left = event.destination.url;
    };
  });
  await deed();
  return page.evaluate(() => {
    navigation.onnavigate = null;
    return document.documentElement.dataset.left !== undefined;
  });
}

// Types what is searched for, and waits for what is found.
export const closed = (page) => page.locator("dialog[open]").waitFor({ state: "detached" });
export const options = (page) => page.getByRole("option");
export const says = (page, text) => page.getByRole("status").filter({ hasText: text }).waitFor();
export async function search(page, text) {
  await press(page, "/");
  const field = page.getByRole("combobox", { name: "Search the book" });
  await field.fill(text);
  await says(page, /place|Nothing/);
  return field;
}

// Keeps back what a page asks for until it is released.
export function held(pattern) {
  let release;
  const released = new Promise((done) => {
    release = done;
  });
  const prepare = (context) =>
    context.route(pattern, async (route) => {
      await released;
      await route.continue();
    });
  return { prepare, release };
}

// Answers what a page asks for with another script, or with none at all.
export const answering = (pattern, body) => (context) =>
  context.route(pattern, (route) =>
    body ? route.fulfill({ body, contentType: "text/javascript" }) : route.abort(),
  );

// A driver's error tells its steps in colours, and then once more.
function plainly(error) {
  error.stack = stripVTControlCharacters(error.stack);
  delete error.log;
  return error;
}

// A test that reads a page, "softmax", in the light form unless it is "softmax on a phone",
// "softmax in the dark" or "softmax without scripts".
const FORMS = { "on a phone": "phone", "in the dark": "dark", "without scripts": "plain" };
export function reading(title, what, options, body = options) {
  const [, page, how] = what.match(/^(\S+) ?(.*)$/);
  test(title, async () => {
    const opened = await open(page, { form: FORMS[how], ...(body === options ? {} : options) });
    try {
      await body(opened);
      assert.deepEqual(opened.faults, [], "no error and no request outside the book");
    } catch (error) {
      throw plainly(error);
    } finally {
      await opened.close();
    }
  });
}
