"""`scoring=` and `oob_score=`: scores of predictions that are known already.

scikit-learn's scorers request a model's predictions for a table. The raw predictions of those rows are known: of rounds
so far, out of fold, out of bag. So a scorer is given a `PredictionView` in place of the model, which makes
probabilities and labels of them. No tree is walked, and no estimator is copied or changed.
"""

import inspect
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.metrics import accuracy_score, get_scorer_names, r2_score

from coterie._params import in_short
from coterie._typing import AnyArray, FloatArray, Task
from coterie.errors import CoterieError, InvalidInput, InvalidParameter
from coterie.metrics import METRICS, is_metric_name, metric_names, nearest_metric, scorer_of, task_of

# By the name of a response method, such as "predict_proba": what it makes of raw predictions.
ResponseFunctions: TypeAlias = Mapping[str, Callable[[FloatArray], Any]]

_OF_THE_TABLE = ("classes_", "n_classes_", "n_features_in_", "feature_names_in_", "n_outputs_")


class ScoredEstimator(Protocol):
    """An estimator whose predictions follow from raw predictions alone."""

    def _response_functions(self) -> ResponseFunctions: ...


@dataclass(frozen=True)
class ScorerName:
    """The name of a metric: one of ours that is for the task, or of scikit-learn's scorers."""

    task: Task | None = None

    def for_estimator(self, estimator: Any) -> "ScorerName":
        return ScorerName(
            "classification"
            if is_classifier(estimator)
            else "regression"
            if is_regressor(estimator)
            else None
        )

    def accepts(self, value: object) -> bool:
        if self.task is None or task_of(value) in (None, self.task) or value in get_scorer_names():
            return is_metric_name(value)
        return False

    def describe(self) -> str:
        names = ", ".join(METRICS if self.task is None else metric_names(self.task))
        return f"the name of a metric ({names}, or of a scikit-learn scorer)"

    def hint(self, value: object) -> str | None:
        if not isinstance(value, str):
            return None
        near = nearest_metric(value, METRICS if self.task is None else metric_names(self.task))
        return None if near in (None, value) else f"Did you mean {near!r}?"


def named_scorer(scoring: Any, estimator: Any) -> Any:
    """scikit-learn's scorer that a name stands for, of an estimator that knows its classes."""
    classes = getattr(estimator, "classes_", None)
    single = isinstance(classes, np.ndarray) and classes.ndim == 1
    return scorer_of(scoring, classes if single else None)


class PredictionView:
    """What a scorer is given in place of a model: it predicts one table, from raw predictions that are known.

    It has the response methods, the parameters and the kind of the estimator, and knows its classes and columns;
    nothing else that the estimator may have learned in an earlier fit.

    Parameters
    ----------
    estimator : whose predictions they are
    raw : array of shape (n_rows, n_columns), its raw predictions
    X : the table that the scorer is given, or what stands for it
    parameter : the estimator's parameter that names the scorer, for messages
    """

    def __init__(
        self, estimator: ScoredEstimator, raw: FloatArray, X: Any, *, parameter: str = "scoring"
    ) -> None:
        self._estimator: Any = estimator
        self._functions = estimator._response_functions()
        self._raw, self._X, self._parameter = raw, X, parameter

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name in self._functions:
            return self._response_method(name)
        held = vars(self._estimator)
        if name in held and (name in _OF_THE_TABLE or not name.endswith("_")):
            return held[name]
        owner = type(self._estimator).__name__
        raise AttributeError(f"{owner} has no {name!r} while its predictions are scored.")

    def _response_method(self, name: str) -> Callable[..., Any]:
        def response(X: Any, **options: Any) -> Any:
            if X is not self._X or any(value is not None for value in options.values()):
                raise self._other_table()
            return self._functions[name](self._raw)

        response.__name__ = name  # by which scikit-learn's scorers know what they called
        return response

    def _other_table(self) -> InvalidParameter:
        scorer = getattr(self._estimator, self._parameter)
        return InvalidParameter(
            f"{self._parameter}={in_short(scorer)} requested predictions for another table.",
            parameter=self._parameter,
            received=scorer,
            allowed="a scorer that predicts the X that it is given",
            hint="A scorer is called before the model is complete: it can only request predictions for the X that "
            "it is given, as it is and without further arguments.",
        )

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy or R2, as `score` of the estimator."""
        metric = accuracy_score if is_classifier(self) else r2_score
        return float(metric(y, self.predict(X), sample_weight=sample_weight))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters of the estimator."""
        return dict(self._estimator.get_params(deep=deep))

    def __sklearn_tags__(self) -> Any:
        return self._estimator.__sklearn_tags__()

    def __sklearn_is_fitted__(self) -> bool:
        return True


class PredictionScorer:
    """The score that an estimator's `scoring` names, of raw predictions; greater is better."""

    def __init__(self, estimator: Any) -> None:
        self._estimator, self._scoring = estimator, estimator.scoring
        self._scorer = named_scorer(estimator.scoring, estimator)
        self._takes_weight = takes_weight(self._scorer)

    @property
    def name(self) -> str:
        scoring = self._scoring
        return scoring if isinstance(scoring, str) else getattr(scoring, "__name__", repr(scoring))

    def score(self, raw: FloatArray, y: AnyArray, weight: FloatArray | None, X: Any = None) -> float:
        """The score of rows with these raw predictions.

        `y` is the target as the user gave it; weights go to scorers that take `sample_weight`.
        """
        weights = {"sample_weight": weight} if self._takes_weight and weight is not None else {}
        view = PredictionView(self._estimator, raw, X)
        try:
            score = float(self._scorer(view, X, y, **weights))
        except CoterieError:
            raise
        except Exception as error:
            raise InvalidParameter(
                f"scoring={in_short(self._scoring)} cannot score the {len(y)} rows that it is measured on: "
                f"{type(error).__name__}: {error}",
                parameter="scoring",
                received=self._scoring,
            ) from error
        if not math.isfinite(score):
            raise InvalidInput.expecting(
                f"scoring={in_short(self._scoring)} is {score} on the {len(y)} rows that it is measured on",
                "a finite number",
                "scoring",
                score,
                hint="Some scores need rows of every class: measure on more rows, or choose another score.",
            )
        return score


class RoundScorer:
    """Scores certain rows after each round.

    Parameters
    ----------
    X, y, weight : rows as the user gave them
    """

    def __init__(self, estimator: Any, X: Any, y: AnyArray, weight: FloatArray | None) -> None:
        self._scorer = PredictionScorer(estimator)
        self._X, self._y, self._weight = X, y, weight

    def score(self, raw: FloatArray) -> float:
        """The score of the rows, whose raw predictions, shape (n_rows, n_outputs), are these."""
        return self._scorer.score(raw, self._y, self._weight, self._X)


def takes_weight(scorer: Any) -> bool:
    """Whether a scorer of scikit-learn, or a function, takes `sample_weight`."""
    return "sample_weight" in parameters_of(getattr(scorer, "_score_func", scorer))


def parameters_of(function: Any) -> Any:
    """The parameters of a function by name; nothing if they are unknown."""
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):  # some built-in functions have none
        return ()
