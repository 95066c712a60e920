"""The final estimator of stacking and blending: fitted to what members predict, scored on rows it did not see.

A leak guard compares the score that a stack promises with that on rows that no part of it has seen.
What members predict out of fold is unbiased for each member. A stack on top of it can still know too much: rows that
are nearly the same lie in several folds, groups or times are parted, or a second layer finds traces of a row's target
in the predictions of models that learned from it. All of these make the score out of fold too good. So a trial stack
is fitted without the last fold, all layers of it, and its score on that fold is compared with the score out of fold
that it promises.

Comparing predictions out of fold with those of members fitted to all rows would not do: a member that knows its rows
by heart differs there, and harms nobody.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold
from sklearn.utils import Bunch

from coterie._storage import storable
from coterie._typing import AnyArray, BoolArray, FloatArray, RowArray
from coterie._value_types import ANY, COUNT, FLOATS, NONE, TEXT, array, dict_of, tuple_of
from coterie.data.parts import rows_of
from coterie.members.fit_members import FitTask, Member, fit_all
from coterie.members.named_members import MemberFitData
from coterie.members.oof_score import Score, score_of_codes, score_of_numbers
from coterie.members.out_of_fold import Fold
from coterie.members.response import ResponseMethod


@storable(
    "FinalLesson",
    {
        "table": ANY,
        "truth": array("fiub", 1, 2),
        "n_classes": tuple_of(COUNT),
        "known": array("b", 1),
        "weight": FLOATS | NONE,
        "groups": ANY,
        "params": dict_of(TEXT, ANY),
        "n_jobs": ANY,
        "seed": COUNT | NONE,
    },
)
@dataclass(frozen=True)
class FinalFitData:
    """What a final estimator learns from.

    Attributes
    ----------
    table : predictions of members, and perhaps columns of X; a row for each row of X
    truth : codes of classes, or numbers
    n_classes : classes of each output; none for numbers
    known : rows that were held out at least once; the others have no predictions
    params : what `fit` is given by name
    """

    table: Any
    truth: AnyArray
    n_classes: tuple[int, ...]
    known: BoolArray
    weight: FloatArray | None
    groups: Any
    params: dict[str, Any]
    n_jobs: int | None
    seed: int | None

    def task(self, final: Any, rows: RowArray | None, predict_rows: RowArray | None = None) -> FitTask:
        member = Member("final_estimator", final)
        return FitTask(
            member, self.truth, rows=rows, predict_rows=predict_rows, params=self.params, seed=self.seed
        )


def fitted_final(final: Any, data: FinalFitData) -> Any:
    """A copy of the final estimator, fitted to the rows whose predictions are known."""
    rows = None if data.known.all() else np.flatnonzero(data.known)
    return fit_all([data.task(final, rows)], data.table, n_jobs=data.n_jobs, on_error="raise")[0].model


def final_score(final: Any, data: FinalFitData, folds: Sequence[Fold]) -> Score:
    """The score of final estimators that were each fitted without the rows of a fold.

    The folds are those of the members. Where these leave nothing to learn from (one hold-out, members fitted before),
    the known rows are divided anew into five.
    """
    for own in (folds, _new_folds(data)):
        predicted, rows = _cross_predicted(final, data, own)
        if rows.any():
            return score_of(data, predicted, rows)
    return Score(float("nan"), float("nan"))


def score_of(data: FinalFitData, predicted: FloatArray, rows: BoolArray) -> Score:
    """Accuracy of codes or R2 of numbers, by what the data is about."""
    if data.n_classes:
        return score_of_codes(
            data.truth, predicted[:, 0] if len(data.n_classes) == 1 else predicted, data.weight, rows
        )
    return score_of_numbers(data.truth, predicted, data.weight, rows)


def _cross_predicted(final: Any, data: FinalFitData, folds: Sequence[Fold]) -> tuple[FloatArray, BoolArray]:
    """Predictions of rows by final estimators that did not see them, and which rows these are."""
    tasks = []
    for fold in folds:
        learn, test = (side[data.known[side]] for side in (fold.train, fold.test))
        if len(learn) and len(test):
            tasks.append(data.task(final, learn, test))
    response = ResponseMethod("predict", tuple(np.arange(k) for k in data.n_classes), bool(data.n_classes))

    def predict(member: Member, model: Any, X: Any) -> FloatArray:
        return response.predict_with(member.name, model, X)

    n_rows = len(data.truth)
    times, total = np.zeros(n_rows), None
    # An error here only means that a fold cannot be scored, for example because it has rows of one class alone.
    for task, outcome in zip(
        tasks, fit_all(tasks, data.table, n_jobs=None, on_error="drop", predict=predict), strict=True
    ):
        if outcome.error is None and task.predict_rows is not None:
            total = np.zeros((n_rows, outcome.predictions.shape[1])) if total is None else total
            np.add.at(total, task.predict_rows, outcome.predictions)
            np.add.at(times, task.predict_rows, 1)
    rows = times > 0
    if total is None:
        return np.zeros((n_rows, 1)), rows
    total[rows] /= times[rows, None]
    return response.finalize(total), rows


def _new_folds(data: FinalFitData) -> list[Fold]:
    known = np.flatnonzero(data.known)
    truth, groups = data.truth[known], None if data.groups is None else np.asarray(data.groups)[known]
    if len(known) < 2:
        return []
    splitter: Any = KFold(min(5, len(known)))
    if groups is not None:
        n_groups = len(set(groups.tolist()))
        if n_groups < 2:
            return []
        splitter = GroupKFold(min(5, n_groups))
    elif len(data.n_classes) == 1 and np.bincount(truth).max() >= 5:
        splitter = StratifiedKFold(5, shuffle=True, random_state=0)
        if np.bincount(truth)[np.bincount(truth) > 0].min() < 5:
            splitter = KFold(5, shuffle=True, random_state=0)
    return [
        Fold(known[train], known[test])
        for train, test in splitter.split(np.zeros((len(known), 1)), truth, groups)
    ]


def guard_against_leaks(stack: Any, data: MemberFitData, folds: Sequence[Fold]) -> Bunch:
    """Fit a trial without the last fold, compare promise and truth, and warn if they differ by more than chance.

    Chance is two standard errors of the difference.
    """
    last, X, y, weight = folds[-1], data.X, data.labels, data.weight
    trial = stack._trial(folds)
    trial.set_params(leak_guard=False, oof_score=True)
    params = {"sample_weight": weight, "groups": data.groups, **data.others}
    cut = {name: rows_of(value, last.train) for name, value in params.items() if value is not None}
    trial.fit(rows_of(X, last.train), y[last.train], **cut)
    predicted, truth = trial.predict(rows_of(X, last.test)), y[last.test]
    own_weight = None if weight is None else weight[last.test]
    score = score_of_codes if is_classifier(stack) else score_of_numbers
    kept = score(truth, predicted, own_weight, np.ones(len(truth), dtype=bool))
    error = float(np.hypot(trial.oof_score_error_, kept.error))
    leaks = bool(trial.oof_score_ - kept.value > 2 * error)
    if leaks:
        warnings.warn(
            f"{type(stack).__name__} promises a score of {trial.oof_score_:.3g} out of fold, and reached "
            f"{kept.value:.3g} on {len(truth)} rows that no part of it had seen; the standard error of the difference "
            f"is {error:.2g}. Rows that belong together may lie in several folds: give groups, hold out by time, or "
            "use fewer layers.",
            UserWarning,
            stacklevel=4,
        )
    return Bunch(
        promised=trial.oof_score_,
        promised_error=trial.oof_score_error_,
        kept=kept.value,
        kept_error=kept.error,
        leaks=leaks,
    )


def folds_within(folds: Sequence[Fold], n_rows: int) -> list[tuple[AnyArray, AnyArray]]:
    """The other folds, cut to the rows that the last one learns from and numbered among them."""
    last = folds[-1]
    place = np.full(n_rows, -1)
    place[last.train] = np.arange(len(last.train))
    pairs = [(place[fold.train], place[fold.test]) for fold in folds[:-1]]
    inside = [(train[train >= 0], test[test >= 0]) for train, test in pairs]
    return [(train, test) for train, test in inside if len(train) and len(test)]
