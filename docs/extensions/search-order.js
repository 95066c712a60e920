// Which pages a search shows first, in place of the scores of Sphinx: pages that answer questions come before pages of
// single names, notes for developers come last, and a page whose title has all the words comes before its like.

var Scorer = {
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,

  folders: {
    "how-to/": 8,
    "tutorials/": 5,
    "guide/": 4,
    "gallery/": 1,
    "develop/": -4,
    "decisions/": -8,
    notices: -8,
  },
  inTitle: 6,

  score: ([page, title, , , score]) => {
    const folder = Object.keys(Scorer.folders).find((start) => page.startsWith(start));
    const words = (document.querySelector('input[name="q"]')?.value ?? "").toLowerCase().match(/\w+/g) ?? [];
    // Without its last letter a word is found in another form: "save" in "saving", "interval" in "intervals".
    const found = words.every((word) => title.toLowerCase().includes(word.length > 3 ? word.slice(0, -1) : word));
    return score + (folder === undefined ? 0 : Scorer.folders[folder]) + (words.length && found ? Scorer.inTitle : 0);
  },
};

// A browser may not read other files for the lines of text below each result, if the pages themselves are files.
if (window.location.protocol === "file:") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
