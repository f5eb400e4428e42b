// The browser tests of the gate, by their titles. The gate opens every page in the light
// form alone, and runs axe, which looks for what keeps a reader out, on one page of each
// kind. To add a test, write its title here.

export const isGate = process.argv[2] === "gate";

export const forms = ["light"];

export const kinds = [
  ...["index", "preface", "softmax", "errata", "sheet", "workbench"],
  ...["glossary", "book-index", "reference", "sources", "learn", "teach"],
];

export const titles = [
  "links: each leads to something that is there",
  "axe: nothing keeps a reader out",
  "quiet: no error, and no request that leaves the book",
  "width: no page is wider than the window",
  "buttons: all that can be run has one, and without scripts there is none",
  "dot-product: Run prints and draws what the page shows",
  "what readers type, and what is found among the first three",
  "another sentence: all is its own",
  "a weight, from share to embedding",
  "a model that has learned: loaded when it is chosen",
];
