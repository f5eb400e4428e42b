// The checks of the whole book, tried on a copy with faults in it: each must be
// found, and its page named.

import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { folder } from "./book.mjs";
import * as checks from "./checks.mjs";
import { packedAgain, unpacked } from "./packed.mjs";

let copy;
before(() => {
  copy = mkdtempSync(join(realpathSync(tmpdir()), "faults-"));
  cpSync(folder, copy, { recursive: true });
});
after(() => rmSync(copy, { recursive: true, force: true }));

// Changes a file of the copy. What is not found there cannot be changed.
function plant(file, before, now) {
  const path = join(copy, file);
  const text = readFileSync(path, "utf8");
  const changed = text.replace(before, now);
  assert.ok(changed !== text, `${file} has no ${before}`);
  writeFileSync(path, changed);
}

const plantAtEnd = (file, html) => plant(file, "</main>", () => `${html}</main>`);

// Every fault that was found has the place and the words of one that was planted,
// and of each that was planted one was found.
function found(faults, planted) {
  for (const wanted of planted) {
    assert.ok(
      faults.some((fault) => wanted.test(fault)),
      `${wanted} is not among:\n${faults.join("\n")}`,
    );
  }
}

test("broken links are found, in pages and in scripts", async () => {
  const before = await checks.links(copy);
  plant("softmax.html", 'href="dot-product.html"', 'href="dot-produkt.html"');
  plant("softmax.html", /href="#L\d+"/, 'href="#L99999"');
  plant("scaling.html", /href="https:[^"]*"/, 'href="https://"');
  plant("scaling.html", 'href="book.css"', 'href="/book.css"');
  writeFileSync(join(copy, "planted.js"), '"use strict";\nglobalThis.at = "softmax.html#gone";\n');
  plant("search-index.js", /^.*$/s, (script) =>
    packedAgain(
      script,
      `${unpacked(script)}`.replace(/"softmax\.html#L\d+"/, '"softmax.html#Lost"'),
    ),
  );
  const faults = await checks.links(copy);
  found(faults, [
    /^softmax.html:\d+: dot-produkt.html: there is no such file$/,
    /^softmax.html:\d+: #L99999: there is no such place$/,
    /^scaling.html:\d+: https:\/\/: this is no address$/,
    /^scaling.html:\d+: \/book.css: leaves the book's folder$/,
    /^planted.js:2: softmax.html#gone: there is no such place$/,
    /^search-index.js:1: softmax.html#Lost: there is no such place$/,
  ]);
  assert.equal(faults.length - before.length, 6);
  cpSync(folder, copy, { recursive: true });
  rmSync(join(copy, "planted.js"));
});

test("a number of a figure that is another is found", async () => {
  plant("softmax.html", /(<text[^>]*>0\.\d)\d(?=\d*<)/, (_, start) => `${start}x`);
  const faults = await checks.figures(copy, /^02_softmax$/);
  found(faults, [/^softmax.html:\d+: \w+.svg shows "0.\dx\d*" where the program draws "0.\d+"$/]);
  assert.equal(faults.length, 1);
});

test("markup that no standard has is found", async () => {
  plantAtEnd("heads.html", "<p><div>unclosed");
  found(await checks.markup(copy, /^heads.html$/), [/^heads.html:\d+: .*div/i]);
});

test("what a reader meets in the browser is found", async () => {
  plantAtEnd("qkv.html", '<button type="button"></button><p style="color:#bbb">pale</p>');
  plantAtEnd("tokens.html", '<img src="https://example.org/a.png" alt="away">');
  plantAtEnd("random.html", "<script>console.error('planted'); none.such = 1;</script>");
  plantAtEnd("normals.html", '<div id="wide" style="min-width:3000px">wide</div>');
  plant("mkl.html", /<main[^>]*>/, '$&<div id="late"></div>');
  plantAtEnd(
    "mkl.html",
    "<script>setTimeout(() => { late.style.height = '500px'; }, 20);</script>",
  );
  const much = randomBytes(250_000).toString("base64");
  plantAtEnd("mkl.html", `<!-- ${much} -->`);
  plant("programs/04.js", /(?=";\n$)/, much);
  const names = ["qkv", "tokens", "random", "normals", "mkl"];
  const seen = await checks.visits(copy, names, ["light", "phone"]);
  found(checks.accessibility(seen), [
    /^qkv.html \(light\): button-name: /,
    /^qkv.html \(light\): color-contrast: /,
    /^qkv.html \(phone\): button-name: /,
  ]);
  found(checks.noise(seen), [
    /^tokens.html \(light\): .*a request that leaves the book: https:\/\/example.org\/a.png$/,
    /^random.html \(light\): .*console: planted \(random.html:\d+\)$/,
    /^random.html \(phone\): .*none is not defined/,
  ]);
  found(checks.widths(seen), [/^normals.html \(light\): 3\d+ px in 320: .*wide$/]);
  found(checks.shifting(seen), [/^mkl.html \(light\): layout shifts by 0.\d+, most at/]);
  found(checks.heavy(copy, seen), [
    /^mkl.html \(light\): \d+ bytes compressed: mkl.html \d+/,
    /^random.html \(light\): \d+ bytes compressed: programs\/04.js \d+/,
  ]);
});
