"""ROC and precision-recall curves, of the classes of one classifier or of several classifiers."""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from coterie._params import in_short, unexpected
from coterie._typing import AnyArray
from coterie.diagnostics.ranking import RankingCurve, ranking_curves
from coterie.errors import InvalidParameter
from coterie.plots.chart import Axis, Chart, Line
from coterie.plots.display import Display

_MOST_CURVES = 7  # as many as there are colours


class RankingDisplay(Display):
    """What the curves of scores share.

    Parameters
    ----------
    curves : dict of RankingCurve by name, the results of `coterie.diagnostics.ranking_curves`; seven are shown
    """

    def __init__(self, curves: Mapping[str, RankingCurve]) -> None:
        if not curves or not all(isinstance(own, RankingCurve) for own in curves.values()):
            raise unexpected("curves", curves, "a dict of RankingCurve by name")
        self.curves = dict(curves)

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any, y: Any, *, labels: Any = None, sample_weight: Any = None
    ) -> Self:
        """Measure a fitted classifier; parameters are those of `coterie.diagnostics.ranking_curves`."""
        found = ranking_curves(model, X, y, labels=labels, sample_weight=sample_weight)
        return cls({str(curve.label): curve for curve in found})

    @classmethod
    def from_estimators(
        cls, models: Mapping[str, Any], X: Any, y: Any, *, label: Any = None, sample_weight: Any = None
    ) -> Self:
        """Measure several fitted classifiers, by name, on the same rows; None is the second of two classes."""
        curves = {}
        for name, model in models.items():
            labels = None if label is None else [label]
            found = ranking_curves(model, X, y, labels=labels, sample_weight=sample_weight)
            if len(found) > 1:
                raise InvalidParameter.expecting(
                    f"label=None, and {name!r} has {len(found)} classes",
                    f"one of {in_short([own.label for own in found])}",
                    "label",
                    label,
                )
            curves[str(name)] = found[0]
        return cls(curves)

    @property
    def data(self) -> dict[str, AnyArray]:
        """Columns "curve", "threshold", "false_positive_rate", "recall" and "precision"; a row for each threshold."""
        curves = list(self.curves.values())
        columns = {"threshold": "thresholds", "false_positive_rate": "", "recall": "", "precision": ""}
        return {
            "curve": np.repeat(list(self.curves), [len(own.thresholds) for own in curves]),
            **{
                name: np.concatenate([getattr(own, attribute or name) for own in curves])
                for name, attribute in columns.items()
            },
        }

    @abstractmethod
    def chart(self) -> Chart:
        """The curves."""

    @property
    def _shown(self) -> list[tuple[str, RankingCurve]]:
        return list(self.curves.items())[:_MOST_CURVES]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(self.curves)})"


class RocDisplay(RankingDisplay):
    """ROC curves: the share of positive rows found against the share of negative rows that come along.

    A random order lies on the diagonal. The area under a curve is how often a positive row has a higher score than a
    negative one.

    Parameters
    ----------
    curves : dict of RankingCurve by name, the results of `coterie.diagnostics.ranking_curves`; seven are shown

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> display = RocDisplay.from_estimators({"Bayes": GaussianNB().fit(X, y)}, X, y)
    >>> display, round(display.curves["Bayes"].auc, 3)
    (RocDisplay(Bayes), 0.989)
    """

    def chart(self) -> Chart:
        ends = np.array([0.0, 1.0])
        lines = [
            Line(f"{name}, area {own.auc:.3f}", own.false_positive_rate, own.recall)
            for name, own in self._shown
        ]
        return Chart(
            "ROC curve",
            Axis("false positive rate", 0.0, 1.0),
            Axis("true positive rate (recall)", 0.0, 1.01),
            (*lines, Line("by chance", ends, ends, faint=True)),
        )


class PrecisionRecallDisplay(RankingDisplay):
    """Precision-recall curves: how many of the rows above a threshold are positive, against how many are found.

    Unlike a ROC curve it shows how rare a class is: by chance, precision is the share of the class. A curve has steps,
    as the average precision adds them up.

    Parameters
    ----------
    curves : dict of RankingCurve by name, the results of `coterie.diagnostics.ranking_curves`; seven are shown

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> display = PrecisionRecallDisplay.from_estimator(GaussianNB().fit(X, y), X, y)
    >>> display, round(display.curves["1"].average_precision, 3)
    (PrecisionRecallDisplay(1), 0.993)
    """

    def chart(self) -> Chart:
        ends = np.array([0.0, 1.0])
        curves, chance = [], []
        for name, own in self._shown:
            # A step goes on to the right with the precision that it ends with.
            x, y = own.recall, np.append(own.precision[1:], own.precision[-1])
            curves.append(Line(f"{name}, average {own.average_precision:.3f}", x, y, steps=True))
            chance.append(Line("by chance", ends, np.full(2, own.prevalence), faint=True))
        return Chart(
            "Precision-recall curve",
            Axis("recall", 0.0, 1.0),
            Axis("precision", 0.0, 1.01),
            (*curves, *chance),
        )
