// Searching the book, as readers do.

import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  answering,
  closed,
  folder,
  held,
  inView,
  leads,
  leadsTo,
  options,
  press,
  reading,
  says,
  search,
} from "./book.mjs";

const target = (page) => page.locator(":target");

// What is typed, what is found first, and where Enter leads.
const wanted = [
  ["mask_scores", /^mask_scores Chapter 9$/, /causal-mask\.html#L\d+$/],
  ["mask scores", /^mask_scores Chapter 9$/, /causal-mask\.html#L\d+$/],
  ["trace", /^trace term · Chapter 7/, /self-attention\.html#term-trace$/],
  ["what softmax sees", /^What softmax sees Chapter 2/, /softmax\.html#softmax-differences$/],
  ["hiding the future", /^Hiding the future Chapter 9$/, /causal-mask\.html$/],
  ["shiny of the sun or of a shoe", /^Shares of a whole/, /softmax\.html$/],
  ["dropout", /^dropout term · Chapter 10/, /dropout\.html#term-dropout$/],
  ["√", /^scaling term · Chapter 6/, /scaling\.html#term-scaling$/],
  ["context vectors", /^context vector term · Chapter 2/, /softmax\.html#term-context-vector$/],
  ["下文向量", /^context vector term/, /softmax\.html#term-context-vector$/],
  ["schlussel", /^key term · Chapter 3/, /qkv\.html#term-key$/],
  ["0.6106", /^The exponential Chapter 2/, /softmax\.html#softmax-exponential$/],
  ["softm", /^softmax term · Chapter 2/, /softmax\.html#term-softmax$/],
  ["softmx", /^softmax term · Chapter 2/, /softmax\.html#term-softmax$/],
  ["softmax qwertz", /^softmax term · Chapter 2/, /softmax\.html#term-softmax$/],
];
for (const [text, name, place] of wanted) {
  reading(`search finds and leads to: ${text}`, "preface", async (page) => {
    await search(page, text);
    const first = await options(page).first().locator(".name").innerText();
    assert.match(first.replace(/\s+/g, " "), name);
    const unmarked = options(page).filter({ hasNot: page.locator("mark") });
    assert.deepEqual(await unmarked.allInnerTexts(), [], "each shows why it was found");
    await press(page, "Enter");
    await leadsTo(page, place);
    if (page.url().includes("#")) await inView(target(page));
  });
}

reading("what is found in a fold is shown there", "preface", async (page) => {
  await search(page, "equal scores have equal exponentials");
  await press(page, "Enter");
  await leadsTo(page, "softmax.html#softmax-solutions");
  await inView(page.getByText("Equal scores have equal exponentials"));
});

reading("search: chosen by arrows, closed by Escape, and begun again", "softmax", async (page) => {
  const field = await search(page, "weights");
  const chosen = page.getByRole("option", { selected: true });
  for (const [key, at] of [
    ["ArrowDown", 1],
    ["ArrowUp", 0],
    ["ArrowUp", (await options(page).count()) - 1],
  ]) {
    await press(page, key);
    assert.equal(await chosen.getAttribute("id"), `found-${at}`);
    assert.equal(await field.getAttribute("aria-activedescendant"), `found-${at}`);
  }
  await inView(chosen);
  await press(page, "Escape");
  await closed(page);
  await search(page, "softmax qwertz");
  await says(page, "none has all of these words");
  await search(page, "qwertz");
  await says(page, "Nothing in the book has these words.");
  await press(page, "Enter");
  assert.equal(await page.getByRole("dialog").count(), 1);
});

reading("search on a phone: by its button and a tap", "softmax on a phone", async (page) => {
  await page.getByRole("button", { name: "Search", exact: true }).tap();
  await page.keyboard.type("mask scores");
  await options(page).getByText("mask_scores", { exact: true }).first().tap();
  await page.waitForURL(/causal-mask\.html#L/);
  await inView(target(page));
});

reading("a place on the same page: the search closes over it", "softmax", async (page) => {
  await search(page, "a mixture");
  await press(page, "Enter");
  await leadsTo(page, "softmax.html#softmax-mixture");
  await closed(page);
  await inView(target(page));
});

reading("Enter that ends a composed word opens nothing", "softmax", async (page) => {
  const field = await search(page, "weights");
  for (const isComposing of [true, false]) {
    const enter = { key: "Enter", bubbles: true, cancelable: true, isComposing };
    const deed = () =>
      field.evaluate((it, how) => it.dispatchEvent(new KeyboardEvent("keydown", how)), enter);
    assert.equal(await leads(page, deed), !isComposing);
  }
});

const late = held(/search-index\.js$/);
reading("what is typed while the index loads is found", "softmax", late, async (page) => {
  await press(page, "/");
  await page.keyboard.type("mask_scores");
  await page.getByText("Loading").waitFor();
  late.release();
  await options(page).first().getByText("mask_scores").waitFor();
});

// An index that is not there, or cannot be opened.
const index = readFileSync(join(folder, "search-index.js"), "utf8");
const unopened = {
  "search-index.js cannot be loaded": answering(/search-index\.js$/, ""),
  "minisearch.js cannot be loaded": answering(/minisearch\.js$/, ""),
  "search-index.js is damaged": answering(/search-index\.js$/, index.replace(/.{9}(?=";\n$)/, "")),
  "this browser cannot unpack search-index.js; those of 2023 and later can": (context) =>
    context.addInitScript(() => delete globalThis.DecompressionStream),
};
for (const [why, prepare] of Object.entries(unopened)) {
  reading(`search says that ${why}`, "softmax", { prepare }, async (page) => {
    await press(page, "/");
    await page.getByText(`The search does not work: ${why}.`).waitFor();
    await page.keyboard.type("mask");
    assert.equal(await options(page).count(), 0);
    page.faults.length = 0; // Chromium says that the file is missing, where it is
  });
}

reading("what the search loads is less than 300 KB", "softmax", async (page) => {
  const before = page.asked.length;
  await search(page, "mask_scores");
  const sizes = page.asked.slice(before).map((url) => statSync(fileURLToPath(url)).size);
  const sum = sizes.reduce((all, size) => all + size, 0);
  assert.ok(sum > 0 && sum < 300_000, `${sizes.join(" + ")} bytes`);
});
