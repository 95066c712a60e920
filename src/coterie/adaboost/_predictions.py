"""The predictions of a fitted AdaBoost: votes, scores, probabilities and classes, at the end and after each round.

For export, AdaBoost of stumps is taken apart: each stump is a tree that adds its vote to the scores of the classes.
"""

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils import Tags
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from coterie._params import check_first, in_short
from coterie._typing import AnyArray, FloatArray
from coterie.adaboost._learners import as_given_to_learners, checked_rows, shares_of
from coterie.adaboost._rounds import scores_of_shares
from coterie.adaboost._stumps import Stump, stump_shares
from coterie.adaboost._votes import probabilities
from coterie.data.encoding import Encoded
from coterie.data.prepare import prepare_prediction
from coterie.data.streaming.prediction import by_batches
from coterie.data.table import Schema
from coterie.errors import InvalidInput, InvalidParameter
from coterie.fitting.estimator import Estimator
from coterie.members.member_predictions import MemberPredictions, numbered
from coterie.members.weight_parameter import take_input_tags
from coterie.trees.column_readings import readings_of
from coterie.trees.flat_tree import FlatTree
from coterie.trees.links import Logistic, OneClass, Softmax
from coterie.trees.tree_sum import TreeSum, as_matrix


def adaboost_tree_sum(model: Any) -> TreeSum:
    """A fitted model as a sum of trees; refuses members that are no stumps."""
    _check_stumps(model)
    steps = [
        vote * scores_of_shares(stump_shares(stump, model._algorithm))
        for stump, vote in zip(model.estimators_, model.estimator_weights_, strict=True)
    ]
    n_classes = len(model.classes_)
    link: Any = OneClass() if n_classes == 1 else Logistic(2.0, second="score > 0")
    return TreeSum(
        type(model).__name__,
        readings_of(model.schema_, model.encoder_),
        [_stump_tree(stump, step) for stump, step in zip(model.estimators_, steps, strict=True)],
        np.zeros(1 if n_classes <= 2 else n_classes),
        link if n_classes <= 2 else Softmax(),
        (model.classes_,),
        unit=1.0 if n_classes <= 2 else 2.0,  # the link is the softmax of twice the votes
    )


def adaboost_features(model: Any, X: Any) -> FloatArray:
    """The matrix that stumps see."""
    _check_stumps(model)
    return as_matrix(prepare_prediction(model, X))


def _check_stumps(model: Any) -> None:
    check_is_fitted(model, "estimators_")
    if not model._by_stumps:
        raise InvalidInput(
            f"{type(model).__name__}(estimator={in_short(model.estimator)}): the members are models of their own, and "
            "export takes AdaBoost of stumps.",
            parameter="estimator",
            received=model.estimator,
            allowed="None",
            hint="Fit it with estimator=None.",
        )


def _stump_tree(stump: Stump, step: FloatArray) -> FlatTree:
    """`step` is what the stump adds to the scores on the left and on the right."""
    if stump.feature < 0:
        nothing = np.zeros(1, dtype=np.int64)
        return FlatTree(nothing - 1, np.zeros(1), np.zeros(1, dtype=bool), nothing, nothing, step[:1])
    sets = {} if stump.right_codes is None else {0: np.flatnonzero(~stump.right_codes)}
    return FlatTree(
        feature=np.array([stump.feature, -1, -1]),
        threshold=np.array([stump.threshold, 0.0, 0.0]),
        missing_left=np.array([not stump.missing_right, False, False]),
        left=np.array([1, 0, 0]),
        right=np.array([2, 0, 0]),
        value=np.concatenate([np.zeros_like(step[:1]), step]),
        sets=sets,
    )


class BaseAdaBoost(ClassifierMixin, Estimator):
    """Predictions from `estimators_` and `estimator_weights_`; stumps predict from one table of all their votes."""

    _takes_any_table = True
    classes_: AnyArray
    estimators_: list[Any]
    estimator_weights_: FloatArray
    n_features_in_: int
    schema_: Schema
    vote_history_: FloatArray
    _algorithm: str
    _by_stumps: bool
    _table: Any

    @by_batches
    def decision_function(self, X: Any, *, n_rounds: int | None = None) -> FloatArray:
        """The votes for the second class minus those for the first, or those for each class minus their mean.

        A positive score speaks for the second class. Scores are on the scale of the exponential loss: a row of score F
        and class y (-1 or 1) has the loss exp(-y F). `n_rounds` uses the members of the first rounds only.
        """
        return self._shaped(self._scores(X, n_rounds))

    @by_batches
    def predict_proba(self, X: Any, *, n_rounds: int | None = None) -> FloatArray:
        """The probability of each class, in the order of `classes_`.

        The link is that of the exponential loss: the logistic function of twice the score, or the softmax of twice the
        votes. AdaBoost is often surer than it should be. `n_rounds` uses the members of the first rounds only.
        """
        return self._probabilities(self._scores(X, n_rounds))

    @by_batches
    def predict_log_proba(self, X: Any) -> FloatArray:
        """The logarithm of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    @by_batches
    def predict(self, X: Any, *, n_rounds: int | None = None) -> AnyArray:
        """The class with the most votes; on a tie, the first. `n_rounds` uses the members of the first rounds only."""
        return self._labels(self._scores(X, n_rounds))

    def vote_shares(self, X: Any) -> FloatArray:
        """The share of all votes that each class has got, shape (n_rows, n_classes).

        The share of the own class minus the largest of the others is a row's margin, between -1 and 1. A negative vote
        counts for the other class, or with more than two classes against the one that the member names. For
        algorithm="samme" and "confidence", whose votes are divided among the classes.
        """
        check_is_fitted(self, "estimators_")
        if self._algorithm in ("real", "gentle"):
            raise InvalidParameter(
                f"vote_shares is for algorithm='samme' and 'confidence'; members of algorithm={self._algorithm!r} give "
                "numbers without a limit, of which there are no shares. Use decision_function."
            )
        pairs = zip(self.estimator_weights_, self._all_shares(X), strict=True)
        votes = sum(_cast(vote, shares) for vote, shares in pairs)
        total = np.abs(self.estimator_weights_).sum()
        return np.asarray(votes / total if total > 0 else votes)

    def staged_votes(self, X: Any) -> Iterator[FloatArray]:
        """The votes that each class has got after each round, shape (n_rows, n_classes)."""
        return self._staged_sums(X, _cast)

    def staged_decision_function(self, X: Any) -> Iterator[FloatArray]:
        """The result of `decision_function` after each round."""
        return map(self._shaped, self._staged_scores(X))

    def staged_predict_proba(self, X: Any) -> Iterator[FloatArray]:
        """The result of `predict_proba` after each round."""
        return map(self._probabilities, self._staged_scores(X))

    def staged_predict(self, X: Any) -> Iterator[AnyArray]:
        """The result of `predict` after each round."""
        return map(self._labels, self._staged_scores(X))

    def staged_score(self, X: Any, y: Any, sample_weight: Any = None) -> Iterator[float]:
        """The accuracy after each round."""
        for labels in self.staged_predict(X):
            yield float(accuracy_score(y, labels, sample_weight=sample_weight))

    @property
    def feature_importances_(self) -> FloatArray:
        """The mean of the members' importances, by the size of their votes; sums to 1, or to 0 without splits."""
        check_is_fitted(self, "estimators_")
        total = np.zeros(self.n_features_in_)
        for vote, member in zip(self.estimator_weights_, self.estimators_, strict=True):
            parts = member if isinstance(member, list) else [member]
            if not all(hasattr(part, "feature_importances_") for part in parts):
                raise AttributeError(
                    f"feature_importances_ is not known: {type(parts[0]).__name__}, of which the members are, has none."
                )
            total += abs(vote) * np.mean([part.feature_importances_ for part in parts], axis=0)
        return total / total.sum() if total.sum() > 0 else total

    def member_predictions(self, X: Any) -> MemberPredictions:
        """The shares that each member gives to the classes; weights are the votes, which may be negative."""
        check_is_fitted(self, "estimators_")
        values = np.stack(list(self._all_shares(X)))
        return MemberPredictions(
            values, self.estimator_weights_, numbered("round", len(values)), (self.classes_,)
        )

    def tree_sum(self) -> TreeSum:
        """Stumps as parts that other formats are written from; refuses other members."""
        return adaboost_tree_sum(self)

    def tree_features(self, X: Any) -> FloatArray:
        """The matrix that stumps see of a table: categories are codes, NaN is where a value is missing."""
        return adaboost_features(self, X)

    def _scores(self, X: Any, n_rounds: int | None = None) -> FloatArray:
        """Shape (n_rows, n_scores): one score for two classes, else one for each."""
        check_is_fitted(self, "estimators_")
        if n_rounds is not None:
            [last] = deque(
                self._staged_scores(X, check_first("n_rounds", n_rounds, len(self.estimators_))), maxlen=1
            )
            return last
        if self._by_stumps:
            encoded = prepare_prediction(self, X)
            scores = np.zeros(encoded.n_rows * self._n_scores())
            if self._table is not None:
                self._table.scores(encoded.values, encoded.n_levels, scores, self._n_threads())
            return scores.reshape(encoded.n_rows, -1)
        scores = np.zeros((checked_rows(self, X).n_rows, self._n_scores()))
        for vote, shares in zip(self.estimator_weights_, self._all_shares(X), strict=True):
            scores += vote * scores_of_shares(shares)
        return scores

    def _staged_scores(self, X: Any, n_rounds: int | None = None) -> Iterator[FloatArray]:
        return self._staged_sums(X, lambda vote, shares: vote * scores_of_shares(shares), n_rounds)

    def _staged_sums(
        self, X: Any, cast: Callable[[float, FloatArray], FloatArray], n_rounds: int | None = None
    ) -> Iterator[FloatArray]:
        """The sums of what members cast, after each of the first rounds; each is an array of its own."""
        check_is_fitted(self, "estimators_")
        members = self._all_shares(X, n_rounds)
        if hasattr(self, "vote_history_"):
            return _sums_of_all(members, self.vote_history_[:n_rounds], cast)
        return _running_sums(members, self.estimator_weights_[:n_rounds], cast)

    def _all_shares(self, X: Any, n_rounds: int | None = None) -> Iterator[FloatArray]:
        """The shares that each member gives to the classes, in order; learners predict in several threads."""
        members = self.estimators_[:n_rounds]
        if self._by_stumps:
            return map(self._shares_on(X, prepare_prediction(self, X)), members)
        checked_rows(self, X)
        shares_by = self._shares_on(X, None)
        n_threads = min(self._n_threads(), len(members))
        if n_threads <= 1:
            return map(shares_by, members)
        parallel = Parallel(n_threads, prefer="threads", return_as="generator")
        shares: Iterator[FloatArray] = parallel(delayed(shares_by)(member) for member in members)
        return shares

    def _shares_on(self, X: Any, encoded: Encoded | None) -> Callable[[Any], FloatArray]:
        """A function from a member to its shares on these rows."""
        if self._by_stumps:
            assert encoded is not None
            return lambda stump: np.asarray(stump_shares(stump, self._algorithm)[stump.sides(encoded)])
        rows = as_given_to_learners(X, self.schema_)
        return lambda member: shares_of(member, rows, self._algorithm, self.classes_)

    def _n_scores(self) -> int:
        return 1 if len(self.classes_) <= 2 else len(self.classes_)

    def _shaped(self, scores: FloatArray) -> FloatArray:
        return scores[:, 0] if scores.shape[1] == 1 else scores - scores.mean(axis=1, keepdims=True)

    def _probabilities(self, scores: FloatArray) -> FloatArray:
        return np.ones((len(scores), 1)) if len(self.classes_) == 1 else probabilities(scores)

    def _labels(self, scores: FloatArray) -> AnyArray:
        shaped = self._shaped(scores)
        chosen = (shaped > 0).astype(np.intp) if shaped.ndim == 1 else shaped.argmax(axis=1)
        return np.asarray(self.classes_[chosen])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        if self.estimator is not None:
            take_input_tags(tags, self.estimator)
        return tags


def _cast(vote: float, shares: FloatArray) -> FloatArray:
    """With two classes a negative vote is a vote for the other one."""
    return -vote * shares[:, ::-1] if vote < 0 and shares.shape[1] == 2 else vote * shares


def _running_sums(
    members: Iterator[FloatArray], votes: FloatArray, cast: Callable[[float, FloatArray], FloatArray]
) -> Iterator[FloatArray]:
    total: FloatArray | None = None
    for vote, shares in zip(votes, members, strict=True):
        own = cast(vote, shares)
        total = own if total is None else total + own
        yield total


def _sums_of_all(
    members: Iterator[FloatArray], history: FloatArray, cast: Callable[[float, FloatArray], FloatArray]
) -> Iterator[FloatArray]:
    """All votes may change from round to round."""
    known: list[FloatArray] = []
    for votes, shares in zip(history, members, strict=True):
        known.append(shares)
        yield np.sum([cast(vote, own) for vote, own in zip(votes, known, strict=False)], axis=0)
