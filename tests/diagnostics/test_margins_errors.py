"""What margins refuse, and what they expect instead."""

from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier, VotingClassifier
from sklearn.ensemble import ExtraTreesClassifier as TheirExtraTrees
from sklearn.ensemble import RandomForestClassifier as TheirForest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from coterie import GradientBoostingClassifier, RandomForestClassifier, RandomForestRegressor
from coterie.diagnostics import margins
from coterie.errors import CoterieError, InvalidInput, InvalidParameter
from coterie.losses import CustomLoss

X = np.arange(40.0).reshape(20, 2)
Y = np.repeat([0, 1], 10)
FOREST = RandomForestClassifier(4, random_state=0).fit(X, Y)
ADABOOST = AdaBoostClassifier(n_estimators=3, random_state=0).fit(X, np.arange(20) % 2)


@pytest.mark.parametrize(
    ("model", "parameter", "allowed"),
    [
        (GaussianNB().fit(X, Y), "model", "a fitted classifier: coterie's forests"),
        (RandomForestRegressor(2).fit(X, Y), "model", "a fitted classifier: coterie's forests"),
        (
            RandomForestClassifier(2).fit(X, np.stack([Y, Y], axis=1)),
            "model",
            "a model of one target",
        ),
        (RandomForestClassifier(2).fit(X, np.zeros(20)), "model", "a model of two classes at least"),
        (
            GradientBoostingClassifier(
                loss=CustomLoss(
                    value=lambda y, s: np.logaddexp(0, s) - y * s,
                    gradient=lambda y, s: 1 / (1 + np.exp(-s)) - y,
                    hessian=lambda _, s: np.exp(-s) / (1 + np.exp(-s)) ** 2,
                    inverse_link=lambda s: 1 / (1 + np.exp(-s)),
                ),
                n_estimators=2,
            ).fit(X, Y),
            "loss",
            "a loss without an inverse link of its own",
        ),
    ],
    ids=["no ensemble", "regressor", "two targets", "one class", "own link"],
)
def test_a_model_without_votes(model: Any, parameter: str, allowed: str) -> None:
    with pytest.raises(CoterieError) as caught:
        margins(model, X, Y)
    assert caught.value.parameter == parameter
    assert caught.value.allowed is not None
    assert caught.value.allowed.startswith(allowed)


def test_a_model_that_was_not_fitted() -> None:
    with pytest.raises(NotFittedError):
        margins(RandomForestClassifier(), X, Y)


@pytest.mark.parametrize("rounds", [0, 5, -1, [1, 9], [], "last", [1.5], True])
def test_rounds_that_there_are_not(rounds: Any) -> None:
    with pytest.raises(InvalidParameter) as caught:
        margins(FOREST, X, Y, rounds=rounds)
    assert (caught.value.parameter, caught.value.received) == ("rounds", rounds)
    assert caught.value.allowed == "None, 'all', or one or several of a whole number from 1 to 4"


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (np.repeat([0, 7], 10), r"y holds 7, which is no class of the model. Its classes are \[0, 1\]"),
        (Y[:5], r"inconsistent numbers of samples: \[20, 5\]"),
        (None, "requires y to be passed"),
    ],
)
def test_labels_that_do_not_fit(y: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        margins(FOREST, X, y)


@pytest.mark.parametrize(
    ("model", "name", "value", "allowed"),
    [
        (FOREST, "votes", "loud", "'hard' or 'soft'"),
        (FOREST, "oob", "yes", "True or False"),
        (ADABOOST, "votes", "soft", "'hard'"),
        (ADABOOST, "oob", True, "False"),
    ],
)
def test_choices_that_have_no_meaning(model: Any, name: str, value: Any, allowed: str) -> None:
    with pytest.raises(InvalidParameter) as caught:
        margins(model, X, np.arange(20) % 2, **{name: value})
    assert (caught.value.parameter, caught.value.received, caught.value.allowed) == (name, value, allowed)


def test_a_negative_weight() -> None:
    with pytest.raises(ValueError, match="Negative values in data passed to `sample_weight`"):
        margins(FOREST, X, np.arange(20) % 2, sample_weight=-1)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (
            RandomForestClassifier(2, bootstrap=False),
            "every tree of this RandomForestClassifier saw every row",
        ),
        (RandomForestClassifier(2, keep_rows=False), "needs the training rows"),
        (TheirExtraTrees(2), "every member of this ExtraTreesClassifier saw every row"),
        (BaggingClassifier(None, 2, bootstrap=False), "every member of this BaggingClassifier saw every row"),
        (VotingClassifier([("line", LogisticRegression())]), "no meaning for VotingClassifier"),
    ],
)
def test_no_row_is_out_of_bag(model: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        margins(model.fit(X, Y), X, Y, oob=True)


@pytest.mark.parametrize("model", [RandomForestClassifier(3, random_state=0), TheirForest(3, random_state=0)])
def test_out_of_bag_is_for_the_training_table(model: Any) -> None:
    with pytest.raises(InvalidInput) as caught:
        margins(model.fit(X, Y), X[:5], Y[:5], oob=True)
    assert (caught.value.parameter, caught.value.received) == ("X", 5)
    assert caught.value.allowed == "the training table, of 20 rows"


def test_votes_larger_than_the_weights_of_the_members() -> None:
    class Loud:
        classes_ = np.array([0, 1])
        estimator_weights_ = np.array([0.5])

        def staged_votes(self, X: Any) -> Any:
            yield np.tile([0.0, 2.0], (len(X), 1))

    with pytest.raises(InvalidInput) as caught:
        margins(Loud(), X, Y)
    assert caught.value.received in (4.0, -4.0)
    assert caught.value.allowed == "margins in [-1, 1]"
