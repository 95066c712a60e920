"""Texts and dates as features of members: learned for each fold from the rows to learn from, once for all members."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone

from coterie._storage import storable
from coterie._typing import AnyArray, FloatArray, RowArray
from coterie._value_types import MODEL, instance
from coterie.data.parts import rows_of
from coterie.data.table_features import TableFeatures


@storable("committee.FeaturedModel", {"features": instance(TableFeatures), "model": MODEL})
@dataclass(frozen=True)
class FeaturedModel:
    """A fitted model on features of a table, which it makes itself."""

    features: TableFeatures
    model: Any

    def predict(self, X: Any) -> AnyArray:
        return np.asarray(self.model.predict(self.features.transform(X)))

    def predict_proba(self, X: Any) -> FloatArray:
        return np.asarray(self.model.predict_proba(self.features.transform(X)))

    def decision_function(self, X: Any) -> FloatArray:
        return np.asarray(self.model.decision_function(self.features.transform(X)))

    @property
    def classes_(self) -> Any:
        return self.model.classes_


@dataclass
class FoldFeatures:
    """The features of each fold, kept for the members to come.

    Attributes
    ----------
    learns : whether something is learned from the rows of a fold, as it is from texts and not from dates
    """

    template: TableFeatures
    X: Any
    learns: bool
    _known: dict[bytes, tuple[TableFeatures, dict[str, Any]]] = field(default_factory=dict)

    @classmethod
    def of(cls, given: Any, X: Any) -> "FoldFeatures | None":
        """What `features` of a committee stands for; None if the table has no texts and no dates."""
        if given is None:
            return None
        template = TableFeatures() if isinstance(given, str) else given
        texts, dates = template.columns_in(X)
        if not texts and not dates:
            return None
        # Chosen once, by all rows: a column is one of texts in every fold.
        return cls(clone(template).set_params(text=texts, dates=dates), X, bool(texts))

    def of_rows(self, rows: RowArray) -> tuple[TableFeatures, dict[str, Any]]:
        """Features that were learned from some rows, and the table of all rows made by them."""
        key = np.ascontiguousarray(rows).tobytes()
        if key not in self._known:
            features = clone(self.template).fit(rows_of(self.X, rows))
            self._known[key] = features, features.transform(self.X)
        return self._known[key]

    def n_columns(self) -> int:
        """Columns that members see, about."""
        texts, dates = len(self.template.text or ()), len(self.template.dates or ())
        return texts * (int(self.template.n_components) + 1) + 4 * dates
