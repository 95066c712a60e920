"""Members one after the other, each on every fold, as long as time and memory allow; then a search around the best.

Words
  entry     a candidate of the portfolio: a learner by name, and what it may cost
  member    an entry that is complete: a model for each fold, and out-of-fold predictions
  skipped   an entry that was not fitted, or not to all folds, and why
  variation an entry that a search draws near a member; it becomes a member if the committee gains by it
"""

import math
import warnings
import zlib
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.utils.validation import has_fit_parameter

from coterie._params import spawn_seeds
from coterie._typing import FloatArray, RowArray
from coterie.committee._committee_data import (
    Clock,
    CommitteeData,
    Deadline,
    FitLimits,
    FittedMember,
    MemberRecord,
    RepeatedDeadline,
)
from coterie.committee._left_out import left_out_predictions, sampled_rows, takes_weights
from coterie.committee._member_checkpoints import restored, stored
from coterie.committee.candidates.entry import Entry, Shape
from coterie.committee.candidates.foresight import LARGE, Forecast, rows_within
from coterie.committee.fold_features import FeaturedModel, FoldFeatures
from coterie.committee.growing_mean import GrowingMean
from coterie.committee.member_search import LEAST_ROWS, MemberSearch
from coterie.committee.metrics import Metric, RowTargets
from coterie.data.parts import rows_of
from coterie.errors import InvalidParameter
from coterie.fitting.checkpoint_writer import CheckpointWriter, reading_checkpoint
from coterie.fitting.monitor import FitEvent, emit, monitored
from coterie.members.fit_members import FitTask, Member, dropped_members, fit_all
from coterie.members.out_of_fold import Fold
from coterie.members.response import ResponseMethod, method_of, probabilities_or_vote
from coterie.members.weight_parameter import weight_params
from coterie.metrics import shown_metric

_SHARE_OF_FIRST = 0.4  # of the time limit that the first member is meant to take at most
_FEWEST_ROWS = 2_000  # that the first member is fitted to, however little time there is
_SHARE_OF_LATER = 0.4  # of the time that is left, for which a later member of a large table gets rows
_WORTH_IT = 1.5  # times as many rows, for which the best member is fitted once more
_LEAST_GAIN = 1e-4  # of the loss, for which a member of the portfolio counts as one that adds something
_N_TIMINGS = 3  # of a score, of which the least counts: a stall makes a timing longer, and none shorter


@dataclass
class PortfolioRun:
    """The state of a committee while its members are fitted: it can be interrupted at any time.

    Attributes
    ----------
    metric : scores members as they are complete
    members : those that are complete, in the order in which they were fitted
    errors : why entries failed, by name
    checkpoint : where members are kept as they are complete, or None
    features : what texts and dates of the table become, or None
    repeated : records of the members of a fit that is repeated, in their order; None if limits decide
    variation_named : the entry of a variation, if what worked is to be varied in the time that is left; else None
    search_ended_because : why the search for variations ended, or ""
    n_tried : variations that the search tried
    """

    data: CommitteeData
    limits: FitLimits
    clock: Clock
    seed: int | None
    metric: Metric
    checkpoint: CheckpointWriter | None = None
    features: FoldFeatures | None = None
    members: list[FittedMember] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    errors: dict[str, Exception] = field(default_factory=dict)
    interrupted: bool = False
    repeated: Sequence[MemberRecord] | None = None
    variation_named: Callable[[str], Entry] | None = None
    search_ended_because: str = ""
    n_tried: int = 0
    _score_seconds: float = float("inf")  # what a score takes, by the least of all timings
    _late: set[str] = field(default_factory=set)  # skipped because time seemed to be too short
    _forecast: Forecast = field(default_factory=Forecast)
    _megabytes_kept: float = 0.0
    _written: set[str] = field(default_factory=set)  # members that are in the checkpoint, or cannot be
    _planned_rows: dict[str, int] = field(default_factory=dict)  # that models of a member are fitted to
    _mean: GrowingMean | None = None
    _without_gain: int = 0  # members in a row that added nothing
    _asked_to_stop: bool = False

    def train(self, entries: Sequence[Entry]) -> None:
        """Fit members in their order, as long as the limits, Ctrl-C and monitors allow."""
        try:
            self._train(entries)
        except KeyboardInterrupt:
            if not self.members:
                raise
            self.interrupted = True
            self._skip_others(entries, "interrupted")
        if not self.members and not self.errors:
            listed = "; ".join(f"{name!r}: {why}" for name, why in self.skipped.items())
            raise InvalidParameter(
                f"{self.limits.owner}: no member can be fitted. {listed}.",
                parameter="portfolio",
                received=[entry.name for entry in entries],
            )
        dropped_members([*self.errors, *self.names], self.errors, self.limits.owner)

    @property
    def names(self) -> list[str]:
        return [member.name for member in self.members]

    def _train(self, entries: Sequence[Entry]) -> None:
        with reading_checkpoint():
            known = self._known_members()
        chosen = list(entries) if self.repeated is None else self._entries_repeated(entries)
        seeds = self._seeds_of([entry.name for entry in entries])
        self._mean = GrowingMean(self.data.targets, is_classification=self.data.classes is not None)
        for entry in chosen:
            if self._train_entry(entry, len(chosen), seeds, known):
                self._skip_others(entries, "a monitor asked to stop")
                return
            if self._patience_is_over():
                self._skip_others(entries, f"{self.limits.patience} members in a row added nothing")
                break
        # What seemed too dear may not be: it was foreseen from few members, perhaps while the machine was busy.
        for entry in [entry for entry in chosen if entry.name in self._late & set(self.skipped)]:
            if self._patience_is_over():
                break
            why = self.skipped.pop(entry.name)
            if self._train_entry(entry, len(chosen), seeds, known):
                return
            if entry.name in self.skipped and entry.name not in self.names:
                self.skipped[entry.name] = why
        if self.repeated is None and self.members and self.clock.limit is not None:
            self._fit_best_to_more_rows(seeds)
            self._search(known)

    def _seeds_of(self, names: Sequence[str]) -> dict[str, int] | None:
        """The seeds of the entries, by name."""
        if self.seed is None:
            return None
        return {name: int(own) for name, own in zip(names, spawn_seeds(self.seed, len(names)), strict=True)}

    def _seed_of(self, name: str, seeds: dict[str, int] | None) -> int | None:
        """The seed of an entry, or of a variation: its name says which."""
        if self.seed is None or seeds is None:
            return None
        return seeds.get(name, (self.seed + zlib.crc32(name.encode())) % 2**63)

    def _patience_is_over(self) -> bool:
        patience = self.limits.patience if self.repeated is None else None
        return patience is not None and self._without_gain >= patience

    def _train_entry(
        self, entry: Entry, n_entries: int, seeds: dict[str, int] | None, known: dict[str, dict[str, Any]]
    ) -> bool:
        """Resume, skip or fit a member; True is a wish to stop."""
        self._planned_rows.pop(entry.name, None)
        if entry.name in known:
            with reading_checkpoint():
                self._resume_member(entry, known[entry.name])
        elif entry.name in self.skipped:
            return False
        else:
            self._planned_rows[entry.name] = self._most_rows(entry)
            why = None if self.repeated is not None else self._reason_to_skip(entry)
            if why is not None:
                self.skipped[entry.name] = why
                return False
            self._fit_member(entry, self._seed_of(entry.name, seeds))
            if not self.members or self.members[-1].entry is not entry:
                return False
        assert self._mean is not None
        gain = self._mean.add(self.members[-1].predictions)
        self._without_gain = 0 if gain > _LEAST_GAIN else self._without_gain + 1
        return self._tell(n_entries, is_new=entry.name not in known)

    def _tell(self, n_entries: int, *, is_new: bool) -> bool:
        """Report the newest member, and write it into the checkpoint; True is a wish to stop."""
        stop = self._report_member(max(n_entries, len(self.members)))
        if self.checkpoint is not None and is_new:
            self.checkpoint.look(len(self.members) - len(self._written))
        self._asked_to_stop |= stop
        return stop

    def _entries_repeated(self, entries: Sequence[Entry]) -> list[Entry]:
        """The entries that are fitted again, in the order in which they were fitted."""
        assert self.repeated is not None
        by_name = {entry.name: entry for entry in entries}
        if self.variation_named is not None:
            varied = [record.name for record in self.repeated if "~" in record.name]
            by_name = {name: self.variation_named(name) for name in varied} | by_name
        missing = [record.name for record in self.repeated if record.name not in by_name]
        if missing:
            raise InvalidParameter.expecting(
                f"{self.limits.owner} is to repeat a fit with the members {missing}, which the portfolio does not hold",
                "the portfolio of the fit that is repeated",
                "portfolio",
                [entry.name for entry in entries],
            )
        return [by_name[record.name] for record in self.repeated]

    def _search(self, known: dict[str, dict[str, Any]]) -> None:
        """Variations of the best members, in the time that is left."""
        limits, held_out = self.limits, len(self._scored_rows(self.members[-1])[0])
        is_full = limits.max_members is not None and len(self.members) >= limits.max_members
        if self.variation_named is None or is_full or held_out < LEAST_ROWS:
            return
        assert self._mean is not None
        for name in [name for name in known if name not in self.names]:
            if self._train_entry(self.variation_named(name), len(self.members) + 1, None, known):
                return
        search = MemberSearch(self, self.variation_named)
        self.search_ended_because = search.search(self._mean)
        self.n_tried = search.n_tried

    @property
    def is_over(self) -> bool:
        """Whether no time is left, or somebody asked to stop."""
        full = self.limits.max_members is not None and len(self.members) >= self.limits.max_members
        return self._asked_to_stop or full or self.clock.left <= self.reserve

    def loss_of(self, member: FittedMember) -> float:
        """The loss of a member alone, on rows held out."""
        rows, targets = self._scored_rows(member)
        return -self.metric.chosen_by.value(member.predictions[rows], targets)

    def fits(self, entry: Entry, n_more: float = 0.0) -> bool:
        """Whether there is time and memory for a member, and for so many folds of it more."""
        self._planned_rows[entry.name] = self._most_rows(entry)
        return self._reason_to_skip(entry, n_more) is None

    def first_fold_predictions(self, entry: Entry) -> FloatArray | None:
        """What a model of the first fold predicts for its rows held out; None if it fails or time is over."""
        fold = self.data.folds[0]
        member = FittedMember(entry, self._response(entry), [], np.zeros((0, 1)), 0.0, 0.0, 0, False)
        trial = entry if entry.trial is None else replace(entry, estimator=entry.trial)
        seed = self._seed_of(entry.name, {})
        try:
            model = self._fitted(trial, fold, self._most_rows(entry), seed, 2, member)
            return member.response.predict_with(entry.name, model, rows_of(self.data.X, fold.test))
        except Exception as error:
            self._fail(entry, error)
            return None

    def add_if_it_gains(self, entry: Entry, mean: GrowingMean) -> bool:
        """Fit a variation to all folds, and keep it if the mean of the members is better with it."""
        before = self._megabytes_kept
        self._fit_member(entry, self._seed_of(entry.name, {}))
        self.skipped.pop(entry.name, None)
        if self.members[-1].entry is not entry:
            return False
        if mean.growth(self.members[-1].predictions).gain <= 0:
            self.members.pop()
            self._megabytes_kept = before
            return False
        mean.add(self.members[-1].predictions)
        self._tell(len(self.members), is_new=True)
        return True

    def _fit_best_to_more_rows(self, seeds: dict[str, int] | None) -> None:
        """Of members that were fitted to samples, the best is fitted to as many rows as there is time for."""
        best = min(self.members, key=self.loss_of)
        entry, allowed = best.entry, self.clock.left - self.reserve
        most = min(self.data.shape.n_train, entry.max_rows or self.data.shape.n_train)
        if entry.seconds is None or best.n_rows >= most:
            return
        n_rows = rows_within(most, best.n_rows, lambda rows: self._seconds_of_rows(entry, rows), allowed)
        if n_rows < _WORTH_IT * best.n_rows:
            return
        self._planned_rows[entry.name] = n_rows
        self._fit_member(entry, self._seed_of(entry.name, seeds))
        self.skipped.pop(entry.name, None)
        newest = self.members[-1]
        if newest is best or newest.entry is not entry:
            return
        worse = best if self.loss_of(newest) < self.loss_of(best) else newest
        self.members = [member for member in self.members if member is not worse]

    def _seconds_of_rows(self, entry: Entry, n_rows: int) -> float:
        """What all fits of a member may take, if each sees so many rows."""
        shape = self.data.shape
        n_fits = entry.single_fit_folds if self._fits_once(entry, n_rows) else len(self.data.folds)
        own = Shape(n_rows, shape.n_test, shape.n_columns, shape.n_outputs)
        return n_fits * self._forecast.seconds(entry, own)

    def _record_of(self, entry: Entry) -> MemberRecord | None:
        return next((record for record in self.repeated or () if record.name == entry.name), None)

    def _skip_others(self, entries: Sequence[Entry], why: str) -> None:
        decided = {*self.names, *self.skipped, *self.errors}
        self.skipped |= {entry.name: why for entry in entries if entry.name not in decided}

    def _report_member(self, n_entries: int) -> bool:
        """Score the newest member, and emit an event; True is a wish to stop."""
        newest = self.members[-1]
        rows, targets = self._scored_rows(newest)
        value = self.metric.value(newest.predictions[rows], targets) if len(rows) else float("nan")
        self._time_scores()
        shown = shown_metric(self.metric.name)
        return emit(
            FitEvent(
                self.limits.owner,
                "member",
                len(self.members),
                n_entries,
                name=newest.name,
                seconds=newest.fit_time,
                measures={shown.name: shown.value(value)},
                note=f"{self.clock.elapsed:.1f} s since the beginning",
            )
        )

    @property
    def reserve(self) -> float:
        """Seconds that the choice of weights will take.

        To choose weights is to score many means, so what one score takes says what the choice will take.
        """
        if self.clock.limit is None or math.isinf(self._score_seconds):
            return 0.0
        n_choices = len(self.data.folds) + 1
        return self._score_seconds * n_choices * self.limits.max_iter * (len(self.members) + 1) / 2

    def _time_scores(self) -> None:
        """Time some scores of the newest member; the least of all timings so far counts."""
        rows, targets = self._scored_rows(self.members[-1])
        if self.clock.limit is None or not len(rows):
            return
        predictions, metric = self.members[-1].predictions[rows], self.metric.chosen_by
        evaluator = metric.evaluator(predictions[None], targets)
        for _ in range(_N_TIMINGS):
            begun = self.clock.elapsed
            evaluator.scores(predictions, 1, [0])
            self._score_seconds = min(self._score_seconds, self.clock.elapsed - begun)

    def _scored_rows(self, member: FittedMember) -> tuple[RowArray, RowTargets]:
        """Rows that a member is scored on, at most as many as weights are chosen by."""
        targets = self.data.targets
        known = ~np.isnan(member.predictions).any(axis=1) & (targets.weight > 0)
        rows = np.flatnonzero(known)[: self.metric.most_rows]
        return rows, targets.take(rows)

    def _known_members(self) -> dict[str, dict[str, Any]]:
        """Members that the checkpoint knows, by name; what was skipped before the last of them stays so."""
        parts = [] if self.checkpoint is None else self.checkpoint.known
        members = {held["name"]: held for part in parts for held in part["members"]}
        if parts:
            self.skipped |= parts[-1]["skipped"]
            self._written = set(members)
        return members

    def _resume_member(self, entry: Entry, held: dict[str, Any]) -> None:
        """A member that was complete before the fit was interrupted."""
        shape = self._shape_for(entry)
        n_models = {1 if self._takes_single_fit(entry) else len(self.data.folds), len(self.data.folds)}
        member = restored(entry, self._response(entry), held, n_models, (self.data.n_rows, shape.n_outputs))
        self._megabytes_kept += self._megabytes(entry) - 3 * 8e-6 * shape.values
        self._forecast = Forecast(*member.forecast)
        self.members.append(member)

    def collect(self) -> tuple[int, Any, Any]:
        """What a part of the checkpoint shall hold; it is not new after that.

        A member that no file can hold, or that could not be read safely, is left out, and fitted again if need be.
        """
        assert self.checkpoint is not None
        new = [member for member in self.members if member.name not in self._written]
        self._written |= {member.name for member in new}
        members = [stored(member) for member in new if self.checkpoint.can_keep(member.models)]
        content = {
            "members": members,
            "skipped": {} if self.interrupted else dict(self.skipped),
            "elapsed": self.clock.elapsed,
        }
        return len(members), content, None

    def _reason_to_skip(self, entry: Entry, n_more: float = 0.0) -> str | None:
        limits = self.limits
        if limits.max_members is not None and len(self.members) >= limits.max_members:
            return f"max_members={limits.max_members} were fitted"
        if self.data.weight is not None and not takes_weights(entry.estimator):
            return "it takes no sample_weight"
        needed = self._megabytes_kept + self._megabytes(entry)
        if limits.memory is not None and needed > limits.memory:
            return f"about {needed:.3g} MB would be needed; memory_limit={limits.memory:g} expected at least that"
        if not self.members:
            return None
        expected = (self._n_fits(entry) + n_more) * self._forecast.seconds(entry, self._shape_for(entry))
        return self._too_late(entry, expected)

    def _n_fits(self, entry: Entry) -> float:
        """Folds whose time a member takes."""
        return entry.single_fit_folds if self._takes_single_fit(entry) else len(self.data.folds)

    def _takes_single_fit(self, entry: Entry) -> bool:
        """Whether the member is fitted once, to all rows, and predicts rows that it left out by itself."""
        record = self._record_of(entry)
        return self._fits_once(entry, self._most_rows(entry)) if record is None else record.single_fit

    def _fits_once(self, entry: Entry, n_rows: int) -> bool:
        """Whether a member that sees so many rows is fitted once."""
        data = self.data
        if self.features is not None and self.features.learns:
            return False  # what is learned from texts is learned without the rows held out
        if entry.single_fit is None or not data.random_folds or n_rows < data.shape.n_train:
            return False
        return data.groups is None or has_fit_parameter(entry.single_fit, "groups")

    def _too_late(self, entry: Entry, seconds: float) -> str | None:
        left = self.clock.left - self.reserve
        if left < seconds <= self.clock.left:  # only the reserve is in the way
            self._time_scores()
            left = self.clock.left - self.reserve
        if seconds <= left:
            return None
        self._late.add(entry.name)
        return f"it would take about {seconds:.3g} s, and {max(0.0, left):.3g} s were left"

    def _megabytes(self, entry: Entry) -> float:
        """While a fold is fitted, and for the models that are kept."""
        shape = self._shape_for(entry)
        working = 3 * 8e-6 * shape.values
        model = working if entry.megabytes is None else entry.megabytes(shape)
        n_models = entry.single_fit_models if self._takes_single_fit(entry) else len(self.data.folds)
        return working + n_models * model

    def _shape_for(self, entry: Entry) -> Shape:
        shape = self.data.shape
        rows = min(shape.n_train, self._most_rows(entry))
        return Shape(rows, shape.n_test, shape.n_columns, shape.n_outputs)

    def _most_rows(self, entry: Entry) -> int:
        """Rows that a model is fitted to: what the member can bear, and what the time limit allows."""
        shape, record = self.data.shape, self._record_of(entry)
        if record is not None:
            return record.n_rows
        if entry.name in self._planned_rows:
            return self._planned_rows[entry.name]
        most = shape.n_train if entry.max_rows is None else min(entry.max_rows, shape.n_train)
        if self.clock.limit is None or entry.seconds is None:
            return most
        if not self.members:
            n_folds, allowed = len(self.data.folds), _SHARE_OF_FIRST * self.clock.limit
            return rows_within(
                most, _FEWEST_ROWS, lambda rows: n_folds * self._known_seconds(entry, rows), allowed
            )
        if shape.n_train < LARGE:
            return most
        allowed = _SHARE_OF_LATER * (self.clock.left - self.reserve)
        return rows_within(most, LARGE, lambda rows: self._seconds_of_rows(entry, rows), allowed)

    def _known_seconds(self, entry: Entry, n_rows: int) -> float:
        """What a fold may take by what is known beforehand."""
        assert entry.seconds is not None
        return entry.seconds(replace(self.data.shape, n_train=n_rows))

    def _fit_member(self, entry: Entry, seed: int | None) -> None:
        """Fit a member, once or to every fold, unless time runs out or it fails."""
        if not self._takes_single_fit(entry) or not self._fit_once(entry, seed):
            self._fit_folds(entry, seed)

    def _fit_once(self, entry: Entry, seed: int | None) -> bool:
        """One fit that leaves rows out by itself. Returns False if some row was left out by no part of it."""
        data, response, shape = self.data, self._response(entry), self._shape_for(entry)
        member = FittedMember(
            entry, response, [], np.zeros((0, 1)), 0.0, 0.0, data.n_rows, False, single_fit=True
        )
        every = Fold(np.arange(data.n_rows), np.arange(0))
        begun = self.clock.elapsed
        try:
            single = replace(entry, estimator=entry.single_fit)
            model = self._fitted(single, every, data.n_rows, seed, 1, member)
            middle = self.clock.elapsed
            some = data.folds[0].test[:1000]
            response.predict_with(entry.name, model, rows_of(data.X, some))
        except Exception as error:
            self._fail(entry, error)
            return True
        ended = self.clock.elapsed
        member.predictions = left_out_predictions(model, data.classes)
        counts = slice(None) if data.weight is None else data.weight > 0
        if np.isnan(member.predictions[counts]).any():
            if not member.stopped:
                return False
            self.skipped[entry.name] = "time ran out before its trees had left out every row"
            return True
        member.models = [model]
        member.fit_time, member.predict_time = middle - begun, 1000 / len(some) * (ended - middle)
        self._forecast.learn(entry, shape, (middle - begun) / entry.single_fit_folds)
        self._add(member, shape)
        return True

    def _fit_folds(self, entry: Entry, seed: int | None) -> None:
        """Fit a member to every fold."""
        data, n_folds = self.data, len(self.data.folds)
        response, shape = self._response(entry), self._shape_for(entry)
        seeds = [None] * n_folds if seed is None else [int(own) for own in spawn_seeds(seed, n_folds)]
        sums, coverage = np.zeros((data.n_rows, shape.n_outputs)), np.zeros(data.n_rows)
        member = FittedMember(entry, response, [], sums, 0.0, 0.0, shape.n_train, False)
        predict_time = 0.0
        for number, fold in enumerate(data.folds):
            if self.members and number:
                rest = (member.fit_time + predict_time) / number * (n_folds - number)
                why = self._too_late(entry, rest)
                if why is not None:
                    self.skipped[entry.name] = f"after {number} of {n_folds} folds, {why}"
                    return
            begun = self.clock.elapsed
            try:
                model = self._fitted(entry, fold, shape.n_train, seeds[number], n_folds - number, member)
                middle = self.clock.elapsed
                predictions = response.predict_with(entry.name, model, rows_of(data.X, fold.test))
            except Exception as error:
                self._fail(entry, error)
                return
            ended = self.clock.elapsed
            np.add.at(sums, fold.test, predictions)
            np.add.at(coverage, fold.test, 1)
            member.models.append(model)
            member.fit_time += middle - begun
            predict_time += ended - middle
            self._forecast.learn(entry, shape, ended - begun)
        with np.errstate(invalid="ignore"):
            member.predictions = sums / coverage[:, None]
        member.predict_time = 1000 * n_folds * predict_time / max(1.0, coverage.sum())
        self._add(member, shape)

    def _fail(self, entry: Entry, error: Exception) -> None:
        if self.limits.on_error == "raise":
            raise error
        self.errors[entry.name] = error

    def _add(self, member: FittedMember, shape: Shape) -> None:
        self._megabytes_kept += self._megabytes(member.entry) - 3 * 8e-6 * shape.values
        member.forecast = self._forecast.state
        self.members.append(member)

    def _fitted(
        self, entry: Entry, fold: Fold, n_rows: int, seed: int | None, folds_left: int, member: FittedMember
    ) -> Any:
        """A model of one fold; rounds of boosting and trees of forests end when its share of the time is over."""
        data, estimator = self.data, entry.estimator
        share = 1.0 if self.members else _SHARE_OF_FIRST
        until = self.clock.elapsed + share * max(0.0, self.clock.left - self.reserve) / folds_left
        params = weight_params(estimator, data.weight)
        if data.groups is not None and has_fit_parameter(estimator, "groups"):
            params["groups"] = data.groups
        task = FitTask(
            Member(entry.name, estimator),
            data.y,
            rows=self._sample(fold.train, n_rows),
            params=params,
            seed=seed,
        )
        record = self._record_of(entry)
        deadline = Deadline(self.clock, until)
        if record is not None:
            deadline = RepeatedDeadline(int(record.stops[min(len(member.stops), len(record.stops) - 1)]))
        is_limited = self.clock.limit is not None or (record is not None and record.stops.any())
        features, X = (None, data.X) if self.features is None else self.features.of_rows(fold.train)
        with monitored(deadline) if is_limited else nullcontext():
            [outcome] = fit_all([task], X, n_jobs=self.limits.n_jobs, on_error="raise")
        member.stopped |= deadline.stopped
        member.stops.append(deadline.stop)
        return outcome.model if features is None else FeaturedModel(features, outcome.model)

    def model_of_all(self, entry: Entry, seed: int) -> Any:
        """A model of all rows, or of as many as the member can bear."""
        [every] = self.data.folds
        most = len(every.train) if entry.max_rows is None else entry.max_rows
        member = FittedMember(entry, self._response(entry), [], np.zeros((0, 1)), 0.0, 0.0, most, False)
        return self._fitted(entry, every, most, seed, 1, member)

    def _sample(self, rows: RowArray, most: int) -> RowArray:
        """A sample of rows if there are too many; at least one row of every class stays."""
        classes = None if self.data.classes is None else self.data.y
        return sampled_rows(rows, most, 0 if self.seed is None else self.seed, classes)

    def _response(self, entry: Entry) -> ResponseMethod:
        classes = self.data.classes
        if classes is None:
            return ResponseMethod(method_of(entry.name, entry.estimator, "predict"))
        return probabilities_or_vote(entry.name, entry.estimator, classes)


def warn_interrupted(owner: str, names: Sequence[str]) -> None:
    """Say that the committee is smaller than it would have been."""
    warnings.warn(
        f"{owner}.fit was interrupted. The committee is made of the members that were complete: {', '.join(names)}.",
        UserWarning,
        stacklevel=3,
    )
