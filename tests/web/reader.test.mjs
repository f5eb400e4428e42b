// Finding one's way, as readers do: by hand, by keys, on a phone, without scripts. What
// of it can be read off the pages is in tests/weave/weave.t.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { focused, hasFocus, inView, leadsTo, press, reading, root, search } from "./book.mjs";

const target = (page) => page.locator(":target");

// ---- From page to page

reading(
  "arrows turn pages, but not where they have something else to do",
  "softmax",
  async (page) => {
    await search(page, "trace");
    await press(page, "ArrowRight", "Escape");
    await page
      .getByRole("button", { name: /^Change this/ })
      .first()
      .focus();
    await press(page, "ArrowRight");
    await page.getByRole("button", { name: "Run this program" }).click();
    await page.getByRole("textbox").last().focus();
    await press(page, "ArrowRight", "Escape", "Shift+ArrowRight");
    assert.match(page.url(), /softmax\.html$/);
    await press(page, "ArrowRight");
    await leadsTo(page, "qkv.html");
    await press(page, "ArrowLeft");
    await leadsTo(page, "softmax.html");
  },
);

// ---- Colours

// The page's ground, and the words in its first figure.
const colours = (page) =>
  page.evaluate(() => {
    const [ground, words] = [document.documentElement, document.querySelector("figure svg text")];
    return [getComputedStyle(ground).backgroundColor, getComputedStyle(words).fill];
  });
const theme = (page) => page.getByRole("button", { name: /^Colours: / });

for (const form of ["", " in the dark", " on a phone"]) {
  reading(`colours are chosen, kept and given back${form}`, `softmax${form}`, async (page) => {
    const system = await colours(page);
    await theme(page).click();
    const chosen = await colours(page);
    for (const [i, part] of chosen.entries()) assert.notEqual(part, system[i]);
    await press(page, "ArrowRight");
    await leadsTo(page, "qkv.html");
    assert.deepEqual(await colours(page), chosen);
    await theme(page).click();
    assert.deepEqual(await colours(page), system);
  });
}

// ---- Headings, contents and folds

const marked = (page, where) => page.locator(`${where} [aria-current="location"]`);

reading("the contents follow the scroll, and stay in view", "softmax", async (page) => {
  await page.setViewportSize({ width: 1200, height: 420 });
  for (const heading of await page.locator("main h2").all()) {
    await heading.evaluate((it) => it.scrollIntoView());
    const words = (await heading.innerText()).replace(/#$/, "");
    await marked(page, ".sidebar").getByText(words, { exact: true }).waitFor();
    await inView(marked(page, ".sidebar"));
  }
  await page.evaluate(() => scrollTo(0, 0));
  await marked(page, ".sidebar").waitFor({ state: "detached" });
});

reading("contents on a phone: opened, led by, closed", "multi-head on a phone", async (page) => {
  const panel = page.getByRole("banner").getByRole("navigation", { name: "Contents" });
  const open = () => page.getByRole("banner").getByText("Contents", { exact: true }).tap();
  await open();
  await inView(panel.locator('[aria-current="page"][href="multi-head.html"]'));
  await panel.getByRole("link", { name: "View and transpose" }).tap();
  await leadsTo(page, "multi-head.html#multi-head-view");
  assert.equal(await panel.isVisible(), false);
  await inView(target(page));
  await marked(page, ".top").waitFor({ state: "attached" });
  await open();
  await inView(marked(page, ".top"));
  await press(page, "Escape");
  assert.equal(await panel.isVisible(), false);
  assert.equal(await focused(page), "Contents");
});

reading("a link into what is folded opens it", "softmax", async (page) => {
  const line = page.locator("details:not([open]) .line[id]").first();
  const id = await line.getAttribute("id");
  // Chromium itself unfolds where it leads; not every browser does.
  await page.goto(`${page.url()}#${id}`);
  await page.evaluate(() => {
    document.querySelector(":target").closest("details").open = false;
    dispatchEvent(new HashChangeEvent("hashchange"));
  });
  await inView(page.locator(`#${id}`));
});

// ---- Copying

const clipboard = (page) => page.evaluate(() => navigator.clipboard.readText());
const allowed = {
  prepare: (context) => context.grantPermissions(["clipboard-read", "clipboard-write"]),
};
reading("a copied listing is the file's lines", "softmax", allowed, async (page) => {
  const source = readFileSync(join(root, "chapters/02_softmax.c"), "utf8").split("\n");
  const listing = page.locator("main > .listing:has([id^=L])").first();
  const numbers = await listing
    .locator(".line")
    .evaluateAll((all) => all.map((it) => +it.id.slice(1)));
  await page.clock.install();
  await listing.getByRole("button", { name: "Copy this code" }).click();
  await page.locator(".spoken").getByText("Copied").waitFor({ state: "attached" });
  assert.equal(await clipboard(page), numbers.map((n) => source[n - 1]).join("\n"));
  await page.clock.runFor(1500);
  await listing.getByText("Copy", { exact: true }).waitFor();
  await page.getByRole("button", { name: "Copy this command" }).first().click();
  await page.getByText("Copied", { exact: true }).first().waitFor({ state: "attached" });
  assert.match(await clipboard(page), /^make (-s )?run-02 ARGS="[^"]*"$/);
});

// ---- From a use to what is used

const card = (page) => page.getByRole("tooltip");
const useOf = (page, name) =>
  page.locator("pre a.symbol").filter({ hasText: name, visible: true }).first();

reading("a function's use: its card on hover, and its definition", "causal-mask", async (page) => {
  const use = useOf(page, /^softmax_rows$/);
  await use.hover();
  const header = readFileSync(join(root, "src/attention/02_softmax.h"), "utf8");
  const declared = header.match(/^void softmax_rows\([^;]*;/m)[0];
  assert.equal(await card(page).locator("pre").innerText(), declared);
  assert.match(await card(page).innerText(), /Softmax of each row of a table\.\nPyTorch: /);
  assert.match(await card(page).innerText(), /Chapter\s2; used in 2, 3, [\dA-D, ]+$/);
  await page.clock.install();
  await card(page).hover();
  await page.clock.runFor(400);
  assert.equal(await card(page).count(), 1, "the pointer may go over to it");
  await press(page, "Escape");
  assert.equal(await card(page).count(), 0);
  for (const place of [/softmax\.html#L\d+$/, /reference\.html#L\d+$/]) {
    await (place.source.startsWith("s") ? use : target(page).locator("a.symbol")).click();
    await leadsTo(page, place);
    assert.match(await target(page).innerText(), /softmax_rows\(/);
  }
});

reading("a function's card when the keyboard is on it", "self-attention", async (page) => {
  const use = page.locator("main a.symbol").filter({ visible: true }).first();
  await page.locator("h1").click();
  for (let i = 0; i < 40 && !(await hasFocus(use)); i++) await press(page, "Tab");
  assert.match(await card(page).locator("pre").innerText(), new RegExp(await focused(page)));
  assert.equal(await use.getAttribute("aria-describedby"), await card(page).getAttribute("id"));
  await press(page, "Escape");
  assert.equal(await card(page).count(), 0);
  assert.equal(await use.getAttribute("aria-describedby"), null);
});

// ---- By keyboard alone

for (const form of ["", " on a phone"]) {
  reading(`Tab stops at what can be scrolled${form}`, `causal-mask${form}`, async (page) => {
    await page.evaluate(() => {
      for (const fold of document.querySelectorAll("main details")) fold.open = true;
    });
    await page.waitForFunction((some) => {
      const boxes = [...document.querySelectorAll('main [role="group"][tabindex]')];
      const scrolls = (it) => it.scrollWidth > it.clientWidth;
      const isRight = boxes.every((it) => (it.tabIndex === 0) === scrolls(it));
      return isRight && boxes.length > 20 && boxes.some(scrolls) === some;
    }, Boolean(form));
  });
}

// ---- Without scripts

reading("contents and folds open, links lead", "softmax without scripts", async (page) => {
  await page.setViewportSize({ width: 390, height: 844 });
  const contents = page.locator(".top details > nav");
  assert.equal(await contents.isVisible(), false);
  await page.locator(".top summary").click();
  await contents.getByRole("link", { name: "hiding the future" }).click();
  await leadsTo(page, "causal-mask.html");
});

// ---- The cover

const mapOf = (page) => page.locator(".live svg text").allTextContents();
reading("the cover says for whom, and draws a map of other words", "index", async (page) => {
  const first = await page.locator("main > header").innerText();
  for (const text of ["You need C", "nothing of", "half an hour", "run in these pages", "glossary"])
    assert.match(first, new RegExp(text));
  const terms = /softmax.*multi-head.*KV cache.*GPT/is;
  assert.match(await page.locator(".contents").innerText(), terms);
  const before = await mapOf(page);
  const field = page.getByRole("textbox", { name: "Other words" });
  const own = await field.inputValue();
  await field.fill("to be or not");
  await page.locator(".live text", { hasText: "not" }).first().waitFor();
  assert.deepEqual((await mapOf(page)).slice(0, 4), ["to", "be", "or", "not"]);
  await field.fill(own);
  await page.locator(".live text", { hasText: "dessert" }).first().waitFor();
  assert.deepEqual(await mapOf(page), before, "the same as was built");
  await field.fill("a b c d e f g h i j k l m");
  await page.locator(".live .says", { hasText: "1 to 12 are needed" }).waitFor();
  await field.fill("to be");
  await page.locator(".live").getByRole("link").click();
  await leadsTo(page, "workbench.html#stage=scale&words=to+be");
});
