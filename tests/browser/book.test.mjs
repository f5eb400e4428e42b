// The whole book: every page, in every form in which it is read.

import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { build, folder, pagesOf } from "./book.mjs";
import * as checks from "./checks.mjs";

// Fails with the faults alone: where a test stands says nothing about them.
function none(faults) {
  if (faults.length === 0) return;
  const error = new Error(checks.summary(faults).join("\n"));
  error.stack = error.message;
  throw error;
}

let seen;
test("every page opens: light, dark, on a phone, and without scripts", async () => {
  seen = await checks.visits(folder);
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

test("axe: nothing that keeps a reader out, light, dark and on a phone", () => {
  none(checks.accessibility(seen));
});

test("quiet: no error, and no request that leaves the book, with scripts and without", () => {
  none(checks.noise(seen));
});

test("width: no page is wider than the window", () => {
  none(checks.widths(seen));
});

test(`shift: less than ${checks.limits.shift} moves while fonts arrive`, (t) => {
  const worst = [...seen].sort((a, b) => checks.shiftOf(b) - checks.shiftOf(a))[0];
  t.diagnostic(`most: ${worst.page} (${worst.form}) ${checks.shiftOf(worst).toFixed(3)}`);
  none(checks.shifting(seen));
});

test(`weight: less than ${checks.limits.weight / 1000} KB a page, compressed`, (t) => {
  t.diagnostic(`most: ${checks.heaviest(folder, seen)}`);
  none(checks.heavy(folder, seen));
});

const shown = ["index", "softmax", "self-attention", "multi-head", "glossary", "workbench"];
test("screenshots: six pages in three forms, in build/screenshots", async () => {
  const place = join(build, "screenshots");
  rmSync(place, { recursive: true, force: true });
  mkdirSync(place, { recursive: true });
  const there = pagesOf();
  await checks.screenshots(
    folder,
    shown.filter((name) => there.includes(name)),
    place,
  );
});
