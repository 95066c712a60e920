"""What the columns contribute to a committee's predictions, and what its members' trees gained by them.

Members are summed up in different units: boosting in log-odds, forests in probabilities. So what is explained is the
committee's own prediction, `predict_proba` or `predict`, by interventional Shapley values. Those of a weighted mean are
the weighted mean of those of its members:

1. a member that is a mean or a sum of trees in these units is explained exactly;
2. the rest is explained by sampled orders of the columns: members that are something else, and the temperature, whose
   effect is the difference of the committee's probabilities and their plain mean.

Both use the same rows of the background, and both add up, so that the whole does.
"""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from sklearn.utils.validation import check_is_fitted

from coterie._params import Integer, root_seed
from coterie._typing import AnyArray, FloatArray, Kind, RowArray, SeedLike
from coterie.committee.fold_features import FeaturedModel
from coterie.committee.weights import apply_temperature
from coterie.data.mixed_rows import MixedRows
from coterie.data.parts import row_indexable, rows_of
from coterie.data.prepare import read_table
from coterie.data.table import Schema, Table
from coterie.errors import InvalidInput, InvalidParameter, SchemaMismatch
from coterie.explain.cells import cells_of
from coterie.explain.explanation import Explanation, PartMethod
from coterie.explain.sampled import ColumnOrders, sampled_values
from coterie.explain.tree_models import exact_values, gains_of
from coterie.members.out_of_fold import FoldEnsemble
from coterie.members.response import ResponseMethod

_LEAST_BACKGROUND = 10  # rows of X that can stand for a background
_MOST_CANDIDATES = 5_000  # rows of a background that are predicted to choose from
_MIN_COVERED = 0.5


class ExplainableCommittee(Protocol):
    """What the explanations need of a committee, which takes them as methods."""

    estimators_: list[FoldEnsemble]
    n_features_in_: int
    _questions: list[ResponseMethod]
    _shares: FloatArray


def explain(
    self: ExplainableCommittee,
    X: Any,
    *,
    background: Any = None,
    n_permutations: int = 64,
    random_state: SeedLike = 0,
) -> Explanation:
    """The contribution of each column to the committee's predictions for some rows: interventional SHAP values.

    Members that are trees in the units of the prediction, such as forests, are explained exactly; all other members,
    and the effect of the temperature, by sampled orders of the columns. `methods` of the result says what was done for
    each member.

    Parameters
    ----------
    X : a table with the columns of `fit`
    background : a table of the same kind, default=None
        Rows to compare with, such as those of `fit`: an unknown column takes their values. Of many rows some are
        taken, evenly spaced in the order of the committee's predictions for them. None: the rows of X, if they are ten
        or more. The rows of `fit` are not kept in the model.
    n_permutations : int, default=64
        Orders of the columns that are sampled for each row, each with its reverse. Half as many rows of the background
        are taken. A row costs 2 (n_columns - 1) n_permutations predictions; four times as many halve the errors.
    random_state : int, RandomState, Generator or None, default=0
        Draws the orders.

    Returns
    -------
    Explanation
        In probabilities of the classes, or in the units of the target. `values` and `base_values` add up to
        `predict_proba` or `predict`; `standard_errors` says how far estimated values may be off.

    References
    ----------
    Castro, Gomez and Tejada, Polynomial calculation of the Shapley value based on sampling (2009); Mitchell, Cooper,
    Frank and Holmes, Sampling permutations for Shapley value estimation (2022), for orders and their reverses.
    """
    check_is_fitted(self, "estimators_")
    if not Integer(2).accepts(n_permutations):
        raise InvalidParameter.expecting(
            f"n_permutations={n_permutations!r}", Integer(2).describe(), "n_permutations", n_permutations
        )
    return _CommitteeFunction(self).explained(X, background, int(n_permutations), root_seed(random_state))


def gain_importances(self: ExplainableCommittee) -> FloatArray:
    """What the trees of the members gained by each column, as shares with sum 1.

    The weighted mean of the members' own `feature_importances_`. Members that have none, such as linear models,
    networks and nearest neighbours, do not take part; a warning says so if they have more than half of the weight.
    `coterie.diagnostics.importance` measures the committee as a whole.
    """
    check_is_fitted(self, "estimators_")
    total, covered = np.zeros(self.n_features_in_), 0.0
    for member, share in zip(self.estimators_, self._shares, strict=True):
        gains = [_gains_by_column(model, self) for model in member.models]
        known = [own for own in gains if own is not None]
        if len(known) == len(gains):
            total += share * np.mean(known, axis=0)
            covered += float(share)
    if covered == 0.0:
        raise AttributeError(
            f"{type(self).__name__} has no feature_importances_: none of its members has them. "
            "coterie.diagnostics.importance measures any model by permutation."
        )
    if covered < _MIN_COVERED:
        warnings.warn(
            f"feature_importances_ are those of members with {covered:.0%} of the weight: the others have none. "
            "coterie.diagnostics.importance measures the committee as a whole.",
            UserWarning,
            stacklevel=2,
        )
    whole = total.sum()
    return total / whole if whole > 0 else total


def _gains_by_column(model: Any, committee: Any) -> FloatArray | None:
    """The importances of a model by the columns that the user gave; those of features made of a column count for it."""
    features = model.features if isinstance(model, FeaturedModel) else None
    gains = gains_of(model if features is None else model.model)
    if gains is None or features is None:
        return gains
    names = list(committee.feature_names_in_)
    total = np.zeros(len(names))
    for gain, made_from in zip(gains, features.sources(), strict=True):
        for name in made_from:
            total[names.index(name)] += gain / len(made_from)
    return total


@dataclass(frozen=True)
class _Rows:
    """Rows to explain, rows to compare with, and both mixed."""

    X: Any
    background: Any
    mixed: MixedRows


class _CommitteeFunction:
    """A committee as a function of a table, part of it exact."""

    def __init__(self, committee: Any) -> None:
        self.committee = committee
        self.owner = type(committee).__name__
        self.classes: AnyArray | None = getattr(committee, "classes_", None)
        self.temperature = float(getattr(committee, "temperature_", 1.0))
        self.names = [member.name for member in committee.estimators_]

    def explained(self, X: Any, background: Any, n_permutations: int, seed: int) -> Explanation:
        X, table = self._checked(X)
        rows, places = self._rows(X, background, table.n_rows, n_permutations)
        values, base_values, exact = self._exact_part(rows, table.n_rows, len(places))
        columns = self._sampled_members(exact)
        errors, orders = None, None
        if columns or self.temperature != 1.0:
            orders = ColumnOrders.drawn(table.n_columns, len(places), n_permutations, seed)
            at_rows, at_background = self._rest(rows.X, exact), self._rest(rows.background, exact)
            estimated, errors = sampled_values(
                lambda points: self._rest(points, exact), rows.mixed, at_rows, at_background, orders
            )
            values, base_values = values + estimated, base_values + at_background.mean(axis=0)
        base = np.tile(base_values, (table.n_rows, 1))
        outputs: tuple[Any, ...] = (None,) if self.classes is None else tuple(self.classes.tolist())
        if self.classes is None:
            values, base = values[:, :, 0], base[:, 0]
            errors = None if errors is None else errors[:, :, 0]
        return Explanation(
            values,
            base,
            cells_of(X, table),
            tuple(table.label(column) for column in range(table.n_columns)),
            outputs,
            "prediction" if self.classes is None else "probability",
            standard_errors=errors,
            methods=self._methods(exact, len(places), orders),
        )

    def _checked(self, X: Any, parameter: str = "X") -> tuple[Any, Table]:
        """The table in a form that rows can be taken of, its columns in the order of fit; and as it is read."""
        known = getattr(self.committee, "feature_names_in_", None)
        names = None if known is None else tuple(map(str, known))
        kinds: list[Kind] = ["numeric"] * int(self.committee.n_features_in_)
        schema = Schema(names, tuple(kinds))  # names and number are checked here, kinds by the members
        try:
            table = schema.check(read_table(X), self.owner)
        except SchemaMismatch as error:
            if parameter == "X":
                raise
            raise SchemaMismatch(
                f"{parameter}: {error.message}",
                parameter=parameter,
                received=error.received,
                allowed=error.allowed,
                hint=error.hint,
                column=error.column,
            ) from error
        X = row_indexable(X)
        if isinstance(X, Mapping) and names is not None:
            X = {name: X[name] for name in names}
        return X, table

    def _rows(self, X: Any, background: Any, n_rows: int, n_permutations: int) -> tuple[_Rows, RowArray]:
        """The rows, and which of the background are compared with."""
        if background is None and n_rows < _LEAST_BACKGROUND:
            raise InvalidInput(
                f"{self.owner}.explain: X has {n_rows} rows, too few to compare with.",
                parameter="background",
                received=n_rows,
                allowed=f"a background, or an X of {_LEAST_BACKGROUND} rows",
                hint="Pass background=X_train, or some of its rows.",
            )
        given, n_given = X, n_rows
        if background is not None:
            given, table = self._checked(background, "background")
            n_given = table.n_rows
        candidates = _evenly_spaced(n_given, _MOST_CANDIDATES)
        predictions = self._whole(rows_of(given, candidates))
        column = int(np.argmax(predictions.var(axis=0)))
        in_order = candidates[np.argsort(predictions[:, column], kind="stable")]
        places = np.sort(in_order[_evenly_spaced(len(in_order), max(1, n_permutations // 2))])
        chosen = rows_of(given, places)
        return _Rows(X, chosen, MixedRows(X, chosen)), places

    def _exact_part(
        self, rows: _Rows, n_rows: int, n_background: int
    ) -> tuple[FloatArray, FloatArray, list[bool]]:
        """The contributions of members that are explained exactly, their base values, and which members these are."""
        n_outputs = 1 if self.classes is None else len(self.classes)
        values = np.zeros((n_rows, int(self.committee.n_features_in_), n_outputs))
        base, exact = np.zeros(n_outputs), []
        members = zip(
            self.committee.estimators_, self.committee._questions, self.committee._shares, strict=True
        )
        for member, response, share in members:
            parts = [] if response.is_vote else self._exact_models(member.models, rows)
            exact.append(bool(parts))
            for own, own_base in parts:
                values += share / len(parts) * own
                base += share / len(parts) * own_base
        return values, base, exact

    def _exact_models(self, models: Sequence[Any], rows: _Rows) -> list[tuple[FloatArray, FloatArray]]:
        """Contributions and base values of each model, or none at all if one of them is no sum of trees."""
        found = []
        for model in models:
            same = self.classes is None or np.array_equal(getattr(model, "classes_", ()), self.classes)
            unit = "prediction" if self.classes is None else "probability"
            own = exact_values(model, rows.X, rows.background, unit) if same else None
            if own is None:
                return []
            found.append(own)
        return found

    def _sampled_members(self, exact: Sequence[bool]) -> list[str]:
        return [name for name, is_exact in zip(self.names, exact, strict=True) if not is_exact]

    def _members(self, X: Any, which: Sequence[bool]) -> FloatArray:
        """The weighted sum of the predictions of some members."""
        parts = zip(
            self.committee.estimators_, self.committee._questions, self.committee._shares, which, strict=True
        )
        total: Any = 0.0
        for member, response, share, takes_part in parts:
            if takes_part:
                total = total + share * member.mean_of(response, X)
        return np.asarray(total)

    def _whole(self, X: Any) -> FloatArray:
        """The committee's predictions, shape (n_rows, n_outputs)."""
        mean = self._members(X, [True] * len(self.names))
        return mean if self.temperature == 1.0 else apply_temperature(mean, self.temperature)

    def _rest(self, X: Any, exact: Sequence[bool]) -> FloatArray:
        """The predictions less those of the members that are explained exactly."""
        estimated = self._members(X, [not is_exact for is_exact in exact])
        if self.temperature == 1.0:
            return estimated
        known = self._members(X, exact)
        return np.asarray(apply_temperature(known + estimated, self.temperature) - known)

    def _methods(
        self, exact: Sequence[bool], n_background: int, orders: ColumnOrders | None
    ) -> tuple[PartMethod, ...]:
        n_permutations = 0 if orders is None else orders.n_permutations
        parts = [
            PartMethod(name, float(share), is_exact, n_background, 0 if is_exact else n_permutations)
            for name, share, is_exact in zip(self.names, self.committee._shares, exact, strict=True)
        ]
        if self.temperature != 1.0:
            parts.append(
                PartMethod(f"temperature {self.temperature:.3g}", None, False, n_background, n_permutations)
            )
        return tuple(parts)


def _evenly_spaced(n_rows: int, most: int) -> RowArray:
    """At most so many row numbers, from the middles of equal parts."""
    n = min(n_rows, most)
    return ((np.arange(n) + 0.5) * n_rows / n).astype(np.int64)
