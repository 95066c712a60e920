"""The score by the number of training rows, on these rows and on others."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import is_classifier
from sklearn.model_selection import learning_curve

from coterie._params import in_short
from coterie._typing import AnyArray, FloatArray
from coterie.errors import InvalidInput
from coterie.metrics import scorer_of, shown_metric
from coterie.plots.chart import Axis, Chart, Line
from coterie.plots.display import Display


class LearningCurveDisplay(Display):
    """The score of an estimator by the number of rows that it is fitted to: means over folds, and their spread.

    Where the two curves lie apart, more rows help; where they have met, they do not, and another model may.

    Parameters
    ----------
    n_rows : array of shape (n_sizes,), ascending
    training_score, test_score : arrays of shape (n_sizes, n_folds), as they are shown
    metric : str, what is scored
        Default "score": the display is given numbers, and does not know what they are.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn.datasets import load_wine
    >>> X, y = load_wine(return_X_y=True)
    >>> display = LearningCurveDisplay.from_estimator(GaussianNB(), X, y, sizes=[0.2, 0.6, 1.0], random_state=0)
    >>> display, display.data["rows"]
    (LearningCurveDisplay(accuracy, 28 to 142 rows, 5 folds), array([ 28,  85, 142]))
    """

    def __init__(
        self, n_rows: ArrayLike, training_score: ArrayLike, test_score: ArrayLike, *, metric: str = "score"
    ) -> None:
        self.n_rows = np.asarray(n_rows)
        self.training_score: FloatArray = np.asarray(training_score, dtype=np.float64)
        self.test_score: FloatArray = np.asarray(test_score, dtype=np.float64)
        shapes = self.training_score.shape, self.test_score.shape
        if (
            shapes[0] != shapes[1]
            or len(shapes[0]) != 2
            or len(self.n_rows) != shapes[0][0]
            or not shapes[0][1]
        ):
            raise InvalidInput.expecting(
                f"training_score and test_score have the shapes {in_short(shapes)}, for {len(self.n_rows)} sizes",
                "a number for each size and fold",
                "test_score",
                shapes[1],
            )
        self.metric = metric

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        sizes: Any = (0.1, 0.2, 0.4, 0.6, 0.8, 1.0),
        cv: Any = 5,
        scoring: str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> "LearningCurveDisplay":
        """Fit an estimator to parts of the training rows of each fold, which are in random order.

        Parameters
        ----------
        estimator : an estimator that is not fitted yet
        X, y : a table and its target
        sizes : shares of the training rows of a fold, or numbers of rows
        cv : as in scikit-learn
        scoring : str or None
            A metric of `coterie.metrics`, or a scorer of scikit-learn, by its name; None is accuracy or r2.
        random_state : the seed of the order of the rows
        n_jobs : int or None, processes
        """
        name = scoring or ("accuracy" if is_classifier(estimator) else "r2")
        classes = np.unique(np.asarray(y)) if is_classifier(estimator) else None
        shown = shown_metric(name)
        n_rows, *scores = learning_curve(
            estimator,
            X,
            y,
            train_sizes=np.asarray(sizes),
            cv=cv,
            scoring=scorer_of(name, classes),
            shuffle=True,
            random_state=random_state,
            n_jobs=n_jobs,
        )[:3]
        training, test = (np.vectorize(shown.value, otypes=[float])(own) for own in scores)
        return cls(n_rows, training, test, metric=shown.name)

    @property
    def data(self) -> dict[str, AnyArray]:
        """Columns "rows", and of "training_score" and "test_score" the means, and their standard deviations "…_std"."""
        found: dict[str, AnyArray] = {"rows": self.n_rows}
        for name in ("training_score", "test_score"):
            own = getattr(self, name)
            found[name], found[f"{name}_std"] = own.mean(axis=1), own.std(axis=1)
        return found

    def chart(self) -> Chart:
        data, rows = self.data, self.n_rows.astype(np.float64)
        lines = []
        for label, name in (("test", "test_score"), ("training", "training_score")):
            mean, spread = data[name], data[f"{name}_std"]
            lines.append(Line(label, rows, mean, low=mean - spread, high=mean + spread))
        low = min(float(np.nanmin(line.low)) for line in lines if line.low is not None)
        high = max(float(np.nanmax(line.high)) for line in lines if line.high is not None)
        room = 0.06 * (high - low) or 0.05
        right = float(rows[-1]) if len(rows) > 1 else float(rows[-1]) + 1
        return Chart(
            f"Learning curve, {self.test_score.shape[1]} folds",
            Axis("training rows", float(rows[0]), right),
            Axis(self.metric, low - room, high + room),
            tuple(lines),
        )

    def __repr__(self) -> str:
        sizes = f"{self.n_rows[0]:,} to {self.n_rows[-1]:,} rows"
        return f"LearningCurveDisplay({self.metric}, {sizes}, {self.test_score.shape[1]} folds)"
