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

// What is typed, and one of the first three places that it leads to.
const wanted = `
  mask_scores → mask_scores Chapter 9
  mask scores → mask_scores Chapter 9
  trace → trace term · Chapter 7
  what softmax sees → What softmax sees Chapter 2
  hiding the future → The causal mask: hiding the future Chapter 9
  shiny of the sun or of a shoe → Softmax: shares of a whole Chapter 2
  dropout → dropout term · Chapter 10
  √ → scaling term · Chapter 6
  context vectors → context vector term · Chapter 2
  下文向量 → context vector term · Chapter 2
  schlussel → key term · Chapter 3
  0.6106 → The exponential Chapter 2
  softm → softmax term · Chapter 2
  softmx → softmax term · Chapter 2
  softmax qwertz → softmax term · Chapter 2
  KV cache → key-value cache term · Chapter 16
  einsum → The same as a product of tables Chapter 1
  K^T → transpose term · Chapter 1
  QK^T → Scaling: divide by the spread Chapter 6
  why divide by sqrt → Scaling: divide by the spread Chapter 6
  Mehrkopf → multi-head attention term · Chapter 13
  bpe → GPT-2 itself Chapter 23
  dropout scaling → Keep the mean Chapter 10
  sqrt → Scaling: divide by the spread Chapter 6
  nan → A trap Chapter 2
  multi head → multi-head attention term · Chapter 13
  gpt → The GPT Transformer: blocks that add Chapter 22
  query key value → Query, key, value: asking, being found, giving Chapter 3
  transformer → Transformer term · Preface
  flash attention → FlashAttention term · Chapter 14
  attention mask padding → Sentences of different length Chapter 11
  cross entropy loss → Cross-entropy and Adam: loss and optimizer Chapter 20
  rope → rotary position embedding, RoPE term · Chapter 17
  nn.Linear → linear layer term · Chapter 7
  -inf → minus infinity term · Chapter 9
  mt19937 → Random numbers: a seed is a whole sequence Chapter 4
  seed 123 → Random numbers: a seed is a whole sequence Chapter 4
  overflow → A trap Chapter 2
  gradient clipping → Clipping, and a rate that changes Chapter 20
  Aufmerksamkeit → attention term · Preface
  1.8524 → The numbers of the tutorials Chapter 4
  GQA → multi-query attention, grouped-query attention term · Chapter 16`;

reading("what readers type, and what is found among the first three", "preface", async (page) => {
  const field = await search(page, "trace");
  for (const line of wanted.trim().split("\n")) {
    const [text, place] = line.trim().split(" → ");
    await field.fill(text);
    await options(page).first().waitFor();
    const names = await options(page).locator(".name").allInnerTexts();
    const first = names.slice(0, 3).map((name) => name.replace(/\s+/g, " "));
    assert.ok(
      first.some((name) => name.startsWith(place)),
      `${text} → ${place}, not ${first}`,
    );
    const unmarked = options(page).filter({ hasNot: page.locator("mark") });
    assert.deepEqual(await unmarked.allInnerTexts(), [], `${text}: each shows why it was found`);
  }
});

for (const [text, place] of [
  ["KV cache", /kv-cache\.html#term-key-value-cache$/],
  ["mask_scores", /causal-mask\.html#L\d+$/],
  ["hiding the future", /causal-mask\.html$/],
  ["what softmax sees", /softmax\.html#softmax-differences$/],
]) {
  reading(`search leads to: ${text}`, "preface", async (page) => {
    await search(page, text);
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
  await says(page, "; none has all of these words");
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
