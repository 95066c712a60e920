"""The result of `explain`: SHAP values as arrays, as text, and as bars in a notebook."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from coterie._optional import need
from coterie._params import Integer, unexpected
from coterie._typing import AnyArray, FloatArray
from coterie.explain.cells import cell_text
from coterie.explain.row_explanation import RowExplanation

_MAX_COLUMNS = 8  # that are named; the others are added up
_BY_ROW = (
    "values",
    "base_values",
    "data",
    "interactions",
    "standard_errors",
    "probabilities",
    "base_probabilities",
)


@dataclass(frozen=True)
class PartMethod:
    """How a part of a model was explained.

    Attributes
    ----------
    name : of the member, or of what else was explained, such as "temperature 0.9"
    weight : of the member, or None
    exact : bool, whether the values are exact for this background
    n_background : int, rows that were compared with
    n_permutations : int, orders of the columns that were sampled for each row, each with its reverse; 0 if exact
    """

    name: str
    weight: float | None
    exact: bool
    n_background: int
    n_permutations: int

    def __str__(self) -> str:
        share = "" if self.weight is None else f" (weight {self.weight:.2g})"
        how = (
            "exact for its trees"
            if self.exact
            else f"estimated from {self.n_permutations} orders of the columns and their reverses"
        )
        return f"{self.name}{share}: {how}, {self.n_background} rows of background"


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
        The values of the columns: numbers, labels, True or False, dates.
    column_names : names of the columns
    outputs : the label of each output, such as a class; None where there is only one output
    unit : what the predictions are: "prediction", "probability", "log-odds" or "raw prediction"
    interactions : float array, or None
        Of shape (n_rows, n_columns, n_columns) and perhaps n_outputs; each row of a matrix adds up to a value.
    standard_errors : float array of the shape of `values`, or None where they are exact
    probabilities, base_probabilities : float arrays of the shape of `base_values`, or None
        What predictions and base values are as probabilities, where they are raw predictions of classes.
    methods : tuple of PartMethod, how each member of a committee was explained; empty for other models
    """

    values: FloatArray
    base_values: FloatArray
    data: AnyArray
    column_names: tuple[str, ...]
    outputs: tuple[Any, ...]
    unit: str
    interactions: FloatArray | None = field(default=None, repr=False)
    standard_errors: FloatArray | None = field(default=None, repr=False)
    probabilities: FloatArray | None = field(default=None, repr=False)
    base_probabilities: FloatArray | None = field(default=None, repr=False)
    methods: tuple[PartMethod, ...] = ()

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, rows: int | slice) -> "Explanation":
        """Some of the rows."""
        if not isinstance(rows, slice):
            row = range(len(self))[rows]
            rows = slice(row, row + 1)
        parts = {name: getattr(self, name) for name in _BY_ROW}
        return replace(self, **{name: own[rows] for name, own in parts.items() if own is not None})

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

    def of_output(self, output: int | None = None) -> "Explanation":
        """One of the outputs alone, by its position in `outputs`; None is the last, as of two classes the second."""
        places = Integer(0, len(self.outputs) - 1)
        place = len(self.outputs) - 1 if output is None else output
        if not places.accepts(place):
            raise unexpected("output", output, f"{places.describe()} or None")
        if self.values.ndim == 2:
            return self
        parts = {name: getattr(self, name) for name in _BY_ROW if name != "data"}
        chosen = {name: own[..., place] for name, own in parts.items() if own is not None}
        return replace(self, outputs=(self.outputs[place],), **chosen)

    def to_text(self, row: int = 0, output: int | None = None, *, max_columns: int = _MAX_COLUMNS) -> str:
        """One prediction as text: a sentence, then the columns with the largest contributions.

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
        The prediction is 8; on average it is 4.
        +2.75  age = 55
        +1.25  shoe = 44
        """
        return self.for_row(row, output, max_columns=max_columns).to_text()

    def for_row(
        self, row: int = 0, output: int | None = None, *, max_columns: int = _MAX_COLUMNS
    ) -> RowExplanation:
        """The explanation of one prediction, which `to_text` and plots show; parameters are those of `to_text`."""
        rows = Integer(-len(self), len(self) - 1)
        if not rows.accepts(row):
            raise unexpected("row", row, rows.describe())
        several = self.values.ndim == 3
        if not Integer(0, len(self.outputs) - 1).accepts(0 if output is None else output):
            self.of_output(output)
        highest = int(np.argmax(self.predictions[row])) if several else 0
        own = self[row].of_output(highest if output is None else output)
        return own._only_row(max_columns)

    def _only_row(self, max_columns: int) -> RowExplanation:
        """The explanation of the only row and output."""
        values = self.values[0]
        order = np.argsort(-np.abs(values), kind="stable")
        named = [int(column) for column in order[:max_columns] if values[column] != 0]
        contributions = [
            (f"{self.column_names[column]} = {cell_text(self.data[0, column])}", float(values[column]))
            for column in named
        ]
        rest = [column for column in order.tolist() if column not in set(named) and values[column] != 0]
        if rest:
            others = f"{len(rest)} other column{'s' if len(rest) > 1 else ''} together"
            contributions.append((others, float(values[rest].sum())))
        errors = self.standard_errors
        return RowExplanation(
            float(self.predictions[0]),
            float(self.base_values[0]),
            self.unit,
            self.outputs[0],
            contributions,
            None if self.probabilities is None else float(self.probabilities[0]),
            None if self.base_probabilities is None else float(self.base_probabilities[0]),
            None if errors is None else float(errors[0].max(initial=0.0)),
        )

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
        rows = "".join(self.for_row(row).to_html() for row in range(min(5, len(self))))
        more = f"<p>and {len(self) - 5} more rows</p>" if len(self) > 5 else ""
        return f'<div style="font-family: sans-serif; font-size: 13px">{rows}{more}</div>'
