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

const END = "</main>";

// A test with a copy of the book, and with what changes a file of it. What is not found
// there cannot be changed.
function planting(title, body) {
  test(title, async () => {
    const copy = mkdtempSync(join(realpathSync(tmpdir()), "faults-"));
    cpSync(folder, copy, { recursive: true });
    const plant = (file, before, now) => {
      const text = readFileSync(join(copy, file), "utf8");
      const changed = text.replace(before, now);
      assert.ok(changed !== text, `${file} has no ${before}`);
      writeFileSync(join(copy, file), changed);
    };
    try {
      await body(copy, plant);
    } finally {
      rmSync(copy, { recursive: true });
    }
  });
}

// Of each fault that was planted, one was found.
function found(faults, planted) {
  for (const wanted of planted)
    assert.ok(
      faults.some((fault) => wanted.test(fault)),
      `${wanted} is not among:\n${faults.join("\n")}`,
    );
}

const links = [
  ["softmax", 'href="dot-product.html"', 'href="dot-produkt.html"'],
  ["softmax", /href="#L\d+"/, 'href="#L99999"'],
  ["scaling", /href="https:[^"]*"/, 'href="https://"'],
  ["scaling", 'href="icon.svg"', 'href="/icon.svg"'],
];
planting("broken links are found, in pages and in scripts", async (copy, plant) => {
  for (const [page, before, now] of links) plant(`${page}.html`, before, now);
  writeFileSync(join(copy, "planted.js"), '"use strict";\nglobalThis.at = "softmax.html#gone";\n');
  plant("search-index.js", /^.*$/s, (script) =>
    packedAgain(
      script,
      `${unpacked(script)}`.replace(/"softmax\.html#L\d+"/, '"softmax.html#Lost"'),
    ),
  );
  const seen = await checks.visits(copy, ["softmax", "scaling"], ["light"], []);
  found(checks.ofVisits.links(copy, seen), [
    /^softmax.html: dot-produkt.html: there is no such file$/,
    /^softmax.html: #L99999: there is no such place$/,
    /^scaling.html: https:\/\/: this is no address$/,
    /^scaling.html: \/icon.svg: leaves the book's folder$/,
    /^planted.js: softmax.html#gone: there is no such place$/,
    /^search-index.js: softmax.html#Lost: there is no such place$/,
  ]);
});

planting("markup that no standard has is found", async (copy, plant) => {
  plant("heads.html", END, "<p><div>unclosed</main>");
  found(await checks.markup(copy, /^heads.html$/), [/^heads.html:\d+: .*div/i]);
});

// What is planted at the end of a page, and what is then said of it.
const sum = (k) => createHash("sha256").update(`${k}`).digest("base64");
const much = Array.from({ length: 8000 }, (_, k) => sum(k)).join(""); // which nothing packs
const grow = "late.style.height = '500px'";
const inBrowser = {
  sheet: [
    '<button type="button"></button><p style="color:#777; background:#888">pale</p>',
    ["axe", /^sheet.html \(light\): button-name: /],
    ["axe", /^sheet.html \(light\): color-contrast: /],
    ["axe", /^sheet.html \(light\): in the dark: color-contrast: /],
    ["axe", /^sheet.html \(phone\): button-name: /],
    ["buttons", /^sheet.html \(plain\): does nothing: <button /],
  ],
  tokens: [
    '<img src="https://example.org/a.png" alt="away">',
    ["quiet", /^tokens.html .*a request that leaves the book: https:\/\/example.org\/a.png$/],
  ],
  random: [
    "<script>console.error('planted'); none.such = 1;</script>",
    ["quiet", /^random.html \(light\): .*console: planted \(random.html:\d+\)$/],
    ["quiet", /^random.html \(phone\): .*none is not defined/],
    ["weight", /^random.html \(light\): \d+ bytes compressed: programs\/04.js \d+/],
  ],
  normals: [
    '<div id="wide" style="min-width:3000px">wide</div>',
    ["width", /^normals.html \(light\): 3\d+ px in 320: .*wide$/],
  ],
  mkl: [
    `<script>requestAnimationFrame(() => requestAnimationFrame(() => { ${grow} }))</script><!-- ${much} -->`,
    ["shift", /^mkl.html \(light\): layout shifts by 0.\d+, most at/],
    ["weight", /^mkl.html \(light\): \d+ bytes compressed: mkl.html \d+/],
  ],
  heads: [
    '<p><a href="#main"><code>make run-12</code></a></p>',
    ["buttons", /^heads.html \(light\): no button runs make run-12$/],
  ],
  softmax: [
    `<script>(${spoilLooks})()</script>`,
    ["looks", /^softmax.html \(light\): at 1920 px: "A word’s embedding .*" lies on "/],
    ["looks", /^softmax.html \(light\): at 1920 px: \d+ px empty above "/],
    ["looks", /: figure fig-weights: "Your" is 8\.0 px high$/],
    ["looks", /: figure fig-weights: "journey" lies on "starts"$/],
    ["looks", /: figure fig-weights: "0\.\d+" is cut off$/],
  ],
};

planting("what a reader meets in the browser is found", async (copy, plant) => {
  for (const [name, [html]] of Object.entries(inBrowser))
    plant(`${name}.html`, END, () => `${html}</main>`);
  plant("mkl.html", /<main[^>]*>/, '$&<div id="late"></div>');
  plant("programs/04.js", /(?=";\n$)/, much);
  const names = Object.keys(inBrowser);
  const seen = await checks.visits(copy, names, ["light", "phone", "plain"], ["sheet"]);
  for (const [check, wanted] of Object.values(inBrowser).flatMap(([, ...all]) => all))
    found(checks.ofVisits[check](copy, seen), [wanted]);
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
