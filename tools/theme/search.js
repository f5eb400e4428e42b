// Search: what tools/weave/weave has packed into search-index.js, looked through as one types. Names of
// functions and terms come first, then headings, then prose.

"use strict";

globalThis.book ??= {};

(() => {
  const MOST = 30;

  // Words of a question that say nothing of what it is about.
  const EMPTY = new Set(
    "a an and are at be by can do does for how in is it of on or the to what when where why with".split(
      " ",
    ),
  );

  // Letters as they are compared: small, without dots and accents. No letter becomes two, so
  // that a place in the one text is the same place in the other.
  const fold = (text) =>
    text.normalize("NFC").toLowerCase().normalize("NFD").replace(/\p{M}/gu, "");

  const quoted = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

  // What is looked for: a word's beginning, in one number or the other; Chinese anywhere.
  function pattern(word) {
    if (/\p{Script=Han}/u.test(word)) return new RegExp(quoted(word), "gu");
    const stem = word.length > 3 ? word.replace(/(?:ies|y|s)$/, "") : word;
    const begins = /^[\p{L}\p{N}]/u.test(word) ? "(?<![\\p{L}\\p{N}])" : "";
    return new RegExp(`${begins}${quoted(stem)}(?:ies|y|e?s)?`, "gu");
  }

  /* ---- What can be found: {name, says, address, above, folded, kind} */

  let records;

  function gather({ pages, sections, terms, symbols }) {
    const record = (kind, name, says, address, above) => ({
      kind,
      name,
      says,
      address,
      above,
      foldedName: fold(name),
      folded: fold(says),
      // A term goes by other names, too, in two more languages.
      others: kind === "term" ? fold(`${name},${says}`).split(/[,;]\s*/) : [],
    });
    const title = ([, number, words]) => (number ? `${number} · ${words}` : words);
    records = [
      ...symbols.map(([name, address, says, where]) => record("code", name, says, address, where)),
      ...terms.map(([name, address, says]) =>
        record("term", name, says, address, titleOf(address)),
      ),
      ...sections.map(([page, id, name, text]) => {
        const own = pages[page][0];
        return id === own
          ? record("page", name, text, `${own}.html`, pages[page][1])
          : record("section", name, text, `${own}.html#${id}`, title(pages[page]));
      }),
    ];
    function titleOf(address) {
      const page = pages.find(([id]) => address.startsWith(`${id}.html`));
      return page ? title(page) : "";
    }
  }

  /* ---- How well a record answers: 0 is not at all */

  const wordsOf = (text) => text.split(/[^\p{L}\p{N}]+/u).filter(Boolean);

  const KIND = { code: 8, term: 7, page: 4, section: 3 };

  function score({ kind, foldedName, folded, others }, query, words) {
    const inName = words.filter((word) => foldedName.match(word.pattern));
    let sum = KIND[kind];
    for (const word of words) {
      const times = folded.match(word.pattern)?.length ?? 0;
      if (!times && !inName.includes(word)) return 0;
      sum += Math.min(times, 4);
    }
    sum += inName.length * (inName.length === words.length ? 25 : 5);
    if (foldedName === query || others.includes(query)) sum += 200;
    else if (inName.length === words.length && wordsOf(foldedName).length === words.length)
      sum += 100;
    else if (foldedName.startsWith(query)) sum += 20;
    if (words.length > 1) sum += closeness(folded, words) + (folded.includes(query) ? 25 : 0);
    return sum;
  }

  // Words that stand together mean more than words of one page.
  function closeness(text, words) {
    const { size } = stretch(text, words);
    return size < 40 ? 25 : size < 100 ? 12 : size < 250 ? 5 : 0;
  }

  // The shortest stretch with a match of each word (of those that occur at all).
  function stretch(text, words) {
    const places = words
      .flatMap((word, k) => [...text.matchAll(word.pattern)].map((m) => ({ k, at: m.index })))
      .sort((a, b) => a.at - b.at);
    const wanted = new Set(places.map((p) => p.k)).size;
    let best = { at: places[0]?.at ?? 0, size: Infinity };
    const last = new Map();
    for (const { k, at } of places) {
      last.delete(k);
      last.set(k, at);
      const first = last.values().next().value;
      if (last.size === wanted && at - first < best.size) best = { at: first, size: at - first };
    }
    return best;
  }

  function find(text) {
    const query = fold(text).trim().replace(/\s+/g, " ");
    const all = query.split(/[\s,;:()?]+/).filter((word) => /[\p{L}\p{N}\p{S}]/u.test(word));
    const full = all.filter((word) => !EMPTY.has(word));
    const words = (full.length ? full : all).map((word) => ({
      text: word,
      pattern: pattern(word),
    }));
    if (!words.length) return { words, found: [] };
    const found = records
      .map((record) => ({ record, points: score(record, query, words) }))
      .filter(({ points }) => points > 0)
      .sort((a, b) => b.points - a.points)
      .map(({ record }) => record);
    return { words, found };
  }

  /* ---- How it is shown */

  // A text with what was found in it marked.
  function marked(text, words) {
    const folded = fold(text);
    const spans = words
      .flatMap((word) => [...folded.matchAll(word.pattern)])
      .map((match) => [match.index, match.index + match[0].length])
      .sort((a, b) => a[0] - b[0]);
    const parts = [];
    let at = 0;
    for (const [from, till] of spans) {
      if (from < at) continue;
      parts.push(text.slice(at, from), book.make("mark", {}, text.slice(from, till)));
      at = till;
    }
    return [...parts, text.slice(at)];
  }

  function excerpt({ says, folded }, words) {
    const { at } = stretch(folded, words);
    let from = Math.max(0, at - 30);
    const space = says.slice(from, at).indexOf(" ");
    if (from > 0 && space >= 0) from += space + 1;
    const cut = says.slice(from, from + 170);
    const whole = from + 170 >= says.length;
    return (from > 0 ? "… " : "") + (whole ? cut : cut.replace(/\s\S*$/, " …"));
  }

  function option(record, k, words) {
    const name = book.make(
      record.kind === "code" ? "code" : "strong",
      {},
      ...marked(record.name, words),
    );
    const what = { term: "term · ", code: "" }[record.kind] ?? "";
    return book.make(
      "li",
      { role: "option", id: `found-${k}`, "aria-selected": "false" },
      book.make(
        "a",
        { href: book.at(record.address), tabindex: "-1" },
        book.make(
          "span",
          { class: "name" },
          name,
          " ",
          book.make("span", { class: "above" }, what + record.above),
        ),
        book.make("span", { class: "excerpt" }, ...marked(excerpt(record, words), words)),
      ),
    );
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
    dialog = book.dialog({ class: "search", "aria-label": "Search" }, form, says, list);
    field.addEventListener("input", update);
    field.addEventListener("keydown", press);
    form.addEventListener("submit", (event) => {
      if (event.submitter !== close || document.activeElement === field) event.preventDefault();
    });
    list.addEventListener("click", (event) => {
      if (!event.target.closest("a")) return;
      dialog.close();
      book.remember(
        "sought",
        find(field.value)
          .words.map((word) => word.text)
          .join(" "),
      );
    });
    close.addEventListener("click", () => dialog.close());
  }

  function update() {
    if (!records) return; // What is typed while the index loads is looked for then.
    const { words, found } = find(field.value);
    list.replaceChildren(...found.slice(0, MOST).map((record, k) => option(record, k, words)));
    list.scrollTop = 0;
    field.setAttribute("aria-expanded", String(found.length > 0));
    says.textContent = !words.length
      ? "↑ ↓ choose, Enter opens. What stands first fits best."
      : found.length === 0
        ? "Nothing in the book has all of these words."
        : `${found.length} ${found.length === 1 ? "place" : "places"}${found.length > MOST ? `, of which the first ${MOST} are shown` : ""}`;
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
    if (records) return update();
    says.textContent = "Loading …";
    try {
      const index = await book.unpack("search-index");
      gather(JSON.parse(new TextDecoder().decode(index)));
      update();
    } catch (error) {
      says.textContent = `The search does not work: ${error.message}.`;
    }
  };

  for (const button of document.querySelectorAll("button.find")) {
    button.addEventListener("click", book.search);
  }
})();
