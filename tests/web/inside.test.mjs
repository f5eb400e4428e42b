// The trained model of the workbench, as a reader uses it: loaded when it is chosen, with
// the numbers of the program in a terminal; heads that are pressed and switched off; and a
// number followed back to the characters. tests/web/inside.t holds every number.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { answering, build, focused, held, press, reading } from "./book.mjs";
import { axeIn } from "./checks.mjs";

const KIWI = "One kiwi, two plums, one ki";
const root = (page) => page.locator(".workbench");
const panel = (page) => page.getByRole("region", { name: "How this number was made" });
const head = (page, name) => root(page).getByRole("button", { name: new RegExp(`^head ${name}`) });
const turns = (page, how, name) =>
  root(page).getByRole("button", { name: `${how}: head ${name}`, exact: true });
const text = (page) => root(page).getByRole("textbox", { name: /^text, of up to 128 characters/ });
const next = (page) => root(page).getByRole("grid", { name: "most likely next tokens" });
const shares = (page) => next(page).locator("tbody td").allTextContents();

// What the program says in a terminal: the shares of what comes next.
const program = (...args) => execFileSync(join(build, "web", "inside"), args).toString();
const sharesOf = (printed) => printed.match(/^most likely.*\n@row 0\n(.*)$/m)[1].split(" ");

const showing = (page, args) =>
  next(page)
    .getByRole("gridcell", { name: `: ${sharesOf(program(...args))[0]}` })
    .first()
    .waitFor();

reading("a model that has learned: loaded when it is chosen", "workbench", async (page) => {
  await root(page).getByRole("combobox", { name: "begin with" }).waitFor();
  assert.deepEqual(
    page.asked.filter((url) => /inside|model-/.test(url)),
    [],
  );
  await root(page).getByRole("combobox", { name: "begin with" }).selectOption("language");
  await next(page).waitFor();
  assert.deepEqual(await shares(page), sharesOf(program()));
  await text(page).fill(KIWI);
  await showing(page, [`words=${KIWI}`]);
  assert.deepEqual(await shares(page), sharesOf(program(`words=${KIWI}`)));
  const widths = await root(page)
    .locator("canvas")
    .evaluateAll((all) => all.map(({ width, height }) => [width, height]));
  assert.deepEqual(widths, Array(8 + 1).fill([KIWI.length, KIWI.length]));
  assert.deepEqual(await axeIn(page, "light", "workbench"), []);
  await root(page).getByRole("combobox", { name: "begin with" }).selectOption("scale");
  await root(page).getByRole("grid", { name: "attention weights", exact: true }).waitFor();
  assert.equal(await root(page).locator("canvas").count(), 0);
});

reading("a verb past its distractor, from its link", "workbench", async (page) => {
  const answers = root(page).getByRole("grid", { name: "most likely answers" });
  const sentence = (words) => ["stage=verbs", `words=${words}`];
  await page.getByRole("link", { name: "the dogs near the old child" }).click();
  await answers.getByRole("gridcell", { name: /^_, sleep: / }).waitFor();
  const cells = () => answers.locator("tbody td").allTextContents();
  assert.deepEqual(await cells(), sharesOf(program(...sentence("the dogs near the old child _"))));
  assert.equal(await root(page).locator("canvas").count(), 1 + 1); // small, and large
  const words = root(page).getByRole("textbox", { name: /^text, of up to 7 words/ });
  await words.fill("the dog near the old mice _");
  await answers.getByRole("gridcell", { name: /^_, sleeps: 0\.9/ }).waitFor();
  assert.deepEqual(await cells(), sharesOf(program(...sentence("the dog near the old mice _"))));
  assert.deepEqual(await axeIn(page, "light", "workbench"), []);
  await words.fill("the dog barks");
  await root(page).getByText("there is no word 'barks'").waitFor();
  await root(page).getByRole("combobox", { name: "begin with" }).selectOption("repeated");
  await next(page).waitFor();
  assert.deepEqual(await shares(page), sharesOf(program("stage=repeated")));
});

const told = (page) => page.getByRole("region", { name: "What to try" });
const isSeen = (page, selector) =>
  page.waitForFunction((it) => {
    const { top } = document.querySelector(it).getBoundingClientRect();
    return top >= 0 && top < innerHeight;
  }, selector);

reading(
  "what the text says of a state stands beside it",
  "workbench#workbench-try",
  async (page) => {
    await page.getByRole("link", { name: KIWI }).click();
    await showing(page, [`words=${KIWI}`]);
    await isSeen(page, ".workbench");
    await told(page).getByText("An induction head at work").waitFor();
    for (const side of ["columns", "rows"])
      assert.equal(
        (await root(page).locator(`.names.${side} span`).allTextContents()).join(""),
        KIWI.replaceAll(" ", "␣"),
      );
    assert.deepEqual(await axeIn(page, "light", "workbench"), []);
    await text(page).fill("Öne"); // is refused, and the state is as before
    await root(page).getByText("character 1 has byte").waitFor();
    await told(page).getByText("An induction head at work").waitFor();
    await text(page).fill("One");
    await showing(page, ["words=One"]);
    await told(page).waitFor({ state: "detached" });
    await page.goBack();
    await told(page).getByRole("link", { name: "these two heads" }).click();
    await showing(page, [`words=${KIWI}`, "off=1.0,1.1"]);
    await told(page).getByRole("link", { name: KIWI }).click();
    await showing(page, [`words=${KIWI}`]);
    await page.evaluate(() => new Promise((done) => setTimeout(() => requestAnimationFrame(done))));
    await isSeen(page, ".workbench");
    await told(page).getByRole("link", { name: "Seven things to try" }).click();
    await isSeen(page, "main > h2 + ol > li");
    for (const args of [[], ["off=1.0,1.1"], []]) {
      await page.goBack();
      await showing(page, [`words=${KIWI}`, ...args]);
    }
    await page.goBack();
    await isSeen(page, "main > h2 + ol > li a"); // the link that led away
    await root(page).getByRole("combobox", { name: "begin with" }).selectOption("verbs");
    await root(page).getByRole("grid", { name: "most likely answers" }).waitFor();
    assert.equal(await told(page).count(), 0);
  },
);

for (const place of ["workbench", "workbench#workbench-address"]) {
  reading(`Back leads to the link that led away, at ${place}`, place, async (page) => {
    const link = page.getByRole("link", { name: "all tokens" });
    await link.evaluate((it) => scrollBy(0, it.getBoundingClientRect().top - 200));
    await link.click();
    await told(page).getByText("The mask taken away").waitFor();
    await isSeen(page, ".workbench");
    await page.goBack();
    await page.waitForFunction(
      (it) => Math.abs(it.getBoundingClientRect().top - 200) < 3,
      await link.last().elementHandle(),
    );
  });
}

reading("heads: pressed, switched off one by one and all", "workbench", async (page) => {
  await page.getByRole("link", { name: KIWI }).click();
  await showing(page, [`words=${KIWI}`]);
  const large = (name) => root(page).locator("p", { hasText: `head ${name} each row` });
  await large("1.1").waitFor();
  await head(page, "0.2").click();
  await large("0.2").waitFor();
  assert.equal(await head(page, "0.2").getAttribute("aria-pressed"), "true");
  await turns(page, "switch off", "1.0").click();
  await turns(page, "switch off", "1.1").click();
  await showing(page, [`words=${KIWI}`, "off=1.0,1.1"]);
  assert.match(await root(page).locator(".notes").innerText(), /With all heads it is 2\.4924/);
  assert.match(decodeURIComponent(page.url()), /head=0\.2&off=1\.0,1\.1$/);
  // In the dark, the maps have the colours of the dark.
  const light = await root(page)
    .locator(".large canvas")
    .evaluate((it) => it.toDataURL());
  await page.emulateMedia({ colorScheme: "dark" });
  await page.waitForFunction(
    (before) => document.querySelector(".large canvas").toDataURL() !== before,
    light,
  );
  await page.emulateMedia({ colorScheme: "light" });
  await turns(page, "switch on", "1.0").click();
  await showing(page, [`words=${KIWI}`, "off=1.1"]);
  await root(page).getByRole("button", { name: "switch off all heads of block 1" }).click();
  await showing(page, [`words=${KIWI}`, "off=1.0,1.1,1.2,1.3"]);
  await root(page).getByRole("button", { name: "switch on all heads of block 1" }).click();
  await showing(page, [`words=${KIWI}`]);
});

// The map of 27 tokens: its last row, and the column of the "w" that stands behind "ki".
for (const form of ["", " on a phone"]) {
  reading(`a weight that is pressed in a map${form}`, `workbench${form}`, async (page) => {
    await page.getByRole("link", { name: KIWI }).click();
    await showing(page, [`words=${KIWI}`]);
    const canvas = root(page).locator(".large canvas");
    const { width } = await canvas.boundingBox();
    await canvas.click({ position: { x: (6.5 / 27) * width, y: (26.5 / 27) * width } });
    await panel(page).waitFor();
    const answer = program(`words=${KIWI}`, "ask=1.weights:1:26:6");
    const [, value] = answer.match(/^\d.* \/ .* = (\S+)$/m);
    assert.match(await panel(page).locator(".number").innerText(), new RegExp(`i, w: ${value}`));
    assert.ok(value > 0.5, `${value}: it looks at what followed`);
    const [spot, map] = await Promise.all(
      [root(page).locator(".large .spot"), canvas].map((it) => it.boundingBox()),
    );
    assert.ok(Math.abs(spot.y + spot.height - map.y - map.height) < 2, "its square is marked");
    const names = await root(page).locator(".names.rows").boundingBox();
    assert.ok(names.height < map.height + 1, "the names of rows are as high as the map");
  });
}

// From number to number by the first source, until there is none.
reading("a share, back to a character, by keys alone", "workbench", async (page) => {
  await page.getByRole("link", { name: KIWI }).click();
  await showing(page, [`words=${KIWI}`]);
  await next(page).getByRole("gridcell", { name: "i, w: 0.9204" }).focus();
  await press(page, "Enter");
  const names = [];
  while (names.length < 60) {
    names.push(await panel(page).locator(".number .label").innerText());
    const source = panel(page).locator(".chip").first();
    if (!(await source.count())) break;
    await source.focus();
    await press(page, "Enter");
  }
  assert.deepEqual(names.slice(0, 5), [
    "most likely next tokens",
    "shares of the next token",
    "logits",
    "what the output gets",
    "block 1: sum after the network",
  ]);
  assert.deepEqual(names.slice(-3), [
    "sum of embedding and position",
    "embeddings",
    "table of embeddings",
  ]);
  assert.match(await panel(page).locator(".steps").innerText(), /training has set/);
  await press(page, "Escape");
  await panel(page).waitFor({ state: "detached" });
  assert.equal(await focused(page), "i, w: 0.9204"); // where it began
});

reading("what it refuses is said", "workbench", async (page) => {
  const refusal = root(page).locator("[role=alert]");
  await page.getByRole("link", { name: KIWI }).click();
  await showing(page, [`words=${KIWI}`]);
  await text(page).fill("für");
  await refusal.getByText("character 2 has byte 0xC3").waitFor();
  await text(page).fill(KIWI);
  await refusal.getByText("byte").waitFor({ state: "detached" });
});

const damaged = { prepare: answering(/model-language\.js$/, "book.packed ??= {};") };
reading("a model that is damaged is said", "workbench", damaged, async (page) => {
  await root(page).getByRole("combobox", { name: "begin with" }).selectOption("language");
  await root(page).getByText("programs/model-language.js is damaged").waitFor();
  assert.match(page.faults.join(), /is damaged/);
  page.faults.length = 0; // it is told to the console as well
});
reading(
  "an address of a model that is damaged",
  "workbench#stage=language",
  damaged,
  async (page) => {
    await root(page).getByText("programs/model-language.js is damaged").waitFor();
    await root(page)
      .getByRole("grid", { name: "attention weights, head 1", exact: true })
      .waitFor();
    page.faults.length = 0;
  },
);

// A model that comes late does not take the place of what was chosen in the meantime.
const late = held(/model-language\.js$/);
reading("a model that is not waited for", "workbench", late, async (page) => {
  const stage = root(page).getByRole("combobox", { name: "begin with" });
  await stage.selectOption("language");
  await root(page).getByText("The model is being loaded.").waitFor();
  await stage.selectOption("mask");
  const masked = root(page).locator("summary", { hasText: "masked scores" });
  await masked.waitFor();
  late.release();
  // Loaded and unpacked once more, behind the page's own.
  await page.evaluate(() =>
    book.ready("inside").then(() => book.unpack("programs/model-language")),
  );
  await page.evaluate(() => new Promise((done) => setTimeout(() => requestAnimationFrame(done))));
  await masked.waitFor();
  assert.equal(await stage.inputValue(), "mask");
  assert.match(page.url(), /#stage=mask$/);
});
