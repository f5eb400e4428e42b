// The workbench, as a reader uses it: its numbers are the chapters', it can be
// changed, any number says how it was made, and its address holds what was changed.
// tests/web/workbench.t holds every explanation against its sources.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { answering, build, focused, folder, inView, press, reading, turnTo } from "./book.mjs";

const root = (page, k = 0) => page.locator(".workbench").nth(k);
const grid = (page, name, k) => root(page, k).getByRole("grid", { name, exact: true });
const cell = (page, table, place) =>
  grid(page, table).getByRole("gridcell", { name: new RegExp(`^${place}: `) });
const panel = (page) => page.getByRole("region", { name: "How this number was made" });
const heading = (page) => panel(page).locator(".number").innerText();
const refusal = (page) => root(page).locator("[role=alert]");
const words = (page) =>
  root(page).getByRole("textbox", { name: /^text, of up to 12 words( changed)?$/ });
const said = (page) => root(page).locator("[aria-live]");
// The page knows its own address sooner than its driver.
const hashOf = (page) => page.evaluate(() => location.hash);
const hasFocus = (locator) => locator.evaluate((it) => it === document.activeElement);

async function opened(page, k = 0) {
  await root(page, k)
    .getByRole("button", { name: /^Change this/ })
    .click();
  await root(page, k).getByRole("grid").first().waitFor({ state: "attached" });
}

// On its own page it opens by itself.
const there = (page) => root(page).locator(".hint").waitFor();

// The entries of a table as it stands in the page, by rows, also where it is folded.
async function entries(page, name, k) {
  await root(page, k).evaluate((it) => {
    for (const fold of it.querySelectorAll("details")) fold.open = true;
  });
  await grid(page, name, k).waitFor();
  return grid(page, name, k)
    .locator("tbody tr")
    .evaluateAll((rows) => rows.map((row) => [...row.cells].slice(1).map((td) => td.textContent)));
}

// What the chapter prints below a label, on its own page.
const printed = (page, label) =>
  page.locator("main .output samp").evaluateAll((outputs, wanted) => {
    const lines = outputs.flatMap((it) => it.textContent.split("\n"));
    const first = lines.findIndex((line) => line.replace(/ \([\d, ]+\)$/, "") === wanted);
    const rest = lines.slice(first + 1);
    const end = rest.findIndex((line) => !/^[[ ]\[|^\[/.test(line));
    const rows = rest.slice(0, end < 0 ? undefined : end);
    return first < 0 ? [] : rows.map((line) => line.match(/-?(?:[\d.]+|inf)|nan/g));
  }, label);

const noMinus = (rows) => rows.map((row) => row.map((text) => text.replace(/^-(0\.0+)$/, "$1")));

// ---- The same numbers and figures as on the page

// A page; which of its benches; its figures; a table, and what the page calls it. The other
// tables are held against the chapters in workbench.t.
const same = [
  ["softmax", 0, "02/steps", "exponentials of the scores", "exponentials with the sign flipped"],
  ["softmax", 1, "02/mixture", "context vectors", "context vector of shiny"],
  ["qkv", 0, "03/roles 03/likes", "context vectors", "context vectors of cat, likes, fish"],
  ["scaling", 0, "06/life", "attention weights", "attention weights"],
  ["cross-attention", 0, "08/strangers", "context vectors", "context vectors"],
  ["cross-attention", 1, "08/translation", "attention weights", "weights of can, you, help, me"],
  ["causal-mask", 0, "09/maps", "context vectors", "context vectors, the future hidden"],
  ["dropout", 0, "", "after dropout", "after dropout"],
  ["heads", 0, "", "heads side by side", "four heads, side by side"],
  ["multi-head", 0, "13/maps", "attention weights, head 2", "Your journey, head 2"],
];

for (const [name, k, figures, table, label] of same) {
  reading(`${name}, bench ${k + 1}: the numbers and figures of the page`, name, async (page) => {
    await opened(page, k);
    const wanted = await printed(page, label);
    assert.notEqual(wanted.length, 0, `${name} prints '${label}'`);
    assert.deepEqual(noMinus(await entries(page, table, k)), noMinus(wanted));
    for (const path of figures.split(" ").filter(Boolean)) await isBuilt(page, k, path);
  });
}

// The figure that was built stands in the bench, with the same words and numbers.
async function isBuilt(page, k, path) {
  const built = readFileSync(join(build, "figures", `${path}.svg`), "utf8");
  const wanted = [...built.matchAll(/<text[^>]*>([\s\S]*?)<\/text>/g)].map(([, text]) => text);
  const shown = await root(page, k)
    .locator(".picture")
    .evaluateAll((all) =>
      all.map((it) => [...it.querySelectorAll("text")].map((text) => text.innerHTML)),
    );
  const bare = (texts) => texts.join("|").replace(/ xmlns="[^"]*"/g, "");
  assert.ok(shown.map(bare).includes(bare(wanted)), `${path}.svg stands in the bench`);
}

// ---- Changing

reading("another sentence: all is its own", "scaling", async (page) => {
  await opened(page);
  await words(page).fill("to be or not");
  await cell(page, "attention weights", "or, not").waitFor();
  assert.deepEqual(
    (await entries(page, "attention weights")).map((row) => row.length),
    [4, 4, 4, 4],
  );
  const map = await root(page).locator(".picture text").allTextContents();
  assert.deepEqual(map.slice(0, 4), ["to", "be", "or", "not"]);
  assert.match(
    await root(page).locator("summary", { hasText: "attention weights" }).innerText(),
    /changed/,
  );
  await root(page).getByRole("button", { name: "Reset" }).click();
  await cell(page, "attention weights", "short, Life").waitFor();
  assert.equal(await root(page).getByText("changed").filter({ visible: true }).count(), 0);
  assert.equal(await root(page).getByRole("button", { name: "Reset" }).isDisabled(), true);
});

reading("a slider: the map and the tables follow, and say so", "scaling", async (page) => {
  await opened(page);
  const weights = await entries(page, "attention weights");
  const scores = await entries(page, "scores");
  const map = () => root(page).locator(".picture").innerHTML();
  const before = await map();
  const slider = root(page).getByRole("slider", { name: "scores divided by" });
  await slider.fill("8");
  await said(page).getByText("Other numbers than before in: ").waitFor({ state: "attached" });
  assert.equal(
    await said(page).innerText(),
    "Other numbers than before in: scaled scores, attention weights, context vectors",
  );
  assert.notEqual(await map(), before);
  assert.notDeepEqual(await entries(page, "attention weights"), weights);
  assert.deepEqual(await entries(page, "scores"), scores);
  await root(page).getByRole("button", { name: "√d" }).click();
  await page.waitForFunction(() => !document.querySelector(".workbench .setting.changed"));
  assert.deepEqual(await entries(page, "attention weights"), weights);
});

reading("softmax makes equal shares of equal scores", "softmax", async (page) => {
  await opened(page);
  for (const word of ["Hello", "shiny", "sun"])
    await root(page)
      .getByRole("slider", { name: `score of '${word}'` })
      .fill("2");
  await cell(page, "attention weights", "shiny, sun").getByText("0.3333").waitFor();
  assert.deepEqual(await entries(page, "attention weights"), [["0.3333", "0.3333", "0.3333"]]);
  const first = root(page).getByRole("spinbutton").first();
  await first.fill("5.25");
  await cell(page, "scores", "shiny, Hello").getByText("5.2500").waitFor();
  await root(page).getByRole("button", { name: "computed" }).first().click();
  await cell(page, "scores", "shiny, Hello").getByText("0.7842").waitFor();
});

reading("what makes no sense is refused, and the last tables stay", "workbench", async (page) => {
  await there(page);
  await words(page).fill("a b c d e f g h i j k l m");
  await refusal(page).getByText("the text has 13 words: 1 to 12 are needed").waitFor();
  assert.equal(await root(page).locator(".setting.words > [role=alert]").count(), 1);
  await cell(page, "attention weights, head 1", "short, Life").waitFor();
  await words(page).fill("a b");
  await cell(page, "attention weights, head 1", "b, a").waitFor();
  assert.equal(await refusal(page).textContent(), "");
});

reading("what is empty, or in Chinese, or drops all, is explained", "workbench", async (page) => {
  await there(page);
  const says = (locator, text) => locator.getByText(text).waitFor();
  await words(page).fill("");
  await says(refusal(page), "the text has 0 words: 1 to 12 are needed");
  await words(page).fill("字".repeat(11));
  await says(
    refusal(page),
    "word 1 has 11 characters: at most 10 fit, so put blanks between words",
  );
  await words(page).fill("生命短暂");
  await says(root(page).locator(".notes"), "is taken for one word: put blanks between the words");
  const rate = root(page).getByRole("spinbutton", { name: /^dropout rate/ });
  await rate.fill("");
  await says(refusal(page), "This field is empty: 0 still holds.");
  await rate.fill("1");
  await says(root(page).locator(".notes"), "A dropout rate of 1 drops every weight");
  assert.equal(await refusal(page).textContent(), "");
});

// ---- Asking

// Where what is lit is another than what the explanation multiplies, or nothing.
async function faultOfProducts(page) {
  const lines = await panel(page).locator(".steps p").allInnerTexts();
  const products = lines.flatMap((line) =>
    [line.match(/^(\S+) × (\S+) = /)?.slice(1) ?? []].flat(),
  );
  const [x, y] = await panel(page)
    .locator(".source")
    .evaluateAll((all) =>
      all.map((it) => [...it.querySelectorAll(".chip .value")].map((one) => one.textContent)),
    );
  const wanted = x.flatMap((value, i) => [value, y[i]]);
  return `${products}` === `${wanted}` ? "" : `multiplies ${products}, lit are ${wanted}`;
}

reading("a weight, from share to embedding", "scaling", async (page) => {
  await opened(page);
  await cell(page, "attention weights", "short, Life").click();
  assert.match(await heading(page), /attention weights\s+short, Life: 0\.1965/);
  assert.equal(await root(page).locator("td.source").count(), 6);
  assert.equal(await root(page).locator(".picture rect.asked").count(), 1);
  const follow = async (name, wanted) => {
    await panel(page).getByRole("button", { name }).click();
    assert.match((await heading(page)).replace(/\s+/g, " "), wanted);
  };
  await follow(/^scaled scores: Life: /, /^scaled scores short, Life: 0\.1720$/);
  await follow(/^scores: /, /^scores short, Life: 0\.2432$/);
  assert.equal(await faultOfProducts(page), "");
  await follow(/^queries: 1: /, /^queries short, 1: /);
  assert.equal(await faultOfProducts(page), "");
  await follow(/^embeddings: 2: /, /^embeddings short, 2: /);
  assert.equal(await panel(page).getByRole("listitem").count(), 5);
  await panel(page).getByRole("button", { name: "scores", exact: true }).click();
  assert.equal(await panel(page).getByRole("listitem").count(), 3);
  await panel(page).getByRole("button", { name: "Close" }).click();
  assert.equal(await panel(page).count(), 0);
  assert.equal(await root(page).locator(".source, .asked").count(), 0);
});

reading("a number of the figure can be asked, by touch", "causal-mask on a phone", async (page) => {
  await root(page).getByRole("button").tap();
  await root(page).locator(".picture text", { hasText: "3.4707" }).tap();
  assert.match(await heading(page), /scores\s+is, is: 3\.4707/);
  assert.equal(await faultOfProducts(page), "");
});

// The number that was asked, what explains it, and one of its sources.
for (const form of ["", " on a phone"]) {
  reading(`an answer and its sources are in sight${form}`, `scaling${form}`, async (page) => {
    await opened(page);
    await root(page).locator(".hint").getByRole("button").click();
    for (let k = 0; k < 4; k++) {
      await inView(root(page).locator("td.asked"));
      await inView(panel(page).locator(".number"));
      await inView(panel(page).locator(".chip").last());
      await panel(page).locator(".chip").first().click();
    }
  });
}

for (const form of ["", " on a phone"]) {
  reading(`a number that is pressed stays where it is${form}`, `workbench${form}`, async (page) => {
    await there(page);
    // As in browsers that anchor nothing when what is above changes.
    await page.addStyleTag({ content: "* { overflow-anchor: none }" });
    const cells = [
      cell(page, "attention weights, head 1", "eat, short"),
      root(page).locator("svg [role=gridcell]").nth(20),
      cell(page, "context vectors, head 1", "short, 1"),
      cell(page, "scores, head 2", "first, is"),
    ];
    for (const pressed of cells) {
      await pressed.evaluate((it) => scrollBy(0, it.getBoundingClientRect().top - 150));
      const top = async () => (await pressed.boundingBox()).y;
      const before = await top();
      await pressed.click();
      await panel(page).waitFor();
      await page.evaluate(() => new Promise(requestAnimationFrame));
      assert.ok(Math.abs((await top()) - before) < 2, `from ${before} to ${await top()}`);
    }
  });
}

reading("Enter leads from a text to its numbers", "workbench on a phone", async (page) => {
  await there(page);
  await words(page).fill("to be or not");
  await press(page, "Enter");
  assert.match(await focused(page), /^to, to: /);
  const { y, height } = await root(page).locator(".picture").boundingBox();
  assert.ok(y > 0 && y + Math.min(height, 200) < page.viewportSize().height, `the map at ${y}`);
});

// ---- By keyboard alone

async function tabTo(page, wanted, key = "Tab") {
  const passed = [];
  while (passed.length < 50) {
    await press(page, key);
    passed.push(await focused(page));
    if (wanted.test(passed.at(-1))) return passed;
  }
  throw new Error(`${key} does not lead to ${wanted}: ${passed}`);
}

reading("by keyboard alone: open, change, ask, follow, leave, close", "scaling", async (page) => {
  const button = root(page).getByRole("button", { name: /^Change this/ });
  await button.focus();
  await press(page, "Enter");
  await root(page).locator(".hint").waitFor();
  await tabTo(page, /^query size \(d_?k\)$/);
  await press(page, "ArrowRight");
  await root(page).locator(".changed.d_k").waitFor();
  await press(page, "ArrowLeft");
  await cell(page, "attention weights", "Life, Life").focus();
  await press(page, "ArrowDown", "ArrowDown", "End", "ArrowRight", "Home", "Enter", "Enter");
  for (const name of [/^scaled scores\s+short, Life: /, /^scores\s+short, Life: /]) {
    assert.equal(await hasFocus(panel(page).locator(".number")), true);
    await press(page, "Tab", "Enter");
    assert.match(await heading(page), name);
  }
  await tabTo(page, /^scaled scores$/, "Shift+Tab");
  await press(page, "Enter");
  await tabTo(page, /^Back$/, "Shift+Tab");
  await press(page, "Enter");
  assert.match(await heading(page), /^attention weights\s+short, Life: /);
  await press(page, "Escape");
  assert.equal(await panel(page).count(), 0);
  assert.match(await focused(page), /^short, Life: 0\.1965$/);
  await tabTo(page, /^Close$/, "Shift+Tab");
  await press(page, "Enter");
  assert.equal(await hasFocus(button), true);
});

reading("by keyboard alone: the maps, each one stop", "causal-mask", async (page) => {
  await root(page).getByRole("button").focus();
  await press(page, "Enter");
  await root(page).locator(".hint").waitFor();
  const map = () =>
    page.evaluate(() => document.activeElement.closest("svg [role=grid]")?.ariaLabel);
  await tabTo(page, /^Life, Life: 0\.0613$/);
  assert.equal(await map(), "map: scores");
  await press(page, "ArrowDown", "ArrowRight", "ArrowUp", "ArrowDown");
  assert.equal(await focused(page), "is, is: 3.4707");
  await press(page, "Enter");
  assert.match(await heading(page), /^scores\s+is, is: 3\.4707$/);
  assert.match(await said(page).innerText(), /^scores is, is: 3\.4707\. /);
  assert.equal(await focused(page), "is, is: 3.4707");
  await press(page, "Enter", "Escape");
  assert.equal(await panel(page).count(), 0);
  assert.equal(await focused(page), "is, is: 3.4707");
  assert.equal(await map(), "map: scores");
});

reading("its keys are said, also from a number", "scaling", async (page) => {
  const keys = page.getByRole("dialog", { name: "Keys" });
  await opened(page);
  await cell(page, "attention weights", "short, Life").click();
  await press(page, "/");
  await page.getByRole("dialog", { name: "Search" }).waitFor();
  await press(page, "Escape", "?");
  await keys.getByRole("heading", { name: "In the workbench" }).waitFor();
  assert.match(await keys.innerText(), /Enter\s+asks how the number was made/);
});

// ---- What a screen reader says

reading("names for what is seen, and the answer is said", "scaling", async (page) => {
  await opened(page);
  assert.equal(await hasFocus(root(page).getByText("Workbench", { exact: true })), true);
  await grid(page, "attention weights").getByRole("columnheader", { name: "dessert" }).waitFor();
  await grid(page, "attention weights").getByRole("rowheader", { name: "dessert" }).waitFor();
  await cell(page, "attention weights", "short, Life").click();
  const text =
    /^attention weights short, Life: 0\.1965\. Softmax divides .* = 0\.1965\. \(All digits/s;
  assert.match(await said(page).innerText(), text);
  const name = "scaled scores: Life: 0.1720; how was it made";
  await panel(page).getByRole("button", { name }).click();
  await panel(page).getByRole("navigation", { name: "Numbers asked so far" }).waitFor();
  const slider = root(page).getByRole("slider", { name: "scores divided by" });
  assert.equal(await slider.getAttribute("aria-valuetext"), "√d_k = 1.4142");
});

// A colour's luminance, as WCAG has it, and the contrast of a border with what is around it.
const contrastOf = (it) => {
  const luminance = (colour) => {
    const [r, g, b] = colour.match(/[\d.]+/g).map((x) => {
      const part = x / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const border = luminance(getComputedStyle(it).borderTopColor);
  const around = luminance(getComputedStyle(document.documentElement).backgroundColor);
  return (Math.max(border, around) + 0.05) / (Math.min(border, around) + 0.05);
};
for (const form of ["", " in the dark"]) {
  reading(`fields have borders that one sees${form}`, `workbench${form}`, async (page) => {
    await there(page);
    const fields = root(page).locator(":is(input:is([type=text], [type=number]), select)");
    const contrasts = [];
    for (const field of await fields.all()) contrasts.push(await field.evaluate(contrastOf));
    assert.ok(contrasts.length > 5 && Math.min(...contrasts) >= 3, `${contrasts}`);
  });
}

// ---- The address

reading("the address holds the state, and gives it again", "workbench", async (page) => {
  await there(page);
  assert.equal(await hashOf(page), "");
  await words(page).fill("you, 你好 & I");
  await root(page).getByRole("radio", { name: "all words" }).check();
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
});

reading("from a chapter to the page, with what was changed", "causal-mask", async (page) => {
  await opened(page);
  await root(page).getByRole("radio", { name: "weights" }).check();
  await grid(page, "renormalized").waitFor();
  await cell(page, "renormalized", "short, Life").click();
  const asked = await heading(page);
  await root(page).getByRole("link", { name: "Open this in the workbench page" }).click();
  await page.waitForURL(/workbench\.html#stage=mask&hide=weights&ask=renormalized:0:2:0$/);
  await panel(page).waitFor();
  assert.equal(await heading(page), asked);
  await root(page).getByLabel("begin with").selectOption("output");
  await grid(page, "output").waitFor();
  assert.equal(await hashOf(page), "#stage=output");
});

reading(
  "another example keeps the text and the seed, and Back leads back",
  "workbench",
  async (page) => {
    await there(page);
    await inView(words(page));
    await words(page).fill("to be or not");
    await page.waitForFunction(() => location.hash.includes("to+be"));
    await root(page).getByLabel("seed", { exact: true }).fill("7");
    await page.waitForFunction(() => location.hash.includes("seed=7"));
    await root(page).getByLabel("begin with").selectOption("softmax (2)");
    await cell(page, "scores", "to, be").waitFor();
    assert.equal(await hashOf(page), "#stage=shares&words=to+be+or+not&seed=7");
    await cell(page, "scores", "to, be").click();
    await panel(page).waitFor();
    await panel(page).locator(".chip").first().click();
    await panel(page).getByRole("listitem").nth(1).waitFor();
    await page.goBack();
    await panel(page).locator(".number", { hasText: "scores" }).waitFor();
    await page.goBack();
    await panel(page).waitFor({ state: "detached" });
    await page.goBack();
    await cell(page, "attention weights, head 1", "or, be").waitFor();
    assert.equal(await words(page).inputValue(), "to be or not");
    await page.goBack();
    await page.goBack();
    await cell(page, "attention weights, head 1", "short, Life").waitFor();
    assert.equal(await hashOf(page), "");
    await page.goForward();
    await cell(page, "attention weights, head 1", "or, be").waitFor();
  },
);

reading("sections of the page are no settings", "workbench#workbench-address", async (page) => {
  await there(page);
  assert.equal(await refusal(page).textContent(), "");
  assert.equal(await hashOf(page), "#workbench-address");
});

const later = "an address that comes later and makes no sense changes nothing";
reading(later, "workbench#stage=mask&seed=7", async (page) => {
  await there(page);
  const before = await entries(page, "attention weights");
  for (const hash of ["stage=foo", "stage=mask&p=7", "stage=all&ask=weights:0:0:0&seed=x"]) {
    await page.evaluate((text) => {
      location.hash = text;
    }, hash);
    await refusal(page).getByText("This address cannot be shown: ").waitFor();
    assert.deepEqual(await entries(page, "attention weights"), before);
    assert.equal(await hashOf(page), "#stage=mask&seed=7");
  }
  await root(page).getByRole("radio", { name: "weights" }).check();
  await refusal(page).getByText("This address").waitFor({ state: "detached" });
  await page.waitForURL(/hide=weights/);
});

// What an address asks for that there is none of; in its place are the page's numbers.
const senseless = {
  "stage=all&p=7": "a dropout rate of 7: ",
  "stage=foo": "stage is 'foo': ",
  "stage=all&words=a%01b+c": "word 1 has U+0001: ",
  "stage=all&ask=weights:9:9:9": "ask is for head '9': the table has 2, counted from 0",
};
for (const [hash, why] of Object.entries(senseless)) {
  reading(`an address that makes no sense: ${hash}`, `workbench#${hash}`, async (page) => {
    await refusal(page).getByText(`This address cannot be shown: ${why}`).waitFor();
    await cell(page, "attention weights, head 1", "short, Life").waitFor();
    await words(page).fill("a b");
    await cell(page, "attention weights, head 1", "b, a").waitFor();
    assert.equal(await refusal(page).textContent(), "");
  });
}

reading("planted: a figure that is none is said", "scaling", async (page) => {
  await page.evaluate(() => {
    const { runHere } = book;
    book.runHere = (...asked) => {
      const result = runHere(...asked);
      for (const name of Object.keys(result.figures)) result.figures[name] += "</svg>";
      return result;
    };
  });
  await root(page)
    .getByRole("button", { name: /^Change this/ })
    .click();
  await root(page).getByText("cannot be opened: a figure cannot be read: ").waitFor();
  assert.equal(await page.locator("parsererror").count(), 0);
  assert.match(page.faults.join(), /a figure cannot be read/);
  page.faults.length = 0; // it is told to the console as well
});

// ---- Without scripts

reading("without scripts: what would stand there", "workbench without scripts", async (page) => {
  assert.match(await root(page).innerText(), /^The workbench stands here where scripts /);
  assert.match(await page.locator("main").innerText(), /make workbench ARGS=/);
});

// ---- Planted: the sources of another row.

// The script that reads what is printed, with another line in it.
const script = readFileSync(join(folder, "workbench-text.js"), "utf8");
const wrong = script.replace(
  "bench.explain.sources.push(cell(place));",
  "bench.explain.sources.push(cell(place.with(2, place[2] === '*' ? '*' : '0')));",
);
const otherRow = { prepare: answering(/workbench-text\.js$/, wrong) };

reading("planted: another row is found, and named", "scaling", otherRow, async (page) => {
  await opened(page);
  await cell(page, "scores", "short, eat").click();
  assert.match(await faultOfProducts(page), /^multiplies .*, lit are /);
});
