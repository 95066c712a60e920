"""Raw predictions of fitted boosting: of all its rounds, after each of them, or of a copy with only the first."""

import copy
from collections.abc import Iterator
from typing import Any, TypeVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from coterie._params import check_first
from coterie._typing import AnyArray, FloatArray
from coterie.boosting.forest_rounds import n_trees_of, starts_of_rounds
from coterie.data.encoding import Encoded
from coterie.errors import InvalidInput, InvalidParameter
from coterie.members.intervals import CalibrationRows

Model = TypeVar("Model", bound=Any)

# What was found out with all rounds.
_OF_ALL_ROUNDS = ("_trace", "_as_grown", "oob_score_", "oof_prediction_", "oof_proba_", "_calibration")


def add_scores(
    forest: Any,
    start: FloatArray,
    encoded: Encoded,
    n_threads: int,
    trees: tuple[int, int | None] = (0, None),
) -> FloatArray:
    """What the trees add to `start`, which is one row for all or one for each.

    `trees` selects them: the number of the first one, and how many, or None for all that follow.
    """
    scores = np.empty((encoded.n_rows, start.shape[-1]))
    scores[:] = start
    forest.add_scores(encoded.values, encoded.n_levels, scores.reshape(-1), n_threads, *trees)
    return scores


def staged_scores(
    forest: Any, rounds: AnyArray, start: FloatArray, encoded: Encoded, n_threads: int
) -> Iterator[FloatArray]:
    """The scores after each round, shape (n_rows, n_outputs); each is an array of its own.

    The forest holds the trees round by round; `rounds` is the number of rounds of each booster.
    """
    scores, done, starts = start, 0, starts_of_rounds(forest)
    for number in range(int(rounds.max(initial=0))):
        begin = int(starts[done])
        done += int((rounds > number).sum())
        scores = add_scores(forest, scores, encoded, n_threads, (begin, int(starts[done]) - begin))
        yield scores


def first_rounds(model: Model, n_rounds: int) -> Model:
    """A copy whose forest ends after these rounds; the model stays as it is."""
    check_is_fitted(model, "forest_")
    n_rounds = check_first("n_rounds", n_rounds, model.n_estimators_)
    if n_rounds < model.n_estimators_:
        check_staged(model.dropout_rate)
    short = copy.copy(model)
    for name in _OF_ALL_ROUNDS:
        short.__dict__.pop(name, None)
    short.forest_ = copy.deepcopy(model.forest_)
    short.rounds_ = np.minimum(model.rounds_, n_rounds)
    short.forest_.truncate(n_trees_of(model.forest_, int(short.rounds_.sum())))
    short.n_estimators_ = n_rounds
    return short


def check_staged(dropout_rate: float) -> None:
    """Refuse to take a model of dropout apart."""
    if dropout_rate > 0:
        raise InvalidParameter(
            f"dropout_rate={dropout_rate} leaves no stages to predict: rounds changed the weights of earlier ones.",
            parameter="dropout_rate",
            received=dropout_rate,
            allowed="0",
            hint="Fit models of fewer rounds to compare them.",
        )


def held_out_rows(model: Any, method: str) -> CalibrationRows:
    """The rows that calibrate intervals and sets; an error that says what to set if there are none."""
    check_is_fitted(model, "forest_")
    rows: CalibrationRows | None = getattr(model, "_calibration", None)
    if rows is not None:
        return rows
    raise InvalidInput(
        f"{method} is calibrated by out-of-fold predictions, and this fit has none: it was one with "
        f"n_folds={model.n_folds!r}, which held no fold out, or with an eval_set, or fewer rounds were kept of it.",
        parameter="n_folds",
        received=model.n_folds,
        allowed="at least 2 folds",
        hint="Set n_folds=5, and fit without an eval_set.",
    )
