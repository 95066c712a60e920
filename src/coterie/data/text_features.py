"""Texts as a few numbers: words and parts of words, weighed by how rare they are, and reduced by an SVD.

A text is the counts of its words, of pairs of words, and of its runs of three and four letters; counts are damped by
logarithms, weighed by the inverse document frequency and scaled to length one (TF-IDF). A truncated singular value
decomposition of the texts that fit saw keeps what varies most in them (latent semantic analysis; Deerwester et al.,
1990).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import CountVectorizer

from coterie._storage import expect, storable
from coterie._typing import AnyArray, FloatArray
from coterie._value_types import COUNT, FLOAT_VECTOR, LABELS, array
from coterie.data.inference.levels import TextLevels

_MOST_TERMS = 3_000  # of each of the two analyzers
_MOST_TEXTS = 20_000  # that the decomposition is learned from
_ANALYZERS: tuple[dict[str, Any], ...] = (
    {"analyzer": "word", "ngram_range": (1, 2), "token_pattern": r"(?u)\b\w+\b"},
    {"analyzer": "char_wb", "ngram_range": (3, 4)},
)


def _verify_text(own: Any) -> None:
    n_terms = len(own.words) + len(own.letters)
    expect(len(own.idf) == n_terms, "has weights of other terms than its own")
    expect(own.components.shape[1:] == (n_terms,), "has components of other terms than its own")


@storable(
    "TextReduction",
    {
        "words": LABELS,
        "letters": LABELS,
        "idf": FLOAT_VECTOR,
        "components": array("f", 2),
        "n_outputs": COUNT,
    },
    verify=_verify_text,
)
@dataclass(frozen=True)
class TextReduction:
    """How the texts of a column become numbers.

    Attributes
    ----------
    words, letters : the terms that are counted
    idf : the weight of each term
    components : float32 array of shape (n_components, n_terms)
    n_outputs : columns of the result; those after the components are zero
    """

    words: AnyArray
    letters: AnyArray
    idf: FloatArray
    components: AnyArray
    n_outputs: int

    @classmethod
    def learned(cls, texts: AnyArray, n_components: int, seed: int) -> "TextReduction":
        """Learn from texts; None among them is missing."""
        known = [str(text) for text in TextLevels.of(texts).labels() if text is not None]
        rng = np.random.default_rng(seed)
        if len(known) > _MOST_TEXTS:
            known = [known[place] for place in np.sort(rng.permutation(len(known))[:_MOST_TEXTS])]
        words, letters = (_terms(known, settings) for settings in _ANALYZERS)
        empty = cls(words, letters, np.ones(len(words) + len(letters)), np.zeros((0, 0)), n_components)
        counts = empty._counts(known)
        idf = np.log((1 + len(known)) / (1 + counts.getnnz(axis=0))) + 1.0
        n_kept = min(n_components, counts.shape[1] - 1, len(known) - 1)
        if n_kept < 1:
            none = np.zeros((0, counts.shape[1]), dtype=np.float32)
            return cls(words, letters, idf, none, n_components)
        svd = TruncatedSVD(n_kept, random_state=seed % 2**32).fit(_weighed(counts, idf))
        return cls(words, letters, idf, svd.components_.astype(np.float32), n_components)

    def values(self, texts: AnyArray) -> FloatArray:
        """Numbers of shape (n_rows, n_outputs + 2): components, letters and words; NaN where a text is missing."""
        labels = TextLevels.of(texts).labels()
        missing = np.array([text is None for text in labels], dtype=bool)
        held = ["" if text is None else str(text) for text in labels]
        found = np.zeros((len(held), self.n_outputs + 2))
        weighed = _weighed(self._counts(held), self.idf)
        found[:, : len(self.components)] = weighed @ self.components.astype(np.float64).T
        found[:, -2] = [len(text) for text in held]
        found[:, -1] = [len(text.split()) for text in held]
        found[missing] = np.nan
        return found

    def _counts(self, texts: list[str]) -> Any:
        parts = [
            _counter(settings, vocabulary=terms.tolist()).transform(texts)
            for settings, terms in zip(_ANALYZERS, (self.words, self.letters), strict=True)
            if len(terms)
        ]
        return sparse.csr_matrix(sparse.hstack(parts) if parts else sparse.csr_matrix((len(texts), 0)))


def _counter(settings: dict[str, Any], **others: Any) -> CountVectorizer:
    return CountVectorizer(**settings, **others, lowercase=True, dtype=np.float64)


def _terms(texts: list[str], settings: dict[str, Any]) -> AnyArray:
    """The terms that are in at least two texts; of very many those in most."""
    try:
        counter = _counter(settings, min_df=2, max_features=_MOST_TERMS).fit(texts)
    except ValueError:  # there is none
        return np.zeros(0, dtype=object)
    return np.array(sorted(counter.vocabulary_), dtype=object)


def _weighed(counts: Any, idf: FloatArray) -> Any:
    """Damped counts times the weights of terms, as rows of length one."""
    weighed = counts.copy()
    weighed.data = np.log(weighed.data) + 1.0
    weighed = weighed @ sparse.diags(idf)
    lengths = np.sqrt(np.asarray(weighed.multiply(weighed).sum(axis=1)).ravel())
    return sparse.diags(1.0 / np.where(lengths > 0, lengths, 1.0)) @ weighed
