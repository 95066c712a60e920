"""Errors as pictures: bias and variance, bootstrap estimates, and calibration."""

from dataclasses import replace
from typing import Any

import numpy as np

from coterie._typing import AnyArray
from coterie.diagnostics import (
    BiasVariance,
    BootstrapError,
    Calibration,
    Reliability,
    bias_variance,
    bootstrap,
    calibration,
)
from coterie.plots.animation import AnimationFrame
from coterie.plots.chart import Axis, Bars, Chart, Line, Mark, Points
from coterie.plots.display import Display
from coterie.plots.growing import growing_frames

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

    def frames(self) -> list[AnimationFrame]:
        """The curves as they grow, stage by stage; one frame where there is one stage."""
        if len(self.result.stages) == 1:
            return super().frames()
        frames, stages = growing_frames(self.chart(), len(self.result.stages)), self.result.stages
        return [replace(own, name=f"after {stages[len(own.charts[0].lines[0].x) - 1]:,}") for own in frames]

    def __repr__(self) -> str:
        n_fits, n_stages, _ = self.result.predictions.shape
        stages = "1 stage" if n_stages == 1 else f"{n_stages} stages"
        return f"BiasVarianceDisplay({self.result.method.replace('_', ' ')}, {n_fits} fits, {stages})"


_ESTIMATES = {
    "apparent": "apparent",
    "error_632": ".632",
    "error_632_plus": ".632+",
    "leave_one_out": "leave-one-out",
}
_LOSS_NAMES = {"zero_one": "error rate"}


class BootstrapDisplay(Display):
    """Estimates of the error on new rows, each with its 95 % confidence interval.

    Parameters
    ----------
    result : BootstrapError, the result of `coterie.diagnostics.bootstrap`

    Examples
    --------
    >>> from sklearn.linear_model import LinearRegression
    >>> X = np.random.default_rng(0).normal(size=(30, 2))
    >>> BootstrapDisplay.from_estimator(LinearRegression(), X, X[:, 0] ** 2, n_repeats=10, random_state=0)
    BootstrapDisplay(squared error, 10 fits)
    """

    def __init__(self, result: BootstrapError) -> None:
        self.result = result

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, **options: Any) -> "BootstrapDisplay":
        """Fit to bootstrap samples; `options` are those of `coterie.diagnostics.bootstrap`."""
        return cls(bootstrap(estimator, X, y, **options))

    @property
    def data(self) -> dict[str, AnyArray]:
        """Columns "estimate", "error" and "standard_error", which is NaN where it is not known."""
        return {
            "estimate": np.array(list(_ESTIMATES)),
            "error": np.array([getattr(self.result, name) for name in _ESTIMATES]),
            "standard_error": np.array(
                [self.result.standard_errors.get(name, np.nan) for name in _ESTIMATES]
            ),
        }

    def chart(self) -> Chart:
        errors = self.data["error"][::-1]
        spread = np.nan_to_num(1.96 * self.data["standard_error"][::-1])
        no_information = self.result.no_information
        high = 1.1 * float(np.max(errors + spread)) or 1.0
        near = 0 < no_information < 2 * high
        return Chart(
            f"Error on new rows, {len(self.result.fit_errors)} bootstrap samples",
            Axis(
                _LOSS_NAMES.get(self.result.loss, self.result.loss.replace("_", " ")),
                0.0,
                max(high, 1.05 * no_information if near else 0.0),
            ),
            Axis("", -0.6, len(errors) - 0.4, names=tuple(_ESTIMATES.values())[::-1]),
            bars=(Bars("", errors, spread),),
            marks=(Mark(no_information, "no information"),) if near else (),
        )

    def __repr__(self) -> str:
        return f"BootstrapDisplay({self.result.loss.replace('_', ' ')}, {len(self.result.fit_errors)} fits)"


class CalibrationDisplay(Display):
    """A dot for each bin, with its interval. Calibrated probabilities lie on the diagonal.

    Parameters
    ----------
    result : Calibration, the result of `coterie.diagnostics.calibration`, or a dict of several by name
    label : the class whose curve is shown, "top", or None for the main one
        Default None: the second of two classes, or the most probable of more.

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
