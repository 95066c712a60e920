"""Parts of the table in which the model is worse than elsewhere, in words.

A small regression tree is grown on the errors of one half of the rows. Its leaves with the largest errors are then
measured on the other half, which had no part in choosing them: so the errors and their intervals are honest.
"""

from dataclasses import dataclass

import numpy as np
from scipy.stats import norm

from coterie._typing import AnyArray, FloatArray
from coterie.data.table import Column, Table
from coterie.report.columns.values import FEW_ROWS, column_part, missing_rows, number_text, short_text
from coterie.report.content import Block, Cell, Paragraph, Section, TableBlock
from coterie.report.errors.row_errors import RowErrors, row_errors
from coterie.report.evaluated_model import EvaluatedModel, JudgedRows
from coterie.report.forms.number_format import format_number, percent, plural
from coterie.trees import DecisionTreeRegressor

_LEAST_ROWS = 120
_DEPTH = 3
_LEAST_SHARE = 0.04  # of the rows of a half, that a leaf must hold
_MOST_SLICES = 5
_MOST_LEVELS = 12
_MOST_NAMED = 3  # labels that a condition lists
_MOST_COLUMNS = 40
_CONFIDENCE = 0.95
_OTHER = "another label"


@dataclass(frozen=True)
class Slice:
    """Rows that meet all conditions.

    Attributes
    ----------
    words : the conditions as text
    rows : of the half that measures, which are inside
    error : their mean error
    low, high : its interval, so wide that all slices together are in theirs 95 % of the time
    """

    words: str
    rows: AnyArray
    error: float
    low: float
    high: float


@dataclass(frozen=True)
class _Condition:
    """A branch of the tree: a column, and the numbers or labels that go there."""

    column: int
    low: float = -np.inf
    high: float = np.inf
    labels: frozenset[str] | None = None
    missing: bool = False

    def narrowed(self, other: "_Condition") -> "_Condition":
        both = self.labels & other.labels if self.labels is not None and other.labels is not None else None
        low, high = max(self.low, other.low), min(self.high, other.high)
        return _Condition(self.column, low, high, both, self.missing and other.missing)


def weak_slices_section(evaluated: EvaluatedModel, judged: JudgedRows, columns: list[int]) -> Section:
    """`columns`: those that conditions may be about, the most important first."""
    key, title = "weak_slices", "Weak slices"
    errors = row_errors(judged.predictions, is_regression=evaluated.classes is None)
    if len(errors.values) < _LEAST_ROWS:
        reason = f"it takes at least {_LEAST_ROWS} rows to find and to measure them; here are {len(errors.values)}."
        return Section(key, title, reason=reason)
    if float(np.ptp(errors.values)) == 0:
        return Section(key, title, reason="all rows have the same error.")
    table = _selected(evaluated.table, columns[:_MOST_COLUMNS], judged.rows)
    dates, flags = (
        frozenset(at for at, place in enumerate(columns[:_MOST_COLUMNS]) if place in kind)
        for kind in (evaluated.dates, evaluated.flags)
    )
    names = [evaluated.column_names[place] for place in columns[:_MOST_COLUMNS]]
    slices, measuring = weak_slices(table, names, errors.values, dates, evaluated.seed, flags)
    overall = float(errors.values[measuring].mean())
    worse = [own for own in slices if own.low > overall]
    text = (
        f"A small tree, grown on the {_plain(errors)} of half of the rows, looks for parts of the table that are "
        f"predicted worse than the rest; the other half measures them. {_verdict(worse, slices, errors, overall)}"
    )
    blocks: list[Block] = [Paragraph(text)]
    if slices:
        blocks.append(_table(slices, errors, len(measuring), overall))
    return Section(key, title, tuple(blocks))


def _plain(errors: RowErrors) -> str:
    return "errors" if errors.name == "error rate" else errors.name


def _verdict(worse: list[Slice], slices: list[Slice], errors: RowErrors, overall: float) -> str:
    if not slices:
        return "It found none: the errors are much the same everywhere."
    if not worse:
        return "None of those it found is clearly worse than the mean of all rows: their intervals hold it."
    first = worse[0]
    return (
        f"The {errors.name} is {format_number(first.error)} where {first.words}, and {format_number(overall)} over "
        "all rows: collect more rows like these, or look for a column that explains them."
    )


def weak_slices(
    table: Table,
    names: list[str],
    errors: FloatArray,
    dates: frozenset[int],
    seed: int,
    flags: frozenset[int] = frozenset(),
) -> tuple[list[Slice], AnyArray]:
    """The slices, the worst of the finding half first, and the rows of the half that measures them."""
    order = np.random.default_rng(seed).permutation(len(errors))
    finding, measuring = np.sort(order[: len(order) // 2]), np.sort(order[len(order) // 2 :])
    held = [_simplified(table.column(place)) for place in range(table.n_columns)]
    at = {f"c{place}": place for place in range(len(held))}
    least = max(20, round(_LEAST_SHARE * len(finding)))
    tree = DecisionTreeRegressor(max_depth=_DEPTH, min_samples_leaf=least)
    tree.fit({name: held[place][finding] for name, place in at.items()}, errors[finding])
    leaves = tree.apply({name: values[finding] for name, values in zip(at, held, strict=True)})
    means = {int(leaf): float(errors[finding][leaves == leaf].mean()) for leaf in np.unique(leaves)}
    middle = float(errors[finding].mean())
    worst = [leaf for leaf in sorted(means, key=lambda leaf: -means[leaf]) if means[leaf] > middle][
        :_MOST_SLICES
    ]
    reached = tree.apply({name: values[measuring] for name, values in zip(at, held, strict=True)})
    wide = float(norm.ppf(1 - (1 - _CONFIDENCE) / 2 / max(1, len(worst))))
    slices = []
    for leaf in worst:
        rows = np.flatnonzero(reached == leaf)
        if len(rows) < 2 or leaf == 0:
            continue
        own = errors[measuring][rows]
        mean, half = float(own.mean()), wide * float(own.std(ddof=1)) / np.sqrt(len(own))
        conditions = _conditions(tree, leaf, held)
        words = " and ".join(_words(each, names, table, dates, flags, held) for each in conditions)
        slices.append(Slice(words, measuring[rows], mean, max(0.0, mean - half), mean + half))
    return slices, measuring


def _selected(table: Table, columns: list[int], rows: AnyArray) -> Table:
    parts = [column_part(table.column(place), rows) for place in columns]
    return Table(len(rows), None, columns=tuple(parts))


def _simplified(column: Column) -> AnyArray:
    """Numbers, or the most frequent labels; rare ones are one label together."""
    if column.levels is None:
        return np.asarray(column.values, dtype=np.float64)
    counts = np.bincount(column.values[column.values >= 0], minlength=len(column.levels))
    frequent = set(np.argsort(-counts, kind="stable")[:_MOST_LEVELS].tolist())
    few = max(FEW_ROWS, len(column.values) // 100)
    texts = np.array(
        [
            short_text(str(level)) if place in frequent and counts[place] >= few else _OTHER
            for place, level in enumerate(column.levels.tolist())
        ]
        + [None],
        dtype=object,
    )
    found: AnyArray = texts[column.values]
    return found


def _conditions(tree: DecisionTreeRegressor, leaf: int, held: list[AnyArray]) -> list[_Condition]:
    """The branches from the root to a leaf; those about one column are one condition."""
    grown, path = tree.tree_, []
    node = leaf
    while node > 0:
        [parent] = np.flatnonzero((grown.children_left == node) | (grown.children_right == node)).tolist()
        path.append((parent, bool(grown.children_left[parent] == node)))
        node = parent
    found: dict[int, _Condition] = {}
    for parent, goes_left in reversed(path):
        column = int(grown.feature[parent])
        own = _condition(tree, parent, goes_left, column, held)
        found[column] = found[column].narrowed(own) if column in found else own
    return list(found.values())


def _condition(
    tree: DecisionTreeRegressor, node: int, goes_left: bool, column: int, held: list[AnyArray]
) -> _Condition:
    grown = tree.tree_
    missing = bool(grown.missing_go_to_left[node]) == goes_left
    levels = tree.encoder_.levels(column)
    if held[column].dtype.kind == "f":
        threshold = float(grown.threshold[node])
        low, high = (-np.inf, threshold) if goes_left else (threshold, np.inf)
        return _Condition(column, low, high, None, missing)
    assert levels is not None
    going_left = grown.levels_going_left(node)[tree.encoder_.codes(column)]
    here = frozenset(
        str(level) for level, left in zip(levels, going_left, strict=True) if bool(left) == goes_left
    )
    return _Condition(column, labels=here, missing=missing)


def _words(
    own: _Condition,
    names: list[str],
    table: Table,
    dates: frozenset[int],
    flags: frozenset[int],
    held: list[AnyArray],
) -> str:
    name, column = names[own.column], table.column(own.column)
    has_missing = bool(missing_rows(column).any())
    or_missing = " or is missing" if own.missing and has_missing else ""
    if own.labels is None:
        if own.column in flags and np.isinf(own.low) != np.isinf(own.high):
            return f"{name} is {np.isinf(own.high)}"
        is_date = own.column in dates
        low, high = (number_text(value, is_date=is_date) for value in (own.low, own.high))
        if np.isinf(own.low) and np.isinf(own.high):
            return f"{name} is {'missing' if own.missing else 'known'}"
        if np.isinf(own.low):
            return f"{name} is at most {high}{or_missing}"
        if np.isinf(own.high):
            return f"{name} is above {low}{or_missing}"
        return f"{name} is above {low} and at most {high}{or_missing}"
    every = {text for text in held[own.column].tolist() if text is not None}
    inside, outside = sorted(own.labels & every), sorted(every - own.labels)
    if not inside:
        return f"{name} is missing"
    if not outside:
        return f"{name} is known" if has_missing and not own.missing else f"{name} is anything"
    if len(outside) < len(inside) and not (has_missing and not own.missing):
        return f"{name} is not {_listed(outside)}"
    return f"{name} is {_listed(inside)}{or_missing}"


def _listed(texts: list[str]) -> str:
    quoted = [text if text == _OTHER else f"“{text}”" for text in texts]
    if len(quoted) == 1:
        return quoted[0]
    if len(quoted) <= _MOST_NAMED:
        return f"{', '.join(quoted[:-1])} or {quoted[-1]}"
    return f"one of {len(quoted)} labels ({', '.join(quoted[:_MOST_NAMED])} …)"


def _table(slices: list[Slice], errors: RowErrors, n_measuring: int, overall: float) -> TableBlock:
    rows: list[tuple[Cell, ...]] = [("all rows", n_measuring, percent(1.0), overall, None, None)]
    rows += [
        (own.words, len(own.rows), percent(len(own.rows) / n_measuring), own.error, own.low, own.high)
        for own in slices
    ]
    caption = (
        f"Measured on {plural(n_measuring, 'row')} that had no part in finding the slices. CI: confidence interval; "
        f"the {plural(len(slices), 'interval')} hold together with 95 % confidence."
    )
    return TableBlock(
        ("slice", "rows", "share", f"mean {errors.name}", "CI low", "CI high"),
        tuple(rows),
        caption,
        interval=(3, 4, 5),
    )
