"""From the features of a table to what a network reads: numbers of one scale, flags of 0 and 1, and codes.

Words
  numbers  numeric columns, centred at their median, scaled by their quartiles, and bent towards 3 and -3 far out
  flags    1 where a numeric column is missing, and a column of 0 and 1 for each level of a column of few levels
  codes    columns of many levels, for which the network learns a vector for each level; the last code is "missing"
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from coterie._storage import expect, storable
from coterie._typing import AnyArray, FloatArray, RowArray
from coterie._value_types import FLOAT_VECTOR, INTEGERS
from coterie.data.encoding import Encoded

MOST_FLAGGED_LEVELS = 9  # a column of more has a learned vector for each level
_FURTHEST = 3.0  # no number is further from 0
_LARGEST = 1e6  # beyond it a number is as good as infinite


@dataclass(frozen=True)
class InputRows:
    """Rows as a network reads them.

    Attributes
    ----------
    numbers : float array of shape (n_rows, n_numbers)
    flags : float array of shape (n_rows, n_flags)
    codes : int array of shape (n_rows, n_coded), codes into one list of the levels of all coded columns
    """

    numbers: AnyArray
    flags: AnyArray
    codes: AnyArray

    def __len__(self) -> int:
        return len(self.numbers)

    def take(self, rows: AnyArray | slice) -> "InputRows":
        return InputRows(self.numbers[rows], self.flags[rows], self.codes[rows])


def _verify_inputs(inputs: Any) -> None:
    n_numbers, n_features = len(inputs.numeric), int(inputs.n_features)
    expect(len(inputs.centre) == len(inputs.scale) == len(inputs.largest) == n_numbers, "has unequal lengths")
    expect(bool((inputs.largest > 0).all()), "has a column whose largest number is not above 0")
    expect(bool(np.isfinite(np.concatenate([inputs.centre, inputs.scale])).all()), "has scales not finite")
    for names, counts in (("flagged", "n_flagged"), ("coded", "n_coded")):
        features, levels = getattr(inputs, names), getattr(inputs, counts)
        expect(len(features) == len(levels), f"has other numbers of levels than of {names} columns")
        expect(bool((levels > 0).all()), f"has a column among {names} ones that has no level")
    every = np.concatenate([inputs.numeric, inputs.flagged, inputs.coded])
    expect(np.array_equal(np.sort(every), np.arange(n_features)), "does not read every column once")
    inside = len(inputs.gaps) == 0 or 0 <= inputs.gaps.min() <= inputs.gaps.max() < n_numbers
    expect(inside, "has missing values in a numeric column that does not exist")


@storable(
    "networks.Inputs",
    {
        "numeric": INTEGERS,
        "largest": FLOAT_VECTOR,
        "centre": FLOAT_VECTOR,
        "scale": FLOAT_VECTOR,
        "gaps": INTEGERS,
        "flagged": INTEGERS,
        "n_flagged": INTEGERS,
        "coded": INTEGERS,
        "n_coded": INTEGERS,
    },
    verify=_verify_inputs,
)
@dataclass(frozen=True)
class NetworkInputs:
    """How the features of a table become inputs; learned by `learn_inputs`.

    Attributes
    ----------
    numeric, flagged, coded : the features that become numbers, flags and codes
    largest, centre, scale : of each numeric feature; the numbers are divided by the largest first, as the squares of
        large floats are not finite
    gaps : places among the numeric features that have a flag for what is missing
    n_flagged, n_coded : levels of the flagged and of the coded features
    """

    numeric: RowArray
    largest: FloatArray
    centre: FloatArray
    scale: FloatArray
    gaps: RowArray
    flagged: RowArray
    n_flagged: RowArray
    coded: RowArray
    n_coded: RowArray

    @property
    def n_features(self) -> int:
        return len(self.numeric) + len(self.flagged) + len(self.coded)

    @property
    def n_flags(self) -> int:
        return len(self.gaps) + int(self.n_flagged.sum())

    @property
    def n_levels(self) -> int:
        """Levels of all coded features together, "missing" being one of each."""
        return int(self.n_coded.sum()) + len(self.n_coded)

    def rows(self, encoded: Encoded, dtype: Any = np.float32) -> InputRows:
        """The inputs of each row."""
        n_rows = encoded.n_rows
        numbers = np.empty((n_rows, len(self.numeric)), dtype=dtype)
        missing = np.zeros((n_rows, len(self.numeric)), dtype=bool)
        for place, feature in enumerate(self.numeric.tolist()):
            values = np.asarray(column_of(encoded, feature), dtype=np.float64)
            missing[:, place] = np.isnan(values)
            numbers[:, place] = self._scaled(values, place)
        flags = [missing[:, self.gaps]]
        for feature, n_levels in zip(self.flagged.tolist(), self.n_flagged.tolist(), strict=True):
            codes = np.asarray(column_of(encoded, feature)).astype(np.int64)
            flags.append(codes[:, None] == np.arange(n_levels))
        codes = np.empty((n_rows, len(self.coded)), dtype=np.int64)
        start = 0
        for place, feature in enumerate(self.coded.tolist()):
            own, n_levels = np.asarray(column_of(encoded, feature)).astype(np.int64), int(self.n_coded[place])
            codes[:, place] = start + np.where((own >= 0) & (own < n_levels), own, n_levels)
            start += n_levels + 1
        return InputRows(numbers, np.hstack(flags).astype(dtype), codes)

    def _scaled(self, values: FloatArray, place: int) -> FloatArray:
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = (values / self.largest[place] - self.centre[place]) * self.scale[place]
        scaled = np.clip(
            np.nan_to_num(scaled, nan=0.0, posinf=_LARGEST, neginf=-_LARGEST), -_LARGEST, _LARGEST
        )
        return np.asarray(scaled / np.sqrt(1.0 + (scaled / _FURTHEST) ** 2))


def learn_inputs(encoded: Encoded, weight: FloatArray) -> NetworkInputs:
    """Medians, spreads and levels of some rows; a weight of 2 is the row twice."""
    n_levels = encoded.n_levels.astype(np.int64)
    numeric = np.flatnonzero(n_levels == 0)
    learned = [_centre_and_scale(column_of(encoded, feature), weight) for feature in numeric.tolist()]
    largest, centre, scale, has_gaps = np.array(learned, dtype=np.float64).reshape(-1, 4).T.copy()
    flagged = np.flatnonzero((n_levels > 0) & (n_levels <= MOST_FLAGGED_LEVELS))
    coded = np.flatnonzero(n_levels > MOST_FLAGGED_LEVELS)
    gaps = np.flatnonzero(has_gaps)
    return NetworkInputs(
        numeric, largest, centre, scale, gaps, flagged, n_levels[flagged], coded, n_levels[coded]
    )


def _centre_and_scale(values: AnyArray, weight: FloatArray) -> tuple[float, float, float, bool]:
    """The largest, the median, 1 over the distance of the quartiles, and whether something is missing.

    If the quartiles are the same, the scale is 2 over the range, and 0 if that is nothing.
    """
    numbers = np.asarray(values, dtype=np.float64)
    finite = np.isfinite(numbers)
    has_gaps = bool(np.isnan(numbers).any())
    if not finite.any():
        return 1.0, 0.0, 0.0, has_gaps
    largest = float(np.abs(numbers[finite]).max()) or 1.0
    shares = numbers[finite] / largest
    low, middle, high = weighted_quantiles(shares, weight[finite], (0.25, 0.5, 0.75))
    spread = high - low if high > low else (float(shares.max()) - float(shares.min())) / 2
    return largest, middle, 1.0 / spread if spread > 1e-12 else 0.0, has_gaps


def weighted_quantiles(values: FloatArray, weight: FloatArray, shares: tuple[float, ...]) -> list[float]:
    """The least values with at least such shares of the weight at or below them.

    Examples
    --------
    >>> weighted_quantiles(np.array([3.0, 1.0, 2.0]), np.array([1.0, 1.0, 2.0]), (0.25, 0.5, 1.0))
    [1.0, 2.0, 3.0]
    """
    order = np.argsort(values, kind="stable")
    below = np.cumsum(weight[order])
    places = np.searchsorted(below, np.multiply(shares, below[-1]), side="left")
    return [float(values[order[min(int(place), len(order) - 1)]]) for place in places]


def column_of(encoded: Encoded, feature: int) -> AnyArray:
    """The values of one feature."""
    values = encoded.values
    return values[feature] if isinstance(values, list) else values[:, feature]


def distinct_rows(encoded: Encoded, target: AnyArray) -> tuple[RowArray, RowArray]:
    """The first of all rows that are the same, in an order that follows from what they hold, and the place of each row.

    Rows and weights mean the same then: a row that stands in the table twice is one row of weight 2.

    Examples
    --------
    >>> table = Encoded(np.array([[2.0], [1.0], [2.0]]), 3, 1, np.zeros(1, dtype=np.int32))
    >>> distinct_rows(table, np.array([0, 1, 0]))
    (array([1, 0]), array([1, 0, 1]))
    """
    columns = [np.asarray(column_of(encoded, feature)) for feature in range(encoded.n_features)]
    order = np.lexsort((target, *columns[::-1]))
    is_new = np.zeros(len(order), dtype=bool)
    is_new[0] = True
    for values in (*columns, target):
        ordered = values[order]
        differs = ordered[1:] != ordered[:-1]
        if ordered.dtype.kind == "f":
            differs &= ~(np.isnan(ordered[1:]) & np.isnan(ordered[:-1]))
        is_new[1:] |= differs
    places = np.empty(len(order), dtype=np.int64)
    places[order] = np.cumsum(is_new) - 1
    return order[is_new], places
