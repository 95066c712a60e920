"""A transformer that puts columns beside those of a table which are made of them and help to predict."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import narwhals.stable.v2 as nw
import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from coterie._params import Integer, OneOf, Rule, Seed, root_seed, spawn_seeds, unexpected
from coterie._storage import Fitted, expect, storable_estimator
from coterie._typing import AnyArray, Auto, FloatArray, RowArray, SeedLike, Task
from coterie._value_types import FLOATS, TEXT, instance, list_of
from coterie.committee.any_target import read_any_target
from coterie.committee.features.candidates import TableColumns, Targets, candidates_of
from coterie.committee.features.recipes import RECIPE, Columns, Recipe, TargetMeanBy
from coterie.committee.features.screening import (
    Screening,
    SmallFit,
    additive_residuals,
    chosen_candidates,
    is_better,
)
from coterie.data.encoding import Encoded
from coterie.data.frames import eager_frame, is_frame
from coterie.data.groups import read_groups
from coterie.data.parts import row_indexable, rows_of
from coterie.data.prepare import Encoder, read_table
from coterie.data.table import Schema, Table
from coterie.data.weight import combined_weight, read_weight
from coterie.fitting.estimator import forget, set_any_table

_FEWEST_ROWS = 60  # of fewer rows nothing can be said of what is left to explain
_MOST_LOOKED_AT = 20_000  # rows that candidates are judged by
_RULES: dict[str, Rule] = {
    "max_features": Integer(1),
    "task": OneOf("auto", "classification", "regression"),
    "random_state": Seed(),
}
_N_PARTS = 5  # of the rows, for means of the target without a row's own


def _verify(features: Any) -> None:
    held = vars(features)
    if "recipes_" not in held:
        return
    n_columns = features._schema.n_features
    inside = all(0 <= place < n_columns for recipe in features.recipes_ for place in recipe.sources)
    expect(inside, "has a recipe of a column that does not exist")
    expect(len(features.gains_) == len(features.recipes_), "has gains of other columns than its recipes")


@storable_estimator("GeneratedFeatures", verify=_verify)
class GeneratedFeatures(TransformerMixin, BaseEstimator):
    """Columns made of columns: sums, ratios, means by level, counts and the like, as far as they help to predict.

    Trees need many splits to follow a ratio, or the distance from the mean of a town, and one if there is such a
    column. Some hundred candidates are compared with what the columns of the table do not explain one by one, on rows
    that had no part in finding that out. The best are put beside the columns of the table, which stay as they are, if a
    small gradient boosting with them is better on rows that it left out.

    | made of | columns, by name |
    |---|---|
    | two numbers | `area + garden`, `area - garden`, `area * rooms`, `area / rooms` |
    | a number and levels | `mean of area by town`, `standard deviation of ...`, `area - mean of area by town` |
    | levels | `count of town & kind`, `mean of the target by town & kind`, `share of yes by town & kind` |

    Parameters
    ----------
    max_features : int
        Columns at most that are put beside those of the table. Default 12: the best explain most, and each column
        costs time in every tree.
    task : {"auto", "classification", "regression"}
        "auto": numbers are regression if one of them has a fraction or more than twenty differ; all else are classes.
        Default "auto": the target usually shows it.
    n_jobs : int or None
        Threads of the gradient boosting. Default None: every core.
    random_state : int, RandomState, Generator or None
        Draws the rows that are left out. Default None: a new seed for each fit, as in scikit-learn; a number makes it
        repeatable.

    Attributes
    ----------
    recipes_ : list of what the new columns are made of, the one that explains most first
    gains_ : float array of shape (n_new_columns,)
        By what share each explains, on rows held out, what columns do not explain one by one.
    n_features_in_ : int
    feature_names_in_ : array of str, if the table had names

    Notes
    -----
    Nothing is made of rows that `fit` was not given: in a pipeline, and in a committee, that is inside the folds.
    `fit_transform` gives the rows of fit means of the target without their own target, and `transform` gives new
    rows means of all; so `fit(X, y).transform(X)` is not `fit_transform(X, y)`, as for scikit-learn's TargetEncoder.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = {"debt": rng.uniform(1, 9, 400), "income": rng.uniform(1, 9, 400)}
    >>> y = np.where(X["debt"] > X["income"], "late", "paid")
    >>> features = GeneratedFeatures(max_features=1, random_state=0).fit(X, y)
    >>> features.get_feature_names_out().tolist()
    ['debt', 'income', 'debt - income']
    >>> features.transform({"debt": [6.0], "income": [4.0]})["debt - income"]
    array([2.])

    References
    ----------
    Zhang and others, OpenFE: automated feature generation with expert-level performance (2023), for candidates that
    are compared with what a boosting of the table left unexplained.
    """

    FITTED: ClassVar[Fitted] = {
        "recipes_": list_of(RECIPE),
        "gains_": FLOATS,
        "_schema": instance(Schema),
        "_encoder": instance(Encoder),
        "_names": list_of(TEXT),
    }

    def __init__(
        self,
        max_features: int = 12,
        *,
        task: Auto | Task = "auto",
        n_jobs: int | None = None,
        random_state: SeedLike = None,
    ) -> None:
        self.max_features = max_features
        self.task = task
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Learn which columns help, and what they need to know.

        Parameters
        ----------
        X : any table
        y : labels or numbers, one for each row
        sample_weight : how often each row counts
        groups : rows of a group are in the same part whenever rows are left out
        """
        self._fit(X, y, sample_weight, groups)
        return self

    def fit_transform(self, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Any:
        """`fit`, and the rows of fit with the new columns: means of the target are those of other rows."""
        return _beside(X, self._made_of_fit(*self._fit(X, y, sample_weight, groups)), self._names)

    def transform(self, X: Any) -> Any:
        """The table with the new columns last: a frame stays a frame, a dict a dict, and numbers stay an array."""
        check_is_fitted(self, "recipes_")
        table = self._schema.check(read_table(X), type(self).__name__)
        columns = _as_numbers(self._encoder.transform(table))
        return _beside(
            X, {name: recipe.values(columns) for name, recipe in self._made().items()}, self._names
        )

    def get_feature_names_out(self, input_features: Any = None) -> AnyArray:
        """Names of the columns of `transform`; `input_features` is not needed."""
        check_is_fitted(self, "recipes_")
        return np.array([*self._names, *self._made()], dtype=object)

    def sources(self) -> list[tuple[str, ...]]:
        """For each column of `transform` the columns that it was made from."""
        check_is_fitted(self, "recipes_")
        kept = [(name,) for name in self._names]
        return kept + [tuple(self._names[place] for place in recipe.sources) for recipe in self.recipes_]

    def _made(self) -> dict[str, Recipe]:
        return {recipe.name(self._names): recipe for recipe in self.recipes_}

    def _made_of_fit(self, columns: Columns, given: "_GivenRows", parts: RowArray) -> dict[str, FloatArray]:
        """The new columns of rows of fit: means of the target are those of rows of other parts."""
        by_label = dict(zip(given.targets.labels, given.targets.columns, strict=True))
        return {
            name: recipe.out_of_fold(columns, by_label[recipe.label], given.weight, parts)
            if isinstance(recipe, TargetMeanBy)
            else recipe.values(columns)
            for name, recipe in self._made().items()
        }

    def _fit(self, X: Any, y: Any, sample_weight: Any, groups: Any) -> "tuple[Columns, _GivenRows, RowArray]":
        for name, rule in _RULES.items():
            if not rule.accepts(getattr(self, name)):
                raise unexpected(name, getattr(self, name), rule.describe(), owner=type(self).__name__)
        forget(self)
        X, table = row_indexable(X), read_table(X)
        given = _GivenRows.of(table, y, sample_weight, groups, self.task)
        seeds = [int(own) for own in spawn_seeds(root_seed(self.random_state), 4) >> 32]
        self._encoder = Encoder()
        columns = _as_numbers(self._encoder.fit_transform(table))
        self._schema = Schema.of(table, self._encoder.n_levels > 0)
        self._schema.set_feature_names(self)
        self._names = [table.label(place) for place in range(table.n_columns)]
        self.recipes_: list[Recipe] = []
        self.gains_: FloatArray = np.zeros(0)
        parts = _parts(len(given.weight), given.groups, _N_PARTS, seeds[0])
        if int((given.weight > 0).sum()) >= _FEWEST_ROWS:
            known = TableColumns(columns, self._names, (self._encoder.n_levels > 0).tolist())
            self._choose(X, known, given, seeds[1:])
        return columns, given, parts

    def _choose(self, X: Any, table: TableColumns, given: "_GivenRows", seeds: list[int]) -> None:
        """Keep the candidates that are chosen, if a small boosting is better with them on rows that it left out."""
        rows = _some_rows(given.weight, _MOST_LOOKED_AT, seeds[0])
        groups = None if given.groups is None else given.groups[rows]
        weight = given.weight[rows] if given.is_weighted else None
        fit = SmallFit(given.y[rows], weight, groups, given.task, seeds[1], self.n_jobs)
        part = rows_of(X, rows)
        plain = fit.model(part)
        importances = np.asarray(plain.feature_importances_)
        candidates = candidates_of(table, importances, given.weight, given.targets, rows)
        half = _parts(len(rows), groups, 2, seeds[2]) == 0
        screening = Screening(additive_residuals(fit, part), given.weight[rows], half)
        chosen = chosen_candidates(screening, [one.bins for one in candidates], int(self.max_features))
        found = [(recipe, gain) for place, gain in chosen for recipe in candidates[place].learn()]
        found = [(own, gain) for own, gain in found if own.name(self._names) not in self._names]
        self.recipes_, self.gains_ = [own for own, _ in found], np.array([gain for _, gain in found])
        del self.recipes_[int(self.max_features) :]
        self.gains_ = self.gains_[: len(self.recipes_)]
        if self.recipes_:
            columns = [column[rows] for column in table.values]
            made = self._made_of_fit(columns, given.take(rows), _parts(len(rows), groups, _N_PARTS, seeds[0]))
            larger = fit.model(_beside(part, made, self._names))
            if not is_better(fit.losses(larger), fit.losses(plain), given.weight[rows]):
                self.recipes_, self.gains_ = [], np.zeros(0)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        set_any_table(tags)
        tags.target_tags.required = True
        return tags


@dataclass(frozen=True)
class _GivenRows:
    """What `fit` was given beside the table, checked.

    Attributes
    ----------
    y : labels, or numbers
    weight : 1 for each row without sample weights
    groups : numbers of the groups, or None
    targets : the columns whose means by key may be taken
    """

    task: Task
    y: AnyArray
    weight: FloatArray
    is_weighted: bool
    groups: RowArray | None
    targets: Targets

    @classmethod
    def of(cls, table: Table, y: Any, sample_weight: Any, groups: Any, task: str) -> "_GivenRows":
        found, target = read_any_target(y, task, table.n_rows, "GeneratedFeatures")
        weight = combined_weight(read_weight(sample_weight, table.n_rows), None)
        codes = None if groups is None else read_groups(groups, table.n_rows).astype(np.int64)
        if target.classes is None:
            values = np.asarray(target.values, dtype=np.float64)
            targets = Targets((values,), (None,))
        else:
            values = np.asarray(target.classes)[target.values]
            targets = Targets.of_classes(target.values, np.asarray(target.classes).tolist())
        known = np.ones(table.n_rows) if weight is None else weight
        return cls(found, values, known, weight is not None, codes, targets)

    def take(self, rows: RowArray) -> "_GivenRows":
        groups = None if self.groups is None else self.groups[rows]
        targets = Targets(tuple(own[rows] for own in self.targets.columns), self.targets.labels)
        return replace(self, y=self.y[rows], weight=self.weight[rows], groups=groups, targets=targets)


def _as_numbers(encoded: Encoded) -> list[FloatArray]:
    """Each column as float64, NaN where missing; of labels their places, also of those that share a group."""
    columns = list(encoded.values.T) if isinstance(encoded.values, np.ndarray) else encoded.values
    found = []
    for place, values in enumerate(columns):
        own = np.asarray(encoded.fine_codes.get(place, values), dtype=np.float64)
        found.append(np.where(own < 0, np.nan, own) if encoded.n_levels[place] else own)
    return found


def _parts(n_rows: int, groups: RowArray | None, n_parts: int, seed: int) -> RowArray:
    """The part of each row, as many rows in each as can be; rows of a group are in the same."""
    codes = np.arange(n_rows) if groups is None else np.unique(groups, return_inverse=True)[1]
    return np.random.default_rng(seed).permutation(int(codes.max()) + 1)[codes] % n_parts


def _some_rows(weight: FloatArray, most: int, seed: int) -> RowArray:
    """Rows with weight, of very many some at random."""
    rows = np.flatnonzero(weight > 0)
    if len(rows) <= most:
        return rows
    return np.sort(np.random.default_rng(seed).choice(rows, most, replace=False))


def _beside(X: Any, made: dict[str, FloatArray], names: list[str]) -> Any:
    """The table with more columns, in its own kind."""
    if isinstance(X, Mapping):
        return {**X, **made}
    table = read_table(X)
    if is_frame(X) and table.names is not None:
        frame = eager_frame(nw.to_native(X, pass_through=True))
        new = [nw.new_series(name, values, backend=frame.implementation) for name, values in made.items()]
        return nw.to_native(frame.with_columns(*new))
    if table.matrix is not None:
        return np.column_stack([table.matrix, *made.values()])
    array = np.asarray(X, dtype=object)
    return {name: array[:, place] for place, name in enumerate(names)} | made
