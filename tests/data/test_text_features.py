"""Texts as numbers: of very many texts a sample is learned from."""

import math

import numpy as np
import pytest

from coterie.data import text_features
from coterie.data.text_features import TextReduction


def n_learned_of(n_texts: int) -> float:
    """Each text holds one of two words, so that the weights of the two words show how many texts were counted."""
    texts = np.array(["apple", "cherry"] * (n_texts // 2) + ["apple"] * (n_texts % 2), dtype=object)
    reduction = TextReduction.learned(texts, 2, seed=0)
    assert reduction.words.tolist() == ["apple", "cherry"]
    shares = sum(math.exp(1 - weight) for weight in reduction.idf[:2])  # (1 + a + 1 + b) / (1 + a + b)
    return 1 / (shares - 1) - 1


@pytest.mark.parametrize(("n_texts", "n_learned"), [(19, 19), (20, 20), (21, 20), (400, 20)])
def test_of_very_many_texts_a_sample_is_learned_from(
    monkeypatch: pytest.MonkeyPatch, n_texts: int, n_learned: int
) -> None:
    monkeypatch.setattr(text_features, "_MOST_TEXTS", 20)
    assert n_learned_of(n_texts) == pytest.approx(n_learned)


def test_twenty_thousand_texts_are_learned_from_at_most() -> None:
    assert n_learned_of(20_100) == pytest.approx(20_000, abs=0.1)
