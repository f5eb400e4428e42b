// Searching the book, as readers do.

import assert from "node:assert/strict";
import { answering, held, inView, leadsTo, options, press, reading, search } from "./book.mjs";

const target = (page) => page.locator(":target");

// What is typed, and one of the first three places that it leads to.
const wanted = `
  mask_scores → mask_scores Chapter 9
  mask scores → mask_scores Chapter 9
  hiding the future → The causal mask: hiding the future Chapter 9
  shiny of the sun or of a shoe → Softmax: shares of a whole Chapter 2
  dropout → dropout term · Chapter 10
  √ → scaling term · Chapter 4
  下文向量 → context vector term · Chapter 2
  schlussel → key term · Chapter 3
  0.6106 → Why the exponential Chapter 2
  softm → softmax term · Chapter 2
  softmx → softmax term · Chapter 2
  softmax qwertz → softmax term · Chapter 2
  KV cache → key-value cache term · Chapter 16
  K^T → transpose term · Chapter 1
  QK^T → Scaling: divide by the spread Chapter 4
  why divide by sqrt → Scaling: divide by the spread Chapter 4
  bpe → Byte-pair encoding Chapter 25
  flash attention → FlashAttention term · Chapter 14
  nn.Linear → linear layer term · Chapter 7
  -inf → minus infinity term · Chapter 9
  seed 123 → PyTorch’s random numbers, bit for bit Appendix B
  GQA → multi-query attention, grouped-query attention term · Chapter 16`;

reading(
  "(gate) what readers type, and what is found among the first three",
  "preface",
  async (page) => {
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
  },
);

reading("search leads to a definition, which is in sight", "preface", async (page) => {
  await search(page, "mask_scores");
  await press(page, "Enter");
  await leadsTo(page, /causal-mask\.html#L\d+$/);
  await inView(target(page));
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
  await search(page, "qwertz");
  await page.getByText("Nothing in the book has these words.").waitFor();
  await press(page, "Escape");
  assert.equal(await page.getByRole("dialog").count(), 0);
});

reading("search on a phone: by its button and a tap", "softmax on a phone", async (page) => {
  await page.getByRole("button", { name: "Search", exact: true }).tap();
  await page.keyboard.type("mask scores");
  await options(page).getByText("mask_scores", { exact: true }).first().tap();
  await page.waitForURL(/causal-mask\.html#L/);
  await inView(target(page));
});

const late = held(/search-index\.js$/);
reading("what is typed while the index loads is found", "softmax", late, async (page) => {
  await press(page, "Control+k");
  await page.keyboard.type("mask_scores");
  await page.getByText("Loading").waitFor();
  late.release();
  await options(page).first().getByText("mask_scores").waitFor();
});

// What else can be wrong with such a script is in run.test.mjs.
const damaged = { prepare: answering(/search-index\.js$/, "globalThis.book.packed = {};") };
reading("search says that its index is damaged", "softmax", damaged, async (page) => {
  await press(page, "Control+k");
  await page.getByText("The search does not work: search-index.js is damaged.").waitFor();
});
