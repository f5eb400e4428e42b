// The whole book: every page, in every form in which it is read; the gate opens all in the
// light form. And faults that are planted in a copy of some pages: each is found.

import assert from "node:assert/strict";
import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { folder, isGate } from "./book.mjs";
import * as checks from "./checks.mjs";

let visits;
const seen = () => {
  visits ??= checks.visits(folder, undefined, isGate ? ["light"] : undefined);
  return visits;
};

test("(gate) links: each leads to something that is there", async () => {
  assert.deepEqual(checks.links(folder, await seen()), []);
});
const said = {
  axe: "nothing keeps a reader out",
  quiet: "no error, and no request that leaves the book",
  width: "no page is wider than the window",
  buttons: "all that can be run has one, and without scripts there is none",
  looks: "no text lies on another, none in a figure is small or cut",
};
for (const [what, title] of Object.entries(said))
  test(`${what === "looks" ? "" : "(gate) "}${what}: ${title}`, async () => {
    assert.deepEqual(checks.listed(await seen(), what), []);
  });
test("markup: HTML and CSS are as the standards have them", async () => {
  assert.deepEqual(await checks.markup(folder), []);
});

// ---- Planted: a page, what stands there, what takes its place, and what is then said.

const END = "</main>";
const links = [
  ["softmax", 'href="dot-product.html"', 'href="dot-produkt.html"', /dot-produkt.html: .* file$/],
  ["softmax", /href="#L\d+"/, 'href="#L99999"', /^softmax.html: #L99999: .* no such place$/],
  ["scaling", 'href="icon.svg"', 'href="/icon.svg"', /^scaling.html: \/icon.svg: leaves the book/],
];
const others = [
  ["sheet", END, '<button type="button"></button></main>', "axe", /^sheet.* button-name: /],
  ["sheet", END, '<p style="color:#777; background:#888">pale</p></main>', "axe", /color-contrast/],
  ["sheet", END, "<input></main>", "buttons", /^sheet.html \(plain\): does nothing: <input/],
  ["tokens", END, '<img src="https://example.org/a.png" alt="away"></main>', "quiet", /leaves/],
  ["random", END, "<script>none.such = 1;</script></main>", "quiet", /none is not defined/],
  ["random", END, '<div style="min-width:3000px">wide</div></main>', "width", /^random.* in 320/],
  ["heads", END, "<p><a href='#main'><code>make run-12</code></a></p></main>", "buttons", /run-12/],
  ["mkl", END, "<p style='margin-top:-9rem'>under another</p></main>", "looks", /lies on "under/],
];
test("planted: what is wrong with a page is found", async () => {
  const copy = mkdtempSync(join(realpathSync(tmpdir()), "faults-"));
  cpSync(folder, copy, { recursive: true });
  for (const [page, before, now] of [...links, ...others]) {
    const path = join(copy, `${page}.html`);
    const changed = readFileSync(path, "utf8").replace(before, () => now);
    assert.ok(changed.includes(now), `${page} has no ${before}`);
    writeFileSync(path, changed);
  }
  writeFileSync(join(copy, "heads.css"), "a { colour: red }");
  const names = [...new Set([...links, ...others].map(([page]) => page))];
  const found = await checks.visits(copy, names, ["light", "plain"]);
  const ofLinks = checks.links(copy, found).join("\n");
  for (const [, , , wanted] of links) assert.match(ofLinks, new RegExp(wanted.source, "m"));
  for (const [, , , what, wanted] of others)
    assert.match(checks.listed(found, what).join("\n"), new RegExp(wanted.source, "m"));
  assert.match((await checks.markup(copy, /heads.css/)).join(), /heads.css.*colour/);
  rmSync(copy, { recursive: true });
});
