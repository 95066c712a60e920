"""Every parameter of an ensemble is explained where `help` shows it."""

import inspect
from typing import Any

import pytest

import coterie
from coterie import GradientBoostingClassifier, RandomForestClassifier

PUBLIC = [getattr(coterie, name) for name in coterie.__all__ if not name.startswith("DecisionTree")]
ENSEMBLES = [each for each in PUBLIC if isinstance(each, type)]


@pytest.mark.parametrize("estimator", ENSEMBLES)
def test_every_parameter_has_its_words_and_no_word_its_parameter_lost(estimator: Any) -> None:
    text = estimator.__doc__.split("Attributes\n")[0].split("----------\n", 1)[1]
    heads = [
        line.strip().split(" : ")[0] for line in text.splitlines() if line[4:5].strip() and " : " in line
    ]
    documented = {name for head in heads for name in head.split(", ")}

    assert documented == set(inspect.signature(estimator).parameters)


@pytest.mark.parametrize(
    ("estimator", "opening"),
    [
        (GradientBoostingClassifier, "Gradient boosting for classes."),
        (RandomForestClassifier, "A random forest for classes."),
    ],
)
def test_the_docstring_keeps_its_opening_and_its_examples(estimator: Any, opening: str) -> None:
    text = estimator.__doc__ or ""

    assert text.startswith(opening)
    assert "<" not in text.split("Examples\n")[0]
    assert text.count("Examples\n    --------") == 1
    assert "oob_decision_function_ : array" in text
    assert "{" not in text.replace('{"', "")
