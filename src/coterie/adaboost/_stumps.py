"""Decision stumps: trees of one split, found by the engine, as members of AdaBoost."""

from typing import Any

import numpy as np

import coterie._engine as _engine
from coterie._storage import expect, storable
from coterie._typing import AnyArray, BoolArray, FloatArray, RowArray
from coterie._value_types import BOOL, COUNT, INTEGER, LABELS, NONE, NUMBER, array, instance
from coterie.adaboost._learners import WeightedDraws
from coterie.adaboost._votes import centred_logs, one_hot
from coterie.data.encoding import Encoded
from coterie.data.prepare import Encoder, TrainingData, prepare_prediction
from coterie.data.table import Schema


def _score_of(algorithm: str, n_classes: int) -> Any:
    """What the best stump is best at: what the algorithm requires of members, or where that is vague, least squares."""
    if algorithm == "samme":
        return _engine.StumpScore.error
    real_of_two = algorithm == "real" and n_classes == 2
    return _engine.StumpScore.exponential if real_of_two else _engine.StumpScore.gini


def _verify_stump(stump: Any) -> None:
    n_features = stump.n_features_in_
    expect(-1 <= stump.feature < n_features, f"splits feature {stump.feature} of {n_features}")
    expect(stump.proba.shape == (2, len(stump.classes_)), "has shares of other classes than its own")
    expect(len(stump.encoder_.n_levels) == n_features, "has an encoder of another table")
    if stump.right_codes is not None:
        expect(
            len(stump.right_codes) == stump.encoder_.n_levels[stump.feature],
            "has sides of other levels than its feature's",
        )


@storable(
    "Stump",
    {
        "feature": INTEGER,
        "threshold": NUMBER,
        "right_codes": array("b", 1) | NONE,
        "missing_right": BOOL,
        "proba": array("f", 2),
        "classes_": LABELS,
        "encoder_": instance(Encoder),
        "schema_": instance(Schema),
        "n_features_in_": COUNT,
        "feature_names_in_": array("O", 1),
    },
    optional=("feature_names_in_",),
    verify=_verify_stump,
)
class Stump:
    """One split of one feature, and the class shares on both sides of it.

    Attributes
    ----------
    feature : int
        Its number; -1 if no split helps, and every row is on the left.
    threshold : float
        Rows with larger values are on the right. NaN for a nominal feature, infinity if only missing values are there.
    right_codes : bool array, or None for a numeric feature
        Which codes of the encoder are on the right.
    missing_right : bool
    proba : array of shape (2, n_classes)
        The weighted class shares on the left and on the right.
    classes_ : array
    """

    def __init__(
        self,
        feature: int,
        threshold: float,
        right_codes: BoolArray | None,
        missing_right: bool,
        proba: FloatArray,
        source: Any,
    ) -> None:
        self.feature = feature
        self.threshold = threshold
        self.right_codes = right_codes
        self.missing_right = missing_right
        self.proba = proba
        self.classes_ = source.classes_
        self.n_features_in_ = source.n_features_in_
        self.schema_ = source.schema_
        self.encoder_ = source.encoder_

    def predict(self, X: Any) -> AnyArray:
        """The heaviest class on the side of each row."""
        return np.asarray(self.classes_[self.proba.argmax(axis=1)[self.sides(prepare_prediction(self, X))]])

    def predict_proba(self, X: Any) -> FloatArray:
        """The class shares on the side of each row, as training weighted them."""
        return np.asarray(self.proba[self.sides(prepare_prediction(self, X))])

    @property
    def feature_importances_(self) -> FloatArray:
        """1 for the feature that it splits."""
        importances = np.zeros(self.n_features_in_)
        if self.feature >= 0:
            importances[self.feature] = 1.0
        return importances

    def split_counts(self) -> FloatArray:
        """1 for the column that is split on."""
        return self.feature_importances_

    def sides(self, encoded: Encoded) -> AnyArray:
        """0 for rows on the left, 1 for rows on the right."""
        if self.feature < 0:
            return np.zeros(encoded.n_rows, dtype=np.intp)
        values = encoded.values
        column = values[self.feature] if isinstance(values, list) else values[:, self.feature]
        if self.right_codes is not None:
            codes = np.where((column >= 0) & (column < len(self.right_codes)), column, -1).astype(np.intp)
            return np.append(self.right_codes, self.missing_right)[codes].astype(np.intp)
        right = np.where(np.isnan(column), self.missing_right, column > self.threshold)
        return right.astype(np.intp)

    def __repr__(self) -> str:
        predicted = [str(self.classes_[code]) for code in self.proba.argmax(axis=1)]
        if self.feature < 0:
            return f"Stump(always {predicted[0]})"
        name = f"x{self.feature}" if self.schema_.names is None else self.schema_.names[self.feature]
        condition = (
            f"{name} <= {self.threshold:.6g}" if self.right_codes is None else f"{name} in {self._left()}"
        )
        return f"Stump({condition}: {predicted[0]}, else {predicted[1]})"

    def _left(self) -> str:
        levels, codes = self.encoder_.levels(self.feature), self.encoder_.codes(self.feature)
        assert levels is not None
        assert codes is not None
        assert self.right_codes is not None
        names = [str(level) for level in levels[~self.right_codes[codes]].tolist()]
        return "{" + ", ".join(names[:5]) + (", ..." if len(names) > 5 else "") + "}"


def stump_shares(stump: Stump, algorithm: str) -> FloatArray:
    """What one vote of a stump adds to each class on the left and on the right, shape (2, n_classes)."""
    n_classes = stump.proba.shape[1]
    if algorithm == "samme":
        return one_hot(stump.proba.argmax(axis=1), n_classes)
    if algorithm == "confidence":
        return stump.proba
    return centred_logs(stump.proba) if algorithm == "real" else (n_classes * stump.proba - 1) / 2


class StumpFitter:
    """The rows in bins, and the engine's rounds on them.

    Parameters
    ----------
    source : what knows classes, schema and encoder: the estimator
    train : its training data
    draws : if stumps are to be fitted to rows that are drawn
    """

    def __init__(
        self, source: Any, train: TrainingData, seed: int, n_threads: int, draws: WeightedDraws | None = None
    ) -> None:
        encoded = train.encoded
        weight = np.empty(0) if train.weight is None else train.weight
        self._source = source
        self.algorithm = source.algorithm
        self._encoded = encoded
        self._draws = draws
        self._mapper: Any = _engine.BinMapper.fit(
            encoded.values, encoded.n_levels, weight, int(source.max_bins), seed, n_threads
        )
        self._n_bins = self._mapper.n_bins()
        self._codes = np.ascontiguousarray(train.target.values, dtype=np.int32)
        self.rounds = _engine.StumpRounds(
            _engine.BinnedMatrix(encoded.values, encoded.n_levels, self._mapper, n_threads),
            self._codes,
            len(source.classes_),
            weight,
            _score_of(self.algorithm, len(source.classes_)),
            n_threads,
        )

    def fit(self, weight: FloatArray, seed: int) -> Stump:
        """The best stump for rows of these weights."""
        if self._draws is not None:
            weight = np.bincount(self._draws.draw(weight, seed), minlength=len(weight)).astype(np.float64)
        n_classes = len(self._source.classes_)
        stump = self.described(self.rounds.find_for(weight), np.ones(2 * n_classes))
        places = stump.sides(self._encoded) * n_classes + self._codes
        stump.proba = _class_shares(
            np.asarray(np.bincount(places, weights=weight, minlength=2 * n_classes), dtype=np.float64)
        )
        return stump

    def drawn_rows(self, weight: FloatArray, seed: int) -> RowArray:
        """The rows that `fit` draws."""
        assert self._draws is not None
        return self._draws.draw(weight, seed)

    def own_shares(self, member: Stump) -> FloatArray:
        """Shares of the training rows."""
        return np.asarray(stump_shares(member, self.algorithm)[member.sides(self._encoded)])

    def described(self, found: Any, sums: FloatArray) -> Stump:
        """A stump of the engine in the user's terms; `sums` are the weights of the classes on both sides."""
        feature, proba = int(found.feature), _class_shares(sums)
        if feature < 0:
            return Stump(feature, np.nan, None, False, proba, self._source)
        right = found.right()[: self._n_bins[feature]].astype(bool)
        if self._encoded.n_levels[feature] > 0:
            return Stump(feature, np.nan, right[1:], bool(right[0]), proba, self._source)
        cuts, n_left = self._mapper.cuts(feature), int((~right[1:]).sum())
        threshold = float(cuts[n_left - 1]) if n_left <= len(cuts) else np.inf
        return Stump(feature, threshold, None, bool(right[0]), proba, self._source)

    def native(self, stump: Stump) -> Any:
        """The stump as the engine has it."""
        if stump.feature < 0:
            return _engine.Stump(-1, np.zeros(0, np.uint8))
        if stump.right_codes is not None:
            right = stump.right_codes
        else:
            cuts = self._mapper.cuts(stump.feature)
            n_left = np.searchsorted(cuts, stump.threshold, side="right") + (stump.threshold == np.inf)
            right = np.arange(1, self._n_bins[stump.feature]) > n_left
        return _engine.Stump(stump.feature, np.append(stump.missing_right, right).astype(np.uint8))


def _class_shares(sums: FloatArray) -> FloatArray:
    """The shares of the classes on each side; a side without weight is taken for the other one."""
    sides = sums.reshape(2, -1)
    totals = sides.sum(axis=1)
    filled = sides if totals.all() else sides[[totals.argmax()] * 2]
    return np.asarray(filled / filled.sum(axis=1, keepdims=True))


def table_of(stumps: list[Stump], steps: list[FloatArray], n_levels: AnyArray) -> Any:
    """All stumps as one table of the engine.

    Parameters
    ----------
    steps : what each stump adds to the scores on the left and on the right, shape (2, n_scores).
    n_levels : of each feature, 0 for a numeric one.
    """
    n_scores = steps[0].shape[1]
    start = np.zeros((1, n_scores))
    cuts = [np.empty(0) for _ in n_levels]
    levels = np.full(len(n_levels), -1, dtype=np.int32)
    for feature in {stump.feature for stump in stumps if stump.feature >= 0}:
        levels[feature] = n_levels[feature]
        thresholds = {stump.threshold for stump in stumps if stump.feature == feature}
        if levels[feature] == 0:
            cuts[feature] = np.array(sorted(thresholds - {np.inf}))
    tables = [
        np.zeros((0 if n < 0 else n + 1 if n > 0 else len(own) + 2, n_scores))
        for n, own in zip(levels, cuts, strict=True)
    ]
    for stump, step in zip(stumps, steps, strict=True):
        if stump.feature < 0:
            start += step[0]
            continue
        own = tables[stump.feature]
        own[0] += step[int(stump.missing_right)]
        if stump.right_codes is not None:
            own[1:] += step[stump.right_codes.astype(np.intp)]
            continue
        n_left = np.searchsorted(cuts[stump.feature], stump.threshold, side="right") + 1
        n_left += stump.threshold == np.inf
        own[1:n_left] += step[0]
        own[n_left:] += step[1]
    votes = np.concatenate([start, *tables]).ravel()
    return _engine.StumpTable(cuts, levels, votes, n_scores)
