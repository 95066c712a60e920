"""What is measured beside the set that decides when to stop: other eval sets, and rows that were learned from."""

from typing import TYPE_CHECKING, Any

import numpy as np

from coterie._typing import RowArray
from coterie.boosting._evaluators import EvalSetEvaluator, HeldOutEvaluator
from coterie.boosting._trainer import Booster, BoosterGroup, Trainer
from coterie.fitting.eval_set import EvalSet
from coterie.metrics import ShownMetric

if TYPE_CHECKING:
    from coterie.boosting._training import BoostingFit, TrainedBoosting

_TRAINING = " training"  # no name of an eval set begins with a space
_MOST_ROWS = 10_000  # of each booster, that its training loss is measured on


def eval_set_evaluator(
    own: EvalSet, boosters: list[Booster], fit: "BoostingFit", init: list[Any]
) -> EvalSetEvaluator:
    """What measures some boosters, whose fitted copies of `init` are given, on an eval set."""
    start = np.zeros((own.encoded.n_rows, max(1, fit.n_outputs)))
    start = start if own.offset is None else start + own.offset
    if fit.init is not None:
        start = start + fit.init.mean_scores(init, own.X, own.encoded.n_rows)
    scorer = fit.scorer(own.X, own.target, own.given_weight) if fit.scorer else None
    return EvalSetEvaluator(own, boosters, start, scorer, fit.n_threads)


def observe_rounds(trainer: Trainer, fit: "BoostingFit", init: list[Any]) -> None:
    """Let every group be measured on the other eval sets, and on rows that it learns from."""
    n_groups = len(trainer.groups)
    for place, group in enumerate(trainer.groups):
        for name, own in fit.data.observed_sets.items():
            group.observe_with(name, eval_set_evaluator(own, group.boosters, fit, init[place::n_groups]))
        if fit.measures_training:
            group.observe_with(_TRAINING, _training_evaluator(group, fit))


def _training_evaluator(group: BoosterGroup, fit: "BoostingFit") -> HeldOutEvaluator:
    data = fit.data
    rows = [_some_rows(booster.part_rows, data.n_rows) for booster in group.boosters]
    return HeldOutEvaluator(
        group.boosters,
        [data.train.target.values[own] for own in rows],
        [data.weights_of(own) for own in rows],
        None,
        rows=rows,
    )


def _some_rows(rows: RowArray, n_rows: int) -> RowArray:
    """Rows that are evenly spaced; no rows to learn from means all."""
    known = np.arange(n_rows) if len(rows) == 0 else rows.astype(np.int64)
    if len(known) <= _MOST_ROWS:
        return known
    return np.asarray(known[np.linspace(0, len(known) - 1, _MOST_ROWS).astype(np.int64)])


def latest_measures(trainer: Trainer, eval_name: str, metric: ShownMetric | None) -> dict[str, float]:
    """What is known after the last round, by name: as monitors and people are told."""
    names: list[tuple[str, str | None]] = [
        ("training" if own == _TRAINING else own, own) for own in reversed(trainer.observers())
    ]
    if trainer.is_evaluated:
        names.append((eval_name or "validation", None))
    found = {}
    for shown, observer in names:
        result = trainer.latest(observer)
        found[f"{shown} loss"] = result.loss
        if result.score is not None:
            name, score = (
                ("score", result.score) if metric is None else (metric.name, metric.value(result.score))
            )
            found[f"{shown} {name}"] = score
    return found


def keep_curves(trained: "TrainedBoosting", trainer: Trainer, eval_name: str) -> None:
    """Put the curves of all eval sets and of the training rows where they are found after the fit."""
    for name in trainer.observers():
        if name == _TRAINING:
            trained.training_losses = trainer.mean_losses(name)
        else:
            trained.curves[name] = trainer.mean_losses(name), trainer.mean_scores(name)
    if eval_name and trained.losses is not None:
        trained.curves[eval_name] = trained.losses, trained.scores
