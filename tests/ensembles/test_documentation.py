"""Every parameter of gradient boosting is explained where `help` shows it."""

from typing import Any

import pytest

from coterie import GradientBoostingClassifier, GradientBoostingRegressor


@pytest.mark.parametrize("estimator", [GradientBoostingClassifier, GradientBoostingRegressor])
def test_every_parameter_has_its_words_and_no_word_its_parameter_lost(estimator: Any) -> None:
    text = estimator.__doc__.split("Attributes\n")[0].split("----------\n", 1)[1]
    heads = [
        line.strip().split(" : ")[0] for line in text.splitlines() if line[4:5].strip() and " : " in line
    ]
    documented = {name for head in heads for name in head.split(", ")}

    assert documented == set(estimator().get_params())


def test_the_docstring_keeps_its_opening_and_its_examples() -> None:
    text = GradientBoostingClassifier.__doc__ or ""

    assert text.startswith("Gradient boosting for classes.")
    assert text.count("Examples\n    --------") == 1
    assert "oob_decision_function_ : array" in text
    assert "{" not in text.replace('{"', "")
