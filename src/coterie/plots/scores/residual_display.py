"""The residuals of a regressor: by prediction, and true values beside predicted ones."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import is_classifier

from coterie._params import in_short, unexpected
from coterie._typing import AnyArray, FloatArray
from coterie.errors import InvalidInput
from coterie.plots.animation import AnimationFrame
from coterie.plots.chart import Axis, Chart, Line, Points
from coterie.plots.display import Display

_MOST_POINTS = 800
_N_PARTS = 12


class ResidualDisplay(Display):
    """True values by predicted ones, and residuals by prediction with the median and the middle 80 % of nearby rows.

    Rows on the line are predicted exactly. A bend of the median is a systematic error, a band that widens a variance
    that is not constant.

    Parameters
    ----------
    y_true, y_pred : arrays of shape (n_rows,)

    Examples
    --------
    >>> display = ResidualDisplay([1.0, 2.0, 4.0], [1.0, 2.5, 3.0])
    >>> display, display.data["residual"]
    (ResidualDisplay(3 rows, root mean squared error 0.6455), array([ 0. , -0.5,  1. ]))
    """

    def __init__(self, y_true: ArrayLike, y_pred: ArrayLike) -> None:
        self.y_true: FloatArray = np.asarray(y_true, dtype=np.float64)
        self.y_pred: FloatArray = np.asarray(y_pred, dtype=np.float64)
        shapes = self.y_true.shape, self.y_pred.shape
        if shapes[0] != shapes[1] or len(shapes[0]) != 1 or not shapes[0][0]:
            raise InvalidInput.expecting(
                f"y_true and y_pred have the shapes {in_short(shapes)}",
                "two numbers for each row",
                "y_pred",
                shapes[1],
            )
        if not (np.isfinite(self.y_true).all() and np.isfinite(self.y_pred).all()):
            raise InvalidInput.expecting(
                "y_true or y_pred hold NaN or infinity", "finite numbers", "y_true", y_true
            )

    @classmethod
    def from_estimator(cls, model: Any, X: Any, y: Any) -> "ResidualDisplay":
        """Predict the rows of a table with a fitted regressor; rows that it was not fitted to say more."""
        if is_classifier(model):
            raise unexpected("model", model, "a fitted regressor")
        return cls(
            np.asarray(y, dtype=np.float64).ravel(), np.asarray(model.predict(X), dtype=np.float64).ravel()
        )

    @property
    def data(self) -> dict[str, AnyArray]:
        """Columns "true", "predicted" and "residual", which is true minus predicted."""
        return {"true": self.y_true, "predicted": self.y_pred, "residual": self.y_true - self.y_pred}

    def panels(self) -> tuple[Chart, ...]:
        """True by predicted values, and residuals by prediction."""
        return self._true_by_predicted(), self.chart()

    def chart(self) -> Chart:
        """Residuals by prediction."""
        residual, rows = self.y_true - self.y_pred, self._drawn
        low, high = _ends(self.y_pred)
        zero = Line("zero", np.array([low, high]), np.zeros(2), faint=True)
        return Chart(
            "Residuals by prediction",
            Axis("prediction", low, high),
            Axis("true - predicted", *_ends(residual)),
            (zero, *self._nearby()),
            points=(Points("rows", self.y_pred[rows], residual[rows]),),
        )

    def frames(self) -> list[AnimationFrame]:
        """One: the two plots are no sequence."""
        return [AnimationFrame("residuals", self.panels())]

    def _nearby(self) -> tuple[Line, ...]:
        """The median and the middle 80 % of the residuals of rows with similar predictions."""
        order = np.argsort(self.y_pred, kind="stable")
        parts = np.array_split(order, max(1, min(_N_PARTS, len(order) // 10)))
        if len(parts) < 2:
            return ()
        residual = self.y_true - self.y_pred
        x = np.array([self.y_pred[part].mean() for part in parts])
        low, middle, high = np.array([np.quantile(residual[part], [0.1, 0.5, 0.9]) for part in parts]).T
        return (Line("median of nearby rows", x, middle, low=low, high=high),)

    def _true_by_predicted(self) -> Chart:
        low, high = _ends(np.concatenate([self.y_true, self.y_pred]))
        ends, rows = np.array([low, high]), self._drawn
        return Chart(
            "True and predicted values",
            Axis("prediction", low, high),
            Axis("true value", low, high),
            (Line("exact", ends, ends),),
            points=(Points("rows", self.y_pred[rows], self.y_true[rows]),),
        )

    @property
    def _drawn(self) -> AnyArray:
        n_rows = len(self.y_true)
        return np.linspace(0, n_rows - 1, min(n_rows, _MOST_POINTS)).round().astype(np.int64)

    def __repr__(self) -> str:
        error = float(np.sqrt(np.mean((self.y_true - self.y_pred) ** 2)))
        return f"ResidualDisplay({len(self.y_true):,} rows, root mean squared error {error:.4g})"


def _ends(values: FloatArray) -> tuple[float, float]:
    low, high = float(values.min()), float(values.max())
    room = 0.05 * (high - low) or 0.5 * abs(high) or 1.0
    return low - room, high + room
