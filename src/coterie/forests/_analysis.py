"""Breiman's toolbox, for forests of classes and of numbers: importances, proximities, outliers, variances."""

import copy
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from scipy import stats
from sklearn.utils import Bunch
from sklearn.utils.validation import check_is_fitted

import coterie._engine as _engine
from coterie._params import Integer, OneOf, in_short
from coterie._typing import AnyArray, FloatArray, RowArray
from coterie.errors import InvalidInput, InvalidParameter
from coterie.explain.tree_models import ExplainedOutputs, ShapInputs
from coterie.explain.tree_models import explain as explain_trees
from coterie.forests._proximity import outlier_measure, proximities
from coterie.forests.base import BaseForest
from coterie.forests.jackknife import infinitesimal_jackknife
from coterie.forests.tree_members import Members
from coterie.members.member_predictions import MemberPredictions, numbered
from coterie.trees.column_readings import readings_of
from coterie.trees.flat_tree import flat_tree
from coterie.trees.split_counts import split_counts_of, splits_of_forest
from coterie.trees.tree_sum import TreeSum, as_matrix, labels_by_target, link_of_leaves


def some_trees(forest: _engine.PackedForest, places: set[int]) -> _engine.PackedForest:
    """The trees at these places, as they are and in their order."""
    state = forest.__getstate__()
    blocks, first = [], 0
    for thresholds, trees in state["groves"]:
        kept = [tree for number, tree in enumerate(trees, start=first) if number in places]
        first += len(trees)
        if kept:
            blocks.append((thresholds, kept))
    packed = _engine.PackedForest.__new__(_engine.PackedForest)
    packed.__setstate__({**state, "groves": blocks})
    return packed


def importance_test(increases: FloatArray) -> Bunch:
    """Mean, spread and p-value of the importance of each feature.

    `increases` of shape (n_trees, n_features) are how much the out-of-bag error of each tree grows when a feature is
    permuted; NaN or 0 where the tree does not use the feature. The result is as `oob_importances` describes it.

    Examples
    --------
    >>> test = importance_test(np.array([[3.0, np.nan], [2.0, 1.0], [4.0, -1.0], [3.0, np.nan]]))
    >>> test.importances_mean, test.z.round(2), test.p_value.round(3)
    (array([3., 0.]), array([7.35, 0.  ]), array([0. , 0.5]))

    Notes
    -----
    The test is one-sided: the mean increase is not above zero, against that it is. It assumes that trees are
    independent and many enough for their mean to be normal. Trees share their training rows, so their increases are
    alike, the true spread is larger than this one, and p-values are too small; more trees make them smaller still. It
    is a tool for screening: a feature with a large p-value can go, one with a small p-value deserves a closer look. It
    says nothing about a feature whose knowledge others share.
    """
    values = np.asarray(increases, dtype=np.float64)
    if values.ndim != 2 or len(values) < 2 or np.isinf(values).any():
        raise InvalidInput(
            f"increases have the shape {values.shape}"
            f"{' and hold infinity' if np.isinf(values).any() else ''}; expected finite numbers or NaN of shape "
            "(n_trees, n_features), with two trees at least."
        )
    importances = np.nan_to_num(values.T, nan=0.0)
    mean, std = importances.mean(axis=1), importances.std(axis=1, ddof=1)
    # Equal numbers have a mean that may miss them by a rounding error, and with it a spread.
    constant = (importances == importances[:, :1]).all(axis=1)
    mean[constant], std[constant] = importances[constant, 0], 0.0
    standard_error = std / np.sqrt(len(values))
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(constant & (mean == 0), 0.0, mean / standard_error)
    p_value = np.where(constant & (mean <= 0), 1.0, stats.norm.sf(z))
    return Bunch(
        importances_mean=mean,
        importances_std=std,
        standard_error=standard_error,
        z=z,
        p_value=p_value,
        importances=importances,
    )


class Forest(BaseForest):
    """What a forest offers besides predictions."""

    @property
    def estimators_(self) -> Members:
        """The trees as `DecisionTreeClassifier` or `-Regressor`, each made when it is requested."""
        check_is_fitted(self, "forest_")
        return Members(self)

    @property
    def estimators_samples_(self) -> list[RowArray]:
        """The rows that each tree drew, as often as it drew them."""
        kept = self._training_rows("estimators_samples_")
        return [np.repeat(kept.rows, own) for own in kept.counts()]

    @property
    def feature_importances_(self) -> FloatArray:
        """The share of each feature in the decrease of impurity, averaged over trees.

        Features with many distinct values get more than they deserve, even if they tell nothing.
        `unbiased_importances_` and `oob_importances` do not have this fault.
        """
        check_is_fitted(self, "forest_")
        total = self._importance_sum.sum()
        return self._importance_sum / total if total > 0 else self._importance_sum.copy()

    @property
    def unbiased_importances_(self) -> FloatArray:
        """How much of the target's variance the splits on each feature explain in rows out of bag, per tree.

        For classes, the variance of the indicators of the classes. A feature without information has a mean of zero,
        and may be below it (Li and others, 2019: MDI-oob).
        """
        self._known_oob("unbiased_importances_")
        if self._oob_importance_sum is None:
            raise AttributeError(
                "unbiased_importances_ is not known: out-of-bag predictions began in a warm start, and the first trees "
                "were grown without. Fit with oob_score=True from the beginning."
            )
        return self._oob_importance_sum / len(self.forest_)

    @property
    def oob_coverage_(self) -> RowArray:
        """How many trees did not draw each row."""
        return np.asarray(self._known_oob("oob_coverage_").coverage)

    @property
    def oob_member_errors_(self) -> FloatArray:
        """The error of each tree alone on the rows that it did not draw; NaN for a tree that drew all.

        It is found on request from the training rows that the forest keeps.
        """
        self._known_oob("oob_member_errors_")
        try:
            kept = self._training_rows("oob_member_errors_", needs_bag=True)
        except InvalidInput as error:
            raise AttributeError(str(error)) from error
        return kept.member_errors(self._classes_per_output())

    @property
    def oob_errors_(self) -> FloatArray:
        """The out-of-bag error after each tree: the share of wrong classes, or the mean squared error."""
        return self._known_oob("oob_errors_").errors

    def oob_importances(self, n_repeats: int = 1) -> Bunch:
        """What each feature is worth: how much the error out of bag grows when its values change places.

        Parameters
        ----------
        n_repeats : int, how many permutations are averaged for each tree and feature

        Returns
        -------
        Bunch with `importances_mean`, `importances_std`, `standard_error`, `z`, `p_value` of shape (n_features,), and
        `importances` of shape (n_features, n_trees). The error is the share of wrong classes or the mean squared error.
        The p-value is for screening: trees share rows, so it is too small.

        References
        ----------
        Breiman, Random forests (2001).
        """
        if not Integer(1).accepts(n_repeats):
            raise InvalidParameter(f"n_repeats={in_short(n_repeats)}: expected {Integer(1).describe()}.")
        kept = self._training_rows("oob_importances", needs_bag=True)
        if len(self.forest_) < 2:
            raise InvalidInput("oob_importances needs two trees at least, and this forest has one.")
        with np.errstate(over="ignore"):
            increases = kept.increases(int(n_repeats), self._trace.seed) * self._unit * self._unit
        return importance_test(increases)

    def proximities(self, X: Any = None, *, top_k: int | None = 50, method: str = "shared") -> Any:
        """How alike rows are: the share of trees in which two rows reach the same leaf.

        Parameters
        ----------
        X : a table, or None for the training rows
        top_k : int, how many of the largest proximities of each row are kept; None for all
        method : {"shared", "out_of_bag", "gap"}
            All trees; only those that drew neither of the two rows; or weights of training rows with which their mean
            target is the forest's prediction, out of bag for training rows.

        Returns
        -------
        sparse matrix in CSR format with a column for each training row

        References
        ----------
        Breiman and Cutler, Random forests (2003); Rhodes, Cutler and Moon (2023) for "gap".
        """
        rule = OneOf("shared", "out_of_bag", "gap")
        if not rule.accepts(method):
            raise InvalidParameter(f"method={in_short(method)}: expected {rule.describe()}.")
        kept = self._training_rows("proximities", needs_bag=method != "shared")
        found = proximities(
            kept.leaves().T,
            None if X is None else self._leaves_of(X),
            top_k,
            None if method == "shared" else kept.counts().T,
            method="gap" if method == "gap" else "shared",
        )
        if len(kept.rows) == kept.n_table_rows:
            return found
        found = found.tocoo()
        n_rows = kept.n_table_rows if X is None else found.shape[0]
        rows = kept.rows[found.row] if X is None else found.row
        places = (rows, kept.rows[found.col])
        return type(found)((found.data, places), shape=(n_rows, kept.n_table_rows)).tocsr()

    def outlier_measure(self) -> FloatArray:
        """How far each training row is from the others of its class, or from all others if there are no classes.

        Breiman calls a row with more than 10 a likely outlier. Rows without weight are NaN.
        """
        kept = self._training_rows("outlier_measure")
        one_class = self._task == "regression" or self.n_outputs_ > 1
        codes = np.zeros(len(kept.rows), np.int64) if one_class else kept.targets[:, 0].astype(np.int64)
        return kept.in_table(outlier_measure(kept.leaves().T, codes))

    def _variances(self, X: Any) -> FloatArray:
        """The infinitesimal jackknife of each column of the mean prediction, shape (n_rows, n_columns)."""
        kept = self._training_rows("predict_variance", needs_bag=True)
        replace = self._bag.kind in ("bootstrap", "balanced")
        if len(self.forest_) < 2:
            raise InvalidInput("predict_variance needs two trees at least, and this forest has one.")
        counts = kept.counts()
        if not replace and counts.max() > 1:
            raise InvalidInput(
                "predict_variance needs rows of weight 1 at most where they are drawn without replacement: some trees "
                "drew two copies of a row. Use bootstrap=True."
            )
        found = [
            np.stack(
                [
                    infinitesimal_jackknife(counts, predictions[:, :, column], replace=replace)
                    for column in range(predictions.shape[2])
                ],
                axis=1,
            )
            for _, predictions in self._tree_predictions(X)
        ]
        return np.concatenate(found)

    def member_predictions(self, X: Any) -> MemberPredictions:
        """What each tree predicts: the class shares of its leaf, or a number for each target."""
        values = np.concatenate([own for _, own in self._tree_predictions(X)]).transpose(1, 0, 2)
        return MemberPredictions(
            values, np.ones(len(values)), numbered("tree", len(values)), labels_by_target(self)
        )

    def predict_after(self, X: Any, stages: RowArray) -> Iterator[AnyArray]:
        """What `predict` would be with only the first trees, for each of these ascending numbers of them."""
        return (np.asarray(self.predict(X, n_trees=int(number))) for number in stages)

    def with_members(self, places: RowArray) -> Self:
        """A copy with only the trees at these ascending places; what was known of training rows is gone."""
        importances = np.stack([self.estimators_[int(place)].feature_importances_ for place in places])
        pruned = copy.copy(self)
        for name in ("oob_score_", "_trace", "_leaf_targets"):
            pruned.__dict__.pop(name, None)
        pruned.forest_ = some_trees(self.forest_, set(np.asarray(places).tolist()))
        pruned.n_estimators_ = len(places)
        pruned._oob, pruned._memories = None, None
        pruned._importance_sum = importances.sum(axis=0)
        return pruned

    def split_counts(self) -> FloatArray:
        """How often each column is split on, over all trees."""
        check_is_fitted(self, "forest_")
        return split_counts_of(splits_of_forest(self.forest_), self.n_features_in_)

    _explained_outputs: ExplainedOutputs
    explain = explain_trees

    def _shap_inputs(self, X: Any, background: Any) -> ShapInputs:
        encoded = self._encoded(X)
        others = None if background is None else self._encoded(background)
        start, scale = np.zeros(self.forest_.n_columns), self._unit / len(self.forest_)
        return ShapInputs(
            self.forest_, encoded, scale, start, self.n_features_in_, self._n_threads(), background=others
        )

    def tree_sum(self) -> TreeSum:
        """The forest as parts that other formats are written from: readings of columns, trees and a link."""
        check_is_fitted(self, "forest_")
        forest = self.forest_
        return TreeSum(
            type(self).__name__,
            readings_of(self.schema_, self.encoder_),
            [flat_tree(forest.tree(place)) for place in range(len(forest))],
            np.zeros(forest.n_columns),
            *link_of_leaves(self),
            divisor=float(len(forest)),
            unit=float(self._unit),
        )

    def tree_features(self, X: Any) -> FloatArray:
        """The matrix that the trees see of a table: categories are codes, NaN is where a value is missing."""
        return as_matrix(self._encoded(X))

    def predict(self, X: Any, *, n_trees: int | None = None) -> Any:
        """The prediction of all trees, or of the first of them."""
        raise AssertionError("forests of classes and of numbers each combine their trees")
