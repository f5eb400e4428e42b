"use strict";
// Lets a page run the programs that it speaks of. There is a button beside the name
// of the chapter's file, one at each output, and each `make run-02` can be pressed.
// A panel opens there, with the command, what was printed and drawn, and whether it
// is what the page shows. There is one panel: it goes where it is asked for.

(() => {
  const book = globalThis.book;
  const COMMAND = /^make (?:-s )?run-(\w+)(?: ARGS="(.*)")?$/s;
  const SLOW = 250; // milliseconds after which a run says that it is running
  const outputs = [...document.querySelectorAll("main .output[data-program]")];

  // An element with attributes, and listeners where those are functions.
  function make(tag, attributes = {}, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (typeof value === "function") element.addEventListener(name, value);
      else if (value !== false) element.setAttribute(name, value === true ? "" : value);
    }
    element.append(...children);
    return element;
  }

  // ---------------------------------------------------------------- arguments

  // The words of what stands in ARGS="...", as make and the shell would have them:
  // parted by blanks, but for those in quotes or behind a backslash.
  function splitWords(text) {
    const PIECE = /\s+|'([^']*)'|"((?:[^"\\]|\\[^])*)"|\\([^])|([^\s'"\\]+)|([^])/gy;
    const words = [];
    let word;
    for (const [all, single, double, escaped, plain, odd] of text.matchAll(PIECE)) {
      if (odd) throw new Error(`sh: ${odd === "\\" ? "nothing follows" : "there is no second"} ${odd}`);
      refuseSigns(single ?? double ?? plain ?? "", plain === undefined ? /[$`]/ : /[$`;|&<>()#]/);
      if (/^\s/.test(all)) {
        if (word !== undefined) words.push(word);
        word = undefined;
      } else {
        word = (word ?? "") + (single ?? double?.replace(/\\(["\\])/g, "$1") ?? escaped ?? plain);
      }
    }
    return word === undefined ? words : [...words, word];
  }

  function refuseSigns(text, signs) {
    const sign = text.match(signs)?.[0];
    if (sign) throw new Error(`sh: this page's shell knows words and quotes, but not ${sign}`);
  }

  // -------------------------------------------------------------- comparison

  const linesOf = (text) => text.split("\n").filter((line) => /\S/.test(line));
  const textOf = (output) => output.querySelector("samp").textContent;

  // A line as make compares it: blanks only align, and -0.0000 is 0.0000.
  const bare = (line) =>
    line
      .replace(/-(0\.0+)(?!\d)/g, "$1")
      .replace(/\s*([[\],])\s*/g, "$1")
      .replace(/\s+/g, " ")
      .trim();

  const isPlain = (output) => output.dataset.args === undefined;

  // The outputs on this page that show this run.
  function shownOf({ program, args }) {
    const own = outputs.filter((output) => output.dataset.program === program);
    return own.filter((output) => (args === "" ? isPlain(output) : output.dataset.args === args));
  }

  // The number of the first line that is another than the page's, or -1.
  function firstDifference(shown, printed) {
    for (let i = 0; i < Math.max(shown.length, printed.length); i++) {
      if (bare(shown[i] ?? "") !== bare(printed[i] ?? "")) return i;
    }
    return -1;
  }

  // A drawing's elements, without what belongs to the page that it stands on.
  function strokesOf(svg) {
    return [...svg.querySelectorAll(":not(style)")].map((it) => {
      const attributes = [...it.attributes].filter(({ name }) => !/^(id|style|aria-)/.test(name));
      const values = attributes.map(({ name, value }) => `${name}=${value}`);
      return `${it.localName} ${values.join(" ")} ${it.children.length ? "" : it.textContent}`;
    });
  }

  function parseDrawing(text) {
    return new DOMParser().parseFromString(text, "text/html").querySelector("svg");
  }

  // The names of the figures of which this page has another.
  function otherFigures(figures) {
    return Object.entries(figures)
      .filter(([file, text]) => {
        const name = file.replace(/\.svg$/, "");
        const shown = document.querySelector(`main figure svg[aria-labelledby^="${name}-"]`);
        return shown && strokesOf(shown).join("\n") !== strokesOf(parseDrawing(text)).join("\n");
      })
      .map(([file]) => file);
  }

  const count = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}`;
  const duration = (ms) => (ms < 999.5 ? `${Math.max(1, Math.round(ms))} ms` : `${(ms / 1000).toFixed(1)} s`);

  // What there is to say of a run: in words, whether it is good news, and the line
  // that differs.
  function judge(asked, result) {
    const printed = linesOf(result.out + result.err);
    const shown = shownOf(asked).flatMap((output) => linesOf(textOf(output)));
    const took = `in ${duration(result.ms)}`;
    const lines = count(printed.length, "line");
    if (result.stopped) return { text: `Stopped after ${duration(result.ms)}.` };
    if (shown.length === 0) return { text: judgeAlone(result, lines, took) };
    const differs = firstDifference(shown, printed);
    if (differs >= 0) {
      const page = shown[differs];
      const has = page === undefined ? "ends before it" : `has "${page.trim()}"`;
      return { text: `Line ${differs + 1} is not as on this page, which ${has}.`, bad: true, differs };
    }
    const figures = asked.args === "" ? Object.keys(result.figures).length : 0;
    const others = figures ? otherFigures(result.figures) : [];
    if (others.length) return { text: `This page has another ${others.join(", ")}.`, bad: true };
    const and = figures ? ` and ${count(figures, "figure")}` : "";
    const status = result.status ? `, exit status ${result.status}` : "";
    return { text: `The same as on this page: ${lines}${and}${status}, ${took}.`, same: true };
  }

  function judgeAlone({ status }, lines, took) {
    if (status === 2) return `Refused, exit status 2, ${took}.`;
    return status ? `Ended with status ${status}, ${took}.` : `${lines} printed, ${took}.`;
  }

  // ------------------------------------------------------------------ panel

  let opener; // the button that was pressed
  let asked; // what runs, or ran: program, args, output (pressed, if any)
  let runs = 0; // how many there were: an answer to an older one is not shown

  const field = make("input", {
    id: "run-args",
    autocomplete: "off",
    autocapitalize: "off",
    spellcheck: "false",
    enterkeyhint: "go",
  });
  const command = make("code");
  const label = make("label", { for: "run-args" }, command);
  const end = make("code", {}, '"');
  const start = make("button", { type: "submit" }, "Run");
  const stop = make("button", { type: "button", hidden: true, click: () => book.stop() }, "Stop");
  const close = make("button", { type: "button", class: "close", "aria-label": "Close", click: closePanel }, "×");
  const form = make("form", { submit }, label, field, end, start, stop, close);
  const said = make("p", { class: "said", role: "status" });
  const printed = make("pre", { tabindex: "0", role: "group", "aria-label": "what was printed" });
  const drawn = make("details", { class: "drawn" });
  const panel = make(
    "section",
    { class: "run", tabindex: "-1", "aria-label": "a run of the program", keydown },
    form,
    said,
    printed,
    drawn,
  );

  function keydown(event) {
    if (event.key === "Escape") closePanel();
    event.stopPropagation(); // the page's own keys are for elsewhere
  }

  function closePanel() {
    runs++;
    book.stop();
    panel.remove();
    opener?.focus();
  }

  const takesWords = (program) =>
    outputs.some((output) => output.dataset.program === program && !isPlain(output));

  // The panel stands below the block that its button is in.
  function place(button) {
    const block = button.closest(".output, .listing, hgroup") ?? button.closest("summary, p, li, td");
    if (block.matches("li, td")) block.append(panel);
    else if (block.matches("summary")) block.parentElement.after(panel);
    else block.after(panel);
  }

  function openPanel(button, request) {
    opener = button;
    asked = request;
    const number = request.program.replace(/_.*/, "");
    const hasField = request.args !== "" || takesWords(request.program);
    command.textContent = `make -s run-${number}${hasField ? ' ARGS="' : ""}`;
    for (const part of [field, end]) part.hidden = !hasField;
    field.value = request.args;
    place(button);
    panel.focus({ preventScroll: true });
    run().then(() => panel.scrollIntoView({ block: "nearest" }));
  }

  function submit(event) {
    event.preventDefault();
    asked = { ...asked, args: field.value.trim() };
    run();
  }

  // ---------------------------------------------------------------- running

  function say(text, mark = "") {
    said.textContent = text;
    said.className = `said ${mark}`;
  }

  function setRunning(isRunning) {
    panel.setAttribute("aria-busy", String(isRunning));
    stop.hidden = !isRunning;
    start.hidden = isRunning;
    if (isRunning) say("Running ...");
  }

  // Runs what is asked for and shows what came of it, unless by then there is
  // something newer. Stop appears, and takes Run's place, where one has to wait.
  async function run() {
    const mine = ++runs;
    const current = asked;
    const begin = performance.now();
    book.stop();
    say(""); // what is said twice is only heard twice if it was gone
    const timer = setTimeout(() => mine === runs && setRunning(true), SLOW);
    const outcome = await attempt(current);
    clearTimeout(timer);
    if (mine !== runs) return;
    const hadFocus = document.activeElement === stop;
    setRunning(false);
    if (hadFocus) start.focus();
    if (outcome.stopped) outcome.ms = performance.now() - begin;
    show(current, outcome);
  }

  // A failure of the page is shown in the place of a result.
  async function attempt({ program, args }) {
    let words;
    try {
      words = splitWords(args);
    } catch (error) {
      return { status: 2, out: "", err: `${error.message}\n`, figures: {}, ms: 0 };
    }
    try {
      return await book.run(program, { args: words, figures: true });
    } catch (error) {
      return { failed: `This page cannot run the program: ${error.message}.` };
    }
  }

  function show(current, outcome) {
    printed.hidden = drawn.hidden = true;
    if (outcome.failed) return say(outcome.failed, "bad");
    const verdict = judge(current, outcome);
    say(verdict.text, verdict.bad ? "bad" : verdict.same ? "same" : "");
    showPrinted(current, outcome, verdict.differs ?? -1);
    showDrawn(current, outcome.figures);
  }

  // The lines of a plain run that the output shows at which Run was pressed: from
  // which to which, not counting empty ones.
  function rangeOf({ args, output }) {
    if (args !== "" || !output) return [0, 0];
    const plain = shownOf(asked);
    const sizes = plain.map((it) => linesOf(textOf(it)).length);
    const at = plain.indexOf(output);
    const first = sizes.slice(0, at).reduce((sum, n) => sum + n, 0);
    return at < 0 ? [0, 0] : [first, first + sizes[at]];
  }

  function showPrinted(current, { out, err }, differs) {
    const [first, last] = rangeOf(current);
    const samp = make("samp");
    let n = 0; // of the lines that are not empty
    const add = (kind, line) => {
      const isHere = n >= first && n < last;
      const mark = n === differs ? "differs" : isHere ? "here" : "";
      samp.append(make("span", { class: `${kind} ${/\S/.test(line) ? mark : ""}` }, line || "\n"));
      if (/\S/.test(line)) n++;
    };
    for (const [text, kind] of [[out, ""], [err, "refused"]]) {
      for (const line of text.split("\n").slice(0, -1)) add(kind, line);
    }
    printed.replaceChildren(samp);
    printed.hidden = n === 0;
    const lit = samp.querySelector(".differs, .here");
    printed.scrollTop = lit ? lit.offsetTop - 8 : 0;
  }

  // Figures that the page has are there to unfold, others are open.
  function showDrawn({ program, args }, figures) {
    const drawings = Object.entries(figures).map(([file, text]) => {
      const svg = document.importNode(parseDrawing(text), true);
      for (const it of [svg, ...svg.querySelectorAll("[id]")]) if (it.id) it.id = `run-${it.id}`;
      const names = svg.getAttribute("aria-labelledby")?.replace(/\S+/g, "run-$&");
      if (names) svg.setAttribute("aria-labelledby", names);
      const width = `--width: ${svg.getAttribute("width")}px`;
      const attributes = { class: "picture", style: width, tabindex: "0", role: "group", "aria-label": file };
      return make("div", attributes, svg);
    });
    const what = `${count(drawings.length, "figure")} drawn`;
    drawn.replaceChildren(make("summary", {}, make("span", { class: "label" }, what)), ...drawings);
    drawn.hidden = drawings.length === 0;
    drawn.open = drawings.length > 0 && shownOf({ program, args }).length === 0;
  }

  // ---------------------------------------------------------------- buttons

  function button(request, name, ...children) {
    const it = make("button", { type: "button", class: "runs", "aria-label": name }, ...children);
    it.addEventListener("click", () => openPanel(it, request));
    return it;
  }

  // Beside the name of the chapter's file.
  function addToHeading() {
    const line = document.querySelector("main hgroup p");
    const program = outputs[0]?.dataset.program;
    if (!line || !program) return;
    line.append(" ", make("span", {}, "·"), " ", button({ program, args: "" }, "Run this program", "Run"));
  }

  function addToOutput(output) {
    const { program, args = "" } = output.dataset;
    const request = { program, args, output };
    const code = output.querySelector(".label code");
    if (code) wrap(code, request);
    else output.querySelector(".label").append(" ", button(request, "Run what prints this", "Run"));
  }

  // A command in the text becomes a button, if it is all that its element has.
  function wrap(code, request) {
    const it = button(request, `Run ${code.textContent}`);
    it.classList.add("command");
    code.replaceWith(it);
    it.append(code);
  }

  function addToText(code) {
    const match = code.textContent.replace(/\s+/g, " ").trim().match(COMMAND);
    if (!match || code.closest(".label, a, button, .run")) return;
    const [, number, args = ""] = match;
    const own = outputs.find(({ dataset }) => dataset.program.startsWith(`${number}_`));
    const request = { program: own?.dataset.program ?? number, args };
    const listing = code.closest(".listing");
    if (listing) listing.prepend(make("p", { class: "label" }, button(request, `Run ${code.textContent}`, "Run")));
    else wrap(code, request);
  }

  document.querySelectorAll("main code").forEach(addToText);
  outputs.forEach(addToOutput);
  addToHeading();
})();
