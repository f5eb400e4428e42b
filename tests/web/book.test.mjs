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

const titles = [
  "links: each leads to something that is there",
  "axe: nothing keeps a reader out",
  "quiet: no error, and no request that leaves the book",
  "width: no page is wider than the window",
  "looks: no text lies on another, none in a figure is small or cut",
  "buttons: all that can be run has one, and without scripts there is none",
  "shift: little moves while fonts arrive",
  "weight: no page is heavy",
];
for (const title of titles) {
  const [what] = title.split(":");
  test(title, async (t) => {
    if (what === "weight") t.diagnostic(`most: ${checks.heaviest(folder, await seen())}`);
    none(checks.ofVisits[what](folder, await seen()));
  });
}

test("markup: HTML and CSS are as the standards have them", async () => {
  none(await checks.markup(folder));
});
