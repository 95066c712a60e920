"""Calibration curve (reliability diagram): predicted probabilities and observed frequencies, with intervals."""

from typing import Any

import numpy as np

from coterie._typing import AnyArray
from coterie.diagnostics import Calibration, Reliability, calibration
from coterie.plots.chart import Axis, Chart, Line, Points
from coterie.plots.display import Display


class CalibrationDisplay(Display):
    """A dot for each bin, with its interval. Calibrated probabilities lie on the diagonal.

    Parameters
    ----------
    result : Calibration, the result of `coterie.diagnostics.calibration`, or a dict of several by name
    label : the class whose curve is shown, "top", or None for the main one

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> y = X[:, 0] > 0
    >>> CalibrationDisplay.from_estimator(GaussianNB().fit(X, y), X, y, n_bins=5)
    CalibrationDisplay(model)
    """

    def __init__(self, result: Calibration | dict[str, Calibration], label: Any = None) -> None:
        self.result = result if isinstance(result, dict) else {"model": result}
        self.label = label

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any, y: Any, *, label: Any = None, **options: Any
    ) -> "CalibrationDisplay":
        """Measure a fitted classifier; `options` are those of `coterie.diagnostics.calibration`."""
        return cls(calibration(model, X, y, **options), label)

    @property
    def data(self) -> dict[str, AnyArray]:
        """Columns "model", "predicted", "observed", "low", "high" and "count"; one row for each bin."""
        curves = list(self._curves().values())
        columns = ("predicted", "observed", "low", "high", "count")
        return {
            "model": np.repeat(list(self.result), [len(curve.count) for curve in curves]),
            **{name: np.concatenate([getattr(curve, name) for curve in curves]) for name in columns},
        }

    def chart(self) -> Chart:
        label = next(iter(self._curves().values())).label
        event = "the most probable class" if label == "top" else f"class {label}"
        ends = np.array([0.0, 1.0])
        points = tuple(
            Points(
                f"{name}, calibration error {curve.expected_error:.3f}",
                curve.predicted,
                curve.observed,
                curve.low,
                curve.high,
            )
            for name, curve in self._curves().items()
        )
        return Chart(
            f"Calibration curve of {event}",
            Axis("mean predicted probability", 0.0, 1.0),
            Axis("observed frequency", 0.0, 1.0),
            (Line("perfect", ends, ends, faint=True),),
            points=points,
        )

    def _curves(self) -> dict[str, Reliability]:
        return {
            name: own.main if self.label is None else own.of(self.label) for name, own in self.result.items()
        }

    def __repr__(self) -> str:
        return f"CalibrationDisplay({', '.join(self.result)})"
