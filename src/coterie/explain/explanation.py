"""The result of `explain`: SHAP values as arrays, as text, and as bars in a notebook."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from math import floor, log10
from typing import Any

import numpy as np

from coterie._optional import need
from coterie._params import Integer, in_short, unexpected
from coterie._typing import AnyArray, FloatArray

_MAX_COLUMNS = 8  # that are named; the others are added up
_POSITIVE, _NEGATIVE = "#0072b2", "#d55e00"  # told apart by colour-blind eyes


@dataclass(frozen=True)
class Explanation:
    """The contribution of each column to each prediction: SHAP values.

    For every row and output, the base value plus the sum of `values` is the prediction.

    Attributes
    ----------
    values : float array of shape (n_rows, n_columns), or (n_rows, n_columns, n_outputs) for several outputs
    base_values : float array of shape (n_rows,) or (n_rows, n_outputs)
        The expected prediction before any column is known.
    data : object array of shape (n_rows, n_columns)
        The values of the columns.
    column_names : names of the columns
    outputs : the label of each output, such as a class; None where there is only one output
    unit : what the predictions are: "prediction", "probability", "log-odds" or "raw prediction"
    interactions : float array, or None
        Of shape (n_rows, n_columns, n_columns) and perhaps n_outputs; each row of a matrix adds up to a value.
    """

    values: FloatArray
    base_values: FloatArray
    data: AnyArray
    column_names: tuple[str, ...]
    outputs: tuple[Any, ...]
    unit: str
    interactions: FloatArray | None = field(default=None, repr=False)

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, rows: int | slice) -> "Explanation":
        """Some of the rows."""
        if not isinstance(rows, slice):
            row = range(len(self))[rows]
            rows = slice(row, row + 1)
        return Explanation(
            self.values[rows],
            self.base_values[rows],
            self.data[rows],
            self.column_names,
            self.outputs,
            self.unit,
            None if self.interactions is None else self.interactions[rows],
        )

    def __iter__(self) -> Iterator["Explanation"]:
        return (self[row] for row in range(len(self)))

    @property
    def predictions(self) -> FloatArray:
        """The predictions that are explained, in `unit`."""
        return np.asarray(self.base_values + self.values.sum(axis=1))

    @property
    def importance(self) -> FloatArray:
        """The mean absolute SHAP value of each column, over rows and outputs."""
        sizes = np.abs(self.values).mean(axis=0)
        return np.asarray(sizes if sizes.ndim == 1 else sizes.mean(axis=1))

    def to_text(self, row: int = 0, output: int | None = None, *, max_columns: int = _MAX_COLUMNS) -> str:
        """One prediction as text: its base value, then the columns with the largest contributions.

        Parameters
        ----------
        row : int
        output : int, the position of an output in `outputs`; None for the one with the highest prediction
        max_columns : int, how many columns to name

        Examples
        --------
        >>> from coterie.trees import DecisionTreeRegressor
        >>> table = {"age": [20, 20, 50, 50], "shoe": [38, 44, 38, 44]}
        >>> tree = DecisionTreeRegressor().fit(table, [1, 2, 5, 8])
        >>> print(tree.explain({"age": [55], "shoe": [44]}).to_text())
        prediction: 8 (base value 4)
        +2.75  age = 55
        +1.25  shoe = 44
        """
        own = self.for_row(row, output, max_columns=max_columns)
        signed = _signed([value for _, value in own.contributions])
        width = max(map(len, signed), default=0)
        names = [name for name, _ in own.contributions]
        lines = [f"{value:>{width}}  {name}" for value, name in zip(signed, names, strict=True)]
        return "\n".join([own.heading, *lines])

    def for_row(
        self, row: int = 0, output: int | None = None, *, max_columns: int = _MAX_COLUMNS
    ) -> "RowExplanation":
        """The explanation of one prediction, which `to_text` and plots show; parameters are those of `to_text`."""
        return RowExplanation.of(self, row, output, max_columns)

    def to_shap(self) -> Any:
        """The same for the plots of the package shap: `pip install 'coterie[explain]'`."""
        shap = need("shap", purpose="Explanation.to_shap", extra="explain")
        return shap.Explanation(
            values=self.values,
            base_values=self.base_values,
            data=self.data,
            feature_names=list(self.column_names),
            output_names=[str(output) for output in self.outputs] if self.values.ndim == 3 else None,
        )

    def _repr_html_(self) -> str:
        """Up to five rows, each with its columns as bars."""
        rows = "".join(_html_of(self.for_row(row)) for row in range(min(5, len(self))))
        more = f"<p>and {len(self) - 5} more rows</p>" if len(self) > 5 else ""
        return f'<div style="font-family: sans-serif; font-size: 13px">{rows}{more}</div>'


@dataclass(frozen=True)
class RowExplanation:
    """The explanation of one row and one output, with the largest contributions first.

    Attributes
    ----------
    prediction, base_value : float
    unit : what the prediction is, such as "log-odds"
    output : the label of the output, None where there is only one
    contributions : pairs of a text, such as "age = 37", and a SHAP value; the last one may be that of all other columns
    """

    prediction: float
    base_value: float
    unit: str
    output: Any
    contributions: list[tuple[str, float]]

    @property
    def heading(self) -> str:
        """The prediction and its base value as text."""
        what = self.unit if self.output is None else f"{self.unit} of {self.output}"
        return f"{what}: {self.prediction:.4g} (base value {self.base_value:.4g})"

    @classmethod
    def of(cls, whole: Explanation, row: int, output: int | None, max_columns: int) -> "RowExplanation":
        rows, outputs = Integer(-len(whole), len(whole) - 1), Integer(0, len(whole.outputs) - 1)
        if not rows.accepts(row):
            raise unexpected("row", row, rows.describe())
        values, base_value, prediction = whole.values[row], whole.base_values[row], whole.predictions[row]
        if values.ndim == 2:
            place = int(np.argmax(prediction)) if output is None else output
            if not outputs.accepts(place):
                raise unexpected("output", output, f"{outputs.describe()} or None")
            values, base_value, prediction = values[:, place], base_value[place], prediction[place]
        else:
            place = 0
        order = np.argsort(-np.abs(values), kind="stable")
        named = [int(column) for column in order[:max_columns] if values[column] != 0]
        contributions = [
            (f"{whole.column_names[column]} = {_shown(whole.data[row, column])}", float(values[column]))
            for column in named
        ]
        rest = [column for column in order.tolist() if column not in set(named) and values[column] != 0]
        if rest:
            others = f"{len(rest)} other column{'s' if len(rest) > 1 else ''} together"
            contributions.append((others, float(values[rest].sum())))
        return cls(float(prediction), float(base_value), whole.unit, whole.outputs[place], contributions)


def _html_of(row: RowExplanation) -> str:
    widest = max((abs(part) for _, part in row.contributions), default=1.0) or 1.0
    cells = []
    signed = _signed([part for _, part in row.contributions])
    for text, (name, part) in zip(signed, row.contributions, strict=True):
        width = 50 * abs(part) / widest
        left = 50 if part > 0 else 50 - width
        bar = (
            f'<div style="position: relative; width: 220px; height: 12px; background: #f2f2f2">'
            f'<div style="position: absolute; left: {left:.1f}%; width: {width:.1f}%; height: 100%; '
            f'background: {_POSITIVE if part > 0 else _NEGATIVE}"></div></div>'
        )
        cells.append(
            f'<tr><td style="text-align: right">{escape(name)}</td><td>{bar}</td>'
            f'<td style="text-align: right">{text}</td></tr>'
        )
    return f"<p>{escape(row.heading)}</p><table>{''.join(cells)}</table>"


def _signed(values: list[float]) -> list[str]:
    """Signed numbers with the same decimals, so that the largest has three digits."""
    largest = max(map(abs, values), default=0.0)
    if not 1e-4 < largest < 1e6:
        return [f"{value:+.3g}" for value in values]
    decimals = max(0, 2 - floor(log10(largest)))
    return [f"{value:+.{decimals}f}" for value in values]


def _shown(value: Any) -> str:
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return "missing"
    return f"{value:.6g}" if isinstance(value, float) else in_short(value)
