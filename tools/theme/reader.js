// What a reader's hands ask for: colours, keys, turned pages, copied code, contents that follow
// the scroll, and a card beside a name of the book's C. Every page reads as well without.

"use strict";

globalThis.book ??= {};

(() => {
  const root = document.documentElement;

  /* ---- What other scripts use, too */

  // An element with its attributes, those that have a value, and what stands in it.
  book.make = (name, attributes = {}, ...inside) => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes))
      if (value !== undefined) element.setAttribute(key, value);
    element.append(...inside);
    return element;
  };

  // Loads a script of the book's folder once.
  const scripts = {};
  book.load = (src) => {
    scripts[src] ??= new Promise((resolve, reject) => {
      const script = book.make("script", { src });
      script.onload = resolve;
      script.onerror = () => {
        delete scripts[src]; // the next time it may be there
        reject(new Error(`${src} cannot be loaded`));
      };
      document.head.append(script);
    });
    return scripts[src];
  };

  // The bytes that tools/Pack.pm has packed into the script NAME.js.
  book.unpack = async (name) => {
    const file = `${name}.js`;
    await book.load(file);
    if (!globalThis.DecompressionStream)
      throw new Error(`this browser cannot unpack ${file}; those of 2023 and later can`);
    try {
      const text = atob(book.packed[name]);
      const packed = new Uint8Array(text.length); // Uint8Array.from would take 20 ms
      for (let i = 0; i < text.length; i++) packed[i] = text.charCodeAt(i);
      const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
      return await new Response(stream).arrayBuffer();
    } catch {
      throw new Error(`${file} is damaged`);
    }
  };

  /* ---- Colours: as the system has them, then the other ones, then these by choice */

  const SAYS = { light: "light", dark: "dark", system: "as the system" };

  function showTheme() {
    const now = root.dataset.theme ?? "system";
    for (const button of document.querySelectorAll("button.theme")) {
      button.title = `Colours: ${SAYS[now]}`;
      button.setAttribute("aria-label", button.title);
    }
  }

  function nextTheme() {
    const usual = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
    const other = usual === "dark" ? "light" : "dark";
    const next = { system: other, [other]: usual, [usual]: "" }[root.dataset.theme ?? "system"];
    if (next) root.dataset.theme = next;
    else delete root.dataset.theme;
    showTheme();
    try {
      localStorage.setItem("theme", next);
    } catch {} // the browser may forbid a page from the disk to remember anything
  }

  /* ---- Copying */

  // Some addresses may not use the clipboard.
  book.copy = async (text, button, usual) => {
    const says = await navigator.clipboard?.writeText(text).then(
      () => "Copied",
      () => undefined,
    );
    button.textContent = status.textContent = says ?? "Not allowed";
    setTimeout(() => button.replaceChildren(usual), 1500);
  };

  function copyButton(code, what) {
    const button = book.make(
      "button",
      { type: "button", class: "copy", "aria-label": what },
      "Copy",
    );
    button.addEventListener("click", () =>
      book.copy(code.textContent.replace(/\n$/, ""), button, "Copy"),
    );
    return button;
  }

  // Says to those who do not see it what has happened.
  const status = book.make("p", { class: "spoken", role: "status" });

  function addCopyButtons() {
    document.body.append(status);
    for (const listing of document.querySelectorAll("main .listing")) {
      const code = listing.querySelector("pre > code");
      if (code) listing.append(copyButton(code, "Copy this code"));
    }
    for (const code of document.querySelectorAll(".output > .label > code")) {
      code.after(" ", copyButton(code, "Copy this command"));
    }
  }

  /* ---- Contents: a panel on small screens; the section in view is marked */

  function prepareContents() {
    const panel = document.querySelector(".top details");
    if (!panel) return;
    const close = (event) => {
      if (event.type === "keydown" && event.key !== "Escape") return;
      if (event.type === "click" && panel.contains(event.target) && !event.target.closest("a"))
        return;
      if (panel.open && event.type === "keydown") panel.querySelector("summary").focus();
      panel.open = false;
    };
    document.addEventListener("click", close);
    document.addEventListener("keydown", close);
    panel.addEventListener("toggle", () => show(panel, panel.querySelector("nav")));
    const sidebar = document.querySelector(".sidebar");
    followScroll(() => show(sidebar, sidebar));
  }

  // Scrolls a box, and it alone, so far that the line of the page or its section is seen.
  function show(within, box) {
    const line = [...within.querySelectorAll("[aria-current]")].at(-1);
    if (!line) return;
    const [place, room] = [line.getBoundingClientRect(), box.getBoundingClientRect()];
    if (place.top < room.top || place.bottom > room.bottom) {
      box.scrollTop += place.top - room.top - room.height / 3;
    }
  }

  // Calls back whenever another section comes into view, and at first.
  function followScroll(moved) {
    const headings = [...document.querySelectorAll("main :is(h1, h2)[id]")];
    const links = [...document.querySelectorAll(":is(.top, .sidebar) li li > a")];
    let marked;
    const mark = () => {
      // What is read stands in the upper third, and below that where the page ends.
      const left = root.scrollHeight - innerHeight - scrollY;
      const line = Math.max(innerHeight / 3, innerHeight - left);
      const passed = headings.filter((h) => h.getBoundingClientRect().top < line);
      const id = passed.at(-1)?.id;
      if (id === marked) return;
      marked = id;
      for (const link of links) {
        if (link.hash === `#${id}`) link.setAttribute("aria-current", "location");
        else link.removeAttribute("aria-current");
      }
      moved();
    };
    addEventListener("scroll", mark, { passive: true });
    addEventListener("resize", mark);
    mark();
  }

  // A link into what is folded opens it.
  function unfoldTarget() {
    const target = document.getElementById(location.hash.slice(1));
    const folded = target?.closest("details:not([open])");
    if (!folded) return;
    for (let at = target; at; at = at.parentElement) if (at.matches("details")) at.open = true;
    target.scrollIntoView();
  }

  /* ---- The card beside a name: its declaration, and what the header says of it */

  let card, shown, timer;

  function hideCard() {
    clearTimeout(timer);
    card?.remove();
    shown?.removeAttribute("aria-describedby");
    card = shown = undefined;
  }

  // Below the name or, where there is no room, above it; never over the edge.
  function placeCard(link) {
    const [name, size] = [link.getClientRects()[0], card.getBoundingClientRect()];
    const below = name.bottom + 6;
    const fits = below + size.height < innerHeight || name.top < size.height + 6;
    const left = Math.min(name.left, root.clientWidth - size.width - 12);
    card.style.left = `${Math.max(12, left) + scrollX}px`;
    card.style.top = `${(fits ? below : name.top - size.height - 6) + scrollY}px`;
  }

  async function showCard(link) {
    await book.load("symbols.js");
    const symbol = book.symbols[link.textContent]; // none where a page has it for itself
    if (!symbol || !link.matches(":hover, :focus-visible")) return;
    hideCard();
    shown = link;
    const [code, says, where, uses] = symbol;
    card = book.make(
      "div",
      { id: "card", role: "tooltip" },
      book.make("pre", {}, book.make("code", {}, code)),
      ...(says ? [book.make("p", {}, says)] : []),
      book.make("p", { class: "where" }, where + (uses ? `; used in ${uses}` : "")),
    );
    card.addEventListener("pointerleave", hideCard);
    document.body.append(card);
    placeCard(link);
    link.setAttribute("aria-describedby", "card");
  }

  function prepareCards() {
    const on = (event, delay) => {
      const link = event.target.closest?.("a.symbol");
      if (!link || link === shown || event.pointerType === "touch") return;
      clearTimeout(timer);
      timer = setTimeout(() => showCard(link).catch(console.error), delay);
    };
    const off = (event) => {
      if (!event.target.closest?.("a.symbol")) return;
      clearTimeout(timer);
      // The pointer may go over to the card, and read it there.
      timer = setTimeout(() => card?.matches(":hover") || hideCard(), 200);
    };
    document.addEventListener("pointerover", (event) => on(event, 250));
    document.addEventListener("pointerout", off);
    document.addEventListener("focusin", (event) => {
      if (event.target.matches(":focus-visible")) on(event, 0);
    });
    document.addEventListener("focusout", off);
  }

  /* ---- Keys */

  const writes = (element) => element.closest("input, textarea, select, dialog, [contenteditable]");

  // In a workbench the arrows lead from number to number; a box that scrolls sideways they scroll.
  const needsArrows = (element) =>
    element.closest(".workbench, [role=slider]") ||
    (element !== document.body && element.scrollWidth > element.clientWidth + 1);

  function press(event) {
    if (event.key === "Escape") hideCard();
    if (event.key === "k" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault(); // some browsers search elsewhere by this key
      return book.search();
    }
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (writes(event.target) || document.querySelector("dialog[open]")) return;
    const turn = { ArrowLeft: "prev", ArrowRight: "next" }[event.key];
    if (!turn || event.shiftKey || needsArrows(event.target)) return;
    const link = document.querySelector(`link[rel="${turn}"]`);
    if (link) location.href = link.href;
  }

  /* ---- What scrolls is a stop for the Tab key, so that the arrow keys can move it, and
   * no other box is. */

  function skipWhatFits() {
    const boxes = document.querySelectorAll('main [role="group"][tabindex="0"]');
    const sizes = new ResizeObserver((changed) => {
      for (const { target: box } of changed) {
        box.tabIndex = box.scrollWidth > box.clientWidth ? 0 : -1;
      }
    });
    document.fonts.ready.then(() => {
      for (const box of boxes) sizes.observe(box);
    });
  }

  /* ---- All of it */

  for (const button of document.querySelectorAll("button.theme")) {
    button.addEventListener("click", nextTheme);
  }
  showTheme();
  addCopyButtons();
  prepareContents();
  prepareCards();
  skipWhatFits();
  document.addEventListener("keydown", press);
  addEventListener("hashchange", unfoldTarget);
  unfoldTarget();
})();
