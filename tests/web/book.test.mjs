// The whole book: every page, in every form in which it is read.

import { folder, test } from "./book.mjs";
import * as checks from "./checks.mjs";
import { forms, isGate, kinds } from "./gate.mjs";

// Fails with the faults alone: where a test stands says nothing about them.
function none(faults) {
  if (faults.length === 0) return;
  const error = new Error(checks.summary(faults).join("\n"));
  error.stack = error.message;
  throw error;
}

let visits;
function seen() {
  visits ??= isGate ? checks.visits(folder, undefined, forms, kinds) : checks.visits(folder);
  return visits;
}

test("axe: nothing keeps a reader out", async () => {
  none(checks.accessibility(await seen()));
});

test("quiet: no error, and no request that leaves the book", async () => {
  none(checks.noise(await seen()));
});

test("width: no page is wider than the window", async () => {
  none(checks.wide(await seen()));
});

test("looks: no text lies on another, none in a figure is small or cut", async () => {
  none(checks.looks(await seen()));
});

test("buttons: all that can be run has one, and without scripts there is none", async () => {
  none(checks.dead(await seen()));
});

test(`shift: less than ${checks.limits.shift} moves while fonts arrive`, async (t) => {
  const [worst] = [...(await seen())].sort((a, b) => checks.shiftOf(b) - checks.shiftOf(a));
  t.diagnostic(`most: ${worst.page} (${worst.form}) ${checks.shiftOf(worst).toFixed(3)}`);
  none(checks.shifting(await seen()));
});

test(`weight: less than ${checks.limits.weight / 1000} KB a page, compressed`, async (t) => {
  t.diagnostic(`most: ${checks.heaviest(folder, await seen())}`);
  none(checks.heavy(folder, await seen()));
});

test("markup: HTML and CSS are as the standards have them", async () => {
  none(await checks.markup(folder));
});

test("links: each leads to something that is there", async (t) => {
  const faults = await checks.links(folder);
  t.diagnostic(`${faults.count} links`);
  none(faults);
});

test("figures: each shows what its program draws", async () => {
  none(await checks.figures(folder));
});
