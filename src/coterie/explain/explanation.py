"""The result of `explain`: numbers first, then words and a small picture."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from math import floor, log10
from typing import Any

import numpy as np

from coterie._optional import need
from coterie._params import Whole, in_short
from coterie._typing import AnyArray, FloatArray
from coterie.errors import InvalidParameter

__all__ = ["Explanation"]

_SHOWN = 8  # columns that are named in words; the others are added up
_MORE, _LESS = "#0072b2", "#d55e00"  # told apart by colour-blind eyes


@dataclass(frozen=True)
class Explanation:
    """What each column brought to each answer. For every row and output, `base` plus the sum of `values` is `scores`.

    Attributes
    ----------
    values : float array of shape (n_rows, n_columns), or (n_rows, n_columns, n_outputs) for several outputs
    base : float array of shape (n_rows,) or (n_rows, n_outputs)
        What is expected before a column is known.
    data : object array of shape (n_rows, n_columns)
        What the columns hold.
    names : names of the columns
    outputs : what each output speaks of, such as a class
    unit : what the scores are, in words
    interactions : float array, or None
        Of shape (n_rows, n_columns, n_columns) and perhaps n_outputs; each row of a matrix adds up to a value.
    """

    values: FloatArray
    base: FloatArray
    data: AnyArray
    names: tuple[str, ...]
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
            self.base[rows],
            self.data[rows],
            self.names,
            self.outputs,
            self.unit,
            None if self.interactions is None else self.interactions[rows],
        )

    def __iter__(self) -> Iterator["Explanation"]:
        return (self[row] for row in range(len(self)))

    @property
    def scores(self) -> FloatArray:
        """The answers that are explained, in `unit`."""
        return np.asarray(self.base + self.values.sum(axis=1))

    @property
    def importance(self) -> FloatArray:
        """The mean size of each column's values, over rows and outputs."""
        sizes = np.abs(self.values).mean(axis=0)
        return np.asarray(sizes if sizes.ndim == 1 else sizes.mean(axis=1))

    def words(self, row: int = 0, output: int | None = None, *, most: int = _SHOWN) -> str:
        """One answer in words: where it starts, then the columns that moved it most.

        Parameters
        ----------
        row : int
        output : int, the place of an output in `outputs`; None for the one with the highest score
        most : int, how many columns to name

        Examples
        --------
        >>> from coterie.trees import DecisionTreeRegressor
        >>> table = {"age": [20, 20, 50, 50], "shoe": [38, 44, 38, 44]}
        >>> tree = DecisionTreeRegressor().fit(table, [1, 2, 5, 8])
        >>> print(tree.explain({"age": [55], "shoe": [44]}).words())
        8 is the prediction; 4 is expected before anything is known
        +2.75  age = 55
        +1.25  shoe = 44
        """
        line = self.line(row, output, most=most)
        what = f" for {line.output}" if len(self.outputs) > 1 or line.output is not None else ""
        text = [
            f"{_number(line.score)} is the {self.unit}{what}; {_number(line.base)} is expected before anything is known"
        ]
        signed = _signed([part for _, part in line.parts])
        width = max(map(len, signed), default=0)
        text += [f"{part:>{width}}  {name}" for part, (name, _) in zip(signed, line.parts, strict=True)]
        return "\n".join(text)

    def line(self, row: int = 0, output: int | None = None, *, most: int = _SHOWN) -> "ExplanationLine":
        """The same as numbers: what `words` and pictures are made of."""
        return ExplanationLine.of(self, row, output, most)

    def to_shap(self) -> Any:
        """The same for the plots of the package shap: `pip install 'coterie[explain]'`."""
        shap = need("shap", purpose="Explanation.to_shap", extra="explain")
        return shap.Explanation(
            values=self.values,
            base_values=self.base,
            data=self.data,
            feature_names=list(self.names),
            output_names=[str(output) for output in self.outputs] if self.values.ndim == 3 else None,
        )

    def _repr_html_(self) -> str:
        """Up to five rows, each with its columns as bars."""
        rows = "".join(_html_of(self.line(row), self.unit) for row in range(min(5, len(self))))
        more = f"<p>and {len(self) - 5} more rows</p>" if len(self) > 5 else ""
        return f'<div style="font-family: sans-serif; font-size: 13px">{rows}{more}</div>'


@dataclass(frozen=True)
class ExplanationLine:
    """One row and one output: its score, where it starts, and the parts by size.

    Attributes
    ----------
    score, base : float
    output : what the score speaks of, None if there is one output only
    parts : pairs of a text, such as "age = 37", and what that brought; the last one may be that of all other columns
    """

    score: float
    base: float
    output: Any
    parts: list[tuple[str, float]]

    @classmethod
    def of(cls, whole: Explanation, row: int, output: int | None, most: int) -> "ExplanationLine":
        if not Whole(-len(whole), len(whole) - 1).accepts(row):
            raise InvalidParameter(f"row={in_short(row)}: expected the number of one of {len(whole)} rows.")
        values, base, score = whole.values[row], whole.base[row], whole.scores[row]
        if values.ndim == 2:
            place = int(np.argmax(score)) if output is None else output
            if not Whole(0, len(whole.outputs) - 1).accepts(place):
                raise InvalidParameter(
                    f"output={in_short(output)}: expected None, or a whole number from 0 to {len(whole.outputs) - 1}."
                )
            values, base, score = values[:, place], base[place], score[place]
        else:
            place = 0
        order = np.argsort(-np.abs(values), kind="stable")
        named = [int(column) for column in order[:most] if values[column] != 0]
        parts = [
            (f"{whole.names[column]} = {_shown(whole.data[row, column])}", float(values[column]))
            for column in named
        ]
        rest = [column for column in order.tolist() if column not in set(named) and values[column] != 0]
        if rest:
            others = f"{len(rest)} other column{'s' if len(rest) > 1 else ''} together"
            parts.append((others, float(values[rest].sum())))
        return cls(float(score), float(base), whole.outputs[place], parts)


def _html_of(line: ExplanationLine, unit: str) -> str:
    widest = max((abs(part) for _, part in line.parts), default=1.0) or 1.0
    what = "" if line.output is None else f" for {escape(str(line.output))}"
    cells = []
    signed = _signed([part for _, part in line.parts])
    for said, (name, part) in zip(signed, line.parts, strict=True):
        width = 50 * abs(part) / widest
        left = 50 if part > 0 else 50 - width
        bar = (
            f'<div style="position: relative; width: 220px; height: 12px; background: #f2f2f2">'
            f'<div style="position: absolute; left: {left:.1f}%; width: {width:.1f}%; height: 100%; '
            f'background: {_MORE if part > 0 else _LESS}"></div></div>'
        )
        cells.append(
            f'<tr><td style="text-align: right">{escape(name)}</td><td>{bar}</td>'
            f'<td style="text-align: right">{said}</td></tr>'
        )
    head = (
        f"<b>{_number(line.score)}</b> is the {escape(unit)}{what}; {_number(line.base)} is expected before anything "
        "is known"
    )
    return f"<p>{head}</p><table>{''.join(cells)}</table>"


def _number(value: float) -> str:
    return f"{value:.4g}"


def _signed(values: list[float]) -> list[str]:
    """All with as many decimals, so that the largest has three digits."""
    largest = max(map(abs, values), default=0.0)
    if not 1e-4 < largest < 1e6:
        return [f"{value:+.3g}" for value in values]
    decimals = max(0, 2 - floor(log10(largest)))
    return [f"{value:+.{decimals}f}" for value in values]


def _shown(value: Any) -> str:
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return "missing"
    return f"{value:.6g}" if isinstance(value, float) else in_short(value)
