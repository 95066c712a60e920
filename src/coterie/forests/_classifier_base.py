"""Forests for classes: mean probabilities of the trees, sets of classes, and typical rows."""

from collections.abc import Iterator
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin
from sklearn.utils import Bunch, Tags
from sklearn.utils.validation import check_is_fitted

import coterie._engine as _engine
from coterie._params import ArrayLike, Boolean, MappingLike, OneOf, Params, check_first, unexpected
from coterie._storage import Fitted
from coterie._typing import AnyArray, BoolArray, FloatArray, RowArray
from coterie.data.encoding import Encoded
from coterie.data.prepare import TrainingData, prepare_prediction
from coterie.data.streaming.prediction import by_batches
from coterie.errors import InvalidInput
from coterie.explain.tree_models import class_outputs
from coterie.fitting.scoring import ResponseFunctions
from coterie.forests._analysis import Forest
from coterie.forests._fitted import FOREST_CLASSIFIER_FITTED
from coterie.forests._proximity import Prototype, prototypes
from coterie.forests._training_rows import TrainingRows
from coterie.forests.plan import FOREST_PARAMS
from coterie.members.prediction_sets import SetMethod, prediction_sets, set_threshold
from coterie.members.votes import (
    CastVotes,
    Votes,
    check_training_table,
    check_vote_choices,
    one_hot,
    votes_in_order,
)


def forest_votes(
    forest: _engine.PackedForest,
    leaves: RowArray,
    classes: AnyArray,
    *,
    soft: bool,
    left_out: BoolArray | None,
) -> Votes:
    """The votes of all trees.

    Parameters
    ----------
    forest : the trees
    leaves : array of shape (n_rows, n_trees), the leaf that each row reaches
    classes : the labels
    soft : whether a tree shares its vote as its leaf has the classes
    left_out : bool array of shape (n_trees, n_rows), the rows that each tree votes about; None for all
    """

    def members() -> Iterator[CastVotes]:
        for place in range(leaves.shape[1]):
            shares = np.asarray(forest.tree(place).value)
            by_leaf = shares if soft else one_hot(shares.argmax(axis=1), shares.shape[1])
            weight: FloatArray = np.ones(()) if left_out is None else left_out[place].astype(np.float64)
            yield CastVotes(by_leaf[leaves[:, place]], weight)

    return votes_in_order(classes, leaves.shape[1], members)


def rows_left_out(kept: TrainingRows, n_trees: int, n_rows: int) -> BoolArray:
    """Which rows each tree did not draw, shape (n_trees, n_rows); rows without weight were never out of a bag."""
    check_training_table(n_rows, kept.n_table_rows)
    left_out = np.zeros((n_trees, n_rows), dtype=bool)
    left_out[:, kept.rows] = kept.counts() == 0
    return left_out


class BaseForestClassifier(ClassifierMixin, Forest):
    """What both classifiers share."""

    _task = "classification"
    PARAMS: ClassVar[Params] = {
        **FOREST_PARAMS,
        "criterion": [OneOf("gini", "entropy", "log_loss")],
        "bootstrap": [Boolean(), OneOf("balanced", "partition")],
        "class_weight": [OneOf("balanced", "balanced_subsample"), MappingLike(), ArrayLike(), None],
    }
    FITTED: ClassVar[Fitted] = FOREST_CLASSIFIER_FITTED

    @by_batches
    def predict(
        self, X: Any, *, n_trees: int | None = None, voting: Literal["soft", "hard"] = "soft"
    ) -> AnyArray:
        """The class of each row; on a tie, the first of them.

        Parameters
        ----------
        X : a table with the columns of `fit`
        n_trees : int or None, use only the first trees
        voting : {"soft", "hard"}
            "soft": the class with the largest mean probability over the trees, as in scikit-learn. "hard": the majority
            vote of Breiman's forests, in which each tree votes for one class; for one output.
        """
        if not OneOf("soft", "hard").accepts(voting):
            raise unexpected("voting", voting, OneOf("soft", "hard").describe())
        if voting == "soft":
            return self._labels_of(self._mean_predictions(X, n_trees))
        self._refuse_several("predict(voting='hard')")
        check_is_fitted(self, "forest_")
        last = len(self.forest_) if n_trees is None else check_first("n_trees", n_trees, len(self.forest_))
        [count] = self.votes(X).after(np.array([last]))
        return self._labels_of(count.votes)

    @by_batches
    def predict_proba(self, X: Any, *, n_trees: int | None = None) -> FloatArray | list[FloatArray]:
        """The class shares of the leaves that each row reaches, averaged over trees; a list for several outputs.

        `n_trees`: use only the first trees.
        """
        return self._one_or_list(self._mean_predictions(X, n_trees))

    def _labels_of(self, means: FloatArray) -> AnyArray:
        labels: list[AnyArray] = [
            own[part.argmax(axis=1)]
            for own, part in zip(self._all_classes(), self._parts_of(means), strict=True)
        ]
        return _side_by_side(labels)

    def _response_functions(self) -> ResponseFunctions:
        return {"predict": self._labels_of, "predict_proba": self._one_or_list}

    @by_batches
    def predict_log_proba(self, X: Any) -> FloatArray | list[FloatArray]:
        """The logarithm of `predict_proba`; minus infinity where a class is absent."""
        shares = self.predict_proba(X)
        with np.errstate(divide="ignore"):
            return [np.log(part) for part in shares] if isinstance(shares, list) else np.log(shares)

    def predict_set(self, X: Any, alpha: float = 0.1, *, method: SetMethod = "adaptive") -> BoolArray:
        """Which classes each row may well have, so that the true one is missed a share `alpha` of the time.

        Parameters
        ----------
        X : a table with the columns of `fit`
        alpha : float in (0, 1)
        method : {"adaptive", "threshold"}
            Sets that are right about as often for easy rows as for hard ones, or sets that are small on average.

        Returns
        -------
        bool array of shape (n_rows, n_classes), in the order of `classes_`; at least one class in each row

        References
        ----------
        Romano, Sesia and Candes, Classification with valid and adaptive coverage (2020); Sadinle, Lei and Wasserman
        (2019) for "threshold".
        """
        self._refuse_several("predict_set")
        kept = self._training_rows("predict_set", needs_bag=True)
        known = self._known_oob("What predict_set needs")
        threshold = set_threshold(
            known.means[kept.rows],
            kept.targets[:, 0].astype(np.int64),
            kept.weight,
            alpha,
            method,
        )
        return prediction_sets(np.asarray(self.predict_proba(X)), threshold, method)

    def predict_variance(self, X: Any) -> FloatArray | list[FloatArray]:
        """The variance of each probability: how much `predict_proba` would vary with other training rows.

        It needs many trees: with few, many rows have zero. A row of weight 2 counts as one row.

        References
        ----------
        Wager, Hastie and Efron, Confidence intervals for random forests (2014).
        """
        return self._one_or_list(self._variances(X))

    def prototypes(self, X: Any, k: int = 50) -> list[Bunch]:
        """A typical row of each class: the one with the most rows of its class among its `k` nearest.

        Parameters
        ----------
        X : the training table, of which the forest keeps only what its trees split on
        k : int, how many rows are near, by `proximities`

        Returns
        -------
        list of Bunch, one for each class with a row: `label`; `row`, its number in X; `neighbours`, the rows of the
        class near it; and of their features `lower`, `middle` and `upper`, the quartiles, or the most frequent category

        References
        ----------
        Breiman and Cutler, Random forests (2003).
        """
        self._refuse_several("prototypes")
        kept = self._training_rows("prototypes")
        encoded = prepare_prediction(self, X)
        if encoded.n_rows != kept.n_table_rows:
            raise InvalidInput(
                f"X has {encoded.n_rows} rows and the training table had {kept.n_table_rows}; expected the same table."
            )
        values = _as_floats(encoded)[kept.rows]
        nominal = encoded.n_levels > 0
        found = prototypes(kept.leaves().T, kept.targets[:, 0].astype(np.int64), values, k, nominal)
        return [self._in_words(each, kept.rows, nominal) for each in found]

    def _in_words(self, found: Prototype, rows: AnyArray, nominal: BoolArray) -> Bunch:
        quartiles = {}
        for name in ("lower", "middle", "upper"):
            values: AnyArray = getattr(found, name)
            if nominal.any():
                values = values.astype(object)
                for feature in np.flatnonzero(nominal & ~np.isnan(getattr(found, name))):
                    coded = self.encoder_.codes(feature) == int(values[feature])
                    values[feature] = self.encoder_.levels(feature)[coded][0]
            quartiles[name] = values
        return Bunch(
            label=self._all_classes()[0][found.code],
            row=int(rows[found.case]),
            neighbours=rows[found.neighbours],
            **quartiles,
        )

    def votes(self, X: Any, *, votes: str = "hard", oob: bool = False) -> Votes:
        """The votes of the trees, of which margins are made.

        Parameters
        ----------
        X : a table with the columns of `fit`
        votes : {"hard", "soft"}
            Whether a tree votes for one class, or shares its vote as its leaf has the classes.
        oob : bool
            Whether only trees vote that did not draw the row; X is then the training table.
        """
        self._refuse_several("votes")
        check_vote_choices(votes, oob)
        leaves = self.apply(X)
        left_out = None
        if oob:
            kept = self._training_rows("oob=True", needs_bag=True)
            left_out = rows_left_out(kept, len(self.forest_), len(leaves))
        [classes] = self._all_classes()
        return forest_votes(self.forest_, leaves, classes, soft=votes == "soft", left_out=left_out)

    @property
    def oob_decision_function_(self) -> FloatArray | list[FloatArray]:
        """The probabilities, for each training row, of the trees that did not draw it; NaN without any."""
        return self._one_or_list(self._known_oob("oob_decision_function_").means)

    def _explained_outputs(self) -> tuple[tuple[Any, ...], str]:
        return class_outputs(self.classes_), "probability"

    def _parts_of(self, values: FloatArray) -> list[FloatArray]:
        """The columns of each output."""
        if not isinstance(self.classes_, list):
            return [values]
        sizes = [len(own) for own in self._all_classes()]
        return np.split(values, np.cumsum(sizes)[:-1], axis=1)

    def _one_or_list(self, values: FloatArray) -> FloatArray | list[FloatArray]:
        parts = self._parts_of(values)
        return parts[0] if len(parts) == 1 else parts

    def _all_classes(self) -> list[AnyArray]:
        return self.classes_ if isinstance(self.classes_, list) else [self.classes_]

    def _classes_per_output(self) -> NDArray[np.int32] | None:
        return np.array([len(own) for own in self._all_classes()], dtype=np.int32)

    def _set_target(self, train: TrainingData) -> None:
        assert train.target.classes is not None
        self.n_outputs_ = train.target.n_outputs
        self.classes_ = train.target.classes
        sizes = [len(own) for own in self._all_classes()]
        self.n_classes_ = sizes[0] if self.n_outputs_ == 1 else sizes

    def _decoded(self, target: AnyArray) -> AnyArray:
        codes = target.reshape(len(target), -1).T
        return _side_by_side([own[code] for own, code in zip(self._all_classes(), codes, strict=True)])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags


def _side_by_side(labels: list[AnyArray]) -> AnyArray:
    """A column for each output; of objects if their labels are of different kinds."""
    if len(labels) == 1:
        return labels[0]
    same_kind = len({own.dtype.kind for own in labels}) == 1
    return np.stack(labels if same_kind else [own.astype(object) for own in labels], axis=1)


def _as_floats(encoded: Encoded) -> FloatArray:
    """One matrix, NaN where a value is missing."""
    values = encoded.values
    columns = [
        np.asarray(own, dtype=np.float64) for own in (values if isinstance(values, list) else values.T)
    ]
    return np.column_stack(
        [
            np.where(own < 0, np.nan, own) if n else own
            for own, n in zip(columns, encoded.n_levels, strict=True)
        ]
    )
