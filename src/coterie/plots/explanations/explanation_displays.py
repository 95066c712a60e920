"""Explanations as pictures: the contributions to one prediction, and those of many rows at once."""

from typing import Any

import numpy as np

from coterie._params import Integer, unexpected
from coterie._typing import AnyArray, FloatArray
from coterie.explain import Explanation
from coterie.explain.cells import ordered_values
from coterie.plots.chart import MAX_LABEL_LENGTH, Axis, Bars, Chart, Mark, ShadedPoints
from coterie.plots.display import Display

_MOST_POINTS = 300  # for each column; more are a blot, and a large file
_N_PILES = 60  # along the axis, for points that would lie on each other


class ExplanationDisplay(Display):
    """A bar for each of the largest contributions to one prediction, and one for all other columns together.

    Parameters
    ----------
    explained : Explanation, the result of `explain` of a tree model
    row : int, which of its rows
        Default 0: `explain` is often called for one row.
    output : int or None, which of its outputs; None for the one with the highest prediction
        Default None: people ask why this class was predicted.
    max_columns : int, how many columns have a bar of their own; `data` holds all
        Default 10: more bars are hard to read, and the last one sums up the rest.

    Examples
    --------
    >>> from coterie.trees import DecisionTreeRegressor
    >>> tree = DecisionTreeRegressor().fit({"age": [20, 20, 50, 50], "shoe": [38, 44, 38, 44]}, [1, 2, 5, 8])
    >>> display = ExplanationDisplay(tree.explain({"age": [55], "shoe": [44]}))
    >>> display.data["column"].tolist(), display.data["value"].round(2).tolist()
    (['age = 55', 'shoe = 44'], [2.75, 1.25])
    """

    def __init__(
        self, explained: Explanation, row: int = 0, output: int | None = None, max_columns: int = 10
    ) -> None:
        if not Integer(1).accepts(max_columns):
            raise unexpected("max_columns", max_columns, Integer(1).describe())
        self.explained, self.row, self.output, self.max_columns = explained, row, output, max_columns
        self._row = explained.for_row(row, output, max_columns=max_columns)

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any, row: int = 0, output: int | None = None, *, max_columns: int = 10
    ) -> "ExplanationDisplay":
        """Explain the prediction of a fitted tree model for a row of X."""
        return cls(model.explain(X), row, output, max_columns)

    @property
    def data(self) -> dict[str, AnyArray]:
        """Columns "column", such as "age = 37", and "value", its SHAP value; the largest first."""
        n_columns = len(self.explained.column_names)
        parts = self.explained.for_row(self.row, self.output, max_columns=n_columns).contributions
        return {
            "column": np.array([name for name, _ in parts], dtype=object).astype(str),
            "value": np.array([part for _, part in parts], dtype=np.float64),
        }

    def chart(self) -> Chart:
        parts = self._row.contributions[::-1] or [("no column", 0.0)]
        values: FloatArray = np.array([part for _, part in parts])
        reach = 1.08 * max(float(np.abs(values).max()), 1e-300)
        low, high = (0.0 if values.min() >= 0 else -reach), (0.0 if values.max() <= 0 else reach)
        bars = [Bars("increases it", np.maximum(values, 0.0)), Bars("decreases it", np.minimum(values, 0.0))]
        return Chart(
            self._row.heading,
            Axis(f"contribution to the {self.explained.unit} (SHAP value)", low, high if high > low else 1.0),
            Axis("", -0.6, len(parts) - 0.4, names=tuple(_shortened(name) for name, _ in parts)),
            bars=tuple(bars),
            marks=(Mark(0.0),) if low < 0 < high else (),
        )

    def __repr__(self) -> str:
        return f"ExplanationDisplay(row {self.row} of {len(self.explained)})"


def _shortened(part: str) -> str:
    """A label that fits: of a long one the name of the column is cut, not its value."""
    name, equals, held = part.removesuffix(" together").rpartition(" = ")
    room = MAX_LABEL_LENGTH - len(equals) - len(held)
    if len(name) <= room or room < 4:
        return name + equals + held
    return name[: room - 2] + " …" + equals + held


class BeeswarmDisplay(Display):
    """The contributions of the most important columns in many rows: a point for each row, coloured by its value.

    Parameters
    ----------
    explained : Explanation, the result of `explain` for many rows
    output : int or None, which of its outputs; None is the last, as of two classes the second
        Default None: the class that `predict_proba` gives last, which is usually the event.
    max_columns : int, how many columns are shown; `data` holds all
        Default 10: more cannot be read in one picture.

    Examples
    --------
    >>> from coterie.trees import DecisionTreeRegressor
    >>> table = {"age": [20, 20, 50, 50], "shoe": [38, 44, 38, 44]}
    >>> display = BeeswarmDisplay(DecisionTreeRegressor().fit(table, [1, 2, 5, 8]).explain(table))
    >>> display, display.data["contribution"][:4].round(2).tolist()
    (BeeswarmDisplay(4 rows, 2 columns), [-2.25, -2.75, 2.25, 2.75])
    """

    def __init__(self, explained: Explanation, output: int | None = None, max_columns: int = 10) -> None:
        if not Integer(1).accepts(max_columns):
            raise unexpected("max_columns", max_columns, Integer(1).describe())
        self.explained, self.max_columns = explained.of_output(output), max_columns

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any, output: int | None = None, *, max_columns: int = 10, **options: Any
    ) -> "BeeswarmDisplay":
        """Explain the predictions of a fitted model for some rows; `options` are those of its `explain`."""
        return cls(model.explain(X, **options), output, max_columns)

    @property
    def _order(self) -> AnyArray:
        """Places of the columns, those with the largest contributions first."""
        return np.argsort(-self.explained.importance, kind="stable")

    @property
    def data(self) -> dict[str, AnyArray]:
        """Columns "column", "contribution" and "rank": that of the value in its column, from 0 to 1; NaN for labels.

        All rows of the most important column come first, then those of the next.
        """
        order, explained = self._order, self.explained
        names = np.repeat(np.array(explained.column_names)[order], len(explained))
        ranks = [_ranks(explained.data[:, column]) for column in order]
        return {
            "column": names,
            "contribution": explained.values[:, order].T.ravel(),
            "rank": np.concatenate(ranks),
        }

    def chart(self) -> Chart:
        explained, order = self.explained, self._order[: self.max_columns][::-1]
        some = np.linspace(0, len(explained) - 1, min(len(explained), _MOST_POINTS)).round().astype(np.intp)
        values = explained.values[some][:, order]
        reach = 0.04 * float(np.ptp(values)) or 1.0
        low, high = min(0.0, float(values.min())) - reach, max(0.0, float(values.max())) + reach
        heights = [place + _offsets(values[:, place], low, high) for place in range(len(order))]
        shades = [_ranks(explained.data[:, column])[some] for column in order]
        of = "" if explained.outputs[0] is None else f" of {explained.outputs[0]}"
        hidden = len(explained.column_names) - len(order)
        more = f"; {hidden} more column{'s are' if hidden > 1 else ' is'} not shown" if hidden else ""
        grey = "; labels and missing values are grey" if np.isnan(shades).any() else ""
        all_rows = "" if len(some) == len(explained) else f" of {len(explained):,}"
        return Chart(
            f"Contributions in {len(some):,}{all_rows} rows{grey}{more}",
            Axis(f"contribution to the {explained.unit}{of} (SHAP value)", low, high),
            Axis("", -0.6, len(order) - 0.4, names=tuple(explained.column_names[place] for place in order)),
            marks=(Mark(0.0),),
            shaded=ShadedPoints(
                "value of the column",
                values.T.ravel(),
                np.concatenate(heights),
                np.concatenate(shades),
            ),
        )

    def __repr__(self) -> str:
        return f"BeeswarmDisplay({len(self.explained)} rows, {len(self.explained.column_names)} columns)"


def _ranks(values: AnyArray) -> FloatArray:
    """The rank of each value among those of its column, from 0 to 1; NaN for labels and missing values."""
    numbers = ordered_values(values)
    known = np.isfinite(numbers)
    distinct, place = np.unique(numbers[known], return_inverse=True)
    ranks = np.full(len(values), np.nan)
    ranks[known] = place / (len(distinct) - 1) if len(distinct) > 1 else 0.5
    return ranks


def _offsets(values: FloatArray, low: float, high: float) -> FloatArray:
    """How far each point is moved up or down, so that points at the same place form a pile around the middle.

    Examples
    --------
    >>> _offsets(np.array([0.5, 0.5, 0.5, 0.1]), 0.0, 1.0).round(2).tolist()
    [0.0, 0.06, -0.06, 0.0]
    """
    pile = np.floor((values - low) / (high - low) * _N_PILES)
    offsets = np.zeros(len(values))
    for one in np.unique(pile):
        rows = np.flatnonzero(pile == one)
        number = np.arange(len(rows))
        offsets[rows] = np.where(number % 2 == 1, 1, -1) * ((number + 1) // 2)
    widest = float(np.abs(offsets).max(initial=0.0))
    return np.asarray(offsets * min(0.06, 0.4 / widest if widest else 1.0))
