"use strict";
// Lets a page run the programs that it speaks of. There is a button beside the name
// of the chapter's file, one at each output, and each `make run-02` can be pressed.
// A panel opens there, with the command, what was printed and drawn, and whether it
// is what the page shows. There is one panel: it goes where it is asked for.

(() => {
  const { book } = globalThis;
  const { make } = book;
  const COMMAND = /^make (?:-s )?run-(\w+)(?: ARGS="(.*)")?$/s;
  const SLOW = 250; // milliseconds after which a run says that it is running
  const outputs = [...document.querySelectorAll("main .output[data-program]")];

  // ---------------------------------------------------------------- arguments

  // The words of what stands in ARGS="...": blanks part them, but for those in '...'. All else
  // that a shell has signs for is refused.
  function splitWords(text) {
    const rest = text.replace(/'[^']*'/g, "");
    const sign = (text.match(/["`$\\]/) ?? rest.match(/[';|&<>()#*?[~]/))?.[0];
    if (sign)
      throw new Error(`words are needed, and '...' around those that belong together: not ${sign}`);
    const words = text.match(/(?:'[^']*'|[^ \t\n'])+/g) ?? [];
    return words.map((word) => word.replaceAll("'", ""));
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

  const count = (n, what) => `${n} ${what}${n === 1 ? "" : "s"}`;
  const duration = (ms) =>
    ms < 999.5 ? `${Math.max(1, Math.round(ms))} ms` : `${(ms / 1000).toFixed(1)} s`;

  // What there is to say of a run: in words, whether it is the same as what the page
  // shows or bad news, and the line that differs.
  function judge(asked, result) {
    const shown = shownOf(asked);
    if (result.stopped) return { text: `Stopped after ${duration(result.ms)}.` };
    return shown.length ? judgeShown(asked, result, shown) : { text: judgeAlone(result) };
  }

  const printedBy = ({ out, err }) => linesOf(out + err);

  function judgeAlone(result) {
    const took = `in ${duration(result.ms)}`;
    if (result.status === 2) return `Refused, exit status 2, ${took}.`;
    if (result.status) return `Ended with status ${result.status}, ${took}.`;
    return `${count(printedBy(result).length, "line")} printed, ${took}.`;
  }

  function judgeShown({ args }, result, outputs) {
    const printed = printedBy(result);
    const shown = outputs.flatMap((output) => linesOf(textOf(output)));
    const differs = firstDifference(shown, printed);
    if (differs >= 0) {
      const has = differs < shown.length ? `has "${shown[differs].trim()}"` : "ends before it";
      const text = `Line ${differs + 1} is not as on this page, which ${has}.`;
      return { text, bad: true, differs };
    }
    const drawn = args === "" ? Object.keys(result.figures).length : 0; // they are on the page
    const what = [count(printed.length, "line"), ...(drawn ? [count(drawn, "figure")] : [])];
    const same = result.status === 2 ? "Refused, as on this page" : "The same as on this page";
    const status = result.status ? `, exit status ${result.status}` : "";
    const took = `in ${duration(result.ms)}`;
    return {
      text: `${same}: ${what.join(" and ")}${status}, ${took}.`,
      same: true,
    };
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
  const stop = make("button", { type: "button", hidden: "" }, "Stop");
  const close = make("button", { type: "button", class: "close", "aria-label": "Close" });
  const form = make("form", {}, label, field, end, start, stop, close);
  const said = make("p", { class: "said", role: "status" });
  const printed = make("pre", { tabindex: "0", role: "group", "aria-label": "what was printed" });
  const drawn = make("details", { class: "drawn" });
  const panel = make(
    "section",
    { class: "run", tabindex: "-1", "aria-label": "a run of the program" },
    form,
    said,
    printed,
    drawn,
  );
  form.addEventListener("submit", submit);
  stop.addEventListener("click", book.stop);
  close.addEventListener("click", closePanel);
  panel.addEventListener("keydown", keydown);

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
    const block =
      button.closest(".output, .listing, hgroup") ?? button.closest("p, li, td") ?? button;
    if (block.matches("li, td")) block.append(panel);
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
    // Where there is a keyboard, what is typed goes into the field.
    const first = hasField && matchMedia("(hover: hover)").matches ? field : panel;
    first.focus({ preventScroll: true });
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
    const add = (line, kind) => {
      const mark = n === differs ? " differs" : n >= first && n < last ? " here" : "";
      const isEmpty = !/\S/.test(line);
      samp.append(make("span", { class: kind + (isEmpty ? "" : mark) }, line || "\n"));
      if (!isEmpty) n++;
    };
    for (const line of out.split("\n").slice(0, -1)) add(line, "");
    for (const line of err.split("\n").slice(0, -1)) add(line, "refused");
    printed.replaceChildren(samp);
    printed.hidden = n === 0;
    const lit = samp.querySelector(".differs, .here");
    printed.scrollTop = lit ? lit.offsetTop - 8 : 0;
  }

  // Figures that the page has are there to unfold, others are open.
  function showDrawn(current, figures) {
    const drawings = Object.entries(figures).map(([file, text]) => picture(file, text));
    const what = `${count(drawings.length, "figure")} drawn`;
    drawn.replaceChildren(make("summary", {}, make("span", { class: "label" }, what)), ...drawings);
    drawn.hidden = drawings.length === 0;
    drawn.open = shownOf(current).length === 0;
  }

  // A drawing whose names are not those of the page's own.
  function picture(file, text) {
    const parsed = new DOMParser().parseFromString(text, "text/html");
    const svg = document.importNode(parsed.querySelector("svg"), true);
    for (const it of svg.querySelectorAll("[id]")) it.id = `run-${it.id}`;
    const names = svg.getAttribute("aria-labelledby")?.replace(/\S+/g, "run-$&");
    if (names) svg.setAttribute("aria-labelledby", names);
    const width = `--width: ${svg.getAttribute("width")}px`;
    const attributes = { class: "picture", style: width, tabindex: "0", role: "group" };
    return make("div", { ...attributes, "aria-label": file }, svg);
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
    const run = button({ program, args: "" }, "Run this program", "Run");
    line.append(" ", make("span", {}, "·"), " ", run);
    if (takesWords(program))
      line.append(" ", make("span", { class: "takes" }, "(takes arguments)"));
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
    if (!match || code.closest(".label, a, button, summary")) return;
    const [, number, args = ""] = match;
    const own = outputs.find(({ dataset }) => dataset.program.startsWith(`${number}_`));
    const request = { program: own?.dataset.program ?? number, args };
    const listing = code.closest(".listing");
    if (!listing) return wrap(code, request);
    listing.prepend(
      make("p", { class: "label" }, button(request, `Run ${code.textContent}`, "Run")),
    );
  }

  document.querySelectorAll("main code").forEach(addToText);
  outputs.forEach(addToOutput);
  addToHeading();
})();
