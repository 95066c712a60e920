"""Models that were trained elsewhere and predict here."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Never

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from coterie._documentation import documented
from coterie._engine import Forest, usable_threads
from coterie._params import resolve_n_jobs
from coterie._reported import report_model
from coterie._storage import Fitted, expect, storable, storable_estimator, stored_as
from coterie._typing import AnyArray, FloatArray
from coterie._value_types import FLOATS, INTEGERS, LABELS, NUMBER, TEXT, instance
from coterie.data.encoding import Encoded
from coterie.data.levels import is_number
from coterie.errors import InvalidInput
from coterie.export.readers.raw_tree import Coding
from coterie.export.readers.table_reader import TableReader, ZeroIsMissing
from coterie.fitting.estimator import set_any_table
from coterie.trees.column_readings import (
    Reading,
    Readings,
    Values,
    WholeNumbers,
    WithoutNumber,
    WithoutZero,
    column_names,
    look_up,
    text_or_numbers,
)
from coterie.trees.links import ClassLink, Hinge, Logistic, NumberLink, OneVersusRest, Shares, Softmax
from coterie.trees.split_counts import split_counts_of, splits_of_forest
from coterie.trees.tree_sum import TreeSum, as_matrix, labels_by_target, trees_of_outputs


def readings_of_imported(reader: TableReader) -> Readings:
    """How an imported model reads its columns; categories whose labels it does not know are numbers."""
    names = column_names(reader.schema)
    columns: list[Reading] = [Values(column) for column in range(len(names))]
    text = set()
    for column, labels in reader.labels.by_column.items():
        has_text = not all(is_number(label) for label in labels)
        if has_text or reader.labels.for_numbers:
            keys = text_or_numbers(np.array(list(labels), dtype=object), names[column])
            columns[column] = look_up(column, keys, np.arange(len(labels)))
            if has_text:
                text.add(column)
    if reader.missing is not None:
        columns = [WithoutNumber(own, reader.missing) for own in columns]
    features = [_imported_reading(columns[each.column], each.reading) for each in reader.features]
    return Readings(names, frozenset(text), features)


def _imported_reading(source: Reading, reading: Any) -> Reading:
    if isinstance(reading, ZeroIsMissing):
        return WithoutZero(source)
    if isinstance(reading, Coding):
        codes = reading.codes.astype(np.float64)
        return WholeNumbers(source, np.asarray(reading.categories, np.float64), codes, reading.single)
    return source


@storable(
    "import.Recipe",
    {
        "reader": instance(TableReader),
        "start": FLOATS | stored_as("import.InitModel"),
        "divisor": NUMBER,
        "leaf_ids": INTEGERS,
        "first_id": INTEGERS,
    },
)
@dataclass(frozen=True)
class Recipe:
    """Everything between a table and the predictions, except the trees.

    Attributes
    ----------
    reader : from a table to features.
    start : the scores before the first tree, for all rows alike or as a function of the features.
    divisor : by what the sum is divided.
    leaf_ids : how the other library calls the nodes, tree after tree.
    first_id : where those of each tree begin.
    """

    reader: TableReader
    start: FloatArray | Callable[[Encoded], FloatArray]
    divisor: float
    leaf_ids: AnyArray
    first_id: AnyArray


_IMPORTED: Fitted = {
    "forest_": instance(Forest),
    "recipe_": instance(Recipe),
    "objective_": TEXT,
    "source_": TEXT,
}


def _verify_imported(model: Any) -> None:
    if "forest_" not in vars(model):
        return
    for name in ("recipe_", "link_"):
        expect(name in vars(model), f"has no {name!r}")
    recipe = model.recipe_
    expect(model.forest_.n_features == len(recipe.reader.features), "has trees of another table")
    if isinstance(recipe.start, np.ndarray):
        expect(
            recipe.start.size in (1, model.forest_.n_outputs), "starts from other scores than its trees have"
        )
    expect(len(recipe.first_id) == len(model.forest_), "numbers the leaves of other trees")
    if "n_features_in_" in vars(model):
        expect(model.n_features_in_ == recipe.reader.schema.n_features, "has columns of another table")


class _Imported(BaseEstimator):
    """What imported classifiers and regressors share."""

    forest_: Any
    link_: Any
    source_: str
    recipe_: Recipe

    report = report_model

    def __init__(self, *, n_jobs: int | None = None) -> None:
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None, **kwargs: Any) -> Never:
        """Raise an error: the model was trained elsewhere, and stays as it is."""
        raise InvalidInput(
            f"{type(self).__name__} was trained elsewhere and cannot be fitted.",
            hint="Train the original again and import it, or wrap the model in sklearn.frozen.FrozenEstimator where "
            "fit is called on every part.",
        )

    def _threads(self) -> int:
        return usable_threads(resolve_n_jobs(self.n_jobs))

    def apply(self, X: Any) -> AnyArray:
        """The leaf that each row reaches in each tree, numbered as in the original; shape (n_rows, n_trees)."""
        encoded = self._read(X)
        n_trees = len(self.forest_)
        leaves = np.empty(encoded.n_rows * n_trees, dtype=np.uint32)
        self.forest_.find_leaves(encoded.values, encoded.n_levels, leaves, self._threads())
        places = leaves.reshape(encoded.n_rows, n_trees).astype(np.int64) + self.recipe_.first_id
        return np.asarray(self.recipe_.leaf_ids[places])

    def _read(self, X: Any) -> Encoded:
        return self._fitted_recipe().reader.read(X, type(self).__name__)

    def _fitted_recipe(self) -> Recipe:
        check_is_fitted(
            self, "forest_", msg="This %(name)s is empty: coterie.export.import_model makes full ones."
        )
        return self.recipe_

    def _scores(self, X: Any) -> FloatArray:
        """The raw predictions: the sum of the trees, shape (n_rows, n_outputs)."""
        encoded = self._read(X)
        start = self.recipe_.start
        scores = np.empty((encoded.n_rows, self.forest_.n_outputs))
        scores[:] = start(encoded) if callable(start) else start
        self.forest_.add_scores(encoded.values, encoded.n_levels, scores.reshape(-1), self._threads())
        if self.recipe_.divisor != 1:
            scores /= self.recipe_.divisor
        return scores

    def split_counts(self) -> FloatArray:
        """How often each column is split on, over all trees."""
        reader = self._fitted_recipe().reader
        by_feature = split_counts_of(splits_of_forest(self.forest_), len(reader.features))
        columns = [feature.column for feature in reader.features]
        return np.bincount(columns, by_feature, minlength=reader.schema.n_features).astype(np.float64)

    def tree_sum(self) -> TreeSum:
        """The model as parts that other formats are written from: readings of columns, trees, a start and a link."""
        recipe = self._fitted_recipe()
        if callable(recipe.start):
            raise InvalidInput(
                f"The {self.source_} model starts from the predictions of another model (init), which is no tree.",
                parameter="init",
                received=recipe.start,
                allowed="None",
                hint="Train it without init.",
            )
        start = np.zeros(self.forest_.n_outputs)
        start[:] = recipe.start
        return TreeSum(
            type(self).__name__,
            readings_of_imported(recipe.reader),
            trees_of_outputs(self.forest_),
            start,
            self.link_,
            labels_by_target(self),
            divisor=float(recipe.divisor),
        )

    def tree_features(self, X: Any) -> FloatArray:
        """The matrix that the trees see of a table: categories are codes, NaN is where a value is missing."""
        return as_matrix(self._read(X))

    def __sklearn_clone__(self) -> "_Imported":
        return self  # there is nothing to learn anew

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "forest_")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        set_any_table(tags)
        tags.requires_fit = False
        return tags


_TEXTS = """\
    n_jobs : int or None
        The number of threads. Default None: every core, because predictions are the same for any number.

    Attributes
    ----------
{classes}    source_ : str
        The library that trained the model.
    objective_ : str
        What it minimised, in the words of that library; empty if that is not known.
    n_features_in_ : int
    feature_names_in_ : array of str
        Only if the model knows names.
    forest_ : Forest
        The trees on coterie's engine.
    recipe_ : Recipe
        How rows become features, and sums of trees raw predictions.
    link_ : the link from raw predictions to predictions
"""
_CLASSES = """\
    classes_ : array of shape (n_classes,)
        The labels, or 0, 1, ... if the model does not know them.
"""


@storable_estimator(verify=_verify_imported)
@documented(_TEXTS.format(classes=""))
class ImportedRegressor(RegressorMixin, _Imported):
    """A regressor that another library trained, or a ranker, or any model that predicts a number.

    The functions of `coterie.export` make such models; `fit` raises an error.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> from coterie.export import import_model
    >>> tree = DecisionTreeRegressor().fit([[1.0], [2.0], [3.0]], [10.0, 20.0, 30.0])
    >>> import_model(tree).predict([[1.2], [2.9]])
    array([10., 30.])
    """

    FITTED: ClassVar[Fitted] = {**_IMPORTED, "link_": instance(NumberLink)}

    link_: NumberLink

    def predict(self, X: Any) -> FloatArray:
        """The prediction for each row; with several outputs, a column for each."""
        scores = self._scores(X)
        return self.link_.predictions(scores)


def _has_scores(model: Any) -> bool:
    return hasattr(model, "link_") and model.link_.has_scores


@storable_estimator(verify=_verify_imported)
@documented(_TEXTS.format(classes=_CLASSES))
class ImportedClassifier(ClassifierMixin, _Imported):
    """A classifier that another library trained.

    The functions of `coterie.export` make such models; `fit` raises an error.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from coterie.export import import_model
    >>> forest = RandomForestClassifier(10, random_state=0).fit([[1.0], [2.0], [7.0], [8.0]], ["a", "a", "b", "b"])
    >>> import_model(forest).predict([[1.5], [7.5]])
    array(['a', 'b'], dtype='<U1')
    """

    FITTED: ClassVar[Fitted] = {
        **_IMPORTED,
        "classes_": LABELS,
        "link_": instance(Logistic, Hinge, Softmax, OneVersusRest, Shares),
    }

    link_: ClassLink
    classes_: AnyArray

    @available_if(_has_scores)  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> FloatArray:
        """The scores before the link: one for each row with two classes, otherwise one for each class.

        Forests, whose trees predict probabilities, do not have it.
        """
        scores = self._scores(X)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predict_proba(self, X: Any) -> FloatArray:
        """The probability of each class, in the order of `classes_`."""
        scores = self._scores(X)
        return self.link_.probabilities(scores)

    def predict_log_proba(self, X: Any) -> FloatArray:
        """The logarithm of `predict_proba`."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> AnyArray:
        """The class of each row."""
        scores = self._scores(X)
        return np.asarray(self.classes_[self.link_.chosen(scores)])
