"use strict";

// The workbench's texts: what its program prints, read line by line, and the arguments of a
// bench as a page or an address writes them. No DOM here; workbench.js puts it together.

(() => {
  // "[[ 0.0613,   -inf]," has the entries 0.0613 and -inf; they stay as they were printed.
  const entries = (line) => line.match(/[^\s[\],]+/g) ?? [];

  function settingOf(bench, key) {
    if (!bench.settings.has(key)) bench.settings.set(key, { key, label: key, value: "" });
    return bench.settings.get(key);
  }
  const ofSetting =
    (what, from) =>
    (bench, [key, ...words]) => {
      settingOf(bench, key)[what] = from(words);
    };

  // What each line that begins with @ adds; the lines after it go to `bench.open`.
  const marks = {
    names: (bench, [list, ...names]) => {
      bench.names[list] = names;
    },
    note: (bench, words) => {
      bench.notes.push(words.join(" "));
    },
    setting: (bench, [key], line) => {
      settingOf(bench, key).value = line.slice(key.length + 1);
    },
    label: ofSetting("label", (words) => words.join(" ")),
    value: ofSetting("number", ([number]) => number),
    range: ofSetting("range", (range) => {
      const [min, max, step] = range.map(Number);
      return { min, max, step };
    }),
    choice: ofSetting("choices", (choices) => choices),
    table: (bench, [id, head, rows, columns]) => {
      bench.open = { id, head, rows, columns, lines: [], at: [] };
      bench.tables.push(bench.open);
    },
    row: (bench, [number]) => {
      bench.open.at.push(Number(number));
    },
    map: (bench, [head, state, before, followed]) => {
      bench.open = { head, isOff: state === "off", before, followed, lines: [] };
      bench.maps.push(bench.open);
    },
    figure: (bench, [name]) => {
      bench.figures.push(name);
    },
    explain: (bench, place) => {
      bench.open = { place: place.join(":"), lines: [], sources: [] };
      bench.explain = bench.open;
    },
    source: (bench, place) => {
      bench.explain.sources.push(place.join(":"));
    },
  };

  function readLine(bench, line) {
    const [, mark, rest] = line.match(/^@(\w+) ?(.*)$/) ?? [];
    if (!mark) bench.open?.lines.push(line);
    else if (marks[mark]) marks[mark](bench, rest.split(" ").filter(Boolean), rest);
    else throw new Error(`the workbench does not know a line that begins with @${mark}`);
  }

  // "queries, head 1 (6, 2)" and its lines of numbers: the label, what all heads have of it,
  // how large it is, and the entries as texts. Of some tables there are only a few rows, each
  // behind its number.
  function finish(table) {
    const [first, ...rows] = table.lines.filter((line) => line.trim());
    const [, label, shape] = first.match(/^(.*) \((\d+, \d+)\)$/);
    Object.assign(table, { label, shape: shape.replace(", ", " × ") });
    [, table.common, table.own] = label.match(/^(.*?)(?:, (head \d+))?$/);
    table.cells = [];
    rows.forEach((line, k) => {
      table.cells[table.at[k] ?? k] = entries(line);
    });
    table.key = `${table.id}:${table.head}`;
  }

  // All that the program printed; tables, settings and figures in its order.
  function read(text) {
    const bench = { names: {}, notes: [], settings: new Map(), tables: [], figures: [], maps: [] };
    for (const line of text.split("\n")) readLine(bench, line);
    bench.tables.forEach(finish);
    for (const map of bench.maps) map.lines = map.lines.filter(Boolean);
    if (bench.explain) bench.explain.lines = bench.explain.lines.filter((line) => line.trim());
    return bench;
  }

  // What names row or column k of a table: a word of a list, or its number, from 1 on.
  const nameOf = (bench, list, k) => bench.names[list]?.[k] ?? String(k + 1);

  // "stage=mask p=0.5" as pairs of key and value.
  const fromArguments = (text) => text.split(" ").map((pair) => pair.split("="));

  // The same as the part of an address behind #. Commas and colons need no %.
  const toHash = (pairs) =>
    `#${new URLSearchParams(pairs)}`.replace(/%2C/g, ",").replace(/%3A/g, ":");
  const fromHash = (hash) => [...new URLSearchParams(hash.slice(1))];

  globalThis.book ??= {};
  book.benchText = { read, nameOf, fromArguments, toHash, fromHash };
})();
