"use strict";

// The workbench: attention that can be changed, and numbers that say how they were made. Each
// <div class="workbench" data-args="stage=mask"> begins with one button. What is behind it is
// computed and drawn by the book's own C, the program "workbench": each change runs it once
// more, at most once a frame. Its output is read in workbench-text.js and shown by
// workbench-view.js.

(() => {
  const { make } = book;
  const { read, fromArguments, toHash, fromHash } = book.benchText;
  const { setText, setWords, form, tables, figures, heads, placeOf, stages } = book.benchView;

  const PAGE = "workbench.html"; // the page whose bench has everything
  const PROGRAM = document.querySelector("[data-program]")?.dataset.program ?? "workbench";
  const LEARNED = ["language", "repeated", "verbs"]; // the stages that are models, of "inside"
  const TEXTS = ["words", "others", "off"]; // what may be empty
  const PROMISE = "Try other words and settings, and ask any number how it was made";

  const button = (text, act, attributes = {}, ...inside) => {
    const element = make("button", { type: "button", ...attributes }, text, ...inside);
    element.addEventListener("click", act);
    return element;
  };

  // A cell is named as the program does: "weights:0:1:2"; its table is "weights:0".
  const partsOf = (cell) => cell.split(":").slice(2);
  const tableOf = (cell) => cell.split(":", 2).join(":");
  const ofView = ({ view, i, j }) => `${view.key}:${i}:${j}`;

  // What is to be there before a stage can be shown: its program, and its model.
  const models = {};
  const isReady = (stage) => !LEARNED.includes(stage) || models[stage];
  async function prepare(stage) {
    if (isReady(stage)) return;
    await book.ready("inside");
    models[stage] = new Uint8Array(await book.unpack(`programs/model-${stage}`));
  }

  function runBench(pairs, asked, options) {
    const stage = new Map(pairs).get("stage");
    const args = [...pairs.map((pair) => pair.join("=")), ...asked.map((it) => `ask=${it}`)];
    if (!LEARNED.includes(stage))
      return book.runHere(PROGRAM, { as: "workbench", args, ...options });
    const files = { [`${stage}.safetensors`]: models[stage] };
    return book.runHere("inside", { args, files, ...options });
  }

  // ---- The explanation of one number

  // The cells that a source means: * stands for all of a row or a column, and commas part
  // some of a row.
  const isMany = (at) => /[*,]/.test(at);
  function cellsOf(source, { key, data: { cells } }) {
    const [rows, columns] = partsOf(source);
    const all = (at, list) => (at === "*" ? Object.keys(list) : at.split(","));
    return all(rows, cells).flatMap((i) => all(columns, cells[i]).map((j) => `${key}:${i}:${j}`));
  }

  // How a source is called: "scaled scores of short", "values, column 2".
  function sourceName(source, { title, names }) {
    const [row, column] = partsOf(source);
    if (!isMany(row) && !isMany(column)) return title;
    if (isMany(column)) return row === "*" ? title : `${title}, row ${names.rows[row]}`;
    return `${title}, column ${names.columns[column]}`;
  }

  // What tells a cell of a source from its neighbours.
  function cellName(source, cell, { names }) {
    const [rows, columns] = partsOf(source);
    const [i, j] = partsOf(cell);
    if (rows === "*" && columns !== "*") return names.rows[i];
    if (isMany(columns) && rows !== "*") return names.columns[j];
    return `${names.rows[i]}, ${names.columns[j]}`;
  }

  class Panel {
    // `walk(trail)` asks for the last cell of a trail; `leave` closes the panel.
    constructor(walk, leave) {
      Object.assign(this, { walk, leave });
      this.heading = make("p", { class: "number", tabindex: "-1" });
      this.name = make("span", { class: "label" });
      this.at = make("span", { class: "at" });
      this.value = make("span", { class: "value" });
      this.heading.append(this.name, " ", this.at, " ", this.value);
      this.trail = make("ol");
      this.lines = make("div", { class: "steps" });
      this.sources = make("div", { class: "sources" });
      this.way = make("nav", { "aria-label": "Numbers asked so far" }, this.trail);
      const buttons = make("div", { class: "bar" }, button("Close", leave));
      this.element = make("section", {
        class: "explanation",
        "aria-label": "How this number was made",
      });
      this.element.append(this.way, buttons, this.heading, this.sources, this.lines);
    }

    show(bench, path, views) {
      this.path = path;
      const place = path.at(-1);
      const view = views.get(tableOf(place));
      const [i, j] = partsOf(place);
      setWords(this.name, view.title);
      setText(this.at, `${view.names.rows[i]}, ${view.names.columns[j]}:`);
      setText(this.value, view.data.cells[i][j]);
      this.way.hidden = path.length < 2; // its one step would say the title again
      this.trail.replaceChildren(...path.map((it, k) => this.crumb(k, views.get(tableOf(it)))));
      this.showLines(bench.explain.lines);
      this.showSources(bench.explain.sources, views);
    }

    crumb(k, { data }) {
      const isLast = k === this.path.length - 1;
      const step = isLast
        ? make("li", { "aria-current": "step" })
        : button("", () => this.walk(this.path.slice(0, k + 1)));
      setWords(step, data.common);
      return isLast ? step : make("li", {}, step);
    }

    showLines(lines) {
      const isSum = (line) => /\d.* = |=.*\d$|^-?\d/.test(line);
      this.lines.replaceChildren(
        ...lines.map((line) => setWords(make("p", { class: isSum(line) ? "sum" : "" }), line)),
      );
    }

    // The cells of all sources, each with a button that asks it.
    showSources(sources, views) {
      this.cells = [];
      const groups = sources.map((source) => {
        const view = views.get(tableOf(source));
        const cells = cellsOf(source, view);
        this.cells.push(...cells);
        const title = setWords(make("p", { class: "label" }), `from ${sourceName(source, view)}`);
        const chips = cells.map((cell) => this.chip(source, cell, view));
        return make("div", { class: "source" }, title, make("div", {}, ...chips));
      });
      this.sources.replaceChildren(...groups);
    }

    chip(source, cell, view) {
      const [i, j] = partsOf(cell);
      const value = view.data.cells[i][j];
      const name = cellName(source, cell, view);
      return button(
        "",
        () => this.walk([...this.path, cell]),
        {
          class: "chip",
          "aria-label": `${view.title}: ${name}: ${value}; how was it made`,
        },
        make("span", { class: "of" }, name),
        " ",
        make("span", { class: "value" }, value),
      );
    }
  }

  // ---- A bench

  class Bench {
    constructor(root) {
      this.root = root;
      this.base = fromArguments(root.dataset.args);
      this.given = new Map(this.base); // the page's arguments, and what was changed
      this.path = []; // of the numbers that were asked, the last of which is shown
      this.own = new Map(); // what the program prints with a page's or a stage's own numbers
      this.isPage = this.given.get("stage") === "all";
      this.button = button("", () => this.open(), { class: "opens" });
      this.offer();
      if (this.isPage) this.open();
    }

    offer() {
      this.button.disabled = false;
      this.button.replaceChildren(make("b", {}, "Change this"), " ", make("span", {}, PROMISE));
      this.root.replaceChildren(this.button);
    }

    // ---- Opening, and closing

    async open() {
      this.button.disabled = true;
      setText(this.button, "Opening the workbench");
      try {
        await book.ready(PROGRAM);
        this.build();
        await this.begin();
        if (!this.isPage) this.title.focus({ preventScroll: true });
      } catch (error) {
        this.fail(error);
      }
    }

    async begin() {
      if (!this.isPage || !location.hash.includes("=")) return this.draw();
      await this.attempt(() => this.takeAddress()).catch(() => {}); // it is said
      if (!this.path.length) this.root.scrollIntoView({ behavior: "instant" });
    }

    // What should not happen is said where the reader looks, and told to the console.
    fail(error) {
      this.close();
      setText(this.button, `The workbench cannot be opened: ${error.message}`);
      throw error;
    }

    close() {
      this.root.classList.remove("opened", "stale");
      this.offer();
      this.path = [];
      this.result = undefined;
      this.button.focus({ preventScroll: true });
    }

    build() {
      this.form = form((key, value) => this.change(key, value));
      this.tables = tables((id) => this.isOpen(id));
      this.figures = figures();
      this.heads = heads(
        (head) => this.change("head", head),
        (head) => this.turn(head),
      );
      this.panel = new Panel(
        (path) => this.walk(path),
        () => this.forget(),
      );
      this.notes = make("div", { class: "notes" });
      this.refusal = make("p", { class: "refusal", role: "alert" });
      this.said = make("p", { class: "spoken", "aria-live": "polite" });
      const hint = make("p", { class: "hint" }, make("b", {}, "Press any number"));
      hint.append(", and it says how it was made.");
      this.aside = make("div", { class: "beside" }, hint);
      const body = make(
        "div",
        { class: "body" },
        this.notes,
        this.heads.element,
        this.figures.element,
        this.aside,
        this.tables.element,
      );
      this.root.classList.add("opened");
      const top = [this.bar(), this.form.element, this.refusal, this.actions()];
      this.root.replaceChildren(...top, body, this.said);
      this.listen();
    }

    bar() {
      this.title = make("p", { class: "label", tabindex: "-1" }, "Workbench");
      const bar = make("div", { class: "bar" }, this.title);
      if (!this.isPage) bar.append(button("Close", () => this.close()));
      return bar;
    }

    actions() {
      this.link = make("a", { href: PAGE }, "Open this in the workbench page");
      this.resets = button("Reset", () => this.reset());
      const actions = make("div", { class: "actions" }, this.resets);
      if (!this.isPage) actions.append(this.link);
      return actions;
    }

    listen() {
      if (this.isListening) return;
      this.isListening = true;
      this.root.addEventListener("click", (event) => this.onClick(event));
      this.root.addEventListener("keydown", (event) => this.onKey(event));
      if (!this.isPage) return;
      addEventListener("hashchange", () => this.attempt(() => this.takeAddress()));
      // A link to a state: the bench is brought into sight.
      document.addEventListener("click", (event) => {
        const link = event.target.closest('a[href*="#stage="]');
        if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
        setTimeout(() => {
          this.root.scrollIntoView();
          this.title.focus({ preventScroll: true });
        });
      });
    }

    // ---- Settings and their address

    change(key, value) {
      const old = this.result.settings.get(key)?.value;
      if (value === "" && !TEXTS.includes(key))
        return this.sayRefusal(`This field is empty: ${old} still holds.`, key);
      if (key === "stage") return this.attempt(() => this.begins(value));
      this.request = {}; // a model that is still loaded has come too late
      // What was chosen for a word means nothing in another text.
      if (key === "words") {
        for (const old of this.given.keys())
          if (/^(word|score\d+)$/.test(old)) this.given.delete(old);
        this.path = [];
      }
      this.given.set(key, value);
      this.last = key;
      this.schedule();
    }

    // Another stage has its own data and settings; the reader's own text and seed stay, as far
    // as it has a place for them.
    async begins(stage) {
      if (!(await this.wait(stage))) return;
      const own = [...this.given].filter(([key]) => [...TEXTS, "seed"].includes(key));
      const isTaken = (pair) => runBench([["stage", stage], pair], []).status === 0;
      this.given = new Map([["stage", stage], ...own.filter(isTaken)]);
      Object.assign(this, { path: [], last: "stage" });
      this.draw();
    }

    // Says that a model is loaded, until it is. Returns whether nothing else was asked since.
    async wait(stage) {
      this.request = {};
      const mine = this.request;
      if (isReady(stage)) return true;
      this.sayRefusal("The model is being loaded.");
      try {
        await prepare(stage);
      } catch (error) {
        if (mine === this.request) this.draw(); // what was there
        throw error;
      }
      if (mine === this.request) setText(this.refusal, "");
      return mine === this.request;
    }

    // A head that is on is switched off, and one that is off, on.
    turn(head) {
      const off = new Set(this.result.settings.get("off").value.split(",").filter(Boolean));
      off[off.has(head) ? "delete" : "add"](head);
      this.change("off", [...off].sort().join(","));
    }

    reset() {
      this.given = new Map(this.ownArguments());
      this.path = [];
      this.last = undefined;
      this.draw();
    }

    // Without any change: the page's arguments, or those of a stage that was chosen there.
    ownArguments() {
      const stage = this.given.get("stage");
      return stage === new Map(this.base).get("stage") ? this.base : [["stage", stage]];
    }

    // What the program prints for these; for a stage that there is none of, nothing.
    ownResult() {
      const own = this.ownArguments();
      const key = own.join(" ");
      if (!this.own.has(key)) this.own.set(key, read(runBench(own, []).out));
      return this.own.get(key);
    }

    address() {
      const ask = this.path.length ? [["ask", this.path.at(-1)]] : [];
      return toHash([...this.given, ...ask]);
    }

    // Shows what the address asks for, unless it names a section of the page. It may ask for
    // what is not possible: then it is said why, and all is as it was before.
    async takeAddress() {
      const { hash } = location;
      if (!/^$|=/.test(hash)) return;
      const { ask, ...pairs } = Object.fromEntries(fromHash(hash));
      if (!(await this.wait(pairs.stage))) return;
      const { given, path } = this;
      this.given = new Map([...this.base, ...Object.entries(pairs)]);
      this.path = ask ? [ask] : [];
      this.isTaken = true;
      const result = this.run(this.path);
      if (result.status === 0) this.show(result);
      else Object.assign(this, { given, path }).draw();
      this.isTaken = false;
      if (result.status !== 0)
        this.sayRefusal(`This address cannot be shown: ${book.reasonOf(result.err)}.`);
      else if (this.path.length) this.bring();
    }

    tellAddress() {
      this.link.href = PAGE + this.address();
      if (!this.isPage) return;
      const isOwn = !this.path.length && !this.changes.length && this.ownArguments() === this.base;
      const address = isOwn ? "" : this.address();
      if (isOwn && !location.hash.includes("=")) return;
      if (location.hash === address) return;
      history[this.isStep() ? "pushState" : "replaceState"](null, "", address || location.pathname);
    }

    // Whether Back is to lead here: not at each letter that is typed, nor along a slider.
    isStep() {
      const isMore = this.last && this.last === this.moved;
      this.moved = this.last;
      return !isMore && !this.isTaken;
    }

    // ---- Running and drawing

    // However often something changes, there is one run a frame.
    schedule() {
      this.frame ??= requestAnimationFrame(() => this.attempt(() => this.draw()));
    }

    // What fails is said at the form, and told to the console.
    async attempt(act) {
      try {
        await act();
      } catch (error) {
        this.last = undefined;
        this.refuse({ err: error.message });
        throw error;
      }
    }

    run(path) {
      return runBench([...this.given], path, { figures: true });
    }

    // What the program says; the number that was asked may be gone, with its word or its table.
    answer() {
      const result = this.run(this.path);
      if (result.status === 0 || !this.path.length) return result;
      const without = this.run([]);
      if (without.status !== 0) return result;
      this.path = [];
      return without;
    }

    draw() {
      cancelAnimationFrame(this.frame);
      this.frame = undefined;
      const result = this.answer();
      if (result.status === 0) this.show(result);
      else this.refuse(result);
    }

    show({ out, figures: files }) {
      this.result = read(out);
      // In a chapter, the stage is the chapter's.
      if (this.isPage) this.result.settings.get("stage").choices = stages;
      else this.result.settings.delete("stage");
      this.root.classList.remove("stale");
      setText(this.refusal, "");
      this.form.update(this.result, this.ownResult());
      this.showNotes();
      this.heads.update(this.result);
      this.figures.update(this.result, files);
      this.changes = this.tables.update(this.result, this.ownResult());
      this.takeExplained();
      this.resets.disabled = !this.form.element.querySelector(".changed");
      this.explain();
      this.tellAddress();
      this.sayChanges();
    }

    // The number is asked as the program names it, "00" as "0"; of a model, only tables that
    // the answer needs are there.
    takeExplained() {
      const { explain } = this.result;
      const last = explain ? [explain.place] : [];
      const isThere = (place) => this.tables.views.has(tableOf(place));
      this.path = [...this.path.slice(0, -1), ...last].filter(isThere);
    }

    // For whoever does not see which tables are marked.
    sayChanges() {
      const now = this.changes.join(", ");
      if (now === this.saidChanges || this.path.length) return;
      this.saidChanges = now;
      setText(this.said, now ? `Other numbers than before in: ${now}` : "As on the page again");
    }

    showNotes() {
      const { notes } = this.result;
      if (this.notes.textContent === notes.join("")) return;
      this.notes.replaceChildren(...notes.map((note) => make("p", {}, note)));
    }

    // At the setting, or below all of them.
    sayRefusal(text, key) {
      const setting = this.form.of(key);
      if (setting) setting.append(this.refusal);
      else this.form.element.after(this.refusal);
      setText(this.refusal, text);
    }

    // The program's line, at what was changed last; the last tables that could be computed stay.
    refuse(result) {
      this.sayRefusal(book.reasonOf(result.err), this.last);
      this.resets.disabled = false;
      this.root.classList.toggle("stale", Boolean(this.result));
    }

    // Scores, shares and what they come to; the rest of the way is there for whoever asks.
    isOpen(id) {
      return (
        /^(scores|exponentials|weights|renormalized|dropped|context|out|next)$/.test(id) ||
        id === `${this.result.settings.get("head")?.value.replace(/\..*/, "")}.weights`
      );
    }

    // ---- Asking

    // A source of the number that is shown goes on from it; any other number begins anew.
    // What was pressed stays where it is.
    ask({ cell, ...at }) {
      const place = ofView(at);
      const isSource = this.path.length && this.panel.cells.includes(place);
      if (this.path.at(-1) === place) return;
      if (!isSource) this.begun = cell;
      this.walk(isSource ? [...this.path, place] : [place], cell);
    }

    walk(path, pressed) {
      const wasInPanel = this.panel.element.contains(document.activeElement);
      Object.assign(this, { path, last: undefined });
      this.keep(pressed, () => this.draw());
      if (!this.result.explain) return;
      const { lines } = this.result.explain;
      setText(this.said, [this.panel.heading.textContent, ...lines].join(". "));
      if (wasInPanel) this.panel.heading.focus({ preventScroll: true });
      if (!pressed) this.bring();
    }

    // Does what may move the page, but not an element in the window.
    keep(element, act) {
      const top = () => element?.getBoundingClientRect().top ?? 0;
      const before = top();
      act();
      if (before && top()) scrollBy({ top: top() - before, behavior: "instant" });
    }

    // Into sight, with as little scrolling as that takes, above the explanation.
    bring() {
      this.asked.scrollIntoView({ block: "nearest", inline: "nearest", behavior: "instant" });
    }

    forget() {
      const back = [this.asked, this.begun, this.title];
      Object.assign(this, { path: [], last: undefined });
      this.keep(this.asked, () => this.draw());
      setText(this.said, "");
      back.find((it) => it?.isConnected).focus();
    }

    explain() {
      const { explain } = this.result;
      if (explain) this.panel.show(this.result, this.path, this.tables.views);
      else this.panel.element.remove();
      this.light(explain);
      if (explain && !this.panel.element.isConnected) this.aside.append(this.panel.element);
    }

    // Lights the number that was asked, and those that it was made from.
    light(explain) {
      const asked = explain && this.cell(this.path.at(-1));
      const sources = explain ? this.panel.cells.map((cell) => this.cell(cell)) : [];
      const lit = explain ? [asked, ...sources] : [];
      const isSame = lit.length === this.lit?.length && lit.every((td, k) => td === this.lit[k]);
      if (isSame) return;
      for (const td of this.lit ?? []) td.classList.remove("asked", "source");
      for (const td of lit) td.classList.add(td === asked ? "asked" : "source");
      this.unfold(lit.length ? lit : [this.asked]);
      Object.assign(this, { lit, asked });
    }

    // What is lit can be seen: its tables unfold, and fold again when it is lit no more.
    unfold(lit) {
      const groups = new Set(lit.filter(Boolean).map((td) => placeOf.get(td).view.group));
      const old = [...(this.unfolded ?? [])];
      for (const group of old) if (!groups.has(group)) group.fold(false);
      const opened = [...groups].filter((group) => !group.element.open);
      for (const group of opened) group.fold(true);
      this.unfolded = new Set([...old.filter((group) => groups.has(group)), ...opened]);
    }

    cell(place) {
      const view = this.tables.views.get(tableOf(place));
      const [i, j] = partsOf(place);
      view.show();
      return view.cells[i][j];
    }

    // ---- Mouse, touch and keys

    // The cell at an element, and where it is.
    at(element) {
      const cell = element.closest("td");
      const place = placeOf.get(cell);
      return place && { cell, ...place };
    }

    onClick(event) {
      const place = this.at(event.target);
      if (!place) return;
      place.view.rove(place.i, place.j);
      place.cell.focus({ preventScroll: true });
      this.ask(place);
    }

    onKey(event) {
      const place = this.at(event.target);
      if (event.key === "Enter" && event.target.matches("[type=text]")) this.toNumbers();
      else if (event.key === "Escape" && this.path.length) this.forget();
      else if (place && event.key === "Enter") this.onEnter(place);
      else if (place) this.move(place, event);
      else return;
      if (event.key === "Enter" || event.key === "Escape") event.preventDefault();
    }

    // From a text to its numbers.
    toNumbers() {
      if (this.frame) this.draw();
      this.root.querySelector(".tables [tabindex='0']").focus();
    }

    // Asks; and asked once more, goes on to the answer.
    onEnter(place) {
      if (ofView(place) === this.path.at(-1)) this.panel.heading.focus();
      else this.ask(place);
    }

    move({ view, i, j }, event) {
      const steps = {
        ArrowUp: [i - 1, j],
        ArrowDown: [i + 1, j],
        ArrowLeft: [i, j - 1],
        ArrowRight: [i, j + 1],
        Home: [event.ctrlKey ? 0 : i, 0],
        End: [event.ctrlKey ? view.cells.length - 1 : i, view.cells[0].length - 1],
      };
      const [row, column] = steps[event.key] ?? [];
      if (row === undefined) return;
      event.preventDefault();
      if (!view.cells[row]?.[column]) return;
      view.rove(row, column);
      view.cells[row][column].focus();
    }
  }

  // Without what runs programs there is nothing to open.
  if (book.ready && book.runHere)
    for (const root of document.querySelectorAll(".workbench")) new Bench(root);
})();
