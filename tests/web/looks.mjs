// What a reader sees: no text lies on another, in the page or in a figure, and no letters of a
// figure are too small, on a phone and on wide screens, where the column has no holes beside
// what stands next to it.

// The widths in which that is looked at, by the form in which a page is read.
export const lookedAt = { light: [1280, 1536, 1920], phone: [390], plain: [] };

const brief = (it) => `"${it.textContent.trim().replace(/\s+/g, " ").slice(0, 40)}"`;

// Pairs of things that share more than a pixel of width and `down` of the one's height.
function overlapping(all, down) {
  const boxes = all.map((it) => [it, it.getBoundingClientRect()]);
  boxes.sort((a, b) => a[1].top - b[1].top);
  const faults = [];
  for (const [i, [it, box]] of boxes.entries()) {
    for (let k = i + 1; k < boxes.length && boxes[k][1].top < box.bottom; k++) {
      const [other, { left, right, top, bottom }] = boxes[k];
      const wide = Math.min(box.right, right) - Math.max(box.left, left);
      const high = Math.min(box.bottom, bottom) - Math.max(box.top, top);
      if (wide > 1 && high > down(box) && !it.contains(other))
        faults.push(`${brief(it)} lies on ${brief(other)}`);
    }
  }
  return faults;
}

function overlappingBlocks() {
  const blocks = "p, pre, h1, h2, h3, li, summary, figcaption, table, .picture, .formula, .run";
  const seen = [...document.querySelectorAll(`main :is(${blocks})`)].filter(
    (it) => it.checkVisibility() && it.getClientRects().length && !it.closest(".spoken"),
  );
  const own = seen.filter((it) => !it.closest("table *, svg *"));
  return overlapping(own, () => 1);
}

function holes() {
  const faults = [];
  let end = Number.POSITIVE_INFINITY;
  for (const it of document.querySelectorAll("main > *")) {
    const box = it.getBoundingClientRect();
    if (!box.height || getComputedStyle(it).float !== "none") continue;
    if (box.top - end > 120)
      faults.push(`${Math.round(box.top - end)} px empty above ${brief(it)}`);
    end = box.bottom;
  }
  return faults;
}

function faultsOfFigure(svg) {
  const texts = [...svg.querySelectorAll("text")];
  const { left, right } = svg.getBoundingClientRect();
  const faults = overlapping(texts, (box) => box.height * 0.3); // higher than its letters
  for (const text of texts) {
    const { c, d } = text.getScreenCTM();
    const size = Number.parseFloat(getComputedStyle(text).fontSize) * Math.hypot(c, d);
    if (size < 9) faults.push(`${brief(text)} is ${size.toFixed(1)} px high`);
    const box = text.getBoundingClientRect();
    const isCut = box.left < left - 1 || box.right > right + 1;
    if (isCut && text.textContent !== "›") faults.push(`${brief(text)} is cut off`);
  }
  return faults.map((fault) => `figure ${svg.closest("figure")?.id}: ${fault}`);
}

function faultsOfLooks() {
  const figures = [...document.querySelectorAll("main svg.figure")];
  const faults = [...overlappingBlocks(), ...holes(), ...figures.flatMap(faultsOfFigure)];
  return faults.map((fault) => `at ${innerWidth} px: ${fault}`);
}

// Runs in a page: what is wrong with how it looks, a line each.
const parts = [overlapping, overlappingBlocks, holes, faultsOfFigure, faultsOfLooks];
export const look = `const brief = ${brief}; ${parts.join("\n")}; faultsOfLooks()`;
