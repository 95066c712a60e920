"""What committees of classes and of numbers share: members within limits, weights, a leaderboard, one fast model."""

import copy
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import TimeSeriesSplit
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from coterie._params import (
    Boolean,
    Function,
    Instance,
    Integer,
    OneOf,
    Params,
    Real,
    Seed,
    root_seed,
    spawn_seeds,
)
from coterie._typing import AnyArray, FloatArray, RowArray, Task
from coterie.committee._committee_data import (
    Clock,
    CommitteeData,
    FitLimits,
    FittedMember,
    MemberRecord,
    ReadInput,
    drawn_folds,
    read_input,
    thinned,
)
from coterie.committee._portfolio_run import PortfolioRun, warn_interrupted
from coterie.committee.candidates.foresight import folds_within
from coterie.committee.distilled import distil as distil_committee
from coterie.committee.explained import explain as explain_committee
from coterie.committee.explained import gain_importances
from coterie.committee.fold_features import FoldFeatures
from coterie.committee.leaderboard import (
    CommitteeScores,
    Leaderboard,
    LeftOutMembers,
    MemberSummary,
    leaderboard_of,
)
from coterie.committee.metrics import Metric, RowTargets, ScorerMetric
from coterie.committee.portfolio import (
    Entry,
    PortfolioLike,
    patience_of,
    portfolio_of,
    prior_member,
    variation_of,
)
from coterie.committee.prices import bytes_of, shares_of_predict_time
from coterie.committee.weights import (
    OutOfFoldPredictions,
    WeightChoice,
    choose_weights,
    nested_predictions,
)
from coterie.data.parts import row_indexable
from coterie.data.prepare import read_table
from coterie.data.table import Schema, Table
from coterie.data.table_features import TableFeatures
from coterie.data.target import Target
from coterie.errors import InvalidInput
from coterie.fitting.checkpoint import CheckpointLike
from coterie.fitting.checkpoint_writer import reading_checkpoint
from coterie.fitting.estimator import Estimator
from coterie.fitting.fingerprint import digest_of
from coterie.fitting.monitor import printed_progress
from coterie.fitting.scoring import PredictionScorer, ResponseFunctions, ScorerName
from coterie.members.fit_members import in_parallel
from coterie.members.member_predictions import HeldOutPredictions, MemberPredictions
from coterie.members.oof_score import Score
from coterie.members.out_of_fold import Fold, FoldEnsemble, Splitter
from coterie.members.response import ResponseMethod
from coterie.trees.tree_sum import labels_by_target

_MOST_HELD_OUT = 200_000  # rows that members predict out of fold, if time is limited

COMMITTEE_PARAMS: Params = {
    "time_limit": [Real(0, None, closed="neither"), None],
    "scoring": [ScorerName(), Function(), None],
    "cv": [Integer(2), Splitter(), None],
    "portfolio": [PortfolioLike()],
    "features": [OneOf("auto"), Instance(TableFeatures), None],
    "max_members": [Integer(1), None],
    "memory_limit": [Real(0, None, closed="neither"), None],
    "max_predict_time": [Real(0, None, closed="neither"), None],
    "max_iter": [Integer(1, 10_000)],
    "on_error": [OneOf("drop", "raise")],
    "n_jobs": [Integer(), None],
    "random_state": [Seed()],
    "verbose": [Integer(0), Boolean()],
    "checkpoint": [CheckpointLike(), None],
}


class BaseCommittee(Estimator):
    """The path of a fit, and the weighted mean of the members' predictions."""

    PARAMS: ClassVar[Params] = COMMITTEE_PARAMS
    _takes_any_table = True
    _has_members = True
    _task: ClassVar[Task]

    weights_: FloatArray
    estimators_: list[FoldEnsemble]
    record_: list[MemberRecord]
    skipped_: dict[str, str]
    _answers: OutOfFoldPredictions
    _truth: RowTargets
    _seed: int
    _class_weights: FloatArray | None

    # What those of classes and those of numbers each define.
    _set_nested: Callable[[FloatArray, float], None]
    _nested: Callable[[], FloatArray]  # predictions of the committee that no row helped to choose
    _default_metric: Callable[[], Metric]
    _decoded: Callable[[AnyArray], AnyArray]
    _output: Callable[[FloatArray], FloatArray]
    _response_functions: Callable[[], ResponseFunctions]

    explain = explain_committee
    distil = distil_committee
    feature_importances_ = property(gain_importances)

    @staticmethod
    def _now() -> float:
        """The clock; tests have one of their own."""
        return time.perf_counter()

    def fit(
        self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None, resume: bool = False
    ) -> Self:
        """Fit members within the limits, and choose their weights.

        Parameters
        ----------
        X : any table
        y : labels of any type, or numbers, one for each row
        sample_weight : how often each row counts; members that cannot take it are skipped
        groups : rows of a group are in one fold, and in one of the parts that boosting holds out
        resume : go on from `checkpoint`, or begin anew if there is nothing yet; time that was spent counts
        """
        return self._fit(X, y, sample_weight, groups, resume=resume)

    def repeat(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """A new committee that is fitted exactly as this one was, however long that takes now.

        A time limit makes a fit depend on the machine: which members there was time for, on how many rows, and after
        how many rounds they were stopped. All that is in `record_`, and is done again: the same folds, members, rows
        and rounds, so that the same table gives the same bits. What was chosen from them, such as weights and a
        threshold, is chosen again.

        Parameters
        ----------
        X, y, sample_weight, groups : as in `fit`

        Returns
        -------
        a fitted committee; this one stays as it is
        """
        check_is_fitted(self, "estimators_")
        if not hasattr(self, "record_"):
            raise InvalidInput(
                f"This {type(self).__name__} is from a version that did not record how members were fitted.",
                parameter="record_",
                hint="Fit it once more with this version.",
            )
        twin: Self = clone(self)
        twin.checkpoint = None
        twin._fit(X, y, sample_weight, groups, repeated=self)
        twin.checkpoint = self.checkpoint
        return twin

    def _fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        groups: Any,
        *,
        resume: bool = False,
        repeated: "BaseCommittee | None" = None,
    ) -> Self:
        limit = self.time_limit if repeated is None else None
        clock = Clock(self._now, self._now(), limit)
        with self._fitting(X, y, resume=resume) as run:
            if repeated is not None:
                run.seed = repeated._seed
            table = read_table(X)
            given = self._read_input(table, y, sample_weight, groups)
            checkpoint = run.open_checkpoint(lambda: self._about_data(table, given), every=1)
            if checkpoint is not None:
                with reading_checkpoint():
                    spent = max((float(part["elapsed"]) for part in checkpoint.known), default=0.0)
                clock = Clock(self._now, clock.begun - spent, limit)
            features = FoldFeatures.of(self.features, row_indexable(X))
            n_columns = table.n_columns + (0 if features is None else features.n_columns())
            data = self._data(X, given, n_columns, run.seed)
            Schema.of(table).set_feature_names(self)
            self._set_target(given.target)
            self._class_weights, self._seed = given.class_weights, run.seed

            metric = self._metric()
            portfolio = PortfolioRun(data, self._limits(data), clock, run.seed, metric, checkpoint, features)
            portfolio.repeated = None if repeated is None else repeated.record_
            by_time = isinstance(self.cv, TimeSeriesSplit)
            entries = portfolio_of(self.portfolio, self._task, data.shape, by_time=by_time)
            if self.portfolio == "auto":
                portfolio.variation_named = variation_of(self._task, data.shape, by_time=by_time)

            with (
                printed_progress(self.verbose, type(self).__name__, "member"),
                nullcontext() if checkpoint is None else checkpoint.recording(portfolio.collect),
            ):
                portfolio.train(entries)

            try:
                self._conclude(portfolio, metric)
            except KeyboardInterrupt:
                if portfolio.interrupted:
                    raise
                portfolio.interrupted = True
                self._conclude(portfolio, metric)
            if portfolio.interrupted:
                warn_interrupted(type(self).__name__, portfolio.names)
            if repeated is not None:
                self.skipped_ = dict(repeated.skipped_)
            self.fit_time_ = clock.elapsed
        return self

    def _read_input(self, table: Table, y: Any, sample_weight: Any, groups: Any) -> ReadInput:
        class_weight = getattr(self, "class_weight", None)
        owner = type(self).__name__
        return read_input(table, y, sample_weight, groups, self._task, owner, class_weight)

    def _about_data(self, table: Table, given: ReadInput) -> dict[str, str]:
        """Digests of what was given; a fit that is resumed may have another time limit, if both have one."""
        read = {
            "X": table,
            "y": given.target,
            "sample_weight": given.sample_weight,
            "groups": given.groups,
        }
        limit = {"time_limit": "None" if self.time_limit is None else "a number"}
        return limit | {name: digest_of(value) for name, value in read.items()}

    def _data(self, X: Any, given: ReadInput, n_columns: int, seed: int) -> CommitteeData:
        """The table in folds; of very many rows fewer are held out, if time is limited."""
        X, owner = row_indexable(X), type(self).__name__
        folds = drawn_folds(self.cv, X, given.target.values, given.groups, self._task, seed, owner)
        random_folds = self.cv is None or Integer(2).accepts(self.cv)
        data = CommitteeData.of(X, given, folds, n_columns, random_folds=random_folds)
        if self.time_limit is None:
            return data
        if random_folds:
            entries = portfolio_of(self.portfolio, self._task, data.shape)
            folds = folds_within(folds, entries, data.shape, float(self.time_limit))
        folds = thinned(folds, _MOST_HELD_OUT, seed)
        return CommitteeData.of(X, given, folds, n_columns, random_folds=random_folds)

    def _limits(self, data: CommitteeData) -> FitLimits:
        return FitLimits(
            type(self).__name__,
            max_members=self.max_members,
            memory=self.memory_limit,
            max_iter=int(self.max_iter),
            n_jobs=self.n_jobs,
            on_error=self.on_error,
            patience=patience_of(data.n_rows) if self.portfolio == "auto" else None,
        )

    def _metric(self) -> Metric:
        if self.scoring is None:
            return self._default_metric()
        return ScorerMetric(PredictionScorer(self), self._decoded, self._task)

    def _conclude(self, run: PortfolioRun, metric: Metric) -> None:
        """Weights, temperature, scores, and the models of the members that have weight."""
        repeated = {record.name: record for record in run.repeated or ()}
        is_timed = self.max_predict_time is not None
        self.record_ = [repeated.get(own.name, own.record(is_timed=is_timed)) for own in run.members]
        oof = self._out_of_fold(run.members, run.data)
        prior = prior_member(run.names, self.portfolio)
        choice = choose_weights(metric, oof, int(self.max_iter), calibrates=self._calibrates(), prior=prior)
        self._set_scores(run.members, oof, choice, metric)
        self._set_members(run.members, choice.weights, run.data.classes)
        self._set_decision()
        self.members_ = run.names
        self.skipped_ = dict(run.skipped)
        self.dropped_ = {name: f"{type(e).__name__}: {e}" for name, e in run.errors.items()}
        self.stopped_ = [member.name for member in run.members if member.stopped]
        self.interrupted_ = run.interrupted
        self.n_folds_ = len(run.data.folds)
        self.n_tried_ = run.n_tried

    def _out_of_fold(self, members: Sequence[FittedMember], data: CommitteeData) -> OutOfFoldPredictions:
        known = np.zeros(data.n_rows, dtype=bool)
        for fold in data.folds:
            known[fold.test] = True
        known &= data.targets.weight > 0
        if not known.any():
            raise InvalidInput(
                f"{type(self).__name__}: no row with weight was held out, so there is nothing to choose by.",
                parameter="sample_weight",
            )
        predictions = np.stack([member.predictions for member in members])
        costs = None
        if self.max_predict_time is not None:
            costs = shares_of_predict_time(self.record_, float(self.max_predict_time), type(self).__name__)
        return OutOfFoldPredictions(predictions, data.targets, known, data.folds, costs)

    def _set_scores(
        self,
        members: Sequence[FittedMember],
        oof: OutOfFoldPredictions,
        choice: WeightChoice,
        metric: Metric,
    ) -> None:
        """Weights, and what is known out of fold of the committee and of its members."""
        scored = np.flatnonzero(~np.isnan(choice.nested).any(axis=1))
        targets = oof.rows.take(scored)
        score = metric.score(choice.nested[scored], targets)
        self.scoring_ = metric.name
        self.weights_ = choice.weights
        self.n_iter_ = choice.n_iter
        self.oof_score_, self.oof_score_error_ = score.value, score.error
        self.member_scores_ = Bunch(
            **{member.name: metric.value(member.predictions[scored], targets) for member in members}
        )
        self.oof_predictions_ = Bunch(**{member.name: self._output(member.predictions) for member in members})
        self.fit_times_ = Bunch(**{member.name: member.fit_time for member in members})
        self.predict_times_ = Bunch(**{member.name: member.predict_time for member in members})
        sizes = (
            bytes_of(member.models) if weight else None
            for member, weight in zip(members, choice.weights, strict=True)
        )
        self.sizes_ = Bunch(**dict(zip(self.member_scores_, sizes, strict=True)))
        self._set_nested(choice.nested, choice.temperature)
        self._answers, self._truth = oof, oof.rows

    def _set_members(
        self, members: Sequence[FittedMember], weights: FloatArray, classes: AnyArray | None
    ) -> None:
        """Keep the members that have weight."""
        has_weight = weights > 0
        chosen = [member for member, has in zip(members, has_weight, strict=True) if has]
        self.estimators_ = [_fold_models(member.name, member.models, classes) for member in chosen]
        self.named_estimators_ = Bunch(**{model.name: model for model in self.estimators_})
        self._shares = weights[has_weight]
        self._questions = [member.response for member in chosen]
        self._learners = [(clone(member.entry.estimator), member.entry.max_rows) for member in chosen]
        self._has_folds = True

    def _mean_predictions(self, X: Any) -> FloatArray:
        """The weighted mean of the members' predictions, shape (n_rows, n_columns)."""
        members = self._member_values(X)
        return np.asarray(sum(share * own for share, own in zip(self._shares, members, strict=True)))

    def _member_values(self, X: Any) -> list[FloatArray]:
        """The predictions of each member with weight, the mean of its models."""
        check_is_fitted(self, "estimators_")
        calls = [
            (model, response, X) for model, response in zip(self.estimators_, self._questions, strict=True)
        ]
        return in_parallel(_mean_of_folds, calls, n_jobs=self.n_jobs)

    def member_predictions(self, X: Any) -> MemberPredictions:
        """What each member with weight predicts, the mean of its models: probabilities or numbers."""
        values = np.stack(self._member_values(X))
        names = tuple(member.name for member in self.estimators_)
        return MemberPredictions(values, self._shares, names, labels_by_target(self))

    def held_out_predictions(self) -> HeldOutPredictions:
        """What all members predicted out of fold, for the training rows that every one of them predicted."""
        check_is_fitted(self, "estimators_")
        predictions = self._answers.predictions
        rows = self._answers.known & np.isfinite(predictions).all(axis=(0, 2))
        members = MemberPredictions(
            predictions[:, rows], self.weights_, tuple(self.members_), labels_by_target(self)
        )
        return HeldOutPredictions(members, self._truth.truth[rows], self._truth.weight[rows])

    def _predictions_by_fold(self, X: Any) -> FloatArray:
        """What the committee of each fold predicts, shape (n_folds, n_rows, n_columns)."""
        n_models = self.n_folds_ if self._has_folds else 1
        totals: list[Any] = [0.0] * n_models
        for member, response, share in zip(self.estimators_, self._questions, self._shares, strict=True):
            by_model = [share * response.predict_with(member.name, model, X) for model in member.models]
            for number in range(n_models):
                totals[number] = totals[number] + by_model[number if len(by_model) > 1 else 0]
        return np.stack(totals)

    def leaderboard(self) -> Leaderboard:
        """The committee, and below it its members, the best first, by what `scoring` names.

        Scores are those of rows held out, in the units of the metric: errors are positive.

        Returns
        -------
        Leaderboard, a list of dicts with
            name, score, and low and high, the ends of an interval that holds the score 95 % of the time;
            weight; score_without, the score of a committee that is chosen without this member, and contribution, by
            how much that is worse; fit_time in seconds, predict_time in seconds for a thousand rows, size in bytes.
            The committee is the first row. Its score and score_without are nested: no row helped to choose the weights
            it is scored by. Notes below the table say what is remarkable.
        """
        check_is_fitted(self, "estimators_")
        metric = self._metric()

        def nested(oof: OutOfFoldPredictions, names: list[str]) -> FloatArray:
            prior = prior_member(names, self.portfolio)
            calibrates = self._calibrates()
            return nested_predictions(metric, oof, int(self.max_iter), calibrates=calibrates, prior=prior)

        members = [
            MemberSummary(
                name,
                float(weight),
                float(self.fit_times_[name]),
                float(self.predict_times_[name]),
                getattr(self, "sizes_", {}).get(name),
            )
            for name, weight in zip(self.members_, self.weights_, strict=True)
        ]
        prior = prior_member(self.members_, self.portfolio)
        scores = CommitteeScores(
            members,
            self._answers,
            self._scored_rows(),
            metric,
            Score(self.oof_score_, self.oof_score_error_),
            nested,
            None if prior is None else self.members_[prior],
        )
        left_out = LeftOutMembers(self.skipped_, self.dropped_)
        return leaderboard_of(scores, self._decision_notes(), left_out)

    def _scored_rows(self) -> RowArray:
        """The rows that the committee is scored by."""
        return np.flatnonzero(self._answers.known & ~np.isnan(self._nested()).any(axis=1))

    def refit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """A committee with the same weights whose members are fitted anew, to all rows: one model each.

        It predicts several times faster, and each model has seen all rows. What is known out of fold stays as it is.

        Parameters
        ----------
        X, y, sample_weight, groups : as in `fit`, and usually the same
        """
        check_is_fitted(self, "estimators_")
        table, owner = read_table(X), type(self).__name__
        given = self._read_input(table, y, sample_weight, groups)
        every = Fold(np.arange(table.n_rows), np.arange(0))
        data = CommitteeData.of(row_indexable(X), given, [every], int(self.n_features_in_))
        seeds = spawn_seeds(root_seed(self.random_state), len(self.estimators_))
        clock = Clock(self._now, self._now(), None)
        limits = FitLimits(owner, self.max_iter, n_jobs=self.n_jobs)
        features = FoldFeatures.of(self.features, data.X)
        run = PortfolioRun(data, limits, clock, int(seeds[0]), self._metric(), features=features)
        models = []
        for place, member in enumerate(self.estimators_):
            learner, max_rows = self._learners[place]
            entry = Entry(member.name, learner, max_rows=max_rows)
            model = run.model_of_all(entry, int(seeds[place]))
            models.append(_fold_models(member.name, [model], given.classes))
        twin = copy.copy(self)
        twin.estimators_ = models
        twin.named_estimators_ = Bunch(**{model.name: model for model in models})
        twin._has_folds = False
        twin._set_models_alone()
        return twin

    def _student_seed(self) -> int | None:
        return None if self.random_state is None else int(root_seed(self.random_state) >> 32)

    def _calibrates(self) -> bool:
        return False

    def _set_target(self, target: Target) -> None:
        """Numbers need no names."""

    def _set_models_alone(self) -> None:
        """Numbers have no temperature."""

    def _set_decision(self) -> None:
        """Numbers are not decided between."""

    def _decision_notes(self) -> list[str]:
        return []


def _fold_models(name: str, models: list[Any], classes: AnyArray | None) -> FoldEnsemble:
    return FoldEnsemble(name, models, () if classes is None else (classes,))


def _mean_of_folds(member: FoldEnsemble, response: ResponseMethod, X: Any) -> FloatArray:
    """The mean over folds; each is divided first, because the sum of large numbers may be no float."""
    share = 1 / len(member.models)
    return np.asarray(sum(share * response.predict_with(member.name, model, X) for model in member.models))
