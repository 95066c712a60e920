"""Selection: the best mean of members from a library of candidates, found greedily on rows held out."""

from collections.abc import Callable
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import Bunch

from coterie._documentation import documented
from coterie._params import Function, Integer, OneOf, Params, Real, Share, root_seed, spawn_seeds
from coterie._storage import Fitted, storable_estimator
from coterie._typing import AnyArray, BoolArray, FloatArray, MembersKept, OnError, RowArray, SeedLike, Task
from coterie._value_types import ANY, COUNT, FLOATS, LABELS, NONE, TEXT, dict_of, list_of
from coterie.combining.greedy import (
    GreedyOptions,
    LogLossOfMean,
    Path,
    ScoreOfMean,
    SelectionLoss,
    SquaredErrorOfMean,
    greedy_path,
    shares,
)
from coterie.data.target import Target
from coterie.errors import InvalidInput
from coterie.fitting.fitted_state import PRUNED_FITTED
from coterie.fitting.scoring import PredictionScorer, ResponseFunctions, ScorerName
from coterie.members.fit_members import Member
from coterie.members.member_predictions import MemberPredictions
from coterie.members.named_members import (
    MEMBER_PARAMS,
    MEMBERS_FITTED,
    GivenAtFit,
    MemberFitData,
    NamedMembers,
    verify_members,
)
from coterie.members.oof_score import Score, score_of_codes, score_of_numbers
from coterie.members.out_of_fold import (
    CrossFit,
    FoldEnsemble,
    Splitter,
    folds_of,
    prefit_members,
    seeds_or_none,
    splitter_of,
)
from coterie.members.parameter_docs import MEMBER_WORDS, OOF_WORDS
from coterie.members.response import ResponseMethod, method_of, probabilities_or_vote

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

    weights_: FloatArray
    selection_path_: list[Bunch]
    _shares: FloatArray

    # What those of classes and those of numbers each define.
    _response: Callable[[Member, Target], ResponseMethod]
    _decoded: Callable[[AnyArray], AnyArray]
    _default_loss: Callable[[FloatArray, AnyArray, FloatArray], SelectionLoss]
    _score: Callable[[FloatArray, AnyArray, FloatArray | None, BoolArray], Score]
    _response_functions: Callable[[], ResponseFunctions]
    _output: Callable[[FloatArray], FloatArray]

    def _fit_members(self, data: MemberFitData, members: list[Member]) -> None:
        given = self._given(data, members)
        seeds = seeds_or_none(self.random_state, 3)
        crossed = self._crossed(data, members, given, seeds[0])
        self._select(crossed, data.target, data.weight, root_seed(None) if seeds[2] is None else seeds[2])
        self._set_scores(crossed, data.target, data.weight)
        self._set_chosen(data, crossed, given, seeds[1])

    def _crossed(
        self, data: MemberFitData, members: list[Member], given: GivenAtFit, seed: int | None
    ) -> CrossFit:
        """What members predict for rows that they were not fitted to."""
        responses = [self._response(member, data.target) for member in members]
        if isinstance(self.cv, str):
            return prefit_members(members, responses, data.X, data.n_rows, self.n_jobs)
        splitter = splitter_of(self.cv, data.labels, classifier=bool(data.classes))
        folds = folds_of(splitter, data.X, data.labels, data.n_rows, type(self).__name__, **given.of_split)
        keeps_folds = self.members == "folds"
        return self._cross_fit(
            data, members, responses, given, folds, random_state=seed, refit=False, keeps_folds=keeps_folds
        )

    def _select(self, crossed: CrossFit, target: Target, weight: FloatArray | None, seed: int) -> None:
        """Choose on all rows that were held out."""
        rows = crossed.covered(weight)
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
        predictions, covered = np.stack(crossed.answers), crossed.covered(weight)
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
        self, data: MemberFitData, crossed: CrossFit, given: GivenAtFit, seed: int | None
    ) -> None:
        """Keep the members that were chosen: fitted to all rows, or their models of the folds."""
        kept = np.flatnonzero(self.weights_).tolist()
        members = [crossed.members[i] for i in kept]
        responses = [crossed.questions[i] for i in kept]
        dropped = crossed.dropped
        if isinstance(self.cv, str):
            models = [crossed.models[i] for i in kept]
        elif self.members == "folds":
            models = [
                FoldEnsemble(crossed.members[i].name, crossed.fold_models[i], data.classes) for i in kept
            ]
        else:
            fitted = self._cross_fit(data, members, responses, given, [], random_state=seed)
            members, responses, models = fitted.members, fitted.questions, fitted.models
            dropped = crossed.dropped | fitted.dropped
            kept = [i for i in kept if crossed.members[i].name not in dropped]
        self._shares = self.weights_[kept] / self.weights_[kept].sum()
        self._set_members(members, responses, models, dropped)

    def _means_of(self, X: Any) -> FloatArray:
        """The weighted mean of what the chosen members predict, shape (n_rows, n_columns)."""
        predictions = self._stacked(X)
        return np.asarray(sum(share * own for share, own in zip(self._shares, predictions, strict=True)))

    def member_predictions(self, X: Any) -> MemberPredictions:
        """What each chosen member predicts: probabilities or numbers, and its weight."""
        return self._weighted_predictions(X, self._shares)

    def with_members(self, places: RowArray) -> Self:
        """A copy with only the chosen members at these ascending places; what was known out of fold is gone."""
        pruned = self._with_named_members(places)
        pruned._shares = self._shares[places] / self._shares[places].sum()
        names = [member.name for member, _ in pruned._asked]
        pruned.weights_ = np.zeros(len(self.candidates_))
        pruned.weights_[[self.candidates_.index(name) for name in names]] = pruned._shares
        return pruned


_PARAMETERS = """\
{estimators}    scoring : str, callable or None
        What the selection makes as great as it can: the name of a scikit-learn scorer, or a scorer. None: minus the
        {loss}. Default None: it is smoother than scores that count, so choices by it are the least noisy.
    cv : int, splitter, list of (train, test), "prefit" or None
        How rows are held out, as in scikit-learn; None is 5 folds. "prefit": members were fitted before, and the
        choice is made on all rows given to `fit`, which they should not have seen. Default None: five folds, as in
        scikit-learn.
    max_iter : int
        Additions at most. A member may be added again, which gives it more weight. Default 50: enough for weights in
        steps of two per cent.
    n_start : int
        Begin with so many of the best members, each once: a mean of several is hard to fit to chance. 1 begins with
        the best. Default 1: it begins with the best member.
    n_iter_no_change : int or None
        Stop after so many additions that gained no more than `tol`. None: make all of them. The additions up to the
        best score are kept. Default 10: a score that has
        not risen for so long hardly ever does later.
    tol : float
        What an addition has to gain to count as progress. Default 0.0: any gain.
    n_bags : int
        Select so many times, each from some of the candidates drawn at random, and average: a candidate that fits
        chance is not always there. Default 1: once, from all candidates: more take longer, and help where candidates
        are many and rows few.
    max_candidates : int or float
        Candidates in each of several bags, a number or a share of all. Default 0.5: half, as the authors of the
        method chose.
    members : {{"refit", "folds"}}
        Whether the chosen members are fitted once more, to all rows, or are the means of their models of the folds.
        Default "refit": members learn from all rows.
{on_error}{n_jobs}{random_state}{verbose}
    Attributes
    ----------
{classes}    candidates_ : list of str
        Names of the members to choose from, without those that failed.
    weights_ : array of shape (n_candidates,)
        How often each was added, as shares; 0 for those that were not chosen.
    selection_path_ : list of Bunch
        Each addition in its order: `bag`, `member`, `score` after it, and whether it was `kept`.
    n_iter_ : int
        Additions that were made, of the longest path if there are several.
    estimators_ : list of the chosen members, fitted
    named_estimators_ : Bunch of the same by name; "drop" for the others
    dropped_ : dict
        Why members failed, by name; empty unless on_error="drop".
{oof}        Each part of the rows is scored by a selection that was made without it.
    pruning_path_ : Bunch
        The order of the members and the loss after each, if `coterie.prune` chose from them.
"""


def _texts(estimator: type) -> str:
    of_classes = issubclass(estimator, ClassifierMixin)
    return _PARAMETERS.format(
        **MEMBER_WORDS,
        loss="log loss" if of_classes else "mean squared error",
        classes="    classes_ : array of the labels\n" if of_classes else "",
        oof=OOF_WORDS,
    )


@storable_estimator(verify=verify_members)
@documented(_texts)
class SelectionClassifier(ClassifierMixin, BaseSelection):
    """Selection of classifiers from a library.

    All candidates predict rows that they were not fitted to. Then the selection begins with the best of them
    and adds, again and again, the one that makes the mean of the probabilities better by most. How often a member was
    added is its weight, and most are never added.

    A member without probabilities has a vote.

    Examples
    --------
    >>> from coterie import DecisionTreeClassifier, RandomForestClassifier, SelectionClassifier
    >>> from coterie.datasets import load_table
    >>> import pandas as pd
    >>> X, y = load_table("wine")
    >>> library = [(f"tree{depth}", DecisionTreeClassifier(max_depth=depth)) for depth in (1, 2, 3)]
    >>> library.append(("forest", RandomForestClassifier(random_state=0)))
    >>> model = SelectionClassifier(library, random_state=0).fit(pd.DataFrame(X), y)
    >>> model.candidates_[model.weights_.argmax()], float(model.weights_.sum())
    ('forest', 1.0)

    References
    ----------
    Caruana, Niculescu-Mizil, Crew and Ksikes, Ensemble selection from libraries of models (2004).
    """

    FITTED: ClassVar[Fitted] = {**SELECTION_FITTED, "classes_": LABELS}
    _task: ClassVar[Task] = "classification"

    classes_: AnyArray

    def __init__(
        self,
        estimators: Any,
        *,
        scoring: Any = None,
        cv: Any = None,
        max_iter: int = 50,
        n_start: int = 1,
        n_iter_no_change: int | None = 10,
        tol: float = 0.0,
        n_bags: int = 1,
        max_candidates: float = 0.5,
        members: MembersKept = "refit",
        on_error: OnError = "raise",
        n_jobs: int | None = None,
        random_state: SeedLike = None,
        verbose: int = 0,
    ) -> None:
        self._store(locals())

    def predict(self, X: Any) -> AnyArray:
        """The most probable class of each row; on a tie, the first of them."""
        return self._labels_of(self._means_of(X))

    def predict_proba(self, X: Any) -> FloatArray:
        """The weighted mean of the members' probabilities, shape (n_rows, n_classes)."""
        return self._means_of(X)

    def _labels_of(self, means: FloatArray) -> AnyArray:
        return np.asarray(self.classes_[means.argmax(axis=1)])

    def _response_functions(self) -> ResponseFunctions:
        return {"predict": self._labels_of, "predict_proba": self._output}

    def _response(self, member: Member, target: Target) -> ResponseMethod:
        assert isinstance(target.classes, np.ndarray)
        return probabilities_or_vote(member.name, member.estimator, target.classes)

    def _decoded(self, truth: AnyArray) -> AnyArray:
        return np.asarray(self.classes_[truth])

    def _default_loss(self, library: FloatArray, truth: AnyArray, weight: FloatArray) -> SelectionLoss:
        return LogLossOfMean(library, truth, weight)

    def _score(
        self, predicted: FloatArray, truth: AnyArray, weight: FloatArray | None, rows: BoolArray
    ) -> Score:
        return score_of_codes(truth, predicted.argmax(axis=1), weight, rows)

    def _output(self, predictions: FloatArray) -> FloatArray:
        return predictions

    def _has_outputs(self) -> bool:
        return False


@storable_estimator(verify=verify_members)
@documented(_texts)
class SelectionRegressor(RegressorMixin, BaseSelection):
    """Selection of regressors from a library.

    All candidates predict rows that they were not fitted to. Then the selection begins with the best of them
    and adds, again and again, the one that makes the mean of the predictions better by most. How often a member was
    added is its weight, and most are never added.

    Examples
    --------
    >>> import numpy as np
    >>> from coterie import DecisionTreeRegressor, SelectionRegressor
    >>> from sklearn.linear_model import LinearRegression
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2))
    >>> y = X[:, 0] + (X[:, 1] > 0) + 0.5 * rng.normal(size=300)
    >>> library = [("linear", LinearRegression())]
    >>> library += [(f"tree{depth}", DecisionTreeRegressor(max_depth=depth)) for depth in (1, 2, 4, 8)]
    >>> model = SelectionRegressor(library, random_state=0).fit(X, y)
    >>> [str(step.member) for step in model.selection_path_[:2]]
    ['linear', 'tree4']
    >>> model.oof_score_ > max(model.member_scores_.values())
    True

    References
    ----------
    Caruana, Niculescu-Mizil, Crew and Ksikes, Ensemble selection from libraries of models (2004).
    """

    FITTED: ClassVar[Fitted] = {**SELECTION_FITTED, "_n_outputs": COUNT}
    _task: ClassVar[Task] = "regression"

    def __init__(
        self,
        estimators: Any,
        *,
        scoring: Any = None,
        cv: Any = None,
        max_iter: int = 50,
        n_start: int = 1,
        n_iter_no_change: int | None = 10,
        tol: float = 0.0,
        n_bags: int = 1,
        max_candidates: float = 0.5,
        members: MembersKept = "refit",
        on_error: OnError = "raise",
        n_jobs: int | None = None,
        random_state: SeedLike = None,
        verbose: int = 0,
    ) -> None:
        self._store(locals())

    def predict(self, X: Any) -> FloatArray:
        """The weighted mean of what the chosen members predict."""
        return self._output(self._means_of(X))

    def _response_functions(self) -> ResponseFunctions:
        return {"predict": self._output}

    def _response(self, member: Member, target: Target) -> ResponseMethod:
        return ResponseMethod(method_of(member.name, member.estimator, "predict"))

    def _decoded(self, truth: AnyArray) -> AnyArray:
        return truth

    def _set_target(self, target: Target) -> None:
        self._n_outputs = target.n_outputs

    def _default_loss(self, library: FloatArray, truth: AnyArray, weight: FloatArray) -> SelectionLoss:
        return SquaredErrorOfMean(library, truth.reshape(len(truth), -1), weight)

    def _score(
        self, predicted: FloatArray, truth: AnyArray, weight: FloatArray | None, rows: BoolArray
    ) -> Score:
        return score_of_numbers(truth, self._output(predicted), weight, rows)

    def _output(self, predictions: FloatArray) -> FloatArray:
        return predictions[:, 0] if self._n_outputs == 1 else predictions
