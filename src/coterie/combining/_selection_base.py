"""What selection of classes and of numbers share: a library of members out of fold, and a greedy choice from it."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import Bunch
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping
from sklearn.utils.validation import check_is_fitted

from coterie._params import Function, Integer, OneOf, Params, Real
from coterie._seeds import root_seed, spawn_seeds
from coterie._sklearn import parallel_block
from coterie._storage import Fitted
from coterie._typing import AnyArray, BoolArray, FloatArray, RowArray, Task
from coterie._value_types import ANY, COUNT, FLOATS, NONE, TEXT, dict_of, list_of
from coterie.combining._some_members import with_named_members
from coterie.combining.greedy import GreedyOptions, Path, ScoreOfMean, SelectionLoss, greedy_path, shares
from coterie.data.parts import TableShape, row_indexable, table_shape
from coterie.data.target import Target, read_target
from coterie.data.weight import combined_weight, read_weight
from coterie.errors import InvalidInput
from coterie.fitting.fitted_state import PRUNED_FITTED
from coterie.fitting.scoring import PredictionScorer, ResponseFunctions, ScorerName
from coterie.members.fit_members import Member, in_parallel
from coterie.members.fold_ensemble import FoldEnsemble
from coterie.members.member_predictions import MemberPredictions
from coterie.members.named_members import MEMBER_PARAMS, MEMBERS_FITTED, GivenAtFit, NamedMembers
from coterie.members.oof_score import Score
from coterie.members.out_of_fold import (
    CrossFit,
    CrossFitPlan,
    Splitter,
    cross_fit,
    folds_of,
    prefit_members,
    splitter_of,
)
from coterie.members.response import ResponseMethod
from coterie.trees.limits import Share
from coterie.trees.tree_sum import labels_by_target

SELECTION_PARAMS: Params = {
    **MEMBER_PARAMS,
    "scoring": [ScorerName(), Function(), None],
    "cv": [Integer(2), Splitter(), OneOf("prefit"), None],
    "max_iter": [Integer(1, 10_000)],
    "n_start": [Integer(1)],
    "n_iter_no_change": [Integer(1), None],
    "tol": [Real(0, None)],
    "n_bags": [Integer(1, 1_000)],
    "max_candidates": [Integer(1), Share(with_one=True)],
    "members": [OneOf("refit", "folds")],
}
SELECTION_FITTED: Fitted = {
    **MEMBERS_FITTED,
    **PRUNED_FITTED,
    "candidates_": list_of(TEXT),
    "n_iter_": COUNT,
    "selection_path_": list_of(dict_of(TEXT, ANY)),
    "weights_": FLOATS,
    "_seed": COUNT | NONE,
    "_shares": FLOATS,
}


class BaseSelection(NamedMembers):
    """The way of `fit`, and the weighted mean of what the chosen members predict."""

    PARAMS: ClassVar[Params] = SELECTION_PARAMS
    FITTED: ClassVar[Fitted] = SELECTION_FITTED
    _task: ClassVar[Task]

    weights_: FloatArray
    selection_path_: list[Bunch]
    _asked: list[tuple[Member, ResponseMethod]]
    _shares: FloatArray

    # What those of classes and those of numbers each define.
    _response: Callable[[Member, Target], ResponseMethod]
    _labels: Callable[[Target], AnyArray]
    _decoded: Callable[[AnyArray], AnyArray]
    _set_target: Callable[[Target], None]
    _default_loss: Callable[[FloatArray, AnyArray, FloatArray], SelectionLoss]
    _score: Callable[[FloatArray, AnyArray, FloatArray | None, BoolArray], Score]
    _response_functions: Callable[[], ResponseFunctions]
    _output: Callable[[FloatArray], FloatArray]

    def _fit(self, X: Any, y: Any, sample_weight: Any, groups: Any, others: dict[str, Any]) -> Self:
        with self._fitting(X, y):
            self._check_members()
            shape = table_shape(X)
            X = row_indexable(X)
            target = read_target(
                y,
                task=self._task,
                estimator_name=type(self).__name__,
                n_rows=shape.n_rows,
                multi_output=self._has_outputs(),
            )
            weight = combined_weight(read_weight(sample_weight, shape.n_rows), None)
            members = self._members(X, shape)
            given = self._given(members, weight, groups, others)
            seeds = None if self.random_state is None else spawn_seeds(self.random_state, 3)
            crossed = self._crossed(X, members, target, given, seeds)
            self._set_target(target)
            self._select(crossed, target, weight, root_seed(None) if seeds is None else int(seeds[2]))
            self._set_scores(crossed, target, weight)
            self._set_chosen(X, crossed, target, given, seeds, shape)
        return self

    def _crossed(
        self, X: Any, members: list[Member], target: Target, given: GivenAtFit, seeds: Any
    ) -> CrossFit:
        """What members predict for rows that they were not fitted to."""
        responses = [self._response(member, target) for member in members]
        labels, n_rows, owner = self._labels(target), len(target.values), type(self).__name__
        if isinstance(self.cv, str):
            return prefit_members(members, responses, X, n_rows, self.n_jobs)
        splitter = splitter_of(self.cv, labels, classifier=self._task == "classification")
        folds = folds_of(splitter, X, labels, n_rows, owner, **given.of_split)
        plan = self._plan(members, responses, labels, given, None if seeds is None else int(seeds[0]))
        plan = replace(plan, refit=False, keeps_folds=self.members == "folds")
        return cross_fit(plan, X, folds, n_rows)

    def _plan(
        self,
        members: list[Member],
        responses: list[ResponseMethod],
        labels: AnyArray,
        given: GivenAtFit,
        seed: int | None,
    ) -> CrossFitPlan:
        return CrossFitPlan(
            members,
            responses,
            [labels] * len(members),
            [given.of_members[member.name] for member in members],
            n_jobs=self.n_jobs,
            on_error=self.on_error,
            random_state=seed,
            verbose=int(self.verbose),
            owner=type(self).__name__,
        )

    def _select(self, crossed: CrossFit, target: Target, weight: FloatArray | None, seed: int) -> None:
        """Choose on all rows that were held out."""
        rows = _covered(crossed, weight)
        if not rows.any():
            raise InvalidInput(
                f"{type(self).__name__}: no row with weight was held out, so there is nothing to choose by."
            )
        self._seed = seed
        paths = self._paths(crossed, target, weight, rows)
        names = [member.name for member in crossed.members]
        self.candidates_ = names
        self.n_iter_ = max(len(path.members) for path in paths)
        self.weights_ = np.mean([shares(path, len(names)) for path in paths], axis=0)
        self.selection_path_ = [
            Bunch(bag=bag, member=names[member], score=score, kept=number < path.best)
            for bag, path in enumerate(paths)
            for number, (member, score) in enumerate(zip(path.members, path.scores, strict=True))
        ]

    def _paths(
        self, crossed: CrossFit, target: Target, weight: FloatArray | None, rows: BoolArray
    ) -> list[Path]:
        """A path for each bag of candidates; without bags, one from all of them."""
        library = np.stack([own[rows] for own in crossed.answers])
        own_weight = np.ones(int(rows.sum())) if weight is None else weight[rows]
        loss = self._selection_loss(library, target.values[rows], own_weight)
        options = GreedyOptions(self.max_iter, self.n_start, self.n_iter_no_change, float(self.tol))
        everyone = list(range(len(library)))
        if self.n_bags == 1:
            return [greedy_path(library, loss, everyone, options)]
        size = self.max_candidates
        size = min(len(library), size) if Integer().accepts(size) else max(1, round(size * len(library)))
        bags = [
            np.sort(np.random.Generator(np.random.PCG64(int(own))).permutation(everyone)[:size]).tolist()
            for own in spawn_seeds(self._seed, self.n_bags)
        ]
        return [greedy_path(library, loss, bag, options) for bag in bags]

    def _selection_loss(self, library: FloatArray, truth: AnyArray, weight: FloatArray) -> SelectionLoss:
        if self.scoring is None:
            return self._default_loss(library, truth, weight)
        scorer, decoded = PredictionScorer(self), self._decoded(truth)
        return ScoreOfMean(library, lambda means: scorer.score(means, decoded, weight))

    def _set_scores(self, crossed: CrossFit, target: Target, weight: FloatArray | None) -> None:
        """Scores of members, and of the selection on rows that it was not made by."""
        predictions, covered = np.stack(crossed.answers), _covered(crossed, weight)
        names = [member.name for member in crossed.members]
        self.oof_coverage_ = crossed.coverage
        self.oof_predictions_ = Bunch(**dict(zip(names, map(self._output, predictions), strict=True)))
        scores = [self._score(own, target.values, weight, covered) for own in predictions]
        self.member_scores_ = Bunch(**{name: s.value for name, s in zip(names, scores, strict=True)})
        nested, times = np.zeros(predictions.shape[1:]), np.zeros(len(covered), dtype=np.int64)
        for fold in crossed.folds:
            others = np.zeros(len(covered), dtype=bool)
            others[fold.train] = True
            if (others & covered).any():
                paths = self._paths(crossed, target, weight, others & covered)
                own = np.mean([shares(path, len(names)) for path in paths], axis=0)
                nested[fold.test] += np.tensordot(own, predictions[:, fold.test], axes=1)
                times[fold.test] += 1
        scored = (times > 0) & covered
        if scored.any():
            nested[scored] /= times[scored, None]
        else:  # members that were fitted before: there are no folds to choose without
            nested, scored = np.tensordot(self.weights_, predictions, axes=1), covered
        score = self._score(nested, target.values, weight, scored)
        self.oof_score_, self.oof_score_error_ = score.value, score.error

    def _set_chosen(
        self,
        X: Any,
        crossed: CrossFit,
        target: Target,
        given: GivenAtFit,
        seeds: Any,
        shape: TableShape,
    ) -> None:
        """Keep the members that were chosen: fitted to all rows, or their models of the folds."""
        chosen = np.flatnonzero(self.weights_).tolist()
        members = [crossed.members[i] for i in chosen]
        responses = [crossed.questions[i] for i in chosen]
        dropped, kept = dict(crossed.dropped), chosen
        if isinstance(self.cv, str):
            models = [crossed.models[i] for i in chosen]
        elif self.members == "folds":
            classes = () if target.classes is None else (target.classes,)
            models = [FoldEnsemble(crossed.members[i].name, crossed.fold_models[i], classes) for i in chosen]  # type: ignore[arg-type]
        else:
            plan = self._plan(
                members, responses, self._labels(target), given, None if seeds is None else int(seeds[1])
            )
            fitted = cross_fit(plan, X, [], len(target.values))
            members, responses, models = fitted.members, fitted.questions, fitted.models
            dropped |= fitted.dropped
            left = {member.name for member in members}
            kept = [i for i in chosen if crossed.members[i].name in left]
        self._shares = self.weights_[kept] / self.weights_[kept].sum()
        self._set_shape(shape)
        self._set_members(members, models)
        self.dropped_ = dropped
        self._asked = [
            (replace(member, estimator=None), response)
            for member, response in zip(members, responses, strict=True)
        ]

    def _means_of(self, X: Any) -> FloatArray:
        """The weighted mean of what the chosen members predict, shape (n_rows, n_columns)."""
        predictions = self._stacked(X)
        return np.asarray(sum(share * own for share, own in zip(self._shares, predictions, strict=True)))

    def _stacked(self, X: Any) -> FloatArray:
        """What every chosen member predicts for rows, shape (n_members, n_rows, n_columns)."""
        check_is_fitted(self, "estimators_")
        calls = [
            (response, member, model, X)
            for (member, response), model in zip(self._asked, self.estimators_, strict=True)
        ]
        return np.stack(in_parallel(_member_predictions, calls, n_jobs=self.n_jobs))

    def member_predictions(self, X: Any) -> MemberPredictions:
        """What each chosen member predicts: probabilities or numbers, and its weight."""
        values = self._stacked(X)
        names = tuple(member.name for member, _ in self._asked)
        return MemberPredictions(values, self._shares, names, labels_by_target(self))

    def with_members(self, places: RowArray) -> Self:
        """A copy with only the chosen members at these ascending places; what was known out of fold is gone."""
        check_is_fitted(self, "estimators_")
        pruned = with_named_members(self, places)
        pruned._shares = self._shares[places] / self._shares[places].sum()
        names = [member.name for member, _ in pruned._asked]
        pruned.weights_ = np.zeros(len(self.candidates_))
        pruned.weights_[[self.candidates_.index(name) for name in names]] = pruned._shares
        return pruned

    def get_metadata_routing(self) -> MetadataRouter:
        """Who may be given what: weights and the like to `fit` of members, groups to `split` of the splitter."""
        router = self._router()
        if not isinstance(self.cv, str):
            router.add(
                splitter=splitter_of(self.cv, None, classifier=False),
                method_mapping=MethodMapping().add(caller="fit", callee="split"),
            )
        return router

    def _sk_visual_block_(self) -> Any:
        names, learners = zip(*self._pairs, strict=True)
        return parallel_block(learners, names)


def _covered(crossed: CrossFit, weight: FloatArray | None) -> BoolArray:
    """Rows that were held out and have weight."""
    covered = crossed.coverage > 0
    return covered if weight is None else covered & (weight > 0)


def _member_predictions(response: ResponseMethod, member: Member, model: Any, X: Any) -> FloatArray:
    return response.predict_with(member.name, model, member.part_of(X))
