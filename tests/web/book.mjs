// A browser with the book in it, for tests that read as a person would. Pages are opened from
// the disk. A test that ends well has met no error in the console and no request for anything
// outside the book. A title with "(gate)" is one that `make check-pages` runs, too.
//
//   reading("a click on a word does so and so", "softmax#how", async (page) => {...});
//   reading("...", "softmax on a phone", { prepare: ... }, async (page) => {...});

import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

export const root = resolve(fileURLToPath(import.meta.url), "../../..");
export const build = resolve(root, process.env.BUILD ?? "build");
export const folder = join(build, "book");
export const isGate = Boolean(process.env.GATE);

// How long a test waits for anything, the training of a model included: who waits longer has
// found a fault. No test says how soon something is there.
const LIMIT = 180_000;

// The ways in which a page is read.
const form = (width, height, more = {}) => ({ viewport: { width, height }, ...more });
const forms = {
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

let launched;
function browser() {
  launched ??= chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: process.getuid?.() === 0 ? ["--no-sandbox"] : [],
  });
  return launched;
}
after(async () => (await launched)?.close());

// Notes what goes wrong in a page, as it happens.
function watch(page, book) {
  const inside = `${pathToFileURL(book).href}/`;
  const note = (what) => page.faults.push(`${page.url().replace(inside, "")}: ${what}`);
  page.on("pageerror", (error) => note(error.stack ?? error));
  page.on("console", (said) => {
    if (!["error", "warning"].includes(said.type())) return;
    const { url, lineNumber } = said.location();
    note(`console: ${said.text()} (${basename(url)}:${lineNumber + 1})`);
  });
  page.on("request", (request) => {
    const url = request.url();
    page.asked.push(url);
    if (url.startsWith(inside) || /^(data|blob|about):/.test(url)) return;
    note(`a request that leaves the book: ${url}`);
  });
  page.on("requestfailed", (request) => {
    const why = request.failure()?.errorText;
    if (why !== "net::ERR_ABORTED") note(`${request.url()}: ${why}`);
  });
}

// A page in a context of its own, which shares nothing with any other. Its `faults` are what
// went wrong in it so far, and `asked` what it asked for; `close()` closes the context, and
// `prepare` readies it before the page is there.
export async function open(page, { form: name = "light", book = folder, prepare, ...more } = {}) {
  const context = await (await browser()).newContext({ ...forms[name], offline: true, ...more });
  await prepare?.(context);
  const opened = await context.newPage();
  opened.setDefaultTimeout(LIMIT);
  watch(opened, book);
  opened.close = () => context.close();
  await turnTo(opened, page, book);
  return opened;
}

// Another page in the same tab, such as "softmax", "softmax#how" or "softmax?a=b".
export async function turnTo(opened, page, book = folder) {
  Object.assign(opened, { faults: [], asked: [] });
  const [, name, rest] = page.match(/^([^?#]*)(.*)$/);
  await opened.goto(pathToFileURL(join(book, `${name}.html`)).href + rest);
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
export const hasFocus = (locator) => locator.evaluate((it) => it === document.activeElement);

// Waits until a thing stands in the window, below the bar that stays on small screens.
export const inView = async (locator) =>
  locator.page().waitForFunction(
    (it) => {
      const { top, bottom } = it.getBoundingClientRect();
      const bar = document.querySelector(".top")?.offsetHeight ?? 0;
      return top >= bar - 1 && bottom <= innerHeight + 1;
    },
    await locator.elementHandle(),
  );

// Waits until the page is at a place, "softmax.html#how" or a pattern.
export const leadsTo = (page, place) =>
  page.waitForURL((url) => (place.test ? place.test(url) : url.href.endsWith(`/${place}`)));

// Types what is searched for, and waits for what is found.
export const options = (page) => page.getByRole("option");
export async function search(page, text) {
  await press(page, "Control+k");
  const field = page.getByRole("combobox", { name: "Search the book" });
  await field.fill(text);
  await page
    .getByRole("status")
    .filter({ hasText: /place|Nothing/ })
    .waitFor();
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
    } finally {
      await opened.close();
    }
  });
}
