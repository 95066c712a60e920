"""Errors by round: those of an ensemble on training rows and others, and of AdaBoost with its bounds."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import is_classifier

from coterie._params import in_short
from coterie._typing import AnyArray, FloatArray
from coterie.diagnostics import error_by_round
from coterie.diagnostics.bounds import AdaBoostBounds, adaboost
from coterie.diagnostics.fit_by_step import error_by_round_of_numbers
from coterie.errors import InvalidParameter
from coterie.plots.animation import AnimationFrame
from coterie.plots.chart import Axis, Chart, Line, Mark
from coterie.plots.display import Display
from coterie.plots.growing import growing_frames


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

    def frames(self) -> list[AnimationFrame]:
        """The curves as they grow, in at most sixty steps."""
        rounds = self.bounds.rounds
        return growing_frames(self.chart(), len(rounds), first=int(rounds[0]))

    def __repr__(self) -> str:
        return f"ErrorBoundDisplay({len(self.bounds.rounds)} rounds)"


class RoundsDisplay(Display):
    """The error of an ensemble after each of its rounds, on training rows and on test rows.

    It is the error rate of classes, and the mean squared error of numbers.

    Parameters
    ----------
    training_error, test_error : arrays of shape (n_rounds,), errors; NaN where they are not known
    measure : str, what the errors are: "error rate", or another name for errors that may be above 1
        Default "error rate": curves by round are mostly those of classifiers.

    Examples
    --------
    >>> display = RoundsDisplay([0.2, 0.1, 0.0, 0.0], [0.3, 0.25, 0.2, 0.15])
    >>> display
    RoundsDisplay(4 rounds, training error 0.000, test error 0.150)
    >>> display.data["round"]
    array([1, 2, 3, 4])
    """

    def __init__(
        self, training_error: ArrayLike, test_error: ArrayLike, *, measure: str = "error rate"
    ) -> None:
        self.measure = measure
        self.training_error: FloatArray = np.asarray(training_error, dtype=np.float64)
        self.test_error: FloatArray = np.asarray(test_error, dtype=np.float64)
        shapes = self.training_error.shape, self.test_error.shape
        if shapes[0] != shapes[1] or len(shapes[0]) != 1 or shapes[0][0] == 0:
            raise InvalidParameter.expecting(
                f"training_error and test_error have shapes {in_short(shapes)}",
                "one number for each round",
                "test_error",
                test_error,
            )

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any, y: Any, X_test: Any, y_test: Any, *, votes: str = "hard"
    ) -> "RoundsDisplay":
        """Evaluate a fitted ensemble on two tables; `votes`, of classifiers, as in `coterie.diagnostics.margins`."""
        if not is_classifier(model):
            both = (error_by_round_of_numbers(model, *own) for own in ((X, y), (X_test, y_test)))
            return cls(*both, measure="mean squared error")
        return cls(
            error_by_round(model, X, y, votes=votes), error_by_round(model, X_test, y_test, votes=votes)
        )

    @property
    def data(self) -> dict[str, AnyArray]:
        """Columns "round", "training_error" and "test_error"."""
        return {
            "round": np.arange(1, len(self.training_error) + 1),
            "training_error": self.training_error,
            "test_error": self.test_error,
        }

    def chart(self) -> Chart:
        rounds = np.arange(1.0, len(self.training_error) + 1)
        right = np.flatnonzero(self.training_error == 0)
        highest = float(np.nanmax([self.training_error, self.test_error], initial=0.0))
        top = 1.15 * highest or 1.0
        if self.measure == "error rate":
            top = min(1.0, top)
        return Chart(
            "Error by round",
            Axis("round", 1.0, max(2.0, float(rounds[-1])), log=True),
            Axis(self.measure, 0.0, top),
            (Line("test", rounds, self.test_error), Line("training", rounds, self.training_error)),
            (Mark(float(rounds[right[0]]), "training error reaches 0"),) if len(right) else (),
        )

    def frames(self) -> list[AnimationFrame]:
        """The curves as they grow, in at most sixty steps."""
        return growing_frames(self.chart(), len(self.training_error))

    def __repr__(self) -> str:
        written = ".3f" if self.measure == "error rate" else ".4g"
        return (
            f"RoundsDisplay({len(self.training_error)} rounds, training error {self.training_error[-1]:{written}}, "
            f"test error {self.test_error[-1]:{written}})"
        )
