"""Bias, variance and noise of an ensemble by number of rounds or members."""

from typing import Any

import numpy as np

from coterie._typing import AnyArray
from coterie.diagnostics import BiasVariance, bias_variance
from coterie.plots.chart import Axis, Bars, Chart, Line
from coterie.plots.display import Display

_PARTS = ("error", "bias", "variance", "noise")


class BiasVarianceDisplay(Display):
    """The decomposition of the error: lines by stage, or bars where there is one stage.

    Parameters
    ----------
    result : BiasVariance, the result of `coterie.diagnostics.bias_variance`

    Examples
    --------
    >>> from coterie import BaggingRegressor
    >>> X = np.linspace(0, 6, 60)[:, None]
    >>> display = BiasVarianceDisplay.from_estimator(
    ...     BaggingRegressor(n_estimators=5), X, np.sin(X[:, 0]), n_repeats=3, stages="all", random_state=0
    ... )
    >>> display
    BiasVarianceDisplay(squared error, 3 fits, 5 stages)
    >>> list(display.data)
    ['stage', 'error', 'bias', 'variance', 'noise']
    """

    def __init__(self, result: BiasVariance) -> None:
        self.result = result

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, **options: Any) -> "BiasVarianceDisplay":
        """Fit an estimator many times; `options` are those of `coterie.diagnostics.bias_variance`."""
        return cls(bias_variance(estimator, X, y, **options))

    @property
    def data(self) -> dict[str, AnyArray]:
        """Columns "stage", "error", "bias", "variance" and "noise"."""
        return {"stage": self.result.stages, **{name: getattr(self.result, name) for name in _PARTS}}

    def chart(self) -> Chart:
        title = f"Bias and variance of {self.result.predictions.shape[0]} fits"
        unit = "squared error" if self.result.classes is None else "error rate"
        names = [name for name in _PARTS if name != "noise" or self.result.noise.any()]
        values = np.array([getattr(self.result, name) for name in names])
        low, high = min(0.0, 1.1 * float(values.min())), 1.1 * max(0.0, float(values.max())) or 1.0
        labels = ["bias²" if name == "bias" and unit == "squared error" else name for name in names]
        if len(self.result.stages) == 1:
            side = Axis("", -0.6, len(names) - 0.4, names=tuple(labels[::-1]))
            return Chart(title, Axis(unit, low, high), side, bars=(Bars("", values[::-1, 0]),))
        stages = self.result.stages.astype(np.float64)
        return Chart(
            title,
            Axis("rounds or members", float(stages[0]), float(stages[-1]), log=bool(stages[-1] > 20)),
            Axis(unit, low, high),
            tuple(Line(label, stages, own) for label, own in zip(labels, values, strict=True)),
        )

    def __repr__(self) -> str:
        n_fits, n_stages, _ = self.result.predictions.shape
        stages = "1 stage" if n_stages == 1 else f"{n_stages} stages"
        return f"BiasVarianceDisplay({self.result.method.replace('_', ' ')}, {n_fits} fits, {stages})"
