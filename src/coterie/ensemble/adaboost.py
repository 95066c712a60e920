"""AdaBoost with the parameters of scikit-learn's, and scores on its scale."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Self

import numpy as np
from scipy.special import softmax
from sklearn import ensemble as theirs

from coterie._typing import AnyArray, FloatArray
from coterie.adaboost import adaboost_classifier, adaboost_regressor
from coterie.ensemble._mirror import MemberSequence, Mirror, as_array, errors_as_they_are, mirrors
from coterie.errors import InvalidInput, InvalidParameter
from coterie.members.weight_parameter import weight_parameter
from coterie.trees.tree_sum import TreeSum


class AdaBoostMirror(Mirror, MemberSequence):
    """What both share."""

    n_jobs = None
    checkpoint = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the members, one after the other."""
        parent: Any = super()
        with errors_as_they_are():
            parent.fit(X, as_array(y), sample_weight)
        return self


@mirrors(theirs.AdaBoostClassifier)
class AdaBoostClassifier(AdaBoostMirror, adaboost_classifier.AdaBoostClassifier):
    """AdaBoost for classes, as `sklearn.ensemble.AdaBoostClassifier` is called.

    A round that is worse than chance ends the fit. Scores are means of votes, and probabilities follow from them as in
    scikit-learn. Stumps that `estimator=None` stands for are found by the engine; `estimator_weights_` are half of
    scikit-learn's.
    """

    algorithm = "samme"
    method = "reweight"
    on_weak = "stop"
    corrective = None
    nu = None
    max_bins = 255
    categorical_features = "auto"
    unknown_category = "missing"
    class_weight = None
    warm_start = False

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 50,
        learning_rate: float = 1.0,
        random_state: Any = None,
    ) -> None:
        self._store(locals())

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.estimator is not None and weight_parameter(self.estimator) is None:
            name = type(self.estimator).__name__
            raise InvalidParameter(
                f"{name} doesn't support sample_weight.",
                parameter="estimator",
                received=self.estimator,
                allowed="an estimator whose fit takes sample_weight",
            )

    def _conclude(self, log: Any, *, has_eval_set: bool) -> None:
        super()._conclude(log, has_eval_set=has_eval_set)
        if log.members and len(self.classes_) > 1 and not self.estimator_weights_.any():
            raise InvalidInput(
                f"BaseClassifier in AdaBoostClassifier ensemble is worse than random, ensemble can not be fit: "
                f"{self.stopped_because_}.",
                parameter="estimator",
                received=self.estimator,
            )

    def decision_function(self, X: Any) -> FloatArray:
        """The mean of the votes: from -2 to 2 for the second of two classes, or from -1/(K-1) to 1 for each class."""
        return self._mean_votes(self._scores(X), self.estimator_weights_.sum())

    def staged_decision_function(self, X: Any) -> Iterator[FloatArray]:
        """The result of `decision_function` after each round."""
        totals = np.cumsum(self.estimator_weights_)
        return map(self._mean_votes, self._staged_scores(X), totals)

    def predict_proba(self, X: Any) -> FloatArray:
        """The probability of each class: the softmax of the mean votes."""
        return self._proba_of(self.decision_function(X))

    def staged_predict_proba(self, X: Any) -> Iterator[FloatArray]:
        """The result of `predict_proba` after each round."""
        return map(self._proba_of, self.staged_decision_function(X))

    def predict(self, X: Any) -> AnyArray:
        """The class with the most votes; on a tie, the first."""
        return self._labels(self._scores(X))

    def tree_sum(self) -> TreeSum:
        """Stumps as parts that other formats are written from."""
        whole = super().tree_sum()
        n_classes = len(self.classes_)
        # The link of ours is the softmax of twice the votes, and this one that of K / (K - 1)^2 of their mean.
        shrunk = 2 * (n_classes - 1) ** 2 / n_classes if n_classes > 1 else 1.0
        return replace(whole, divisor=shrunk * float(self.estimator_weights_.sum() or 1.0))

    def _mean_votes(self, scores: FloatArray, total: float) -> FloatArray:
        n_classes = len(self.classes_)
        if n_classes == 1:
            return np.zeros(len(scores))
        if scores.shape[1] == 1:
            return np.asarray(2 * scores[:, 0] / total)
        return np.asarray((n_classes * (scores / total) - 1) / (n_classes - 1))

    def _proba_of(self, decision: FloatArray) -> FloatArray:
        n_classes = len(self.classes_)
        if n_classes == 1:
            return np.ones((len(decision), 1))
        votes = (
            np.column_stack([-decision, decision]) / 2 if decision.ndim == 1 else decision / (n_classes - 1)
        )
        return np.asarray(softmax(votes, axis=1))


@mirrors(theirs.AdaBoostRegressor)
class AdaBoostRegressor(AdaBoostMirror, adaboost_regressor.AdaBoostRegressor):
    """AdaBoost.R2, as `sklearn.ensemble.AdaBoostRegressor` is called: members see rows drawn by weight."""

    method = "resample"

    def __init__(
        self,
        estimator: Any = None,
        *,
        n_estimators: int = 50,
        learning_rate: float = 1.0,
        loss: str = "linear",
        random_state: Any = None,
    ) -> None:
        self._store(locals())
