"""Output codes: many classes by members that tell two groups of them apart."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
from sklearn.base import ClassifierMixin, is_classifier, is_regressor
from sklearn.utils.metadata_routing import MetadataRouter
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from coterie._params import (
    ArrayLike,
    Boolean,
    EstimatorLike,
    Integer,
    OneOf,
    Params,
    Real,
    Seed,
    in_short,
    spawn_seeds,
)
from coterie._storage import Fitted, storable, storable_estimator, stored_as
from coterie._typing import AnyArray, FloatArray, RowArray, SeedLike
from coterie._value_types import FLOATS, INTEGER, LABELS, MODEL, NONE, NUMBER, array, instance, list_of
from coterie.combining._code_matrix import (
    LOSSES,
    Code,
    as_code,
    code_matrix,
    coupled,
    distances,
    logits,
    separation,
)
from coterie.data.parts import check_columns, row_indexable, schema_of, table_shape
from coterie.data.table import Schema
from coterie.data.target import read_target
from coterie.data.weight import combined_weight, read_weight
from coterie.errors import InvalidParameter
from coterie.fitting.estimator import Estimator
from coterie.fitting.fitted_state import verify_columns
from coterie.members.fit_members import FitTask, Member, MemberProgress, fit_all, in_parallel
from coterie.members.weight_parameter import params_of_learner, router_of, take_input_tags, weight_params
from coterie.trees.decision_tree import DecisionTreeClassifier


def _learner_of(ensemble: Any) -> Any:
    return DecisionTreeClassifier() if ensemble.estimator is None else ensemble.estimator


def _decoding_of(ensemble: Any) -> str:
    """What "auto" stands for."""
    if ensemble.decoding != "auto":
        return str(ensemble.decoding)
    return "probabilistic" if hasattr(_learner_of(ensemble), "predict_proba") else "logistic"


def _when(condition: Callable[[str], bool], method: str) -> Any:
    def check(ensemble: Any) -> bool:
        if not condition(_decoding_of(ensemble)):
            raise AttributeError(f"{method} is not available when decoding={_decoding_of(ensemble)!r}")
        return True

    return available_if(check)


@storable_estimator(verify=verify_columns)
class OutputCodeClassifier(ClassifierMixin, Estimator):
    """A classifier for many classes, made of members that each tell two groups of them apart.

    A code matrix says which classes are on which side for each member. The class of a row is the one whose row of the
    matrix fits the members' predictions best, so if the matrix has members to spare, some of them may be wrong. One
    against the rest and one against one are codes too.

    Parameters
    ----------
    estimator : estimator or None
        The learner: a classifier for two classes, which is taught 0 and 1, or a regressor, which is taught -1 and 1.
        None: a `DecisionTreeClassifier`. Default None: the usual learner of this method, which takes any table
        without preparation.
    code : {"dense", "sparse", "exhaustive", "one_vs_rest", "one_vs_one"} or array of shape (n_classes, n_members)
        "dense": every class is on a side drawn at random. "sparse": half of the classes take no part. Of 64 such
        matrices the one is taken whose classes are farthest apart. "exhaustive": every way to part the classes in
        two, for 10 classes at most. "one_vs_rest", "one_vs_one": a member for each class, or pair of classes. An
        array has a row for each class in the order of `classes_`, with 1 and -1 for the sides and 0 for classes that
        take no part. Default "dense": it needs the fewest members and serves any number of classes.
    code_size : float
        Members of a random code, as a share of the number of classes. Default 1.5: scikit-learn's number.
    decoding : {"auto", "hamming", "hinge", "exponential", "logistic", "probabilistic"}
        How a class is found. "hamming": members count alike. "hinge", "exponential" and "logistic": the class for
        which the loss of the members' scores is least. "probabilistic": the probabilities of classes that agree best
        with those of the members. "auto": probabilistic if the learner has probabilities, else logistic. Default
        "auto": probabilities, where there are any, say more than signs.
    n_jobs : int or None
        Threads in all. Members are fitted side by side, and each is held to its share whatever its own `n_jobs` says.
        None: one after the other. The predictions are the same for any number. Default None: members decide
        themselves, so that threads do not compete.
    random_state : int, RandomState, Generator or None
        The seed of a random code, and of members whose own random_state is None. Default None: a new seed for each
        fit, as in scikit-learn; a number makes it repeatable.
    verbose : int or bool
        Print a line when a member is fitted. Default 0: silent.

    Attributes
    ----------
    classes_ : array of the labels
    code_book_ : array of shape (n_classes, n_members)
        The code matrix.
    separation_ : int
        The least number of members for which two classes are on different sides. Of any `(separation_ - 1) // 2`
        members that are wrong about a row, the others make up for them.
    estimators_ : list of fitted members

    Examples
    --------
    >>> from coterie import OutputCodeClassifier
    >>> from coterie.datasets import load_table
    >>> from sklearn.naive_bayes import GaussianNB
    >>> import pandas as pd
    >>> X, y = load_table("wine")
    >>> model = OutputCodeClassifier(GaussianNB(), code="exhaustive").fit(pd.DataFrame(X), y)
    >>> model.code_book_
    array([[ 1,  1,  1],
           [-1, -1,  1],
           [-1,  1, -1]], dtype=int8)
    >>> model.separation_, model.score(pd.DataFrame(X), y) > 0.95
    (2, True)

    References
    ----------
    Dietterich and Bakiri, Solving multiclass learning problems via error-correcting output codes (1995); Allwein,
    Schapire and Singer, Reducing multiclass to binary (2000); Zadrozny (2002) for probabilities.
    """

    PARAMS: ClassVar[Params] = {
        "estimator": [EstimatorLike(), None],
        "code": [OneOf("dense", "sparse", "exhaustive", "one_vs_rest", "one_vs_one"), ArrayLike()],
        "code_size": [Real(0, None, closed="neither")],
        "decoding": [OneOf("auto", *LOSSES, "probabilistic")],
        "n_jobs": [Integer(), None],
        "random_state": [Seed()],
        "verbose": [Integer(0), Boolean()],
    }
    FITTED: ClassVar[Fitted] = {
        "classes_": LABELS,
        "code_book_": array("fi", 2),
        "estimators_": list_of(MODEL | stored_as("OneSide")),
        "separation_": NUMBER,
        "_schema": instance(Schema) | NONE,
        "_shares": FLOATS | NONE,
    }

    _has_members = True

    classes_: AnyArray
    code_book_: Code
    estimators_: list[Any]
    _schema: Schema | None

    def __init__(
        self,
        estimator: Any = None,
        *,
        code: Literal["dense", "sparse", "exhaustive", "one_vs_rest", "one_vs_one"]
        | Sequence[Any]
        | AnyArray = "dense",
        code_size: float = 1.5,
        decoding: Literal["auto", "hamming", "hinge", "exponential", "logistic", "probabilistic"] = "auto",
        n_jobs: int | None = None,
        random_state: SeedLike = None,
        verbose: int = 0,
    ) -> None:
        self._store(locals())

    def fit(self, X: Any, y: Any, sample_weight: Any = None, **fit_params: Any) -> Self:
        """Make the code and fit the members.

        Parameters
        ----------
        X : any table, as the learner takes it
        y : labels of any type, one for each row
        sample_weight : how often each row counts; the learner must take it
        **fit_params : what the learner requests by scikit-learn's metadata routing, if that is on
        """
        with self._fitting(X, y) as run:
            learner = self._checked_learner()
            shape = table_shape(X)
            target = read_target(
                y, task="classification", estimator_name=type(self).__name__, n_rows=shape.n_rows
            )
            weight = combined_weight(read_weight(sample_weight, shape.n_rows), None)
            params = {**params_of_learner(self, fit_params), **weight_params(learner, weight)}
            assert isinstance(target.classes, np.ndarray)
            self.classes_, self.code_book_ = target.classes, self._code(target.classes, run.seed)
            self.separation_ = separation(self.code_book_)
            self._schema = schema_of(shape)
            if self._schema is not None:
                self._schema.set_feature_names(self)
            self._fit_members(learner, row_indexable(X), target.values, weight, params, run.seed)
        return self

    def _code(self, classes: AnyArray, seed: int) -> Code:
        if isinstance(self.code, str):
            return code_matrix(self.code, len(classes), self.code_size, seed)
        return as_code(self.code, classes)

    def _fit_members(
        self,
        learner: Any,
        X: Any,
        codes: AnyArray,
        weight: FloatArray | None,
        params: dict[str, Any],
        seed: int,
    ) -> None:
        sides = self.code_book_[codes]  # of each row, for each member
        weighty = np.ones(len(codes), dtype=bool) if weight is None else weight > 0
        seeds = spawn_seeds(seed, 1 + sides.shape[1])[1:]
        every: list[Any] = [None] * sides.shape[1]
        tasks: dict[int, FitTask] = {}
        seen = []
        for column in range(sides.shape[1]):
            rows = np.flatnonzero((sides[:, column] != 0) & weighty)
            seen.append(len(rows) if weight is None else weight[rows].sum())
            present = set(sides[rows, column].tolist())
            if present == {-1, 1}:
                tasks[column] = self._task(column, learner, sides[:, column], rows, params, seeds)
            else:  # the rows of one side have no weight
                every[column] = _OneSide(present.pop() if present else 0)
        progress = MemberProgress(type(self).__name__, len(tasks), self.verbose)
        outcomes = fit_all(list(tasks.values()), X, n_jobs=self.n_jobs, on_error="raise", progress=progress)
        for column, outcome in zip(tasks, outcomes, strict=True):
            every[column] = outcome.model
        self.estimators_ = every
        self._shares = np.array(seen, dtype=np.float64) / max(max(seen, default=1.0), 1e-300)

    def _task(
        self,
        column: int,
        learner: Any,
        side: AnyArray,
        rows: RowArray,
        params: dict[str, Any],
        seeds: AnyArray,
    ) -> FitTask:
        y = (side > 0).astype(np.int64) if is_classifier(learner) else side.astype(np.float64)
        return FitTask(
            Member(_name(column), learner),
            y,
            rows=None if len(rows) == len(side) else rows,
            params=params,
            seed=None if self.random_state is None else int(seeds[column]),
        )

    def predict(self, X: Any) -> AnyArray:
        """The class of each row; on a tie, the first of them."""
        fits = self._probabilities(X) if _decoding_of(self) == "probabilistic" else -self._distances(X)
        return np.asarray(self.classes_[fits.argmax(axis=1)])

    @_when(lambda decoding: decoding == "probabilistic", "predict_proba")  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> FloatArray:
        """The probability of each class, shape (n_rows, n_classes); for decoding="probabilistic"."""
        return self._probabilities(X)

    @_when(lambda decoding: decoding in LOSSES, "decision_function")  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> FloatArray:
        """How well each class fits, minus the distance of its code; for two classes the score of the second.

        The shape is (n_rows, n_classes), or (n_rows,) for two classes. Not for decoding="probabilistic".
        """
        found = self._distances(X)
        return found[:, 0] - found[:, 1] if found.shape[1] == 2 else -found

    def _distances(self, X: Any) -> FloatArray:
        predicted = self._member_predictions(X, _score)
        return distances(self.code_book_, predicted, _decoding_of(self))

    def _probabilities(self, X: Any) -> FloatArray:
        predicted = self._member_predictions(X, _probability)
        if not predicted.shape[1]:
            return np.ones((len(predicted), 1))
        if len(self.classes_) == 2 and predicted.shape[1] == 1:
            second = predicted if self.code_book_[1, 0] > 0 else 1 - predicted
            return np.hstack([1 - second, second])
        return coupled(self.code_book_, predicted, self._shares)

    def _member_predictions(self, X: Any, predict: Any) -> FloatArray:
        """What each member predicts, shape (n_rows, n_members)."""
        check_is_fitted(self, "estimators_")
        if self._schema is not None:
            check_columns(self._schema, X, type(self).__name__)
        X = row_indexable(X)
        found = in_parallel(predict, [(model, X) for model in self.estimators_], n_jobs=self.n_jobs)
        return np.column_stack(found) if found else np.zeros((_n_rows(X), 0))

    def _checked_learner(self) -> Any:
        learner = _learner_of(self)
        if not is_classifier(learner) and not is_regressor(learner):
            raise InvalidParameter(
                f"OutputCodeClassifier(estimator={in_short(learner)}): expected a classifier or a regressor."
            )
        if self.decoding == "probabilistic" and not hasattr(learner, "predict_proba"):
            raise InvalidParameter(
                f"decoding='probabilistic' needs predict_proba, which {type(learner).__name__} does not have; "
                "expected a loss such as decoding='logistic'."
            )
        return learner

    def get_metadata_routing(self) -> MetadataRouter:
        """Who may be given what: weights to this estimator, everything else to `fit` of the learner."""
        return router_of(self, _learner_of(self))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        take_input_tags(tags, _learner_of(self))
        return tags


@storable("OneSide", {"side": INTEGER})
@dataclass(frozen=True)
class _OneSide:
    """A member that saw one side only, or none: it is sure of that, or knows nothing."""

    side: int


def _name(column: int) -> str:
    return f"member {column}"


def _score(model: Any, X: Any) -> FloatArray:
    """Above 0 for the positive side."""
    if isinstance(model, _OneSide):
        return np.full(_n_rows(X), float(model.side))
    if hasattr(model, "decision_function"):
        return np.asarray(model.decision_function(X), dtype=np.float64).reshape(-1)
    if hasattr(model, "predict_proba"):
        return logits(np.asarray(model.predict_proba(X))[:, 1])
    predicted = np.asarray(model.predict(X), dtype=np.float64).reshape(-1)
    return 2 * predicted - 1 if is_classifier(model) else predicted


def _probability(model: Any, X: Any) -> FloatArray:
    """That of the positive side."""
    if isinstance(model, _OneSide):
        return np.full(_n_rows(X), (1 + model.side) / 2)
    return np.asarray(model.predict_proba(X), dtype=np.float64)[:, 1]


def _n_rows(X: Any) -> int:
    return table_shape(X).n_rows
