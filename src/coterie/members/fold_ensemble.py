"""The models of the folds as one member: each saw most of the rows, and their predictions are averaged."""

from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if

from coterie._storage import expect, storable
from coterie._typing import AnyArray, FloatArray
from coterie._value_types import LABELS, MODEL, TEXT, list_of, tuple_of
from coterie.members.response import ResponseMethod


def _can(method: str) -> Any:
    def has_method(member: "FoldEnsemble") -> bool:
        return all(hasattr(model, method) for model in member.models)

    return available_if(has_method)


def _verify_fold_models(member: Any) -> None:
    expect(len(member.models) > 0, "has no models")


@storable(
    "FoldModels",
    {
        "name": TEXT,
        "models": list_of(MODEL),
        "_classes": tuple_of(LABELS),
        "classes_": LABELS | list_of(LABELS),
    },
    optional=("classes_",),
    verify=_verify_fold_models,
)
class FoldEnsemble:
    """A fitted member made of one model for each fold.

    Attributes
    ----------
    models : list of fitted learners, one for each fold
    classes_ : labels, or a list of them for several outputs; not there for numbers
    """

    def __init__(self, name: str, models: list[Any], classes: tuple[AnyArray, ...]) -> None:
        self.name = name
        self.models = models
        self._classes = classes
        if classes:
            self.classes_ = classes[0] if len(classes) == 1 else list(classes)

    def mean_of(self, response: ResponseMethod, X: Any) -> FloatArray:
        """The mean of what the models predict by a method."""
        total = sum(response.predict_with(self.name, model, X) for model in self.models)
        return np.asarray(total / len(self.models))

    def predict(self, X: Any) -> AnyArray:
        """The class that most models name, or the mean of their numbers."""
        response = ResponseMethod("predict", self._classes, bool(self._classes))
        final = response.finalize(self.mean_of(response, X))
        if self._classes:
            labels = [classes[final[:, i].astype(int)] for i, classes in enumerate(self._classes)]
            return labels[0] if len(labels) == 1 else np.column_stack(labels)
        return final[:, 0] if final.shape[1] == 1 else final

    @_can("predict_proba")  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> FloatArray:
        """The mean of their probabilities."""
        return self.mean_of(ResponseMethod("predict_proba", self._classes), X)

    @_can("decision_function")  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> FloatArray:
        """The mean of their scores."""
        scores = self.mean_of(ResponseMethod("decision_function", self._classes), X)
        return scores[:, 0] if scores.shape[1] == 1 else scores
