"""Isolation forests: how unusual a row is, by how few random splits part it from the others."""

import warnings
from numbers import Integral
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import OutlierMixin
from sklearn.utils.validation import check_is_fitted

import coterie._engine as _engine
from coterie._params import ArrayLike, Boolean, Integer, OneOf, Params, Real, Seed, Share, in_short, is_auto
from coterie._storage import Fitted, expect, storable_estimator
from coterie._typing import Auto, CategoricalFeatures, FloatArray, RowArray, SeedLike, UnknownCategory
from coterie._value_types import COUNT, NUMBER, RECOMPUTED, array, instance, list_of
from coterie.data.encoding import Encoded
from coterie.data.prepare import prepare_prediction, prepare_table
from coterie.data.streaming.prediction import by_batches
from coterie.data.weight import combined_weight, read_weight
from coterie.errors import InvalidParameter
from coterie.explain.tree_models import ShapInputs
from coterie.explain.tree_models import explain as explain_trees
from coterie.fitting.estimator import Estimator, FitRun, FitSignature
from coterie.fitting.fitted_state import TABLE_FITTED, require, verify_columns
from coterie.fitting.monitor import FitEvent, active_monitors, emit, printed_progress
from coterie.fitting.warm_start import PreviousFit, check_no_fewer
from coterie.forests.isolation_trees import IsolationDraws, IsolationTrees, joined
from coterie.trees.growth_rules import features_with_missing
from coterie.trees.split_counts import split_counts_of, splits_of_forest

_AUTO_SAMPLES = 256
_MONITORED_STEP = 8  # trees between two events


def _verify_isolation_forest(model: Any) -> None:
    verify_columns(model)
    if "forest_" not in vars(model):
        return
    require(model, "n_features_in_", "schema_", "encoder_", "offset_", "max_samples_", "_draws")
    forest = model.forest_
    expect(forest.n_features == model.n_features_in_, "has trees of another table")
    expect(forest.n_outputs == 1, "has trees of several outputs")
    ends = [0, *(own.first_tree + own.n_trees for own in model._draws)]
    begins = [*(own.first_tree for own in model._draws), len(forest)]
    expect(ends == begins, f"has {len(forest)} trees, which are not those it drew rows for")
    expect(all(own.n_trees > 0 and own.max_samples > 0 for own in model._draws), "has trees without rows")


@storable_estimator(verify=_verify_isolation_forest)
class IsolationForest(OutlierMixin, Estimator):
    """How unusual rows are: the fewer random splits part a row from the others, the more so.

    Each tree draws a few rows and splits them at random, one feature and one threshold at a time, until they are alone.
    A row that is unlike the others is alone early. The mean length of its paths is the score.

    Missing values are taken as they are: where a tree has seen some, it draws the side that they go to. Categories are
    split into random sets; one that a node has not seen goes to the side with fewer rows.

    Parameters
    ----------
    n_estimators : int
        Trees. Scores settle at about 100. Default 100: path lengths have settled by then, as the authors found.
    max_samples : int, float or "auto"
        Rows that each tree draws: a number, a fraction, or 256. Few rows are enough to see what is usual, and a tree
        of many hides anomalies among each other. Default "auto": few rows show what is usual; with many, outliers
        hide each other.
    contamination : float or "auto"
        The share of outliers among the training rows, in (0, 0.5], which sets `offset_`. "auto": -0.5, the score of a
        row whose paths are of average length. Default "auto": no share has to be guessed.
    max_features : int or float
        Features that each tree may use: a number, or a fraction. Default 1.0: an outlier may be one in any of them.
    bootstrap : bool
        Whether rows are drawn with replacement. A row that is drawn twice counts once. Default False: as the authors
        do it.
    n_jobs : int or None
        Threads. None: every core that the process may use, or `COTERIE_NUM_THREADS`. The forest is the same for any
        number. Default None: every core, because the model is the same for any number.
    random_state : int, RandomState, Generator or None
        The seed of what is drawn. Default None: a new seed for each fit, as in scikit-learn; a number makes it
        repeatable.
    verbose : int
        1 prints ten lines while trees grow, 2 a line for each tree. Default 0: silent.
    warm_start : bool
        Keep the trees of the last fit, and grow more. With the same rows the result is that of one longer fit; other
        rows of the same columns are welcome, too. Default False: a fit forgets the last one, as in scikit-learn.
    categorical_features : "auto", array of names, indices or booleans, or None
        Columns that are split into sets. "auto": text and categories. Default "auto": text and categories have no
        order that a threshold could use.
    unknown_category : {"missing", "error"}
        What predict does with a category that fit did not see. Default "missing": new categories are common in new
        tables, and a prediction without them is better than none.

    Attributes
    ----------
    forest_ : Forest
        The trees; each predicts the length of a path.
    estimators_ : sequence of DecisionTreeRegressor, which predict lengths of paths
    estimators_samples_ : list of arrays, the rows of each tree
    estimators_features_ : list of arrays, the features that each tree may use
    max_samples_ : int, the rows that each tree draws
    offset_ : float
        `decision_function` is `score_samples` less this number.
    n_features_in_ : int
    feature_names_in_ : array of str, if the columns had names
    schema_ : Schema
        Names and kinds of the columns that fit saw.
    encoder_ : Encoder
        The levels of categories, and the code of each.

    Examples
    --------
    >>> from coterie import IsolationForest
    >>> model = IsolationForest(random_state=0).fit([[-1.1], [0.3], [0.5], [100.0]])
    >>> model.predict([[0.1], [0.0], [90.0]])
    array([ 1,  1, -1])

    References
    ----------
    Liu, Ting and Zhou, Isolation forest (2008); Isolation-based anomaly detection (2012).
    """

    PARAMS: ClassVar[Params] = {
        "n_estimators": [Integer(1)],
        "max_samples": [Integer(1), Share(with_one=True), OneOf("auto")],
        "contamination": [OneOf("auto"), Real(0, 0.5, closed="right")],
        "max_features": [Integer(1), Share(with_one=True)],
        "bootstrap": [Boolean()],
        "n_jobs": [Integer(), None],
        "random_state": [Seed()],
        "verbose": [Integer(0), Boolean()],
        "warm_start": [Boolean()],
        "categorical_features": [OneOf("auto"), ArrayLike(), None],
        "unknown_category": [OneOf("missing", "error")],
    }
    FITTED: ClassVar[Fitted] = {
        **TABLE_FITTED,
        "forest_": instance(_engine.Forest),
        "max_samples_": COUNT,
        "offset_": NUMBER,
        "_draws": list_of(instance(IsolationDraws)),
        "_made": RECOMPUTED,
        "_saw_missing": array("b", 1),
    }
    _takes_any_table = True

    forest_: _engine.Forest
    _draws: list[IsolationDraws]

    def __init__(
        self,
        *,
        n_estimators: int = 100,
        max_samples: float | Auto = "auto",
        contamination: float | Auto = "auto",
        max_features: float = 1.0,
        bootstrap: bool = False,
        n_jobs: int | None = None,
        random_state: SeedLike = None,
        verbose: int = 0,
        warm_start: bool = False,
        categorical_features: CategoricalFeatures = "auto",
        unknown_category: UnknownCategory = "missing",
    ) -> None:
        self._store(locals())

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Grow the trees.

        Parameters
        ----------
        X : data frame, Arrow table, array, sparse matrix or dict of columns
        y : ignored
        sample_weight : array of shape (n_rows,), default=None
            How likely each row is drawn; rows of weight 0 never are.
        """
        with self._fitting(X, y) as run:
            known = [] if run.previous is None else list(run.previous.state)
            n_known = sum(own.n_trees for own in known)
            encoded, weight = self._prepare(X, sample_weight, is_new=run.previous is None)
            draws = self._planned(encoded, weight, run.seed, n_known)
            if draws.n_trees > 0:
                self._grow(run, encoded, draws, known)
            self.max_samples_ = draws.max_samples
            self.offset_ = -0.5
            if not is_auto(self.contamination):
                self.offset_ = float(np.percentile(self._scores(encoded), 100.0 * self.contamination))
        return self

    def _previous_fit(self) -> PreviousFit[list[IsolationDraws]] | None:
        if not hasattr(self, "forest_"):
            return None
        signature = FitSignature(self._draws[0].seed, {}, {})
        return PreviousFit(signature, self.schema_, None, self._draws)

    def _prepare(self, X: Any, sample_weight: Any, *, is_new: bool) -> tuple[Encoded, FloatArray | None]:
        if is_new:
            return prepare_table(self, X, sample_weight)
        encoded = prepare_prediction(self, X)  # codes of categories are those that known trees split on
        weight = read_weight(sample_weight, encoded.n_rows)
        return encoded, None if weight is None else combined_weight(weight, None)

    def _planned(
        self, encoded: Encoded, weight: FloatArray | None, seed: int, n_known: int
    ) -> IsolationDraws:
        """What the trees that are still missing draw from."""
        check_no_fewer(self.n_estimators, n_known, "trees")
        if n_known and self.n_estimators == n_known:
            warnings.warn(
                "Warm-start fitting without increasing n_estimators does not fit new trees.",
                UserWarning,
                stacklevel=4,
            )
        return IsolationDraws(
            n_trees=self.n_estimators - n_known,
            first_tree=n_known,
            seed=seed,
            n_rows=encoded.n_rows,
            n_features=encoded.n_features,
            max_samples=_samples(
                self.max_samples, encoded.n_rows if weight is None else int((weight > 0).sum())
            ),
            max_features=_features(self.max_features, encoded.n_features),
            bootstrap=bool(self.bootstrap),
            weight=weight,
        )

    def _grow(
        self, run: FitRun, encoded: Encoded, draws: IsolationDraws, known: list[IsolationDraws]
    ) -> None:
        total, verbose, owner = self.n_estimators, int(self.verbose), type(self).__name__
        step = draws.n_trees if verbose == 0 else 1 if verbose > 1 else max(1, total // 10)
        with printed_progress(verbose, owner, "tree", every=step):

            def go_on(n_new: int) -> bool:
                if not active_monitors():
                    return True
                return not emit(FitEvent(owner, "tree", draws.first_tree + n_new, total))

            step = min(step, _MONITORED_STEP) if active_monitors() else step
            forest, grown = draws.grow(encoded, run.n_threads, step=step, go_on=go_on)
        self._saw_missing = features_with_missing(encoded)
        self.forest_ = joined(self.forest_, forest) if known else forest
        self._draws = [*known, grown]
        if not known:
            self.__dict__.pop("_made", None)

    @by_batches
    def score_samples(self, X: Any) -> FloatArray:
        """How usual each row is, in [-1, 0): the lower, the more unusual; -0.5 if its paths are of average length.

        The score is -2 to the power of -(mean length of its paths / mean length of all paths), the negative of the
        paper's.
        """
        check_is_fitted(self, "forest_")
        return self._scores(prepare_prediction(self, X))

    @by_batches
    def decision_function(self, X: Any) -> FloatArray:
        """`score_samples` less `offset_`: negative for outliers."""
        check_is_fitted(self, "forest_")
        return self._scores(prepare_prediction(self, X)) - self.offset_

    @by_batches
    def predict(self, X: Any) -> NDArray[np.int64]:
        """1 for usual rows, -1 for outliers."""
        check_is_fitted(self, "forest_")
        return np.where(self._scores(prepare_prediction(self, X)) - self.offset_ < 0, -1, 1)

    def _scores(self, encoded: Encoded) -> FloatArray:
        paths = np.zeros(encoded.n_rows)
        self.forest_.add_scores(encoded.values, encoded.n_levels, paths, self._n_threads())
        expected = sum(own.path_length_sum for own in self._draws)
        if expected == 0:  # trees of one row
            return np.full(encoded.n_rows, -0.5)
        paths /= -expected
        return np.negative(np.exp2(paths, out=paths), out=paths)

    explain = explain_trees

    def _shap_inputs(self, X: Any, background: Any) -> ShapInputs:
        check_is_fitted(self, "forest_")
        others = None if background is None else prepare_prediction(self, background)
        return ShapInputs(
            self.forest_,
            prepare_prediction(self, X),
            1.0 / len(self.forest_),
            np.zeros(1),
            self.n_features_in_,
            self._n_threads(),
            background=others,
        )

    def _explained_outputs(self) -> tuple[tuple[Any, ...], str]:
        return (None,), "mean path length"

    def split_counts(self) -> FloatArray:
        """How often each column is split on, over all trees."""
        check_is_fitted(self, "forest_")
        return split_counts_of(splits_of_forest(self.forest_), self.n_features_in_)

    @property
    def estimators_(self) -> IsolationTrees:
        """The trees as `DecisionTreeRegressor`, each made when it is first requested."""
        check_is_fitted(self, "forest_")
        return IsolationTrees(self, self.__dict__.setdefault("_made", {}))

    @property
    def estimators_samples_(self) -> list[RowArray]:
        """The rows that each tree was grown on, ascending."""
        check_is_fitted(self, "forest_")
        return [rows for own in self._draws for rows in own.rows()]

    @property
    def estimators_features_(self) -> list[RowArray]:
        """The features that each tree may use, ascending."""
        check_is_fitted(self, "forest_")
        return [features for own in self._draws for features in own.features()]

    def __getstate__(self) -> Any:
        state = dict(super().__getstate__())
        state.pop("_made", None)
        return state


def _samples(wanted: float | Literal["auto"], n_rows: int) -> int:
    """The rows that a tree draws."""
    if isinstance(wanted, str):
        return min(_AUTO_SAMPLES, n_rows)
    if not isinstance(wanted, Integral):
        return max(1, int(float(wanted) * n_rows))
    if wanted > n_rows:
        warnings.warn(
            f"max_samples ({wanted}) is greater than the total number of samples ({n_rows}). max_samples will be set "
            "to n_samples for estimation.",
            UserWarning,
            stacklevel=5,
        )
    return int(min(wanted, n_rows))


def _features(wanted: float, n_features: int) -> int:
    """The features that a tree may use."""
    if not isinstance(wanted, Integral):
        return max(1, int(float(wanted) * n_features))
    if wanted > n_features:
        raise InvalidParameter(
            f"max_features={in_short(wanted)} is more than the table has columns: max_features must be <= n_features, "
            f"{n_features} here.",
            parameter="max_features",
            received=wanted,
            allowed=f"a whole number <= {n_features}, or a share in (0, 1]",
        )
    return int(wanted)
