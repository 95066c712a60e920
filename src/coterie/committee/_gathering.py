"""Members one after the other, each on every fold, as long as time and memory allow.

Words
  gathered  a member that is complete: a model for each fold, and answers to all rows out of fold
  skipped   a member that was not fitted, or not to all folds, and why
"""

import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from coterie._params import is_auto
from coterie._seeds import spawn_seeds
from coterie._typing import AnyArray, FloatArray, RowArray
from coterie.boosting.gradient_boosting import GradientBoostingClassifier, GradientBoostingRegressor
from coterie.committee._clock import Clock, Forecast, StopAt
from coterie.committee._gathered import Gathered, Limits, Training
from coterie.committee._on_matrix import OnMatrixClassifier, OnMatrixRegressor
from coterie.committee.portfolio import Entry, Shape
from coterie.data.class_columns import columns_by_class
from coterie.data.parts import rows_of
from coterie.errors import InvalidParameter, InvalidType, ModelFileError
from coterie.fitting.callbacks import current_watch
from coterie.fitting.checkpoint_writer import Journal, taken_up
from coterie.forests.extra_trees import ExtraTreesClassifier, ExtraTreesRegressor
from coterie.forests.growth import growing_until
from coterie.forests.random_forest import RandomForestClassifier, RandomForestRegressor
from coterie.members.fit_members import FitTask, Member, dropped_members, fit_all
from coterie.members.out_of_fold import Fold
from coterie.members.response import ResponseMethod, method_of
from coterie.members.weight_parameter import weight_params

__all__ = ["Gathered", "Gathering", "Limits", "Training"]

_STOPPABLE = (GradientBoostingClassifier, GradientBoostingRegressor)
_FORESTS = (RandomForestClassifier, RandomForestRegressor, ExtraTreesClassifier, ExtraTreesRegressor)
_SHARE_OF_FIRST = 0.4  # of the time limit that the first member is meant to take at most
_FEWEST_ROWS = 2_000  # that the first member is fitted to, however little time there is


@dataclass
class Gathering:
    """The state of a committee while it is gathered: it can be interrupted at any time."""

    training: Training
    limits: Limits
    clock: Clock
    seed: int | None
    found: list[Gathered] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    errors: dict[str, Exception] = field(default_factory=dict)
    interrupted: bool = False
    reserve: float = 0.0  # seconds that the weights will take
    journal: Journal | None = None
    _forecast: Forecast = field(default_factory=Forecast)
    _kept: float = 0.0  # megabytes of models
    _written: set[str] = field(default_factory=set)  # members that are in the journal, or cannot be

    def run(self, entries: Sequence[Entry], after_each: Any) -> None:
        """Fit members in their order; `after_each(gathering)` is called when one is complete."""
        seeds = None if self.seed is None else spawn_seeds(self.seed, len(entries))
        with taken_up():
            known = self._known_members()
        try:
            for place, entry in enumerate(entries):
                if entry.name in known:
                    with taken_up():
                        self._take_up(entry, known[entry.name])
                    after_each(self)
                    continue
                if entry.name in self.skipped:
                    continue
                why = self._reason_to_skip(entry)
                if why is not None:
                    self.skipped[entry.name] = why
                    continue
                self._gather(entry, None if seeds is None else int(seeds[place]))
                if self.found and self.found[-1].entry is entry:
                    after_each(self)
                    if self.journal is not None:
                        self.journal.look(len(self.found) - len(self._written))
        except KeyboardInterrupt:
            if not self.found:
                raise
            self.interrupted = True
            names = {own.entry.name for own in self.found} | set(self.skipped) | set(self.errors)
            self.skipped |= {entry.name: "interrupted" for entry in entries if entry.name not in names}
        if not self.found and not self.errors:
            listed = "; ".join(f"{name!r}: {why}" for name, why in self.skipped.items())
            raise InvalidParameter(f"{self.limits.owner}: no member can be fitted. {listed}.")
        dropped_members(
            [*self.errors, *(own.entry.name for own in self.found)], self.errors, self.limits.owner
        )

    def _known_members(self) -> dict[str, dict[str, Any]]:
        """Members that the journal knows, by name; what was skipped before the last of them stays so."""
        parts = [] if self.journal is None else self.journal.known
        members = {held["name"]: held for part in parts for held in part["members"]}
        if parts:
            self.skipped |= parts[-1]["skipped"]
            self._written = set(members)
        return members

    def _take_up(self, entry: Entry, held: dict[str, Any]) -> None:
        """A member that was complete before the fit was interrupted."""
        answers = held["answers"]
        n_models = 1 if self._leaves_out(entry) else len(self.training.folds)
        if len(held["models"]) not in (n_models, len(self.training.folds)) or answers.shape != (
            self.training.n_rows,
            self.training.shape.n_outputs,
        ):
            raise ModelFileError(f"The checkpoint holds another {entry.name!r} than the one of this table.")
        shape = self._shape_for(entry)
        self._kept += self._megabytes(entry) - 3 * 8e-6 * shape.values
        self._forecast = Forecast(*held["forecast"])
        self.found.append(
            Gathered(
                entry,
                self._question(entry),
                held["models"],
                answers,
                held["fit_time"],
                held["predict_time"],
                held["n_rows"],
                held["stopped"],
                held["forecast"],
            )
        )

    def collect(self) -> tuple[int, Any, Any]:
        """What a part of the journal shall hold; it is not new after that.

        A member that no file can hold, or that could not be read safely, is left out, and fitted again if need be.
        """
        assert self.journal is not None
        new = [own for own in self.found if own.entry.name not in self._written]
        self._written |= {own.entry.name for own in new}
        members = [
            {
                "name": own.entry.name,
                "models": own.models,
                "answers": own.answers,
                "fit_time": own.fit_time,
                "predict_time": own.predict_time,
                "n_rows": own.n_rows,
                "stopped": own.stopped,
                "forecast": own.forecast,
            }
            for own in new
            if self.journal.can_keep(own.models)
        ]
        content = {
            "members": members,
            "skipped": {} if self.interrupted else dict(self.skipped),
            "elapsed": self.clock.elapsed,
        }
        return len(members), content, None

    def _reason_to_skip(self, entry: Entry) -> str | None:
        limits = self.limits
        if limits.max_members is not None and len(self.found) >= limits.max_members:
            return f"max_members={limits.max_members} were fitted"
        if self.training.weight is not None and not _takes_weights(entry.estimator):
            return "it takes no sample_weight"
        needed = self._kept + self._megabytes(entry)
        if limits.memory is not None and needed > limits.memory:
            return f"about {needed:.3g} MB would be needed; memory_limit={limits.memory:g} expected at least that"
        if not self.found:
            return None
        expected = self._n_fits(entry) * self._forecast.seconds(entry, self._shape_for(entry))
        return self._too_late(expected)

    def _n_fits(self, entry: Entry) -> float:
        """Folds whose time a member takes."""
        return entry.own_folds if self._leaves_out(entry) else len(self.training.folds)

    def _leaves_out(self, entry: Entry) -> bool:
        """Whether the member is fitted once, to all rows, and says itself what it would answer to rows left out."""
        training = self.training
        if entry.own is None or not training.drawn or self._most_rows(entry) < training.shape.n_train:
            return False
        return training.groups is None or has_fit_parameter(entry.own, "groups")

    def _too_late(self, seconds: float) -> str | None:
        left = self.clock.left - self.reserve
        if seconds <= left:
            return None
        return f"it would take about {seconds:.3g} s, and {max(0.0, left):.3g} s were left"

    def _megabytes(self, entry: Entry) -> float:
        """While a fold is fitted, and for the models that are kept."""
        shape = self._shape_for(entry)
        working = 3 * 8e-6 * shape.values
        model = working if entry.megabytes is None else entry.megabytes(shape)
        n_models = entry.own_models if self._leaves_out(entry) else len(self.training.folds)
        return working + n_models * model

    def _shape_for(self, entry: Entry) -> Shape:
        shape = self.training.shape
        rows = min(shape.n_train, self._most_rows(entry))
        return Shape(rows, shape.n_test, shape.n_columns, shape.n_outputs)

    def _most_rows(self, entry: Entry) -> int:
        """Rows that a model is fitted to: what the member can bear, and for the first what the time limit allows."""
        shape = self.training.shape
        most = shape.n_train if entry.max_rows is None else min(entry.max_rows, shape.n_train)
        if self.found or self.clock.limit is None or entry.seconds is None:
            return most
        share = _SHARE_OF_FIRST * self.clock.limit / len(self.training.folds)
        while most > _FEWEST_ROWS:
            tried = Shape(most, shape.n_test, shape.n_columns, shape.n_outputs)
            if entry.seconds(tried) <= share:
                break
            most = max(_FEWEST_ROWS, most * 3 // 4)
        return most

    def _gather(self, entry: Entry, seed: int | None) -> None:
        """Fit a member, once or to every fold, unless time runs out or it fails."""
        if not self._leaves_out(entry) or not self._gather_own(entry, seed):
            self._gather_by_folds(entry, seed)

    def _gather_own(self, entry: Entry, seed: int | None) -> bool:
        """One fit that leaves rows out by itself. Returns False if it cannot answer to all of them."""
        training, question, shape = self.training, self._question(entry), self._shape_for(entry)
        done = Gathered(entry, question, [], np.zeros((0, 1)), 0.0, 0.0, training.n_rows, False)
        every = Fold(np.arange(training.n_rows), np.arange(0))
        begun = self.clock.elapsed
        try:
            model = self._fitted(replace(entry, estimator=entry.own), every, training.n_rows, seed, 1, done)
            middle = self.clock.elapsed
            some = training.folds[0].test[:1000]
            question.predict_with(entry.name, model, rows_of(training.X, some))
        except Exception as error:
            if self.limits.on_error == "raise":
                raise
            self.errors[entry.name] = error
            return True
        ended = self.clock.elapsed
        done.answers = _left_out(model, training.classes)
        counts = slice(None) if training.weight is None else training.weight > 0
        if np.isnan(done.answers[counts]).any():
            if not done.stopped:
                return False
            self.skipped[entry.name] = "time ran out before its trees had left out every row"
            return True
        done.models = [model]
        done.fit_time, done.predict_time = middle - begun, 1000 / len(some) * (ended - middle)
        self._forecast.learn(entry, shape, (middle - begun) / entry.own_folds)
        self._add(done, shape)
        return True

    def _gather_by_folds(self, entry: Entry, seed: int | None) -> None:
        """Fit a member to every fold."""
        training, n_folds = self.training, len(self.training.folds)
        question, shape = self._question(entry), self._shape_for(entry)
        seeds = [None] * n_folds if seed is None else [int(own) for own in spawn_seeds(seed, n_folds)]
        sums, coverage = np.zeros((training.n_rows, shape.n_outputs)), np.zeros(training.n_rows)
        done = Gathered(entry, question, [], sums, 0.0, 0.0, shape.n_train, False)
        asked = 0.0
        for number, fold in enumerate(training.folds):
            if self.found and number:
                rest = (done.fit_time + asked) / number * (n_folds - number)
                why = self._too_late(rest)
                if why is not None:
                    self.skipped[entry.name] = f"after {number} of {n_folds} folds, {why}"
                    return
            begun = self.clock.elapsed
            try:
                model = self._fitted(entry, fold, shape.n_train, seeds[number], n_folds - number, done)
                middle = self.clock.elapsed
                answers = question.predict_with(entry.name, model, rows_of(training.X, fold.test))
            except Exception as error:
                if self.limits.on_error == "raise":
                    raise
                self.errors[entry.name] = error
                return
            ended = self.clock.elapsed
            np.add.at(sums, fold.test, answers)
            np.add.at(coverage, fold.test, 1)
            done.models.append(model)
            done.fit_time += middle - begun
            asked += ended - middle
            self._forecast.learn(entry, shape, ended - begun)
        with np.errstate(invalid="ignore"):
            done.answers = sums / coverage[:, None]
        done.predict_time = 1000 * n_folds * asked / max(1.0, coverage.sum())
        self._add(done, shape)

    def _add(self, done: Gathered, shape: Shape) -> None:
        self._kept += self._megabytes(done.entry) - 3 * 8e-6 * shape.values
        forecast = self._forecast
        done.forecast = (forecast.thought, forecast.taken, list(forecast.unknown))
        self.found.append(done)

    def _fitted(
        self, entry: Entry, fold: Fold, n_rows: int, seed: int | None, folds_left: int, done: Gathered
    ) -> Any:
        """A model of one fold; rounds of boosting and trees of forests end when its share of the time is over."""
        training, estimator, guard = self.training, entry.estimator, None
        share = 1.0 if self.found else _SHARE_OF_FIRST
        until = self.clock.elapsed + share * max(0.0, self.clock.left - self.reserve) / folds_left
        params = weight_params(estimator, training.weight)
        if training.groups is not None and has_fit_parameter(estimator, "groups"):
            params["groups"] = training.groups
        if self.clock.limit is not None and isinstance(estimator, _STOPPABLE) and current_watch() is None:
            guard = StopAt(self.clock, until)
            estimator = clone(estimator).set_callbacks(guard)
        task = FitTask(
            Member(entry.name, estimator),
            training.y,
            rows=self._some(fold.train, n_rows),
            params=params,
            seed=seed,
        )
        with growing_until(lambda: self.clock.elapsed > until):
            [outcome] = fit_all([task], training.X, n_jobs=self.limits.n_jobs, on_error="raise")
        if guard is not None:
            outcome.model.set_callbacks()
            done.stopped |= guard.stopped
        if isinstance(estimator, _FORESTS) and not is_auto(estimator.n_estimators):
            done.stopped |= outcome.model.n_estimators_ < estimator.n_estimators
        return outcome.model

    def model_of_all(self, entry: Entry, seed: int) -> Any:
        """A model of all rows, or of as many as the member can bear."""
        [every] = self.training.folds
        most = len(every.train) if entry.max_rows is None else entry.max_rows
        done = Gathered(entry, self._question(entry), [], np.zeros((0, 1)), 0.0, 0.0, most, False)
        return self._fitted(entry, every, most, seed, 1, done)

    def _some(self, rows: RowArray, most: int) -> RowArray:
        """A sample of rows if there are too many; at least one row of every class stays."""
        if len(rows) <= most:
            return rows
        rng = np.random.default_rng(0 if self.seed is None else self.seed)
        drawn = rng.choice(rows, most, replace=False, shuffle=False)
        classes = self.training.classes
        if classes is not None and len(np.unique(self.training.y[drawn])) < len(classes):
            _, first = np.unique(self.training.y[rows], return_index=True)
            drawn = np.union1d(drawn, rows[first])
        return np.sort(drawn)

    def _question(self, entry: Entry) -> ResponseMethod:
        classes = self.training.classes
        if classes is None:
            return ResponseMethod(method_of(entry.name, entry.estimator, "predict"))
        soft = hasattr(entry.estimator, "predict_proba")
        method = method_of(entry.name, entry.estimator, "predict_proba" if soft else "predict")
        return ResponseMethod(method, (classes,), is_vote=not soft)


def _left_out(model: Any, classes: AnyArray | None) -> FloatArray:
    """What a model says of rows that it left out, shape (n_rows, n_columns); NaN where it cannot."""
    if classes is None:
        return np.asarray(model.oob_prediction_, dtype=np.float64).reshape(-1, 1)
    answers = np.asarray(model.oob_decision_function_, dtype=np.float64)
    return columns_by_class(answers, model.classes_, classes)


def _takes_weights(estimator: Any) -> bool:
    inner = (
        estimator.estimator if isinstance(estimator, OnMatrixClassifier | OnMatrixRegressor) else estimator
    )
    try:
        weight_params(inner, np.ones(1))
    except InvalidType:
        return False
    return True


def say(limits: Limits, text: str) -> None:
    """A line of progress, if it is wanted."""
    if limits.verbose:
        sys.stdout.write(f"{limits.owner}: {text}\n")


def warn_interrupted(gathering: Gathering) -> None:
    """Say that the committee is smaller than it would have been."""
    names = ", ".join(own.entry.name for own in gathering.found)
    warnings.warn(
        f"{gathering.limits.owner}.fit was interrupted. The committee is made of the members that were complete: "
        f"{names}.",
        UserWarning,
        stacklevel=4,
    )
