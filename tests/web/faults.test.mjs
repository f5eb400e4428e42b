// The checks of the whole book, tried on copies with faults in them: each must be
// found, and its page named.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { cpSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { folder, test } from "./book.mjs";
import * as checks from "./checks.mjs";
import { packedAgain, unpacked } from "./packed.mjs";

// A test with a copy of the book, and with what changes a file of it. What is not found
// there cannot be changed.
function planting(title, body) {
  test(title, async () => {
    const copy = mkdtempSync(join(realpathSync(tmpdir()), "faults-"));
    cpSync(folder, copy, { recursive: true });
    const plant = (file, before, now) => {
      const path = join(copy, file);
      const text = readFileSync(path, "utf8");
      const changed = text.replace(before, now);
      assert.ok(changed !== text, `${file} has no ${before}`);
      writeFileSync(path, changed);
    };
    try {
      await body(copy, plant, (file, html) => plant(file, "</main>", () => `${html}</main>`));
    } finally {
      rmSync(copy, { recursive: true });
    }
  });
}

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

planting("broken links are found, in pages and in scripts", async (copy, plant) => {
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
});

planting("a number of a figure that is another is found", async (copy, plant) => {
  plant("softmax.html", /(<text[^>]*>0\.\d)\d(?=\d*<)/, (_, start) => `${start}x`);
  const faults = await checks.figures(copy, /^02_softmax$/);
  found(faults, [/^softmax.html:\d+: \w+.svg shows "0.\dx\d*" where the program draws "0.\d+"$/]);
  assert.equal(faults.length, 1);
});

planting("markup that no standard has is found", async (copy, _, plantAtEnd) => {
  plantAtEnd("heads.html", "<p><div>unclosed");
  found(await checks.markup(copy, /^heads.html$/), [/^heads.html:\d+: .*div/i]);
});

planting("what a reader meets in the browser is found", async (copy, plant, plantAtEnd) => {
  plantAtEnd(
    "sheet.html",
    `<button type="button"></button><p style="color:#777; background:#888">pale</p>`,
  );
  plantAtEnd("tokens.html", '<img src="https://example.org/a.png" alt="away">');
  plantAtEnd("random.html", "<script>console.error('planted'); none.such = 1;</script>");
  plantAtEnd("normals.html", '<div id="wide" style="min-width:3000px">wide</div>');
  plant("mkl.html", /<main[^>]*>/, '$&<div id="late"></div>');
  plantAtEnd(
    "mkl.html",
    "<script>requestAnimationFrame(() => requestAnimationFrame(() => { late.style.height = '500px'; }))</script>",
  );
  const sum = (k) => createHash("sha256").update(`${k}`).digest("base64");
  const much = Array.from({ length: 8000 }, (_, k) => sum(k)).join(""); // which nothing packs
  plantAtEnd("mkl.html", `<!-- ${much} -->`);
  plant("programs/04.js", /(?=";\n$)/, much);
  plantAtEnd("heads.html", '<p><a href="#main"><code>make run-12</code></a></p>');
  plantAtEnd("softmax.html", `<script>(${spoilLooks})()</script>`);
  const names = ["sheet", "tokens", "random", "normals", "mkl", "heads", "softmax"];
  const seen = await checks.visits(copy, names, ["light", "phone", "plain"], ["sheet"]);
  found(checks.accessibility(seen), [
    /^sheet.html \(light\): button-name: /,
    /^sheet.html \(light\): color-contrast: /,
    /^sheet.html \(light\): in the dark: color-contrast: /,
    /^sheet.html \(phone\): button-name: /,
  ]);
  found(checks.noise(seen), [
    /^tokens.html \(light\): .*a request that leaves the book: https:\/\/example.org\/a.png$/,
    /^random.html \(light\): .*console: planted \(random.html:\d+\)$/,
    /^random.html \(phone\): .*none is not defined/,
  ]);
  found(checks.wide(seen), [/^normals.html \(light\): 3\d+ px in 320: .*wide$/]);
  found(checks.shifting(seen), [/^mkl.html \(light\): layout shifts by 0.\d+, most at/]);
  found(checks.dead(seen), [
    /^heads.html \(light\): no button runs make run-12$/,
    /^sheet.html \(plain\): does nothing: <button /,
  ]);
  found(checks.looks(seen), [
    /^softmax.html \(light\): at 1920 px: "A word’s embedding .*" lies on "/,
    /^softmax.html \(light\): at 1920 px: \d+ px empty above "/,
    /: figure fig-weights: "Your" is 8\.0 px high$/,
    /: figure fig-weights: "journey" lies on "starts"$/,
    /: figure fig-weights: "0\.\d+" is cut off$/,
  ]);
  found(checks.heavy(copy, seen), [
    /^mkl.html \(light\): \d+ bytes compressed: mkl.html \d+/,
    /^random.html \(light\): \d+ bytes compressed: programs\/04.js \d+/,
  ]);
});

// Runs in the page: text on text, small letters, cut ones and holes.
function spoilLooks() {
  document.querySelector("main > p").style.marginBottom = "-3rem";
  const texts = document.querySelectorAll("#fig-weights text");
  texts[0].style.fontSize = "8px";
  for (const it of document.querySelectorAll(".output")) it.classList.add("beside");
  texts[1].setAttribute("x", texts[2].getAttribute("x"));
  [...texts].at(-1).setAttribute("x", 480);
}
