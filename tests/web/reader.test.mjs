// Finding one's way, as readers do: by hand, by keys, on a phone, without scripts. What
// of it can be read off the pages is in tests/weave/weave.t.

import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { answering, folder, held, pagesOf, reading, root, test } from "./book.mjs";

const at = (page) => basename(new URL(page.url()).pathname, ".html") + new URL(page.url()).hash;
const leadsTo = (page, place) => page.waitForURL((url) => url.href.endsWith(`/${place}`));
const focused = (page) => page.evaluate(() => document.activeElement.textContent.trim());

// Waits until a thing stands in the window, below the bar that stays on small screens.
const inView = async (locator) =>
  locator.page().waitForFunction(
    (it) => {
      const { top, bottom } = it.getBoundingClientRect();
      const bar = document.querySelector(".top")?.offsetHeight ?? 0;
      return top >= bar && bottom <= innerHeight;
    },
    await locator.elementHandle(),
  );

// Whether what is done begins to lead anywhere else; the page stays.
async function leads(page, deed) {
  await page.evaluate(() => {
    delete document.documentElement.dataset.left;
    navigation.onnavigate = (event) => {
      event.preventDefault();
      document.documentElement.dataset.left = event.destination.url;
    };
  });
  await deed();
  return page.evaluate(() => {
    navigation.onnavigate = null;
    return document.documentElement.dataset.left !== undefined;
  });
}

// ---- From page to page

reading("arrows turn pages, up to the last and the first", "softmax", async (page) => {
  assert.equal(await leads(page, () => page.keyboard.press("ArrowRight")), true);
  await page.keyboard.press("ArrowRight");
  await leadsTo(page, "qkv.html");
  await page.keyboard.press("ArrowLeft");
  await leadsTo(page, "softmax.html");
  for (const [end, key] of [
    ["index", "ArrowLeft"],
    ["book-index", "ArrowRight"],
  ]) {
    await page.goto(page.url().replace(/[\w-]+\.html/, `${end}.html`));
    assert.equal(await leads(page, () => page.keyboard.press(key)), false);
  }
});

reading("arrows turn no page where they have something else to do", "softmax", async (page) => {
  await page.evaluate(() => {
    const make = (name, attributes) => globalThis.book.make(name, { class: "try", ...attributes });
    const bench = make("div", { class: "workbench" });
    bench.append(make("button", {}));
    const box = make("div", { tabindex: "0", style: "overflow: auto; width: 5rem" });
    box.append(globalThis.book.make("div", { style: "width: 50rem" }, "wide"));
    document
      .querySelector("main")
      .prepend(
        bench,
        box,
        ...["range", "text", "radio"].map((type) => make("input", { type })),
        make("textarea"),
        make("span", { role: "slider", tabindex: "0" }),
      );
  });
  const places = await page.locator(".try").all();
  assert.equal(places.length, 7);
  const isTurned = await leads(page, async () => {
    for (const place of places) {
      await place.focus();
      await page.keyboard.press("ArrowRight");
    }
    for (const keys of ["Shift+ArrowRight", "Control+ArrowRight"]) {
      await page.locator("h1").click();
      await page.keyboard.press(keys);
    }
    await page.keyboard.press("/");
    await page.keyboard.press("ArrowRight");
  });
  assert.equal(isTurned, false);
  await page.keyboard.press("Escape");
  await closed(page);
  await page.keyboard.press("ArrowRight");
  await leadsTo(page, "qkv.html");
});

reading("the next page is led to at the top", "softmax", { form: "phone" }, async (page) => {
  const next = page.getByRole("navigation", { name: /at the top/ }).getByText("Chapter 3");
  await inView(next);
  await next.tap();
  await leadsTo(page, "qkv.html");
});

// ---- Search

const closed = (page) => page.locator("dialog[open]").waitFor({ state: "detached" });

const options = (page) => page.getByRole("option");
const firstFound = (page) => options(page).first().locator(".name");

async function search(page, text) {
  await page.keyboard.press("/");
  const field = page.getByRole("combobox", { name: "Search the book" });
  await field.fill(text);
  await page
    .getByRole("status")
    .filter({ hasText: /place|Nothing/ })
    .waitFor();
  return field;
}

const wanted = {
  "a function": ["mask_scores", /^mask_scores Chapter 9$/, /^causal-mask#L\d+$/],
  "a type": ["Trace", /^Trace 07_self_attention\.h$/, /^reference#L\d+$/],
  "a heading": ["what softmax sees", /^What softmax sees Chapter 2/, /^softmax#softmax-/],
  "a chapter": ["hiding the future", /^Hiding the future Chapter 9$/, /^causal-mask$/],
  "what is said somewhere": ["shiny of the sun or of a shoe", /^Shares of a whole/, /^softmax$/],
  "a term before functions of its name": ["dropout", /^dropout term · Chapter 10/, /^dropout#/],
  "a sign": ["√", /^scaling term · Chapter 6/, /^scaling#term-scaling$/],
  "what a question is about": ["Why divide by the root?", /^attention Chapter 6/, /^scaling#L/],
  "a question's answer": [
    "softmax of equal scores",
    /^What softmax sees Chapter 2/,
    /^softmax#softmax-differences$/,
  ],
  "a term": [
    "context vectors",
    /^context vector term · Chapter 2/,
    /^softmax#term-context-vector$/,
  ],
  "a term in Chinese": ["下文向量", /^context vector term/, /^softmax#term-context-vector$/],
  "a term in German": ["schlussel", /^key term · Chapter 3/, /^qkv#term-key$/],
  "a number that is printed": ["0.6106", /^The exponential Chapter 2/, /^softmax#softmax-/],
};

reading("what is found in a fold is shown there", "preface", async (page) => {
  await search(page, "equal scores have equal exponentials");
  await page.keyboard.press("Enter");
  await leadsTo(page, "softmax.html#softmax-solutions");
  const sentence = page.getByText("Equal scores have equal exponentials");
  await inView(sentence);
});
for (const [what, [text, name, place]] of Object.entries(wanted)) {
  reading(`search finds ${what} and leads there: ${text}`, "preface", async (page) => {
    await search(page, text);
    assert.match((await firstFound(page).innerText()).replace(/\s+/g, " "), name);
    const shown = await options(page)
      .filter({ hasNot: page.locator("mark") })
      .allInnerTexts();
    assert.deepEqual(shown, [], "each shows why it was found");
    await page.keyboard.press("Enter");
    await page.waitForURL((url) => !url.pathname.endsWith("preface.html"));
    assert.match(at(page), place);
    if (page.url().includes("#")) await inView(page.locator(":target"));
  });
}

reading("search: chosen by arrows, closed by Escape, and begun again", "softmax", async (page) => {
  const field = await search(page, "weights");
  await page.keyboard.press("ArrowDown");
  const chosen = page.getByRole("option", { selected: true });
  assert.equal(await chosen.getAttribute("id"), "found-1");
  assert.equal(await field.getAttribute("aria-activedescendant"), "found-1");
  await page.keyboard.press("ArrowUp");
  await page.keyboard.press("ArrowUp");
  assert.equal(await chosen.getAttribute("id"), `found-${(await options(page).count()) - 1}`);
  assert.equal(
    await chosen.evaluate((it) => it.getBoundingClientRect().bottom < innerHeight),
    true,
  );
  await page.keyboard.press("Escape");
  await closed(page);
  await search(page, "qwertz");
  await page.getByText("Nothing in the book has all of these words.").waitFor();
  assert.equal(await options(page).count(), 0);
  await page.keyboard.press("Enter");
  assert.equal(await page.getByRole("dialog").count(), 1);
});

reading(
  "search on a phone: by its button and a tap",
  "softmax",
  { form: "phone" },
  async (page) => {
    await page.getByRole("button", { name: "Search", exact: true }).tap();
    await page.keyboard.type("mask scores");
    await options(page).getByText("mask_scores", { exact: true }).first().tap();
    await page.waitForURL(/causal-mask\.html#L/);
    await inView(page.locator(":target"));
  },
);

reading("a place on the same page: the search closes over it", "softmax", async (page) => {
  await search(page, "a mixture");
  await page.keyboard.press("Enter");
  await leadsTo(page, "softmax.html#softmax-mixture");
  await closed(page);
  await inView(page.locator("#softmax-mixture"));
});

reading("Enter that ends a composed word opens nothing", "softmax", async (page) => {
  const field = await search(page, "weights");
  const isOpened = (isComposing) =>
    leads(page, () =>
      field.evaluate((it, how) => it.dispatchEvent(new KeyboardEvent("keydown", how)), {
        ...{ key: "Enter", bubbles: true, cancelable: true },
        isComposing,
      }),
    );
  assert.equal(await isOpened(true), false);
  assert.equal(await isOpened(false), true);
});

const late = held(/search-index\.js$/);
reading("what is typed while the index loads is found", "softmax", late, async (page) => {
  await page.keyboard.press("/");
  await page.keyboard.type("mask_scores");
  await page.getByText("Loading").waitFor();
  late.release();
  await firstFound(page).getByText("mask_scores").waitFor();
});

// An index that is not there, or cannot be opened.
const index = readFileSync(join(folder, "search-index.js"), "utf8");
const unopened = {
  "search-index.js cannot be loaded": answering(/search-index\.js$/, ""),
  "search-index.js is damaged": answering(/search-index\.js$/, index.replace(/.{9}(?=";\n$)/, "")),
  "this browser cannot unpack search-index.js; those of 2023 and later can": (context) =>
    context.addInitScript(() => delete globalThis.DecompressionStream),
};
for (const [why, prepare] of Object.entries(unopened)) {
  reading(`search says that ${why}`, "softmax", { prepare }, async (page) => {
    await page.keyboard.press("/");
    await page.getByText(`The search does not work: ${why}.`).waitFor();
    await page.keyboard.type("mask");
    assert.equal(await options(page).count(), 0);
    page.faults.length = 0; // Chromium says that the file is missing, where it is
  });
}

reading("what the search loads is less than 300 KB", "softmax", async (page) => {
  const before = page.asked.length;
  await search(page, "mask_scores");
  const sizes = page.asked.slice(before).map((url) => statSync(fileURLToPath(url)).size);
  const sum = sizes.reduce((all, size) => all + size, 0);
  assert.ok(sum > 0 && sum < 300_000, `${sizes.join(" + ")} bytes`);
});

// ---- Colours

// The page's ground, and the words in its first figure.
const colours = (page) =>
  page.evaluate(() => {
    const [ground, words] = [document.documentElement, document.querySelector("figure svg text")];
    return `${getComputedStyle(ground).backgroundColor} ${getComputedStyle(words).fill}`;
  });
const theme = (page) => page.getByRole("button", { name: /^Colours: / });

for (const form of ["light", "dark", "phone"]) {
  reading(
    `colours: chosen, kept, given back; figures follow (${form})`,
    "softmax",
    { form },
    async (page) => {
      const [usual, other] = form === "dark" ? ["dark", "light"] : ["light", "dark"];
      const system = await colours(page);
      await theme(page).click();
      assert.equal(await theme(page).getAttribute("aria-label"), `Colours: ${other}`);
      const chosen = await colours(page);
      for (const [i, part] of chosen.split(" rgb").entries())
        assert.notEqual(part, system.split(" rgb")[i], `${chosen} after ${system}`);
      await page.keyboard.press("ArrowRight");
      await leadsTo(page, "qkv.html");
      assert.equal(await colours(page), chosen);
      await theme(page).click();
      assert.equal(await theme(page).getAttribute("aria-label"), `Colours: ${usual}`);
    },
  );
}

reading("colours: as the system has them, also when it changes", "softmax", async (page) => {
  const light = await colours(page);
  await page.emulateMedia({ colorScheme: "dark" });
  const dark = await colours(page);
  assert.notEqual(dark, light);
  for (const says of ["light", "dark", "as the system"]) {
    await theme(page).click();
    assert.equal(await theme(page).getAttribute("title"), `Colours: ${says}`);
    assert.equal(await colours(page), says === "light" ? light : dark);
  }
  await page.emulateMedia({ colorScheme: "light" });
  assert.equal(await colours(page), light);
});

// ---- Headings and contents

reading("a heading has its address, seen when one is there", "softmax", async (page) => {
  const heading = page.getByRole("heading", { name: "A mixture" });
  const anchor = heading.getByRole("link");
  const seen = () => anchor.evaluate((it) => getComputedStyle(it).opacity);
  await heading.scrollIntoViewIfNeeded();
  assert.equal(await seen(), "0");
  await heading.hover();
  assert.equal(await seen(), "1");
  await anchor.click();
  await leadsTo(page, "softmax.html#softmax-mixture");
  await page.goto(page.url().replace(/#.*/, "#"));
  await page.mouse.move(0, 0);
  await anchor.focus();
  await page.keyboard.press("Enter");
  await leadsTo(page, "softmax.html#softmax-mixture");
});

const marked = (page, where) => page.locator(`${where} [aria-current="location"]`);

reading("the contents follow the scroll, and stay in view", "softmax", async (page) => {
  await page.setViewportSize({ width: 1200, height: 420 });
  const headings = await page.locator("main h2").all();
  for (const heading of headings) {
    await heading.evaluate((it) => it.scrollIntoView());
    const words = (await heading.innerText()).replace(/#$/, "");
    await marked(page, ".sidebar").getByText(words, { exact: true }).waitFor();
    await inView(marked(page, ".sidebar"));
  }
  await page.evaluate(() => scrollTo(0, 0));
  await marked(page, ".sidebar").waitFor({ state: "detached" });
  await inView(page.locator(".sidebar [aria-current]"));
  // Where the last section is so short that it never comes up high.
  await page.setViewportSize({ width: 1200, height: 1600 });
  await page.evaluate(() => scrollTo(0, document.documentElement.scrollHeight));
  const last = await page.locator(".sidebar li li").last().innerText();
  await marked(page, ".sidebar").getByText(last, { exact: true }).waitFor();
});

reading(
  "contents on a phone: opened, led by, closed",
  "multi-head",
  { form: "phone" },
  async (page) => {
    const panel = page.getByRole("banner").getByRole("navigation", { name: "Contents" });
    const open = () => page.getByRole("banner").getByText("Contents", { exact: true }).tap();
    await open();
    const here = panel.locator('[aria-current="page"]');
    assert.equal(await here.getAttribute("href"), "multi-head.html");
    await inView(here);
    await panel.getByRole("link", { name: "View and transpose" }).tap();
    await leadsTo(page, "multi-head.html#multi-head-view");
    assert.equal(await panel.isVisible(), false);
    await inView(page.locator("#multi-head-view"));
    await page.locator('.top [aria-current="location"]').waitFor({ state: "attached" });
    await open();
    await inView(marked(page, ".top"));
    await page.keyboard.press("Escape");
    assert.equal(await panel.isVisible(), false);
    assert.equal(await focused(page), "Contents");
    await open();
    await panel.getByRole("link", { name: "Glossary" }).tap();
    await leadsTo(page, "glossary.html");
  },
);

reading("an address that ends in a bare % is no error", "softmax#100%", async (page) => {
  assert.equal(new URL(page.url()).hash, "#100%");
  await page.evaluate(() => {
    location.hash = "%E0%A4%A";
    return new Promise((done) => addEventListener("hashchange", () => done()));
  });
});

reading("a link into what is folded opens it", "softmax", async (page) => {
  const line = await page.evaluate(
    () => document.querySelector("details:not([open]) .line[id]").id,
  );
  assert.equal(await page.locator(`#${line}`).isVisible(), false);
  await page.goto(`${page.url()}#${line}`);
  // Chromium itself unfolds where it leads; not every browser does.
  await page.evaluate(() => {
    document.querySelector(":target").closest("details").open = false;
    dispatchEvent(new HashChangeEvent("hashchange"));
  });
  await page.locator(`#${line}`).waitFor();
  await inView(page.locator(`#${line}`));
});

// ---- Copying

// What a button says for a while, it then says until the test lets time go on.
const stopClock = async (page) => {
  await page.clock.install({ time: 0 });
  await page.clock.pauseAt(1e6);
};
const clipboard = (page) => page.evaluate(() => navigator.clipboard.readText());
const allowed = (context) => context.grantPermissions(["clipboard-read", "clipboard-write"]);

reading(
  "a copied listing is the file's lines, without numbers",
  "softmax",
  { prepare: allowed },
  async (page) => {
    const source = readFileSync(join(root, "chapters/02_softmax.c"), "utf8").split("\n");
    const listing = page.locator("main > .listing:has([id^=L])").first();
    const numbers = await listing
      .locator(".line")
      .evaluateAll((all) => all.map((it) => +it.id.slice(1)));
    const lines = numbers.map((n) => source[n - 1]).join("\n");
    await stopClock(page);
    await listing.hover();
    const button = listing.getByRole("button", { name: "Copy this code" });
    await button.click();
    await page.locator(".spoken").getByText("Copied").waitFor({ state: "attached" });
    assert.equal(await clipboard(page), lines);
    assert.equal(await button.innerText(), "Copied");
    await page.clock.runFor(1500);
    assert.equal(await button.innerText(), "Copy");
    await page.evaluate(() => navigator.clipboard.writeText("-"));
    await listing.locator("pre").evaluate((it) => getSelection().selectAllChildren(it));
    await page.keyboard.press("Control+c");
    assert.equal((await clipboard(page)).trimEnd(), lines);
    const command = page.getByRole("button", { name: "Copy this command" }).first();
    await command.click();
    await command.getByText("Copied").waitFor();
    assert.match(await clipboard(page), /^make (-s )?run-02 ARGS="[^"]*"$/);
  },
);

const denied = (context) =>
  context.addInitScript(() => {
    navigator.clipboard.writeText = () => Promise.reject(new Error("denied"));
    document.execCommand = () => false;
  });
reading("copying that is not allowed is said", "softmax", { prepare: denied }, async (page) => {
  await stopClock(page);
  const button = page.getByRole("button", { name: "Copy this code" }).first();
  await button.focus();
  await page.keyboard.press("Enter");
  await button.getByText("Not allowed").waitFor();
});

// ---- From a use to what is used

const card = (page) => page.getByRole("tooltip");

reading("a function's use: its card on hover, and its definition", "causal-mask", async (page) => {
  const use = page
    .locator("pre a.symbol")
    .filter({ hasText: /^softmax_rows$/, visible: true })
    .first();
  await use.hover();
  await card(page).waitFor();
  const header = readFileSync(join(root, "src/attention/02_softmax.h"), "utf8");
  const declared = header.match(/^void softmax_rows\([^;]*;/m)[0];
  assert.equal(await card(page).locator("pre").innerText(), declared);
  assert.match(await card(page).innerText(), /Softmax of each row of a table\.\nPyTorch: /);
  assert.match(await card(page).innerText(), /Chapter\s2; used in 2, 3, [\dA-D, ]+$/);
  await page.clock.install();
  await card(page).hover();
  await page.clock.runFor(400);
  assert.equal(await card(page).count(), 1, "the pointer may go over to it");
  await page.keyboard.press("Escape");
  assert.equal(await card(page).count(), 0);
  await use.hover();
  await card(page).waitFor();
  await page.mouse.move(0, 0);
  await card(page).waitFor({ state: "detached" });
  await use.click();
  await page.waitForURL(/softmax\.html#L\d+$/);
  assert.match(await page.locator(":target").innerText(), /^void softmax_rows\(/);
  // From there to the declaration.
  await page.locator(":target a.symbol").click();
  await page.waitForURL(/reference\.html#L\d+$/);
  assert.match(await page.locator(":target").innerText(), /softmax_rows/);
});

reading("the card of what a page keeps to itself", "causal-attention", async (page) => {
  const use = page
    .locator("pre a.symbol")
    .filter({ hasText: /^make_mask$/, visible: true })
    .first();
  await use.hover();
  await card(page).waitFor();
  const source = readFileSync(join(root, "chapters/11_causal_attention.c"), "utf8");
  const [, says, declared] = source.match(/\/\* (.*) \*\/\n(static void make_mask\([^{]*)\n\{/);
  assert.equal(await card(page).locator("pre").innerText(), `${declared};`);
  assert.deepEqual(await card(page).locator("p").allInnerTexts(), [says, "on this page"]);
});

reading("a function's card when the keyboard is on it", "self-attention", async (page) => {
  const use = page.locator("main a.symbol").filter({ visible: true }).first();
  await page.locator("h1").click();
  for (let i = 0; i < 40 && !(await use.evaluate((it) => it === document.activeElement)); i++)
    await page.keyboard.press("Tab");
  await card(page).waitFor();
  assert.equal(await use.getAttribute("aria-describedby"), await card(page).getAttribute("id"));
  assert.match(await card(page).locator("pre").innerText(), new RegExp(await focused(page)));
  await page.keyboard.press("Escape");
  assert.equal(await card(page).count(), 0);
  assert.equal(await use.getAttribute("aria-describedby"), null);
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Tab");
  await card(page).waitFor();
  await page.clock.install();
  await page.keyboard.press("Tab");
  await page.clock.runFor(300);
  const now = await page.evaluate(() => document.activeElement.getAttribute("aria-describedby"));
  assert.equal(await card(page).count(), now ? 1 : 0, "it goes with the keyboard");
});

reading("a card stands in the window, wherever its name does", "multi-head", async (page) => {
  await page.setViewportSize({ width: 1200, height: 700 });
  const uses = await page.locator("pre a.symbol:not([tabindex])").filter({ visible: true }).all();
  for (const [i, use] of uses.slice(0, 6).entries()) {
    await use.evaluate((it, block) => it.scrollIntoView({ block }), i % 2 ? "end" : "start");
    await use.hover();
    await card(page).waitFor();
    const { top, bottom, left, right } = await card(page).evaluate((it) =>
      it.getBoundingClientRect().toJSON(),
    );
    assert.ok(
      top >= 0 && bottom <= 700 && left >= 0 && right <= 1200,
      `${await use.innerText()}: ${top} ${bottom} ${left} ${right}`,
    );
    await page.mouse.move(0, 0);
    await card(page).waitFor({ state: "detached" });
  }
});

reading("what is new in a chapter, in one line that unfolds", "causal-mask", async (page) => {
  const line = page.getByText(/^New here: \d+ terms?, \d+ functions?/);
  await inView(line);
  await line.click();
  await page.locator(".new").getByRole("link", { name: "mask_scores", exact: true }).click();
  await page.waitForURL(/#L\d+$/);
  assert.match(await page.locator(":target").innerText(), /^void mask_scores\(/);
});

reading("the index leads to a function and to a term", "book-index", async (page) => {
  const entry = (name) => page.locator(".index li").filter({ hasText: name });
  await entry(/^mask_scores /)
    .getByRole("link", { name: "chapter 9", exact: true })
    .click();
  await page.waitForURL(/causal-mask\.html#L\d+$/);
  assert.match(await page.locator(":target").innerText(), /^void mask_scores\(/);
  await page.goBack();
  await entry(/^mask_scores /)
    .getByRole("link", { name: "used in chapter 9" })
    .click();
  await page.waitForURL(/causal-mask\.html#L\d+$/);
  assert.match(await page.locator(":target").innerText(), /^ .*mask_scores\(/);
  await page.goBack();
  await entry(/^context vector /)
    .getByRole("link")
    .first()
    .click();
  await leadsTo(page, "softmax.html#term-context-vector");
});

// ---- By keyboard alone

reading("keys: said, and switched off for good", "softmax", async (page) => {
  await page.keyboard.press("?");
  const help = page.getByRole("dialog", { name: "Keys" });
  await help.waitFor();
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Space");
  await page.keyboard.press("Escape");
  await closed(page);
  for (const again of [() => {}, () => page.reload()]) {
    await again();
    const isTurned = await leads(page, async () => {
      for (const key of ["?", "/", "ArrowRight"]) await page.keyboard.press(key);
    });
    assert.equal(isTurned, false);
    assert.equal(await page.locator("dialog[open]").count(), 0);
  }
  await page.getByRole("button", { name: "Keys" }).focus();
  await page.keyboard.press("Enter");
  await help.waitFor();
  assert.equal(await page.getByRole("checkbox", { name: "use these keys" }).isChecked(), false);
});

for (const [form, some] of Object.entries({ light: false, phone: true })) {
  reading(
    `${form}: Tab stops at what can be scrolled, and at no other box`,
    "causal-mask",
    { form },
    async (page) => {
      await page.evaluate(() => {
        for (const fold of document.querySelectorAll("main details")) fold.open = true;
      });
      const boxes = () =>
        page.locator('main [role="group"][tabindex]').evaluateAll((all) =>
          all.map((it) => ({
            stops: it.tabIndex === 0,
            scrolls: it.scrollWidth > it.clientWidth,
          })),
        );
      await page.waitForFunction(
        () =>
          ![...document.querySelectorAll('main [role="group"][tabindex="0"]')].some(
            (it) => it.scrollWidth <= it.clientWidth,
          ),
      );
      const all = await boxes();
      assert.deepEqual(
        all.filter(({ stops, scrolls }) => stops !== scrolls),
        [],
      );
      assert.equal(
        all.some(({ stops }) => stops),
        some,
      );
      assert.ok(all.length > 20);
    },
  );
}

reading(
  "by Tab and Enter alone: over the contents, search, colours, a section",
  "softmax",
  async (page) => {
    const tabTo = async (name) => {
      for (let i = 0; i < 40; i++) {
        await page.keyboard.press("Tab");
        const label = await page.evaluate(
          () => document.activeElement.ariaLabel ?? document.activeElement.textContent,
        );
        if (name.test(label.trim())) return;
      }
      assert.fail(`${name} is not reached`);
    };
    await page.keyboard.press("Tab");
    assert.equal(await focused(page), "Skip to the text");
    await inView(page.locator(".skip"));
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.closest("main") !== null), true);
    await page.reload();
    await page.evaluate(() => history.replaceState(null, "", location.pathname));
    await page.reload();
    await tabTo(/^Search$/);
    await page.keyboard.press("Enter");
    await page.getByRole("dialog", { name: "Search" }).waitFor();
    await page.keyboard.press("Escape");
    await closed(page);
    assert.match(await focused(page), /^Search/);
    await tabTo(/^Colours: /);
    await page.keyboard.press("Enter");
    assert.equal(await theme(page).getAttribute("title"), "Colours: dark");
    await tabTo(/^A mixture$/);
    await page.keyboard.press("Enter");
    await leadsTo(page, "softmax.html#softmax-mixture");
  },
);

// ---- Without scripts, and on every page

const small = { form: "plain", viewport: { width: 390, height: 844 } };
reading(
  "without scripts the contents open, links lead, folds unfold",
  "softmax",
  small,
  async (page) => {
    const contents = page.locator(".top details > nav");
    assert.equal(await contents.isVisible(), false);
    await page.locator(".top summary").click();
    await contents.getByRole("link", { name: "Hiding the future" }).click();
    await leadsTo(page, "causal-mask.html");
    await page.getByText(/^New here: /).click();
    await page.locator(".new").getByRole("link", { name: "mask_scores", exact: true }).click();
    assert.match(await page.locator(":target").innerText(), /^void mask_scores\(/);
  },
);

// An address of a folder that is not there: the page comes all the same, and its
// links and scripts are those of the book, where this has an address.
const elsewhere = "https://book.example/c/";
const served = (context) =>
  context.route(`${elsewhere}**`, (route) => {
    const file = route
      .request()
      .url()
      .slice(elsewhere.length)
      .replace(/[?#].*/, "");
    if (!file.includes("/")) return route.fulfill({ path: join(folder, file) });
    const page = readFileSync(join(folder, "404.html"), "utf8");
    const body = page.replace(/\b(href|src)="(?![a-z]+:|#)/g, `$1="${elsewhere}`);
    return route.fulfill({ status: 404, contentType: "text/html", body });
  });
reading(
  "where there is no page, the search works",
  "404",
  { prepare: served, offline: false },
  async (page) => {
    await page.goto(`${elsewhere}no/such/page`);
    await page.getByRole("heading", { name: "This page is not in the book" }).waitFor();
    await search(page, "mask_scores");
    await page.keyboard.press("Enter");
    await page.waitForURL(/^https:\/\/book\.example\/c\/causal-mask\.html#L\d+$/);
    page.faults.length = 0; // this book was not on the disk
  },
);

test("each page has a description, an icon, the version and the licences", () => {
  const [, version] = readFileSync(join(root, "book.md"), "utf8").match(/^version: '(.*)'$/m);
  const has = [
    /<link rel="icon" href="icon\.svg"/,
    new RegExp(
      `, version ${version}\\. Text and figures: <a rel="license"[^>]*>CC BY 4\\.0</a>; code: MIT\\.`,
    ),
  ];
  const missing = pagesOf().flatMap((name) => {
    const html = readFileSync(join(folder, `${name}.html`), "utf8");
    const described = name === "404" ? [] : [/<meta name="description" content="[^"]{20,}">/];
    return [...has, ...described].filter((it) => !it.test(html)).map((it) => `${name}: ${it}`);
  });
  assert.deepEqual(missing, []);
});
