"use strict";

// The cover's map: other words make another one, by the book's own functions.

(() => {
  const form = document.querySelector("form.live");
  if (!form || !book.ready) return;
  const PROGRAM = "workbench";
  const [picture, says, link] = [".picture", ".says", "a"].map((it) => form.querySelector(it));

  async function draw() {
    const settings = { stage: form.dataset.stage, words: form.elements.words.value };
    const args = Object.entries(settings).map((pair) => pair.join("="));
    await book.ready(PROGRAM);
    const { status, err, figures } = book.runHere(PROGRAM, { args, figures: true });
    says.textContent = status ? book.reasonOf(err) : "";
    if (status) return;
    const [svg] = Object.values(figures);
    picture.replaceChildren(new DOMParser().parseFromString(svg, "image/svg+xml").documentElement);
    link.href = `workbench.html#${new URLSearchParams(settings)}`;
  }

  const tell = ({ message }) => {
    says.textContent = `The map cannot be drawn: ${message}.`;
  };
  form.addEventListener("input", () => draw().catch(tell));
  form.addEventListener("submit", (event) => event.preventDefault());
})();
