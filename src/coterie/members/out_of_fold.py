"""Out of fold: predictions of members for rows that they were not fitted to.

Words
  fold      rows to learn from and rows held out, as any splitter of scikit-learn yields them
  coverage  how often a row was held out: once by a partition, several times by repeated folds, never by the first rows
            of a time series
Each member is fitted once for each fold. Its predictions for a row are averaged over the times the row was held out; a
row that was never held out has NaN. The models of the folds may be kept: together they are a member too.
"""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import PredefinedSplit, TimeSeriesSplit, check_cv
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from coterie._params import in_short, spawn_seeds
from coterie._storage import expect, storable
from coterie._typing import AnyArray, BoolArray, FloatArray, RowArray
from coterie._value_types import INTEGERS, LABELS, MODEL, TEXT, array, dict_of, instance, list_of, tuple_of
from coterie.errors import CoterieError, InvalidInput, InvalidParameter
from coterie.members.fit_members import (
    FitTask,
    Member,
    MemberProgress,
    Outcome,
    dropped_members,
    fit_all,
    in_parallel,
)
from coterie.members.response import ResponseMethod


class Splitter:
    """How rows are held out: an object with `split`, or a list of pairs of row numbers."""

    def accepts(self, value: object) -> bool:
        if isinstance(value, str | bytes | type):
            return False
        if isinstance(value, list | tuple | np.ndarray):
            return len(value) > 0 and all(hasattr(pair, "__len__") and len(pair) == 2 for pair in value)
        return hasattr(value, "split") or isinstance(value, Iterator)

    def describe(self) -> str:
        return "a splitter of scikit-learn or a list of (train, test) row numbers"


@storable("Fold", {"train": INTEGERS, "test": INTEGERS})
@dataclass(frozen=True)
class Fold:
    """Rows to learn from, and rows held out."""

    train: RowArray
    test: RowArray


@dataclass(frozen=True)
class CrossFitPlan:
    """What is fitted, to what, and how.

    Attributes
    ----------
    members : the learners
    responses : how each predicts
    targets : what each is fitted to, an entry for each row
    params : what `fit` of each is given by name
    refit : whether each is also fitted to all rows
    keeps_folds : whether the models of the folds are kept
    """

    members: Sequence[Member]
    responses: Sequence[ResponseMethod]
    targets: Sequence[AnyArray]
    params: Sequence[dict[str, Any]]
    refit: bool = True
    keeps_folds: bool = False
    n_jobs: int | None = None
    on_error: str = "raise"
    random_state: Any = None
    verbose: int = 0
    owner: str = "ensemble"


@storable(
    "CrossFit",
    {
        "members": list_of(instance(Member)),
        "questions": list_of(instance(ResponseMethod)),
        "models": list_of(MODEL),
        "fold_models": list_of(list_of(MODEL)),
        "answers": list_of(array("f", 2)),
        "coverage": INTEGERS,
        "folds": list_of(instance(Fold)),
        "dropped": dict_of(TEXT, TEXT),
    },
)
@dataclass(frozen=True)
class CrossFit:
    """What became of a plan; members that failed are in `dropped` and nowhere else.

    Attributes
    ----------
    members, questions : those that are left
    models : each member, fitted to all rows; empty unless the plan refits
    fold_models : for each member its models by fold; empty unless the plan keeps them
    answers : for each member its predictions out of fold, shape (n_rows, n_columns); NaN where the coverage is 0
    coverage : how often each row was held out
    dropped : why members failed, by name
    """

    members: list[Member]
    questions: list[ResponseMethod]
    models: list[Any]
    fold_models: list[list[Any]]
    answers: list[FloatArray]
    coverage: RowArray
    folds: list[Fold]
    dropped: dict[str, str] = field(default_factory=dict)

    def covered(self, weight: FloatArray | None) -> BoolArray:
        """Rows that were held out and have weight."""
        covered = self.coverage > 0
        return covered if weight is None else covered & (weight > 0)


def splitter_of(cv: Any, y: AnyArray | None, *, classifier: bool) -> Any:
    """The splitter that `cv` stands for, as in scikit-learn: None is 5 folds, stratified for classes."""
    try:
        return check_cv(cv, y, classifier=classifier)
    except ValueError as error:
        raise InvalidParameter(
            f"cv={in_short(cv)} cannot be used: {error}",
            parameter="cv",
            received=cv,
            allowed=f"None, a number of folds, {Splitter().describe()}",
        ) from error


def folds_of(splitter: Any, X: Any, y: AnyArray, n_rows: int, owner: str, **params: Any) -> list[Fold]:
    """The folds of any splitter, checked: row numbers within the table, no row on both sides, no empty side."""
    rows = X if hasattr(X, "shape") else np.zeros((n_rows, 1))  # splitters look at the number of rows
    try:
        pairs = [(np.asarray(train), np.asarray(test)) for train, test in splitter.split(rows, y, **params)]
    except CoterieError:
        raise
    except (TypeError, ValueError) as error:
        raise InvalidParameter(
            f"cv={in_short(splitter)} cannot divide the {n_rows} rows: {error}",
            parameter="cv",
            received=splitter,
            allowed=f"a splitter that can divide {n_rows} rows",
        ) from error
    if not pairs:
        raise InvalidParameter.expecting(
            f"cv={in_short(splitter)} yields no fold", "at least one fold", "cv", splitter
        )
    folds = [_checked(*pair, number, n_rows) for number, pair in enumerate(pairs)]
    _warn_of_uncovered(folds, splitter, n_rows, owner)
    return folds


def _warn_of_uncovered(folds: Sequence[Fold], splitter: Any, n_rows: int, owner: str) -> None:
    """Warn how many rows are never held out, unless the splitter is made to leave rows out."""
    n_never = n_rows - len(np.unique(np.concatenate([fold.test for fold in folds])))
    if n_never and not isinstance(splitter, TimeSeriesSplit | PredefinedSplit):
        warnings.warn(
            f"{owner}: {n_never} of {n_rows} rows are never held out by cv={in_short(splitter)}. Predictions for "
            "them are not known out of fold, so members learn from these rows and nothing else does.",
            UserWarning,
            stacklevel=5,
        )


def _checked(train: AnyArray, test: AnyArray, number: int, n_rows: int) -> Fold:
    sides = []
    for side, rows in (("train", train), ("test", test)):
        if rows.dtype.kind == "b" and rows.shape == (n_rows,):
            rows = np.flatnonzero(rows)
        if rows.ndim != 1 or not len(rows) or rows.dtype.kind not in "iu":
            allowed = "the numbers of at least one row"
            raise InvalidParameter.expecting(
                f"cv: the {side} rows of fold {number} are {in_short(rows)}", allowed, "cv", rows
            )
        if rows.min() < -n_rows or rows.max() >= n_rows:
            raise InvalidParameter(
                f"cv: the {side} rows of fold {number} reach from {rows.min()} to {rows.max()}, and the table has "
                f"{n_rows} rows.",
                parameter="cv",
                received=(int(rows.min()), int(rows.max())),
                allowed=f"row numbers from 0 to {n_rows - 1}",
            )
        sides.append(rows.astype(np.int64) % n_rows)
    both = np.intersect1d(sides[0], sides[1])
    if len(both):
        raise InvalidParameter(
            f"cv: fold {number} holds out row {both[0]} and learns from it too ({len(both)} such rows). Predictions of "
            "rows that a model was fitted to cannot be trusted.",
            parameter="cv",
            received=both.tolist(),
            allowed="folds whose test rows are not among their training rows",
            row=int(both[0]),
        )
    return Fold(sides[0], sides[1])


def cross_fit(plan: CrossFitPlan, X: Any, folds: Sequence[Fold], n_rows: int) -> CrossFit:
    """Fit every member to every fold, and to all rows if the plan has it, as one queue of tasks."""
    n_folds = len(folds)
    per_member = n_folds + plan.refit
    seeds = seeds_or_none(plan.random_state, len(plan.members) * per_member)
    tasks = []
    for number, (member, y, params) in enumerate(zip(plan.members, plan.targets, plan.params, strict=True)):
        own = seeds[number * per_member : (number + 1) * per_member]
        if plan.refit:
            tasks.append(FitTask(member, y, params=params, seed=own[-1], note="all rows"))
        tasks += [
            FitTask(
                member,
                y,
                rows=fold.train,
                predict_rows=fold.test,
                params=params,
                keeps_model=plan.keeps_folds,
                seed=own[k],
                note=f"fold {k + 1} of {n_folds}",
            )
            for k, fold in enumerate(folds)
        ]
    predict = _Predictor(
        {member.name: response for member, response in zip(plan.members, plan.responses, strict=True)}
    )
    progress = MemberProgress(plan.owner, len(tasks), plan.verbose)
    outcomes = fit_all(
        tasks, X, n_jobs=plan.n_jobs, on_error=plan.on_error, predict=predict, progress=progress
    )
    by_member = [outcomes[i * per_member : (i + 1) * per_member] for i in range(len(plan.members))]
    return _collected(plan, by_member, folds, n_rows)


@dataclass(frozen=True)
class _Predictor:
    """Predicts with each member by its own method; a class, because workers need to be sent it."""

    responses: dict[str, ResponseMethod]

    def __call__(self, member: Member, model: Any, X: Any) -> FloatArray:
        return self.responses[member.name].predict_with(member.name, model, member.part_of(X))


def seeds_or_none(random_state: Any, n: int) -> list[int | None]:
    """Seeds for so many tasks; None for each if there is none to split."""
    return [None] * n if random_state is None else [int(seed) for seed in spawn_seeds(random_state, n)]


def _collected(
    plan: CrossFitPlan, by_member: list[list[Outcome]], folds: Sequence[Fold], n_rows: int
) -> CrossFit:
    errors = {
        member.name: next(outcome.error for outcome in outcomes if outcome.error is not None)
        for member, outcomes in zip(plan.members, by_member, strict=True)
        if any(outcome.error is not None for outcome in outcomes)
    }
    dropped = dropped_members([member.name for member in plan.members], errors, plan.owner)
    coverage = np.zeros(n_rows, dtype=np.int64)
    for fold in folds:
        np.add.at(coverage, fold.test, 1)
    left = [i for i, member in enumerate(plan.members) if member.name not in dropped]
    of_folds = [by_member[i][int(plan.refit) :] for i in left]
    return CrossFit(
        members=[plan.members[i] for i in left],
        questions=[plan.responses[i] for i in left],
        models=[by_member[i][0].model for i in left] if plan.refit else [],
        fold_models=[[outcome.model for outcome in outcomes] for outcomes in of_folds]
        if plan.keeps_folds
        else [],
        answers=[
            _mean_predictions([outcome.predictions for outcome in each], folds, coverage)
            for each in of_folds
            if each
        ],
        coverage=coverage,
        folds=list(folds),
        dropped=dropped,
    )


def _mean_predictions(predictions: list[FloatArray], folds: Sequence[Fold], coverage: RowArray) -> FloatArray:
    """The mean over the folds that held a row out; NaN for a row that none did."""
    widths = {own.shape[1] for own in predictions}
    if len(widths) > 1:
        raise InvalidInput(
            f"The models of the folds give predictions of different widths: {sorted(widths)} columns.",
            parameter="cv",
            received=sorted(widths),
            allowed="folds with rows of every class",
            hint="Some folds may not have rows of every class; fewer folds, or stratified ones, do.",
        )
    sums = np.zeros((len(coverage), widths.pop() if widths else 0))
    for fold, own in zip(folds, predictions, strict=True):
        np.add.at(sums, fold.test, own)
    with np.errstate(invalid="ignore"):
        return sums / coverage[:, None]


def prefit_members(
    members: Sequence[Member], responses: Sequence[ResponseMethod], X: Any, n_rows: int, n_jobs: int | None
) -> CrossFit:
    """Members that were fitted before, and their predictions of all rows; without X there are none."""
    for member in members:
        try:
            check_is_fitted(member.estimator)
        except NotFittedError as error:
            raise NotFittedError(
                f"cv='prefit' takes members as they are, and {member.name!r} is not fitted: {error}"
            ) from error
    predictions, folds = [], []
    if X is not None:
        predict = _Predictor(
            {member.name: response for member, response in zip(members, responses, strict=True)}
        )
        predictions = in_parallel(
            predict, [(member, member.estimator, X) for member in members], n_jobs=n_jobs
        )
        folds = [Fold(np.zeros(0, dtype=np.int64), np.arange(n_rows))]
    models = [member.estimator for member in members]
    coverage = np.ones(n_rows, dtype=np.int64)
    return CrossFit(list(members), list(responses), models, [], predictions, coverage, folds)


def _can(method: str) -> Any:
    def has_method(member: "FoldEnsemble") -> bool:
        return all(hasattr(model, method) for model in member.models)

    return available_if(has_method)


def _verify_fold_models(member: Any) -> None:
    expect(len(member.models) > 0, "has no models")


@storable(
    "FoldModels",
    {
        "name": TEXT,
        "models": list_of(MODEL),
        "_classes": tuple_of(LABELS),
        "classes_": LABELS | list_of(LABELS),
    },
    optional=("classes_",),
    verify=_verify_fold_models,
)
class FoldEnsemble:
    """A fitted member made of one model for each fold.

    Attributes
    ----------
    models : list of fitted learners, one for each fold
    classes_ : labels, or a list of them for several outputs; not there for numbers
    """

    def __init__(self, name: str, models: list[Any], classes: tuple[AnyArray, ...]) -> None:
        self.name = name
        self.models = models
        self._classes = classes
        if classes:
            self.classes_ = classes[0] if len(classes) == 1 else list(classes)

    def mean_of(self, response: ResponseMethod, X: Any) -> FloatArray:
        """The mean of what the models predict by a method."""
        total = sum(response.predict_with(self.name, model, X) for model in self.models)
        return np.asarray(total / len(self.models))

    def predict(self, X: Any) -> AnyArray:
        """The class that most models name, or the mean of their numbers."""
        response = ResponseMethod("predict", self._classes, bool(self._classes))
        final = response.finalize(self.mean_of(response, X))
        if self._classes:
            labels = [classes[final[:, i].astype(int)] for i, classes in enumerate(self._classes)]
            return labels[0] if len(labels) == 1 else np.column_stack(labels)
        return final[:, 0] if final.shape[1] == 1 else final

    @_can("predict_proba")  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> FloatArray:
        """The mean of their probabilities."""
        return self.mean_of(ResponseMethod("predict_proba", self._classes), X)

    @_can("decision_function")  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> FloatArray:
        """The mean of their scores."""
        scores = self.mean_of(ResponseMethod("decision_function", self._classes), X)
        return scores[:, 0] if scores.shape[1] == 1 else scores
