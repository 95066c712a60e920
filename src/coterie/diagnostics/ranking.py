"""How well scores rank the rows of a class before the others: ROC and precision-recall curves, and their areas."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from coterie._params import in_short, unexpected
from coterie._typing import AnyArray, FloatArray
from coterie.data.weight import read_weight
from coterie.diagnostics._response import response_of
from coterie.diagnostics.votes import codes_of
from coterie.errors import InvalidInput


@dataclass(frozen=True, repr=False, eq=False)
class RankingCurve:
    """What every threshold does: rows whose score is at least the threshold count as positive.

    Attributes
    ----------
    label : the positive class
    thresholds : array of shape (n_points,), descending; first infinity, where no row is positive
    false_positive_rate, recall : arrays of shape (n_points,), shares of the negative and of the positive rows
    precision : array of shape (n_points,), the share of positive rows among those above; 1 where there are none
    prevalence : float, the share of positive rows

    Examples
    --------
    >>> curve = ranking_curve([True, False, True, False], [0.9, 0.8, 0.8, 0.1], label="yes")
    >>> curve
    RankingCurve(yes: auc 0.875, average precision 0.833)
    >>> curve.recall, curve.false_positive_rate
    (array([0. , 0.5, 1. , 1. ]), array([0. , 0. , 0.5, 1. ]))
    """

    label: Any
    thresholds: FloatArray
    false_positive_rate: FloatArray
    recall: FloatArray
    precision: FloatArray
    prevalence: float

    @property
    def auc(self) -> float:
        """The area under the ROC curve: how often a positive row has a higher score than a negative one."""
        width = np.diff(self.false_positive_rate)
        return float(width @ (self.recall[1:] + self.recall[:-1]) / 2)

    @property
    def average_precision(self) -> float:
        """The mean precision over the rows of the class, each at its own threshold."""
        return float(np.diff(self.recall) @ self.precision[1:])

    def __repr__(self) -> str:
        areas = f"auc {self.auc:.3f}, average precision {self.average_precision:.3f}"
        return f"RankingCurve({self.label}: {areas})"


def ranking_curve(
    is_positive: ArrayLike, score: ArrayLike, *, label: Any = True, sample_weight: Any = None
) -> RankingCurve:
    """The curve of scores that are known.

    Parameters
    ----------
    is_positive : array of bools of shape (n_rows,)
    score : array of shape (n_rows,), of which more speaks for the class
    label : what the class is called
        Default True: the positive class of an array of bools.
    sample_weight : array of shape (n_rows,), how often each row counts
        Default None: every row counts once.
    """
    positive, scores = np.asarray(is_positive, dtype=bool), np.asarray(score, dtype=np.float64)
    given = read_weight(sample_weight, len(positive))
    weight = np.ones(len(positive)) if given is None else given.astype(np.float64)
    kept = weight > 0
    positive, scores, weight = positive[kept], scores[kept], weight[kept]
    if positive.all() or not positive.any():
        what = "no row is" if not positive.any() else "all rows are"
        raise InvalidInput.expecting(
            f"{what} of class {in_short(label)}", "rows of this class and of another", "y", label
        )
    order = np.argsort(-scores, kind="stable")
    ends = np.append(
        np.flatnonzero(np.diff(scores[order])), len(order) - 1
    )  # rows of one score come together
    true = np.append(0.0, np.cumsum(weight[order] * positive[order])[ends])
    false = np.append(0.0, np.cumsum(weight[order] * ~positive[order])[ends])
    above = true + false
    precision = np.divide(true, above, out=np.ones_like(true), where=above > 0)
    prevalence = float(true[-1] / above[-1])
    thresholds = np.append(np.inf, scores[order][ends])
    return RankingCurve(label, thresholds, false / false[-1], true / true[-1], precision, prevalence)


def ranking_curves(
    model: Any, X: Any, y: Any, *, labels: Any = None, sample_weight: Any = None
) -> tuple[RankingCurve, ...]:
    """The curve of each class of a fitted classifier, against all others.

    Parameters
    ----------
    model : a fitted classifier with predict_proba or decision_function
    X, y : rows to measure on
    labels : list of classes, or None for all; of two classes for the second
        Default None: each class has a curve; those of two classes are mirror images.
    sample_weight : array of shape (n_rows,), how often each row counts
        Default None: every row counts once.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_wine(return_X_y=True)
    >>> [curve.label for curve in ranking_curves(GaussianNB().fit(X, y), X, y)]
    [0, 1, 2]
    """
    classes: AnyArray = np.asarray(getattr(model, "classes_", []))
    if not len(classes):
        raise unexpected("model", model, "a fitted classifier")
    known = classes.tolist()
    wanted = (known[1:] if len(known) == 2 else known) if labels is None else list(labels)
    wrong = [label for label in wanted if label not in known]
    if wrong or not wanted:
        raise unexpected("labels", labels, f"None, or some of the classes {in_short(known)}")
    curves = []
    for label in wanted:
        predict, _ = response_of(model, "auto", label)
        score = predict(X)
        is_positive = codes_of(y, classes, len(score)) == known.index(label)
        curves.append(ranking_curve(is_positive, score, label=label, sample_weight=sample_weight))
    return tuple(curves)
