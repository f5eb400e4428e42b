// How long a step of a slider takes in a page, and a letter that is typed for the trained
// model, in a text of 64: a line each, for `make bench-book`. From the frame in which the
// bench draws until that is laid out.

import { close, open } from "./book.mjs";

// Runs in the page: sets a control to each value, and returns the times in between.
async function timesOf({ control, values }) {
  const taken = [];
  for (const value of values) {
    let from;
    requestAnimationFrame(() => {
      from = performance.now();
    });
    document.querySelector(control).value = value;
    document.querySelector(control).dispatchEvent(new Event("input"));
    await new Promise(requestAnimationFrame);
    document.body.getBoundingClientRect();
    taken.push(performance.now() - from);
  }
  return taken.sort((a, b) => a - b);
}

async function measure(what, page, control, values) {
  const taken = await page.evaluate(timesOf, { control, values });
  console.log(`${what.padEnd(36)} ${taken[taken.length >> 1].toFixed(1)} ms`);
}

const scaling = await open("causal-mask");
await scaling.getByRole("button", { name: /^Change this/ }).click();
await scaling.locator(".workbench .hint").waitFor();
const steps = Array.from({ length: 60 }, (_, k) => 0.5 + 0.25 * (k % 30));
await measure("a step of a slider in a page", scaling, ".workbench .scale input", steps);

const learned = await open("workbench#stage=language");
await learned.locator(".workbench canvas").first().waitFor();
const text = "The mask hides the future. The mask hides the past. The mask hid";
const typed = Array.from({ length: 60 }, (_, k) => text.slice(0, 63) + text[k]);
await measure("a letter for the trained model", learned, ".workbench .words input", typed);
await close();
