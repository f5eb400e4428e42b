// Search: what tools/weave/weave has packed into search-index.js, looked through by MiniSearch as
// one types. What is called exactly so comes first; then terms, chapters, sections, functions.

"use strict";

globalThis.book ??= {};

(() => {
  const MOST = 30;
  const LENGTH = 170; // letters of an excerpt

  // Words of a question that say nothing of what it is about.
  const EMPTY =
    /^(an?|and|are|at|be|by|can|does?|for|how|in|is|it|o[fnr]|the|to|what|whe(n|re)|why|with)$/;

  // Letters as they are compared: small, without dots and accents. No letter becomes two, so
  // that a place in the one text is the same place in the other.
  const fold = (text) =>
    text.normalize("NFC").toLowerCase().normalize("NFD").replace(/\p{M}/gu, "");

  // A number is one word, and so is each Chinese character and each sign such as √.
  const WORD = /\d+\.\d+|\p{Script=Han}|\p{S}|(?:(?!\p{Script=Han})[\p{L}\p{M}\p{N}])+/gu;
  const wordsOf = (text) => text.match(WORD) ?? [];

  // Names as they are compared: kv_cache is KV cache, and "The KV cache: ..." begins with it.
  const nameOf = (text) =>
    fold(text)
      .replace(/[\s_-]+/g, " ")
      .replace(/^ | $|^(?:the|an?) /g, "");
  const namesOf = (text) => text.split(/[,;:]\s+/);

  // A word in one number or the other.
  const stem = (word) => (word.length > 3 ? word.replace(/(?:ies|y|s)$/, "") : word);

  /* ---- What can be found: {id, kind, name, also, says, address, above} */

  let records, index;

  const recordOf = ([kind, name, also, says, address, above], id) => {
    return { id, kind, name, also, says, address, above };
  };

  // A term goes by other names, too, in two more languages: its text begins with them.
  function indexOf(all) {
    const made = new MiniSearch({
      fields: ["names", "name", "also", "says"],
      extractField: (record, field) => {
        if (field !== "names") return record[field];
        return [record.name, record.also, record.kind === "term" ? record.says : ""].join("; ");
      },
      tokenize: (text, field) => (field === "names" ? namesOf(text) : wordsOf(text)),
      processTerm: (word, field) => (field === "names" ? nameOf(word) : stem(fold(word))),
    });
    made.addAll(all);
    return made;
  }

  // What a find of a kind is worth; pages that list what others say are looked at last.
  const KIND = { term: 3, page: 2, section: 1.5, code: 1 };
  const LISTS = /^(?:reference|sources|where)\.html/;
  const worth = ({ kind, address }) => (kind !== "code" && LISTS.test(address) ? 0.2 : KIND[kind]);

  // What is called so; what has all words of the question; and what has any, also begun or
  // with one letter that is wrong.
  function find(text) {
    const all = wordsOf(fold(text));
    const full = all.filter((word) => !EMPTY.test(word));
    const words = full.length ? full : all;
    const named = {
      queries: [text],
      fields: ["names"],
      tokenize: (name) => [name],
      processTerm: nameOf,
      boost: { names: 100 },
    };
    const said = (combineWith, boost) => ({
      queries: words,
      combineWith,
      fields: ["name", "also", "says"],
      boost: { name: 4 * boost, also: 4 * boost, says: boost },
      prefix: (word, _, { length }) => length === 1 || word.length > 1,
      fuzzy: (word) => (/^\p{L}{5,}/u.test(word) ? 1 : false),
    });
    const search = (...queries) =>
      index.search({ queries }, { boostDocument: (id) => worth(records[id]) });
    const found = words.length ? search(named, said("AND", 2), said("OR", 1)) : [];
    return { words, found };
  }

  /* ---- How it is shown */

  // Where a text has the words that were found in it: [from, till] of each.
  function placesOf(text, words) {
    if (!words.length) return [];
    const begins = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|");
    const word = new RegExp(
      `(?<![\\p{L}\\p{N}](?![\\p{Script=Han}\\p{S}]))(?:${begins})(?:ies|y|e?s)?`,
      "gu",
    );
    return [...fold(text).matchAll(word)].map((it) => [it.index, it.index + it[0].length]);
  }

  // A text with what was found in it marked.
  function marked(text, words) {
    const parts = [];
    let at = 0;
    for (const [from, till] of placesOf(text, words)) {
      parts.push(text.slice(at, from), book.make("mark", {}, text.slice(from, till)));
      at = till;
    }
    return [...parts, text.slice(at)];
  }

  // The part of a text that has most of what was found in it.
  function excerpt(text, words) {
    const places = placesOf(text, words).map(([from]) => from);
    const near = places.map((at) => places.filter((it) => it >= at && it < at + 140).length);
    const best = places[near.indexOf(Math.max(...near))] ?? 0;
    const start = best < 30 ? 0 : text.lastIndexOf(" ", best - 15) + 1;
    const cut = text.slice(start, start + LENGTH);
    const isWhole = start + LENGTH >= text.length;
    return (start > 0 ? "… " : "") + (isWhole ? cut : cut.replace(/\s\S*$/, " …"));
  }

  function option({ id, terms }, k) {
    const { make } = book;
    const { kind, name, also, says, address, above } = records[id];
    const called = namesOf(also).filter((other) => placesOf(other, terms).length);
    const where = make("span", { class: "above" }, (kind === "term" ? "term · " : "") + above);
    if (called.length) where.append(" · also: ", ...marked(called.join(", "), terms));
    const title = make(kind === "code" ? "code" : "strong", {}, ...marked(name, terms));
    const link = make(
      "a",
      { href: address, tabindex: "-1" },
      make("span", { class: "name" }, title, " ", where),
      make("span", { class: "excerpt" }, ...marked(excerpt(says, terms), terms)),
    );
    return make("li", { role: "option", id: `found-${k}`, "aria-selected": "false" }, link);
  }

  /* ---- The dialog */

  let dialog, field, list, says, chosen;

  function build() {
    field = book.make("input", {
      type: "text",
      enterkeyhint: "go",
      role: "combobox",
      "aria-label": "Search the book",
      "aria-expanded": "false",
      "aria-controls": "found",
      "aria-autocomplete": "list",
      autocomplete: "off",
      autofocus: "",
      spellcheck: "false",
      placeholder: "A word, a function, a symbol",
    });
    list = book.make("ul", { id: "found", role: "listbox", "aria-label": "Found" });
    says = book.make("p", { class: "says", role: "status" });
    const close = book.make("button", { class: "close", "aria-label": "Close" });
    const form = book.make("form", { method: "dialog" }, field, close);
    dialog = book.make("dialog", { class: "search", "aria-label": "Search" }, form, says, list);
    document.body.append(dialog);
    dialog.addEventListener("click", (event) => {
      if (event.target === dialog) dialog.close(); // beside it
    });
    field.addEventListener("input", update);
    field.addEventListener("keydown", press);
    form.addEventListener("submit", (event) => {
      if (event.submitter !== close || document.activeElement === field) event.preventDefault();
    });
    list.addEventListener("click", (event) => {
      if (event.target.closest("a")) dialog.close();
    });
    close.addEventListener("click", () => dialog.close());
  }

  function update() {
    if (!index) return; // What is typed while the index loads is looked for then.
    const { words, found } = find(field.value);
    list.replaceChildren(...found.slice(0, MOST).map(option));
    list.scrollTop = 0;
    field.setAttribute("aria-expanded", String(found.length > 0));
    const places = `${found.length} ${found.length === 1 ? "place" : "places"}`;
    const most = found.length > MOST ? `, of which the first ${MOST} are shown` : "";
    if (!words.length) says.textContent = "↑ ↓ choose, Enter opens. What stands first fits best.";
    else if (!found.length) says.textContent = "Nothing in the book has these words.";
    else says.textContent = places + most;
    choose(0);
  }

  function choose(k) {
    list.children[chosen]?.setAttribute("aria-selected", "false");
    const now = list.children[k];
    chosen = k;
    if (!now) return field.removeAttribute("aria-activedescendant");
    now.setAttribute("aria-selected", "true");
    now.scrollIntoView({ block: "nearest" });
    field.setAttribute("aria-activedescendant", now.id);
  }

  function press(event) {
    if (event.isComposing) return; // the keys are the input method's, which may end a word so
    const count = list.children.length;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && count) {
      event.preventDefault();
      choose((chosen + step + count) % count);
    } else if (event.key === "Enter") {
      event.preventDefault();
      list.children[chosen]?.querySelector("a").click();
    }
  }

  book.search = async () => {
    if (!dialog) build();
    if (!dialog.open) dialog.showModal();
    field.select();
    if (index) return update();
    says.textContent = "Loading …";
    try {
      const packed = await book.unpack("search-index");
      await book.load("minisearch.js");
      records = JSON.parse(new TextDecoder().decode(packed)).map(recordOf);
      index = indexOf(records);
      update();
    } catch (error) {
      says.textContent = `The search does not work: ${error.message}.`;
    }
  };

  for (const button of document.querySelectorAll("button.find")) {
    button.addEventListener("click", book.search);
  }
})();
