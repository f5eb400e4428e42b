// Running programs in a page, as a reader does.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { answering, folder, hasFocus, held, pagesOf, press, reading } from "./book.mjs";
import { packedAgain, spoiled } from "./packed.mjs";

const panel = (page) => page.getByRole("region", { name: "a run of the program" });
const printed = (page) => panel(page).locator("samp").innerText();
const runThis = (page) => page.getByRole("button", { name: "Run this program" });

// Fails unless the panel comes to say this, once it has something to say.
async function verdict(page, wanted) {
  const said = panel(page).getByRole("status");
  const found = said.filter({ hasText: /\.$/, hasNotText: "Running" });
  await found.waitFor();
  assert.match(await found.textContent(), wanted);
}
const SAME = /^The same as on this page: /;

async function runWith(page, args, wanted = /\.$/) {
  await panel(page).getByRole("textbox").fill(args);
  await panel(page).getByRole("button", { name: "Run", exact: true }).click();
  await verdict(page, wanted);
}

// Which figures a program draws is held against native ones in module.test.mjs.
const html = (name) => readFileSync(join(folder, `${name}.html`), "utf8");
for (const name of pagesOf().filter((it) => /class="output[^>]* data-program/.test(html(it)))) {
  const gate = name === "dot-product" ? "(gate) " : "";
  reading(`${gate}${name}: Run prints and draws what the page shows`, name, async (page) => {
    await runThis(page).click();
    await verdict(page, SAME);
  });
}

reading("a page asks for a module when it is wanted, and for no other", "softmax", async (page) => {
  const modules = () => page.asked.flatMap((url) => url.match(/\bprograms\/\w+/) ?? []);
  assert.deepEqual(modules(), []);
  await runThis(page).click();
  await verdict(page, SAME);
  const bench = page.getByRole("button", { name: /^Change this/ }).first();
  await bench.click();
  await page.getByText("Press any number").waitFor();
  await runWith(page, "0 0");
  assert.deepEqual(modules(), ["programs/02"]);
});

// What is given to the program, what is said of the run, and how what it prints begins.
const given = [
  ["0 0", /^2 lines printed, in \d+ ms\.$/, /^weights \(2\)\n\[0\.5000, 0\.5000\]/],
  ["1 x", /^Refused, exit status 2, in /, /^argument\.c: parse_float: a score is 'x': /],
  ["1 two", /^Refused, as on this page: 1 line, exit status 2, /, /a score is 'two'/],
  ["", /^The same as on this page: \d+ lines and \d+ figures, /, /./],
];
reading("a run can be given numbers, and is refused what is none", "softmax", async (page) => {
  await runThis(page).click();
  for (const [args, says, prints] of given) {
    await runWith(page, args, says);
    assert.match(await printed(page), prints);
  }
});

// What is typed, and the program's words; or what is said where it is none.
const split = [
  ["'the cat and'  the dog ", ["the cat and", "the", "dog"]],
  ["'Schöne Grüße, 你好' a\u00a0b", ["Schöne Grüße, 你好", "a\u00a0b"]],
  ["a'b c'd ''", ["ab cd", ""]],
  ["a; b", /'\.\.\.' around those that belong together: not ;$/],
  ["it's", /: not '$/],
];
const echo = () => {
  book.run = async (_, { args }) => {
    const out = args.map((word) => `${word}|\n`).join("");
    return { status: 0, out, err: "", figures: {}, ms: 1 };
  };
};
reading("what is typed is parted into words, as by a shell", "tokens", async (page) => {
  await page.evaluate(echo);
  await runThis(page).click();
  for (const [args, wanted] of split) {
    await runWith(page, args);
    if (wanted.test) assert.match(await printed(page), wanted);
    else
      assert.deepEqual(
        (await printed(page)).split("|\n"),
        wanted.map((it, k) => (k === wanted.length - 1 ? `${it}|` : it)),
      );
  }
});

// The name of a button, and what is said when it is pressed.
const commands = [
  ["softmax", 'Run make run-02 ARGS="0 0 -inf"', /^2 lines printed/],
  ["softmax", 'Run make -s run-02 ARGS="1 -inf 2"', /^The same as on this page: 2 lines, /],
  ["preface", "Run make run-01", /^\d+ lines printed, /],
];
for (const [name, command, says] of commands) {
  reading(`a command can be pressed: ${command}`, name, async (page) => {
    await page.evaluate(() => {
      for (const fold of document.querySelectorAll("details")) fold.open = true;
    });
    await page.getByRole("button", { name: command, exact: true }).first().click();
    await verdict(page, says);
  });
}

reading("Run at an output shows its lines among all", "softmax", async (page) => {
  const output = page.locator(".output:not([data-args])").nth(2);
  await output.getByRole("button", { name: "Run" }).click();
  await verdict(page, SAME);
  const lines = (text) => text.trim().split(/\s*\n\s*/);
  const lit = await panel(page).locator(".here").allInnerTexts();
  assert.deepEqual(lines(lit.join("\n")), lines(await output.locator("samp").innerText()));
});

reading("by keyboard alone: run, change, close", "softmax", async (page) => {
  await runThis(page).focus();
  await press(page, "Enter");
  await verdict(page, SAME);
  await page.keyboard.type("3 3");
  await press(page, "Enter");
  await page.getByText("[0.5000, 0.5000]").last().waitFor();
  await press(page, "Escape");
  assert.equal(await panel(page).count(), 0);
  assert.equal(await hasFocus(runThis(page)), true);
});

// The module is there only when the test has stopped waiting for it.
const late = held(/programs\/02\.js$/);
reading("Stop ends the wait for the module, too", "softmax", late, async (page) => {
  await runThis(page).click();
  await panel(page).getByText("Running").waitFor();
  await panel(page).getByRole("button", { name: "Stop" }).click();
  await verdict(page, /^Stopped after /);
  await panel(page).getByRole("button", { name: "Run", exact: true }).click();
  late.release();
  await verdict(page, SAME);
});

// A module whose _start is a loop without an end.
const LOOP = "AGFzbQEAAAABBAFgAAADAgEABQMBAAEHEwIGbWVtb3J5AgAGX3N0YXJ0AAAKCQEHAANADAALCw==";
const endless = packedAgain(
  readFileSync(join(folder, "programs/01.js"), "utf8"),
  Buffer.from(LOOP, "base64"),
);
const hangs = { prepare: answering(/programs\/01\.js$/, endless) };
reading("a program that hangs can be stopped", "dot-product", hangs, async (page) => {
  const [worker] = await Promise.all([page.waitForEvent("worker"), runThis(page).click()]);
  const ended = worker.waitForEvent("close");
  await panel(page).getByRole("button", { name: "Stop" }).click();
  await verdict(page, /^Stopped after /);
  await ended;
});

// ---- Planted: modules that are missing, cannot be unpacked, or are others.

const modules = /programs\/\w+\.js$/;
const unopened = {
  "cannot be loaded": answering(modules, ""),
  "is damaged": answering(modules, "globalThis.book.packed = {};"),
  "this browser cannot unpack": (context) =>
    context.addInitScript(() => delete globalThis.DecompressionStream),
};
for (const [why, prepare] of Object.entries(unopened)) {
  reading(`it is said of a module: ${why}`, "softmax", { prepare }, async (page) => {
    await runThis(page).click();
    await verdict(page, /^This page cannot run the program: .*\bprograms\/02\.js\b.*\.$/);
    await panel(page).getByText(why).waitFor();
    const bench = page.getByRole("button", { name: /^Change this|workbench/ }).first();
    await bench.click();
    await page.getByText("The workbench cannot be opened: ").waitFor();
    assert.match(await bench.textContent(), /\bprograms\/02\.js\b/);
    page.faults.length = 0; // Chromium says that the file is missing, and the bench throws
  });
}

const module = readFileSync(join(folder, "programs/01.js"), "utf8");
const other = { prepare: answering(modules, spoiled(module, 0.34, 0.3401)) };
reading("planted: another digit is said, with its line", "dot-product", other, async (page) => {
  await runThis(page).click();
  await verdict(page, /^Line \d+ is not as on this page, which has ".*"\.$/);
  assert.equal(await panel(page).locator(".differs").count(), 1);
});
