// What a reader sees: no text lies on another, in the page or in a figure, and no
// letters of a figure are too small, on a phone and on wide screens, where the column
// has no holes beside what stands next to it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { open, pagesOf } from "./book.mjs";

const SMALLEST = 9;
const HOLE = 120;
const widths = { phone: [390], light: [1280, 1536, 1920] };

// Runs in the page: what is wrong with how it looks, a line each.
function faultsOfLooks([smallest, hole]) {
  const brief = (it) => `"${it.textContent.trim().replace(/\s+/g, " ").slice(0, 40)}"`;
  const cross = (a, b) => [
    Math.min(a.right, b.right) - Math.max(a.left, b.left),
    Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top),
  ];
  // Pairs of things that share more than so much of each other's width and height.
  function overlapping(all, across, down) {
    const boxes = all.map((it) => [it, it.getBoundingClientRect()]);
    boxes.sort((a, b) => a[1].top - b[1].top);
    const faults = [];
    for (const [i, [it, box]] of boxes.entries()) {
      for (let k = i + 1; k < boxes.length && boxes[k][1].top < box.bottom; k++) {
        const [wide, high] = cross(box, boxes[k][1]);
        if (wide > across && high > down(box) && !it.contains(boxes[k][0]))
          faults.push(`${brief(it)} lies on ${brief(boxes[k][0])}`);
      }
    }
    return faults;
  }
  const blocks = "p, pre, h1, h2, h3, li, summary, figcaption, table, .picture, .formula, .run";
  const seen = [...document.querySelectorAll(`main :is(${blocks})`)].filter(
    (it) => it.checkVisibility() && it.getClientRects().length && it.closest(".spoken") === null,
  );
  const faults = overlapping(
    seen.filter((it) => !it.closest("table *, svg *")),
    1,
    () => 1,
  );
  let end = Number.POSITIVE_INFINITY;
  for (const it of document.querySelectorAll("main > *")) {
    const box = it.getBoundingClientRect();
    if (!box.height || getComputedStyle(it).float !== "none") continue;
    if (box.top - end > hole)
      faults.push(`${Math.round(box.top - end)} px empty above ${brief(it)}`);
    end = box.bottom;
  }
  for (const svg of document.querySelectorAll("main svg.figure")) {
    const texts = [...svg.querySelectorAll("text")];
    const at = `figure ${svg.closest("figure")?.id}`;
    // A letter's box is higher than the letter.
    const over = overlapping(texts, 1, (box) => box.height * 0.3);
    faults.push(...over.map((fault) => `${at}: ${fault}`));
    const { left, right } = svg.getBoundingClientRect();
    for (const text of texts) {
      const { c, d } = text.getScreenCTM();
      const size = Number.parseFloat(getComputedStyle(text).fontSize) * Math.hypot(c, d);
      if (size < smallest) faults.push(`${at}: ${brief(text)} is ${size.toFixed(1)} px high`);
      const box = text.getBoundingClientRect();
      const isCut = box.left < left - 1 || box.right > right + 1;
      if (isCut && text.textContent !== "›") faults.push(`${at}: ${brief(text)} is cut off`);
    }
  }
  return [...new Set(faults)];
}

const unfold = () => {
  for (const fold of document.querySelectorAll("main details")) fold.open = true;
};

// The faults of a page as it opens and after each change.
async function looksOf(name, form, ...changes) {
  const page = await open(name, { form });
  try {
    const faults = new Set();
    for (const change of [() => {}, ...changes]) {
      await page.evaluate(change);
      for (const width of widths[form]) {
        await page.setViewportSize({ width, height: 900 });
        const found = await page.evaluate(faultsOfLooks, [SMALLEST, HOLE]);
        for (const fault of found) faults.add(`${name}.html at ${width} px: ${fault}`);
      }
    }
    return [...faults];
  } finally {
    await page.close();
  }
}

for (const form of Object.keys(widths)) {
  test(`${form}: no text lies on another, none in a figure is small or cut`, async () => {
    const faults = [];
    for (const name of pagesOf()) faults.push(...(await looksOf(name, form, unfold)));
    assert.deepEqual(faults, []);
  });
}

test("planted: text on text, small letters, cut ones and holes are found", async () => {
  const faults = await looksOf("softmax", "light", () => {
    document.querySelector("main > p").style.marginBottom = "-3rem";
    const [first, second, third] = document.querySelectorAll("#fig-weights text");
    first.style.fontSize = "8px";
    for (const it of document.querySelectorAll(".output")) it.classList.add("beside");
    second.setAttribute("x", third.getAttribute("x"));
    [...document.querySelectorAll("#fig-weights text")].at(-1).setAttribute("x", 480);
  });
  const text = faults.join("\n");
  assert.match(text, /^softmax.html at 1920 px: "A word’s embedding .*" lies on "/m);
  assert.match(text, /^softmax.html at 1920 px: \d+ px empty above "/m);
  assert.match(text, /: figure fig-weights: "Your" is 8\.0 px high$/m);
  assert.match(text, /: figure fig-weights: "journey" lies on "starts"$/m);
  assert.match(text, /: figure fig-weights: "0\.\d+" is cut off$/m);
});
