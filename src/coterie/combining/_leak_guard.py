"""A leak guard: is the score that a stack promises kept on rows that no part of it has seen?

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
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import Bunch

from coterie._typing import AnyArray
from coterie.data.parts import rows_of
from coterie.members.named_members import MemberFitData
from coterie.members.oof_score import score_of_codes, score_of_numbers
from coterie.members.out_of_fold import Fold


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
