// What each change has to pass, in less than a minute: the tests with these titles. They
// see every page in one form, and let axe look at one page of each kind.

export const isGate = process.argv[2] === "gate";

export const forms = ["light"];

export const kinds = [
  ...["index", "preface", "softmax", "errata", "sheet", "workbench"],
  ...["glossary", "book-index", "reference", "sources", "learn", "teach"],
];

export const titles = [
  "links: each leads to something that is there",
  "axe: nothing that keeps a reader out, light, dark and on a phone",
  "quiet: no error, and no request that leaves the book, with scripts and without",
  "width: no page is wider than the window",
  "dot-product: Run prints and draws what the page shows",
  "search finds a function and leads there: mask_scores",
  "another sentence: the words, the tables and the map are its own",
  "a weight, from share to embedding",
];
