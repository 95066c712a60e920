"""Any learner of scikit-learn as a member: weights where it takes them, weighted draws of rows where it does not."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import softmax
from sklearn.base import clone, is_regressor

from coterie._params import in_short, spawn_seeds
from coterie._typing import AnyArray, FloatArray, Kind, RowArray, Task
from coterie.adaboost._votes import centred_logs, one_hot
from coterie.data.class_columns import columns_by_class
from coterie.data.encoding import Encoded
from coterie.data.frames import is_frame
from coterie.data.parts import check_columns, flat_rows, row_indexable, rows_of
from coterie.data.prepare import Encoder, TrainingData, prepare_training, read_table
from coterie.data.table import Schema, Table, sparse_shape
from coterie.data.target import read_target
from coterie.data.weight import combined_weight, read_weight
from coterie.errors import InvalidInput, InvalidParameter
from coterie.members.weight_parameter import weight_parameter


def check_learner(estimator: Any, algorithm: str) -> None:
    """Refuse a learner that cannot predict what the algorithm needs."""
    if algorithm == "gentle" and not is_regressor(estimator):
        raise InvalidParameter(
            f"AdaBoostClassifier(algorithm='gentle', estimator={in_short(estimator)}): expected a regressor, because "
            "gentle steps are fitted to numbers. Choose a regressor, or another algorithm."
        )
    if algorithm in ("samme", "real") and is_regressor(estimator):
        raise InvalidParameter(
            f"AdaBoostClassifier(algorithm={algorithm!r}, estimator={in_short(estimator)}): expected a classifier. "
            "Regressors serve algorithm='gentle' and algorithm='confidence'."
        )
    if algorithm == "real" and not hasattr(estimator, "predict_proba"):
        raise InvalidParameter(
            f"AdaBoostClassifier(algorithm='real', estimator={in_short(estimator)}): expected a classifier with "
            "predict_proba, because its log probabilities are the votes. Choose another estimator, or "
            "algorithm='samme'."
        )


class WeightedDraws:
    """Draws of as many rows as there are, each as probable as its weight.

    Rows are laid out by what they hold, so neither their order nor whether a row has weight 2 or is there twice
    changes what is drawn. For the latter, weights that are whole numbers count rows.

    Parameters
    ----------
    encoded, codes : what the rows hold, and their classes
    counts : sample weights as the user gave them, or None
    """

    def __init__(self, encoded: Encoded, codes: AnyArray, counts: FloatArray | None) -> None:
        self._order = np.argsort(_digests(encoded, codes), kind="stable")
        self._n_draws = len(codes)
        if counts is not None:
            are_counts = bool((counts == np.floor(counts)).all()) and counts.sum() <= 64 * len(counts)
            self._n_draws = int(counts.sum()) if are_counts else int((counts > 0).sum())

    def draw(self, weight: FloatArray, seed: int) -> RowArray:
        """Numbers of the rows drawn; a row may be there several times."""
        ends = np.cumsum(weight[self._order])
        points = np.sort(np.random.default_rng(seed).random(self._n_draws)) * ends[-1]
        # A point on a border belongs to the row after it, and none to a row without weight.
        places = np.minimum(np.searchsorted(ends, points, side="right"), np.searchsorted(ends, ends[-1]))
        return np.asarray(self._order[places])


def _digests(encoded: Encoded, codes: AnyArray) -> AnyArray:
    """A number for each row that depends on what it holds, in 64 bits."""
    columns = encoded.values if isinstance(encoded.values, list) else list(encoded.values.T)
    digest = (codes.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    for column in columns:
        numbers = np.asarray(column, dtype=np.float64) + 0.0  # no negative zero
        bits = np.where(np.isnan(numbers), np.nan, numbers).view(np.uint64)
        digest = (digest ^ bits ^ (digest >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
        digest ^= digest >> np.uint64(32)
    return digest


class Learner:
    """Fits members and computes their shares.

    Parameters
    ----------
    estimator : what is cloned for each member
    algorithm : which kind of shares it needs
    classes : the labels, sorted
    X : the rows as the user gave them
    codes : their classes
    scale : what the weights of all rows sum to, as members see them
    draws : None if members take weights
    """

    def __init__(
        self,
        estimator: Any,
        algorithm: str,
        classes: AnyArray,
        *,
        X: Any,
        codes: AnyArray,
        scale: float,
        draws: WeightedDraws | None,
    ) -> None:
        self._estimator = estimator
        self._algorithm = algorithm
        self._classes = classes
        self._X = X
        self._codes = codes
        self._scale = scale
        self._draws = draws

    def fit(self, weight: FloatArray, seed: int) -> Any:
        """A member for rows of these weights, which sum to one; a list of regressors for more than two classes."""
        draw_seed, own_seed = (int(each) for each in spawn_seeds(seed, 2))
        X, codes, weights = self._X, self._codes, {}
        if self._draws is None:
            name = weight_parameter(self._estimator)
            assert name is not None
            weights = {name: weight * self._scale}
        else:
            rows = self._draws.draw(weight, draw_seed)
            X, codes = rows_of(X, rows), codes[rows]
        if not is_regressor(self._estimator):
            return self._fitted(own_seed, X, self._classes[codes], weights)
        targets = self._targets(codes)
        members = [
            self._fitted(own_seed, X, targets[:, output], weights) for output in range(targets.shape[1])
        ]
        return members[0] if len(members) == 1 else members

    def drawn_rows(self, weight: FloatArray, seed: int) -> RowArray:
        """The rows that `fit` draws."""
        assert self._draws is not None
        return self._draws.draw(weight, int(spawn_seeds(seed, 2)[0]))

    def _targets(self, codes: AnyArray) -> FloatArray:
        """For regressors: -1 and 1, or for each of K classes K - 1 where it is right and -1 elsewhere."""
        n_classes = len(self._classes)
        targets = n_classes * one_hot(codes, n_classes) - 1
        return targets[:, 1:] if n_classes == 2 else targets

    def _fitted(self, seed: int, X: Any, y: AnyArray, weights: dict[str, Any]) -> Any:
        """A fitted copy; what its `fit` returns does not matter."""
        member = self._made(seed)
        member.fit(X, y, **weights)
        return member

    def _made(self, seed: int) -> Any:
        """A copy with seeds of its own."""
        member = clone(self._estimator)
        names = sorted(
            name
            for name in member.get_params(deep=True)
            if name == "random_state" or name.endswith("__random_state")
        )
        seeds = spawn_seeds(seed, len(names)) % np.uint64(2**32)
        return member.set_params(**{name: int(each) for name, each in zip(names, seeds, strict=True)})

    def own_shares(self, member: Any) -> FloatArray:
        """Shares of the rows that members are fitted to."""
        return shares_of(member, self._X, self._algorithm, self._classes)


def shares_of(member: Any, X: Any, algorithm: str, classes: AnyArray) -> FloatArray:
    """What one vote of a member adds to each class, shape (n_rows, n_classes)."""
    if isinstance(member, list) or is_regressor(member):
        steps = _steps(member, X, len(classes))
        return steps / 2 if algorithm == "gentle" else np.clip((steps + 1) / len(classes), 0.0, 1.0)
    if algorithm == "samme":
        return one_hot(_codes(member.predict(X), classes), len(classes))
    if algorithm == "real":
        return centred_logs(
            columns_by_class(_numbers(member.predict_proba(X), member), member.classes_, classes)
        )
    if hasattr(member, "predict_proba"):
        return columns_by_class(_numbers(member.predict_proba(X), member), member.classes_, classes)
    if hasattr(member, "decision_function"):
        margins = _numbers(member.decision_function(X), member)
        margins = np.column_stack([-margins, margins]) if margins.ndim == 1 else margins
        return columns_by_class(np.asarray(softmax(margins, axis=1)), member.classes_, classes)
    return one_hot(_codes(member.predict(X), classes), len(classes))


def _steps(member: Any, X: Any, n_classes: int) -> FloatArray:
    members = member if isinstance(member, list) else [member]
    steps = np.column_stack([_numbers(each.predict(X), each) for each in members])
    return np.column_stack([-steps, steps]) if n_classes == 2 else steps


def _codes(labels: Any, classes: AnyArray) -> AnyArray:
    return np.searchsorted(classes, np.asarray(labels))


def _numbers(given: Any, member: Any) -> FloatArray:
    numbers = np.asarray(given, dtype=np.float64)
    if not np.isfinite(numbers).all():
        row = int(np.argwhere(~np.isfinite(numbers))[0][0])
        raise InvalidInput(
            f"A member, {in_short(member)}, predicts {numbers[row]} for row {row}; expected finite numbers."
        )
    return numbers


def prepare_rows(
    estimator: Any, X: Any, y: Any, sample_weight: Any, *, task: Task = "classification"
) -> TrainingData:
    """As `prepare_training`, without making a sparse matrix dense: a projection stands for what its rows hold."""
    if not sparse.issparse(X):
        return prepare_training(estimator, flat_rows(X), y, sample_weight, task=task)
    n_rows, n_columns = sparse_shape(X)
    weight = read_weight(sample_weight, n_rows)
    target = read_target(
        y,
        task=task,
        estimator_name=type(estimator).__name__,
        n_rows=n_rows,
        class_weight=getattr(estimator, "class_weight", None),
        weight=weight,
    )
    kinds: list[Kind] = ["numeric"] * n_columns
    schema, encoder = Schema(None, tuple(kinds)), Encoder()
    schema.set_feature_names(estimator)
    estimator.schema_, estimator.encoder_ = schema, encoder
    encoded = Encoded([_projection(X)], n_rows, 1, np.zeros(1, np.int32))
    combined = combined_weight(weight, target.row_weight)
    return TrainingData(encoded, encoder, schema, target, combined, weight)


def checked_rows(estimator: Any, X: Any) -> Encoded:
    """The number of the rows, if they have the columns that fit saw; their values are the learner's affair."""
    n_rows = check_columns(estimator.schema_, flat_rows(X), type(estimator).__name__)
    return Encoded([], n_rows, 0, np.zeros(0, np.int32))


def as_given_to_learners(X: Any, schema: Schema) -> Any:
    """What every learner takes, and rows can be drawn from; tables with text stay as they are.

    Lists become arrays, a dict of columns of numbers becomes a matrix, and sparse matrices have rows.
    """
    if sparse.issparse(X):
        return row_indexable(X)
    if not isinstance(X, Mapping):
        return X if is_frame(X) or isinstance(X, np.ndarray) else np.asarray(X)
    table = read_table(X)
    if schema.names is not None and set(schema.names) == set(table.names or ()):
        place = {name: index for index, name in enumerate(table.names or ())}
        table = table.select([place[name] for name in schema.names])
    numeric = all(kind == "numeric" for kind in schema.kinds)
    return _matrix(table) if numeric else X


def _matrix(table: Table) -> FloatArray:
    columns = [table.column(index).values for index in range(table.n_columns)]
    return np.column_stack([np.asarray(column, dtype=np.float64) for column in columns])


def _projection(X: Any) -> FloatArray:
    directions = np.random.default_rng(0).normal(size=X.shape[1])
    return np.asarray(X.tocsr().astype(np.float64) @ directions)
