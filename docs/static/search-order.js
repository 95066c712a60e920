// Which pages a search shows first. It takes the place of the scores of Sphinx: pages that answer questions come before
// pages of single names, and notes for developers come last.

const ORDER = {
  "how-to/": 8,
  "tutorials/": 5,
  "guide/": 4,
  "gallery/": 1,
  "develop/": -4,
  "decisions/": -8,
  notices: -8,
};

var Scorer = {
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,

  score: ([page, , , , score]) => {
    const folder = Object.keys(ORDER).find((start) => page.startsWith(start));
    return score + (folder === undefined ? 0 : ORDER[folder]);
  },
};
