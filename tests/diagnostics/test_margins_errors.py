"""What margins refuse, and in which words."""

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
from coterie.errors import CoterieError
from coterie.losses import CustomLoss

X = np.arange(40.0).reshape(20, 2)
Y = np.repeat([0, 1], 10)
FOREST = RandomForestClassifier(4, random_state=0).fit(X, Y)
ADABOOST = AdaBoostClassifier(n_estimators=3, random_state=0).fit(X, np.arange(20) % 2)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (GaussianNB().fit(X, Y), "is no ensemble of voters that is known here"),
        (RandomForestRegressor(2).fit(X, Y), "is no ensemble of voters that is known here"),
        (
            RandomForestClassifier(2).fit(X, np.stack([Y, Y], axis=1)),
            "for one target, and this .* was fitted to 2",
        ),
        (RandomForestClassifier(2).fit(X, np.zeros(20)), "knows only .*0.0"),
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
            "an inverse link of its own",
        ),
    ],
    ids=["no ensemble", "regressor", "two targets", "one class", "own link"],
)
def test_a_model_without_votes(model: Any, words: str) -> None:
    with pytest.raises(CoterieError, match=words):
        margins(model, X, Y)


def test_a_model_that_was_not_fitted() -> None:
    with pytest.raises(NotFittedError):
        margins(RandomForestClassifier(), X, Y)


@pytest.mark.parametrize("rounds", [0, 5, -1, [1, 9], [], "last", [1.5], True])
def test_rounds_that_there_are_not(rounds: Any) -> None:
    with pytest.raises(ValueError, match=r"rounds=.*a whole number from 1 to 4"):
        margins(FOREST, X, Y, rounds=rounds)


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
    ("model", "chosen", "words"),
    [
        (FOREST, {"votes": "loud"}, "votes='loud': expected 'hard' or 'soft'"),
        (FOREST, {"oob": "yes"}, "oob='yes': expected True or False"),
        (FOREST, {"sample_weight": -1}, "sample_weight contains negative values"),
        (ADABOOST, {"votes": "soft"}, "votes='soft' has no meaning for AdaBoostClassifier"),
        (ADABOOST, {"oob": True}, "oob=True has no meaning for AdaBoostClassifier"),
    ],
)
def test_choices_that_have_no_meaning(model: Any, chosen: dict[str, Any], words: str) -> None:
    y = np.arange(20) % 2
    with pytest.raises(ValueError, match=words):
        margins(model, X, y, **chosen)


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
    with pytest.raises(ValueError, match="X has 5 rows and the training table had 20"):
        margins(model.fit(X, Y), X[:5], Y[:5], oob=True)


def test_votes_larger_than_the_weights_of_the_members() -> None:
    class Loud:
        classes_ = np.array([0, 1])
        estimator_weights_ = np.array([0.5])

        def staged_votes(self, X: Any) -> Any:
            yield np.tile([0.0, 2.0], (len(X), 1))

    with pytest.raises(ValueError, match=r"margin -?4, outside \[-1, 1\]"):
        margins(Loud(), X, Y)
