// The tests of the book, as many at a time as JOBS says, in one browser:
//   node --test-reporter=spec tests/web/all.mjs               all of them
//   node --test-reporter=spec tests/web/all.mjs reader run    those of two files
//   node --test-reporter=spec tests/web/all.mjs gate          those that gate.mjs names

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { after, describe, test } from "node:test";
import { atOnce, close, LIMIT, tests } from "./book.mjs";
import { isGate, titles } from "./gate.mjs";

const files = isGate ? [] : process.argv.slice(2).map((name) => `${name}.test.mjs`);
const there = readdirSync(new URL(".", import.meta.url)).filter((name) =>
  name.endsWith(".test.mjs"),
);
for (const file of files.length ? files : there.sort()) await import(`./${file}`);

const named = isGate ? titles.map((title) => [title, tests.get(title)]) : [...tests];
for (const [title, body] of named) assert.ok(body, `gate.mjs names what no test is: ${title}`);

describe("the book in a browser", { concurrency: atOnce }, () => {
  after(close);
  for (const [title, body] of named) test(title, { timeout: 10 * LIMIT }, body);
});
