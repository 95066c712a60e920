"""One model in place of a committee: a student that is fitted to its predictions, and how much of the gain it keeps.

The gain of a committee is by how much it is better than its best member. What a student keeps of it is found on rows
held out: for each fold a student is fitted to what the committee predicts out of fold for the other rows, and predicts
the rows of the fold. So no student has seen the target of a row that it is scored by, nor a prediction for that row.
Members that predicted the other rows may have been fitted to it, as in stacking; that is what is left of a leak.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from coterie._typing import AnyArray, FloatArray, RowArray
from coterie.boosting.gradient_boosting import GradientBoostingClassifier, GradientBoostingRegressor
from coterie.committee.listing import in_few_digits
from coterie.committee.metrics import Metric
from coterie.committee.weights import OutOfFoldPredictions
from coterie.data.parts import row_indexable, rows_of
from coterie.data.weight import read_weight
from coterie.errors import InvalidInput
from coterie.metrics import shown_metric

_STUDENT: dict[str, Any] = {
    "n_estimators": 1000,
    "learning_rate": 0.08,
    "growth": "oblivious",
    "max_leaf_nodes": 64,
    "min_samples_leaf": 1,
    "l2_regularization": 1.0,
    "max_features": 0.5,
    "subsample": 0.8,
    "sampling_method": "uniform",
    "early_stopping": True,
    "n_iter_no_change": 40,
}
_LEAST_SHARE = 0.01  # of a class in what a student is fitted to


@dataclass(frozen=True)
class KeptGain:
    """What a student keeps of the gain of a committee over its best member, on rows held out.

    Scores are as they are read: errors are positive.

    Attributes
    ----------
    metric : str
    student, committee, best_member : float, their scores on the same rows
    best_name : str, the best member
    share : float
        1 if the student is as good as the committee and more if it is better, 0 if it is as good as the best member and
        less if it is worse. NaN if the committee is not better than its best member: there is no gain to keep.

    Examples
    --------
    >>> KeptGain("rmse", 2.1, 2.0, 3.0, "forest", 0.9)
    the student keeps 90 % of the gain over forest (rmse: student 2.1, committee 2, forest 3)
    """

    metric: str
    student: float
    committee: float
    best_member: float
    best_name: str
    share: float

    def __repr__(self) -> str:
        scores = (
            f"({self.metric}: student {in_few_digits(self.student)}, committee {in_few_digits(self.committee)}, "
            f"{self.best_name} {in_few_digits(self.best_member)})"
        )
        if np.isnan(self.share):
            return f"there is no gain to keep: {self.best_name} alone is as good as the committee {scores}"
        if self.share <= 0:
            return f"the student keeps nothing of the gain over {self.best_name} {scores}"
        return f"the student keeps {self.share:.0%} of the gain over {self.best_name} {scores}".replace(
            "%", " %"
        )


@dataclass(frozen=True)
class Student:
    """A learner to be taught, and how. `classes` are those of the committee, None for numbers.

    Attributes
    ----------
    learner : what the user gave, or None for gradient boosting with symmetric trees
    """

    learner: Any
    classes: AnyArray | None
    seed: int | None
    n_jobs: int | None

    def taught(self, X: Any, predictions: FloatArray, weight: FloatArray | None) -> Any:
        """Fitted to predictions of shape (n_rows, n_columns).

        For classes each row is there once for each class, with the class's probability as its weight; classes below one
        in a hundred are left out.
        """
        if self.classes is None:
            weights = {} if weight is None else {"sample_weight": weight}
            return self._new(GradientBoostingRegressor).fit(X, predictions[:, 0], **weights)
        rows, codes = np.nonzero(predictions >= min(_LEAST_SHARE, 1 / len(self.classes)))
        row_weight = predictions[rows, codes] * (1.0 if weight is None else weight[rows])
        # The same row twice must not be on both sides of what stops the rounds.
        groups = {"groups": rows} if self.learner is None else {}
        return self._new(GradientBoostingClassifier).fit(
            rows_of(X, rows), self.classes[codes], sample_weight=row_weight, **groups
        )

    def _new(self, kind: type[Any]) -> Any:
        if self.learner is not None:
            return clone(self.learner)
        return kind(**_STUDENT, n_jobs=self.n_jobs, random_state=self.seed)

    def predictions(self, model: Any, X: Any) -> FloatArray:
        """What a student predicts, shape (n_rows, n_columns); classes that it was not taught have no probability."""
        if self.classes is None:
            return np.asarray(model.predict(X), dtype=np.float64).reshape(-1, 1)
        if not hasattr(model, "predict_proba"):
            return np.asarray(np.asarray(model.predict(X))[:, None] == self.classes, dtype=np.float64)
        found = np.zeros((len(model.predict(X)), len(self.classes)))
        found[:, np.searchsorted(self.classes, model.classes_)] = model.predict_proba(X)
        return found


@dataclass(frozen=True)
class CommitteeTeacher:
    """What is known of a committee out of fold.

    Attributes
    ----------
    nested : its predictions for the rows of fit, chosen without them; NaN where a row was never held out
    members : names, in the order of `oof`
    """

    oof: OutOfFoldPredictions
    nested: FloatArray
    members: list[str]
    metric: Metric

    def kept_gain(
        self, student: Student, X: Any, n_rows: int, new: FloatArray, weight: FloatArray | None
    ) -> KeptGain:
        """How good students of the folds are; rows of X after those of fit have the predictions `new`."""
        n_known = len(self.oof.known)
        if n_rows < n_known:
            raise InvalidInput.expecting(
                f"return_gain=True: X has {n_rows} rows, fewer than the {n_known} of fit",
                "the rows of fit in their order, and others below them",
                "X",
                n_rows,
            )
        labels = np.concatenate([self.nested, new])
        known = ~np.isnan(labels).any(axis=1)
        known[:n_known] &= self.oof.known
        total, times = np.zeros_like(self.nested), np.zeros(n_known)
        for fold in self.oof.folds:
            learn = known.copy()
            learn[fold.test] = False
            rows: RowArray = np.flatnonzero(learn)
            if not len(rows) or not learn[:n_known].any():
                continue
            model = student.taught(rows_of(X, rows), labels[rows], None if weight is None else weight[rows])
            np.add.at(total, fold.test, student.predictions(model, rows_of(X, fold.test)))
            np.add.at(times, fold.test, 1)
        scored = np.flatnonzero((times > 0) & known[:n_known])
        if not len(scored):
            raise InvalidInput(
                "return_gain=True needs rows that were held out beside others: the committee has one fold.",
                parameter="return_gain",
                received=True,
                allowed="False for a committee with one fold",
            )
        return self._compared(total[scored] / times[scored, None], scored)

    def _compared(self, of_student: FloatArray, scored: RowArray) -> KeptGain:
        targets, shown = self.oof.rows.take(scored), shown_metric(self.metric.name)
        own = [self.metric.value(each[scored], targets) for each in self.oof.predictions]
        best, whole = int(np.argmax(own)), self.metric.value(self.nested[scored], targets)
        taught = self.metric.value(of_student, targets)
        gain = whole - own[best]
        return KeptGain(
            shown.name,
            shown.value(taught),
            shown.value(whole),
            shown.value(own[best]),
            self.members[best],
            (taught - own[best]) / gain if gain > 0 else float("nan"),
        )


class TeachingCommittee(Protocol):
    """What `distil` needs of a committee, which takes it as a method."""

    members_: list[str]
    n_jobs: int | None
    _answers: OutOfFoldPredictions
    _nested: Callable[[], FloatArray]
    _metric: Callable[[], Metric]
    _student_seed: Callable[[], int | None]


def distil(
    self: TeachingCommittee,
    X: Any,
    sample_weight: Any = None,
    *,
    student: Any = None,
    return_gain: bool = False,
) -> Any:
    """One fast model that is fitted to the predictions of the committee.

    A classifier is given each row once for each class, with the committee's probability as its weight; classes below
    one in a hundred are left out.

    Parameters
    ----------
    X : a table with the columns of `fit`: its rows, others without labels, or both
    sample_weight : how often each row counts
        Default None: all rows count alike.
    student : estimator or None
        The learner to fit; a classifier has to take sample_weight. Default None: gradient boosting with symmetric
        trees, which is small and fast.
    return_gain : bool
        Whether to find out, too, what share of the committee's gain over its best member the student keeps, on rows
        held out: one more student for each fold. The rows of `fit` have to be first in X, in their order. Default
        False: it takes several times as long.

    Returns
    -------
    the fitted student; with `return_gain` a pair of it and a KeptGain, whose `share` is 1 for all of the gain
    """
    check_is_fitted(self, "estimators_")
    classes: AnyArray | None = getattr(self, "classes_", None)
    committee: Any = self
    predictions = committee.predict(X)[:, None] if classes is None else committee.predict_proba(X)
    weight = read_weight(sample_weight, len(predictions))
    X = row_indexable(X)
    own = Student(student, classes, self._student_seed(), self.n_jobs)
    model = own.taught(X, predictions, weight)
    if not return_gain:
        return model
    nested = self._nested()
    teacher = CommitteeTeacher(self._answers, nested, list(self.members_), self._metric())
    return model, teacher.kept_gain(own, X, len(predictions), predictions[len(nested) :], weight)
