"""Forests for numbers: means of the trees, their spread, quantiles and intervals.

Quantile forests: the training targets that leaves hold, and any quantile of them for new rows.

What a forest of regression trees predicts is a weighted mean of training targets: each tree gives a new row the
targets in the leaf it reaches. The same weights describe more than a mean: the share of the weight at or below a
value estimates the chance of a target at or below it, hence every quantile (Meinshausen, 2006).
"""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import RegressorMixin

import coterie._engine as _engine
from coterie._params import OneOf, Params, in_short
from coterie._typing import AnyArray, BoolArray, FloatArray, RowArray
from coterie.data.prepare import TrainingData
from coterie.data.streaming.prediction import by_batches
from coterie.errors import InvalidInput, InvalidParameter
from coterie.fitting.scoring import ResponseFunctions
from coterie.forests._analysis import Forest
from coterie.forests._training_rows import TrainingRows
from coterie.forests.jackknife import jackknife_plus
from coterie.forests.plan import FOREST_PARAMS
from coterie.members.intervals import ResidualScale, within_range
from coterie.members.prediction_sets import check_alpha


class LeafTargets:
    """Targets of the rows that each tree drew, leaf by leaf; trees are added one by one or several at once.

    Examples
    --------
    Two trees. The first has drawn rows 0 and 1 once and row 2 twice, and holds them in two leaves.

    >>> targets = LeafTargets(np.array([1.0, 2.0, 6.0]))
    >>> targets.add(np.array([0, 1, 1]), np.array([1, 1, 2]))
    >>> targets.add(np.array([0, 0, 0]), np.array([2, 1, 0]))

    A row in leaf 1 of the first tree and leaf 0 of the second gives row 0 the weight 1/3, row 1 1/3, row 2 1/3.

    >>> targets.quantiles(np.array([[1, 0]]), [0.3, 0.5, 0.9])
    array([[1., 2., 6.]])

    Notes
    -----
    A row drawn twice has twice the weight. Memory is 8 bytes for each row that a tree has drawn, and 4 for each of
    the tree's leaf numbers. Weights are kept as integers, so the number of threads changes no bit; the level of a
    quantile counts as reached when less than one part in 2**31 is missing.

    References
    ----------
    Meinshausen, Quantile regression forests, Journal of Machine Learning Research 7 (2006).
    """

    def __init__(self, y: FloatArray, weight: FloatArray | None = None) -> None:
        nothing = np.empty(0)
        self._targets = _engine.LeafTargets(_floats(y), nothing if weight is None else _floats(weight))

    def __len__(self) -> int:
        """The number of trees."""
        return len(self._targets)

    def add(self, leaves: NDArray[Any], counts: NDArray[Any], *, n_threads: int = 1) -> None:
        """Add a tree, or several.

        `leaves` that training rows reach, and `counts` of their draws, have the shape (n_rows,) or (n_trees, n_rows).
        """
        leaves, counts = np.atleast_2d(leaves), np.atleast_2d(counts)
        if leaves.shape != counts.shape or leaves.shape[1] != self._targets.n_rows:
            raise InvalidInput(
                f"leaves have the shape {leaves.shape} and counts {counts.shape}; expected (n_trees, "
                f"{self._targets.n_rows}) for both, a column for each training row."
            )
        self._targets.add(
            whole_numbers("leaves", leaves, np.uint32).reshape(-1),
            whole_numbers("counts", counts, np.uint16).reshape(-1),
            _engine.usable_threads(n_threads),
        )

    def quantiles(
        self, new_leaves: NDArray[Any], q: Any, out_of_bag: BoolArray | None = None, n_threads: int = 1
    ) -> FloatArray:
        """The least targets with at least the share `q` of the weight at or below them.

        `new_leaves` and `out_of_bag`, the trees that count for each row, have the shape (m, n_trees), the result
        (m, len(q)); NaN for rows without any tree.
        """
        levels = _levels(q)
        new_leaves = whole_numbers("new_leaves", np.asarray(new_leaves), np.uint32)
        if new_leaves.ndim != 2 or new_leaves.shape[1] != len(self):
            raise InvalidInput(
                f"new_leaves have the shape {new_leaves.shape}; expected a row for each new row and a column for "
                f"each of the {len(self)} trees."
            )
        use = np.empty(0, np.uint8)
        if out_of_bag is not None:
            chosen = np.asarray(out_of_bag)
            if chosen.dtype != np.bool_ or chosen.shape != new_leaves.shape:
                raise InvalidInput(
                    f"out_of_bag holds {chosen.dtype} of shape {chosen.shape}; expected True and False in the shape "
                    f"of new_leaves, {new_leaves.shape}."
                )
            use = np.ascontiguousarray(chosen).view(np.uint8).reshape(-1)
        found = np.empty(len(new_leaves) * len(levels))
        self._targets.quantiles(new_leaves.reshape(-1), use, levels, found, _engine.usable_threads(n_threads))
        return found.reshape(len(new_leaves), len(levels))


def whole_numbers(name: str, values: NDArray[Any], kind: type[np.unsignedinteger[Any]]) -> NDArray[Any]:
    """The values in one of the engine's types, contiguous; an error if one of them does not fit.

    Examples
    --------
    >>> whole_numbers("counts", np.array([0, 3]), np.uint16)
    array([0, 3], dtype=uint16)
    """
    if values.dtype == kind:
        return np.ascontiguousarray(values)
    if values.dtype.kind not in "iu":
        raise InvalidInput(f"{name} are of type {values.dtype}; expected whole numbers.")
    if values.size:
        low, high = int(values.min()), int(values.max())
        if low < 0 or high > np.iinfo(kind).max:
            raise InvalidInput(
                f"{name} go from {low} to {high}; expected whole numbers from 0 to {np.iinfo(kind).max}."
            )
    return np.ascontiguousarray(values, dtype=kind)


def _levels(q: Any) -> FloatArray:
    try:
        levels = np.asarray(q, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidParameter(f"q={in_short(q)}: expected numbers in [0, 1].") from error
    if levels.ndim != 1 or not ((levels >= 0) & (levels <= 1)).all():
        raise InvalidParameter(f"q={in_short(q)}: expected a list of numbers in [0, 1].")
    return np.ascontiguousarray(levels)


def _floats(values: FloatArray) -> FloatArray:
    return np.ascontiguousarray(values, dtype=np.float64)


_MOST_CALIBRATION_ROWS = 2_000
_OUTER = [0.1, 0.9]  # between which the targets of leaves say how hard a row is


class BaseForestRegressor(RegressorMixin, Forest):
    """What both regressors share."""

    _task = "regression"
    PARAMS: ClassVar[Params] = {
        **FOREST_PARAMS,
        "criterion": [OneOf("squared_error", "friedman_mse", "absolute_error", "poisson")],
    }

    @by_batches
    def predict(self, X: Any, return_std: bool = False, *, n_trees: int | None = None) -> Any:
        """The mean prediction of the trees.

        Parameters
        ----------
        X : a table with the columns of `fit`
        return_std : bool, whether to return how much the trees differ, too
        n_trees : int or None
            Use only so many, the first ones.

        Returns
        -------
        array of shape (n_rows,) or (n_rows, n_outputs); with `return_std` a pair of them, the second one the standard
        deviation of the trees' predictions
        """
        means = self._mean_predictions(X, n_trees)
        if not return_std:
            return self._column(means)
        spread = np.concatenate(
            [predicted[:, :n_trees].std(axis=1) for _, predicted in self._tree_predictions(X)]
        )
        return self._column(means), self._column(spread)

    def _response_functions(self) -> ResponseFunctions:
        return {"predict": self._column}

    def _explained_outputs(self) -> tuple[tuple[Any, ...], str]:
        n_outputs = self.forest_.n_columns
        outputs = (None,) if n_outputs == 1 else tuple(f"output {place}" for place in range(n_outputs))
        return outputs, "prediction"

    def predict_quantiles(self, X: Any, q: Any) -> FloatArray:
        """Quantiles of the target: the least value with at least the share `q` of the weight at or below it.

        A row is given the training targets in the leaves that it reaches, each tree's with the same total weight.

        Parameters
        ----------
        X : a table with the columns of `fit`
        q : number in [0, 1], or a list of them in any order

        Returns
        -------
        array of shape (n_rows, len(q)), or (n_rows,) for one number

        References
        ----------
        Meinshausen, Quantile regression forests (2006).
        """
        held = self._held("predict_quantiles")
        return _in_shape_of(
            held.quantiles(self._leaves_of(X), np.atleast_1d(q), n_threads=self._n_threads()), q
        )

    def oob_quantiles(self, q: Any) -> FloatArray:
        """`predict_quantiles` for each training row, by the trees that did not draw it; NaN without any."""
        held = self._held("oob_quantiles")
        kept = self._training_rows("oob_quantiles", needs_bag=True)
        found = held.quantiles(
            np.ascontiguousarray(kept.leaves().T),
            np.atleast_1d(q),
            np.ascontiguousarray(kept.counts().T == 0),
            n_threads=self._n_threads(),
        )
        return _in_shape_of(kept.in_table(found), q)

    def predict_interval(self, X: Any, alpha: float = 0.1) -> FloatArray:
        """Where the target will be, all but a share `alpha` of the time: scaled jackknife+ after bootstrap.

        Parameters
        ----------
        X : a table with the columns of `fit`
        alpha : float in (0, 1), how often the interval may miss

        Returns
        -------
        array of shape (n_rows, 2), the lower and the upper end

        Notes
        -----
        Intervals are wide where rows are hard to predict: residuals out of bag are divided by a scale, which follows
        the spread of the targets in the leaves of a row and the residuals of rows with similar predictions. Ends stay
        within the range of a target without negative values. At most 2,000 training rows calibrate: evenly spaced along
        the rows in the order of their targets, heavy rows more than once.

        References
        ----------
        Kim, Xu and Barber, Predictive inference is free with the jackknife+-after-bootstrap (2020); Lei and others,
        Distribution-free predictive inference for regression (2018), for scaled residuals.
        """
        check_alpha(alpha)
        self._refuse_several("predict_interval")
        kept = self._training_rows("predict_interval", needs_bag=True)
        known = self._known_oob("What predict_interval needs")
        order = kept.by_target
        usable = known.coverage[kept.rows[order]] > 0
        chosen = order[_evenly(usable, kept.weight[order], _MOST_CALIBRATION_ROWS)]
        if len(chosen) == 0:
            raise InvalidInput(
                "predict_interval needs training rows out of bag, and every tree drew all of them. Use more trees."
            )
        out = kept.counts(chosen).T == 0
        own, truth = known.means[kept.rows[chosen], 0], kept.targets[chosen, 0]
        residuals, weights = np.abs(truth - own), np.ones(len(chosen))
        held = self._held("predict_interval")
        difficulty = _spread(
            held.quantiles(
                np.ascontiguousarray(kept.leaves()[:, chosen].T),
                _OUTER,
                np.ascontiguousarray(out),
                n_threads=self._n_threads(),
            )
        )
        scale = ResidualScale.of(own, residuals, weights, alpha, difficulty)
        scaled = residuals / scale(own, difficulty)
        spread = _spread(held.quantiles(self._leaves_of(X), _OUTER, n_threads=self._n_threads()))
        ends, first = [], 0
        for _, predicted in self._tree_predictions(X):
            trees = predicted[:, :, 0]
            unit = scale(trees.mean(axis=1), spread[first : first + len(trees)])
            first += len(trees)
            ends.append(
                np.column_stack(jackknife_plus(trees / unit[:, None], out, scaled, alpha)) * unit[:, None]
            )
        return within_range(np.concatenate(ends), kept.targets[:, 0], kept.weight)

    def predict_variance(self, X: Any) -> FloatArray:
        """The variance of the mean of the trees: how much `predict` would vary with other training rows.

        It is about the mean, not about single targets, and needs many trees: with few, many rows have zero. A row of
        weight 2 counts as one row.

        References
        ----------
        Wager, Hastie and Efron, Confidence intervals for random forests (2014).
        """
        return self._column(self._variances(X))

    @property
    def oob_prediction_(self) -> FloatArray:
        """The mean prediction, for each training row, of the trees that did not draw it; NaN without any."""
        return self._column(self._known_oob("oob_prediction_").means)

    def _held(self, what: str) -> LeafTargets:
        """The targets that leaves hold; found once."""
        self._refuse_several(what)
        held: LeafTargets | None = self.__dict__.get("_leaf_targets")
        if held is None:
            held = self._leaf_targets = _targets_of_leaves(self._training_rows(what))
        return held

    def _column(self, values: FloatArray) -> FloatArray:
        return values[:, 0] if self.n_outputs_ == 1 else values

    def _classes_per_output(self) -> NDArray[np.int32] | None:
        return None

    def _set_target(self, train: TrainingData) -> None:
        self.n_outputs_ = train.target.n_outputs

    def _decoded(self, target: AnyArray) -> AnyArray:
        return target


def _targets_of_leaves(kept: TrainingRows) -> LeafTargets:
    held = LeafTargets(kept.targets[:, 0], kept.weight_of_a_draw)
    held.add(kept.leaves(), kept.counts(), n_threads=kept.n_threads)
    return held


def _spread(quantiles: FloatArray) -> FloatArray:
    return np.asarray(quantiles[:, 1] - quantiles[:, 0])


def _in_shape_of(found: FloatArray, q: Any) -> FloatArray:
    return found[:, 0] if np.ndim(q) == 0 else found


def _evenly(usable: BoolArray, weight: FloatArray, most: int) -> RowArray:
    """At most so many usable rows, evenly along the line of all weights; heavy rows may come more than once.

    Examples
    --------
    >>> _evenly(np.array([True, False, True, True]), np.array([1.0, 1.0, 2.0, 1.0]), 2000)
    array([0, 2, 2, 3])
    """
    rows = np.flatnonzero(usable)
    if len(rows) == 0:
        return rows
    ends = np.cumsum(weight[rows])
    whole = bool((weight[rows] == np.floor(weight[rows])).all())
    n = min(most, int(ends[-1]) if whole else len(rows))
    places = (np.arange(n) + 0.5) * (ends[-1] / n)
    return np.asarray(rows[np.minimum(np.searchsorted(ends, places), len(rows) - 1)])
