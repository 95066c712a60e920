"""AdaBoost's training error, the exponential loss above it, and the bound above both."""

from typing import Any

import numpy as np

from coterie._typing import AnyArray
from coterie.diagnostics.bounds import AdaBoostBounds, adaboost
from coterie.plots.chart import Axis, Chart, Line
from coterie.plots.display import Display


class ErrorBoundDisplay(Display):
    """The training error of AdaBoost by round, and its upper bounds.

    Parameters
    ----------
    bounds : AdaBoostBounds, the result of `coterie.diagnostics.bounds.adaboost`

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from sklearn.ensemble import AdaBoostClassifier
    >>> X, y = make_moons(200, noise=0.1, random_state=0)
    >>> model = AdaBoostClassifier(n_estimators=30, random_state=0).fit(X, y)
    >>> display = ErrorBoundDisplay.from_estimator(model, X, y)
    >>> display
    ErrorBoundDisplay(30 rounds)
    >>> bool((display.data["training_error"] <= display.data["exponential_loss"]).all())
    True
    """

    def __init__(self, bounds: AdaBoostBounds) -> None:
        self.bounds = bounds

    @classmethod
    def from_bounds(cls, bounds: AdaBoostBounds) -> "ErrorBoundDisplay":
        """Show bounds that are known."""
        return cls(bounds)

    @classmethod
    def from_estimator(cls, model: Any, X: Any, y: Any, *, sample_weight: Any = None) -> "ErrorBoundDisplay":
        """Measure a fitted AdaBoost on its training rows."""
        return cls(adaboost(model, X, y, sample_weight=sample_weight))

    @property
    def data(self) -> dict[str, AnyArray]:
        """Columns "round", "training_error", "exponential_loss" and "bound_by_edge"."""
        return {
            "round": self.bounds.rounds,
            "training_error": self.bounds.training_error,
            "exponential_loss": self.bounds.training_loss,
            "bound_by_edge": self.bounds.training_loss_by_edge,
        }

    def chart(self) -> Chart:
        rounds = self.bounds.rounds.astype(np.float64)
        lines = [
            Line("training error", rounds, self.bounds.training_error),
            Line("exponential loss", rounds, self.bounds.training_loss),
        ]
        if np.isfinite(self.bounds.training_loss_by_edge).all():
            label = f"bound by the smallest edge, {self.bounds.edge:.2g}"
            lines.append(Line(label, rounds, self.bounds.training_loss_by_edge))
        return Chart(
            f"Training error of AdaBoost, {self.bounds.n_rows:,} rows",
            Axis("round", 0.0, max(2.0, float(rounds[-1]))),
            Axis("error or mean loss", 0.0, 1.0),
            tuple(lines),
        )

    def __repr__(self) -> str:
        return f"ErrorBoundDisplay({len(self.bounds.rounds)} rounds)"
