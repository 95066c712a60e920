"""Voting: members of any kind, fitted to the same rows, and their predictions combined."""

from typing import Any, ClassVar, Literal

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.preprocessing import LabelEncoder
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from coterie._documentation import documented
from coterie._params import Boolean, OneOf, Params
from coterie._storage import Fitted, storable_estimator
from coterie._typing import AnyArray, BoolArray, FloatArray, LearnedWeights, OnError, SeedLike, Task
from coterie._value_types import COUNT, LABELS, instance
from coterie.combining._combine import as_probabilities, least_log_loss, least_squares, majority
from coterie.combining._voting_base import VOTING_FITTED, VOTING_PARAMS, BaseVoting
from coterie.data.target import Target
from coterie.errors import InvalidParameter
from coterie.members.fit_members import Member
from coterie.members.named_members import verify_members
from coterie.members.oof_score import Score, score_of_codes, score_of_numbers
from coterie.members.parameter_docs import voting_texts
from coterie.members.response import ResponseMethod, method_of


def _gives_probabilities(ensemble: Any) -> bool:
    if ensemble.voting == "hard":
        raise AttributeError(f"predict_proba is not available when voting={ensemble.voting!r}")
    return True


@storable_estimator(verify=verify_members)
@documented(voting_texts)
class VotingClassifier(ClassifierMixin, BaseVoting):
    """Voting of classifiers.

    Members of any kind are fitted to the same rows, and each has a vote or a say in the probabilities. Weights can be
    given, or learned from what members predict for rows that they were not fitted to.

    Examples
    --------
    >>> from coterie import RandomForestClassifier, VotingClassifier
    >>> from coterie.datasets import load_table
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> X, y = load_table("wine")
    >>> linear = make_pipeline(StandardScaler(), LogisticRegression())
    >>> forest = RandomForestClassifier(random_state=0)
    >>> import pandas as pd
    >>> model = VotingClassifier([("linear", linear), ("forest", forest)], voting="soft", weights="learned")
    >>> model = model.fit(pd.DataFrame(X), y)
    >>> float(model.weights_.sum()), model.oof_score_ > 0.95
    (1.0, True)
    >>> model.recombined(weights=[1, 3]).weights_
    array([0.25, 0.75])
    """

    FITTED: ClassVar[Fitted] = {**VOTING_FITTED, "classes_": LABELS, "le_": instance(LabelEncoder)}
    PARAMS: ClassVar[Params] = {
        **VOTING_PARAMS,
        "voting": [OneOf("hard", "soft", "median", "rank")],
        "flatten_transform": [Boolean()],
    }
    _task: ClassVar[Task] = "classification"

    classes_: AnyArray

    def __init__(
        self,
        estimators: Any,
        *,
        voting: Literal["hard", "soft", "median", "rank"] = "hard",
        weights: LearnedWeights = None,
        cv: Any = None,
        on_error: OnError = "raise",
        n_jobs: int | None = None,
        flatten_transform: bool = True,
        random_state: SeedLike = None,
        verbose: int = False,
    ) -> None:
        self._store(locals())

    def predict(self, X: Any) -> AnyArray:
        """The class of each row."""
        predictions = self._stacked(X)
        return np.asarray(self.classes_[self._codes(predictions, self._weights)])

    @available_if(_gives_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> FloatArray:
        """The probability of each class, shape (n_rows, n_classes); not for hard voting."""
        return self._probabilities(self._stacked(X), self._weights)

    def transform(self, X: Any) -> AnyArray:
        """What each member predicts: the number of a class for hard voting, else probabilities.

        The shape is (n_rows, n_members) or (n_rows, n_members * n_classes), or with `flatten_transform=False`
        (n_members, n_rows, n_classes).
        """
        predictions = self._stacked(X)
        if self.voting == "hard":
            return np.column_stack([own.argmax(axis=1) for own in predictions])
        return np.hstack(list(predictions)) if self.flatten_transform else predictions

    def get_feature_names_out(self, input_features: Any = None) -> AnyArray:
        """Names of the columns of `transform`: the ensemble's class, the member and the number of the class."""
        check_is_fitted(self, "estimators_")
        if self.voting != "hard" and not self.flatten_transform:
            raise InvalidParameter(
                f"get_feature_names_out is not supported when `voting={self.voting!r}` and `flatten_transform=False`: "
                "there are three dimensions."
            )
        return super().get_feature_names_out(input_features)

    def _codes(self, predictions: FloatArray, weights: FloatArray | None) -> AnyArray:
        if self.voting == "hard":
            return majority(predictions, weights)
        return np.asarray(self._probabilities(predictions, weights).argmax(axis=1))

    def _probabilities(self, predictions: FloatArray, weights: FloatArray | None) -> FloatArray:
        mixed = self._mixed(predictions, weights)
        return mixed if self.voting == "soft" else as_probabilities(mixed)

    def _response(self, member: Member, target: Target) -> ResponseMethod:
        wanted = "predict" if self.voting == "hard" else "predict_proba"
        classes = target.classes
        assert isinstance(classes, np.ndarray)
        return ResponseMethod(
            method_of(member.name, member.estimator, wanted), (classes,), self.voting == "hard"
        )

    def _responses_of_voting(
        self, members: list[tuple[Member, ResponseMethod]]
    ) -> list[tuple[Member, ResponseMethod]]:
        hard = self.voting == "hard"
        method = "predict" if hard else "predict_proba"
        return [(member, ResponseMethod(method, response.classes, hard)) for member, response in members]

    def _set_target(self, target: Target) -> None:
        super()._set_target(target)
        self.le_ = LabelEncoder()
        self.le_.classes_ = target.classes

    def _learned(self, rows: BoolArray) -> FloatArray:
        if self.voting in ("median", "rank"):
            raise InvalidParameter(
                f"weights='learned' are those of a mean; expected voting='hard' or 'soft', not {self.voting!r}."
            )
        predictions, codes = self._stacked_oof()[:, rows], self._truth[rows]
        weight = None if self._row_weight is None else self._row_weight[rows]
        if self.voting == "hard":
            return least_squares(predictions, np.eye(len(self.classes_))[codes], weight)
        return least_log_loss(predictions[:, np.arange(len(codes)), codes], weight)

    def _score(self, predictions: FloatArray, weights: FloatArray | None, rows: BoolArray) -> Score:
        predicted = np.zeros(len(rows), dtype=np.int64)
        predicted[rows] = self._codes(predictions[:, rows], weights)
        return score_of_codes(self._truth, predicted, self._row_weight, rows)

    def _output(self, predictions: FloatArray) -> AnyArray:
        return predictions

    def _n_columns_out(self) -> int:
        return 1 if self.voting == "hard" else len(self.classes_)

    def _has_outputs(self) -> bool:
        return False


@storable_estimator(verify=verify_members)
@documented(voting_texts)
class VotingRegressor(RegressorMixin, BaseVoting):
    """Voting of regressors: the mean of what members of any kind predict.

    Weights can be given, or learned from what members predict for rows that they were not fitted to: the mean that is
    closest to the truth.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import RandomForestRegressor, VotingRegressor
    >>> from sklearn.linear_model import LinearRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2))
    >>> y = 3 * X[:, 0] + X[:, 1]
    >>> model = VotingRegressor(
    ...     [("linear", LinearRegression()), ("forest", RandomForestRegressor(random_state=0))], weights="learned"
    ... )
    >>> model.fit(X, y).weights_.round(6) + 0.0
    array([1., 0.])
    """

    FITTED: ClassVar[Fitted] = {**VOTING_FITTED, "_n_outputs": COUNT}
    PARAMS: ClassVar[Params] = {**VOTING_PARAMS, "voting": [OneOf("mean", "median", "rank")]}
    _task: ClassVar[Task] = "regression"

    def __init__(
        self,
        estimators: Any,
        *,
        voting: Literal["mean", "median", "rank"] = "mean",
        weights: LearnedWeights = None,
        cv: Any = None,
        on_error: OnError = "raise",
        n_jobs: int | None = None,
        random_state: SeedLike = None,
        verbose: int = False,
    ) -> None:
        self._store(locals())

    def predict(self, X: Any) -> FloatArray:
        """The prediction for each row: the mean of what members predict, or what `voting` makes of it."""
        return self._output(self._mixed(self._stacked(X), self._weights))

    def transform(self, X: Any) -> FloatArray:
        """What each member predicts, shape (n_rows, n_members) or (n_rows, n_members * n_outputs)."""
        return np.hstack(list(self._stacked(X)))

    def _response(self, member: Member, target: Target) -> ResponseMethod:
        return ResponseMethod(method_of(member.name, member.estimator, "predict"))

    def _set_target(self, target: Target) -> None:
        self._n_outputs = target.n_outputs

    def _learned(self, rows: BoolArray) -> FloatArray:
        if self.voting != "mean":
            raise InvalidParameter(
                f"weights='learned' are those of a mean; expected voting='mean', not {self.voting!r}."
            )
        truth = self._truth[rows].reshape(int(rows.sum()), -1)
        weight = None if self._row_weight is None else self._row_weight[rows]
        return least_squares(self._stacked_oof()[:, rows], truth, weight)

    def _score(self, predictions: FloatArray, weights: FloatArray | None, rows: BoolArray) -> Score:
        predicted = np.zeros(predictions.shape[1:])
        predicted[rows] = self._mixed(predictions[:, rows], weights)
        return score_of_numbers(self._truth, predicted, self._row_weight, rows)

    def _output(self, predictions: FloatArray) -> FloatArray:
        return predictions[:, 0] if self._n_outputs == 1 else predictions

    def _n_columns_out(self) -> int:
        return self._n_outputs
