"""Gradient boosting on a scan: what is prepared in passes over its batches, and what a fit needs beside bins."""

import time
from dataclasses import replace
from typing import Any

from coterie._params import in_short, is_auto
from coterie.boosting._training import BoostingData
from coterie.boosting.plan import Plan
from coterie.data.streaming.scan import Scan
from coterie.data.streaming.survey import TargetSettings, Watch
from coterie.data.streaming.training import prepare_scan
from coterie.errors import InvalidParameter
from coterie.fitting.estimator import FitRun
from coterie.fitting.monitor import FitEvent, active_monitors, emit
from coterie.metrics import scorer_of

_EVENTS_OF_A_PASS = 20
_ROWS_OF_AN_EVENT = 1_000_000  # as long as nobody knows how many there are


def prepare_streamed(estimator: Any, run: FitRun, scan: Scan, given: dict[str, Any]) -> BoostingData:
    """The first pass: everything but the features."""
    scan.refuse_beside(**given)
    _check_parameters(estimator)
    settings = TargetSettings(
        estimator._task, type(estimator).__name__, getattr(estimator, "class_weight", None)
    )
    train, streamed = prepare_scan(estimator, scan, settings, run.seed, _row_events(run))
    estimator._set_target(train)
    offset = estimator._read_offset(streamed.offset, train.n_rows)
    return BoostingData(scan, train, offset, streamed.groups, streamed=streamed)


def _check_parameters(estimator: Any) -> None:
    """Refuse what needs rows of the table as the user has them."""
    if estimator.init is not None and not isinstance(estimator.init, str):
        raise InvalidParameter(
            f"init={in_short(estimator.init)} is fitted to the table as it is, and a scan has no such table.",
            parameter="init",
            received=estimator.init,
            allowed="None or 'zero'",
            hint="Name a column of its predictions: scan(source, offset='...').",
        )
    if estimator.scoring is not None and not hasattr(scorer_of(estimator.scoring), "_score_func"):
        raise InvalidParameter(
            f"scoring={in_short(estimator.scoring)} is a function of rows, and a scan has none to show.",
            parameter="scoring",
            received=estimator.scoring,
            allowed="the name of a scorer, or what sklearn.metrics.make_scorer returns",
        )


def with_features(estimator: Any, data: BoostingData, plan: Plan) -> BoostingData:
    """The same data with the features themselves, if bins are not all that the fit reads."""
    assert data.streamed is not None
    if not _needs_features(estimator, data, plan):
        return data
    return replace(data, train=replace(data.train, encoded=data.streamed.features()))


def _needs_features(estimator: Any, data: BoostingData, plan: Plan) -> bool:
    chosen = estimator.linear_leaves
    lines = any(policy.linear_leaves for policy in plan.policies)
    if lines and is_auto(chosen):
        lines = bool(estimator._loss().linear_leaves)
    statistics = plan.target_statistics != "none" and bool(data.train.encoded.n_levels.any())
    replayed = bool(estimator.warm_start) or estimator.checkpoint is not None
    return lines or statistics or plan.n_folds > 1 or replayed


def _row_events(run: FitRun) -> Watch | None:
    """Rows that were read, for those who watch the fit: how many, in which pass, and what is left of the pass."""
    if not active_monitors():
        return None
    passes: dict[str, tuple[int, float]] = {}
    steps: dict[str, int] = {}

    def watch(what: str, done: int, total: int | None) -> None:
        if what not in passes:
            passes[what] = (len(passes) + 1, time.monotonic())
        number, begin = passes[what]
        step = done // _ROWS_OF_AN_EVENT if total is None else done * _EVENTS_OF_A_PASS // total
        if steps.get(what) == step:
            return
        steps[what] = step
        note = f"{what}, pass {number}"
        if total is not None and done < total:
            note += f", {(time.monotonic() - begin) * (total - done) / done:.0f} s left"
        emit(FitEvent(run.owner, "row", done, total, note=note))

    return watch
