"""What committees of classes and of numbers share: members within limits, weights, a leaderboard, one fast model."""

import copy
import time
from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.callback import CallbackSupportMixin
from sklearn.model_selection import TimeSeriesSplit
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

from coterie._params import Flag, Function, OneOf, Params, Real, SeedLike, Whole, check_params, resolve_n_jobs
from coterie._reported import Reported
from coterie._seeds import root_seed, spawn_seeds
from coterie._typing import AnyArray, FloatArray, Task
from coterie.committee._clock import Clock
from coterie.committee._folds import drawn_folds, thinned
from coterie.committee._gathering import Gathering, Limits, Training, say, warn_interrupted
from coterie.committee._goal import AnyGoal, Goal, Rows
from coterie.committee._leaderboard import leaderboard_of
from coterie.committee._weights import Answers, choice_of
from coterie.committee.listing import Listing
from coterie.committee.portfolio import Entry, PortfolioLike, portfolio_of, trusted_of
from coterie.data.any_table import TakesAnyTable
from coterie.data.groups import read_groups
from coterie.data.parts import row_indexable
from coterie.data.schema import Schema
from coterie.data.table import read_table
from coterie.data.target import Target, read_target
from coterie.data.weight import combined_weight, read_weight
from coterie.errors import InvalidInput
from coterie.fitting.checkpoint import CheckpointLike
from coterie.fitting.checkpoint_writer import Journal, check_resume, opened_journal, taken_up
from coterie.fitting.fingerprint import about_fit, digest_of
from coterie.fitting.scoring import ScorerName
from coterie.members.fit_members import in_parallel
from coterie.members.fold_ensemble import FoldEnsemble
from coterie.members.out_of_fold import Fold, Splitter

__all__ = ["COMMITTEE_PARAMS", "CommitteeBase"]

_MOST_HELD_OUT = 200_000  # rows that members are asked about, if time is limited

COMMITTEE_PARAMS: Params = {
    "time_limit": [Real(0, None, closed="neither"), None],
    "scoring": [ScorerName(), Function(), None],
    "cv": [Whole(2), Splitter(), None],
    "portfolio": [PortfolioLike()],
    "max_members": [Whole(1), None],
    "memory_limit": [Real(0, None, closed="neither"), None],
    "max_iter": [Whole(1, 10_000)],
    "on_error": [OneOf("drop", "raise")],
    "n_jobs": [Whole(), None],
    "random_state": [SeedLike()],
    "verbose": [Whole(0), Flag()],
    "checkpoint": [CheckpointLike(), None],
}


class CommitteeBase(Reported, TakesAnyTable, CallbackSupportMixin, BaseEstimator):
    """The way of `fit`, and the weighted mean of what members say."""

    PARAMS: ClassVar[Params] = COMMITTEE_PARAMS
    _task: ClassVar[Task]

    weights_: FloatArray
    estimators_: list[FoldEnsemble]
    _answers: Answers
    _truth: Rows

    @staticmethod
    def _now() -> float:
        """The clock; tests have one of their own."""
        return time.perf_counter()

    def _store(self, given: Mapping[str, Any]) -> None:
        for name in self.PARAMS:
            setattr(self, name, given[name])

    def _fit(self, X: Any, y: Any, sample_weight: Any, groups: Any, resume: bool) -> Self:
        clock = Clock(self._now, self._now(), self.time_limit)
        check_params(self)
        check_resume(self, resume)
        resolve_n_jobs(self.n_jobs)
        seed = root_seed(self.random_state)
        journal = None
        if self.checkpoint is not None:
            journal = self._journal(X, y, sample_weight, groups, seed, resume=resume)
            with taken_up():
                spent = max((float(part["elapsed"]) for part in journal.known), default=0.0)
            seed, clock = journal.seed, Clock(self._now, clock.begun - spent, self.time_limit)
        training, target = self._training(X, y, sample_weight, groups, seed)
        self._take_target(target)
        truth = Rows(
            target.values,
            np.ones(len(target.values)) if training.weight is None else training.weight,
            training.groups,
        )
        gathering = Gathering(
            training,
            Limits(
                self.max_members,
                self.memory_limit,
                self.n_jobs,
                self.on_error,
                int(self.verbose),
                type(self).__name__,
            ),
            clock,
            seed,
            journal=journal,
        )
        goal = self._goal()
        entries = self._entries(training)
        with nullcontext() if journal is None else journal.keeps(gathering.collect):
            gathering.run(entries, lambda state: self._look_ahead(state, goal, truth))
        try:
            self._conclude(gathering, goal, truth)
        except KeyboardInterrupt:
            if gathering.interrupted:
                raise
            gathering.interrupted = True
            self._conclude(gathering, goal, truth)
        if gathering.interrupted:
            warn_interrupted(gathering)
        self.fit_time_ = clock.elapsed
        return self

    def _journal(
        self, X: Any, y: Any, sample_weight: Any, groups: Any, seed: int, *, resume: bool
    ) -> Journal:
        """What was complete before; a fit that goes on may have another time limit, if both have one."""
        about = about_fit(self)
        about["time_limit"] = "None" if self.time_limit is None else "a number"
        table = read_table(X)
        given = {
            "X": table,
            "y": read_target(y, task=self._task, estimator_name=type(self).__name__, n_rows=table.n_rows),
            "sample_weight": read_weight(sample_weight, table.n_rows),
            "groups": None if groups is None else read_groups(groups, table.n_rows),
        }
        about |= {name: digest_of(value) for name, value in given.items()}
        return opened_journal(self, about, seed, resume=resume, every=1)

    def _training(
        self, X: Any, y: Any, sample_weight: Any, groups: Any, seed: int
    ) -> tuple[Training, Target]:
        table = read_table(X)
        target = read_target(y, task=self._task, estimator_name=type(self).__name__, n_rows=table.n_rows)
        weight = combined_weight(read_weight(sample_weight, table.n_rows), None)
        codes = None if groups is None else read_groups(groups, table.n_rows)
        X = row_indexable(X)
        folds = drawn_folds(self.cv, X, target.values, codes, self._task, seed, type(self).__name__)
        if self.time_limit is not None:
            folds = thinned(folds, _MOST_HELD_OUT, seed)
        classes = target.classes
        assert not isinstance(classes, list)
        labels = target.values if classes is None else classes[target.values]
        Schema.of(table).set_feature_names(self)
        drawn = self.cv is None or Whole(2).accepts(self.cv)
        return Training(X, labels, weight, codes, classes, folds, table.n_columns, drawn), target

    def _entries(self, training: Training) -> list[Entry]:
        by_time = isinstance(self.cv, TimeSeriesSplit)
        return portfolio_of(self.portfolio, self._task, training.shape, by_time=by_time)

    def _goal(self) -> Goal:
        if self.scoring is None:
            return self._default_goal()

        def view(answers: FloatArray) -> Any:
            seen = copy.copy(self)
            seen.__dict__["_answers_of"] = lambda _: answers
            return seen

        return AnyGoal(self.scoring, view, self._users_target)

    def _look_ahead(self, gathering: Gathering, goal: Goal, truth: Rows) -> None:
        """Put time aside for the weights: how long does it take to score one mean?"""
        newest = gathering.found[-1]
        rows = np.flatnonzero(~np.isnan(newest.answers).any(axis=1) & (truth.weight > 0))[: goal.most_rows]
        begun = gathering.clock.elapsed
        value = goal.value(newest.answers[rows], truth.take(rows)) if len(rows) else float("nan")
        one = gathering.clock.elapsed - begun
        n_choices = len(gathering.training.folds) + 1
        gathering.reserve = one * n_choices * self.max_iter * (len(gathering.found) + 1) / 2
        say(
            gathering.limits,
            f"{newest.entry.name}, {newest.fit_time:.1f} s, {goal.name} {value:.5g}, "
            f"{gathering.clock.elapsed:.1f} s since the beginning",
        )

    def _conclude(self, gathering: Gathering, goal: Goal, truth: Rows) -> None:
        """Weights, temperature, scores, and the models of the members that have weight."""
        found, folds = gathering.found, gathering.training.folds
        known = np.zeros(len(truth.weight), dtype=bool)
        for fold in folds:
            known[fold.test] = True
        known &= truth.weight > 0
        if not known.any():
            raise InvalidInput(
                f"{type(self).__name__}: no row with weight was held out, so there is nothing to choose by."
            )
        answers = Answers(np.stack([own.answers for own in found]), truth, known, folds)
        names = [own.entry.name for own in found]
        choice = choice_of(
            goal,
            answers,
            int(self.max_iter),
            calibrates=self._calibrates(),
            trusted=trusted_of(names, self.portfolio),
        )
        honest = np.flatnonzero(~np.isnan(choice.honest).any(axis=1))
        score = goal.score(choice.honest[honest], truth.take(honest))
        self.scoring_ = goal.name
        self.members_ = names
        self.weights_ = choice.weights
        self.n_iter_ = choice.n_iter
        self.oof_score_, self.oof_score_error_ = score.value, score.error
        self.member_scores_ = Bunch(
            **{
                name: goal.value(own.answers[known], truth.take(known))
                for name, own in zip(names, found, strict=True)
            }
        )
        self.oof_predictions_ = Bunch(
            **{name: self._shown(own.answers) for name, own in zip(names, found, strict=True)}
        )
        self.fit_times_ = Bunch(**{own.entry.name: own.fit_time for own in found})
        self.predict_times_ = Bunch(**{own.entry.name: own.predict_time for own in found})
        self.skipped_ = dict(gathering.skipped)
        self.dropped_ = {name: f"{type(e).__name__}: {e}" for name, e in gathering.errors.items()}
        self.stopped_ = [own.entry.name for own in found if own.stopped]
        self.interrupted_ = gathering.interrupted
        self.n_folds_ = len(folds)
        self._take_honest(choice.honest, choice.temperature)
        self._answers, self._truth = answers, truth
        chosen = np.flatnonzero(choice.weights)
        classes = self.__dict__.get("classes_")
        self.estimators_ = [
            FoldEnsemble(found[i].entry.name, found[i].models, () if classes is None else (classes,))
            for i in chosen
        ]
        self.named_estimators_ = Bunch(**{model.name: model for model in self.estimators_})
        self._shares = choice.weights[chosen]
        self._questions = [found[i].question for i in chosen]
        self._learners = [(clone(found[i].entry.estimator), found[i].entry.max_rows) for i in chosen]
        self._has_folds = True

    def _answers_of(self, X: Any) -> FloatArray:
        """The weighted mean of what members say, shape (n_rows, n_columns)."""
        check_is_fitted(self, "estimators_")
        calls = [(question, X) for question in self._questions]
        said = in_parallel(
            _mean_of,
            [(model, *call) for model, call in zip(self.estimators_, calls, strict=True)],
            n_jobs=self.n_jobs,
        )
        return np.asarray(sum(share * own for share, own in zip(self._shares, said, strict=True)))

    def _answers_by_fold(self, X: Any) -> FloatArray:
        """What the committee of each fold says, shape (n_folds, n_rows, n_columns)."""
        n_models = self.n_folds_ if self._has_folds else 1
        totals: list[Any] = [0.0] * n_models
        for member, question, share in zip(self.estimators_, self._questions, self._shares, strict=True):
            said = [share * question.predict_with(member.name, model, X) for model in member.models]
            for number in range(n_models):
                totals[number] = totals[number] + said[number if len(said) > 1 else 0]
        return np.stack(totals)

    def leaderboard(self) -> Listing:
        """Members in the order of their scores, the committee first.

        Returns
        -------
        Listing of rows with
            name, score, and low and high, the ends of an interval that holds the score 95 % of the time;
            weight; score_without, the score of a committee chosen without this member, and brings, what is lost by
            that; fit_time in seconds, predict_time in seconds for a thousand rows.
            The score of the committee in the first row is honest: no row helped to choose the weights it is scored
            by. score_without and brings compare committees whose weights were chosen by all rows.
        """
        check_is_fitted(self, "estimators_")
        return leaderboard_of(self, self._goal())

    def refit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """A committee with the same weights whose members are fitted anew, to all rows: one model each.

        It answers several times faster, and each model has seen all rows. What is known out of fold stays as it is.

        Parameters
        ----------
        X, y, sample_weight, groups : as in `fit`, and usually the same
        """
        check_is_fitted(self, "estimators_")
        n_rows = read_table(X).n_rows
        target = read_target(y, task=self._task, estimator_name=type(self).__name__, n_rows=n_rows)
        weight = combined_weight(read_weight(sample_weight, n_rows), None)
        codes = None if groups is None else read_groups(groups, n_rows)
        classes = target.classes
        assert not isinstance(classes, list)
        labels = target.values if classes is None else classes[target.values]
        X = row_indexable(X)
        every = Fold(np.arange(n_rows), np.arange(0))
        columns = int(self.n_features_in_)
        training = Training(X, labels, weight, codes, classes, [every], columns)
        seeds = spawn_seeds(root_seed(self.random_state), len(self.estimators_))
        limits = Limits(None, None, self.n_jobs, "raise", int(self.verbose), type(self).__name__)
        gathering = Gathering(training, limits, Clock(self._now, self._now(), None), int(seeds[0]))
        models = []
        for place, member in enumerate(self.estimators_):
            learner, max_rows = self._learners[place]
            entry = Entry(member.name, learner, max_rows=max_rows)
            model = gathering.model_of_all(entry, int(seeds[place]))
            models.append(FoldEnsemble(member.name, [model], () if classes is None else (classes,)))
        twin = copy.copy(self)
        twin.estimators_ = models
        twin.named_estimators_ = Bunch(**{model.name: model for model in models})
        twin._has_folds = False
        twin._take_models_alone()
        return twin

    def _student_seed(self) -> int | None:
        return None if self.random_state is None else int(root_seed(self.random_state) >> 32)

    def _calibrates(self) -> bool:
        return False

    def _take_target(self, target: Target) -> None:
        """Numbers need no names."""

    def _take_models_alone(self) -> None:
        """Numbers have no temperature."""

    def _take_honest(self, honest: FloatArray, temperature: float) -> None:
        raise AssertionError("committees of classes and of numbers each say what they keep")

    def _default_goal(self) -> Goal:
        raise AssertionError("committees of classes and of numbers each say what is good")

    def _users_target(self, truth: AnyArray) -> AnyArray:
        raise AssertionError("committees of classes and of numbers each say what the target is")

    def _shown(self, answers: FloatArray) -> FloatArray:
        raise AssertionError("committees of classes and of numbers each say how answers look")


def _mean_of(model: FoldEnsemble, question: Any, X: Any) -> FloatArray:
    """The mean over folds; each is divided first, because the sum of large numbers may be no float."""
    share = 1 / len(model.models)
    return np.asarray(sum(share * question.predict_with(model.name, own, X) for own in model.models))
