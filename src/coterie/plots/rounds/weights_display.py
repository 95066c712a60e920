"""Which rows AdaBoost looks at: their weights round by round, as curves, or as the sizes of points."""

from typing import Any

import numpy as np
from sklearn.base import is_classifier

from coterie._params import unexpected
from coterie._typing import AnyArray, FloatArray
from coterie.diagnostics.fit_by_step import spread_evenly
from coterie.diagnostics.regions import PlaneAxis, plane_axes
from coterie.diagnostics.row_weights import WeightsByRound, row_weights
from coterie.diagnostics.votes import chosen_rounds, codes_of
from coterie.errors import InvalidParameter
from coterie.plots.animation import AnimationFrame
from coterie.plots.chart import Axis, Chart, Line, Points
from coterie.plots.display import Display
from coterie.plots.plane import beside_each_other, chart_axis

_MOST_POINTS, _MOST_FAINT, _MOST_FRAMES, _MOST_PANELS = 400, 150, 60, 9
_N_HARDEST = 5
_SMALLEST, _LARGEST = 0.12, 40.0  # areas of points, where a row of mean weight has 1


class WeightsDisplay(Display):
    """The weights of the rows that AdaBoost was fitted to, before each round.

    With two columns, rows are points, as large as their weight: one plot for each of some rounds. Otherwise there is a
    curve for each row, and those with the largest mean weight have names. A weight of 1 is the mean.

    Parameters
    ----------
    weights : WeightsByRound, the result of `coterie.diagnostics.row_weights`
    plane : tuple of two PlaneAxis, or None, where the rows are
        Default None: the weights alone do not say where rows are.
    codes, classes : the class of each row as its place among the labels, and the labels; None for numbers
        Default None: the weights alone do not say what rows are.
    rounds : int, list of ints, "all" or None
        Before which rounds; None: some from the first to the last. Default None: four plots are enough to see weights
        move.
    drawn : bool, whether points show how often rows were drawn, instead of weights
        Default False: weights are what AdaBoost computes; draws are their sample.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from coterie import AdaBoostClassifier
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> model = AdaBoostClassifier(n_estimators=50).fit(X, y)
    >>> display = WeightsDisplay.from_estimator(model, X, y, columns=(0, 1), rounds=[1, 5, 50])
    >>> display
    WeightsDisplay(50 rounds, 200 rows)
    >>> display.data["weight"][:3]
    array([1., 1., 1.])
    """

    def __init__(
        self,
        weights: WeightsByRound,
        plane: tuple[PlaneAxis, PlaneAxis] | None = None,
        codes: AnyArray | None = None,
        classes: AnyArray | None = None,
        *,
        rounds: Any = None,
        drawn: bool = False,
    ) -> None:
        n_rounds = len(weights.weights) - 1
        if drawn and weights.draws is None:
            raise InvalidParameter.expecting(
                "drawn=True: members were given weights, and no rows were drawn",
                "False, or AdaBoost with method='resample'",
                "drawn",
                drawn,
            )
        if drawn and plane is None:
            raise unexpected(
                "drawn", drawn, "False without columns: rows that were drawn are shown as points"
            )
        self.weights, self.plane, self.codes, self.classes, self.drawn = weights, plane, codes, classes, drawn
        if rounds is None:
            self.rounds = [place + 1 for place in spread_evenly(n_rounds, 4)]
        else:
            self.rounds = chosen_rounds(rounds, n_rounds).tolist()

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        X: Any,
        y: Any,
        *,
        columns: Any = None,
        rounds: Any = None,
        drawn: bool = False,
        sample_weight: Any = None,
    ) -> "WeightsDisplay":
        """Follow a fitted AdaBoost; X, y and sample_weight are what it was fitted to.

        `columns` are two columns of X, by name or place, over which rows are shown as points.
        """
        weights = row_weights(model, X, y, sample_weight)
        plane = None if columns is None else plane_axes(X, columns, "WeightsDisplay")
        if not is_classifier(model):
            return cls(weights, plane, rounds=rounds, drawn=drawn)
        classes = np.asarray(model.classes_)
        codes = codes_of(y, classes, weights.weights.shape[1])
        return cls(weights, plane, codes, classes, rounds=rounds, drawn=drawn)

    @property
    def data(self) -> dict[str, AnyArray]:
        """Columns "round", "row", "weight", where the mean is 1, and perhaps "drawn"; one row for each shown round."""
        shares, n_rows = self._relative, self.weights.weights.shape[1]
        places = np.array(self.rounds) - 1
        found: dict[str, AnyArray] = {
            "round": np.repeat(self.rounds, n_rows),
            "row": np.tile(np.arange(n_rows), len(places)),
            "weight": shares[places].ravel(),
        }
        if self.weights.draws is not None:
            found["drawn"] = self.weights.draws[places].ravel()
        return found

    def panels(self) -> tuple[Chart, ...]:
        """A plot for each of the rounds, at most nine; or one plot of curves."""
        if self.plane is None:
            return (self._curves(len(self._relative)),)
        shown = [self.rounds[place] for place in spread_evenly(len(self.rounds), _MOST_PANELS)]
        return tuple(self._points_before(number) for number in shown)

    def frames(self) -> list[AnimationFrame]:
        """A frame for each round, of many rounds for sixty of them."""
        chosen = [place + 1 for place in spread_evenly(len(self._relative) - 1, _MOST_FRAMES)]
        if self.plane is None:
            return [AnimationFrame(f"before round {own:,}", (self._curves(own),)) for own in chosen]
        return [AnimationFrame(f"round {own:,}", (self._points_before(own),)) for own in chosen]

    @property
    def _relative(self) -> FloatArray:
        """Weights as multiples of the mean."""
        return np.asarray(self.weights.weights * self.weights.weights.shape[1])

    def _points_before(self, number: int) -> Chart:
        assert self.plane is not None
        x_axis, y_axis = self.plane
        size = self._relative[number - 1]
        if self.drawn and self.weights.draws is not None:
            size = self.weights.draws[number - 1].astype(np.float64)
        shown = np.flatnonzero(size > 0)
        if len(shown) > _MOST_POINTS:  # the largest, and the others evenly
            order = shown[np.argsort(-size[shown], kind="stable")]
            rest = np.linspace(_MOST_POINTS // 2, len(order) - 1, _MOST_POINTS // 2).round().astype(np.int64)
            shown = np.sort(np.unique(np.append(order[: _MOST_POINTS // 2], order[rest])))
        x, y = beside_each_other(x_axis, y_axis, np.arange(len(size)))
        area = np.clip(size, _SMALLEST, _LARGEST)
        if self.codes is None or self.classes is None:
            points: tuple[Points, ...] = (
                Points("rows", x[shown], y[shown], size=area[shown], outlined=True),
            )
        else:
            groups = [shown[self.codes[shown] == code] for code in range(len(self.classes))]
            points = tuple(
                Points(str(label), x[own], y[own], size=area[own], outlined=True)
                for label, own in zip(self.classes.tolist(), groups, strict=True)
            )
        what = "rows drawn in" if self.drawn else "weights in"
        return Chart(
            f"{what.capitalize()} round {number:,}", chart_axis(x_axis), chart_axis(y_axis), points=points
        )

    def _curves(self, last: int) -> Chart:
        """Weights before the rounds up to `last`."""
        relative = self._relative
        n_rows = relative.shape[1]
        rounds = np.arange(1.0, last + 1)
        hardest = self.weights.hardest(_N_HARDEST)
        faint = np.linspace(0, n_rows - 1, min(n_rows, _MOST_FAINT)).round().astype(np.int64)
        top = 1.05 * float(relative[:, np.append(hardest, faint)].max())
        lines = [Line(f"row {row}", rounds, relative[:last, row], faint=True) for row in faint.tolist()]
        lines += [Line(f"row {row}", rounds, relative[:last, row]) for row in hardest.tolist()]
        end = max(2.0, float(len(relative)))
        return Chart(
            f"Weights of {n_rows:,} rows",
            Axis("before round", 1.0, end),
            Axis("weight, where the mean is 1", 0.0, max(top, 1.2)),
            tuple(lines),
        )

    def __repr__(self) -> str:
        n_rounds, n_rows = len(self.weights.weights) - 1, self.weights.weights.shape[1]
        rounds = "1 round" if n_rounds == 1 else f"{n_rounds} rounds"
        return f"WeightsDisplay({rounds}, {n_rows:,} rows)"
