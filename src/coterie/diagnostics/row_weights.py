"""Which rows AdaBoost looks at: the weights of its training rows before each round, and how often they were drawn."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from coterie._params import in_short
from coterie._typing import AnyArray, FloatArray, RowArray
from coterie.data.weight import read_weight
from coterie.diagnostics.sklearn_adapters import with_protocols
from coterie.errors import InvalidType

_EXPECTED = "a fitted AdaBoostClassifier or AdaBoostRegressor, of coterie or scikit-learn"


@dataclass(frozen=True, repr=False, eq=False)
class WeightsByRound:
    """The weights of the training rows by round.

    Attributes
    ----------
    weights : array of shape (n_rounds + 1, n_rows)
        What the member of each round was fitted with, and last what the next one would be; each row sums to one.
    draws : array of ints of shape (n_rounds, n_rows), or None
        How often each member drew each row, where members were given drawn rows.

    Examples
    --------
    >>> found = WeightsByRound(np.array([[0.25, 0.25, 0.25, 0.25], [1 / 6, 1 / 2, 1 / 6, 1 / 6]]))
    >>> found
    WeightsByRound(1 round, 4 rows; half of the weight after it on 1 row)
    >>> found.n_effective.round(1)
    array([4., 3.])
    """

    weights: FloatArray
    draws: RowArray | None = None

    @property
    def n_effective(self) -> FloatArray:
        """How many rows of equal weight would be as uneven: 1 / the sum of squares, by round."""
        return np.asarray(1 / (self.weights**2).sum(axis=1))

    def rows_with(self, share: float = 0.5) -> RowArray:
        """The smallest number of rows that together have this share of the weight, before each round."""
        ordered = np.cumsum(np.sort(self.weights, axis=1)[:, ::-1], axis=1)
        return np.asarray((ordered < share - 1e-12).sum(axis=1) + 1)

    def hardest(self, n_rows: int = 5) -> RowArray:
        """The rows with the largest mean weight over all rounds, largest first."""
        return np.asarray(np.argsort(-self.weights.mean(axis=0), kind="stable")[:n_rows])

    def __repr__(self) -> str:
        n_rounds, half = len(self.weights) - 1, int(self.rows_with(0.5)[-1])
        rounds = "1 round" if n_rounds == 1 else f"{n_rounds} rounds"
        after = "it" if n_rounds == 1 else "the last"
        rows = "1 row" if half == 1 else f"{half:,} rows"
        return f"WeightsByRound({rounds}, {self.weights.shape[1]:,} rows; half of the weight after {after} on {rows})"


def row_weights(model: Any, X: Any, y: Any, sample_weight: Any = None) -> WeightsByRound:
    """The weights that AdaBoost gave its training rows, round by round.

    They follow from the members and the training table, and are computed when they are requested: a model does not
    hold a number for each row and round.

    Parameters
    ----------
    model : a fitted AdaBoostClassifier or AdaBoostRegressor, of coterie or scikit-learn
    X, y, sample_weight : what it was fitted to
        Default None: every row began with the same weight.

    Returns
    -------
    WeightsByRound; of scikit-learn's regressor, which draws rows, without the draws

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from coterie import AdaBoostClassifier
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> model = AdaBoostClassifier(n_estimators=50).fit(X, y)
    >>> found = row_weights(model, X, y)
    >>> found.weights.shape, bool(found.n_effective[-1] < 100)
    ((51, 200), True)
    """
    check_is_fitted(model)
    if hasattr(model, "row_weights_by_round"):
        given = model.row_weights_by_round(X, y, sample_weight)
        return WeightsByRound(*given) if isinstance(given, tuple) else WeightsByRound(given)
    names = {kind.__name__ for kind in type(model).__mro__}
    if "BaseWeightBoosting" not in names:
        raise InvalidType.expecting(f"{in_short(model)} has no weights of rows", _EXPECTED, "model", model)
    return WeightsByRound(_of_sklearn(model, X, np.asarray(y), sample_weight))


def _of_sklearn(model: Any, X: Any, y: AnyArray, sample_weight: Any) -> FloatArray:
    members = with_protocols(model).member_predictions(X)
    given = read_weight(sample_weight, len(y))
    weight = np.ones(len(y)) if given is None else given.astype(np.float64)
    found = [weight / weight.sum()]
    for number, vote in enumerate(model.estimator_weights_[: len(members.values)]):
        if is_classifier(model):
            change = (model.classes_[members.codes[number]] != y).astype(np.float64)
        else:
            errors = np.abs(members.values[number, :, 0] - y)
            share = errors / errors.max() if errors.max() > 0 else errors
            change = {"linear": share, "square": share**2, "exponential": 1 - np.exp(-share)}[model.loss] - 1
        weight = found[-1] * np.exp(vote * change)
        found.append(weight / weight.sum())
    return np.stack(found)
