"use strict";

// What the workbench shows: its form, its tables and its figures. Each is built once and then
// brought up to date in place, since a slider asks for sixty pictures a second.

(() => {
  const { make } = book;
  const { nameOf } = book.benchText;

  const setText = (element, text) => {
    if (element.textContent !== text) element.textContent = text;
  };

  // Words in which what follows a single letter and _ is an index, as in the figures: W_Q.
  function setWords(element, text) {
    const parts = text.split(/(?<=\b[A-Za-z])_(\w+)/);
    element.replaceChildren(...parts.map((part, k) => (k % 2 ? make("sub", {}, part) : part)));
    return element;
  }

  // Children in this order, without moving those that stand where they should: what has the
  // focus keeps it.
  function arrange(parent, children) {
    for (const child of [...parent.children]) if (!children.includes(child)) child.remove();
    children.forEach((child, k) => {
      if (parent.children[k] !== child) parent.insertBefore(child, parent.children[k] ?? null);
    });
  }

  // ---- The form: a control for each setting in force

  // A few words that the program knows are others to a reader, by their settings.
  const OTHER = {
    stage: {
      shares: "softmax (2)",
      roles: "query, key, value (3)",
      scale: "scaling (4)",
      texts: "cross-attention (8)",
      translation: "translation (8)",
      mask: "causal mask (9)",
      dropout: "dropout (10)",
      heads: "heads (12)",
      output: "multi-head attention (13)",
      all: "everything",
      language: "learned: language (24)",
      repeated: "learned: letters (21)",
      verbs: "learned: verbs (21)",
    },
    scale: { root: "√d_k" },
    score: { auto: "computed" },
    mask: {
      none: "all",
      causal: "itself and those before",
      window: "a window",
      next: "and the next one, too",
    },
  };
  const saidAs = ({ key }, word) => OTHER[key.replace(/\d+$/, "")]?.[word] ?? word;

  let count = 0;

  // A setting's name, and in its line what else can be said for it; below it, what sets it.
  function labelled(setting, controls, more = []) {
    const [{ id }] = controls.map((control) => Object.assign(control, { id: `bench-${++count}` }));
    const label = setWords(make("label", { for: id }), setting.label);
    const named = make("div", { class: "named" }, label, ...more);
    return make("div", { class: `setting ${setting.key}` }, named, ...controls);
  }

  // A line to write in: words, or a number of which there are too many for a slider.
  function written(setting, tell) {
    const control = make("input", {
      type: setting.range ? "number" : "text",
      ...setting.range,
      autocomplete: "off",
      spellcheck: "false",
    });
    control.addEventListener("input", () => tell(setting.key, control.value));
    const update = ({ value }) => {
      if (document.activeElement !== control) control.value = value;
    };
    return { element: labelled(setting, [control]), update };
  }

  // A slider, and beside it its number, to be written; above it the words that a number may be
  // replaced by.
  function slid(setting, tell) {
    const { min, max, step } = setting.range;
    const control = make("input", { type: "range", min, max, step });
    const written = make("input", {
      ...{ type: "number", min, max, step: "any" },
      "aria-label": `${setting.label}, as a number`,
    });
    for (const input of [control, written])
      input.addEventListener("input", () => tell(setting.key, input.value));
    const choices = (setting.choices ?? []).map((choice) => {
      const button = setWords(make("button", { type: "button" }), saidAs(setting, choice));
      button.addEventListener("click", () => tell(setting.key, choice));
      return { choice, button };
    });
    const buttons = choices.map(({ button }) => button);
    const element = labelled(setting, [control, written], buttons);
    const update = ({ value, number = value }) => {
      const words = number === value ? value : `${saidAs(setting, value)} = ${number}`;
      if (Number(control.value) !== Number(number)) control.value = number;
      control.setAttribute("aria-valuetext", words);
      if (document.activeElement !== written) written.value = number;
      for (const { choice, button } of choices)
        button.setAttribute("aria-pressed", String(choice === value));
    };
    return { element, update };
  }

  // A choice.
  function listed(setting, tell) {
    const options = setting.choices.map((choice) =>
      make("option", { value: choice }, saidAs(setting, choice)),
    );
    const control = make("select", {}, ...options);
    control.addEventListener("change", () => tell(setting.key, control.value));
    const update = ({ value }) => {
      control.value = value;
    };
    return { element: labelled(setting, [control]), update };
  }

  const MANY = 300; // steps of a slider that a hand can still hit

  function controlFor(setting, tell) {
    const { range, choices } = setting;
    if (range && (range.max - range.min) / range.step <= MANY) return slid(setting, tell);
    if (range || !choices) return written(setting, tell);
    return listed(setting, tell);
  }

  const isOfText = (it) => it.matches(".stage, .words, .others");

  // `tell(key, value)` hears of every change.
  function form(tell) {
    const texts = make("div", { class: "settings texts" });
    const others = make("div", { class: "settings" });
    const element = make("div", { class: "form" }, texts, others);
    const controls = new Map();
    // The control of a setting, if it is there.
    const of = (key) => [controls.get(key)?.element].find((it) => element.contains(it));
    // `own` is the same without any change.
    function update(bench, own) {
      const elements = [...bench.settings.values()].map((setting) => {
        const kind = JSON.stringify([setting.label, setting.range, setting.choices]);
        if (controls.get(setting.key)?.kind !== kind)
          controls.set(setting.key, { kind, ...controlFor(setting, tell) });
        const control = controls.get(setting.key);
        control.update(setting);
        const before = own?.settings.get(setting.key);
        control.element.classList.toggle(
          "changed",
          Boolean(before && before.value !== setting.value),
        );
        return control.element;
      });
      const [first, rest] = [elements.filter(isOfText), elements.filter((it) => !isOfText(it))];
      arrange(texts, first);
      arrange(others, rest);
    }
    return { element, update, of };
  }

  // ---- Tables: one HTML table for each that the program printed

  const number = (text) => (text === "inf" ? Infinity : text === "-inf" ? -Infinity : Number(text));

  // How strongly each entry is tinted, from 0 to 1, and whether it is negative.
  function tints(cells) {
    const values = cells.map((row) => row.map(number));
    const largest = Math.max(0, ...values.flat().filter(Number.isFinite).map(Math.abs));
    return values.map((row) =>
      row.map((x) => ({
        strength: Number.isFinite(x) && largest ? (Math.abs(x) / largest).toFixed(3) : "0",
        sign: Number.isFinite(x) ? (x < 0 ? "less" : "more") : "hidden",
      })),
    );
  }

  const placeOf = new WeakMap(); // of a cell: its view, row and column

  const DENSE = 16; // rows and columns from which on a table is a map, without its digits

  function buildTable(view, table, names) {
    const head = names.columns.map((name) => make("th", { scope: "col" }, name));
    const body = table.cells.map((row, i) => {
      view.cells[i] = row.map((_, j) => {
        const td = make("td", { tabindex: "-1" });
        placeOf.set(td, { view, i, j });
        return td;
      });
      return make("tr", {}, make("th", { scope: "row" }, names.rows[i]), ...view.cells[i]);
    });
    const rows = body.filter(Boolean); // some may not be there
    const first = make("tr", {}, make("td", { class: "corner" }), ...head);
    view.table = make(
      "table",
      { role: "grid" },
      make("thead", {}, first),
      make("tbody", {}, ...rows),
    );
    view.table.classList.toggle("dense", Math.min(rows.length, names.columns.length) > DENSE);
    view.rove(table.cells.findIndex(Boolean), 0);
  }

  function fillTable(view, table, names) {
    const tint = tints(table.cells);
    view.table.setAttribute("aria-label", view.title);
    table.cells.forEach((row, i) => {
      row.forEach((text, j) => {
        const td = view.cells[i][j];
        const { strength, sign } = tint[i][j];
        if (td.textContent === text && td.style.getPropertyValue("--t") === strength) return;
        td.textContent = text;
        td.style.setProperty("--t", strength);
        td.dataset.sign = sign;
        td.setAttribute("aria-label", `${names.rows[i]}, ${names.columns[j]}: ${text}`);
      });
    });
  }

  // One table. `update` takes its numbers, `show` writes them, and builds the table anew only
  // when its words or its shape changed; what is folded need not be written.
  function tableView(group) {
    const view = { group, element: make("div", { class: "grid" }), cells: [], at: [0, 0] };
    const caption = make("p", { class: "head" });
    let shape;
    let isWritten = false;
    view.update = (bench, table) => {
      const names = {
        rows: table.cells.map((_, i) => nameOf(bench, table.rows, i)),
        columns: (table.cells.find(Boolean) ?? []).map((_, j) => nameOf(bench, table.columns, j)),
      };
      Object.assign(view, { data: table, names, key: table.key, title: table.label });
      isWritten = false;
    };
    // One tab stop: the cell that was there last.
    view.rove = (i, j) => {
      const [row, column] = view.at;
      view.cells[row]?.[column]?.setAttribute("tabindex", "-1");
      view.at = [i, j];
      view.cells[i]?.[j]?.setAttribute("tabindex", "0");
    };
    view.show = () => {
      if (isWritten) return;
      isWritten = true;
      setText(caption, view.data.own ?? "");
      if (shape !== JSON.stringify(view.names)) {
        shape = JSON.stringify(view.names);
        view.cells = [];
        buildTable(view, view.data, view.names);
        view.element.replaceChildren(caption, make("div", { class: "scroll" }, view.table));
      }
      fillTable(view, view.data, view.names);
    };
    return view;
  }

  // Whether a table has other numbers than that of the same name, if there is one. Of a table
  // of which some rows are there, only these count.
  function differs(table, own) {
    const other = own.find(({ key }) => key === table.key);
    if (!other) return own.length > 0 && !table.at.length;
    const isOther = (row, i) => other.cells[i] && `${row}` !== `${other.cells[i]}`;
    return table.shape !== other.shape || table.cells.some(isOther);
  }

  // The tables of one name, one for each head, under a line that folds them.
  function groupView() {
    const label = make("span", { class: "label" });
    const shape = make("span", { class: "shape" });
    const mark = make("span", { class: "mark" });
    const heads = make("div", { class: "heads" });
    const element = make(
      "details",
      { class: "tabled" },
      make("summary", {}, label, " ", shape, " ", mark),
      heads,
    );
    const group = { element, heads, views: [] };
    group.show = () => group.views.forEach((view) => view.show());
    group.fold = (isOpen) => {
      element.open = isOpen;
      if (isOpen) group.show();
    };
    // Returns whether these are other numbers than the page's own.
    group.update = (bench, tables, own) => {
      const [first] = tables;
      const isOther = tables.some((table) => differs(table, own));
      setText(mark, isOther ? "changed" : "");
      setWords(label, first.common);
      setText(shape, first.shape);
      group.views = tables.map((_, k) => group.views[k] ?? tableView(group));
      tables.forEach((table, k) => group.views[k].update(bench, table));
      arrange(
        heads,
        group.views.map((view) => view.element),
      );
      if (element.open) group.show();
      return isOther;
    };
    element.addEventListener("toggle", () => element.open && group.show());
    return group;
  }

  // All tables; `isOpen(id)` says of one that appears whether it begins unfolded. An update
  // returns the names of those that are not as in `own`, what the program prints without any
  // change.
  function tables(isOpen) {
    const element = make("div", { class: "tables" });
    const groups = new Map();
    const all = { element };
    all.update = (bench, own) => {
      const changes = [];
      const ids = [...new Set(bench.tables.map((table) => table.id))];
      all.views = new Map();
      for (const id of ids) {
        const isNew = !groups.has(id);
        if (isNew) groups.set(id, groupView());
        const group = groups.get(id);
        const ofId = (table) => table.id === id;
        const isOther = group.update(
          bench,
          bench.tables.filter(ofId),
          own?.tables.filter(ofId) ?? [],
        );
        if (isOther) changes.push(group.views[0].data.common);
        if (isNew) group.fold(isOpen(id));
        for (const view of group.views) all.views.set(view.key, view);
      }
      for (const id of [...groups.keys()]) if (!ids.includes(id)) groups.delete(id);
      arrange(
        element,
        ids.map((id) => groups.get(id).element),
      );
      return changes;
    };
    return all;
  }

  // ---- Figures: the program's SVG

  // Parsed as XML: words are text there, and no script would run. The title becomes a label, as
  // it would hang over what one points at, and its id may stand on the page already.
  function drawn(text) {
    const parsed = new DOMParser().parseFromString(text, "image/svg+xml");
    const svg = document.importNode(parsed.documentElement, true);
    const title = svg.querySelector(":scope > title");
    const name = title.textContent;
    title.remove();
    svg.removeAttribute("aria-labelledby");
    for (const element of svg.querySelectorAll("[id]")) element.removeAttribute("id");
    svg.setAttribute("aria-label", name);
    const caption = make("p", { class: "label", "aria-hidden": "true" }, name);
    const style = `--width: ${svg.getAttribute("width")}px`;
    return make(
      "div",
      { class: "pictured" },
      caption,
      make("div", { class: "picture", style }, svg),
    );
  }

  function figures() {
    const element = make("div", { class: "figures" });
    let shown;
    function update(bench, files) {
      const texts = bench.figures.map((name) => files[name]);
      if (shown === `${texts}`) return;
      shown = `${texts}`;
      element.replaceChildren(...texts.map(drawn));
    }
    return { element, update };
  }

  // ---- The heads of a model that has learned: what each looks at, and whether it is on

  // Two digits of 16 for each weight, from 0 to 255, as the opacity of a colour, which a light
  // page can have as well as a dark one.
  const COLOUR = [0x35, 0x73, 0xbd];
  function paint(canvas, lines) {
    const n = lines.length;
    const image = new ImageData(n, n);
    lines.forEach((line, i) => {
      for (let j = 0; j < n; j++)
        image.data.set(
          [...COLOUR, Number.parseInt(line.slice(2 * j, 2 * j + 2), 16)],
          4 * (i * n + j),
        );
    });
    Object.assign(canvas, { width: n, height: n });
    canvas.getContext("2d").putImageData(image, 0, 0);
  }

  // What a head does in this text; -1 where nothing can be said.
  function does({ before, followed }) {
    const says = [`token before ${before}`];
    if (Number(followed) >= 0) says.push(`what followed ${followed}`);
    return Number(before) < 0 ? "" : says.join(", ");
  }

  function headBox(head, show, turn) {
    const canvas = make("canvas", { "aria-hidden": "true" });
    const name = make("span", { class: "label" }, `head ${head}`);
    const says = make("span", { class: "says" });
    const shows = make("button", { type: "button", class: "shows" }, canvas, name, says);
    const off = make("button", { type: "button", class: "turns" });
    shows.addEventListener("click", () => show(head));
    off.addEventListener("click", () => turn(head));
    const box = { element: make("div", { class: "one-head" }, shows, off) };
    box.update = (map, shown) => {
      if (box.drawing !== `${map.lines}`) paint(canvas, map.lines);
      box.drawing = `${map.lines}`;
      setText(says, does(map));
      setText(off, map.isOff ? "switch on" : "switch off");
      off.setAttribute("aria-label", `${off.textContent}: head ${head}`);
      setText(name, `head ${head}${map.isOff ? ", off" : ""}`);
      box.element.classList.toggle("is-off", map.isOff);
      shows.setAttribute("aria-pressed", String(head === shown));
    };
    return box;
  }

  // `show(head)` hears which one is pressed, and `turn(head)` which is to be on or off. The
  // table of the one that is shown is a map as well.
  function heads(show, turn) {
    const element = make("div", { class: "all-heads" });
    const boxes = new Map();
    function update({ maps, settings }) {
      const own = maps.map((map) => {
        if (!boxes.has(map.head)) boxes.set(map.head, headBox(map.head, show, turn));
        boxes.get(map.head).update(map, settings.get("head")?.value);
        return boxes.get(map.head).element;
      });
      arrange(element, own);
    }
    return { element, update };
  }

  const stages = Object.keys(OTHER.stage);

  book.benchView = { setText, setWords, form, tables, figures, heads, placeOf, stages };
})();
