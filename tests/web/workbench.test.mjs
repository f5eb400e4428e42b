// The workbench, as a reader uses it: its numbers are the chapters' or the trained model's, it
// can be changed, any number says how it was made, and its address holds what was changed.
// tests/web/workbench.t holds every explanation against its sources.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import {
  answering,
  build,
  focused,
  hasFocus,
  held,
  inView,
  press,
  reading,
  turnTo,
} from "./book.mjs";
import { axeIn } from "./checks.mjs";

const root = (page, k = 0) => page.locator(".workbench").nth(k);
const grid = (page, name) => root(page).getByRole("grid", { name, exact: true });
const cell = (page, table, place) =>
  grid(page, table).getByRole("gridcell", { name: new RegExp(`^${place}: `) });
const panel = (page) => page.getByRole("region", { name: "How this number was made" });
const heading = async (page) =>
  (await panel(page).locator(".number").innerText()).replace(/\s+/g, " ");
const refusal = (page, text) => root(page).getByRole("alert").getByText(text);
const words = (page) => root(page).getByRole("textbox", { name: /^text, of up to \d+ / });
const stage = (page) => root(page).getByRole("combobox", { name: "begin with" });
// The page knows its own address sooner than its driver.
const hashOf = (page) => page.evaluate(() => location.hash);

async function opened(page, k = 0) {
  await root(page, k)
    .getByRole("button", { name: /^Change this/ })
    .click();
  await there(page, k);
}

// On its own page it opens by itself.
const there = (page, k) => root(page, k).getByText("Press any number").waitFor();

// The entries of a table as it stands in the page, by rows, also where it is folded.
async function entries(page, name) {
  await root(page).evaluate((it) => {
    for (const fold of it.querySelectorAll("details")) fold.open = true;
  });
  const rows = grid(page, name).locator("tbody tr");
  await rows.first().waitFor();
  return rows.evaluateAll((all) =>
    all.map((row) => [...row.cells].slice(1).map((td) => td.textContent)),
  );
}

// Each bench of a chapter; its numbers are held against the page's in workbench.t.
const chapters = ["softmax", "qkv", "tokens", "cross-attention"];
chapters.push("causal-mask", "dropout", "heads", "multi-head");
for (const name of chapters)
  reading(`${name}: each workbench opens, with nothing changed`, name, async (page) => {
    for (let k = 0; k < (await page.locator(".workbench").count()); k++) {
      await opened(page, k);
      assert.equal(await root(page, k).locator(".setting.changed").count(), 0);
    }
  });

// ---- Changing

reading("(gate) what is changed: map and tables follow, and say so", "tokens", async (page) => {
  await opened(page);
  await words(page).fill("to be or not");
  await cell(page, "attention weights", "or, not").waitFor();
  const weights = await entries(page, "attention weights");
  assert.deepEqual(
    weights.map((row) => row.length),
    [4, 4, 4, 4],
  );
  const scores = await entries(page, "scores");
  const map = () => root(page).locator(".picture text").allTextContents();
  const before = await map();
  assert.deepEqual(before.slice(0, 4), ["to", "be", "or", "not"]);
  await root(page).getByRole("slider", { name: "scores divided by" }).fill("8");
  await root(page).locator(".setting.scale.changed").waitFor();
  const marked = root(page).locator("summary", { hasText: /attention weights.*changed/ });
  await marked.waitFor();
  assert.notDeepEqual(await map(), before);
  assert.notDeepEqual(await entries(page, "attention weights"), weights);
  assert.deepEqual(await entries(page, "scores"), scores);
  await root(page).getByText("Other numbers than before in: ").waitFor({ state: "attached" });
  await root(page).getByRole("button", { name: "√d" }).click();
  await page.waitForFunction(() => !document.querySelector(".setting.scale.changed"));
  assert.deepEqual(await entries(page, "attention weights"), weights);
  await root(page).getByRole("button", { name: "Reset" }).click();
  await cell(page, "attention weights", "short, Life").waitFor();
  assert.equal(await root(page).getByText("changed").filter({ visible: true }).count(), 0);
});

reading("what makes no sense is refused, and the last tables stay", "workbench", async (page) => {
  await there(page);
  await words(page).fill("a b c d e f g h i j k l m");
  await refusal(page, "the text has 13 words: 1 to 12 are needed").waitFor();
  assert.equal(await root(page).locator(".setting.words > [role=alert]").count(), 1);
  await cell(page, "attention weights, head 1", "short, Life").waitFor();
  await words(page).fill("生命短暂");
  await root(page).getByText("is taken for one word: put blanks between the words").waitFor();
  const rate = root(page).getByRole("spinbutton", { name: /^dropout rate/ });
  await rate.fill("");
  await refusal(page, "This field is empty: 0 still holds.").waitFor();
});

// ---- Asking

reading("(gate) a weight, from share to embedding", "tokens", async (page) => {
  await opened(page);
  await cell(page, "attention weights", "short, Life").click();
  assert.match(await heading(page), /^attention weights short, Life: 0\.1965/);
  assert.equal(await root(page).locator("td.source").count(), 6);
  const follow = async (name, wanted) => {
    await panel(page).getByRole("button", { name }).click();
    assert.match(await heading(page), wanted);
  };
  await follow(/^scaled scores: Life: /, /^scaled scores short, Life: 0\.1720$/);
  await follow(/^scores: /, /^scores short, Life: 0\.2432$/);
  await follow(/^queries: 1: /, /^queries short, 1: /);
  await follow(/^embeddings: 2: /, /^embeddings short, 2: /);
  assert.equal(await panel(page).getByRole("listitem").count(), 5);
  await panel(page).getByRole("button", { name: "scores", exact: true }).click();
  assert.equal(await panel(page).getByRole("listitem").count(), 3);
  await panel(page).getByRole("button", { name: "Close" }).click();
  assert.equal(await panel(page).count(), 0);
  assert.equal(await root(page).locator(".source, .asked").count(), 0);
});

for (const form of ["", " on a phone"]) {
  reading(`a number that is asked is in sight, and stays${form}`, `tokens${form}`, async (page) => {
    await opened(page);
    // As in browsers that anchor nothing when what is above changes.
    await page.addStyleTag({ content: "* { overflow-anchor: none }" });
    const pressed = cell(page, "context vectors", "short, 1");
    await pressed.evaluate((it) => scrollBy(0, it.getBoundingClientRect().top - 150));
    const { y } = await pressed.boundingBox();
    await pressed.click();
    await panel(page).waitFor();
    const now = await pressed.boundingBox();
    assert.ok(Math.abs(now.y - y) < 2, `from ${y} to ${now.y}`);
    for (let k = 0; k < 4; k++) {
      await panel(page).locator(".chip").first().click();
      await inView(root(page).locator("td.asked"));
      await inView(panel(page).locator(".number"));
    }
  });
}

// ---- By keyboard alone, and for those who do not see

async function tabTo(page, wanted, key = "Tab") {
  const passed = [];
  while (passed.length < 50) {
    await press(page, key);
    passed.push(await focused(page));
    if (wanted.test(passed.at(-1))) return;
  }
  throw new Error(`${key} does not lead to ${wanted}: ${passed}`);
}

reading("by keyboard alone: open, change, ask, follow, leave, close", "tokens", async (page) => {
  const button = root(page).getByRole("button", { name: /^Change this/ });
  await button.focus();
  await press(page, "Enter");
  await there(page);
  await tabTo(page, /^query size \(d_?k\)$/);
  await press(page, "ArrowRight");
  await root(page).locator(".changed.d_k").waitFor();
  await press(page, "ArrowLeft");
  await cell(page, "attention weights", "Life, Life").focus();
  await press(page, "ArrowDown", "ArrowDown", "End", "ArrowRight", "Home", "Enter", "Enter");
  await root(page)
    .getByText(/^attention weights short, Life: 0\.1965\. /)
    .waitFor({ state: "attached" });
  for (const name of [/^scaled scores short, Life: /, /^scores short, Life: /]) {
    assert.equal(await hasFocus(panel(page).locator(".number")), true);
    await press(page, "Tab", "Enter");
    assert.match(await heading(page), name);
  }
  await tabTo(page, /^scaled scores$/, "Shift+Tab");
  await press(page, "Enter", "Escape");
  assert.equal(await panel(page).count(), 0);
  assert.match(await focused(page), /^short, Life: 0\.1720$/); // the scaled score
  await tabTo(page, /^Close$/, "Shift+Tab");
  await press(page, "Enter");
  assert.equal(await hasFocus(button), true);
});

// ---- The address

reading("the address holds the state, and gives it again", "workbench", async (page) => {
  await there(page);
  assert.equal(await hashOf(page), "");
  await words(page).fill("you, 你好 & I");
  await root(page).getByRole("combobox", { name: "each sees" }).selectOption("none");
  await cell(page, "attention weights, head 2", "&, I").click();
  const hash = await hashOf(page);
  const numbers = await entries(page, "attention weights, head 2");
  const asked = await heading(page);
  await page.goto("about:blank");
  await turnTo(page, `workbench${hash}`);
  await panel(page).waitFor();
  assert.equal(await heading(page), asked);
  await inView(root(page).locator("td.asked"));
  assert.deepEqual(await entries(page, "attention weights, head 2"), numbers);
  assert.equal(await words(page).inputValue(), "you, 你好 & I");
  for (const bad of ["stage=foo", "stage=mask&p=7", "stage=all&ask=weights:0:0:0&seed=x"]) {
    await page.evaluate((text) => {
      location.hash = text;
    }, bad);
    await refusal(page, "This address cannot be shown: ").waitFor();
    assert.equal(await words(page).inputValue(), "you, 你好 & I");
  }
});

reading("from a chapter to the page, with what was changed", "causal-mask", async (page) => {
  await opened(page);
  await root(page).getByRole("combobox", { name: "the mask hides" }).selectOption("weights");
  await cell(page, "renormalized", "short, Life").click();
  const asked = await heading(page);
  await root(page).getByRole("link", { name: "Open this in the workbench page" }).click();
  await page.waitForURL(/workbench\.html#stage=mask&hide=weights&ask=renormalized:0:2:0$/);
  await panel(page).waitFor();
  assert.equal(await heading(page), asked);
});

reading("another example keeps text and seed; Back leads back", "workbench", async (page) => {
  await there(page);
  await words(page).fill("to be or not");
  await press(page, "Enter");
  assert.match(await focused(page), /^to, to: /);
  await page.waitForFunction(() => location.hash.includes("to+be"));
  await root(page).getByLabel("seed", { exact: true }).fill("7");
  await page.waitForFunction(() => location.hash.includes("seed=7"));
  await stage(page).selectOption("shares");
  await cell(page, "scores", "to, be").click();
  await panel(page).waitFor();
  assert.equal(await hashOf(page), "#stage=shares&words=to+be+or+not&seed=7&ask=scores:0:0:1");
  await panel(page).locator(".chip").first().click();
  await panel(page).getByRole("listitem").nth(1).waitFor();
  await page.goBack();
  await panel(page).locator(".number", { hasText: "scores" }).waitFor();
  await page.goBack();
  await panel(page).waitFor({ state: "detached" });
  await page.goBack();
  await cell(page, "attention weights, head 1", "or, be").waitFor();
  await page.goBack();
  await page.goBack();
  await cell(page, "attention weights, head 1", "short, Life").waitFor();
  await page.goForward();
  await cell(page, "attention weights, head 1", "or, be").waitFor();
});

// ---- A model that has learned

const ROS = "Good Rosencrantz, and you, sweet Ros";
const next = (page) => root(page).getByRole("grid", { name: /^most likely / });
const head = (page, name) => root(page).getByRole("button", { name: new RegExp(`^head ${name}`) });

// The shares that the program prints in a terminal stand in the page.
async function showing(page, ...args) {
  const out = execFileSync(join(build, "web", "inside"), args).toString();
  const shares = out.match(/^most likely.*\n@row 0\n(.*)$/m)[1];
  await page.waitForFunction((wanted) => {
    const row = document.querySelector('[aria-label^="most likely"] tbody tr');
    return (
      row &&
      [...row.cells]
        .map((td) => td.textContent)
        .slice(1)
        .join(" ") === wanted
    );
  }, shares);
}

reading("(gate) a model that has learned: loaded when it is chosen", "workbench", async (page) => {
  await there(page);
  assert.deepEqual(
    page.asked.filter((url) => /inside|model-/.test(url)),
    [],
  );
  await stage(page).selectOption("language");
  await showing(page);
  await words(page).fill("To be, or not to b");
  await showing(page, "words=To be, or not to b");
  assert.equal(await root(page).locator("canvas").count(), 8);
  assert.deepEqual(await axeIn(page), []);
  await words(page).fill("für");
  await refusal(page, "character 2 has byte 0xC3").waitFor();
  await stage(page).selectOption("verbs");
  await showing(page, "stage=verbs");
  await stage(page).selectOption("scale");
  await grid(page, "attention weights").waitFor();
  assert.equal(await root(page).locator("canvas").count(), 0);
});

reading("heads: shown, and switched off one by one", "workbench", async (page) => {
  await page.getByRole("link", { name: ROS }).click();
  await showing(page, `words=${ROS}`);
  await head(page, "0.3").click();
  await grid(page, "block 0: attention weights, head 3").waitFor();
  assert.equal(await head(page, "0.3").getAttribute("aria-pressed"), "true");
  for (const name of ["1.0", "1.3"])
    await root(page)
      .getByRole("button", { name: `switch off: head ${name}`, exact: true })
      .click();
  await showing(page, `words=${ROS}`, "off=1.0,1.3");
  await root(page).getByRole("button", { name: "switch on: head 1.0", exact: true }).click();
  await showing(page, `words=${ROS}`, "off=1.3");
});

reading("a share of a model, and its logits, by keys alone", "workbench", async (page) => {
  await page.getByRole("link", { name: ROS }).click();
  await showing(page, `words=${ROS}`);
  await next(page).getByRole("gridcell", { name: "s, e: 0.9876" }).focus();
  await press(page, "Enter", "Enter");
  for (const name of ["shares of the next token", "logits", "what the output gets"]) {
    await press(page, "Tab", "Enter");
    assert.equal(await panel(page).locator(".number .label").innerText(), name);
  }
  await press(page, "Escape");
  assert.equal(await focused(page), "s, e: 0.9876"); // where it began
});

const damaged = { prepare: answering(/model-language\.js$/, "book.packed ??= {};") };
reading("a model that is damaged is said", "workbench#stage=language", damaged, async (page) => {
  await root(page).getByText("programs/model-language.js is damaged").waitFor();
  await grid(page, "attention weights, head 1").waitFor();
  page.faults.length = 0; // it is told to the console as well
});

// A model that comes late does not take the place of what was chosen in the meantime.
const late = held(/model-language\.js$/);
reading("a model that is not waited for", "workbench", late, async (page) => {
  await stage(page).selectOption("language");
  await root(page).getByText("The model is being loaded.").waitFor();
  await stage(page).selectOption("mask");
  const masked = root(page).locator("summary", { hasText: "masked scores" });
  await masked.waitFor();
  late.release();
  // Loaded and unpacked once more, behind the page's own.
  await page.evaluate(() =>
    book.ready("inside").then(() => book.unpack("programs/model-language")),
  );
  await masked.waitFor();
  assert.match(page.url(), /#stage=mask$/);
});
