"""How members of bagging are fitted: each to a bag of its own, side by side, until there are enough of them."""

import copy
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from coterie._params import is_auto
from coterie._typing import FloatArray, RowArray
from coterie.bagging._bagged_trees import KnownOob, forest_on_bags, oob_errors_of_trees
from coterie.bagging._bags import Bag, Bags, ColumnDraws, OobSums
from coterie.bagging._plan import BaggingData
from coterie.data.parts import Columns, rows_of
from coterie.fitting.checkpoint_lists import CheckpointedLists, lists_in_checkpoint
from coterie.fitting.checkpoint_writer import CheckpointWriter
from coterie.forests.base import BaseForest
from coterie.forests.growth import STEP, has_settled
from coterie.forests.tree_members import Members
from coterie.members.fit_members import (
    Budget,
    FitTask,
    Member,
    MemberProgress,
    Outcome,
    dropped_members,
    fit_all,
)
from coterie.members.response import ResponseMethod
from coterie.members.weight_parameter import weight_params

MOST_AT_ONCE = 64  # members whose bags are drawn and held at a time
_ROWS_AT_ONCE = 2**23  # rows of all these bags


@dataclass
class BaggedMembers:
    """Members, and what a longer fit needs to know of them.

    Attributes
    ----------
    members, features, columns, numbers : the members, the features and columns that each saw, and their numbers
    n_tried : how many members were fitted, those that failed included
    dropped : why members failed, by name
    bags : how rows were drawn
    out_of_bag : what is known out of bag
    oob_member_errors : the error of each member on the rows that it did not draw; NaN where it is not known
    trees : the forest whose trees the members are, if they grew together
    """

    members: Any = field(default_factory=list)
    features: list[RowArray] = field(default_factory=list)
    columns: list[Columns | None] = field(default_factory=list)
    numbers: list[int] = field(default_factory=list)
    n_tried: int = 0
    dropped: dict[str, str] = field(default_factory=dict)
    bags: Bags | None = None
    out_of_bag: OobSums | KnownOob | None = None
    oob_member_errors: FloatArray | None = None
    trees: BaseForest | None = None

    @property
    def can_grow_together(self) -> bool:
        """Whether trees can be added to a forest: there are no members yet, or they are its trees."""
        return self.n_tried == 0 or self.trees is not None


def known_members(state: BaggedMembers | None, n_estimators: int) -> BaggedMembers:
    """No members yet, or those of the last fit in lists that can grow."""
    if state is None:
        return BaggedMembers()
    if n_estimators == state.n_tried:
        warnings.warn(
            "Warm-start fitting without increasing n_estimators does not fit new members.",
            UserWarning,
            stacklevel=4,
        )
    return replace(
        state,
        members=list(state.members),
        features=list(state.features),
        columns=list(state.columns),
        numbers=list(state.numbers),
        dropped=dict(state.dropped),
        out_of_bag=copy.deepcopy(state.out_of_bag),
    )


def members_at_once(ensemble: Any, n_rows: int) -> int:
    """How many members have their bags in memory at a time."""
    return max(_workers(ensemble), min(MOST_AT_ONCE, _ROWS_AT_ONCE // n_rows))


def _workers(ensemble: Any) -> int:
    return Budget.of(ensemble.n_jobs, MOST_AT_ONCE).workers


def grow_members(
    ensemble: Any,
    found: BaggedMembers,
    data: BaggingData,
    checkpoint: CheckpointWriter | None,
    *,
    track_oob: bool,
) -> None:
    """Let the engine grow all members, which are trees."""
    assert found.bags is not None
    trees = forest_on_bags(
        ensemble,
        ensemble.estimator_,
        data,
        found.bags,
        known=found.trees,
        track_oob=track_oob,
        at_once=members_at_once(ensemble, data.n_rows),
        checkpoint=checkpoint,
    )
    found.trees, found.members = trees, Members(trees)
    found.out_of_bag = None if trees._oob is None else KnownOob(trees._oob)
    found.oob_member_errors = None
    if trees._oob is not None:
        weight = data.row_weight
        found.oob_member_errors = oob_errors_of_trees(
            trees, data.X, found.bags, ensemble._seeds, data.target.values, weight
        )
    found.n_tried = len(found.members)
    found.numbers, found.columns = list(range(found.n_tried)), [None] * found.n_tried
    found.features = [np.arange(data.outline.n_columns or 0)] * found.n_tried


@dataclass(frozen=True)
class MemberTraining:
    """Fits members of any kind.

    Parameters
    ----------
    ensemble : the estimator, of which parameters, the learner, seeds and the response method are read
    found : the members that are known, to which others are added
    data : what `fit` was given
    draws : how columns are drawn, or None for all of them
    n_columns : columns of a prediction
    """

    ensemble: Any
    found: BaggedMembers
    data: BaggingData
    draws: ColumnDraws | None
    n_columns: int

    def run(self, checkpoint: CheckpointWriter | None) -> None:
        """Fit members, and keep a checkpoint if there is one; members that it knows are not fitted again."""
        self.found.trees = None
        if checkpoint is None:
            self._fit_enough()
            return
        held = lists_in_checkpoint(checkpoint, "numbers", "members")
        known = dict(zip(held["numbers"], held["members"], strict=True))
        lists = {"numbers": self.found.numbers, "members": self.found.members}
        kept = CheckpointedLists(checkpoint, lists, len(known))
        with checkpoint.recording(kept.collect):
            self._fit_enough(known, kept)

    def _fit_enough(
        self, known: Mapping[int, Any] = MappingProxyType({}), kept: CheckpointedLists | None = None
    ) -> None:
        """Fit members until there are enough, or until more would not help."""
        found, ensemble = self.found, self.ensemble
        errors: dict[str, Exception] = {}
        first, most = found.n_tried, len(ensemble._seeds)
        while found.n_tried < most and not self._is_enough():
            step = STEP - found.n_tried % STEP if is_auto(ensemble.n_estimators) else most
            at_once = members_at_once(ensemble, self.data.n_rows) if kept is None else _workers(ensemble)
            numbers = range(found.n_tried, min(found.n_tried + min(step, at_once), most))
            errors |= self._fit_some(numbers, known)
            found.n_tried = numbers.stop
            if kept is not None:
                kept.look()
        names = [member_name(number) for number in range(first, found.n_tried)]
        found.dropped |= dropped_members(names, errors, type(ensemble).__name__)

    def _is_enough(self) -> bool:
        """Whether the out-of-bag error has settled, looked at after every 25 members; or whether every member fails."""
        found = self.found
        if not is_auto(self.ensemble.n_estimators) or found.n_tried % STEP:
            return False
        assert found.out_of_bag is not None
        return has_settled(np.array(found.out_of_bag.errors)) or (found.n_tried > 0 and not found.members)

    def _fit_some(self, numbers: range, known: Mapping[int, Any]) -> dict[str, Exception]:
        """Fit the members of these numbers; returns the errors of those that failed."""
        ensemble, found, data = self.ensemble, self.found, self.data
        assert found.bags is not None
        bags = [found.bags.draw(number, ensemble._seeds) for number in numbers]
        columns = [
            None if self.draws is None else self.draws.draw(number, ensemble._seeds) for number in numbers
        ]
        tasks = [
            ensemble._task_of(self._task(*each), each[1], data)
            for each in zip(numbers, bags, columns, strict=True)
        ]
        predict = PredictMember(ensemble._question)
        new = [task for number, task in zip(numbers, tasks, strict=True) if number not in known]
        total = None if is_auto(ensemble.n_estimators) else ensemble.n_estimators
        progress = MemberProgress(type(ensemble).__name__, total, ensemble.verbose, len(found.members))
        ways = {"n_jobs": ensemble.n_jobs, "on_error": ensemble.on_error}
        fitted = iter(fit_all(new, data.X, predict=predict, progress=progress, **ways))
        outcomes = [
            _known_outcome(task, known[number], data.X, predict) if number in known else next(fitted)
            for number, task in zip(numbers, tasks, strict=True)
        ]
        errors, member_errors = {}, []
        assert not isinstance(found.out_of_bag, KnownOob)
        for number, task, own, outcome in zip(numbers, tasks, columns, outcomes, strict=True):
            if outcome.error is not None:
                errors[member_name(number)] = outcome.error
                continue
            found.members.append(outcome.model)
            found.numbers.append(number)
            found.columns.append(own)
            n_columns = data.outline.n_columns or 0
            found.features.append(np.arange(n_columns) if own is None else np.array(own.places))
            if found.out_of_bag is not None and task.predict_rows is not None:
                found.out_of_bag.add(task.predict_rows, outcome.predictions)
                member_errors.append(found.out_of_bag.error_of(task.predict_rows, outcome.predictions))
            elif found.out_of_bag is not None:
                found.out_of_bag.add(np.zeros(0, dtype=np.int64), np.zeros((0, self.n_columns)))
                member_errors.append(np.nan)
        if found.out_of_bag is not None:
            known_errors = found.oob_member_errors
            if known_errors is None:  # of a model that did not keep them
                known_errors = np.full(len(found.members) - len(member_errors), np.nan)
            found.oob_member_errors = np.append(known_errors, member_errors)
        return errors

    def _task(self, number: int, bag: Bag, columns: Columns | None) -> FitTask:
        data, learner = self.data, self.ensemble.estimator_
        rows, params = bag.rows, dict(data.params)
        assert self.found.bags is not None
        if not self.found.bags.takes_weight:
            rows = bag.repeated()
        elif data.weight is not None or (bag.counts > 1).any():
            weight = np.zeros(data.n_rows)
            weight[rows] = bag.weight
            params |= weight_params(learner, weight)
        predict_rows = None
        if self.found.out_of_bag is not None:
            out = data.row_weight > 0
            out[bag.rows] = False
            # A learner may refuse a table without rows.
            predict_rows = np.flatnonzero(out) if out.any() else None
        member, seed = Member(member_name(number), learner, columns), int(self.ensemble._seeds[number])
        return FitTask(member, data.labels, rows=rows, predict_rows=predict_rows, params=params, seed=seed)


@dataclass(frozen=True)
class PredictMember:
    """Calls a response method of members; a class, because it is sent to workers."""

    response: ResponseMethod
    params: dict[str, Any] = field(default_factory=dict)

    def __call__(self, member: Member, model: Any, X: Any) -> FloatArray:
        return self.response.predict_with(member.name, model, member.part_of(X), **self.params)


def _known_outcome(task: FitTask, model: Any, X: Any, predict: PredictMember) -> Outcome:
    """What became of a task before the fit was interrupted; the member predicts again."""
    if task.predict_rows is None:
        return Outcome(model)
    return Outcome(model, predict(task.member, model, rows_of(X, task.predict_rows)))


def member_name(number: int) -> str:
    """What errors and progress call a member."""
    return f"member {number}"
