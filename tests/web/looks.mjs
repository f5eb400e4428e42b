// What a reader sees: no text lies on another, in the page or in a figure, and no
// letters of a figure are too small, on a phone and on wide screens, where the column
// has no holes beside what stands next to it.

// The widths in which that is looked at, by the form in which a page is read.
export const lookedAt = { light: [1280, 1536, 1920], phone: [390], plain: [] };

// Runs in the page: what is wrong with how it looks, a line each.
export function faultsOfLooks() {
  const [smallest, hole] = [9, 120];
  const brief = (it) => `"${it.textContent.trim().replace(/\s+/g, " ").slice(0, 40)}"`;
  const cross = (a, b) => [
    Math.min(a.right, b.right) - Math.max(a.left, b.left),
    Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top),
  ];
  // Pairs of things that share more than so much of each other's width and height.
  function overlapping(all, across, down) {
    const boxes = all.map((it) => [it, it.getBoundingClientRect()]);
    boxes.sort((a, b) => a[1].top - b[1].top);
    const faults = [];
    for (const [i, [it, box]] of boxes.entries()) {
      for (let k = i + 1; k < boxes.length && boxes[k][1].top < box.bottom; k++) {
        const [wide, high] = cross(box, boxes[k][1]);
        if (wide > across && high > down(box) && !it.contains(boxes[k][0]))
          faults.push(`${brief(it)} lies on ${brief(boxes[k][0])}`);
      }
    }
    return faults;
  }
  const blocks = "p, pre, h1, h2, h3, li, summary, figcaption, table, .picture, .formula, .run";
  const seen = [...document.querySelectorAll(`main :is(${blocks})`)].filter(
    (it) => it.checkVisibility() && it.getClientRects().length && it.closest(".spoken") === null,
  );
  const faults = overlapping(
    seen.filter((it) => !it.closest("table *, svg *")),
    1,
    () => 1,
  );
  let end = Number.POSITIVE_INFINITY;
  for (const it of document.querySelectorAll("main > *")) {
    const box = it.getBoundingClientRect();
    if (!box.height || getComputedStyle(it).float !== "none") continue;
    if (box.top - end > hole)
      faults.push(`${Math.round(box.top - end)} px empty above ${brief(it)}`);
    end = box.bottom;
  }
  for (const svg of document.querySelectorAll("main svg.figure")) {
    const texts = [...svg.querySelectorAll("text")];
    const at = `figure ${svg.closest("figure")?.id}`;
    // A letter's box is higher than the letter.
    const over = overlapping(texts, 1, (box) => box.height * 0.3);
    faults.push(...over.map((fault) => `${at}: ${fault}`));
    const { left, right } = svg.getBoundingClientRect();
    for (const text of texts) {
      const { c, d } = text.getScreenCTM();
      const size = Number.parseFloat(getComputedStyle(text).fontSize) * Math.hypot(c, d);
      if (size < smallest) faults.push(`${at}: ${brief(text)} is ${size.toFixed(1)} px high`);
      const box = text.getBoundingClientRect();
      const isCut = box.left < left - 1 || box.right > right + 1;
      if (isCut && text.textContent !== "›") faults.push(`${at}: ${brief(text)} is cut off`);
    }
  }
  return faults.map((fault) => `at ${innerWidth} px: ${fault}`);
}
