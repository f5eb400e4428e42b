// How long a step of a slider takes in a page, in a line, for `make bench-book`: from the
// frame in which the bench draws until that is laid out.

import { close, open } from "./book.mjs";

const page = await open("causal-mask");
await page.getByRole("button", { name: /^Change this/ }).click();
await page.locator(".workbench .hint").waitFor();
const steps = await page.evaluate(async () => {
  const slider = document.querySelector(".workbench .scale input");
  const taken = [];
  for (let k = 0; k < 60; k++) {
    let from;
    requestAnimationFrame(() => {
      from = performance.now();
    });
    slider.value = 0.5 + 0.25 * (k % 30);
    slider.dispatchEvent(new Event("input"));
    await new Promise(requestAnimationFrame);
    document.body.getBoundingClientRect();
    taken.push(performance.now() - from);
  }
  return taken.sort((a, b) => a - b);
});
console.log(`${"a step of a slider in a page".padEnd(36)} ${steps[30].toFixed(1)} ms`);
await close();
