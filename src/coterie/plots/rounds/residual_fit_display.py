"""A regression fitted step by step: the prediction so far, what is left of the targets, and the errors."""

from typing import Any

import numpy as np

from coterie._params import unexpected
from coterie._typing import AnyArray, FloatArray
from coterie.diagnostics.fit_by_step import FitBySteps, fit_by_step, spread_evenly
from coterie.diagnostics.votes import chosen_rounds
from coterie.plots.animation import AnimationFrame
from coterie.plots.chart import Axis, Chart, Line, Mark, Points
from coterie.plots.display import Display
from coterie.plots.plane import chart_axis

_MOST_ROWS = 600  # drawn, spread evenly over the table
_MOST_FRAMES = 60
_LOG_FROM = 30  # rounds, from which on the first are hard to see on a plain axis


class ResidualFitDisplay(Display):
    """Three plots for each of some rounds: rows and the prediction, residuals and the next tree, errors by round.

    The next tree is fitted to the residuals beside it. Where the error of the test rows rises while that of the
    training rows still falls, the trees fit noise. `animate` shows one round after the other.

    Parameters
    ----------
    steps : FitBySteps, the result of `coterie.diagnostics.fit_by_step`
    rounds : list of ints, or None
        After how many rounds, from 0. None: after the last, or with test rows after the best and the last. Default
        None: the rounds that people look for first.

    Examples
    --------
    >>> from coterie.ensemble import GradientBoostingRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 6, (100, 1))
    >>> y = np.sin(X[:, 0]) + rng.normal(0, 0.3, 100)
    >>> model = GradientBoostingRegressor(n_estimators=50, max_depth=3).fit(X[:60], y[:60])
    >>> display = ResidualFitDisplay.from_estimator(model, X[:60], y[:60], X[60:], y[60:], rounds=[0, 1, 50])
    >>> display
    ResidualFitDisplay(x0, 60 rows, rounds 0, 1, 50)
    >>> list(display.data)
    ['round', 'training_error', 'test_error']
    """

    def __init__(self, steps: FitBySteps, rounds: Any = None) -> None:
        self.steps = steps
        last, best = int(steps.rounds[-1]), steps.best_round
        if rounds is None:
            self.rounds = sorted({last} if best is None else {best, last})
        elif isinstance(rounds, str):
            self.rounds = chosen_rounds(rounds, last).tolist()
        else:
            given = np.atleast_1d(np.asarray(rounds)).tolist()
            known = set(steps.rounds.tolist())
            if not given or any(isinstance(own, bool) or own not in known for own in given):
                raise unexpected("rounds", rounds, f"None, 'all', or whole numbers from 0 to {last}")
            self.rounds = sorted(set(given))

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        y: Any,
        X_test: Any = None,
        y_test: Any = None,
        *,
        column: Any = 0,
        rounds: Any = None,
        resolution: int = 200,
    ) -> "ResidualFitDisplay":
        """Follow a fitted regressor along a column; parameters are those of `coterie.diagnostics.fit_by_step`."""
        steps = fit_by_step(model, X, y, X_test, y_test, column=column, resolution=resolution)
        return cls(steps, rounds)

    @property
    def data(self) -> dict[str, AnyArray]:
        """Columns "round", from 0, "training_error" and "test_error", which are mean squared errors."""
        return {
            "round": self.steps.rounds,
            "training_error": self.steps.training_error,
            "test_error": self.steps.test_error,
        }

    def panels(self) -> tuple[Chart, ...]:
        """Three plots for each of the rounds, at most six of which are shown."""
        shown = [self.rounds[place] for place in spread_evenly(len(self.rounds), 6)]
        return tuple(chart for number in shown for chart in self._charts(number))

    def chart(self) -> Chart:
        """The errors by round."""
        return self._errors(self.rounds[-1])

    def frames(self) -> list[AnimationFrame]:
        """Three plots for every round, of many rounds for sixty of them."""
        chosen = spread_evenly(len(self.steps.rounds), _MOST_FRAMES)
        return [AnimationFrame(_name_of(number), self._charts(number)) for number in chosen]

    def _charts(self, number: int) -> tuple[Chart, ...]:
        return self._fit(number), self._residuals(number), self._errors(number)

    def _fit(self, number: int) -> Chart:
        steps, rows = self.steps, self._drawn
        low, high = _limits(np.concatenate([steps.y[np.isfinite(steps.y)], steps.curves.ravel()]))
        return Chart(
            f"Prediction {_name_of(number)}",
            chart_axis(steps.x),
            Axis("target", low, high),
            (Line("prediction", steps.x.values, steps.curves[number], steps=False),),
            points=(Points("rows", steps.x.place[rows], steps.y[rows]),),
        )

    def _residuals(self, number: int) -> Chart:
        steps, rows = self.steps, self._drawn
        low, high = _limits(np.append(steps.y - steps.predictions[0], 0.0))
        x = chart_axis(steps.x)
        ends = np.array([x.low, x.high])
        zero = Line("zero", ends, np.zeros(2), faint=True)
        tree = steps.next_tree(number)  # nothing after the last round, and a colour all the same
        name = "next tree" if steps.learning_rate != 1 else "next step"
        lines = (zero, Line(name, steps.x.values, tree))
        title = f"Residuals {_name_of(number)}"
        points = (Points("residuals", steps.x.place[rows], steps.residuals(number)[rows]),)
        return Chart(title, x, Axis("target - prediction", low, high), lines, points=points)

    def _errors(self, number: int) -> Chart:
        steps = self.steps
        last = float(max(2, steps.rounds[-1]))
        first = 1 if last > _LOG_FROM else 0
        rounds = steps.rounds[first:].astype(np.float64)
        lines = [Line("training", rounds, steps.training_error[first:])]
        if steps.best_round is not None:
            label = f"test, least after {steps.best_round:,}"
            lines.append(Line(label, rounds, steps.test_error[first:]))
        top = 1.1 * float(max(np.nanmax(line.y) for line in lines)) or 1.0
        return Chart(
            "Mean squared error",
            Axis("round", float(first), last, log=bool(first)),
            Axis("mean squared error", 0.0, top),
            tuple(lines),
            (Mark(float(max(first, number)), f"round {number:,}"),),
        )

    @property
    def _drawn(self) -> AnyArray:
        n_rows = len(self.steps.y)
        return np.linspace(0, n_rows - 1, min(n_rows, _MOST_ROWS)).round().astype(np.int64)

    def __repr__(self) -> str:
        shown = ", ".join(map(str, self.rounds)) if len(self.rounds) <= 6 else f"{len(self.rounds)} of them"
        return f"ResidualFitDisplay({self.steps.x.name}, {len(self.steps.y):,} rows, rounds {shown})"


def _name_of(number: int) -> str:
    return "before round 1" if number == 0 else f"after round {number:,}"


def _limits(values: FloatArray) -> tuple[float, float]:
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    room = 0.06 * (high - low) or 0.5
    return low - room, high + room
