// Running programs in a page, as a reader does.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { answering, folder, held, reading } from "./book.mjs";
import { spoiled } from "./packed.mjs";

const panel = (page) => page.getByRole("region", { name: "a run of the program" });
const said = (page) => panel(page).getByRole("status");

// What the panel says once it has something to say.
async function verdict(page) {
  const found = said(page).filter({ hasText: /\.$/, hasNotText: "Running" });
  await found.waitFor();
  return found.textContent();
}

async function runWith(page, args) {
  await panel(page).getByRole("textbox").fill(args);
  await panel(page).getByRole("button", { name: "Run", exact: true }).click();
  return verdict(page);
}

const printed = (page) => panel(page).locator("samp").innerText();

const chapters = {
  "dot-product": /lines and \d+ figures/,
  softmax: /lines and \d+ figures/,
  "multi-head": /lines and \d+ figures/,
  errata: /\d+ lines/,
};
for (const [name, expected] of Object.entries(chapters)) {
  reading(`${name}: Run prints and draws what the page shows`, name, async (page) => {
    await page.getByRole("button", { name: "Run this program" }).click();
    const text = await verdict(page);
    assert.match(text, /^The same as on this page: /);
    assert.match(text, expected);
  });
}

reading("a page asks for a module when it is wanted, and for no other", "softmax", async (page) => {
  const modules = () => page.asked.flatMap((url) => url.match(/\bprograms\/\w+/) ?? []);
  assert.deepEqual(modules(), []);
  await page.getByRole("button", { name: "Run this program" }).click();
  await verdict(page);
  assert.deepEqual(modules(), ["programs/02"]);
  await page
    .getByRole("button", { name: /^Change this/ })
    .first()
    .click();
  await page.getByText("Press any number").waitFor();
  await runWith(page, "0 0");
  assert.deepEqual(modules(), ["programs/02"]);
});

reading(
  "a run can be given other numbers, and is refused what is none",
  "softmax",
  async (page) => {
    await page.locator("hgroup").getByText("(takes arguments)").waitFor();
    await page.getByRole("button", { name: "Run this program" }).click();
    await verdict(page);
    assert.match(await runWith(page, "0 0"), /^2 lines printed, in \d+ ms\.$/);
    assert.match(await printed(page), /^weights \(2\)\n\[0\.5000, 0\.5000\]/);
    assert.match(await runWith(page, "1 x"), /^Refused, exit status 2, in \d+ ms\.$/);
    assert.match(await printed(page), /^argument\.c: parse_float: a score is 'x': /);
    assert.match(
      await runWith(page, "1 two"),
      /^Refused, as on this page: 1 line, exit status 2, /,
    );
    assert.match(await runWith(page, ""), /^The same as on this page: \d+ lines and \d+ figures, /);
  },
);

// What the page takes for words, held against the shell and make; and what it refuses.
const split = [
  "  1  -inf 2 ",
  "'the cat and' the dog",
  "'Schöne Grüße, 你好' a\u00a0b",
  String.raw`\"a b\"c d\ e f\\\\g '\"' \"'\" '' \"\"`,
  String.raw`\"a\\\"b\" \"\\\\\" \"\n\" 'a\b' '\\' \'`,
  String.raw`\* '*' \"?\" \[a-z] '~' a=b 100% {a,b} !`,
];
const refused = {
  '"': ['a"b c"d', 'a b" ; echo "c', String.raw`\\"a`],
  ";": ["a; b"],
  "[": ["[a-z]* b"],
  "*": ["*", String.raw`\\\\*`],
  "?": ["Makefil?"],
  "~": ["~"],
  $: ["a$$b", "'$'", String.raw`\$a`],
};
reading("words are what the shell and make have for them", "tokens", async (page) => {
  const place = mkdtempSync(join(tmpdir(), "split-"));
  writeFileSync(join(place, "Makefile"), "run:\n\t@printf '%s\\n' $(ARGS)\n");
  await page.evaluate(() => {
    book.run = async (_, { args }) => {
      const out = args.map((word) => `${word}\n`).join("");
      return { status: 0, out, err: "", figures: {}, ms: 1 };
    };
  });
  await page.getByRole("button", { name: "Run this program" }).click();
  await verdict(page);
  for (const args of split) {
    const command = `make -s run ARGS="${args}"`;
    const wanted = execFileSync("sh", ["-c", command], { cwd: place, encoding: "utf8" });
    await runWith(page, args);
    const lines = await panel(page).locator("samp span").allTextContents();
    const words = lines.map((line) => line.replace("\n", ""));
    assert.deepEqual(words, wanted.split("\n").slice(0, -1), args);
  }
  for (const [sign, lines] of Object.entries(refused)) {
    for (const args of lines) {
      await runWith(page, args);
      const why = `sh: this page's shell knows words and quotes, but not ${sign}`;
      assert.equal(await printed(page), why, args);
    }
  }
  await runWith(page, "it's");
  assert.match(await printed(page), /^sh: there is no second '/);
  rmSync(place, { recursive: true });
});

reading("a command in the text and one at an output can be pressed", "softmax", async (page) => {
  await page.getByText("Solutions", { exact: true }).last().scrollIntoViewIfNeeded();
  await page.evaluate(() => {
    for (const fold of document.querySelectorAll("details")) fold.open = true;
  });
  await page.getByRole("button", { name: 'Run make run-02 ARGS="0 0 -inf"' }).click();
  await verdict(page);
  assert.match(await printed(page), /\[0\.5000, 0\.5000, 0\.0000\]/);
  await page.getByRole("button", { name: 'Run make -s run-02 ARGS="1 -inf 2"' }).click();
  assert.match(await verdict(page), /^The same as on this page: 2 lines, /);
});

reading("Run at an output shows its lines among all", "softmax", async (page) => {
  const output = page.locator(".output:not([data-args])").nth(2);
  await output.getByRole("button").click();
  assert.match(await verdict(page), /^The same as on this page: /);
  const lines = (text) => text.trim().split(/\s*\n\s*/);
  const lit = await panel(page).locator(".here").allInnerTexts();
  assert.deepEqual(lines(lit.join("\n")), lines(await output.locator("samp").innerText()));
});

reading("the preface's first command runs there", "preface", async (page) => {
  await page.getByRole("button", { name: "Run make run-01" }).click();
  assert.match(await verdict(page), /^\d+ lines printed, /);
});

reading("by keyboard alone: run, change, unfold, close", "softmax", async (page) => {
  const button = page.getByRole("button", { name: "Run this program" });
  await button.focus();
  await page.keyboard.press("Enter");
  await verdict(page);
  await page.keyboard.type("3 3");
  await page.keyboard.press("Enter");
  await page.getByText("[0.5000, 0.5000]").last().waitFor();
  assert.equal(await page.evaluate(() => document.activeElement.id), "run-args");
  await page.keyboard.press("Escape");
  assert.equal(await panel(page).count(), 0);
  assert.equal(await button.evaluate((it) => it === document.activeElement), true);
});

// A worker to which nothing is said has no end, as a program that hangs.
reading("a long run says so, can be stopped, and the next one runs", "softmax", async (page) => {
  await page.evaluate(() => {
    const { postMessage } = Worker.prototype;
    Worker.prototype.postMessage = function (message) {
      if (message.name) Worker.prototype.postMessage = postMessage;
      else postMessage.call(this, message);
    };
  });
  await page.getByRole("button", { name: "Run this program" }).click();
  await said(page).getByText("Running").waitFor();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  assert.match(await verdict(page), /^Stopped after /);
  await page.keyboard.press("Enter");
  assert.match(await verdict(page), /^The same as on this page: /);
});

reading("what waits when all is stopped does not begin", "softmax", async (page) => {
  const [first, second] = await page.evaluate(async () => {
    const waiting = book.run("07_self_attention");
    book.stop();
    return Promise.all([waiting, book.run("02", { args: ["0", "0"] })]);
  });
  assert.equal(first.stopped, true);
  assert.equal(second.status, 0);
  assert.match(second.out, /^weights \(2\)\n\[0\.5000, 0\.5000\]/);
});

// The module is there only when the test has stopped waiting for it.
const late = held(/programs\/02\.js$/);
reading("Stop ends the wait for the module, too", "softmax", late, async (page) => {
  await page.getByRole("button", { name: "Run this program" }).click();
  await said(page).getByText("Running").waitFor();
  await panel(page).getByRole("button", { name: "Stop" }).click();
  assert.match(await verdict(page), /^Stopped after /);
  await panel(page).getByRole("button", { name: "Run", exact: true }).click();
  late.release();
  assert.match(await verdict(page), /^The same as on this page: /);
});

// ---- Planted: modules that are missing, cannot be unpacked, or are none.

const modules = /programs\/\w+\.js$/;
const unopened = {
  "cannot be loaded": answering(modules, ""),
  "is damaged": answering(modules, "globalThis.book.packed = {};"),
  "this browser cannot unpack": (context) =>
    context.addInitScript(() => delete globalThis.DecompressionStream),
};
for (const [why, prepare] of Object.entries(unopened)) {
  reading(
    `a module that ${why}: it is said where it was wanted`,
    "softmax",
    { prepare },
    async (page) => {
      await page.getByRole("button", { name: "Run this program" }).click();
      const text = await verdict(page);
      assert.match(text, /^This page cannot run the program: .*\bprograms\/02\.js\b.*\.$/);
      assert.ok(text.includes(why), text);
      const bench = page.getByRole("button", { name: /^Change this|workbench/ }).first();
      await bench.click();
      await page.getByText("The workbench cannot be opened: ").waitFor();
      assert.match(await bench.textContent(), /\bprograms\/02\.js\b/);
      page.faults.length = 0; // Chromium says that the file is missing, and the bench throws
    },
  );
}

// Of what could not be had, there is a next time.
const once = (context) =>
  context.route(/programs\/02\.js$/, (route) => route.abort(), { times: 1 });
reading(
  "a module that comes at the second time runs",
  "softmax",
  { prepare: once },
  async (page) => {
    await page.getByRole("button", { name: "Run this program" }).click();
    assert.match(await verdict(page), /cannot be loaded/);
    await page.keyboard.press("Enter");
    assert.match(await verdict(page), /^The same as on this page: /);
    page.faults.length = 0;
  },
);

// ---- Planted: a module in which one number of the chapter's is another.

const module = readFileSync(join(folder, "programs/01.js"), "utf8");
reading(
  "planted: another digit is said, with its line",
  "dot-product",
  { prepare: answering(modules, spoiled(module, 0.34, 0.3401)) },
  async (page) => {
    await page.getByRole("button", { name: "Run this program" }).click();
    assert.match(await verdict(page), /^Line \d+ is not as on this page, which has ".*"\.$/);
    assert.equal(await panel(page).locator(".differs").count(), 1);
  },
);
