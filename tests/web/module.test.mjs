// The modules that pages run, held against the native programs: each, and every
// command on a page, prints the same bytes, ends with the same status and draws the
// same figures. Needs node alone, not a browser.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { build, root } from "./book.mjs";
import { spoiled } from "./packed.mjs";

const under = join(root, "tools/web/under");

const programs = readdirSync(join(root, "chapters"))
  .flatMap((file) => file.match(/^(.*)\.c$/)?.[1] ?? [])
  .sort();

// The programs once more, as they are on a processor that has nothing of its own: one
// that chooses a kernel for it has other last digits.
const plain = join(build, "plain");
let made;
async function makePlain() {
  const make = `\${MAKE:-make} -s BUILD='${plain}' sets= CFLAGS_fast=-fopenmp-simd programs`;
  const { status, err } = await sh(make);
  assert.equal(status, 0, err);
}

// What stands in ARGS="..." on a chapter's page, and "" for the plain run.
function commandsOf(program) {
  const text = readFileSync(join(root, `chapters/${program}.c`), "utf8");
  const number = program.replace(/_.*/, "");
  const fences = text.matchAll(/^``` \{\.output args="([^"]*)"/gm);
  const prose = text.matchAll(
    new RegExp(`\`make\\s(?:-s\\s)?run-${number}\\sARGS="([^"]*)"\``, "g"),
  );
  return new Set(["", ...[...fences, ...prose].map((match) => match[1])]);
}

function sh(command, env = {}) {
  const options = { cwd: root, env: { ...process.env, ...env }, encoding: "utf8" };
  return new Promise((done) => {
    execFile("sh", ["-c", command], { ...options, maxBuffer: 1 << 26 }, (error, out, err) =>
      done({ status: error?.code ?? 0, out, err }),
    );
  });
}

// Calls with a folder that is there as long as that takes.
async function inFolder(work) {
  const place = mkdtempSync(join(tmpdir(), "module-"));
  try {
    return await work(place);
  } finally {
    rmSync(place, { recursive: true });
  }
}

// A run with what it drew, all of it text. Where a number rounds to zero, its sign
// depends on the last bit of a sum.
const runWith = (command, env) =>
  inFolder(async (place) => {
    const { out, ...ran } = await sh(command, { ...env, FIGURES: place });
    const figures = readdirSync(place).map((name) => [
      name,
      readFileSync(join(place, name), "utf8"),
    ]);
    return { ...ran, out: out.replace(/-(0\.0+)(?!\d)/g, " $1"), ...Object.fromEntries(figures) };
  });

// What is not the same in two texts, with its line: a list of one, or none.
function difference(what, native, page) {
  const [a, b] = [native, page].map((text) => text.split("\n"));
  const at = a.findIndex((line, i) => line !== b[i]);
  if (native === page) return [];
  const line = at < 0 ? a.length : at;
  return [`${what}, line ${line + 1}: '${a[line]}' natively, '${b[line]}' in the page`];
}

async function differences(program, args, env = {}, from = build) {
  const native = await runWith(`'${join(from, "chapters", program)}' ${args}`, env);
  const page = await runWith(`'${under}' ${program} ${args}`, env);
  const all = Object.keys({ ...native, ...page });
  return all.flatMap((what) => difference(what, `${native[what]}`, `${page[what]}`));
}

for (const program of programs) {
  for (const args of commandsOf(program)) {
    test(`${program} ${args}: the same bytes natively and in the page`, async () => {
      assert.deepEqual(await differences(program, args), []);
      if (args !== "") return;
      made ??= makePlain();
      await made;
      assert.deepEqual(await differences(program, args, { DIGITS: "9" }, plain), []);
    });
  }
}

test("planted: a module that prints another digit is found, and the line said", () =>
  inFolder(async (BUILD) => {
    mkdirSync(join(BUILD, "web/programs"), { recursive: true });
    const script = readFileSync(join(build, "web/programs/01.js"), "utf8");
    writeFileSync(join(BUILD, "web/programs/01.js"), spoiled(script, 0.34, 0.3401));
    const faults = await differences("01_dot_product", "", { BUILD });
    assert.match(faults.join("\n"), /^out, line \d+: '.*' natively, '.*' in the page$/m);
  }));
