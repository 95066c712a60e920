"""`scoring=`: a score of the model so far, after each round.

scikit-learn's scorers ask a model for predictions of a table. The scores of those rows are known already, so they ask a
*view*: an object of the estimator's class whose answers come from given scores. No tree is walked, and no forest is
copied.
"""

import copy
import inspect
import math
from dataclasses import dataclass
from typing import Any

from sklearn.metrics import get_scorer, get_scorer_names

from coterie._params import in_short
from coterie._typing import AnyArray, FloatArray
from coterie.errors import CoterieError, InvalidInput, InvalidParameter

__all__ = ["RoundScorer", "ScorerName", "parameters_of"]


@dataclass(frozen=True)
class ScorerName:
    """The name of one of scikit-learn's scorers."""

    def accepts(self, value: object) -> bool:
        return isinstance(value, str) and value in get_scorer_names()

    def describe(self) -> str:
        return "the name of a scikit-learn scorer (sklearn.metrics.get_scorer_names() lists them)"


class RoundScorer:
    """Scores certain rows, given what the model says of them; greater is better.

    Parameters
    ----------
    X, y, weight : rows as the user gave them. Weights go to scorers that take `sample_weight`.
    """

    def __init__(self, estimator: Any, X: Any, y: AnyArray, weight: FloatArray | None) -> None:
        self._scoring = estimator.scoring
        self._scorer = get_scorer(estimator.scoring)
        self._view = _View(estimator, X)
        self._X = X
        self._y = y
        takes_weight = "sample_weight" in parameters_of(getattr(self._scorer, "_score_func", self._scorer))
        self._weights = {"sample_weight": weight} if takes_weight and weight is not None else {}

    def score(self, scores: FloatArray) -> float:
        """The score of rows whose scores, shape (n_rows, n_outputs), are these."""
        view = self._view.of(scores)
        try:
            score = float(self._scorer(view, self._X, self._y, **self._weights))
        except CoterieError:
            raise
        except Exception as error:
            raise InvalidParameter(
                f"scoring={in_short(self._scoring)} cannot score the {len(self._y)} rows that are measured on: "
                f"{type(error).__name__}: {error}"
            ) from error
        if not math.isfinite(score):
            raise InvalidInput(
                f"scoring={in_short(self._scoring)} is {score} on the {len(self._y)} rows that are measured on; "
                "expected a finite number. Some scores need rows of every class: measure on more rows, or choose "
                "another score."
            )
        return score


class _View:
    """Makes objects of the estimator's class that know the scores of one table."""

    def __init__(self, estimator: Any, X: Any) -> None:
        self._estimator = estimator
        self._X = X

    def of(self, scores: FloatArray) -> Any:
        def known_scores(X: Any, offset: Any, n_trees: Any = None) -> FloatArray:
            if X is not self._X or offset is not None or n_trees is not None:
                raise InvalidParameter(
                    f"scoring={in_short(self._estimator.scoring)} asked for predictions of another table. While the "
                    "model grows it can only be asked about the X that the scorer is given, as it is and without an "
                    "offset."
                )
            return scores

        view = copy.copy(self._estimator)
        view.__dict__.pop("forest_", None)  # of an earlier fit
        view.__dict__["_raw_scores"] = known_scores
        return view


def parameters_of(function: Any) -> Any:
    """The parameters of a function by name; nothing if it does not say."""
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):  # some built-in functions have none
        return ()
